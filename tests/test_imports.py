"""Who may import whom, and how little `import shortlist` loads."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import shortlist

ROOT = Path(shortlist.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}
HEAVY = {
    *("polars", "narwhals", "pandas", "pyarrow"),
    *("numba", "llvmlite", "scipy", "flint"),
    *("rich", "typer", "altair", "jinja2", "vl_convert"),
    *("psycopg", "sqlite3", "sqlglot"),
}


def is_module(name):
    return (ROOT / name.replace(".", "/")).with_suffix(".py").exists() or (
        ROOT / name.replace(".", "/") / "__init__.py"
    ).exists()


def imports(name):
    """The modules of this package that a module's source names, wherever it does."""
    package = name if FILES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(FILES[name].read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "shortlist":
                    yield alias.name.removeprefix("shortlist").lstrip(".")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = [p for p in package.split(".") if p]
                parents = parts[: len(parts) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            elif base.split(".")[0] == "shortlist":
                base = base.removeprefix("shortlist").lstrip(".")
            else:
                continue
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                yield inner if is_module(inner) else base


def room(name):
    """A package or a module at the top; within the audit, one of its own."""
    parts = name.split(".")
    return ".".join(parts[: 2 if parts[0] == "audit" else 1])


# From the foundations to the top. What a room may import stands above it, so there is no circle.
ALLOWED = {
    "_version": set(),
    "errors": set(),
    "strength": set(),
    "runtime": {"errors"},
    "progress": {"runtime"},
    "kernels": {"runtime"},
    "charts": {"errors"},
    "privacy": {"errors", "kernels"},
    "parameters": {"errors", "privacy", "strength"},
    "questions": {"errors", "parameters"},
    "draws": {"errors", "kernels", "runtime"},
    "bits": {"draws"},
    "evidence": {"draws", "errors", "kernels", "parameters", "runtime"},
    "algorithms": {"draws", "errors", "evidence", "kernels", "parameters", "privacy", "runtime"},
    "bounds": {"draws", "errors"},
    "experiments": {"algorithms", "draws", "errors", "evidence", "kernels"},
    "mechanisms": {
        "algorithms", "draws", "errors", "evidence", "parameters", "privacy",
        "questions",
    },
    "databases": {"errors", "runtime"},
    "table": {"databases", "draws", "errors", "kernels", "runtime"},
    "stores": {"databases", "draws", "errors", "evidence", "parameters", "runtime", "table"},
    "engines": {
        "databases", "draws", "errors", "evidence", "kernels", "parameters", "runtime", "stores",
        "table",
    },
    "release": {
        "_version", "algorithms", "charts", "draws", "mechanisms", "errors", "parameters",
        "privacy", "runtime", "questions", "strength",
    },
    "expectations": {
        "charts", "draws", "engines", "errors", "evidence", "mechanisms", "parameters", "questions",
        "table",
    },
    "planning": {
        "engines", "errors", "evidence", "mechanisms", "parameters", "questions", "strength",
    },
    "plan": {
        "draws", "engines", "errors", "expectations", "mechanisms", "parameters", "privacy",
        "runtime", "questions", "release", "strength",
    },
    "sources": {
        "draws", "engines", "errors", "evidence", "mechanisms", "parameters", "plan", "planning",
        "privacy", "runtime", "questions", "release", "stores", "table",
    },
    "budget": {
        "_version", "databases", "errors", "mechanisms", "parameters", "plan", "privacy",
        "runtime", "release",
    },
    "series": {
        "algorithms", "budget", "charts", "databases", "draws", "engines", "errors", "evidence",
        "expectations", "kernels", "mechanisms", "parameters", "plan", "planning", "privacy",
        "questions", "release", "runtime", "sources", "strength", "table",
    },
    "metrics": {
        "charts", "draws", "engines", "errors", "evidence", "kernels", "mechanisms",
        "parameters", "plan", "runtime", "questions", "sources",
    },
    "audit.stand_ins": {"draws"},
    "audit.visible_answers": {"audit.stand_ins", "draws", "mechanisms"},
    "audit.findings": set(),
    "audit.universes": {
        "audit.visible_answers", "draws", "errors", "evidence", "mechanisms", "parameters",
        "privacy", "series",
    },
    "audit.audited_parameters": {"audit.universes", "draws", "mechanisms", "parameters", "series"},
    "audit.exact": {
        "algorithms", "audit.audited_parameters", "audit.findings", "audit.stand_ins",
        "audit.universes", "audit.visible_answers", "draws", "errors", "evidence", "mechanisms",
        "privacy",
    },
    "audit.transcripts": {
        "audit.findings", "draws", "evidence", "mechanisms", "parameters", "privacy",
    },
    "audit.samples": {
        "audit.findings", "audit.stand_ins", "audit.universes", "audit.visible_answers",
        "draws", "mechanisms", "release", "series", "sources", "stores",
    },
}  # fmt: skip
FACES = {"", "__init__", "__main__", "audit", "audit.running", "cli"}


@cache
def uses():
    """What each room imports of the others."""
    found = {room(name): set() for name in FILES}
    for name in FILES:
        found[room(name)] |= {room(other) for other in imports(name)} - {room(name)}
    return found


@pytest.mark.parametrize("of", ALLOWED)
def test_a_room_imports_what_it_may_and_no_allowance_is_unused(of):
    assert uses()[of] == ALLOWED[of]


def test_every_room_has_a_rule():
    assert set(uses()) - FACES == set(ALLOWED)


def test_no_rooms_import_each_other_in_a_circle():
    rooms = list(ALLOWED)
    for place, allowed in enumerate(ALLOWED.values()):
        assert allowed <= set(rooms[:place])
    for face in FACES & set(uses()):  # nothing below imports one
        assert not any(face in allowed for allowed in ALLOWED.values())


def test_what_no_other_room_uses_is_underscored():
    """And what its room does not pass on; the package's own names are for everybody."""
    used = {name: set() for name in FILES}
    for name in FILES:
        for other in imports(name):
            used.setdefault(other, set()).add(name)
    for name, path in FILES.items():
        home, _, last = name.rpartition(".")
        if not home or path.name == "__init__.py" or room(name) == name:
            continue
        others = {user for user in used[name] if room(user) != room(name)}
        private = not others and home not in used[name]
        assert last.startswith("_") is private, (name, others)


def test_the_map_lists_every_room_once_after_those_that_it_imports():
    table = (DOCS / "architecture.md").read_text().partition("| room |")[2].partition("\n\n")[0]
    listed = [
        room
        for row in table.splitlines()
        for room in re.findall(r"`([a-z]+)/?`", row.split("|")[1])
    ]
    there = {name.split(".")[0] for name in uses()} - {"", "__init__", "__main__", "_version"}
    assert sorted(listed) == sorted(there)
    for of, others in uses().items():
        below = {other.split(".")[0] for other in others} - {of.split(".")[0], "", "_version"}
        if of.split(".")[0] in listed:
            assert below <= set(listed[: listed.index(of.split(".")[0])]), of


def test_imports_are_seen():
    assert set(imports("privacy.calibration")) == {"errors", "privacy", "privacy.rounding"}
    assert "mechanisms.mechanism" in set(imports("mechanisms.peeling"))
    assert "privacy" in set(imports("mechanisms.discover_then_rank"))
    assert "kernels" in set(imports("evidence.contributions"))


def modules_loaded_by(statement):
    code = f"import sys\n{statement}\nprint(*sorted(sys.modules))"
    run = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def loaded_by(statement):
    return {module.split(".")[0] for module in modules_loaded_by(statement)}


def test_importing_the_package_stays_light():
    assert not loaded_by("import shortlist") & HEAVY


def test_the_foundations_load_nothing_heavy():
    rooms = ("draws", "errors", "evidence", "parameters", "privacy.calibration")
    assert not loaded_by("".join(f"import shortlist.{room}\n" for room in rooms)) & HEAVY


def test_metrics_and_bounds_load_nothing_heavy():
    assert not loaded_by("from shortlist import metrics, bounds") & HEAVY


def test_kernels_are_compiled_where_one_is_called():
    assert "numba" not in loaded_by("import shortlist.sources.pairs, shortlist.mechanisms")
    assert "numba" in loaded_by("from shortlist import kernels\nkernels.add_up.compiled")


def test_a_question_loads_the_mechanism_that_answers_it_and_no_other():
    asked = """
import shortlist
table = shortlist.pairs({"user": ["a"], "item": ["b"]}, user="user", item="item")
table.plan(shortlist.Domain(), epsilon=1, delta=1e-6)
"""
    loaded = modules_loaded_by(asked)
    assert "shortlist.mechanisms.adaptive_gaussian" in loaded
    others = {"adaptive_top_k", "joint", "policy_gaussian", "spectral_ranking", "win_count"}
    assert not {f"shortlist.mechanisms.{name}" for name in others} & loaded


def test_any_mechanism_may_be_imported_first():
    modules_loaded_by("""
import sys
import shortlist.mechanisms
for name in shortlist.mechanisms.__all__:
    for module in [name for name in sys.modules if name.startswith("shortlist.mechanisms")]:
        del sys.modules[module]
    exec(f"from shortlist.mechanisms import {name}")
""")


def test_plans_do_not_wait_for_scipy():
    asked = """
import shortlist
table = shortlist.pairs({"user": ["a"], "item": ["b"]}, user="user", item="item")
for question in (shortlist.TopK(3), shortlist.Domain(), shortlist.HittingSet(3)):
    table.plan(question, epsilon=1, delta=1e-6)
"""
    modules_loaded_by(asked)  # loops that were never called are compiled, which takes SciPy
    assert not {"scipy.special", "scipy.linalg"} & modules_loaded_by(asked)


def test_help_loads_neither_mechanisms_nor_what_counts():
    asked = """
from contextlib import suppress
from shortlist.cli.commands import app
with suppress(SystemExit):
    app(["top-k", "--help"])
"""
    loaded = modules_loaded_by(asked)
    assert "shortlist.cli.commands" in loaded
    assert not {f"shortlist.{name}" for name in ("mechanisms", "privacy", "release")} & loaded
    assert not {"numpy", "polars", "numba", "scipy", "pydantic"} & loaded


def test_a_question_about_a_file_loads_no_engine_and_nothing_that_compiles(tmp_path):
    file = tmp_path / "plays.csv"
    file.write_text("user,title\n" + "".join(f"{user},Emma\n" for user in range(99)))
    given = "--user user --item title --epsilon 1 --delta 1e-6"
    asked = f"""
import contextlib, io
sys.argv = ["shortlist", "domain", {str(file)!r}, *"{given}".split()]
from shortlist.cli import exit_status
with contextlib.redirect_stdout(io.StringIO()):
    assert exit_status() == 0
"""
    modules_loaded_by(asked)  # loops that were never called are compiled, which takes the rest
    loaded = modules_loaded_by(asked)
    assert "shortlist.engines.rows_in_memory" in loaded
    assert not {"pydantic", "ibis", "shortlist.engines.tables._dialect"} & loaded
    assert not {"numba.np.arrayobj", "scipy.special"} & loaded


def test_databases_load_where_a_store_is_opened():
    assert not loaded_by("from shortlist import stores") & HEAVY
    assert "sqlite3" in loaded_by("""
import shortlist, contextlib
with contextlib.suppress(shortlist.InputError):
    shortlist.store("sqlite:///pyproject.toml", table="a", item="b", count="c")
""")


def test_heavy_libraries_would_be_seen():
    assert "scipy" in loaded_by("import shortlist\nimport scipy.special")


def test_scipy_stats_is_never_imported():
    for path in FILES.values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("scipy.stats")
                assert (node.module, "stats") not in {("scipy", a.name) for a in node.names}
            elif isinstance(node, ast.Import):
                assert not any(alias.name.startswith("scipy.stats") for alias in node.names)


def test_public_names_exist_and_are_listed():
    assert shortlist.__all__
    assert all(hasattr(shortlist, name) for name in shortlist.__all__)
    assert set(shortlist.__all__) <= set(dir(shortlist))
