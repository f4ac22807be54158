"""The chance that an item is found, against the number of users who hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.charts import NamedCurve, curves, require_altair
from shortlist.draws import ExactDraws
from shortlist.draws.random_bits import SeededBits
from shortlist.errors import InputError, Words
from shortlist.evidence import (
    PairsOfItems,
    PrivateCounts,
    PublicCounts,
    UserSets,
    WeightedHistogram,
)
from shortlist.mechanisms.finding import Detection
from shortlist.mechanisms.mechanism import Mechanism, counted
from shortlist.questions import Domain, Question, TopK, UserCounts

if TYPE_CHECKING:
    import altair as alt

_AMONG_OTHERS = "Whether an item that is found is among the best hangs on the others."
# What a table shows that `Plan.expect` invents.
_INVENTED = (WeightedHistogram, PrivateCounts, PublicCounts, UserSets)
# The same chart each time.
_SEED = 1
_ITEMS_OF_EACH_USER = (1, 10, 100)
# The ends of the axis, as shares of the number of users at which the chance is about 1/2.
_FROM, _TO = 0.12, 2.2
_POINTS = 25


def chart_of_chances(
    question: Question, mechanism: Mechanism, *, counts_users: bool = True
) -> alt.LayerChart:
    """A curve for users who hold one item, ten, a hundred, and as many as count.

    Args:
        question: What is asked.
        mechanism: What answers it.
        counts_users: Whether users are counted, and no amounts summed up.

    Raises:
        InputError: The chance hangs on more than the item itself, it takes too large a table, or
            Altair is not installed.
    """
    require_altair()
    if isinstance(question, UserCounts):
        raise InputError(
            "{user_counts}: every item of the list is named, so that there is no chance to draw",
            "explain() of the plan says how large the noise is",
        )
    if mechanism.finding is None:
        raise _no_chance(question, mechanism, counts_users=counts_users)
    found = chances(mechanism.finding)
    if not any(curve.points for curve in found):
        raise InputError(
            "a table of so many users is too large to be invented",
            "explain() of the plan says what it takes to be named",
        )
    done = "named" if isinstance(question, Domain) else "found"
    left = [curve.name for curve in found if not curve.points]
    name, epsilon, delta = type(mechanism).__name__, mechanism.epsilon, mechanism.delta
    promise = f"{name}, epsilon = {epsilon:g}, delta = {delta:g}"
    return curves(
        [curve for curve in found if curve.points],
        title=f"{question.name}: what it takes to be {done}",
        notes=[
            f"{promise}. No data was read.",
            *([] if done == "named" else [_AMONG_OTHERS]),
            *mechanism.finding.caption.split("\n"),
            *([f"Left out, as too large a table: {', '.join(left)}."] if left else []),
        ],
        across="users who hold the item",
        up=f"chance of being {done}",
    )


def chances(finding: Detection) -> list[NamedCurve]:
    """For each number of items that users hold, the chances by the number of users.

    A curve has no points where they would take too large a table.
    """
    return [_curve(finding, held) for held in _numbers_held(finding)]


def _no_chance(question: Question, mechanism: Mechanism, *, counts_users: bool) -> InputError:
    why = "whether an item is named hangs on the counts of the others"
    if not mechanism.names_private_items:
        why = "everybody knows the items, and any of them may be named"
    kind = mechanism.wants.kind
    if issubclass(kind, PairsOfItems):
        instead = Words("explain() says how many users it takes")
    elif counts_users and isinstance(question, Domain | TopK) and issubclass(kind, _INVENTED):
        instead = Words(
            "use expect(), which plays it on an invented table, or metrics.compare on a table that "
            "may be looked at"
        )
    else:
        instead = Words("explain() of the plan says how items are selected")
    return InputError(
        "{kind} has no such chances: {why}",
        "{instead}",
        kind=type(mechanism),
        why=why,
        instead=instead,
    )


def _numbers_held(finding: Detection) -> list[int]:
    most = finding.most
    numbers = {*_ITEMS_OF_EACH_USER, *([] if most is None else [most])}
    return sorted(held for held in numbers if most is None or held <= most)


def _curve(finding: Detection, held: int) -> NamedCurve:
    steps = np.geomspace(_FROM, _TO, _POINTS) * finding.users_at_half(held)
    users = sorted({max(1, round(step)) for step in steps.tolist()})
    found = finding.chances(users, held, ExactDraws(SeededBits(_SEED)))
    points = [] if found is None else list(zip(users, found.tolist(), strict=True))
    return NamedCurve(f"each holds {counted(held, 'item')}", points)
