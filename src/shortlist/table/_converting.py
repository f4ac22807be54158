"""Files that are read once another program has converted them: the command that does it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import PurePath

from shortlist.errors import Words, shown
from shortlist.table._causes import Cause

__all__ = ["array_of_json", "converted"]


def converted(path: str) -> Cause | None:
    """What a file is by its suffix, and what makes a table of it; None if that is not known.

    >>> rule, remedy = converted("my plays.csv.bz2")
    >>> print(rule, remedy, sep="; ")
    is compressed by bzip2; unpack it: bunzip2 -k 'my plays.csv.bz2'
    """
    convert = _CONVERTED.get(PurePath(path).suffix.lower())
    return None if convert is None else convert(PurePath(path))


def _of_sheets(path: PurePath) -> Cause:
    # As text: types that are found by looking would let one cell change how others are written.
    given, made = _in_python(path), _in_python(path.with_suffix(".csv"))
    read = f"import pandas; pandas.read_excel({given}, dtype=str).to_csv({made}, index=False)"
    return _cause("is a spreadsheet", "convert it", f"python -c {shlex.quote(read)}")


def array_of_json(path: str) -> Cause:
    """The same of a file that is one array, though its name ends as that of lines."""
    return _of_json(PurePath(path), ".lines.ndjson")


def _of_json(path: PurePath, suffix: str = ".ndjson") -> Cause:
    command = f"jq -c '.[]' {_quoted(path)} > {_quoted(path.with_suffix(suffix))}"
    rule = "is JSON, of which only lines are read that are an object each"
    return _cause(rule, "convert an array", command)


def _of_arrow(path: PurePath) -> Cause:
    given, made = _in_python(path), _in_python(path.with_suffix(".parquet"))
    read = f"import polars; polars.read_ipc({given}).write_parquet({made})"
    return _cause("is an Arrow file", "convert it", f"python -c {shlex.quote(read)}")


def _of_zip(path: PurePath) -> Cause:
    folder = _quoted(path.with_suffix(""))
    command = f"unzip {_quoted(path)} -d {folder}"
    return _cause("is a zip archive", "unpack it, and give the folder", command)


def _packed(program: str, unpack: str) -> Callable[[PurePath], Cause]:
    rule = f"is compressed by {program}"
    return lambda path: _cause(rule, "unpack it", f"{unpack} -k {_quoted(path)}")


def _cause(rule: str, remedy: str, command: str) -> Cause:
    return Cause(Words("{rule}", rule=rule), Words("{a}: {b}", a=remedy, b=command))


def _in_python(path: PurePath) -> str:
    return json.dumps(shown(str(path)), ensure_ascii=False)


def _quoted(path: PurePath) -> str:
    return shlex.quote(shown(str(path)))


_CONVERTED: dict[str, Callable[[PurePath], Cause]] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), _of_sheets),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), _of_arrow),
    ".json": _of_json,
    ".zip": _of_zip,
    ".bz2": _packed("bzip2", "bunzip2"),
    ".xz": _packed("xz", "unxz"),
}
