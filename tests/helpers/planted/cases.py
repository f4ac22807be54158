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
    ClippedCountEach,
    CountEach,
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
    SetOrPeel,
    SpectralRanking,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
    WinCount,
)
from shortlist.mechanisms.wrappers import (
    EachGroup,
    NoisyClippedCounts,
    NoisyCounts,
    NoisyOthers,
    NoisyReach,
)
from shortlist.parameters import GroupItems

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


def in_store(_mechanism, _draws):
    return Listed(held().counts)


def in_groups(_mechanism, _draws):
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


def sets(_mechanism, _draws):
    return held()


def light(mechanism, draws):
    """Weights, of which all but those of the heaviest are kept back."""
    weights = held().bounded(mechanism.wants.bound, draws).weigh()
    return keeping_back(weights, int(np.median(weights.weights)) + 1)


def counts_in_groups(kind, max_items, _mechanism, _draws):
    counts = np.array([30, 12, 3, 1, 25, 20, 2, 9, 8, 1])
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    bounds = {"max_items_per_user": max_items, "max_groups_per_user": 2}
    return GroupedCounts.of_rows(counts, groups, kind, **bounds)


def wins(mechanism, _draws):
    return Wins(np.array([9, 5, 3, 1]), mechanism.max_comparisons_per_user)


def outcomes(_mechanism, _draws):
    return complete(4, 6, (4, 1, 5, 2, 3, 6))


def case(kind, show=bounded, **given):
    """A mechanism, and what it is shown."""
    return partial(kind, **given), show


def few_bounds():
    """Chosen bound with bounds that the users of the table reach."""
    design = replace(ChosenBound.design, bounds=(1, 2, 3))
    return ChosenBound(**LOUD, max_items_per_user=4, **ZCDP, design=design)


def in_rounds(**given):
    """Adaptive top-k that looks at so few counts that none is far ahead."""
    design = replace(AdaptiveTopK.design, times_k=1, in_all=10)
    return AdaptiveTopK(k=5, epsilon=3.0, delta=0.1, max_items_per_user=3, design=design, **given)


def counted(wrapper, kind, show=bounded, *, epsilon=1.0, delta=0.01, inner=(), **given):
    """A wrapper, of what a kind selects with what is left, with most of it for counts."""

    def make():
        fields = {**dict(inner), **{name: given[name] for name in ("k",) if name in given}}
        build = lambda epsilon, delta: kind(epsilon=epsilon, delta=delta, **fields)
        return wrapper.of(build, epsilon=epsilon, delta=delta, count_share=0.4, **given)

    return make, show


def in_each_group(kind, evidence, max_items, **given):
    """One selection in each of the groups of a table of counts, of which a user is in two."""

    def build(epsilon, delta):
        budget = {"epsilon": epsilon, "delta": delta}
        fields = {name: x for name, x in budget.items() if name in kind.fields()}
        return kind(k=2, **fields, **given)

    def make():
        return EachGroup.of(build, **SOME, max_groups_per_user=2)

    return make, partial(counts_in_groups, evidence, max_items)


LOUD = {"epsilon": 3.0, "delta": 0.1}
SOME = {"epsilon": 1.0, "delta": 0.01}
BOUND = {"max_items_per_user": 3}
ONE_ITEM = {"max_items_per_user": 1}
K = {"k": 2}
WIDE = {**SOME, "max_items_per_user": 100}
PUBLISHED = {"accounting": Accounting.PUBLISHED}
FIVE_PICKS = {"k": 5, "epsilon": 1.0, "delta": 1e-4}
CHOICE = {"k": 5, **SOME}
GROUPED = {**K, **LOUD, **BOUND, "max_groups_per_user": 2}
CASES = {
    "adaptive-gaussian": case(AdaptiveGaussian, **LOUD, **BOUND),
    "adaptive-gaussian zcdp": case(AdaptiveGaussian, **LOUD, **BOUND, **ZCDP),
    "chosen-bound": case(ChosenBound, **LOUD, max_items_per_user=4),
    "chosen-bound zcdp": case(ChosenBound, **LOUD, max_items_per_user=4, **ZCDP),
    "chosen-bound few": case(few_bounds),
    "adaptive-top-k": case(AdaptiveTopK, **K, **LOUD, **BOUND),
    "adaptive-top-k zcdp": case(AdaptiveTopK, **K, **LOUD, **BOUND, **ZCDP),
    "adaptive-top-k rounds": case(in_rounds, many, **ZCDP),
    "adaptive-top-k rounds exact": case(in_rounds, many),
    "adaptive-hitting-set": case(AdaptiveHittingSet, **K, **LOUD, **BOUND),
    "adaptive-hitting-set zcdp": case(AdaptiveHittingSet, k=6, **LOUD, **BOUND, **ZCDP),
    "per-group": case(PerGroup, in_groups, **GROUPED),
    "per-group own": case(PerGroup, in_groups, **GROUPED, group_items=GroupItems.OWN),
    "per-group unknown": case(PerGroup, in_groups, **GROUPED, group_items=GroupItems.UNKNOWN),
    "per-group zcdp": case(PerGroup, in_groups, **GROUPED, **ZCDP),
    "clipped-count-each": case(ClippedCountEach, sets, **LOUD),
    "clipped-count-each zcdp": case(ClippedCountEach, sets, **LOUD, **ZCDP),
    "count-each": case(CountEach, n_items=N_ITEMS, epsilon=1.0),
    "count-each normal": case(CountEach, n_items=N_ITEMS, **SOME),
    "count-each promised": case(CountEach, n_items=N_ITEMS, **SOME, **BOUND),
    "discover-then-rank": case(DiscoverThenRank, **K, **LOUD, **BOUND),
    "discover-then-rank zcdp": case(DiscoverThenRank, **K, **LOUD, **BOUND, **ZCDP),
    "discover-then-rank light": case(DiscoverThenRank, light, k=6, **SOME, **BOUND),
    "weighted-gaussian": case(WeightedGaussian, **SOME, **BOUND),
    "weighted-gaussian loud": case(WeightedGaussian, **LOUD, **BOUND),
    "weighted-gaussian zcdp": case(WeightedGaussian, **LOUD, **BOUND, **ZCDP),
    "weighted-gaussian wide": case(WeightedGaussian, **WIDE),
    "weighted-gaussian wide zcdp": case(WeightedGaussian, **WIDE, **ZCDP),
    "weighted-gaussian light": case(WeightedGaussian, light, **LOUD, **BOUND),
    "weighted-gaussian-peeling": case(WeightedGaussianPeeling, **K, **LOUD, **BOUND),
    "policy-gaussian": case(PolicyGaussian, **LOUD, **BOUND),
    "policy-greedy": case(PolicyGreedy, sets, **LOUD),
    "policy-greedy published": case(PolicyGreedy, sets, **LOUD, **PUBLISHED),
    "user-peeling": case(UserPeeling, sets, **K, **SOME),
    "user-peeling many": case(UserPeeling, sets, k=40, **SOME),
    "user-peeling private": case(UserPeeling, sets, **K, **LOUD, **BOUND),
    "peeling": case(Peeling, **FIVE_PICKS),
    "peeling zcdp": case(Peeling, **FIVE_PICKS, **ZCDP),
    "peeling published": case(Peeling, **FIVE_PICKS, **PUBLISHED),
    "permute-and-flip": case(PermuteAndFlip, **K, epsilon=1.0),
    "joint": case(Joint, **K, epsilon=1.0),
    "joint-permute-and-flip": case(JointPermuteAndFlip, **K, epsilon=1.0),
    "joint-or-peel": case(JointOrPeel, **CHOICE, threshold=1.0),
    "joint-or-peel whole": case(JointOrPeel, **CHOICE, threshold=100.0),
    "joint-or-peel two costs": case(
        JointOrPeel, k=10, epsilon=1.0, delta=1e-9, threshold=1.0, **ZCDP
    ),
    "set-or-peel": case(SetOrPeel, **CHOICE, threshold=1.0),
    "set-or-peel whole": case(SetOrPeel, **CHOICE, threshold=100.0),
    "joint-or-peel zcdp": case(JointOrPeel, **CHOICE, threshold=1.0, **ZCDP),
    "one-shot-laplace": case(OneShotLaplace, **K, epsilon=1.0, max_items_per_user=2),
    "one-shot-laplace general": case(OneShotLaplace, **K, epsilon=1.0, **GENERAL),
    "one-shot-exponential": case(OneShotExponential, **K, epsilon=1.0),
    "one-shot-exponential general": case(OneShotExponential, **K, epsilon=1.0, **GENERAL),
    "gamma": case(Gamma, **K, epsilon=1.0),
    "limited-domain": case(LimitedDomain, **K, **SOME, **BOUND),
    "limited-domain zcdp": case(LimitedDomain, **K, **SOME, **BOUND, **ZCDP),
    "threshold-top-k": case(ThresholdTopK, in_store, **K, epsilon=1.0),
    "win-count": case(WinCount, wins, **K, epsilon=1.0, max_comparisons_per_user=2),
    "spectral-ranking": case(SpectralRanking, outcomes, **K, epsilon=1.0),
    "noisy-counts": counted(NoisyCounts, Peeling, k=4, **BOUND),
    "noisy-counts many": counted(NoisyCounts, Peeling, k=8),
    "noisy-counts few": counted(NoisyCounts, Peeling, k=4, **ONE_ITEM),
    "noisy-counts weights": counted(
        NoisyCounts, WeightedGaussianPeeling, k=4, **ONE_ITEM, **LOUD, inner=ONE_ITEM
    ),
    "noisy-counts approximate": counted(
        NoisyCounts, LimitedDomain, k=1, **ONE_ITEM, inner=ONE_ITEM
    ),
    "noisy-reach": counted(NoisyReach, UserPeeling, sets, k=4),
    "noisy-others": counted(NoisyOthers, UserPeeling, sets, inner={"k": 3}, max_pairs_per_user=2),
    "noisy-clipped-counts": counted(
        NoisyClippedCounts, WeightedGaussian, sets, **LOUD, inner=BOUND
    ),
    "noisy-clipped-counts zcdp": counted(
        NoisyClippedCounts, WeightedGaussian, sets, **LOUD, inner={**BOUND, **ZCDP}
    ),
    "each-group": in_each_group(LimitedDomain, PrivateCounts, 2, max_items_per_user=2),
    "each-group general": in_each_group(OneShotExponential, PublicCounts, None, **GENERAL),
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


for _name in (
    *("coin", "choice", "choices", "choices_in_turn", "permute_and_flip", "integer", "order"),
    "rounded_down",
):
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
