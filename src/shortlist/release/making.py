"""From a selection to the release that leaves: nothing in it tells the order of rows."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from shortlist.release._others import Others
from shortlist.release.about import NOTHING_SAID, About
from shortlist.release.noisy_scores import Scores, whole_users
from shortlist.release.release import NONE_CHARGED, Release

if TYPE_CHECKING:
    import polars as pl

    from shortlist.draws import Ints
    from shortlist.mechanisms.mechanism import Selection
    from shortlist.privacy.guarantee import Guarantee
    from shortlist.questions import Question
    from shortlist.release.json_values import AnyMechanism


def make_release(  # noqa: PLR0913 - all that is released, and what is said of it
    question: Question,
    mechanism: AnyMechanism,
    selection: Selection,
    items: pl.DataFrame,
    guarantee: Guarantee,
    *,
    score_unit: str | None,
    by: tuple[str, ...] = (),
    budget: str = NONE_CHARGED,
    about: About = NOTHING_SAID,
) -> Release:
    """The release of `items`, one row per selected position and in the same order.

    The first columns may say a group, by which the items are sorted then. Scores are released where
    the plan says what they measure.
    """
    items, selection = _fresh(items), selection.told
    scores, users = selection.scores, selection.users
    order = None
    if question.keeps_order:
        order = selection.positions.argsort()
    elif not (selection.ordered and question.in_order):
        order = _public_order(items, selection)
    if by:
        order = _by_group(items, by, order)
    if order is not None:
        items = items[order]
        scores = None if scores is None else scores[order]
        users = None if users is None else users[order]
    labelled = None
    # By what the plan promises, and not by what this selection has: there is a column of
    # scores in every release of a plan, or in none.
    if scores is not None and score_unit and selection.noise_sd:
        labelled = Scores(
            scores.tolist(),
            unit=score_unit,
            noise_sd=selection.noise_sd,
            shared_sd=selection.shared_sd,
        )
    others = None
    if selection.others is not None:
        others = Others.of(selection.others.tolist(), mechanism.parameters())
    return Release(
        question=question.name,
        items=items,
        scores=labelled,
        guarantee=guarantee,
        mechanism=mechanism,
        by=by,
        budget=budget,
        others=others,
        users=None if users is None else whole_users(users),
        associations=selection.associations,
        cap=selection.cap,
        about=about,
        ordered=question.in_order,
    )


def _by_group(items: pl.DataFrame, by: tuple[str, ...], order: Ints | None) -> Ints:
    """By the values of these columns, and then as they stand, or as an order has them."""
    import polars as pl

    rows = pl.int_range(items.height, eager=True) if order is None else pl.Series(order)
    groups = items.select(by)[rows.to_list()].rename({n: f"group {i}" for i, n in enumerate(by)})
    keys = list(groups.columns)
    return (
        groups.insert_column(0, rows.alias("row")).sort(keys, maintain_order=True)["row"].to_numpy()
    )


def restated(release: Release, **words: object) -> Release:
    """The same release, with other words on its budget."""
    other = copy(release)
    vars(other).update(words)
    return other


def _fresh(items: pl.DataFrame) -> pl.DataFrame:
    """The same strings in memory of their own.

    A column of strings that was gathered from another shares its buffers, with all their strings,
    and hands them on where it is exported.
    """
    import polars as pl

    texts = [column for column in items.get_columns() if column.dtype == pl.String]
    return items.with_columns(pl.Series(text.name, text.to_list(), pl.String) for text in texts)


def _public_order(items: pl.DataFrame, selection: Selection) -> Ints:
    """An order that says no more than the release: by score, if any, and then by item."""
    import polars as pl

    keys = items.rename({name: f"item {i}" for i, name in enumerate(items.columns)})
    if selection.scores is not None:
        keys = keys.insert_column(0, pl.Series("falling score", -selection.scores))
    by = list(keys.columns)
    return keys.with_row_index("row").sort(by)["row"].to_numpy()
