"""How far the noise reaches around each score, and the chart of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shortlist.charts import WIDE, Interval, MarkedPoint, intervals, marked_points
from shortlist.errors import InputError
from shortlist.release._associations import is_named
from shortlist.release._columns import columns_of, reach_of_counts, shown_scores
from shortlist.release.readable import harmless, intact, shortened, visible
from shortlist.strength import strength

if TYPE_CHECKING:
    import altair as alt

    from shortlist.release.noisy_scores import Scores
    from shortlist.release.release import Release

DRAWN = 30
"""How many items a chart shows at most: the best."""

HOW_POINTS_ARE_READ = "Filled points are the items named; the others had too little evidence."
_SHARE_OF_LABELS = 0.4  # of the width, at most
_PIXELS_OF_A_LETTER = 8.5
_STANDARD_DEVIATIONS = 1.96


def is_drawn(release: Release) -> bool:
    """Whether people are shown a chart of the scores: not of weights."""
    if release.associations:
        return True
    return len(release) > 0 and shown_scores(release) is not None and reach(release) is not None


def reach(release: Release) -> float | None:
    """How far a bar reaches to either side of its score; None where the noise has no size."""
    scores = release.scores
    if scores is None or not 0 < scores.noise_sd < math.inf:
        return None
    far = reach_of_counts(release)
    return _STANDARD_DEVIATIONS * scores.noise_sd if far is None else far


def how_bars_are_read(release: Release) -> str:
    """What the bars of the chart show, in a sentence; or its points, of associations."""
    if release.associations:
        return HOW_POINTS_ARE_READ
    if reach_of_counts(release) is None:
        return f"Bars reach {_STANDARD_DEVIATIONS} standard deviations of the noise to either side."
    return f"A bar holds the {_without_noise(release)} in 95 of 100 cases."


def _without_noise(release: Release) -> str:
    scores = release.scores
    if scores is not None and scores.are_stated:
        return "score without noise"
    if scores is not None and scores.are_amounts:
        return "amount without noise"
    clipped = scores is not None and scores.are_clipped
    return "count without noise" if clipped else "number of users"


def chart_of(release: Release, *, width: int = WIDE, titled: bool = True) -> alt.LayerChart:
    """The best items against their scores; of associations, all e-values against their rank.

    Raises:
        InputError: There is nothing to draw, or Altair is not installed.
    """
    if release.associations:
        return _chart_of_evidence(release, width=width, titled=titled)
    scores, far = release.scores, reach(release)
    if len(release) == 0 or scores is None or far is None:
        raise _nothing_to_draw(release)
    cells = round(width * _SHARE_OF_LABELS / _PIXELS_OF_A_LETTER)
    n = min(len(release), DRAWN)
    lines = [
        Interval(rank, name, score, score - far, score + far)
        for rank, name, score in zip(
            release.ranks[:n], names_of(release, n, cells), scores[:n], strict=True
        )
    ]
    title = _title(release, scores) if titled else ""
    unit = harmless(scores.unit)
    return intervals(lines, title=title, notes=_notes(release), scores=unit, width=width)


def _chart_of_evidence(release: Release, *, width: int, titled: bool) -> alt.LayerChart:
    told = release.associations or ()
    points = [
        MarkedPoint(rank, one.e_value, is_named(release.mechanism, one))
        for rank, one in enumerate(told, start=1)
    ]
    named = f"{release.question}: e-value of each item that was looked at"
    title = intact(release.about.title) if release.about.title else visible(named)
    return marked_points(
        points,
        title=title if titled else "",
        notes=_notes(release) if titled else [],
        across="rank",
        up="e-value",
        width=width,
    )


def _nothing_to_draw(release: Release) -> InputError:
    if len(release) == 0:
        return InputError("there is no item in this release, and so nothing to draw")
    return InputError(
        "this release has no scores, and so nothing to draw",
        "for counts of the items ask with {noisy_counts=True}; the list itself is in report()",
    )


def names_of(release: Release, n: int, cells: int) -> list[str]:
    """The first items, each as one text; one made of several columns has commas between them.

    A group before it takes at most half of the room, so that the item can be seen, too.
    """
    columns = [c.values.head(n) for c in columns_of(release) if c.added is None]
    by = len(release.by)
    names = []
    for row in zip(*columns, strict=True):
        texts = [intact(value) for value in row]
        group = [_fitting(", ".join(texts[:by]), cells // 2)] if by else []
        left = cells - sum(map(_room, group)) - 2 * by
        names.append(", ".join([*group, _fitting(", ".join(texts[by:]), left)]))
    return names


def _fitting(text: str, cells: int) -> str:
    """The text, cut where it would take more room than so many letters."""
    for fewer in range(cells, 1, -1):
        cut = shortened(text, fewer)
        if _room(cut) <= cells:
            return cut
    return "…"


def _room(text: str) -> int:
    """How many usual letters are as wide; capitals are half as wide again."""
    from rich.cells import cell_len

    return cell_len(text) + sum(map(str.isupper, text)) // 2


def _title(release: Release, scores: Scores) -> str:
    if release.about.title:
        return intact(release.about.title)
    return visible(f"{release.question}: {scores.heading.replace('_', ' ')} of each item")


def _notes(release: Release) -> list[str]:
    """How to read the chart; a line each, short enough for its width."""
    guarantee = release.guarantee
    seeded = [] if guarantee.private else ["Not private: the noise came from a seed."]
    whole = len(release) <= DRAWN or bool(release.associations)
    shown = [] if whole else [f"The first {DRAWN} of {len(release):,} items."]
    promise = f"epsilon = {guarantee.epsilon:g}, delta = {guarantee.delta:g}"
    if guarantee.private:
        promise = f"{promise}: {strength(guarantee.epsilon, guarantee.delta).described}"
    of, made = release.about.of, release.about.made
    about = [f"{text}." for text in (of[:1].upper() + of[1:], made) if text]
    return [
        *seeded,
        *about,
        *shown,
        how_bars_are_read(release),
        f"{promise[0].upper()}{promise[1:]}.",
    ]
