"""What the frequencies of outcomes on two neighbours certainly say of a loss.

An event is chosen on some samples, and judged on others: by Clopper & Pearson's bounds, its
probability on one data set is certainly so high and on the other so low that the loss is at least
what is told, but for a chance that is given: of all bounds of a row of the report, 1e-6 together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

DOUBT = 1e-6  # the chance that any of the bounds behind one row of a report is wrong

Seen = Counter[Hashable]  # how often each outcome came out
Event = frozenset[Hashable]


def likelier_event(first: Seen, second: Seen, delta: float) -> Event:
    """The outcomes up to a ratio of frequencies, of the ratio at which the loss seems largest.

    Args:
        first: Outcomes on the data set where the event is likelier.
        second: Outcomes on the other.
        delta: That of the claim.
    """
    outcomes = first | second
    ranked = sorted(outcomes, key=lambda o: (first[o] + 0.5) / (second[o] + 0.5), reverse=True)
    n, m = first.total(), second.total()
    best, event, inside = -np.inf, frozenset[Hashable](), [0, 0]
    for i, outcome in enumerate(ranked, start=1):
        inside[0] += first[outcome]
        inside[1] += second[outcome]
        lower = inside[0] - 4 * np.sqrt(inside[0]) - 4 - delta * n
        upper = inside[1] + 4 * np.sqrt(inside[1]) + 16
        if lower > 0 and lower / n * m / upper > best:
            best, event = lower / n * m / upper, frozenset(ranked[:i])
    return event or frozenset(ranked[:1])


def certain_loss(
    event: Event, first: Seen, second: Seen, delta: float, doubt: float = DOUBT
) -> float:
    """An epsilon that the loss at this delta certainly exceeds.

    No event E has P(E) > exp(epsilon) Q(E) + delta where the output is (epsilon, delta)-private.

    Args:
        event: Chosen without a look at these outcomes.
        first: Outcomes on one data set, of which P is the law.
        second: Outcomes on the other, of which Q is.
        delta: That of the claim.
        doubt: The chance that the bound is wrong, at most.
    """
    p = _at_least(_times(event, first), first.total(), doubt / 2)
    q = 1 - _at_least(second.total() - _times(event, second), second.total(), doubt / 2)
    return max(float(np.log(max(p - delta, 1e-300) / q)), 0.0)


def both_ways(
    chosen_on: Sequence[Seen], judged_on: Sequence[Sequence[Seen]], delta: float, doubt: float
) -> Iterator[tuple[int, int, float]]:
    """The loss of either data set against the other: their numbers, and what is exceeded.

    Args:
        chosen_on: Outcomes on both data sets, by which an event is chosen.
        judged_on: Some such pairs, by each of which it is judged.
        delta: That of the claim.
        doubt: The chance that a bound is wrong, at most.
    """
    for one, other in ((0, 1), (1, 0)):
        event = likelier_event(chosen_on[one], chosen_on[other], delta)
        losses = (certain_loss(event, seen[one], seen[other], delta, doubt) for seen in judged_on)
        yield one, other, max(losses)


def _times(event: Event, seen: Seen) -> int:
    return sum(times for outcome, times in seen.items() if outcome in event)


def _at_least(times: int, n: int, doubt: float) -> float:
    """A probability that is certainly not less, but for the doubt (Clopper & Pearson 1934)."""
    from scipy.special import betaincinv

    return float(betaincinv(times, n - times + 1, doubt)) if times else 0.0
