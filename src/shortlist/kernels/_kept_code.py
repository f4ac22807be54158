"""Files with the machine code of loops, a file a loop.

A file is of the loop's source, of all kernels, which may be inside it, of this processor, and of
the Numba that compiled it; else, or where it was cut off, the loop is compiled again. What is read
is run, so that no folder is used that others can write to.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shortlist.kernels._machine_code import Argument, Code
from shortlist.runtime.processes import others_can_write

_SUFFIX = ".code"
_KERNELS = Path(__file__).parent


class Unkept(Exception):  # noqa: N818 - nobody made a mistake: the loop is compiled anew
    """Why nothing is kept."""


class Shelf:
    """Where the code of one loop is kept.

    Raises:
        Unkept: There is no such place.
    """

    def __init__(self, loop: Callable[..., Any]) -> None:
        source = Path(loop.__code__.co_filename)
        self._folder = _folder(source)
        name = f"{source.stem}.{loop.__name__}-{sys.implementation.cache_tag}{_SUFFIX}"
        self._path = self._folder / name
        self._stamp = _of_all() + source.read_bytes()

    def read(self) -> Code | None:
        """What is kept there, of this loop and for this processor."""
        with suppress(OSError, ValueError):
            seal, header, code = self._path.read_bytes().split(b"\n", 2)
            if seal == self._sealed(header, code):
                name, needs, arguments, returns, length = json.loads(header)
                taken = [Argument(*argument) for argument in arguments]
                return Code(name, needs, taken, returns, code[:length], code[length:])
        return None

    def keep(self, code: Code) -> None:
        """Write it: whole, or not at all.

        Raises:
            OSError: It cannot be written.
        """
        described = code.name, code.needs, code.arguments, code.returns, len(code.entry)
        header, both = json.dumps(described).encode(), code.entry + code.loop
        lines = self._sealed(header, both), header, both
        unfinished = self._path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(b"\n".join(lines))
        unfinished.replace(self._path)

    def is_empty(self) -> bool:
        """Whether no loop is kept here since the loops were last changed."""
        kept = _last_changed(self._folder, f"*{_SUFFIX}")
        return kept <= _last_changed(_KERNELS, "*.py")

    def _sealed(self, header: bytes, code: bytes) -> bytes:
        parts = (self._stamp, header, code)
        return hashlib.blake2b(b"\n".join(parts)).hexdigest().encode()


def _folder(source: Path) -> Path:
    for folder in _folders(source.parent):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                if others_can_write(folder):
                    raise Unkept(f"others can write to {folder}, which would keep them")
                return folder
    raise Unkept("no folder can be written to that would keep them")


def _folders(of: Path) -> Iterator[Path]:
    """The places where Numba keeps loops, too, in its order."""
    name = f"shortlist-{hashlib.blake2b(bytes(of), digest_size=8).hexdigest()}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / name
    yield of / "__pycache__"
    with suppress(RuntimeError):  # there is no home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba" / name


@cache
def _of_all() -> bytes:
    """What the code of any loop is of."""
    import llvmlite.binding as llvm

    numba = find_spec("numba")  # which does not load it
    version = Path(str(numba and numba.origin)).with_name("_version.py").read_bytes()
    machine = llvm.get_process_triple(), llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten()
    found = hashlib.blake2b("\n".join((*machine, features)).encode() + version)
    for path in sorted(_KERNELS.glob("*.py")):
        found.update(path.read_bytes())
    return found.digest()


def _last_changed(folder: Path, names: str) -> float:
    """When the newest of the files of these names was changed; 0 where there are none."""
    return max((path.stat().st_mtime for path in folder.glob(names)), default=0.0)
