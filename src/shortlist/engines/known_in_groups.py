"""What everybody knows of rows in groups: which groups there are, and which items."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shortlist.evidence import GroupedCounts, PublicCounts, UserGroups

if TYPE_CHECKING:
    import polars as pl


class KnownInGroups(NamedTuple):
    """Lists of groups and items.

    Attributes:
        groups: The groups, one row each, of which no others count; None where they are private.
        listed: The items, likewise, each in every group; only where groups are public, too.
        known: Those of the private items that everybody knows, likewise; None for nothing.
    """

    groups: pl.DataFrame | None = None
    listed: pl.DataFrame | None = None
    known: pl.DataFrame | None = None

    @property
    def n_groups(self) -> int | None:
        """How many groups there are, where a list says it."""
        return None if self.groups is None else self.groups.height

    @property
    def n_items(self) -> int | None:
        """How many items each group has, where a list says it."""
        return None if self.listed is None else self.listed.height

    @property
    def can_show(self) -> tuple[type, ...]:
        """The evidence that an engine can show: of a list, counts too."""
        return (UserGroups,) if self.listed is None else (PublicCounts, GroupedCounts, UserGroups)
