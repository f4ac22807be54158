"""What concerns the process: what does not go into another, and which files it can trust."""

from __future__ import annotations

import atexit
import os
import stat
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

_forked_too_late = False  # a child that was: its own children are, too


def require_threads() -> None:
    """Refuse where this process was forked from one that had loaded Polars.

    Polars has threads of its own, starts them whenever it likes, and then waits for them for ever
    in a forked child, which does not have them. So do locks that a thread held at the fork.

    Raises:
        RuntimeError: It was; the message names the remedy.
    """
    if _forked_too_late:
        raise RuntimeError(
            "this process was forked from one that had loaded Polars, whose threads are missing "
            "here, so that it could wait for ever. Start processes by spawn, as in "
            'multiprocessing.get_context("spawn"), or fork before Polars is loaded. Nothing was '
            "read and nothing was spent."
        )


def _note_fork() -> None:
    global _forked_too_late  # noqa: PLW0603 - of the process
    _forked_too_late = _forked_too_late or "polars" in sys.modules


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def others_can_write(path: Path) -> bool:
    """Whether a file or folder may be another user's work: by its owner, or by its mode.

    Root is trusted. So is the group that many systems give each user, which has no other members.

    Raises:
        OSError: There is no such file, or it may not be looked at.
    """
    if not hasattr(os, "getuid"):  # Windows has no such modes
        return False
    there = path.stat()
    owners = {there.st_uid, path.lstat().st_uid}  # a link may lead to a file of another's choice
    if owners - {os.getuid(), 0} or there.st_mode & stat.S_IWOTH:
        return True
    return bool(there.st_mode & stat.S_IWGRP) and not _is_own_group(there.st_gid)


def _is_own_group(number: int) -> bool:
    """Whether a group is of the name of this user, or of root, and nobody else is in it."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid())
    except KeyError:  # a container may know neither
        return number == 0
    return group.gr_name in (user.pw_name, "root") and not set(group.gr_mem) - {user.pw_name}


_private_folders: list[tuple[int, str]] = []  # with the process that has made each


def private_folder() -> Path:
    """A new folder among the temporary ones, which nobody else may look into, until the exit."""
    import tempfile  # help would load it for nothing

    folder = tempfile.mkdtemp(prefix="shortlist-")  # of mode 0700
    _private_folders.append((os.getpid(), folder))
    return Path(folder)


@atexit.register
def remove_private_folders() -> None:
    """Remove them with all that is in them; those of a parent are its own."""
    while _private_folders:
        maker, folder = _private_folders.pop()
        if maker == os.getpid():
            import shutil

            shutil.rmtree(folder, ignore_errors=True)


def even_unmade(described: Callable[[Any], str]) -> Callable[[Any], str]:
    """A `__repr__` that a traceback can show also where `__init__` has failed."""

    @wraps(described)
    def shown(self: Any) -> str:
        try:
            return described(self)
        except AttributeError:
            return f"<{type(self).__name__} that was not made>"

    return shown


class StaysHere:
    """What holds private rows, or the way to them, and so is not pickled for another process."""

    def __reduce__(self) -> NoReturn:
        """Refuse: no bytes with rows or with a password are made by the way.

        Raises:
            TypeError: Always; the message names the remedy.
        """
        kind = type(self).__name__
        raise TypeError(
            f"{kind}: is not pickled, since it holds private rows, or the way to them with its "
            f"password; let the process that needs one build its own {kind}."
        )
