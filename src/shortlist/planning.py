"""From what is asked of a source to the mechanism that answers it, without any data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from shortlist import mechanisms
from shortlist.engines import Engine
from shortlist.errors import (
    InputError,
    WeakPrivacyWarning,
    Words,
    level_of_caller,
    nearest,
    reference,
    shown,
)
from shortlist.evidence import (
    GroupedCounts,
    LabelledCounts,
    Outcomes,
    PairsOfItems,
    PrivateCounts,
    PublicCounts,
    PublicScores,
    UserGroups,
    UserSets,
    WeightedHistogram,
    Wins,
)
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.view import View
from shortlist.mechanisms.mechanism import Accounting, Mechanism
from shortlist.mechanisms.registry import every_mechanism, kind_and_options
from shortlist.mechanisms.wrappers import (
    AskedFor,
    ChosenCap,
    EachGroup,
    NoisyCounts,
    answering_in_groups,
)
from shortlist.mechanisms.wrappers.chosen_cap import GUESSED_GROUPS, share_of_choice
from shortlist.mechanisms.wrappers.noisy_counts import MOST_SD_OF_AMOUNTS
from shortlist.parameters import Option, require_delta
from shortlist.questions import (
    Discoveries,
    Domain,
    HittingSet,
    Question,
    Rank,
    TopK,
    TopScores,
    UserCounts,
    WithCounts,
    WithOthers,
)
from shortlist.strength import BETTER, Strength, of_delta, of_epsilon, usual_delta


@dataclass(frozen=True)
class Usual:
    """A bound that nobody asked for: it holds, unless a mechanism has one of its own.

    Attributes:
        bound: How many.
    """

    bound: int

    def __str__(self) -> str:
        return f"{self.bound} (usual)"


Bounds = Mapping[str, int | float | Usual | Option | None]
"""What one user is in or moves, None where nothing bounds it; and of which kind items are."""

_DEFAULTS: dict[tuple[type[Question], type], str] = {
    (TopK, WeightedHistogram): "AdaptiveTopK",
    (TopK, UserSets): "AdaptiveGaussianPeeling",
    (TopK, UserGroups): "PerGroup",
    (TopK, PrivateCounts): "LimitedDomain",
    (TopK, PublicCounts): "JointOrPeel",
    (TopK, View): "ThresholdTopK",
    (TopScores, PublicCounts): "JointOrPeel",
    (Domain, WeightedHistogram): "AdaptiveGaussian",
    (HittingSet, WeightedHistogram): "AdaptiveHittingSet",
    (HittingSet, UserGroups): "AdaptiveHittingSet",
    (HittingSet, PublicCounts): "UserPeeling",
    (Rank, Wins): "WinCount",
    (UserCounts, PublicCounts): "CountEach",
    (Discoveries, LabelledCounts): "Association",
}
"""By what is asked, and the first of what an engine can_show. By name: one of them is loaded."""

_OF_ONE_ITEM = {"AdaptiveGaussian": "PolicyGreedy"}
"""In place of a default, where one item of each user counts: no weight can be moved then."""

_WITHOUT_ORDER = {"JointOrPeel": "SetOrPeel"}
"""In place of a default, where nobody asked for an order."""

_WITHOUT_BOUND = {"AdaptiveGaussian": "ChosenBound"}
"""In place of a default, where nobody asked for a bound: one is chosen privately."""

_BY_CHOICE = {
    "AdaptiveGaussian": "GreedyOrRounds",
    "ChosenBound": "GreedyOrRounds",
    "AdaptiveTopK": "GreedyOrAdaptive",
}
"""In place of these, where rows are at hand, and no stage follows that adds up with theirs."""

_WHO = (
    Words("it needs to know who holds what, which counts do not tell"),
    Words("omit {mechanism}, or give rows, by {sl.pairs}"),
)
_EVERY = (
    Words("it needs every count"),
    Words("omit {mechanism}, or give all counts, by {sl.counts}"),
)
_COMPARED = (
    Words("it looks at comparisons"),
    Words("omit {mechanism}, or give these, by {sl.comparisons}"),
)
_LABELLED = (
    Words("it compares users of two labels"),
    Words("omit {mechanism}, or give the labels, by {sl.association}"),
)
_NEEDS: dict[type, tuple[Words, Words]] = {
    UserGroups: (
        Words("it looks at items in groups"),
        Words("omit {mechanism}, or name the columns of groups, by {by}"),
    ),
    View: (
        Words("it reads few counts of a store with an index"),
        Words("omit {mechanism}, or give a store, by {sl.store}"),
    ),
    WeightedHistogram: _WHO,
    UserSets: _WHO,
    Contributions: _WHO,
    PublicCounts: _EVERY,
    PrivateCounts: _EVERY,
    LabelledCounts: _LABELLED,
    Wins: _COMPARED,
    Outcomes: _COMPARED,
    PairsOfItems: (
        Words("it names pairs of items"),
        Words("omit {mechanism}, or ask for pairs, by {of=2}"),
    ),
}
"""What a mechanism that looks at such evidence does, and how its caller comes by it."""


def mechanism_for(
    question: Question,
    engine: Engine,
    bounds: Bounds,
    *,
    mechanism: object,
    epsilon: float,
    delta: float,
    accounting: Accounting = Accounting.EXACT,
) -> Mechanism:
    """The mechanism that answers a question, from public parameters.

    Args:
        question: What is asked.
        engine: What has the rows.
        bounds: What one user is in.
        mechanism: A class, a `functools.partial` of one, or None for the default.
        epsilon: As asked.
        delta: As asked.
        accounting: How its stages are counted, if it leaves the choice and it was not made.

    Raises:
        InputError: The mechanism does not answer this question, or a parameter is out of range.
    """
    question.require(items_are_public=engine.items_are_public)
    _require_scores(question, engine)
    _require_labels(question, engine)
    asked = mechanism
    if mechanism is None:
        asked = default_mechanism(question, engine, bounds, accounting)
    kind, options = kind_and_options(asked, answering_mechanisms(question, engine))
    _require_fit(kind, question, engine)
    public = {"n_items": engine.n_items, **question.parameters()}
    given = {**public, "epsilon": epsilon, "delta": delta, **filled(kind, bounds)}
    _require_options(kind, options, given)
    if "accounting" in kind.fields() and accounting in kind.accountings:
        options = {"accounting": accounting, **options}
    asked_for = AskedFor(kind, given, options, epsilon, delta, _most_pairs(engine, bounds))
    try:
        groups = _groups_per_user(kind, question, engine, bounds)
        chosen = _at_a_cap(question, asked_for, groups, engine)
    except InputError as error:  # perhaps of a stage, which has a share of both
        raise error.as_written(epsilon=epsilon, delta=delta) from None
    if engine.items_are_public and chosen.names_private_items:
        raise InputError(
            "{max_items_per_user} is for the discovery of private items, and these are public",
            "omit it",
            given={"mechanism": ...},
        )
    if engine.amounts is not None:
        _require_amounts(chosen, question)
    _require_delta_is_used(chosen.selection if isinstance(chosen, ChosenCap) else chosen, delta)
    engine.require(chosen.wants)
    return chosen


def _at_a_cap(question: Question, asked: AskedFor, groups: int | None, engine: Engine) -> Mechanism:
    """The mechanism; around it the choice of a cap, where one is chosen from several."""
    caps = () if engine.amounts is None else engine.amounts.caps
    if not caps:
        return answering_in_groups(question, asked, groups)
    assert isinstance(question, TopK)  # noqa: S101 - amounts rank items, and nothing else
    return ChosenCap.of(
        lambda epsilon, delta: answering_in_groups(
            question, replace(asked, epsilon=epsilon, delta=delta), groups
        ),
        epsilon=asked.epsilon,
        delta=asked.delta,
        count_share=share_of_choice(question.k),
        k=question.k,
        caps=caps,
        lists=1 if groups is None else engine.n_groups or GUESSED_GROUPS,
    )


def _require_scores(question: Question, engine: Engine) -> None:
    """Refuse a question about scores where there are counts, and one about users in scores."""
    of_scores = isinstance(question, TopScores)
    if of_scores and PublicScores not in engine.can_show:
        raise InputError(
            "{question}: it asks about scores, and these are numbers of users",
            "ask for {top_k}; or give scores, by {sl.scores}",
            question=question.name,
        )
    if not of_scores and PublicScores in engine.can_show:
        raise InputError(
            "{question}: it asks about numbers of users, and these are scores",
            "ask for the k items with the largest scores, or the smallest",
            question=question.name,
        )


def _require_labels(question: Question, engine: Engine) -> None:
    """Refuse a question about labels where there are none, and another where there are."""
    of_labels, has_labels = isinstance(question, Discoveries), LabelledCounts in engine.can_show
    if of_labels and not has_labels:
        raise InputError(
            "{question}: it compares users of two labels, and there are none here",
            "give the labels, too, by {sl.association}",
            question=question.name,
        )
    if has_labels and not of_labels:
        raise InputError(
            "{question}: of users with labels it is asked which items go with the label",
            "ask for {discoveries}; or give the rows alone, by {sl.pairs}",
            question=question.name,
        )


def _require_amounts(chosen: Mechanism, question: Question) -> None:
    """Refuse noisy amounts that would be all noise, or are of a part of what users spent."""
    asked = isinstance(question, WithCounts) and question.share_of_counts is not None
    if asked and chosen.wants.bound is not None:
        raise InputError(
            "it looks at some items of a user alone, so that no interval would hold the sum of "
            "what users spent",
            "omit it, or {noisy_counts}",
            given={"mechanism": ...},
        )
    around = chosen
    while isinstance(around, EachGroup | ChosenCap):
        around = around.selection
    assert around.reads_unit  # noqa: S101 - else `_require_fit` or the source had refused it
    if isinstance(around, NoisyCounts) and around.count_sd > MOST_SD_OF_AMOUNTS:
        raise InputError(
            "so small that the amounts would be all noise",
            "give more, or omit it",
            given={"count_share": around.count_share},
        )


def _groups_per_user(
    kind: type[Mechanism], question: Question, engine: Engine, bounds: Bounds
) -> int | None:
    """In how many groups one user counts at most; None where no group is answered by itself."""
    if GroupedCounts not in engine.can_show and not _in_each_group(kind, question, engine):
        return None
    groups = bounds["max_groups_per_user"]
    assert isinstance(groups, int)  # noqa: S101 - a source of counts always has one
    return groups


def _in_each_group(kind: type[Mechanism], question: Question, engine: Engine) -> bool:
    """Whether it looks at what users hold, or spent, in each group by itself."""
    by_itself = isinstance(question, HittingSet) or engine.amounts is not None
    return by_itself and issubclass(kind.evidence, UserSets) and UserGroups in engine.can_show


def _most_pairs(engine: Engine, bounds: Bounds) -> int | None:
    """How many items of one user count, as was asked for or as usual; None where in groups."""
    most: int | None = filled(None, bounds).get("max_items_per_user")
    return None if engine.by else most


def filled(kind: type[Mechanism] | None, bounds: Bounds) -> dict[str, Any]:
    """The bounds that a mechanism is given: not one that nobody asked for, if it has its own."""
    return {
        name: bound.bound if isinstance(bound, Usual) else bound
        for name, bound in bounds.items()
        if not (isinstance(bound, Usual) and kind is not None and kind.chooses_bound)
    }


def default_mechanism(
    question: Question,
    engine: Engine,
    bounds: Bounds,
    accounting: Accounting = Accounting.EXACT,
) -> type[Mechanism]:
    """What answers where no mechanism is asked for, and can count its stages in that way.

    Raises:
        InputError: Nothing does.
    """
    shown = engine.can_show[0]
    if shown is UserGroups and engine.amounts is not None:
        shown = UserSets  # of each group by itself
    for kind in type(question).__mro__:
        if name := _DEFAULTS.get((kind, shown)):
            for better in _instead(name, bounds.get("max_items_per_user"), question, engine):
                instead: type[Mechanism] = getattr(mechanisms, better)
                if accounting in instead.accountings and not _ignores_known(instead, engine):
                    return instead
            found: type[Mechanism] = getattr(mechanisms, name)
            return found
    raise InputError(
        "{question}: nothing answers it from such a table by default",
        "give {mechanism}, or ask another question",
        question=question.name,
    )


def _instead(name: str, bound: object, question: Question, engine: Engine) -> Iterator[str]:
    """What is better, the best first; some of these may not fit."""
    if not question.in_order:
        yield _WITHOUT_ORDER.get(name, name)
    elif bound == 1 and name in _OF_ONE_ITEM:
        yield _OF_ONE_ITEM[name]
    else:
        other = _WITHOUT_BOUND.get(name, name) if isinstance(bound, Usual) else name
        if not (engine.fetches_rows or _asks_for_more(question)):
            yield _BY_CHOICE.get(other, other)
        yield other


def _asks_for_more(question: Question) -> bool:
    """Whether counts, or numbers of others, follow the selection."""
    counted = isinstance(question, WithCounts) and question.share_of_counts is not None
    return counted or (isinstance(question, WithOthers) and question.others)


def answering_mechanisms(question: Question, engine: Engine) -> Iterator[type[Mechanism]]:
    """Those that answer this question from what the engine can show."""
    for kind in every_mechanism():  # none is loaded before they are asked for
        ignores = _ignores_known(kind, engine) or _ignores_amounts(kind, engine)
        if _misfit(kind, question, engine) is None and not ignores:
            yield kind


def _require_fit(kind: type[Mechanism], question: Question, engine: Engine) -> None:
    if (misfit := _misfit(kind, question, engine)) is not None:
        raise misfit
    if _ignores_known(kind, engine):
        raise InputError(
            "it makes no use of {known_items}",
            "omit {mechanism}, or omit {known_items}",
            given={"mechanism": kind},
        )

    if _ignores_amounts(kind, engine):
        raise InputError(
            "it counts users, and does not look at what they spent",
            "omit {mechanism}, or omit {amount}",
            given={"mechanism": kind},
        )


def _ignores_amounts(kind: type[Mechanism], engine: Engine) -> bool:
    return engine.amounts is not None and not kind.reads_unit


def _ignores_known(kind: type[Mechanism], engine: Engine) -> bool:
    return engine.n_known > 0 and not kind.takes_known_items


def _misasked(kind: type[Mechanism], question: Question, engine: Engine) -> InputError | None:
    if PublicScores in engine.can_show and not kind.reads_unit:
        return InputError(
            "it looks at numbers of users, and these are scores",
            "omit {mechanism}",
            given={"mechanism": kind},
        )
    if not issubclass(question.selects_as or type(question), kind.question):
        return InputError(
            "it answers {answered}, not {asked}",
            "omit {mechanism}, or give one for {asked}",
            given={"mechanism": kind},
            answered=reference(kind.question.method()),
            asked=reference(question.method()),
        )
    if kind.names_sets and question.in_order:
        return InputError(
            "it names a set, in no order",
            "omit {mechanism}, or ask for a list without order: {ordered=False}",
            given={"mechanism": kind},
        )
    return None


def _misfit(kind: type[Mechanism], question: Question, engine: Engine) -> InputError | None:
    if (misasked := _misasked(kind, question, engine)) is not None:
        return misasked
    if engine.items_are_public and kind.discovers:
        return InputError(
            "it discovers private items, and these are public",
            "omit {mechanism}",
            given={"mechanism": kind},
        )
    if not engine.items_are_public and kind.evidence is PublicCounts:
        return InputError(
            "it takes items that everybody knows", "give {public_items}", given={"mechanism": kind}
        )
    shown = kind.evidence in engine.can_show or _in_each_group(kind, question, engine)
    if not shown and engine.by and kind.evidence is not UserGroups:
        return InputError(
            "it does not look at items in groups",
            "omit {mechanism}, or omit {by}",
            given={"mechanism": kind},
        )
    if not shown:
        unknown = Words("it looks at {evidence}", evidence=kind.evidence), Words("omit {mechanism}")
        needs, remedy = _WHO if engine.by else _NEEDS.get(kind.evidence, unknown)
        return InputError(
            "{needs}", "{remedy}", given={"mechanism": kind}, needs=needs, remedy=remedy
        )
    return None


def _require_options(kind: type[Mechanism], options: dict[str, Any], given: dict[str, Any]) -> None:
    own = [name for name in kind.fields() if name not in given]
    for name in options:
        if (name.endswith("_per_user") or name == "group_items") and name in given:
            raise InputError(
                "{option} is an argument of the source",
                "give it there, not here",
                given={"mechanism": ...},
                option=reference(name),
            )
        if name in given:
            raise InputError(
                "{option} is given by the question",
                "omit it there",
                given={"mechanism": ...},
                option=reference(name),
            )
        if name not in own:
            known = ", ".join(own) or "none"
            raise InputError(
                "{kind} has no option {option}",
                "it has {known}.{hint}",
                given={"mechanism": ...},
                kind=kind,
                option=shown(name),
                known=known,
                hint=nearest(name, own),
            )
    for field in fields(kind):  # type: ignore[arg-type]
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if not optional and field.name not in {**given, **options}:
            raise InputError(
                "it needs its option {option}",
                "give it by functools.partial({kind}, {option}=...)",
                given={"mechanism": kind},
                option=field.name,
                kind=kind,
            )


def _require_delta_is_used(mechanism: Mechanism, delta: float) -> None:
    """Refuse a delta that would not be used: another mechanism is more accurate with it."""
    require_delta("delta", delta)
    if delta > 0 and "delta" not in mechanism.fields():
        raise InputError(
            "{kind} is pure and uses none of it",
            "omit {delta}, or choose a mechanism that uses it",
            given={"delta": delta},
            kind=type(mechanism),
        )


def warn_of_weakness(epsilon: float, delta: float, users: int | None) -> None:
    """Warn, before anything is charged, of what protects weakly or hardly at all."""
    weak = []
    if (band := of_epsilon(epsilon)) >= Strength.WEAK:
        weak.append(
            WeakPrivacyWarning(
                "{band}",
                "{better}",
                given={"epsilon": epsilon},
                band=band.described,
                better=BETTER,
            )
        )
    too_many = users is not None and delta * users > 1 + 1e-9
    if too_many or of_delta(delta) >= Strength.WEAK:
        weak.append(
            WeakPrivacyWarning(
                "one user in {n} may be published whole",
                "Take one far below 1 / {users}, such as {less}",
                given={"delta": delta},
                n=f"{max(1, round(1 / delta)):,}",
                users=f"{users:,}" if users and too_many else "(number of users)",
                less=f"{usual_delta(users if too_many else None):g}",
            )
        )
    for warning in weak:
        warnings.warn(warning, stacklevel=level_of_caller())
