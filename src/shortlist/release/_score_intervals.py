"""How far the noise reaches around each score, and the chart of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shortlist.charts import WIDE, Interval, intervals
from shortlist.errors import InputError
from shortlist.release._columns import columns_of
from shortlist.release.readable import harmless, intact, shortened, visible
from shortlist.strength import strength

if TYPE_CHECKING:
    import altair as alt

    from shortlist.release.noisy_scores import Scores
    from shortlist.release.release import Release

DRAWN = 30
"""How many items a chart shows at most: the best."""

_SHARE_OF_LABELS = 0.4  # of the width, at most
_PIXELS_OF_A_LETTER = 8.5
_STANDARD_DEVIATIONS = 1.96


def has_intervals(release: Release) -> bool:
    """Whether there is a score to draw, in noise of known size."""
    return len(release) > 0 and release.scores is not None and reach(release.scores) is not None


def reach(scores: Scores) -> float | None:
    """How far an interval reaches to either side of its score; None where the noise has no size."""
    sd = scores.noise_sd
    return _STANDARD_DEVIATIONS * sd if 0 < sd < math.inf else None


def how_sure() -> str:
    """How often an interval holds the value without noise, in words."""
    return (
        f"An interval reaches {_STANDARD_DEVIATIONS} standard deviations of the noise to either "
        "side of the score. The noise stays within that 94 to 95\N{NO-BREAK SPACE}% of the time."
    )


def chart_of(release: Release, *, width: int = WIDE, titled: bool = True) -> alt.LayerChart:
    """The best items against their scores.

    Raises:
        InputError: There is nothing to draw, or Altair is not installed.
    """
    scores = release.scores
    if not has_intervals(release) or scores is None:
        raise _nothing_to_draw(release)
    cells = round(width * _SHARE_OF_LABELS / _PIXELS_OF_A_LETTER)
    n, far = min(len(release), DRAWN), reach(scores) or 0.0
    lines = [
        Interval(rank, name, score, score - far, score + far)
        for rank, name, score in zip(
            release.ranks[:n], _names(release, n, cells), scores[:n], strict=True
        )
    ]
    title = f"{release.question}: {scores.heading} of each item" if titled else ""
    unit = harmless(scores.unit)
    return intervals(lines, title=visible(title), notes=_notes(release), scores=unit, width=width)


def _nothing_to_draw(release: Release) -> InputError:
    if len(release) == 0:
        return InputError("there is no item in this release, and so nothing to draw")
    return InputError(
        "this release has no scores, and so nothing to draw",
        "for counts of the items ask with {count_share=0.3}; the list itself is in report()",
    )


def _names(release: Release, n: int, cells: int) -> list[str]:
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


def _notes(release: Release) -> list[str]:
    """How to read the chart; a line each, short enough for its width."""
    guarantee = release.guarantee
    seeded = [] if guarantee.private else ["Not private: the noise came from a seed."]
    shown = [f"The first {DRAWN} of {len(release):,} items."] if len(release) > DRAWN else []
    promise = f"epsilon = {guarantee.epsilon:g}, delta = {guarantee.delta:g}"
    if guarantee.private:
        promise = f"{promise}: {strength(guarantee.epsilon, guarantee.delta).described}"
    return [
        *seeded,
        *shown,
        f"Bars: {_STANDARD_DEVIATIONS} standard deviations of the noise (95 % if it is normal).",
        f"{promise[0].upper()}{promise[1:]}.",
    ]
