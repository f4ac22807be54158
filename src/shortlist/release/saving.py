"""A release as a file: in which formats, and written whole or not at all."""

from __future__ import annotations

import glob
import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.errors import InputError, Words, joined, named, reference, written
from shortlist.release.json_values import described
from shortlist.runtime.processes import require_threads

if TYPE_CHECKING:
    from shortlist.release.release import Release

METADATA = "shortlist.release"
"""The key under which a Parquet file holds all but the items."""

_NO_PATH = "no such path can exist"
_BRACED = re.compile(r"\{(\w*)\}")
_IN_NAMES = " -_.,:+()"  # with letters, marks and numbers of any script
_NOT_FIRST = ".-"  # a hidden file, a folder above, an option


def _parquet(release: Release) -> bytes:
    require_threads()
    file = BytesIO()
    metadata = {METADATA: json.dumps(described(release))}
    release.to_polars().write_parquet(file, metadata=metadata)
    return file.getvalue()


_ENCODERS: dict[str, Callable[[Release], bytes]] = {
    ".md": lambda release: release.to_markdown().encode(),
    ".json": lambda release: release.to_json().encode(),
    ".csv": lambda release: release.to_csv().encode(),
    ".parquet": _parquet,
}
_SUFFIXES = tuple(_ENCODERS)


def encoder(path: str | os.PathLike[str]) -> Callable[[Release], bytes]:
    """What turns a release into the bytes of the file `path`, by its suffix in any case."""
    return _ENCODERS[Path(path).suffix.lower()]


def check_output(
    path: str | os.PathLike[str], *, overwrite: bool = False, suffixes: Sequence[str] = _SUFFIXES
) -> None:
    """Check that a release could be saved to `path` now, so that no budget is spent in vain.

    An empty temporary file is created beside `path` and removed; `path` itself is not touched.

    Args:
        path: Where a release is to be saved.
        overwrite: Whether a file of that name may be replaced: it may hold an answer that was paid
            for.
        suffixes: What its name may end in.

    >>> check_output("titles.xlsx")
    Traceback (most recent call last):
    shortlist.errors.InputError: cannot write 'titles.xlsx': its name must end in .md, .json, .csv
    or .parquet.

    Raises:
        InputError: The suffix is unknown, the folder is missing or not writable, or something that
            may not be replaced, or is no ordinary writable file, has that name.
    """
    try:
        _require_suffix(path, suffixes)
        _require_place(path, overwrite=overwrite)
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: a null character in the path
        why = getattr(error, "strerror", None) or _NO_PATH
        raise _refusal(path, Words("{why}", why=why)) from None


def check_replaces_none(path: str | os.PathLike[str], inputs: Iterable[str]) -> None:
    """Check that `path` is none of the files to be read, by whatever name or link.

    Args:
        path: Where a release is to be saved.
        inputs: Paths and globs.

    Raises:
        InputError: It is one of them.
    """
    for given in inputs:
        files = [given] if os.path.exists(given) else glob.glob(given, recursive=True)  # noqa: PTH110, PTH207 - as they are read
        if any(_are_same(path, file) for file in files):
            raise _refusal(path, Words("it is a file to be read"), Words("give another name"))


def named_after(path: str, texts: Mapping[str, str | None]) -> str:
    """The path with these texts in place of their names in braces.

    A text stays within the name in which it stands: it leads to no other folder.

    >>> named_after("weekly/top-{as_of}.csv", {"as_of": "2026-11-22"})
    'weekly/top-2026-11-22.csv'

    Raises:
        InputError: No such text is known, it was not given, or it cannot stand in a name.
    """

    def text_of(found: re.Match[str]) -> str:
        name = found[1]
        if name not in texts:
            known = ", ".join(f"{{{one}}}" for one in texts)
            rule = Words("{braced} stands for nothing", braced=found[0])
            raise _refusal(path, rule, Words("there are {known}", known=known))
        if (text := texts[name]) is None:
            rule = Words("{braced} stands for what was not given", braced=found[0])
            give = Words("give {option}, or omit it in the name", option=reference(name))
            raise _refusal(path, rule, give)
        if not _fits_in_a_name(text):
            raise _refusal(
                path,
                Words("{text} cannot stand in the name of a file", text=named(name, text)),
                Words(
                    "Letters, digits, spaces and {others} can; . and - not at the beginning. Give "
                    "another text, or omit {braced} in the name",
                    others=_IN_NAMES.strip(),
                    braced=found[0],
                ),
            )
        return text

    return _BRACED.sub(text_of, path)


def _fits_in_a_name(text: str) -> bool:
    usual = all(unicodedata.category(c)[0] in "LMN" or c in _IN_NAMES for c in text)
    return bool(text) and usual and text[0] not in _NOT_FIRST


def _refusal(path: str | os.PathLike[str], rule: Words, remedy: Words | str = "") -> InputError:
    return InputError(
        "cannot write {path!}: {rule}",
        "{remedy}",
        given={"path": Words("{path}", path=written(os.fspath(path)))},
        rule=rule,
        remedy=remedy,
    )


def _are_same(one: str | os.PathLike[str], other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121 - links are followed by both
    except OSError:  # one does not exist
        return False


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write `content` to `path` so that at every moment the old file or the new one is there.

    The permissions of a file that is replaced are kept; a new one gets the usual ones. A process
    killed in the middle may leave a hidden file `.shortlist-*.tmp` in the folder.
    """
    target = _target(path)
    temporary = _temporary(target.parent)
    try:
        with temporary.open("xb") as file:
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _target(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.realpath(path))  # a link is written through, not replaced


def _temporary(folder: Path) -> Path:
    return folder / f".shortlist-{os.urandom(8).hex()}.tmp"


def _require_suffix(path: str | os.PathLike[str], suffixes: Sequence[str]) -> None:
    if Path(path).suffix.lower() not in suffixes:
        rule = Words(
            "its name must end in {suffixes}",
            suffixes=joined(suffixes),
        )
        raise _refusal(path, rule)


def _require_place(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse what cannot be written, found out by trying; the system's own reasons are raised."""
    target = _target(path)
    if not target.parent.is_dir():
        raise _refusal(path, Words("the folder does not exist"), Words("create it first"))
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(target.stat().st_mode):
            raise _refusal(path, Words("it exists and is not a file"), Words("choose another name"))
        if not overwrite:
            raise _refusal(
                path,
                Words("it exists, and may hold an answer"),
                Words("give another name, or {overwrite=True}"),
            )
        target.open("r+b").close()
    temporary = _temporary(target.parent)
    try:
        temporary.open("xb").close()
    finally:
        temporary.unlink(missing_ok=True)
