"""Loops that are compiled when they are first called. Numba is loaded only to compile one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from threading import RLock
from typing import Any, cast

_Loop = Callable[..., Any]

_LOG = logging.getLogger("shortlist.kernels")  # which the audit does not take for an answer
_COMPILING = RLock()  # threads that share the work call a kernel at once; one may need another


class InnerKernel:
    """A loop that kernels call, compiled with the first of them.

    Attributes:
        plain: As it is written.
    """

    def __init__(self, loop: Callable[..., Any], signature: str, options: dict[str, Any]) -> None:
        self.plain, self._signature, self._options = loop, signature, options

    @property
    def _numba_type_(self) -> Any:
        """By which a kernel may call another."""
        import numba

        return numba.typeof(self.for_kernels)

    @cached_property
    def for_kernels(self) -> Any:
        """The compiled loop, which only kernels can call: from Python, it would crash.

        To compile what makes it callable from there takes as long again for a short loop.
        """
        with _COMPILING:
            return self._compiled(no_cpython_wrapper=True)

    def _compiled(self, **more: bool) -> Any:
        import numba

        _load_for_compiling()
        options = self._options | more | {"no_cfunc_wrapper": True}  # for C, which does not call it
        return numba.njit(self._signature, nogil=True, **options)(self.plain)


class Kernel(InnerKernel):
    """A loop that is compiled when it is called for the first time, or loaded from its file."""

    def __call__(self, *arrays: Any) -> Any:
        return self.compiled(*arrays)

    @cached_property
    def compiled(self) -> Any:
        """The compiled loop, which Python calls."""
        with _COMPILING:
            code = self._code()
            if code is not None and (loop := code.loaded()) is not None:
                return loop
            _tell_each_time("they cannot be kept here")
            return self._compiled()

    def _code(self) -> Any:
        """Machine code that is called without Numba, or None."""
        from shortlist.kernels._kept_code import Shelf, Unkept

        try:
            shelf = Shelf(self.plain)
        except (Unkept, OSError) as why:
            _tell_each_time(str(why))
            return self._code_anew()
        if (kept := shelf.read()) is not None:
            return kept
        if shelf.is_empty():
            _tell_once()
        code = self._code_anew()
        with suppress(OSError):  # the answer does not fail for that
            if code is not None:
                shelf.keep(code)
        return code

    def _code_anew(self) -> Any:
        from shortlist.kernels import _machine_code

        form = _machine_code.form_of(self._signature)
        return form and _machine_code.of_compiled(self.for_kernels, *form)


@cache
def _load_for_compiling() -> None:
    """Load what Numba loads before it compiles, but for SciPy's linear algebra, 0.15 s.

    Numba loads that to see whether it is there, and again where a loop needs it. It is there: this
    package needs SciPy, too.
    """
    from numba.np import linalg

    look, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # noqa: F401 - which looks for it
    finally:
        linalg.ensure_blas = look


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
    return lambda loop: Kernel(loop, signature, options)


def inner_kernel(signature: str, **options: object) -> Callable[[_Loop], Callable[..., Any]]:
    """Make a loop a kernel that only kernels can call."""
    # To mypy it is the loop itself, which kernels call.
    return lambda loop: cast("_Loop", InnerKernel(loop, signature, options))
