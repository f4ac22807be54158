"""Rows of users and items beside the labels of the users, in this process's memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines._table_engine import Once, Origin, UsersInMemory, public_description
from shortlist.engines.engine import ShownEvidence
from shortlist.evidence import LabelledCounts, Wants
from shortlist.table import SensitiveTable

if TYPE_CHECKING:
    import polars as pl


class LabelledRows(UsersInMemory):
    """Who holds what, and who is a case and who a control, each read once from a table."""

    can_show = (LabelledCounts,)

    def __init__(
        self,
        table: SensitiveTable,
        labels: SensitiveTable,
        values: pl.DataFrame,
        public: pl.DataFrame,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row.
            labels: With a user and a label a row.
            values: The label of a case, and that of a control, a row each.
            public: What everybody knows, one row an item.
        """
        self._labels, self._values = labels, values
        self._origins = Origin(table), Origin(labels)
        super().__init__(table, public, Once(self._read, lambda: [one() for one in self._origins]))
        self.n_items = public.height

    def about(self) -> dict[str, object]:
        return {**super().about(), "labels": public_description(self._labels, self._values)}

    @property
    def shows_changes(self) -> bool:
        return all(origin.shows_changes for origin in self._origins)

    def check(self, wants: Wants) -> None:
        super().check(wants)
        if not self._held.is_found:
            self._labels.check()

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - nothing is drawn
        """Show how many cases and controls hold each item, and how many there are."""
        public: pl.DataFrame = self._public
        yield ShownEvidence(self._held(), public.__getitem__, public.height)

    def _read(self) -> LabelledCounts:
        labelled = self._labelled()
        n_users, n_cases = labelled.height, int(labelled["is_case"].sum())
        held = self._held_by(labelled)
        places, of_cases = held["place"].to_numpy(), held["is_case"].to_numpy()
        return LabelledCounts(
            self._counted(places[of_cases]),
            self._counted(places[~of_cases]),
            n_cases,
            n_users - n_cases,
        )

    def _labelled(self) -> pl.DataFrame:
        """Each user with one of the two labels, and not both: other labels do not count.

        Whether a user is left out is decided by this user's rows alone.
        """
        import polars as pl

        case, control = self._values.to_series()
        label = pl.col("label")
        rows = self._labels.distinct()
        rows.columns = ["user", "label"]
        users = rows.lazy().filter((label == case) | (label == control)).group_by("user")
        found = users.agg(is_case=(label == case).first(), labels=pl.len())
        return found.filter(pl.col("labels") == 1).select("user", "is_case").collect()

    def _held_by(self, labelled: pl.DataFrame) -> pl.DataFrame:
        """The place in the list of each item that a user with a label holds, once for each user."""
        import polars as pl

        rows, listed = self._table.distinct(), self._public
        names = [f"item {i}" for i in range(listed.width)]
        rows.columns = ["user", *names]
        listed = listed.rename(dict(zip(listed.columns, names, strict=True)))
        of_list = rows.lazy().join(listed.lazy().with_row_index("place"), on=names)
        user = pl.col("user").cast(_common(rows["user"].dtype, labelled["user"].dtype))
        of_users = of_list.with_columns(user).join(labelled.lazy().with_columns(user), on="user")
        held: pl.DataFrame = of_users.select("place", "is_case").collect()
        return held

    def _counted(self, places: Ints) -> Ints:
        return np.bincount(places, minlength=self.n_items or 0).astype(np.int64)


def _common(one: pl.DataType, other: pl.DataType) -> pl.DataType:
    """The type in which users of two tables, of one kind of values, are told apart."""
    import polars as pl

    return one if one == other else pl.Int128()
