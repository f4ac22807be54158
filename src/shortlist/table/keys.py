"""Keys as numbers: what identifies a row becomes a code that indexes an array, or 64 bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Coding", "Keys", "RawKeys"]


class Coding(Protocol):
    """What codes stand for."""

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """The values of these codes, in their order."""
        ...

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """The code of each row of values, -1 where it has none."""
        ...


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of rows (of one column or several), coded as 0 .. size - 1.

    Equal keys have equal codes and different keys different ones. Some codes may be unused: they
    stand for values that no row holds. Which code a key gets depends on the other rows and on
    nothing that is worth keeping.

    Attributes:
        codes: The code of each row: shape (rows,), C-contiguous and writable.
        size: One more than the largest possible code, below 2^32.
    """

    codes: NDArray[np.uint32]
    size: int
    coding: Coding = field(repr=False)

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """The values of codes, as one row each, columns under their own names.

        Args:
            codes: Shape (n,), each in 0 .. size - 1, in any order, repeated or not.

        >>> import polars as pl
        >>> from shortlist.table.coding import code
        >>> keys = code([pl.Series("page", ["b", "a", "b"])])
        >>> keys.take(keys.codes)["page"].to_list()
        ['b', 'a', 'b']
        """
        return self.coding.take(codes)

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """The code of each row of values, and -1 where it has none.

        A value that no row holds may still have a code, an unused one: its count is zero.

        Args:
            values: The columns of the keys, under the same names and of the same types.

        >>> import polars as pl
        >>> from shortlist.table.coding import code
        >>> keys = code([pl.Series("page", ["b", "a", "b"])])
        >>> bool(keys.find(pl.DataFrame({"page": ["z"]}))[0] == -1)
        True
        """
        return self.coding.find(values)


@dataclass(frozen=True, eq=False)
class RawKeys:
    """The keys of rows as numbers of 64 bits, equal where the keys are.

    Attributes:
        codes: The number of each row: shape (rows,), C-contiguous and writable.
        size: None: any number may be there.
    """

    codes: NDArray[np.uint64]
    size: None = field(init=False, default=None)
