"""Who may import whom, and how little `import shortlist` loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import shortlist

ROOT = Path(shortlist.__file__).parent
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}
HEAVY = {
    *("polars", "narwhals", "pandas", "pyarrow"),
    *("numba", "llvmlite", "scipy", "flint"),
    *("rich", "typer", "altair"),
    *("psycopg", "sqlite3"),
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
    return name.split(".")[0]


ALLOWED = {
    "errors": set(),
    "bits": {"errors"},
    "kernels": set(),
    "privacy": {"privacy", "errors"},
    "calibration": {"errors", "privacy"},
    "reals": {"errors", "exact"},  # exact: a type
    "precision": set(),
    "processes": set(),
    "uniform": {"bits", "precision", "reals", "errors"},
    "noise": {"reals", "errors"},
    "noisy_values": {"bits", "reals", "noise", "uniform", "errors"},
    "exact": {"bits", "reals", "noise", "noisy_values", "uniform", "errors"},
    "grouping": {"kernels", "exact", "reals", "errors"},
    "slack": {"kernels", "exact", "grouping", "reals", "errors"},
    "policy": {"contributions", "kernels", "exact", "reals"},
    "unreached": {"contributions", "kernels", "reals"},
    "binomial": {"exact", "reals"},
    "race": {"binomial", "exact", "reals"},
    "threshold": {"reals", "errors"},
    "histogram": {"reals", "errors"},
    "parameters": {"privacy", "errors"},
    "questions": {
        "questions", "parameters", "errors",
        "mechanisms",  # what a question wraps
    },
    "guarantee": {"privacy", "errors"},
    "engines": {
        "engines", "contributions", "histogram", "stores", "table", "exact", "processes", "reals",
        "errors",
    },
    "planning": {
        "mechanisms", "engines", "questions", "contributions", "histogram", "stores", "parameters",
        "errors",
    },
    "plan": {
        "engines", "mechanisms", "questions", "guarantee", "release", "bits", "exact", "processes",
        "errors",
    },
    "sources": {
        "sources", "plan", "planning", "engines", "questions", "guarantee", "mechanisms",
        "histogram", "stores", "table", "release", "parameters", "bits", "processes", "errors",
    },
    "bounds": {"bounds", "reals", "errors"},
    "metrics": {"metrics", "kernels", "contributions", "unreached", "errors"},
    "random_walk": {"histogram", "reals"},
    "experiments": {"experiments", "histogram", "kernels", "random_walk", "reals", "errors"},
    "stores": {"stores", "table", "processes", "reals", "errors"},
    "mechanisms": {
        "histogram", "contributions", "privacy", "calibration", "exact", "noise", "reals",
        "noisy_values", "grouping", "slack", "race", "threshold", "policy", "unreached",
        "random_walk",
        "stores",  # the contract
        "errors", "kernels", "mechanisms", "parameters", "questions",
    },
    "audit": {
        "audit", "mechanisms", "contributions", "histogram", "stores", "privacy", "exact", "noise",
        "noisy_values", "reals", "slack", "bits", "precision", "release", "sources", "errors",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in FILES if room(name) in ALLOWED])
def test_a_module_imports_only_what_it_may(name):
    assert {room(other) for other in imports(name)} <= ALLOWED[room(name)]


@pytest.mark.parametrize("name", FILES)
def test_only_the_top_imports_sources(name):
    if room(name) not in ("sources", "audit", "cli", "__init__", "__main__"):
        assert "sources" not in {room(other) for other in imports(name)}


def test_the_rules_speak_of_modules_that_exist():
    rooms = {room(name) for name in FILES}
    assert set(ALLOWED) <= rooms
    assert set().union(*ALLOWED.values()) <= rooms


def test_imports_are_seen():
    assert set(imports("calibration")) == {"errors", "privacy"}
    assert "mechanisms.base" in set(imports("mechanisms.peeling"))
    assert "privacy" in set(imports("mechanisms.discover_then_rank"))
    assert "kernels" in set(imports("contributions"))


def loaded_by(statement):
    code = f"import sys\n{statement}\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    run = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_importing_the_package_stays_light():
    assert not loaded_by("import shortlist") & HEAVY


def test_the_foundations_load_nothing_heavy():
    modules = (
        "privacy, calibration, bits, reals, uniform, noise, noisy_values, exact, histogram, errors"
    )
    assert not loaded_by(f"from shortlist import {modules}") & HEAVY


def test_metrics_and_bounds_load_nothing_heavy():
    assert not loaded_by("from shortlist import metrics, bounds") & HEAVY


def test_kernels_are_compiled_where_one_is_called():
    assert "numba" not in loaded_by("import shortlist.sources.pairs, shortlist.mechanisms")
    assert "numba" in loaded_by("from shortlist import kernels\nkernels.add_up.compiled")


def test_databases_load_where_a_store_is_opened():
    assert not loaded_by("from shortlist import stores") & HEAVY
    assert "sqlite3" in loaded_by("""
import shortlist, contextlib
with contextlib.suppress(shortlist.InputError):
    shortlist.store("sqlite:///pyproject.toml", table="a", item="b", count="c")
""")


def test_mechanisms_know_stores_by_their_contract():
    used = {other for name in FILES if room(name) == "mechanisms" for other in imports(name)}
    assert {name for name in used if room(name) == "stores"} == {"stores.contract"}


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
