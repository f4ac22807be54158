"""Loops that are compiled when they are first called. Numba is loaded with the first of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, cached_property
from threading import RLock
from typing import Any, cast

_Loop = Callable[..., Any]

_LOG = logging.getLogger("shortlist.kernels")  # which the audit does not take for an answer
_COMPILING = RLock()  # threads that share the work call a kernel at once; one may need another


class InnerKernel:
    """A loop that kernels call, compiled when the first of them is; or loaded from the cache.

    Attributes:
        plain: As it is written.
    """

    def __init__(self, loop: Callable[..., Any], signature: str, options: dict[str, Any]) -> None:
        self.plain, self._signature, self._options = loop, signature, options

    @property
    def _numba_type_(self) -> Any:
        """By which a kernel may call another."""
        import numba

        return numba.typeof(self.compiled)

    @cached_property
    def compiled(self) -> Any:
        """The compiled loop."""
        with _COMPILING:
            try:
                return self._from_cache()
            except (RuntimeError, AttributeError, ImportError, OSError):
                return self._compiled_anew("no folder can be written to that would keep them")

    def _from_cache(self) -> Any:
        # What is in the cache already does not wait for what only compiling needs.
        import numba

        from shortlist.kernels._cache import Cache, NotOurs

        try:
            kept = Cache(self.plain, tell=_tell_once)
        except NotOurs as folder:
            return self._compiled_anew(f"others can write to {folder}, which would keep them")
        loop = numba.njit(nogil=True, **self._options)(self.plain)
        vars(loop)["_cache"] = kept
        loop.compile(self._signature)
        loop.disable_compile()
        return loop

    def _compiled_anew(self, why: str) -> Any:
        import numba

        _tell_each_time(why)
        return numba.njit(self._signature, nogil=True, **self._options)(self.plain)


class Kernel(InnerKernel):
    """A loop that is compiled when it is called for the first time, or loaded from the cache."""

    def __call__(self, *arrays: Any) -> Any:
        return self.compiled(*arrays)


@cache
def _tell_once() -> None:
    # Why the first question takes so long: a line on standard error, if no log takes it.
    _LOG.warning("compiling loops, which takes a few seconds and happens once after installing")


@cache
def _tell_each_time(why: str) -> None:
    _LOG.warning("compiling loops, in each process anew: %s", why)


def kernel(signature: str, **options: object) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a loop a kernel, of one signature in Numba's words.

    Slices are copied by loops: Numba compiles `to[:n] = from[:n]` for one to two seconds.
    """
    options |= {"no_cfunc_wrapper": True}  # for C, which does not call it
    return lambda loop: Kernel(loop, signature, options)


def inner_kernel(signature: str, **options: object) -> Callable[[_Loop], Callable[..., Any]]:
    """Make a loop a kernel that only kernels can call: called from Python, it would crash.

    To compile what makes it callable from there would take a quarter of all the time.
    """
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    # To mypy it is the loop itself, which kernels call.
    return lambda loop: cast("_Loop", InnerKernel(loop, signature, options))
