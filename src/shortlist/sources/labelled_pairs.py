"""Users with one of two labels, and the items that they hold: which items go with the label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Unpack

from shortlist.engines.labelled_rows import LabelledRows
from shortlist.engines.tables.which_engine import is_in_engine, is_url
from shortlist.errors import InputError, Words
from shortlist.parameters import Side, require_count, require_size_error, require_sizes
from shortlist.plan import Chargeable
from shortlist.planning import Bounds
from shortlist.questions import Discoveries
from shortlist.release import About, Release
from shortlist.runtime.processes import even_unmade
from shortlist.sources._asking import Terms, takes
from shortlist.sources.source import (
    LIST_IS_PUBLIC,
    DataFacts,
    Source,
    opened,
    require_engine_for_pull,
    require_no_items_in_table,
)
from shortlist.table import SensitiveTable, Writing, open_table
from shortlist.table.key_types import kind_of
from shortlist.table.part import origin_of
from shortlist.table.public_items import open_public_items

if TYPE_CHECKING:
    import polars as pl

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)


def association(  # noqa: PLR0913 - the arguments are the interface
    data: object,
    *,
    user: str,
    item: str | Sequence[str],
    labels: object,
    label: str,
    case: object,
    control: object,
    public_items: object,
    label_user: str | None = None,
    where: str | Sequence[str] | None = None,
    cases: int | None = None,
    controls: int | None = None,
    size_error: int | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    pull: bool | None = None,
    budget: Chargeable | None = None,
    users: int | None = None,
    dataset: str | None = None,
    as_of: str | date | None = None,
) -> LabelledPairs:
    """A sensitive table of users and items, and one of users and labels: cases and controls.

    Which drugs go with an adverse event, which pages with a purchase, which metrics with an arm of
    a test, which words with praise: `discoveries` names items that are held by more users with one
    label than chance would explain.

    The labels must have a row for every user of the study, also for one who holds nothing: users
    who are not in them are left out. Three rules say who counts; each looks at the rows of one user
    alone. A row whose label is neither `case` nor `control` does not count. A user without a row
    that counts is left out, and so is one who has both labels.

    Labels must be those of single users. If whole groups share a label, such as shops, families,
    classes or days, name the column of these groups as the user. And if cases do more of everything
    than controls, or less, all items go with the label.

    Args:
        data: The rows of users and items, as in `pairs`. A table in an engine is fetched, by
            `pull=True`.
        user: The column of users, as in `pairs`: what is protected, with all rows and the label.
        item: The column of items, or several, as in `pairs`.
        labels: The table of labels, likewise, with a row for every user of the study, also for
            those who hold nothing.
        label: The column of labels in it, of the same types as a column of items may have.
        case: The label of a case. It is public: choose it without looking at the data.
        control: The label of a control, likewise.
        public_items: The items that are asked about, which everybody knows: a list, table or file,
            as in `pairs`. All of them count, whether anybody holds them or not. Do not leave any
            out after looking at the data.
        label_user: The column of users in the labels; None if it has the same name as in `data`.
        where: Which rows of `data` count, as in `pairs`. All users of the labels count.
        cases: How many users are cases, after these rules, if that is public, such as from the
            design of the study; do not count them for it. Then it is not protected that somebody
            took part. None, the default: they are counted with noise.
        controls: How many are controls, likewise.
        size_error: By how many users each of `cases` and `controls` may be off at most. If one is
            further off, items may be named that have nothing to do with the label.
        separator: As in `pairs`, of both tables.
        encoding: As in `pairs`, of both tables.
        table: As in `pairs`, where `data` is a URL.
        pull: True to fetch the rows of a table in an engine; both are compared in memory. None, the
            default, where they are read here anyway.
        budget: As in `pairs`.
        users: As in `pairs`.
        dataset: As in `pairs`.
        as_of: As in `pairs`.

    Raises:
        InputError: A table cannot be opened, a column is missing or of no usable type, users are of
            another type there than here, a label cannot be in its column, the public items are no
            list, or a table is in an engine. Nothing private is in the message.

    >>> import polars as pl
    >>> n = range(4000)
    >>> taken = pl.DataFrame({"patient": n, "drug": [["A", "B"][i % 2] for i in n]})
    >>> events = pl.DataFrame({"patient": n, "event": ["yes" if i % 2 else "no" for i in n]})
    >>> source = association(
    ...     taken, user="patient", item="drug", labels=events, label="event",
    ...     case="yes", control="no", public_items=["A", "B", "C"],
    ... )
    >>> source.discoveries(k=1, epsilon=1.0, delta=1e-6).items
    ['B']
    """
    about = About.of_data(dataset, as_of)
    sizes = _sizes(cases, controls, size_error)
    _require_list(public_items)
    data = opened(data, table)
    if isinstance(data, InputError):
        raise data from None
    if is_url(labels):
        raise InputError(
            "it is the URL of a database, and labels are read from a file or a frame",
            "give that table as a frame, such as one of Ibis, with {pull=True}",
            given={"labels": ...},
        )
    writing = Writing(separator, encoding)
    rows = open_table(data, user=user, items=item, writing=writing, where=where)
    whose = _open_labels(labels, user, label_user, label, writing)
    _require_here(rows, whose, pull=pull)
    _require_same_kind(rows, whose)
    values = _label_values(case, control, whose)
    public = open_public_items(public_items, rows.items, table=rows.parts)
    engine = LabelledRows(rows, whose, values, public)
    about = replace(about, where=None if rows.where is None else str(rows.where))
    facts = DataFacts(budget, users, about)
    return LabelledPairs(engine, rows, (label, case, control), sizes, facts)


def _open_labels(
    labels: object, user: str, label_user: str | None, label: str, writing: Writing
) -> SensitiveTable:
    column = user if label_user is None else label_user
    try:
        return open_table(labels, user=column, items=label, writing=writing)
    except InputError as error:
        told = error.renamed("data", "labels").renamed("item", "label")
        raise (told if label_user is None else told.renamed("user", "label_user")) from None


def _sizes(cases: int | None, controls: int | None, size_error: int | None) -> Bounds:
    """How many users of either label are stated, and how far that may be off; or nothing."""
    require_sizes(cases, controls, size_error)
    if cases is None or controls is None or size_error is None:
        return {}
    return {
        "cases": require_count("cases", cases),
        "controls": require_count("controls", controls),
        "size_error": require_size_error("size_error", size_error),
    }


def _require_list(public_items: object) -> None:
    require_no_items_in_table(public_items, Words("give a list of items"))
    if public_items is None:
        raise InputError(
            "how many items you ask about decides which are named, and must be public",
            "give a list of items that everybody knows",
            given={"public_items": None},
        )


def _require_here(rows: SensitiveTable, labels: SensitiveTable, *, pull: object) -> None:
    """Refuse rows in an engine that nobody asked to fetch."""
    if pull is not None and pull is not True:
        raise InputError(
            "both tables are compared in memory",
            "give {pull=True} for a table in an engine, or omit it",
            given={"pull": pull},
        )
    in_engine = [one for one in (rows, labels) if is_in_engine(one.parts[0].held)]
    if in_engine and not pull:
        raise InputError(
            "{origin} is in an engine, and who holds what is compared with the labels in memory",
            "add {pull=True}, which fetches the rows",
            origin=origin_of(in_engine[0].parts),
        )
    require_engine_for_pull(pull, in_engine=bool(in_engine))


def _require_same_kind(rows: SensitiveTable, labels: SensitiveTable) -> None:
    """Refuse users that could not be found again: 7 and "007" are two users, or one."""
    import polars as pl

    (user, one), (label_user, other) = (next(iter(t.columns.items())) for t in (rows, labels))
    times = isinstance(one, pl.Datetime) and one != other
    if kind_of(one) != kind_of(other) or times:
        raise InputError(
            'users are of type {one} in the column "{user}" of the rows, and of type {other} in '
            '"{label_user}" of the labels',
            "write them with one type",
            given={"labels": ...},
            one=one,
            user=user,
            other=other,
            label_user=label_user,
        )


def _label_values(case: object, control: object, labels: SensitiveTable) -> pl.DataFrame:
    """The labels of a case and of a control, of the type of their column."""
    if case == control:
        raise InputError(
            "a case and a control have two different labels",
            "name both",
            given={"case": case, "control": control},
        )
    values = []
    for name, value in (("case", case), ("control", control)):
        try:
            values.append(open_public_items([_as_typed(value, labels)], labels.items))
        except InputError as error:
            raise error.renamed("public_items", name) from None
    return values[0].vstack(values[1])


def _as_typed(value: object, labels: SensitiveTable) -> object:
    """The label; of a column of integers one that was written in digits is meant as a number."""
    (dtype,) = labels.items.values()
    is_number = isinstance(value, str) and _WHOLE.fullmatch(value) and dtype.is_integer()
    return int(str(value)) if is_number else value


class LabelledPairs(Source):
    """Users, their labels and their items. Built by `association`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self,
        engine: LabelledRows,
        rows: SensitiveTable,
        labels: tuple[str, object, object],
        sizes: Bounds,
        facts: DataFacts,
    ) -> None:
        (user, *items), (label, case, control) = rows.columns, labels
        super().__init__(
            engine,
            protects=f'all rows of any one "{user}", and the "{label}"',
            assumes=(LIST_IS_PUBLIC,),
            bounds=sizes,
            facts=facts,
        )
        named = ", ".join(f'"{name}"' for name in items)
        self._described = (
            f'user="{user}", item={named}, label="{label}", case={case!r}, control={control!r}'
        )

    @even_unmade
    def __repr__(self) -> str:
        return f"<LabelledPairs: {self._described}>"

    @takes(Terms)
    def discoveries(
        self, k: int, *, fdr: float = 0.1, side: Side = Side.CASES, **terms: Unpack[Terms]
    ) -> Release:
        """The items that go with the label, of which at most a share is named by chance.

        k items are looked at, and those are named for which there is enough evidence of a relation,
        whatever its cause. The false discovery rate is an average over repetitions: if items depend
        on each other, all items that one release names may be false. The rate says nothing about
        privacy.

        Args:
            k: How many items are looked at: as many as you hope to name, or up to twice that.
                Choose it, and `fdr`, before you see an answer.
            fdr: At most this share of the items that are named is false, on average; from 0.002 to
                0.499. For several labels, or several questions about the same one, divide it by how
                many there are.
            side: `shortlist.Side.CASES` for items that are more common among cases,
                `shortlist.Side.CONTROLS` for those more common among controls, or
                `shortlist.Side.BOTH`, which looks at half as many of each.
            **terms: `epsilon` and all else of `Source.ask`; `delta` is above 0.

        Guarantee: (epsilon, delta)-differential privacy when one user is added or removed, with all
            rows and the label. And a false discovery rate of at most `fdr`, if for every item
            without relation the labels are exchangeable between users, and if stated sizes are
            right.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        return self.ask(Discoveries(k, fdr, side), **terms)
