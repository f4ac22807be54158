"""Where compiled loops are kept between processes: Numba's own cache, which is read at once.

Numba loads all that it can compile before it reads what was compiled already: a quarter of a
second, most of it for SciPy's linear algebra, which no loop here uses. What is found in the cache
needs no more than the helpers for arrays; what is not is compiled, and Numba loads the rest then.

A compiled loop holds those that it calls, also from other files. So what was compiled of other
files than those that are here now, of which Numba would look at one, is compiled again.

What is loaded from the cache is run. So a folder that others can write to is not used.

Which loops a question needs may depend on private rows: those that pick some items of a user are
needed only if a user has too many. So a line is written before the first loop of all is compiled,
and before no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

from shortlist.runtime.processes import others_can_write


class NotOurs(Exception):  # noqa: N818 - nobody made a mistake: the loop is compiled anew
    """Others can write to the folder, which is the argument."""


class Cache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """The cache of one loop.

    Raises:
        NotOurs: Others can write to where it is.
    """

    def __init__(self, loop: Callable[..., Any], tell: Callable[[], None]) -> None:
        """Find its folder; `tell` is called before the first loop of all is compiled."""
        super().__init__(loop)
        self._tell = tell
        if others_can_write(folder := Path(self._cache_path)):  # Numba has made it by now
            raise NotOurs(folder)
        name = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(
            self._cache_path, name, _digest(Path(__file__).parent)
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled loop, or None where it is not there, or cannot be read."""
        rtsys.initialize(target_context)
        found = None
        try:
            found = self._load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - of a file that was cut off, pickle may raise any
            with suppress(OSError):
                self.flush()
        if found is None:
            if not self._has_any:
                self._tell()
            _load_for_compiling()
        return found

    @property
    def _has_any(self) -> bool:
        """Whether any loop was compiled since the loops were last changed."""
        kept = _last_changed(Path(self._cache_path), "*.nbc")
        return kept > _last_changed(Path(__file__).parent, "*.py")


@cache
def _load_for_compiling() -> None:
    """Load what Numba loads before it compiles, but for SciPy's linear algebra, 0.2 s.

    Numba loads that to see whether it is there, and again where a loop needs it. It is there: this
    package needs SciPy, too.
    """
    from numba.np import linalg

    if (look := getattr(linalg, "ensure_blas", None)) is None:  # another Numba looks otherwise
        return
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401 - which looks for it
    finally:
        linalg.ensure_blas = look


def _last_changed(folder: Path, names: str) -> float:
    """When the newest of the files of these names was changed; 0 where there are none."""
    return max((path.stat().st_mtime for path in folder.glob(names)), default=0.0)


@cache
def _digest(folder: Path) -> bytes:
    found = hashlib.blake2b()
    for path in sorted(folder.glob("*.py")):
        found.update(path.read_bytes())
    return found.digest()
