"""Writing a file whole or not at all, and finding out beforehand that it can be written."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from shortlist.errors import InputError, written
from shortlist.release.formats import SUFFIXES

__all__ = ["check_output", "check_replaces_none", "write_whole"]


def check_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Check that a release could be saved to `path` now, so that no budget is spent in vain.

    An empty temporary file is created beside `path` and removed; `path` itself is not touched.

    Args:
        path: Where a release is to be saved.
        overwrite: Whether a file of that name may be replaced: it may hold an answer that was paid
            for.

    >>> check_output("titles.xlsx")
    Traceback (most recent call last):
    shortlist.errors.InputError: cannot write 'titles.xlsx': its name must end in .md, .json, .csv
    or .parquet.

    Raises:
        InputError: The suffix is unknown, the folder is missing or not writable, or something that
            may not be replaced, or is no ordinary writable file, has that name.
    """
    try:
        problem = _suffix_problem(Path(path)) or _place_problem(_target(path), overwrite)
    except (OSError, ValueError) as error:  # a ValueError: a null character in the path
        problem = f"{getattr(error, 'strerror', None) or 'no such path can exist'}."
    if problem:
        raise InputError(f"cannot write {written(os.fspath(path))}: {problem}")


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
            raise InputError(
                f"cannot write {written(os.fspath(path))}: it is a file to be read; give another "
                "name."
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
    """The file itself: a link is written through, not replaced."""
    return Path(os.path.realpath(path))


def _temporary(folder: Path) -> Path:
    return folder / f".shortlist-{os.urandom(8).hex()}.tmp"


def _suffix_problem(path: Path) -> str:
    if path.suffix.lower() in SUFFIXES:
        return ""
    return f"its name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."


def _place_problem(target: Path, overwrite: bool) -> str:  # noqa: FBT001 - as the caller's
    """What forbids to write `target`, found by trying; the system's own reasons are raised."""
    if not target.parent.is_dir():
        return "the folder does not exist; create it first."
    try:
        kind = target.stat().st_mode
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISREG(kind):
            return "it exists and is not a file; choose another name."
        if not overwrite:
            return "it exists, and may hold an answer; give another name, or overwrite=True."
        target.open("r+b").close()
    temporary = _temporary(target.parent)
    try:
        temporary.open("xb").close()
    finally:
        temporary.unlink(missing_ok=True)
    return ""
