"""What a histogram in groups must be told: in how many groups a user is, and what is public."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shortlist.errors import InputError
from shortlist.parameters import require_count
from shortlist.table import Table, Writing
from shortlist.table.public_items import IN_TABLE, KNOWN_IN_TABLE, open_public_items

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Known", "known_groups", "promised_groups", "require_no_groups"]


class Known(NamedTuple):
    """What everybody knows.

    Attributes:
        pairs: Every item of every group.
        n_items: How many items each group has.
    """

    pairs: pl.DataFrame
    n_items: int


def promised_groups(max_groups_per_user: int | None, max_items_per_user: int | None) -> int:
    """In how many groups one user is at most: as was promised, of groups or of counts.

    Raises:
        InputError: Nothing was promised, or it is out of range.
    """
    if max_groups_per_user is None:
        if max_items_per_user is not None:
            return max_items_per_user  # in no more groups than counts
        raise InputError(
            "with {by} the price depends on how many groups one user is in, which counts do not "
            "tell",
            "give {max_groups_per_user}, if there is such a bound: nothing here can check it",
        )
    groups = require_count("max_groups_per_user", max_groups_per_user)
    return int(groups) if max_items_per_user is None else min(int(groups), max_items_per_user)


def require_no_groups(max_groups_per_user: object, public_groups: object) -> None:
    """Refuse what goes with groups, where there are none."""
    given = {"max_groups_per_user": max_groups_per_user, "public_groups": public_groups}
    if any(value is not None for value in given.values()):
        raise InputError(
            "{max_groups_per_user} and {public_groups} go with {by}",
            "name the columns of groups, or omit them",
        )


def known_groups(
    table: Table, n_by: int, public_items: object, public_groups: object, writing: Writing
) -> Known | None:
    """Every public item of every public group; None where there is no list of them.

    Raises:
        InputError: There is one list without the other, or one is no such list.
    """
    lists = public_items is not None and public_items is not IN_TABLE
    if lists and public_groups is None:
        raise InputError(
            "a group that only the table knows could not be told from its public items",
            "give {public_groups}, too; or, if everybody knows which rows there are, {sl.IN_TABLE}",
            given={"public_items": ...},
        )
    if public_groups is not None and not lists:
        raise InputError(
            "it goes with a list of {public_items}", "omit it", given={"public_groups": ...}
        )
    if not lists:
        return None
    columns = list(table.items.items())
    items = open_public_items(
        public_items,
        dict(columns[n_by:]),
        table=table.parts,
        otherwise=KNOWN_IN_TABLE,
        writing=writing,
    )
    try:
        groups = open_public_items(
            public_groups,
            dict(columns[:n_by]),
            table=table.parts,
            otherwise=KNOWN_IN_TABLE,
            writing=writing,
        )
    except InputError as error:
        raise error.renamed("public_items", "public_groups") from None
    return Known(groups.join(items, how="cross"), items.height)
