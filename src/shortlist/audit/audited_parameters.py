"""With which parameters each mechanism is audited, and each kind of series."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

from shortlist.audit.universes import PeriodGaussian, SeriesClass, WeeklyGaussian, WholeSeries
from shortlist.audit.universes.of_histories import GivenGrid
from shortlist.draws import RoundingGrid
from shortlist.mechanisms import (
    Accounting,
    AdaptiveGaussian,
    AdaptiveGaussianPeeling,
    AdaptiveHittingSet,
    AdaptiveTopK,
    AddedNoise,
    Adjacency,
    Association,
    ChosenBound,
    ClippedCountEach,
    CountEach,
    DiscoverThenRank,
    Extreme,
    Gamma,
    GreedyOrAdaptive,
    GreedyOrRounds,
    ItemsThenPairs,
    JointOrPeel,
    LimitedDomain,
    Mechanism,
    OneShotExponential,
    OneShotLaplace,
    Peeling,
    PerGroup,
    PolicyGreedy,
    SetOrPeel,
    SpectralRanking,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
    WinCount,
)
from shortlist.mechanisms.wrappers import (
    ChosenCap,
    EachGroup,
    NoisyClippedCounts,
    NoisyCounts,
    NoisyOthers,
    NoisyReach,
    OfScores,
)
from shortlist.parameters import Direction, GroupItems, ShareOfUsers, Side
from shortlist.series.kinds import KINDS

Kind = type[Mechanism] | partial[Mechanism]
"""A mechanism's class, some of its parameters given."""

Options = dict[type[Mechanism], list[dict[str, Any]]]

_GRID: dict[str, tuple[Any, ...]] = {
    "k": (1, 2, 3),
    "epsilon": (2.0, 0.7, 1.3),
    "delta": (0.2, 0.02, 1e-4),
    "max_items_per_user": (2, 1, 3),
}

_BEYOND: tuple[dict[str, Any], ...] = (
    {"k": 5, "epsilon": 0.2, "delta": 1e-6, "max_items_per_user": 5},
    {"k": 4, "epsilon": 5.0, "delta": 0.01, "max_items_per_user": 4},
)

# Options of a mechanism's own; where they fix a name of the grid, that is not varied.
_OPTIONS: Options = {
    Peeling: [{}, {"delta": 0.0}, {"accounting": Accounting.PUBLISHED}],
    JointOrPeel: [
        {"choice_share": 0.3, "threshold": 1},
        {"choice_share": 0.6, "threshold": -1, "delta": 0.0},
    ],
    SetOrPeel: [
        {"choice_share": 0.3, "threshold": 1},
        {"choice_share": 0.6, "threshold": -1, "delta": 0.0},
        {},
    ],
    NoisyCounts: [
        {"selects": Peeling, "count_share": 0.3},
        {"selects": JointOrPeel, "count_share": 0.5, "delta": 0.0, "max_items_per_user": None},
        {
            "selects": partial(Gamma, neighbours=Adjacency.GENERAL),
            "count_share": 0.3,
            "delta": 0.0,
        },
        {"selects": LimitedDomain, "count_share": 0.5},
        {"selects": WeightedGaussianPeeling, "count_share": 0.3, "max_items_per_user": 1},
        {"selects": Peeling, "count_share": 0.3, "delta": 0.0, "min_users": 2},
    ],
    NoisyClippedCounts: [  # of one kind: rounded counts are many branches
        {
            "selects": partial(WeightedGaussian, max_items_per_user=1),
            "count_share": 0.3,
            "epsilon": 2.0,
            "delta": 0.2,
        },
    ],
    NoisyReach: [  # of pure ones: far out, normal noise is too rare for exact laws
        {"selects": UserPeeling, "count_share": 0.3, "delta": 0.0, "max_items_per_user": None},
        {"selects": UserPeeling, "count_share": 0.5, "delta": 0.0, "max_items_per_user": None},
    ],
    NoisyOthers: [  # of pure ones, as above
        {
            "selects": partial(UserPeeling, k=k),
            "count_share": share,
            "delta": 0.0,
            "max_pairs_per_user": most,
        }
        for k, share, most in ((1, 0.3, 1), (2, 0.5, 2))
    ],
    ChosenCap: [  # where each user above a cap counts in whole
        {"selects": Peeling, "count_share": 0.5, "caps": (1.0, 2.0), "whole": 1},
        {"selects": Peeling, "count_share": 0.3, "caps": (1.0, 2.0), "whole": 1, "delta": 0.0},
        {
            "selects": partial(Peeling, k=1),
            "in_groups": 2,
            "count_share": 0.5,
            "k": 1,
            "caps": (1.0, 2.0),
            "lists": 2,
            "whole": 1,
            "delta": 0.0,
        },
    ],
    ClippedCountEach: [{"epsilon": 1.0, "delta": 0.2}],  # rounded counts are many branches
    EachGroup: [
        {"selects": partial(LimitedDomain, k=1), "max_groups_per_user": 2},
        {"selects": partial(LimitedDomain, k=2, max_items_per_user=2), "max_groups_per_user": 1},
        {"selects": partial(Peeling, k=1), "max_groups_per_user": 2},
        {
            "selects": partial(OneShotExponential, k=1, neighbours=Adjacency.GENERAL),
            "max_groups_per_user": 1,
            "delta": 0.0,
        },
        {"selects": partial(UserPeeling, k=1), "max_groups_per_user": 2, "delta": 0.0},
    ],
    OfScores: [
        {"selects": Peeling, "k": 1, "sensitivity": 0.75, "direction": Direction.ANY},
        {
            "selects": OneShotExponential,
            "k": 2,
            "delta": 0.0,
            "sensitivity": 3.0,
            "direction": Direction.ONE,
            "extreme": Extreme.SMALLEST,
        },
        {
            "selects": Peeling,
            "k": 1,
            "delta": 0.0,
            "sensitivity": 1.0,
            "direction": Direction.ANY,
            "score_share": 0.4,
        },
    ],
    Association: [  # of one item: for more, laws take minutes
        {"n_items": 6, "fdr": 0.1, "k": 1},
        {"n_items": 6, "fdr": 0.1, "k": 1, "cases": 3, "controls": 2, "size_error": 1},
    ],
    CountEach: [  # of as many items as data sets have
        {"n_items": 6, "delta": 0.0, "max_items_per_user": None},
        {"n_items": 6, "delta": 0.0},
        {"n_items": 6, "max_items_per_user": None},
        {
            "n_items": 6,
            "delta": 0.0,
            "max_items_per_user": None,
            "share_of_users": ShareOfUsers.COUNTED,
        },
    ],
    OneShotExponential: [{}, {"neighbours": Adjacency.GENERAL}],
    OneShotLaplace: [
        {"delta": 0.0, "max_items_per_user": None},
        {"delta": 0.0},
        {"delta": 0.0, "extreme": Extreme.SMALLEST},
        {"delta": 0.0, "neighbours": Adjacency.GENERAL},
    ],
    Gamma: [{}, {"neighbours": Adjacency.GENERAL}],
    LimitedDomain: [  # of so few picks, a second try as bold as the first alone is seen
        {},
        {"max_items_per_user": None, "k_bar": 3},
        {"k_bar": 3, "second_try": 1},
    ],
    ThresholdTopK: [
        {},
        {"delta": 0.0},
        {"noise": AddedNoise.LAPLACE, "delta": 0.0},
        {"noise": AddedNoise.EXPONENTIAL, "delta": 0.0},
    ],
    UserPeeling: [
        {"delta": 0.0, "max_items_per_user": None},
        {"max_items_per_user": None},
        {},
        {"accounting": Accounting.PUBLISHED},
    ],
    AdaptiveHittingSet: [{"k": 1}, {"k": 2}],
    ItemsThenPairs: [{"most_items": 2}, {"most_items": 1, "k": 2}],
    AdaptiveGaussian: [{"rounds": 2}],
    AdaptiveGaussianPeeling: [{"rounds": 2}],
    ChosenBound: [{"rounds": 2, "max_items_per_user": 2, "delta": 0.2}],
    GreedyOrAdaptive: [
        {"k": 1, "max_items_per_user": 1, "delta": 0.2},
        {"k": 2, "max_items_per_user": 2, "delta": 0.2},
    ],
    GreedyOrRounds: [{"rounds": 2, "max_items_per_user": 2, "delta": 0.2}],
    PolicyGreedy: [{}, {"alpha": 1}, {"accounting": Accounting.PUBLISHED}],
    WinCount: [{}, {"max_comparisons_per_user": 2}],
    SpectralRanking: [{}, {"max_comparisons_per_user": 2}, {"contraction": 0.5}],
}


_REAL: tuple[dict[str, Any], ...] = (
    {"k": 10, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 16},
    {"k": 3, "epsilon": 0.1, "delta": 1e-5, "max_items_per_user": 40},
    {"k": 20, "epsilon": 3.0, "delta": 1e-9, "max_items_per_user": 4},
)
"""As questions are asked: by transcript, deltas may be as small as they are."""

_REAL_OPTIONS: Options = {
    **_OPTIONS,
    AdaptiveGaussian: [{}, {"max_items_per_user": 100}],  # of fewer items, no weight is capped
    AdaptiveGaussianPeeling: [{}],
    ChosenBound: [{"max_items_per_user": 30}],
    GreedyOrAdaptive: [{}, {"max_items_per_user": 1}],
    GreedyOrRounds: [{"max_items_per_user": 30}],
    AdaptiveHittingSet: [{}],
    ItemsThenPairs: [{"most_items": 16}],
    PerGroup: [
        {"max_groups_per_user": 2},
        {"max_groups_per_user": 1},
        {"group_items": GroupItems.OWN},
        {"group_items": GroupItems.UNKNOWN},
    ],
    LimitedDomain: [{}, {"max_items_per_user": None, "k_bar": 30}],
    JointOrPeel: [{}, {"delta": 0.0}],
    SetOrPeel: [{}, {"delta": 0.0}],
    NoisyCounts: [
        {"selects": Peeling, "count_share": 0.3},
        {"selects": AdaptiveTopK, "count_share": 0.3},
        {"selects": AdaptiveTopK, "count_share": 0.3, "min_users": 100},
        {"selects": LimitedDomain, "count_share": 0.5},
        {"selects": DiscoverThenRank, "count_share": 0.3},
        {"selects": partial(OneShotExponential), "count_share": 0.3, "delta": 0.0},
    ],
    NoisyClippedCounts: [
        {"selects": partial(ChosenBound, max_items_per_user=30), "count_share": 0.3},
        {"selects": partial(AdaptiveGaussian, max_items_per_user=16), "count_share": 0.3},
        {
            "selects": partial(WeightedGaussian, max_items_per_user=16),
            "count_share": 0.3,
            "min_users": 100,
        },
        {"selects": partial(WeightedGaussian, max_items_per_user=16), "count_share": 0.3},
    ],
    NoisyReach: [
        {
            "selects": partial(AdaptiveHittingSet, max_items_per_user=30),
            "count_share": 0.1,
            "max_items_per_user": None,
        },
        {"selects": UserPeeling, "count_share": 0.3, "max_items_per_user": None},
    ],
    NoisyOthers: [
        {
            "selects": partial(AdaptiveTopK, k=10, max_items_per_user=16),
            "count_share": 0.05,
            "max_pairs_per_user": 16,
        },
    ],
    ChosenCap: [
        {"selects": Peeling, "k": 10, "count_share": 0.03, "caps": (30.0, 100.0, 600.0)},
    ],
    ClippedCountEach: [{}],
    OfScores: [
        {"selects": Peeling, "k": 10, "sensitivity": 0.25, "direction": Direction.ONE},
        {
            "selects": JointOrPeel,
            "k": 10,
            "sensitivity": 0.25,
            "direction": Direction.ANY,
            "extreme": Extreme.SMALLEST,
        },
        {
            "selects": Peeling,
            "k": 10,
            "sensitivity": 8.0,
            "direction": Direction.ANY,
            "score_share": 0.3,
        },
    ],
    Association: [
        {"n_items": 60, "fdr": 0.1},
        {"n_items": 60, "fdr": 0.1, "side": Side.BOTH},
        {"n_items": 60, "fdr": 0.1, "cases": 500, "controls": 300, "size_error": 10},
    ],
    CountEach: [
        {"n_items": 60, "delta": 0.0, "max_items_per_user": None},
        {"n_items": 60},
        {"n_items": 60, "max_items_per_user": None},
        {"n_items": 60, "delta": 0.0, "share_of_users": ShareOfUsers.COUNTED},
        {"n_items": 60, "share_of_users": ShareOfUsers.COUNTED},
    ],
    EachGroup: [
        {"selects": partial(LimitedDomain, k=10, max_items_per_user=8), "max_groups_per_user": 2},
        {"selects": partial(LimitedDomain, k=10, k_bar=30), "max_groups_per_user": 2},
        {"selects": partial(Peeling, k=10), "max_groups_per_user": 2},
        {
            "selects": partial(OneShotExponential, k=10, neighbours=Adjacency.GENERAL),
            "max_groups_per_user": 1,
            "delta": 0.0,
        },
    ],
}


def real_settings(kind: Kind, *, quick: bool = False) -> Iterator[Mechanism]:
    """Instances as people ask for them, counted in every way that the mechanism knows."""
    cls = class_of(kind)
    built: dict[Mechanism, None] = {}
    for option in options_of(kind, _REAL_OPTIONS):
        counted = list(_counted_by(cls, option))
        for place, numbers in enumerate(_REAL[: 1 if quick else None]):
            given = {name: value for name, value in numbers.items() if name in cls.fields()}
            # The first numbers are counted in every way, the others in one each.
            for each in counted[place % len(counted) :][: None if place == 0 else 1]:
                built[_built(cls, {**given, **each})] = None
    yield from built


def _counted_by(cls: type[Mechanism], option: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The options with each way to count stages, of the mechanism or of the one that it wraps."""
    inner = option.get("selects")
    counts = cls if inner is None else class_of(inner)
    if "accounting" not in counts.fields() or "accounting" in option:
        yield option
        return
    for accounting in counts.accountings:
        if inner is None:
            yield {**option, "accounting": accounting}
        else:
            yield {**option, "selects": partial(inner, accounting=accounting)}


def settings_of(kind: Kind, *, quick: bool = False) -> Iterator[Mechanism]:
    """Instances of a mechanism: all options, with all numbers of the grid (a few, if quick)."""
    cls = class_of(kind)
    options = options_of(kind)
    for number, option in enumerate(options):
        numbers = list(_numbers(cls, option, quick=quick))
        # Each number is looked at, if not with each other one, nor with each of many options.
        few = 1 if len(numbers) < 9 else 2 if len(options) < 3 else 4
        beyond = [] if quick else _beyond(cls, option)[number % few :: few]
        chosen = [*numbers[number % few :: few], *beyond]
        yield from dict.fromkeys(_built(cls, {**given, **option}) for given in chosen)


def options_of(kind: Kind, known: Options = _OPTIONS) -> list[dict[str, Any]]:
    """A mechanism's own options that are audited, with those that are given."""
    own = kind.keywords if isinstance(kind, partial) else {}
    options: list[dict[str, Any]] = [{}]
    if not any(isinstance(value, Mechanism) for value in own.values()):  # what it wraps is given
        options = next((known[c] for c in class_of(kind).__mro__ if c in known), options)
    options = [{**option, **own} for option in options]
    return [option for i, option in enumerate(options) if option not in options[:i]]


def class_of(kind: Kind) -> type[Mechanism]:
    """The class of the mechanism, without the options that are given."""
    cls: Any = kind.func if isinstance(kind, partial) else kind
    known: type[Mechanism] = cls
    return known


def _built(cls: Any, given: dict[str, Any]) -> Mechanism:
    """An instance of these parameters, around one that selects if a kind of these is given.

    That one selects in each group if `in_groups` says in how many one user counts.
    """
    kind, groups = given.pop("selects", None), given.pop("in_groups", None)
    if kind is None:
        mechanism: Mechanism = cls(**given)
        return mechanism
    own = kind.keywords if isinstance(kind, partial) else {}  # what it is given there stands
    fields = [name for name in class_of(kind).fields() if name not in own]

    def select(epsilon: float, delta: float) -> Mechanism:
        values = given | {"epsilon": epsilon, "delta": delta}
        selects: Mechanism = kind(**{name: values[name] for name in values if name in fields})
        return selects

    def select_in_groups(epsilon: float, delta: float) -> Mechanism:
        asked: Any = {"epsilon": epsilon, "delta": delta, "max_groups_per_user": groups}
        return EachGroup.of(select, **asked)

    around: Mechanism = cls.of(select if groups is None else select_in_groups, **given)
    return around


def _beyond(cls: type[Mechanism], option: dict[str, Any]) -> list[dict[str, Any]]:
    if "k_bar" in option:  # which is at least k
        return []
    names = [name for name in _GRID if name in cls.fields() and name not in option]
    return [{name: values[name] for name in names} for values in _BEYOND]


def _numbers(
    cls: type[Mechanism], option: dict[str, Any], *, quick: bool
) -> Iterator[dict[str, Any]]:
    """Values of the names that the option leaves open: every two numbers meet."""
    names = [name for name in _GRID if name in cls.fields() and name not in option]
    if quick:
        yield {
            name: _GRID[name][min(1, i)] if name == "k" else _GRID[name][0]
            for i, name in enumerate(names, 1)
        }
        return
    for i, j in itertools.product(range(3), repeat=2):
        yield {
            name: _GRID[name][(i, j, (i + j) % 3, (i + 2 * j) % 3)[n]]
            for n, name in enumerate(names)
        }


_SERIES: dict[SeriesClass, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    WeeklyGaussian: (
        [
            {"delta": 0.002, "grid": (4, 14, 20)},
            {"periods": 1, "delta": 0.1, "grid": (36, 52, 16)},
            {"delta": 0.002, "grid": (4, 7, 21), "max_items_per_user": 1, "losses": 1},
            {"n_items": 2, "copies": ()},
        ],
        [
            {"delta": 0.002, "grid": (3, 7, 21), "copies": (1, 4, 30)},
            {"periods": 3, "delta": 0.02, "grid": (2, 5, 21)},
            {"n_items": 2, "copies": (3,), "max_items_per_user": 1},
            {"n_items": 2, "grid": (0, 3, 21)},
            {
                "periods": 3,
                "delta": 0.02,
                "grid": (0, 1, 23),
                "max_items_per_user": 1,
                "copies": (80,),
                "losses": 1,
            },
        ],
    ),
    PeriodGaussian: (
        [
            {"delta": 0.002, "grid": (4, 14, 20)},
            {"periods": 1, "grid": (36, 52, 16), "max_items_per_user": 1},
            {"delta": 0.002, "grid": (36, 38, 18), "copies": ()},
            {"periods": 1, "max_items_per_user": 1, "n_items": 2, "copies": (4,)},
            {"periods": 3, "delta": 0.02, "grid": (2, 4, 21), "losses": 1},
        ],
        [
            {"delta": 0.002, "grid": (3, 7, 21), "copies": (1, 4, 30)},
            {"n_items": 2, "copies": (1,)},
            {"periods": 4, "delta": 0.02, "grid": (2, 4, 21), "copies": (10,)},
            {"periods": 4, "delta": 0.02, "grid": (2, 4, 21), "copies": (10,), "losses": 3},
        ],
    ),
}
"""Of each kind of series, in the quick audit, and beside that in the whole one.

Grids are given from where to where, and by how many binary places of a weight's unit. They are so
placed that each mistake that is known shows on one of them.
"""


def settings_of_series(kind: SeriesClass, *, quick: bool = False) -> Iterator[WholeSeries]:
    """Series of a few runs, on grids of few steps, so that all branches can be enumerated."""
    few, more = _SERIES[kind]
    of_kind = KINDS[kind.kind]
    for option in few if quick else few + more:
        given: dict[str, Any] = {
            "periods": 2,
            "delta": 0.1,
            "grid": (1, 2, 21),
            "max_items_per_user": 2,
        } | option
        beside = {n: given.pop(n) for n in ("n_items", "copies", "losses") if n in given}
        first, last, places = given.pop("grid")
        grid = GivenGrid(RoundingGrid(2**places, first, last))
        terms = of_kind.terms(epsilon=1.0, grid=grid, **given)
        yield kind(terms=terms, **beside)
