"""Build what users install, and try it as they get it: `python tools/release.py`.

It writes `dist/`: a source archive, a wheel and the notes of this version. Each archive is
installed into an empty environment twice, with the oldest versions of other packages that
`pyproject.toml` allows and with the newest. There it answers a question and shows its help, and the
wheel audits itself. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["build", "contents", "notes", "version"]

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
LEFT_OUT = ("bench/results/", ".ci/", ".github/")  # not for users, or megabytes of pictures
MOST_BYTES = 3_000_000  # half as much again as source and tests take: a table that got in shows
RESERVED = re.compile(r"\.example(/|$)")  # addresses that nobody can have

TRIAL = """
import polars as pl

rows = [(user, f"title {i}") for user in range(3000) for i in range(1, 30) if user % i == 0]
pl.DataFrame(rows, schema=["user", "title"], orient="row").write_parquet("plays.parquet")
"""
QUESTION = (
    "top-k plays.parquet --user user --item title -k 5 --epsilon 1 --delta 1e-6"
    " --output top.json --report top.html"
)
LOAD = "import shortlist; shortlist.load('top.json')"


def main() -> None:
    """Build, try, and say what is left to do."""
    asked = _arguments()
    files = build(DIST)
    for file in files:
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB", flush=True)
    (DIST / "notes.md").write_text(notes(version()))
    for file in files:
        for which, versions in {"oldest": oldest(asked.python), "newest": ""}.items():
            print(f"{file.name}, the {which} versions, Python {asked.python}", flush=True)
            with _installed(file, versions, asked.python) as home:
                _use(home)
                if file.suffix == ".whl":  # built from the source archive: the same code
                    _audit(home)
    for reason in left_to_do():
        print(f"Before an upload: {reason}.")
    print(f"Everything is in {DIST}.")


def version() -> str:
    """The version, which stands in `src/shortlist/_version.py` alone."""
    return str(runpy.run_path(str(ROOT / "src/shortlist/_version.py"))["__version__"])


def notes(of: str) -> str:
    """What the changelog says of a version."""
    sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    (section,) = (section for section in sections if section.startswith(f"{of} "))
    return section.partition("\n")[2].strip() + "\n"


def build(into: Path) -> list[Path]:
    """A source archive, and the wheel that is built from it; both hold what they should."""
    shutil.rmtree(into, ignore_errors=True)
    _run("uv", "build", "--quiet", "--out-dir", into, ROOT)
    files = sorted(path for path in into.iterdir() if path.suffix in {".whl", ".gz"})
    for file in files:
        names = contents(file)
        stray = [name for name in names if name.startswith(LEFT_OUT)]
        if stray:
            sys.exit(f"{file.name} holds what it should not: {stray[:5]}")
        if (size := file.stat().st_size) > MOST_BYTES:
            sys.exit(f"{file.name} has {size:,} bytes, more than {MOST_BYTES:,}")
        if "shortlist/py.typed" not in {name.removeprefix("src/") for name in names}:
            sys.exit(f"{file.name} lacks the mark that it has types")
    _run("twine", "check", "--strict", *files)
    return files


def contents(file: Path) -> list[str]:
    """The names of the files in an archive, without the folder that a source archive puts first."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def oldest(python: str) -> str:
    """The oldest versions that `pyproject.toml` allows, as lines of a file of constraints."""
    resolved = ["--resolution", "lowest-direct", "--python-version", python]
    what = [ROOT / "pyproject.toml", "--extra", "report"]
    return _run("uv", "pip", "compile", "--quiet", "--no-annotate", *resolved, *what)


def left_to_do() -> Iterator[str]:
    """What only the maintainers can do."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    if f"## {version()} (unreleased)" in changelog:
        yield f"CHANGELOG.md calls {version()} unreleased: write the date"
    if any(RESERVED.search(url) for url in _project()["urls"].values()):
        yield "the addresses in pyproject.toml are reserved ones: write the real ones"
    tag = f"v{version()}"
    if tag not in _run("git", "-C", ROOT, "tag", "--points-at", "HEAD").split():
        yield f"this commit has no tag: git tag -a {tag} -F dist/notes.md"


@contextmanager
def _installed(file: Path, versions: str, python: str) -> Iterator[Path]:
    """A folder outside of this checkout, with an environment that has nothing else installed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _run("uv", "venv", "--quiet", "--python", python, home / "venv")
        (home / "versions.txt").write_text(versions)
        install = ["uv", "pip", "install", "--quiet", "--constraints", home / "versions.txt"]
        _run(*install, "--python", _bin(home) / "python", f"{file}[report]")
        yield home


def _use(home: Path) -> None:
    """Ask a first question, as a new user would."""
    bin_ = _bin(home)
    _run(bin_ / "python", "-W", "error", "-c", TRIAL, cwd=home)
    _run(bin_ / "shortlist", "--help", cwd=home)
    _run(bin_ / "shortlist", *QUESTION.split(), cwd=home)
    _run(bin_ / "python", "-W", "error", "-c", LOAD, cwd=home)


def _audit(home: Path) -> None:
    """Check what all mechanisms claim, by the libraries that are installed there."""
    audit = _run(_bin(home) / "shortlist", "audit", "--quick", cwd=home)
    print("  " + next(line for line in audit.splitlines() if "claims hold" in line))


def _bin(home: Path) -> Path:
    return home / "venv" / ("Scripts" if os.name == "nt" else "bin")


def _run(*command: object, cwd: Path | None = None) -> str:
    """What a command prints; it ends this program if it fails, or finds this checkout's code."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    ran = subprocess.run(  # noqa: S603 - commands of this file
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def _project() -> dict[str, dict[str, str]]:
    project: dict[str, dict[str, str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())[
        "project"
    ]
    return project


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    running = ".".join(map(str, sys.version_info[:2]))
    parser.add_argument("--python", default=running, help="which Python to try it with")
    return parser.parse_args()


if __name__ == "__main__":
    main()
