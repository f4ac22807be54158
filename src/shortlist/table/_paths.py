"""Which files the caller means: by a path, a glob, a directory, or a list of these."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePath
from typing import TypeGuard
from urllib.parse import unquote

from shortlist.errors import InputError, Words, is_short, named, reference, shown
from shortlist.table.formats import ELSEWHERE, HERE, READABLE, has_known_suffix

_VALUED = re.compile(r"([^._=][^=]*)=(.*)", re.DOTALL)  # the name of a folder that is a value
_DUCKDB = re.compile(r"duckdb:/?(?=[^/])", re.IGNORECASE)


@dataclass(frozen=True)
class NamedFile:
    """A file, and how messages name it.

    Attributes:
        path: Where it is.
        argument: What the caller wrote, as in data="plays-*.csv".
        origin: The same, and the file where these are two.
        above: The folder in which folders may be named by values, as `country=FR`.
    """

    path: str
    argument: Words
    origin: Words
    above: str | None = None

    @property
    def partition(self) -> dict[str, str | None]:
        """The columns that folders are named by, with their values, which are texts."""
        named = filter(None, map(_VALUED.fullmatch, _folders(self.path, self.above)))
        return {unquote(found[1]): _value(found[2]) for found in named}


def _found_for(path: str, argument: Words, above: str | None = None) -> NamedFile:
    """A file that was found; its message shows no value that a folder is named by."""
    folders = [_VALUED.sub(r"\1=…", folder) for folder in _folders(path, above)]
    whole = PurePath(path)
    shortened = PurePath(*whole.parts[: len(whole.parts) - 1 - len(folders)], *folders, whole.name)
    origin = Words(
        "{argument}: the file {file}", argument=argument, file=f'"{shown(str(shortened))}"'
    )
    return NamedFile(path, argument, origin, above)


def _folders(path: str, above: str | None) -> Sequence[str]:
    return () if above is None else PurePath(path).relative_to(above).parts[:-1]


def _value(text: str) -> str | None:
    return None if text in ("", "__HIVE_DEFAULT_PARTITION__") else unquote(text)


def is_list_of_paths(data: object, kinds: type | tuple[type, ...]) -> TypeGuard[Sequence[object]]:
    """Whether this is a list or tuple of at least one path, each of one of these types."""
    is_list = isinstance(data, list | tuple) and len(data) > 0
    return is_list and all(isinstance(entry, kinds) for entry in data)  # type: ignore[attr-defined]


def files_of(data: object, argument: str) -> list[NamedFile]:
    """The files of a path, a glob, a directory or a list of these, none of them twice."""
    if isinstance(data, str | os.PathLike):
        path = _path(data, argument)
        files = _found(path, named(argument, path))
    else:  # an entry is named by its place: a list may be of values, by mistake
        paths = [_path(entry, argument, i) for i, entry in enumerate(data)]  # type: ignore[arg-type,var-annotated]
        places = [_place(argument, i) for i in range(len(paths))]
        files = [file for entry in zip(paths, places, strict=True) for file in _found(*entry)]
        files = [_found_for(file.path, reference(argument), file.above) for file in files]
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
        raise _no_path(path, place)
    if not is_short(path) and not exists(path):
        kind = "text with line ends" if len(path.splitlines()) > 1 else "a text too long to show"
        raise InputError(
            "{named} does not exist: this is {kind}, and a path is needed",
            "Give the path of a file, or read the text with Polars or pandas and give the table",
            named=named(argument, path) if i is None else place,
            kind=kind,
        )
    return str(path)


def _no_path(url: str, place: Words) -> InputError:
    scheme = url.partition("://")[0].lower()
    if scheme == HERE:
        return InputError(
            "{place}: must be a path, and this is a URL of a file here",
            "write the path alone, without file://",
            place=place,
        )
    if scheme in ELSEWHERE:
        return InputError(
            "{place}: must be a path, and this is the URL of a file elsewhere ({scheme}://…), "
            "which DuckDB can read",
            "{give_a_relation}, with the address for the dots",
            place=place,
            scheme=scheme,
        )
    return InputError(
        "{place}: must be a path, and this is a URL",
        "for a table of counts in a database use {sl.store}",
        place=place,
    )


def _found(path: str, argument: Words) -> list[NamedFile]:
    if not exists(path) and glob.has_magic(path):
        names = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute one
        if not names:
            raise InputError("{argument} matches no file", "check the pattern", argument=argument)
        files = [_found_for(name, argument, _fixed(path)) for name in names]
    elif exists(path) and Path(path).is_dir():
        files = _in_directory(path, argument)
    else:
        files = [NamedFile(path, argument, argument)]
    for file in files:
        require_readable(file)
    return files


def _fixed(pattern: str) -> str:
    """The folder above all that a pattern may match."""
    parts = PurePath(pattern).parts
    return str(PurePath(*takewhile(lambda part: not glob.has_magic(part), parts)))


def _in_directory(path: str, argument: Words) -> list[NamedFile]:
    """The files of a directory that have the suffix of a table.

    Of the folders in it, those named by a value are looked into, such as country=FR.
    """
    names = list(_tables_in(Path(path), argument))
    if not names:
        raise InputError(
            "{argument} is a directory without a file that could be read: the suffixes are "
            "{readable}",
            "For files in directories below it, give a glob",
            argument=argument,
            readable=READABLE,
        )
    return [_found_for(name, argument, path) for name in names]


def _tables_in(folder: Path, argument: Words) -> Iterator[str]:
    if not os.access(folder, os.R_OK | os.X_OK):
        raise InputError("{argument} may not be read", "check its permissions", argument=argument)
    for entry in sorted(folder.iterdir()):
        if _VALUED.fullmatch(entry.name) and entry.is_dir():
            yield from _tables_in(entry, argument)
        elif has_known_suffix(entry.name) and entry.name[0] not in "._" and entry.is_file():
            yield str(entry)


def exists(file: str) -> bool:
    """Whether there is a file of that name; False for a text that can be none."""
    return os.path.exists(file)  # noqa: PTH110 - Path.exists fails on long texts


def in_database(kind: str, path: str) -> Words:
    """How the caller names a database file of that kind, by a URL.

    >>> print(in_database("duckdb", "plays.db"))
    data="duckdb:///plays.db"
    """
    url = Words('"{kind}:///{path}"', kind=kind, path=shown(path))
    return Words("{data=}", given={"data": url})


def require_readable(file: NamedFile) -> None:
    """Refuse what is no file, or none that could be read."""
    if not exists(file.path) and (scheme := _DUCKDB.match(file.path)):
        raise InputError(
            "{origin} does not exist",
            "for a file of DuckDB write {url} and {table=...}",
            origin=file.origin,
            url=in_database("duckdb", file.path[scheme.end() :]),
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
