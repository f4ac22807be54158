"""Mechanisms on tiny tables, and all that one asks of its draws: what a mistake changes."""

from dataclasses import fields, is_dataclass, replace
from functools import partial

import numpy as np

from helpers.light import keeping_back
from helpers.views import Listed
from helpers.walks import complete
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PrivateCounts, PublicCounts, Wins
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.counts_and_weights import GroupedCounts
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.mechanisms import (
    Accounting,
    AdaptiveGaussian,
    AdaptiveHittingSet,
    AdaptiveTopK,
    Adjacency,
    ChosenBound,
    DiscoverThenRank,
    Gamma,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    LimitedDomain,
    OneShotExponential,
    OneShotLaplace,
    Peeling,
    PerGroup,
    PermuteAndFlip,
    PolicyGaussian,
    PolicyGreedy,
    SpectralRanking,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
    WinCount,
)
from shortlist.mechanisms.wrappers import EachGroup, NoisyClippedCounts, NoisyCounts

N_ITEMS = 8
ZCDP = {"accounting": Accounting.ZCDP}
GENERAL = {"neighbours": Adjacency.GENERAL}


def held(n_users=60, n_items=N_ITEMS):
    """Users who hold one to five items, the first of them most."""
    rows = [
        (user, (user * step + step * step) % (n_items - user % 3))
        for user in range(n_users)
        for step in range(1 + user % 5)
    ]
    rows += [(user, 0) for user in range(0, n_users, 2)]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    return Contributions.of_rows(users, items, n_users=n_users, n_items=n_items)


def many(_mechanism, _draws):
    """So many items of about the same count that no lead is wide."""
    items = np.argsort(np.random.default_rng(0).random((900, 30)))[:, :3].ravel()
    users = np.repeat(np.arange(900, dtype=np.uint32), 3)
    return Contributions.of_rows(users, items.astype(np.uint32), n_users=900, n_items=30)


def few_bounds():
    """Chosen bound with bounds that the users of the table reach."""
    design = replace(ChosenBound.design, bounds=(1, 2, 3))
    return ChosenBound(**LOUD, max_items_per_user=4, **ZCDP, design=design)


def in_rounds(**given):
    """Adaptive top-k that looks at so few counts that none is far ahead."""
    design = replace(AdaptiveTopK.design, times_k=1, in_all=10)
    return AdaptiveTopK(k=5, epsilon=3.0, delta=0.1, max_items_per_user=3, design=design, **given)


def in_store(_mechanism, _draws):
    return Listed(held().counts)


def in_groups():
    """The same users' items in four groups, of which users are in one to three."""
    sets, n = held(), 4
    users = np.repeat(np.arange(len(sets.sizes), dtype=np.uint32), sets.sizes)
    items = sets.listed()
    pairs = (users + items) % np.uint32(n) * np.uint32(N_ITEMS) + items
    codes = np.arange(n * N_ITEMS, dtype=np.uint32)
    pairs = Contributions.of_rows(users, pairs, n_users=len(sets.sizes), n_items=n * N_ITEMS)
    return GroupedSets.of_pairs(pairs, codes // N_ITEMS, codes % N_ITEMS, n, N_ITEMS)


def bounded(mechanism, draws):
    """The sets, bounded and shown as the mechanism wants them."""
    wants = mechanism.wants
    sets = held()
    if wants.bound is not None:
        sets = sets.bounded(wants.bound, draws)
    if issubclass(wants.kind, PublicCounts):
        return PublicCounts(sets.recount().counts, wants.bound)
    return sets.shown_as(wants)


def light(mechanism, draws):
    """Weights, of which all but those of the heaviest are kept back."""
    weights = held().bounded(mechanism.wants.bound, draws).weigh()
    return keeping_back(weights, int(np.median(weights.weights)) + 1)


def sets(_mechanism, _draws):
    return held()


def counts_in_groups(kind, max_items, _mechanism, _draws):
    counts = np.array([30, 12, 3, 1, 25, 20, 2, 9, 8, 1])
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    bounds = {"max_items_per_user": max_items, "max_groups_per_user": 2}
    return GroupedCounts.of_rows(counts, groups, kind, **bounds)


def wins(mechanism, _draws):
    return Wins(np.array([9, 5, 3, 1]), mechanism.max_comparisons_per_user)


def outcomes(_mechanism, _draws):
    return complete(4, 6, (4, 1, 5, 2, 3, 6))


def around(wrapper, kind, share=0.4, *, epsilon=1.0, delta=0.01, **given):
    """A wrapper, of what a kind selects with what is left."""
    if wrapper is EachGroup:
        build = lambda epsilon, delta: kind(epsilon=epsilon, delta=delta)
        return EachGroup.of(build, epsilon=epsilon, delta=delta, **given)
    build = lambda epsilon, delta: kind(epsilon=epsilon, delta=delta)
    return wrapper.of(build, epsilon=epsilon, delta=delta, count_share=share, **given)


LOUD = {"epsilon": 3.0, "delta": 0.1}
SOME = {"epsilon": 1.0, "delta": 0.01}
BOUND = {"max_items_per_user": 3}
K = {"k": 2}
CASES = {
    "adaptive-gaussian": (partial(AdaptiveGaussian, **LOUD, **BOUND), bounded),
    "adaptive-gaussian zcdp": (partial(AdaptiveGaussian, **LOUD, **BOUND, **ZCDP), bounded),
    "chosen-bound": (partial(ChosenBound, **LOUD, max_items_per_user=4), bounded),
    "chosen-bound zcdp": (partial(ChosenBound, **LOUD, max_items_per_user=4, **ZCDP), bounded),
    "chosen-bound few": (few_bounds, bounded),
    "adaptive-top-k": (partial(AdaptiveTopK, **K, **LOUD, **BOUND), bounded),
    "adaptive-top-k zcdp": (partial(AdaptiveTopK, **K, **LOUD, **BOUND, **ZCDP), bounded),
    "adaptive-top-k rounds": (partial(in_rounds, **ZCDP), many),
    "adaptive-top-k rounds exact": (in_rounds, many),
    "adaptive-hitting-set": (partial(AdaptiveHittingSet, **K, **LOUD, **BOUND), bounded),
    "adaptive-hitting-set zcdp": (
        partial(AdaptiveHittingSet, k=6, **LOUD, **BOUND, **ZCDP),
        bounded,
    ),
    "per-group": (
        partial(PerGroup, **K, **LOUD, **BOUND, max_groups_per_user=2),
        lambda *_: in_groups(),
    ),
    "per-group zcdp": (
        partial(PerGroup, **K, **LOUD, **BOUND, max_groups_per_user=2, **ZCDP),
        lambda *_: in_groups(),
    ),
    "discover-then-rank": (partial(DiscoverThenRank, **K, **LOUD, **BOUND), bounded),
    "discover-then-rank zcdp": (partial(DiscoverThenRank, **K, **LOUD, **BOUND, **ZCDP), bounded),
    "discover-then-rank light": (partial(DiscoverThenRank, k=6, **SOME, **BOUND), light),
    "weighted-gaussian": (partial(WeightedGaussian, **SOME, **BOUND), bounded),
    "weighted-gaussian loud": (partial(WeightedGaussian, **LOUD, **BOUND), bounded),
    "weighted-gaussian zcdp": (partial(WeightedGaussian, **LOUD, **BOUND, **ZCDP), bounded),
    "weighted-gaussian wide": (
        partial(WeightedGaussian, **SOME, max_items_per_user=100),
        bounded,
    ),
    "weighted-gaussian wide zcdp": (
        partial(WeightedGaussian, **SOME, max_items_per_user=100, **ZCDP),
        bounded,
    ),
    "weighted-gaussian light": (partial(WeightedGaussian, **LOUD, **BOUND), light),
    "weighted-gaussian-peeling": (partial(WeightedGaussianPeeling, **K, **LOUD, **BOUND), bounded),
    "policy-gaussian": (partial(PolicyGaussian, **LOUD, **BOUND), bounded),
    "policy-greedy": (partial(PolicyGreedy, **LOUD), sets),
    "policy-greedy published": (
        partial(PolicyGreedy, **LOUD, accounting=Accounting.PUBLISHED),
        sets,
    ),
    "user-peeling": (partial(UserPeeling, **K, **SOME), sets),
    "user-peeling private": (partial(UserPeeling, **K, **LOUD, **BOUND), sets),
    "peeling": (partial(Peeling, k=5, epsilon=1.0, delta=1e-4), bounded),
    "peeling zcdp": (partial(Peeling, k=5, epsilon=1.0, delta=1e-4, **ZCDP), bounded),
    "peeling published": (
        partial(Peeling, k=5, epsilon=1.0, delta=1e-4, accounting=Accounting.PUBLISHED),
        bounded,
    ),
    "permute-and-flip": (partial(PermuteAndFlip, **K, epsilon=1.0), bounded),
    "joint": (partial(Joint, **K, epsilon=1.0), bounded),
    "joint-permute-and-flip": (partial(JointPermuteAndFlip, **K, epsilon=1.0), bounded),
    "joint-or-peel": (
        partial(JointOrPeel, k=5, epsilon=1.0, delta=0.01, threshold=1.0),
        bounded,
    ),
    "joint-or-peel whole": (
        partial(JointOrPeel, k=5, epsilon=1.0, delta=0.01, threshold=100.0),
        bounded,
    ),
    "joint-or-peel zcdp": (
        partial(JointOrPeel, k=5, epsilon=1.0, delta=0.01, threshold=1.0, **ZCDP),
        bounded,
    ),
    "one-shot-laplace": (partial(OneShotLaplace, **K, epsilon=1.0, max_items_per_user=2), bounded),
    "one-shot-laplace general": (partial(OneShotLaplace, **K, epsilon=1.0, **GENERAL), bounded),
    "one-shot-exponential": (partial(OneShotExponential, **K, epsilon=1.0), bounded),
    "one-shot-exponential general": (
        partial(OneShotExponential, **K, epsilon=1.0, **GENERAL),
        bounded,
    ),
    "gamma": (partial(Gamma, **K, epsilon=1.0), bounded),
    "limited-domain": (partial(LimitedDomain, **K, **SOME, **BOUND), bounded),
    "limited-domain zcdp": (partial(LimitedDomain, **K, **SOME, **BOUND, **ZCDP), bounded),
    "threshold-top-k": (partial(ThresholdTopK, **K, epsilon=1.0), in_store),
    "win-count": (partial(WinCount, **K, epsilon=1.0, max_comparisons_per_user=2), wins),
    "spectral-ranking": (partial(SpectralRanking, **K, epsilon=1.0), outcomes),
    "noisy-counts": (
        partial(around, NoisyCounts, partial(Peeling, k=4), k=4, max_items_per_user=3),
        bounded,
    ),
    "noisy-counts many": (partial(around, NoisyCounts, partial(Peeling, k=8), k=8), bounded),
    "noisy-counts few": (
        partial(around, NoisyCounts, partial(Peeling, k=4), k=4, max_items_per_user=1),
        bounded,
    ),
    "noisy-counts weights": (
        partial(
            around,
            NoisyCounts,
            partial(WeightedGaussianPeeling, k=4, max_items_per_user=1),
            k=4,
            max_items_per_user=1,
            **LOUD,
        ),
        bounded,
    ),
    "noisy-counts approximate": (
        partial(
            around,
            NoisyCounts,
            partial(LimitedDomain, k=1, max_items_per_user=1),
            k=1,
            max_items_per_user=1,
        ),
        bounded,
    ),
    "noisy-clipped-counts": (
        partial(
            around, NoisyClippedCounts, partial(WeightedGaussian, max_items_per_user=3), **LOUD
        ),
        sets,
    ),
    "noisy-clipped-counts zcdp": (
        partial(
            around,
            NoisyClippedCounts,
            partial(WeightedGaussian, max_items_per_user=3, **ZCDP),
            **LOUD,
        ),
        sets,
    ),
    "each-group": (
        partial(
            around,
            EachGroup,
            partial(LimitedDomain, k=2, max_items_per_user=2),
            max_groups_per_user=2,
        ),
        partial(counts_in_groups, PrivateCounts, 2),
    ),
    "each-group general": (
        partial(
            around,
            EachGroup,
            lambda epsilon, delta: OneShotExponential(k=2, epsilon=epsilon, **GENERAL),  # noqa: ARG005
            max_groups_per_user=2,
        ),
        partial(counts_in_groups, PublicCounts, None),
    ),
}


def told(case, seeds=range(6)):
    """What a case costs, at which loss, and all that it asks of its draws, with some seeds."""
    make, show = CASES[case]
    mechanism = make()
    cost, epsilon = mechanism.cost, getattr(mechanism, "epsilon", 1.0)
    asked = [("cost", type(cost).__name__, cost.delta(epsilon), cost.delta(epsilon / 2), cost.rho)]
    asked.append(("parameters", plain(mechanism.parameters())))
    for seed in seeds:
        draws = Listening(seed)
        evidence = show(mechanism, draws)
        told = mechanism.select(evidence, draws)
        asked += [*draws.asked, ("told", plain(told))]
    return asked


class Listening(ExactDraws):
    """Exact draws of a seed, which keep what they were asked."""

    def __init__(self, seed):
        super().__init__(SeededBits(seed))
        object.__setattr__(self, "asked", [])


def _listens(name):
    right = getattr(ExactDraws, name)

    def draw(self, *args, **kwargs):
        self.asked.append((name, plain(args), plain(kwargs)))
        return right(self, *args, **kwargs)

    return draw


for _name in ("coin", "choices", "permute_and_flip", "integer", "order", "rounded_down"):
    setattr(Listening, _name, _listens(_name))


def plain(value):
    """As what can be compared with what another run was asked."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, dict):
        return tuple((key, plain(inner)) for key, inner in value.items())
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    if hasattr(value, "approximate"):
        return type(value).__name__, tuple(value.approximate()[0].tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, plain([getattr(value, f.name) for f in fields(value)])
    return value if isinstance(value, int | float | str | None) else type(value).__name__
