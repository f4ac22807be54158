"""The precision of flint's balls, which is one number for the whole process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

__all__ = ["precision"]

_IN_USE = RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with so many bits, and give the caller's precision back, whatever happens.

    One thread at a time: two that set it in turns would compute with each other's, and the last to
    leave would give back what the other had set. A fork waits, too, so that no child begins with
    a lock that nobody opens or with a precision that nobody takes back.

    >>> from flint import ctx
    >>> with precision(300):
    ...     print(ctx.prec)
    300
    """
    from flint import ctx

    with _IN_USE, ctx.workprec(bits):
        yield


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_IN_USE.acquire,
        after_in_parent=_IN_USE.release,
        after_in_child=_IN_USE.release,
    )
