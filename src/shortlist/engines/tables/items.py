"""The items of a table, by their codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.engines.tables._names import CODE, PLACE
from shortlist.engines.tables._numbered import Numbered
from shortlist.engines.tables.scratch import Scratch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Items"]


@dataclass(frozen=True)
class Items:
    """What codes stand for: of the items, only those that are asked for leave the engine.

    Attributes:
        numbered: The items, with a column for each of `types`.
        types: The columns of an item, as they are called and of what type.
        scratch: Where temporary tables are made.
    """

    numbered: Numbered
    types: Mapping[str, pl.DataType]
    scratch: Scratch

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """The values of these codes, in their order."""
        import polars as pl

        asked = self.scratch.give({CODE: codes, PLACE: np.arange(len(codes))})
        found = self.scratch.fetch_rows(
            asked.join(self.numbered.table, CODE).select(PLACE, *self._columns)
        )
        named = pl.DataFrame(found).sort(PLACE)
        return named.select(
            pl.col(held).cast(dtype).alias(name)
            for held, (name, dtype) in zip(self._columns, self.types.items(), strict=True)
        )

    def find(self, values: pl.DataFrame) -> Ints:
        """The code of each row of values, all different, and -1 where it has none."""
        import polars as pl

        dialect = self.scratch.dialect
        renamed = values.rename(dict(zip(values.columns, self._columns, strict=True)))
        renamed = renamed.cast({pl.Int128: pl.Decimal(38, 0)})  # Arrow has no such integers
        numbered = renamed.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(PLACE))
        given = self.scratch.give_rows(numbered.to_arrow(compat_level=pl.CompatLevel.oldest()))
        asked = given.select(PLACE, **{name: dialect.key(given[name]) for name in self._columns})
        found = self.scratch.fetch(
            asked.join(self.numbered.table, self._columns).select(PLACE, CODE)
        )
        codes = np.full(values.height, -1, np.int64)
        codes[found[PLACE]] = found[CODE]
        return codes

    @property
    def _columns(self) -> list[str]:
        return list(self.numbered.columns)
