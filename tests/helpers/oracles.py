"""Every mechanism's output law by brute force, and the small data sets on which it must hold.

The law tests go through this: a mechanism that is listed in `shortlist.mechanisms`, or wraps one,
and has no oracle here fails them.
"""

import importlib
import inspect
import itertools
import math
import pkgutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from helpers import oracles_of_caps as capped
from helpers import oracles_of_counted_groups as counted_groups
from helpers import oracles_of_labels as labels
from helpers import oracles_of_scores as scored
from helpers import walks
from helpers.hitting import picks_oracle
from helpers.losses import hockey_stick, neighbours
from helpers.oracles_of_cells import of_cells, picked_with_cells
from helpers.oracles_of_clipped_counts import clipped_oracle, counted, with_clipped_counts
from helpers.oracles_of_counts import (
    distance,
    joint,
    joint_or_peel,
    joint_permute_and_flip,
    limited_domain,
    one_by_one,
    peeling_oracle,
    permute_and_flip,
    set_or_peel,
)
from helpers.oracles_of_groups import groups_oracle, in_groups
from helpers.oracles_of_hitting import hitting_oracle
from helpers.oracles_of_policies import gaussian_oracle, greedy_with_scores
from helpers.oracles_of_rounds import (
    chosen_bound_oracle,
    greedy_or_rounds_oracle,
    pairs_oracle,
    rounds_oracle,
)
from helpers.oracles_of_top_k import greedy_or_adaptive_oracle, top_k_oracle
from helpers.oracles_of_users import (
    averaged,
    counts_of,
    discovery_oracle,
    named_above,
    published_peeling,
    weights_of,
)
from helpers.oracles_one_shot import cube_law, exponential_law, laplace_law
from helpers.oracles_two_gaussians import top_up
from helpers.small import (
    COMPARED,
    FEWER_USERS,
    IN_GROUPS,
    OF_ONE_EACH,
    PAIRS_OF_FEW,
    STORE,
    TWO_ITEMS,
    USERS,
    WON,
    Small,
)
from helpers.spectral import exact_scores
from helpers.threshold import reading_everything
from shortlist import mechanisms
from shortlist.audit.exact.enumerator import law
from shortlist.mechanisms import Mechanism, wrappers
from shortlist.mechanisms.registry import every_mechanism
from shortlist.mechanisms.wrappers import (
    ChosenCap,
    EachGroup,
    NoisyClippedCounts,
    NoisyCounts,
    NoisyOthers,
    NoisyReach,
    NoisyScores,
    OfScores,
)

EPSILON, DELTA, BOUND = 2.0, 0.2, 2  # so large that even one user is sometimes named
EPSILONS = [0.0, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5]

DATA = [
    (),
    ({0},),
    ({0, 1, 2},),  # of which two are kept
    ({0, 1}, {0}, {0}),
    ({0, 2}, {0, 2}, {2}),
    ({0, 1, 2}, {0, 1}, {0}),
]


def built(kind, *, k, epsilon=EPSILON, **options):
    """A mechanism for small data, of those of the usual parameters that it has."""
    given = {"k": k, "epsilon": epsilon, "delta": DELTA, "max_items_per_user": BOUND}
    return kind(**{name: given[name] for name in given if name in kind.fields()} | options)


def coarsely(kind, **given):
    """Few leading bits, so that they tie and often leave the order open."""
    return built(kind, **given, delta=0.0, leading_bits=2)


def near_cutoff(kind, **given):
    """Any cutoff is private: with this one, few users fill an item."""
    cutoff = property(lambda _: 1.4)
    return built(type(kind.__name__, (kind,), {"cutoff": cutoff}), **given)


def on_coarse_grid(kind, **given):
    """Any rounding down is private: with this one, and few bounds, all branches can be told."""
    own = {"rounds": 2} if "rounds" in kind.fields() else {}
    return built(kind, **{**own, "design": kind.design.coarse} | given)


def on_fewest_branches(kind, **given):
    """The variant that the audit enumerates: the same code on a coarse grid, bounds and rounds."""
    return built(kind, **given).audit_hints().coarse


def with_counts(kind, *, k, epsilon=EPSILON):
    """Noisy counts beside what is peeled."""

    def selection(epsilon, delta):
        return mechanisms.Peeling(k=k, epsilon=epsilon, delta=delta)

    given = {"k": k, "epsilon": epsilon, "delta": DELTA, "max_items_per_user": None}
    return kind.of(selection, count_share=0.5, **given)


def with_reach(kind, *, k, epsilon=EPSILON):
    """Noisy numbers of users reached beside what is picked among public items."""

    def selection(epsilon, delta):
        return mechanisms.UserPeeling(k=k, epsilon=epsilon, delta=delta)

    return kind.of(selection, count_share=0.5, k=k, epsilon=epsilon, delta=DELTA)


def with_others(kind, *, k, epsilon=EPSILON):
    """Noisy numbers of what is not in a list of one public item, all of a user's pairs worth 1."""

    def selection(epsilon, delta):
        return mechanisms.UserPeeling(k=k or 1, epsilon=epsilon, delta=delta)

    return kind.of(selection, count_share=0.5, epsilon=epsilon, delta=DELTA, max_pairs_per_user=1)


@dataclass(frozen=True)
class Oracle:
    """A mechanism's output law by its definition, and where the code is held against it.

    Attributes:
        law: From the mechanism and a data set to the probability of each outcome.
        small: All small neighbours between which the mechanism must be private.
        data: The data sets on which the code must have the law.
        build: From the class, k and epsilon to a mechanism.
        within: What the two ways of integrating agree to.
        in_order: Whether the order of the items is part of an outcome.
        edges: Where scores are cut into cells, which are part of an outcome then.
        fewer: The small neighbours for k = 2, where all would take long.
        with_branch: Whether which way a private choice went is part of an outcome.
        loud: So many times the epsilon, its cost is not what the cost says, which must be seen.
    """

    law: Callable[[Any, Any], dict[Any, float]]
    small: Small = USERS
    data: Sequence[Any] = field(default_factory=lambda: DATA)
    build: Callable[..., Mechanism] = built
    within: float = 1e-9
    in_order: bool = True
    edges: tuple[float, ...] = ()
    fewer: Small | None = None
    with_branch: bool = False
    loud: float = 3.0

    def output(self, mechanism, data):
        """The law of the code as it runs."""

        def run(draws):
            evidence = self.small.evidence(mechanism, data, self.small.n_items, draws)
            selection = mechanism.select(evidence, draws)
            positions = selection.positions.tolist()
            told = tuple(positions) if self.in_order else frozenset(positions)
            chosen = selection.branch if selection.cap is None else selection.cap
            told = (chosen, told) if self.with_branch else told
            noisy = selection.scores if selection.others is None else selection.others
            noisy = None if noisy is None else tuple(noisy)
            return (told, noisy) if self.edges else told

        return law(run, self.edges)

    def distance(self, mechanism, defined):
        """The largest, of the code's law from that by the definition of another of its kind."""
        return max(self.distances(mechanism, defined))

    def distances(self, mechanism, defined):
        """On one data set after the other."""
        for data in self.data:
            yield distance(self.output(mechanism, data), self.law(defined, data))

    def differs(self, mechanism, defined, by):
        """Whether some distance is larger: the first that is will do."""
        return any(found > by for found in self.distances(mechanism, defined))

    def excess(self, mechanism, cost):
        """By how much some delta between small neighbours exceeds what a cost says."""
        return max(self.excesses(mechanism, cost))

    def breaks(self, mechanism, cost, by):
        """Whether some excess is larger: the first that is will do."""
        return any(found > by for found in self.excesses(mechanism, cost))

    def excesses(self, mechanism, cost):
        """Of one pair of neighbours after the other."""
        small = self.fewer if self.fewer and getattr(mechanism, "k", None) == 2 else self.small
        output = cache(partial(self.output, mechanism))
        allowed = {epsilon: cost.delta(epsilon) for epsilon in EPSILONS}
        for pair in small.pairs:
            for p, q in itertools.permutations(map(output, pair)):
                for epsilon, delta in allowed.items():
                    yield hockey_stick(p, q, epsilon) - delta


@dataclass(frozen=True)
class OfNoisyItems(Oracle):
    """Of a set of items with their scores, whose noise data decide."""

    def output(self, mechanism, data):
        """The law of the code as it runs."""

        def run(draws):
            evidence = self.small.evidence(mechanism, data, self.small.n_items, draws)
            told = mechanism.select(evidence, draws)
            scored = frozenset(zip(told.positions.tolist(), told.scores.tolist(), strict=True))
            return scored, round(told.noise_sd, 9)

        return law(run, self.edges)


@dataclass(frozen=True)
class OfLabels(Oracle):
    """Of picked items, the sizes of both labels, and the noisy numbers of each item."""

    def output(self, mechanism, data):
        """The law of the code as it runs."""

        def run(draws):
            told = mechanism.select(self.small.evidence(mechanism, data), draws)
            return tuple(
                tuple(numbers.tolist())
                for numbers in (told.positions, told.others, told.scores, told.users)
            )

        return law(run, self.edges)


def of_counts(law_of_counts):
    """An oracle of how many users hold each of three items."""
    return lambda mechanism, data: law_of_counts(mechanism, counts_of(data, 3), mechanism.k)


def of_kept(law_of_kept):
    """An oracle of the bounded sets: the mean over what bounding may keep."""

    def averaging(mechanism, data):
        bound = mechanism.max_items_per_user
        return averaged(data, bound, lambda kept: law_of_kept(mechanism, kept, data))

    return averaging


def best_of(orders, k):
    """The law of the first k of each order."""
    first = {}
    for order, p in orders.items():
        first[order[:k]] = first.get(order[:k], 0) + p
    return first


def in_laplace_noise(scores, scale, k):
    return {positions: p for (positions, _), p in laplace_law(scores, scale, k).items()}


def picked_by_users(mechanism, kept, data):
    """Whole sets are picked by, among what bounded ones discovered."""
    law_of_picks = {}
    for domain, p in discovery_oracle(kept, mechanism):
        picks = picks_oracle(data, domain, mechanism.k, mechanism.local_epsilon)
        for picked, q in picks.items():
            law_of_picks[picked] = law_of_picks.get(picked, 0) + p * q
    return law_of_picks


def picked_with_others(mechanism, data):
    """Items picked by users; who holds none, pairs of these items and others: their cells."""
    edges, found = ORACLES[NoisyOthers].edges, Counter()
    selects, most = mechanism.selection, mechanism.max_pairs_per_user
    picks = picks_oracle(data, range(TWO_ITEMS.n_items), selects.k, selects.local_epsilon)
    for picked, p in picks.items():
        numbers = [
            sum(bool(held) and not held & set(picked) for held in data),
            sum(len(held & set(picked)) / max(len(held), most) for held in data),
            sum(len(held - set(picked)) / max(len(held), most) for held in data),
        ]
        chances = [of_cells(mechanism._best.noise, [e - n for e in edges]) for n in numbers]
        for told in itertools.product(range(len(edges) + 1), repeat=3):
            inside = (cells[cell] for cells, cell in zip(chances, told, strict=True))
            found[picked, told] += p * math.prod(inside)
    return dict(found)


def peeled_with_counts(mechanism, data):
    """Peeled items, each with its noisy count, rounded: which cell it is in."""
    counts, edges = counts_of(data, TWO_ITEMS.n_items), ORACLES[NoisyCounts].edges
    way = mechanism._best
    moves, weights = np.polynomial.hermite_e.hermegauss(60)
    moves = moves * way.shared.sd if way.shared else [0.0]
    weights = weights / weights.sum() if way.shared else [1.0]
    found = Counter()
    for move, weight in zip(moves, weights, strict=True):
        chances = [of_cells(way.noise, [e - count - move for e in edges]) for count in counts]
        for told, p in picked_with_cells(mechanism, counts, chances):
            found[told] += weight * p
    return dict(found)


def picked_with_reach(mechanism, data):
    """Items picked by users, each with how many hold none before it: the cell of its noise."""
    edges, found = ORACLES[NoisyReach].edges, Counter()
    local, n_items = mechanism.selection.local_epsilon, TWO_ITEMS.n_items
    for picked, p in picks_oracle(data, range(n_items), mechanism.k, local).items():
        first = [
            sum(item in held and not held & set(picked[:place]) for held in data)
            for place, item in enumerate(picked)
        ]
        chances = [of_cells(mechanism._best.noise, [e - n for e in edges]) for n in first]
        for told in itertools.product(range(len(edges) + 1), repeat=len(picked)):
            inside = (cells[cell] for cells, cell in zip(chances, told, strict=True))
            found[picked, told] += p * math.prod(inside)
    return dict(found)


def found_and_peeled(mechanism, data):
    """Found in rounds, and then peeled by counts of whole sets."""
    counts, outcomes = counts_of(data, TWO_ITEMS.n_items), Counter()
    for (found, _), p in rounds_oracle(mechanism.discovery, data).items():
        items = sorted(found)
        picks = peeling_oracle([counts[i] for i in items], mechanism.k, mechanism.local_epsilon)
        for picked, q in picks.items():
            outcomes[tuple(items[place] for place in picked)] += p * q
    return dict(outcomes)


def ranked_by_walk(mechanism, data):
    """Laplace noise on exact shares of the walk's time, by the theorem for complete graphs."""
    seen = walks.complete(COMPARED.n_items, 1, data)
    return in_laplace_noise(exact_scores(seen, 1), 2 / mechanism.epsilon, mechanism.k)


def listed_and_clipped(mechanism, data):
    """All three items with their clipped counts, as if they had been found."""
    outcomes = Counter()
    for told, p in counted(mechanism, data, range(3)):
        outcomes[told] += p
    return dict(outcomes)


def counted_each(mechanism, data):
    """Every item in the order of the list, each with the cell of its noisy count."""
    counts, edges = counts_of(data, TWO_ITEMS.n_items), ORACLES[mechanisms.CountEach].edges
    chances = [of_cells(mechanism._best.noise, [e - count for e in edges]) for count in counts]
    return {
        ((0, 1), told): chances[0][told[0]] * chances[1][told[1]]
        for told in itertools.product(range(len(edges) + 1), repeat=2)
    }


ORACLES: dict[type[Mechanism], Oracle] = {
    mechanisms.CountEach: Oracle(
        counted_each,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0})],
        partial(built, n_items=2, delta=0.0, max_items_per_user=None),
        edges=(0.5, 2.5),
    ),
    mechanisms.Joint: Oracle(of_counts(lambda m, counts, k: joint(m.epsilon, counts, k))),
    mechanisms.JointPermuteAndFlip: Oracle(
        of_counts(lambda m, counts, k: joint_permute_and_flip(m.epsilon, counts, k))
    ),
    mechanisms.JointOrPeel: Oracle(
        of_counts(joint_or_peel), build=partial(built, choice_share=0.3, threshold=1), loud=6.0
    ),
    mechanisms.SetOrPeel: Oracle(
        of_counts(set_or_peel), build=partial(built, choice_share=0.3, threshold=1), loud=6.0
    ),
    mechanisms.Peeling: Oracle(
        of_counts(lambda m, counts, k: peeling_oracle(counts, k, m.local_epsilon))
    ),
    mechanisms.PermuteAndFlip: Oracle(
        of_counts(
            lambda m, counts, k: one_by_one(partial(permute_and_flip, m.epsilon / k), counts, k)
        )
    ),
    mechanisms.OneShotExponential: Oracle(
        of_counts(lambda m, counts, k: exponential_law(counts, k / m.epsilon, k))
    ),
    mechanisms.OneShotLaplace: Oracle(
        of_counts(lambda m, counts, k: in_laplace_noise(counts, k / m.epsilon, k)),
        build=partial(built, delta=0.0, max_items_per_user=None),
    ),
    mechanisms.Gamma: Oracle(
        of_counts(lambda m, counts, k: best_of(cube_law(counts, 0.5 / m.epsilon, 3), k))
    ),
    mechanisms.ThresholdTopK: Oracle(
        lambda m, data: reading_everything(m.added, tuple(counts_of(data, 2)), m.k, m.epsilon),
        STORE,
        [({0},), ({0, 1}, {0}), ({0}, {0}, {1})],
        coarsely,
    ),
    mechanisms.WinCount: Oracle(
        lambda m, data: in_laplace_noise([data.count(i) for i in range(3)], 1 / m.epsilon, m.k),
        WON,
        [(), (0,), (0, 0, 2), (1, 2, 2, 2)],
    ),
    mechanisms.SpectralRanking: Oracle(ranked_by_walk, COMPARED, [(0,), (1,)], within=1e-3),
    mechanisms.LimitedDomain: Oracle(
        of_kept(lambda m, kept, _: limited_domain(m, counts_of(kept, 3), m.k))
    ),
    mechanisms.DiscoverThenRank: Oracle(
        of_kept(lambda m, kept, data: top_up(m, weights_of(kept, 3), counts_of(data, 3))),
        data=[(), ({0},), ({0, 1}, {0}, {0}), ({0, 2}, {0, 2}, {2})],
        within=2e-5,  # by integrals over four normals
        fewer=FEWER_USERS,
    ),
    mechanisms.AdaptiveTopK: Oracle(
        top_k_oracle,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1}), ({0, 1},) * 6],
        on_fewest_branches,
        within=5e-6,  # weights and parts of counts are rounded down to multiples of 2^-20
        edges=(0.0,),  # scores are multiples
    ),
    mechanisms.GreedyOrAdaptive: Oracle(
        greedy_or_adaptive_oracle,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1})],
        on_fewest_branches,
        within=5e-6,  # as above
        edges=(0.0,),
        with_branch=True,
    ),
    mechanisms.WeightedGaussianPeeling: Oracle(
        of_kept(
            lambda m, kept, data: published_peeling(m, weights_of(kept, 3), counts_of(data, 3))
        ),
        loud=10.0,  # two deltas of which next to nothing is used
    ),
    mechanisms.WeightedGaussian: Oracle(
        of_kept(lambda m, kept, _: named_above(weights_of(kept, 3), m.threshold, m.sigma)),
        in_order=False,
    ),
    mechanisms.AdaptiveGaussian: Oracle(
        rounds_oracle,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1})],
        on_coarse_grid,
        within=2e-6,  # weights are rounded down to multiples of 2^-20
        in_order=False,
        edges=(0.0,),  # scores are multiples
    ),
    mechanisms.ItemsThenPairs: Oracle(
        pairs_oracle,
        PAIRS_OF_FEW,
        [(), ({0, 1},), ({0, 1, 2}, {0, 1}, {2}), ({0, 1}, *OF_ONE_EACH)],
        partial(on_coarse_grid, most_items=BOUND),
        within=2e-6,  # weights are rounded down to multiples of 2^-20
    ),
    mechanisms.AdaptiveGaussianPeeling: Oracle(
        found_and_peeled,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1})],
        on_coarse_grid,
        within=2e-6,  # as of the rounds
        loud=8.0,  # of two stages, each of which alone tells little
    ),
    mechanisms.ChosenBound: Oracle(
        chosen_bound_oracle,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1})],
        on_coarse_grid,
        within=2e-6,  # as above
        in_order=False,
        edges=(0.0,),
        with_branch=True,
    ),
    mechanisms.GreedyOrRounds: Oracle(
        greedy_or_rounds_oracle,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1})],
        on_coarse_grid,
        within=2e-6,  # as above
        in_order=False,
        edges=(0.0,),
        with_branch=True,
    ),
    mechanisms.AdaptiveHittingSet: Oracle(
        hitting_oracle,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {0, 1}, {1})],
        on_fewest_branches,
        within=2e-6,  # as above
        edges=(0.0,),
    ),
    mechanisms.PerGroup: Oracle(
        groups_oracle,
        Small(2, IN_GROUPS, in_groups),  # a pair is an item in one of two groups
        [(), ({0},) * 8, ({0},) * 12, ({0},) * 5 + ({1},) * 6, ({0},) * 7 + ({0, 1},)],
        on_fewest_branches,
        within=5e-6,  # weights and parts of counts are rounded down to multiples of 2^-20
        edges=(0.0,),  # scores are multiples
        loud=15.0,  # most of the budget is for counts of what was found, of which there is little
    ),
    mechanisms.PolicyGaussian: Oracle(
        gaussian_oracle, FEWER_USERS, build=near_cutoff, within=1e-7, in_order=False
    ),
    mechanisms.PolicyGreedy: Oracle(
        greedy_with_scores,
        FEWER_USERS,
        build=partial(built, alpha=1),
        in_order=False,
        edges=(0.0,),  # scores are whole numbers
    ),
    mechanisms.UserPeeling: Oracle(of_kept(picked_by_users)),
    EachGroup: Oracle(
        counted_groups.law,
        Small(counted_groups.N_PAIRS, FEWER_USERS.pairs, counted_groups.shown),
        counted_groups.DATA,
        counted_groups.build,
        loud=10.0,  # few users are hardly named at all
    ),
    NoisyCounts: Oracle(
        peeled_with_counts,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0})],
        with_counts,
        edges=(0.5, 2.5),
    ),
    mechanisms.Association: OfLabels(
        labels.law_of_labels,
        labels.SMALL,
        labels.TABLES,
        labels.build,
        edges=labels.EDGES,
        loud=5.0,  # of sizes, picks and two values, each of which tells little
    ),
    OfScores: Oracle(scored.law_of_scores, scored.SMALL, scored.TABLES, scored.build_of_scores),
    NoisyScores: Oracle(
        scored.peeled_with_scores,
        scored.NOISY,
        [(0.0, 0.5), (1.0, -1.25)],
        scored.build_noisy,
        within=5e-4,  # by where values are rounded
        edges=scored.EDGES,
    ),
    ChosenCap: Oracle(
        capped.law, capped.SMALL, capped.DATA, capped.build, within=1e-5, with_branch=True
    ),
    NoisyReach: Oracle(
        picked_with_reach,
        TWO_ITEMS,
        [(), ({0},), ({0, 1}, {0}, {0})],
        with_reach,
        edges=(0.5, 2.5),
    ),
    NoisyOthers: Oracle(
        picked_with_others,
        Small(2, list(neighbours(range(2), users=2))),  # three numbers have many cells
        [(), ({0},), ({0, 1}, {0}, {0}), ({0, 1}, {1}, set())],
        with_others,
        edges=(0.5, 2.5),
    ),
    mechanisms.ClippedCountEach: OfNoisyItems(
        listed_and_clipped,
        Small(3, TWO_ITEMS.pairs),
        DATA[:4],
        on_fewest_branches,
        within=2e-6,  # as below
    ),
    NoisyClippedCounts: OfNoisyItems(
        clipped_oracle,
        Small(3, TWO_ITEMS.pairs),
        DATA[:4],
        with_clipped_counts,
        within=2e-6,  # users' parts are rounded down to multiples of 2^-20
    ),
}


def every_wrapper():
    """The mechanisms in the modules of `shortlist.mechanisms.wrappers`."""
    names = [
        name for _, name, _ in pkgutil.iter_modules(wrappers.__path__, wrappers.__name__ + ".")
    ]
    return [
        kind
        for name in names
        for _, kind in inspect.getmembers(importlib.import_module(name), inspect.isclass)
        if issubclass(kind, Mechanism) and kind.__module__ == name and not inspect.isabstract(kind)
    ]


EVERY = [*every_mechanism(), *every_wrapper()]


def oracle_of(kind):
    """What the law of a mechanism is held against."""
    assert kind in ORACLES, f"{kind.__name__} has no oracle in tests/helpers/oracles.py"
    return ORACLES[kind]
