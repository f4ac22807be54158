"""Where compiled loops are kept between processes: Numba's own cache, which is read at once.

Numba loads all that it can compile before it reads what was compiled already: a quarter of a
second, most of it for SciPy's linear algebra, which no loop here uses. What is found in the cache
needs no more than the helpers for arrays; what is not is compiled, and Numba loads the rest then.
"""

from __future__ import annotations

from typing import Any

from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys

__all__ = ["Cache"]


class Cache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """The cache of one loop."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 - Numba's
        """The compiled loop, or None where it is not there."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)
