"""Work on rows, shared among the processor's cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_WORTH_A_THREAD = 100_000  # rows: below, starting threads takes longer than the work


def parts(n_rows: int, ends: Ints | None = None) -> list[tuple[int, int]]:
    """Ranges of rows, one for each core; or of groups that end there, of about as many rows."""
    cores = (os.cpu_count() or 1) if n_rows > _WORTH_A_THREAD else 1
    limits = np.arange(cores + 1) * n_rows // cores
    if ends is not None:
        limits = np.searchsorted(ends, limits)
        limits[-1] = len(ends)
    return list(pairwise(limits.tolist()))


def share(
    parts: list[tuple[int, int]], kernel: Callable[..., None], scratch: Callable[[], list[Any]]
) -> list[list[Any]]:
    """Run `kernel(first, last, *scratch())` for each part, a thread each; the scratches."""
    scratches = [scratch() for _ in parts]
    if len(parts) == 1:
        kernel(*parts[0], *scratches[0])
        return scratches
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part, own: kernel(*part, *own), parts, scratches))
    return scratches


def zeros(n: int) -> Ints:
    """To be added up in."""
    return np.zeros(n, np.int64)


def total(scratches: list[list[Any]], n_items: int) -> Ints:
    """The sum of what the parts counted: the last scratch of each, shape (n_items,)."""
    if not scratches:
        return zeros(n_items)
    first, *others = (scratch[-1] for scratch in scratches)
    for other in others:
        first += other
    return first  # type: ignore[no-any-return]  # nobody else has it
