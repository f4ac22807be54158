"""From the arguments of a command to the source that is asked, and what each must have."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import shortlist
from shortlist.errors import InputError, Words, named

if TYPE_CHECKING:
    from shortlist.budget import Budget
    from shortlist.sources.pairs import Pairs
    from shortlist.sources.source import Source


_WRITTEN = ("separator", "encoding")


def open_table(given: SimpleNamespace) -> Source:
    """Of the three that hold items, the one that the options name."""
    if given.store is not None:
        return _store(given)
    return _counts(given) if given.user is None else open_rows(given)


def _store(given: SimpleNamespace) -> Source:
    own = _taken(given, "table", "count", "users")
    return shortlist.store(given.store, item=given.item[0], **own)


def open_rows(given: SimpleNamespace) -> Source:
    lists, spent = ("public_items", "known_items"), ("amount", "cap")
    own = _taken(given, "user", "max_items_per_user", *lists, *spent, "table", "users", *_WRITTEN)
    own |= {"where": _where(given), "pull": _pull(given)}
    return _in_groups(shortlist.pairs(_data(given), item=_columns(given.item), **own), given)


def _in_groups(rows: Pairs, given: SimpleNamespace) -> Source:
    """The rows, in groups where columns of groups are named."""
    if given.of not in (None, 1):
        return rows.together(given.of)
    if not given.by:
        return rows
    most = 1 if given.max_groups_per_user is None else given.max_groups_per_user
    kind = shortlist.GroupItems(given.group_items or "shared")
    return rows.grouped(
        given.by,
        max_groups_per_user=most,
        group_items=kind,
        public_groups=given.public_groups,
    )


def open_listed_rows(given: SimpleNamespace) -> Source:
    """Rows of which a list of items counts, that may be an earlier release."""
    own = _taken(given, "user", "table", "users", *_WRITTEN)
    own |= {"where": _where(given), "pull": _pull(given)}
    rows = shortlist.pairs(_data(given), item=_columns(given.item), **own)
    try:
        listed = rows.of_items(given.public_items)
    except InputError as error:
        raise error.renamed("items", "public_items") from None
    return _in_groups(listed, given)


def _where(given: SimpleNamespace) -> list[str] | None:
    """The conditions on the rows that count: one that was written, and a span of days."""
    written = [] if given.where is None else [given.where]
    if given.time is None:
        return written or None
    return [*written, shortlist.days(given.time, given.first_day, given.last_day)]


def _pull(given: SimpleNamespace) -> bool | None:
    """Where the rows of a table in an engine are added up, as a source takes it."""
    return True if given.pull else False if given.push else None


def _counts(given: SimpleNamespace) -> Source:
    own = _taken(
        given,
        *("count", "max_items_per_user", "table", "users", *_WRITTEN),
        *("by", "max_groups_per_user", "public_groups"),
    )
    own |= {"where": _where(given)}
    item, known = _columns(given.item), _public_items(given)
    return shortlist.counts(_data(given), item=item, public_items=known, **own)


def open_comparisons(given: SimpleNamespace) -> Source:
    own = _taken(given, "winner", "loser", "user", "max_comparisons_per_user", *_WRITTEN)
    return shortlist.comparisons(_data(given), public_items=_public_items(given), **own)


def open_scores(given: SimpleNamespace) -> Source:
    return shortlist.scores(
        _data(given),
        item=_columns(given.item),
        direction=shortlist.Direction(given.direction),
        public_items=_public_items(given),
        **_taken(given, "score", "sensitivity", "missing", "table", "users", *_WRITTEN),
    )


def open_labelled_rows(given: SimpleNamespace) -> Source:
    labels = ("labels", "label", "case", "control", "label_user")
    sizes = "cases", "controls", "size_error"
    own = _taken(given, "user", "public_items", *labels, *sizes, "table", "users", *_WRITTEN)
    own |= {"where": _where(given), "pull": _pull(given)}
    return shortlist.association(_data(given), item=_columns(given.item), **own)


def _columns(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


# What each must have


def require_table(given: SimpleNamespace) -> None:
    if given.store is not None:
        _require_store(given)
    else:
        require_file(given)


def require_rows(given: SimpleNamespace) -> None:
    if given.count is not None:  # of compare, which takes it for a top-k
        raise InputError(
            "{count=}: counts do not say who holds which items, which this question asks about",
            "give a table of users and items, with {user}",
            given={"count": ...},
        )
    require_table(given)


def _require_store(given: SimpleNamespace) -> None:
    for name in ("table", "count"):
        if getattr(given, name) is None:
            raise InputError(
                "{store} goes with {table}, {item} and {count}",
                "add {option}",
                option=Words("{table=...}" if name == "table" else "{count=...}"),
            )
    if len(given.item) > 1:
        raise InputError("a store has one column of items", "name it once", given={"item": ...})


def require_file(given: SimpleNamespace) -> None:
    """Refuse a table that is nowhere, or of no kind."""
    require_database(given)
    if given.file is None:
        raise InputError(
            "one of {data} and {store} is needed: {data} for a table in a file, {store=...} for "
            "one in a database"
        )
    if given.user is None and given.count is None:
        raise InputError(
            "one of {user} and {count} is needed: {user=...} if each row is of a user and an item, "
            "{count=...} if each row is of an item and the number of its users"
        )
    if given.public_items_in_table and given.user is not None:
        raise InputError(
            "{public_items_in_table} goes with {count}: in rows of users and items, one more user "
            "can add an item",
            "give what everybody knows by {public_items}",
        )


def require_database(given: SimpleNamespace) -> None:
    """Refuse the table of a database that is none."""
    if given.table is not None and not _in_database(given.file):
        raise InputError(
            "{option} goes with a database",
            "omit it, or name the database by its URL, such as duckdb:///plays.db",
            option=named("table", given.table),
        )


def require_scores(given: SimpleNamespace) -> None:
    require_database(given)
    _require_known(given)


def require_comparisons(given: SimpleNamespace) -> None:
    from shortlist.sources.comparisons import require_bound

    require_bound(given.user, given.max_comparisons_per_user)
    _require_known(given)


def _require_known(given: SimpleNamespace) -> None:
    """Refuse items of which nobody said that everybody knows them."""
    if given.public_items is None and not given.public_items_in_table:
        raise InputError(
            "one of {public_items} and {public_items_in_table} is needed",
            "give a file with the items that everybody knows, or say that those of the table are "
            "known",
        )


def _in_database(file: str | None) -> bool:
    """Whether the table is in a database, by whose URL it is given."""
    return file is not None and "://" in file


# What several take


def _data(given: SimpleNamespace) -> object:
    """What is to be opened: a path, or what is piped in."""
    from shortlist.table.scans import StandardInput

    if given.file != "-":
        return given.file
    as_parquet = Words("add {input_format=parquet}")
    return StandardInput(f".{given.input_format or 'csv'}", as_parquet)


def _taken(given: SimpleNamespace, *names: str) -> dict[str, Any]:
    """What was given for arguments that a source has by the same names, as all of them have."""
    taken = {name: getattr(given, name) for name in (*names, "dataset", "as_of")}
    return taken | {"budget": _charged(given)}


def _charged(given: SimpleNamespace) -> Budget | None:
    """The budget that is charged, if there is one."""
    if given.budget is None:
        return None
    return shortlist.Budget(given.budget, dataset=given.dataset, who=given.who)


def _public_items(given: SimpleNamespace) -> object:
    """What is public, as a source takes it."""
    return shortlist.IN_TABLE if given.public_items_in_table else given.public_items
