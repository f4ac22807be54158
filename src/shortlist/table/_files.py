"""Which files the caller means: by a path, a glob, a directory, or a list of these."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from shortlist.errors import InputError, Words, is_short, named, reference, shown
from shortlist.table._formats import READABLE, has_known_suffix

__all__ = ["NamedFile", "exists", "files_of", "in_duckdb", "is_list_of_paths", "require_readable"]

_DUCKDB = re.compile(r"duckdb:/?(?=[^/])", re.IGNORECASE)


@dataclass(frozen=True)
class NamedFile:
    """A file, and how messages name it.

    Attributes:
        path: Where it is.
        argument: What the caller wrote, as in data="plays-*.csv".
        origin: The same, and the file where these are two.
    """

    path: str
    argument: Words
    origin: Words


def _found_for(path: str, argument: Words) -> NamedFile:
    file = f'"{shown(path)}"'
    return NamedFile(
        path, argument, Words("{argument}: the file {file}", argument=argument, file=file)
    )


def is_list_of_paths(data: object, kinds: type | tuple[type, ...]) -> TypeGuard[Sequence[object]]:
    """Whether this is a list or tuple of at least one path, each of one of these types."""
    is_list = isinstance(data, list | tuple) and len(data) > 0
    return is_list and all(isinstance(entry, kinds) for entry in data)  # type: ignore[attr-defined]


def files_of(data: object, argument: str) -> list[NamedFile]:
    """The files of a path, a glob, a directory or a list of these, none of them twice.

    Args:
        data: What the caller gave.
        argument: The name of the argument, for messages.

    Raises:
        InputError: There is no such file, it may not be read, or it stands there twice.
    """
    if isinstance(data, str | os.PathLike):
        path = _path(data, argument)
        files = _found(path, named(argument, path))
    else:  # an entry is named by its place: a list may be of values, by mistake
        paths = [_path(entry, argument, i) for i, entry in enumerate(data)]  # type: ignore[arg-type,var-annotated]
        places = [_place(argument, i) for i in range(len(paths))]
        files = [file for entry in zip(paths, places, strict=True) for file in _found(*entry)]
        files = [_found_for(file.path, reference(argument)) for file in files]
    _refuse_twice(files)
    return files


def _place(argument: str, i: int | None) -> Words:
    if i is None:
        return reference(argument)
    return Words("{argument}[{i}]", argument=reference(argument), i=i)


def _path(data: object, argument: str, i: int | None = None) -> str:
    path = os.fspath(data)  # type: ignore[call-overload]
    place = _place(argument, i)
    if isinstance(path, bytes):
        raise InputError("{place}: the path is bytes", "give it as a string", place=place)
    if "://" in path:  # it may hold a password
        raise InputError(
            "{place}: must be a path, and this is a URL",
            "for a table of counts in a database use {sl.store}",
            place=place,
        )
    if not is_short(path) and not exists(path):
        kind = "text with line ends" if len(path.splitlines()) > 1 else "a text too long to show"
        raise InputError(
            "{named} does not exist: this is {kind}, and a path is needed",
            "Give the path of a file, or read the text with Polars or pandas and give the table",
            named=named(argument, path) if i is None else place,
            kind=kind,
        )
    return str(path)


def _found(path: str, argument: Words) -> list[NamedFile]:
    """The files of one path, each of which can be read."""
    if not exists(path) and glob.has_magic(path):
        names = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute one
        if not names:
            raise InputError("{argument} matches no file", "check the pattern", argument=argument)
        files = [_found_for(name, argument) for name in names]
    elif exists(path) and Path(path).is_dir():
        files = _in_directory(path, argument)
    else:
        files = [NamedFile(path, argument, argument)]
    for file in files:
        require_readable(file)
    return files


def _in_directory(path: str, argument: Words) -> list[NamedFile]:
    """The files of a directory that have a suffix of a table; what lies deeper is not looked at."""
    if not os.access(path, os.R_OK | os.X_OK):
        raise InputError("{argument} may not be read", "check its permissions", argument=argument)
    inside = sorted(Path(path).iterdir())
    if any("=" in entry.name and entry.is_dir() for entry in inside):  # whose names are values
        raise InputError(
            "{argument} is a directory that is divided by the values of a column, which the files "
            "in it may lack",
            "read it with Polars and give the lazy frame",
            argument=argument,
        )
    names = [str(entry) for entry in inside if has_known_suffix(entry.name) and entry.is_file()]
    names = [name for name in names if not Path(name).name.startswith((".", "_"))]
    if not names:
        raise InputError(
            "{argument} is a directory without a file that could be read: the suffixes are "
            "{readable}",
            "For files in directories below it, give a glob",
            argument=argument,
            readable=READABLE,
        )
    return [_found_for(name, argument) for name in names]


def exists(file: str) -> bool:
    """Whether there is a file of that name; False for a text that can be none."""
    return os.path.exists(file)  # noqa: PTH110 - Path.exists fails on long texts


def in_duckdb(path: str) -> Words:
    """The table at this path in place of a file, as one of DuckDB.

    >>> print(in_duckdb("plays.db"))
    data="duckdb:///plays.db"
    """
    url = Words('"duckdb:///{path}"', path=shown(path))
    return Words("{data=}", given={"data": url})


def require_readable(file: NamedFile) -> None:
    """Refuse what is no file, or none that could be read."""
    if not exists(file.path) and (scheme := _DUCKDB.match(file.path)):
        raise InputError(
            "{origin} does not exist",
            "for a file of DuckDB write {url} and {table=...}",
            origin=file.origin,
            url=in_duckdb(file.path[scheme.end() :]),
        )
    if not exists(file.path):
        raise InputError("{origin} does not exist", "check the path", origin=file.origin)
    path = Path(file.path)
    if path.is_dir():
        raise InputError(
            "{origin} is a directory", "name its files, for example by a glob", origin=file.origin
        )
    if not os.access(path, os.R_OK):
        raise InputError("{origin} may not be read", "check its permissions", origin=file.origin)
    if not path.is_file():
        raise InputError(
            "{origin} is not a regular file", "write the table to one", origin=file.origin
        )
    if path.stat().st_size == 0:
        raise InputError(
            "{origin} is empty, without even a header",
            "write the table to it",
            origin=file.origin,
        )


def _refuse_twice(files: list[NamedFile]) -> None:
    """Refuse a file that is named twice: one user's rows would count double."""
    places: set[tuple[int, int]] = set()
    for file in files:
        status = Path(file.path).stat()
        place = (status.st_dev, status.st_ino)
        if place in places:
            raise InputError(
                "{origin} is named a second time, perhaps by a link",
                "name every file once",
                origin=file.origin,
            )
        places.add(place)
