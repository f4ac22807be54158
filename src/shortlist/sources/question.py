"""What is asked: from a question's arguments to the mechanism that answers it, without any data."""

from __future__ import annotations

import warnings
from dataclasses import MISSING, fields
from typing import Any

from shortlist import mechanisms
from shortlist.bits import Bits, SystemBits
from shortlist.errors import InputError, WeakPrivacyWarning, nearest, written
from shortlist.histogram import Counts, PrivateCounts, WeightedHistogram, Wins
from shortlist.mechanisms.base import Mechanism, Question, counted, require_delta, require_share
from shortlist.mechanisms.noisy_counts import NoisyCounts
from shortlist.sources.kinds import kind_and_options
from shortlist.sources.offer import Offer
from shortlist.stores.contract import View

__all__ = ["bits_of", "build_mechanism", "require_enough"]

_DEFAULTS: dict[tuple[Question, type], type[Mechanism]] = {
    (Question.TOP_K, WeightedHistogram): mechanisms.DiscoverThenRank,
    (Question.TOP_K, PrivateCounts): mechanisms.LimitedDomain,
    (Question.TOP_K, Counts): mechanisms.JointOrPeel,
    (Question.TOP_K, View): mechanisms.ThresholdTopK,
    (Question.DOMAIN, WeightedHistogram): mechanisms.WeightedGaussian,
    (Question.HITTING_SET, WeightedHistogram): mechanisms.DiscoverThenHit,
    (Question.HITTING_SET, Counts): mechanisms.UserPeeling,
    (Question.RANK, Wins): mechanisms.WinCount,
}
"""By what is asked, and the first of what a source has for it."""

_WEAK_EPSILON = 20  # above, and
_WEAK_DELTA = 1e-3  # from here on, whoever asks is warned


def build_mechanism(
    mechanism: object,
    offer: Offer,
    *,
    epsilon: float,
    delta: float,
    question: Question = Question.TOP_K,
    k: int | None = None,
    count_share: float | None = None,
) -> Mechanism:
    """The mechanism that answers a question, from public parameters.

    Args:
        mechanism: A class, a `functools.partial` of one, or None for the default.
        offer: What the source has for it.
        question: What is asked.
        epsilon: As asked.
        delta: As asked.
        k: As asked, or None.
        count_share: The share of the budget for noisy counts of what is selected, or None.

    Raises:
        InputError: The mechanism does not answer this question, or a parameter is out of range.

    Warns:
        WeakPrivacyWarning: epsilon is above 20, or delta 1e-3 or more.
    """
    if question is Question.DOMAIN and offer.is_public:
        raise InputError(
            "public_items: everybody knows these items, so there is no domain to discover; ask "
            "for top_k or hitting_set, or leave public_items out."
        )
    default = _DEFAULTS[question, offer.evidence[0]]
    kind, options = kind_and_options(default if mechanism is None else mechanism)
    _require_fit(kind, question, offer)
    given = {"k": k, "epsilon": epsilon, "delta": delta, **offer.bounds}
    if question is Question.HITTING_SET and offer.is_public:
        _require_no_bound(options)
    _require_options(kind, options, given)

    def build(epsilon: float, delta: float) -> Mechanism:
        values = given | {"epsilon": epsilon, "delta": delta}
        return kind(**{name: values[name] for name in values if name in kind.fields()}, **options)

    chosen = build(epsilon, delta)
    if count_share is not None and k is not None:
        require_share("count_share", count_share)
        if chosen.tells_counts:
            raise InputError(
                f"count_share={count_share!r}: {kind.__name__} gives noisy counts at no cost where "
                "max_items_per_user is at most k; leave it out."
            )
        chosen = NoisyCounts.of(
            build,
            k=k,
            epsilon=epsilon,
            delta=delta,
            count_share=count_share,
            max_items_per_user=(offer.bounds | options).get("max_items_per_user"),
        )
    _require_delta_is_used(chosen, delta)
    _warn_of_weakness(float(epsilon), float(delta))
    return chosen


def _warn_of_weakness(epsilon: float, delta: float) -> None:
    """Warn of a guarantee that is one by name only."""
    weak = []
    if epsilon > _WEAK_EPSILON:
        weak.append(
            f"epsilon={epsilon!r}: above {_WEAK_EPSILON}, the answer may tell nearly all about a "
            "user; 1 is usual."
        )
    if delta >= _WEAK_DELTA:
        weak.append(
            f"delta={delta!r}: from {_WEAK_DELTA} on, the promise may fail for one user in a "
            "thousand, or more; it should be far below one over their number, such as 1e-6."
        )
    for message in weak:  # at the line of whoever asks
        warnings.warn(message, WeakPrivacyWarning, stacklevel=4)


def require_enough(k: int, n_items: int) -> None:
    """Refuse to ask for more than the items that everybody knows."""
    if k > n_items:
        there = "there is" if n_items == 1 else "there are"
        items = counted(n_items, "public item")
        raise InputError(f"k={k}: {there} only {items}; ask for at most so many.")


def bits_of(random: object) -> Bits:
    """The source of random bits that was asked for: the operating system's, if None."""
    if random is None:
        return SystemBits()
    if isinstance(random, type):
        raise InputError(f"random={random.__name__}: give an instance, {random.__name__}(…).")
    if not (callable(getattr(random, "words", None)) and hasattr(random, "private")):
        raise InputError(
            f"random={written(random)}: must be a source of bits; leave it out, or for a test "
            "give shortlist.bits.SeededBits(42), whose releases are not private."
        )
    return random  # type: ignore[return-value]


def _require_fit(kind: type[Mechanism], question: Question, offer: Offer) -> None:
    name = kind.__name__
    if View in offer.evidence and kind.evidence is not View:
        raise InputError(
            f"mechanism={name}: it needs every count, and of a store few are read; leave mechanism "
            "out, or take all counts out of the store, for sl.counts."
        )
    if kind.evidence is View and View not in offer.evidence:
        raise InputError(
            f"mechanism={name}: it reads few counts of a store with an index; leave mechanism "
            "out, or give a store, by sl.store."
        )
    if kind.evidence is WeightedHistogram and offer.evidence == (PrivateCounts,):
        raise InputError(
            f"mechanism={name}: it needs to know who holds what, which counts do not tell; leave "
            "mechanism out, or give rows of users and items, by sl.pairs."
        )
    if kind.question is not question:
        raise InputError(
            f"mechanism={name}: it answers {kind.question.method}, not {question.method}."
        )
    only_private = kind.why_delta is not None  # it names none that one user alone holds
    if kind.evidence not in offer.evidence or (offer.is_public and only_private):
        raise InputError(
            f"mechanism={name}: it discovers private items, and these are public; leave mechanism "
            "out."
            if offer.is_public
            else f"mechanism={name}: it takes items that everybody knows; give public_items."
        )


def _require_no_bound(options: dict[str, Any]) -> None:
    if options.get("max_items_per_user") is not None:
        raise InputError(
            "mechanism: max_items_per_user is for the discovery of private items, and these are "
            "public; leave it out."
        )


def _require_options(kind: type[Mechanism], options: dict[str, Any], given: dict[str, Any]) -> None:
    own = [name for name in kind.fields() if name not in given]
    for name in options:
        if name in ("max_items_per_user", "max_comparisons_per_user") and name in given:
            raise InputError(
                f"mechanism: {name} is an argument of the source; give it there, not here."
            )
        if name in given:
            raise InputError(f"mechanism: {name} is given by the question; leave it out there.")
        if name not in own:
            known = ", ".join(own) or "none"
            raise InputError(
                f"mechanism: {kind.__name__} has no option {name}; it has {known}."
                f"{nearest(name, own)}"
            )
    for field in fields(kind):  # type: ignore[arg-type]
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if not optional and field.name not in {**given, **options}:
            raise InputError(
                f"mechanism={kind.__name__}: it needs its option {field.name}; give it by "
                f"functools.partial({kind.__name__}, {field.name}=...)."
            )


def _require_delta_is_used(mechanism: Mechanism, delta: float) -> None:
    """Refuse a delta that would not be used: another mechanism is more accurate with it."""
    require_delta(delta)
    if delta > 0 and "delta" not in mechanism.fields():
        name = type(mechanism).__name__
        raise InputError(
            f"delta={delta!r}: {name} is pure and uses none of it; leave delta out, or choose a "
            "mechanism that uses it."
        )
