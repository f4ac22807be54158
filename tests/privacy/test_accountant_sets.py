"""Items that one user alone may hold: both directions, every (t, s), closed forms, exact laws."""

import numpy as np
import pytest

from helpers import accountant_twins as twins
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    GaussianStage,
    ItemsByThreshold,
    Threshold,
)
from shortlist.privacy.accountant._value_functions import worst
from shortlist.privacy.accountant.gaussian_threshold import (
    GaussianThreshold,
    least_noise,
    noisy_weights,
)
from shortlist.privacy.accountant.items_of_one_user import Cases

RELEASES = [
    (1.0, GaussianThreshold(4.2247, 23.81), 8),
    (1.0, GaussianThreshold(3.0, 5.0), 6),
    (0.1, GaussianThreshold(2.0, 3.0), 5),
    (0.001, GaussianThreshold(38.0, 100.0), 7),
    (3.0, GaussianThreshold(0.7, 1.5), 3),
    (0.5, GaussianThreshold(3.7306, 16.9), 1),
]


@pytest.mark.parametrize(("epsilon", "release", "bound"), RELEASES)
def test_noisy_weights_alone_have_their_closed_form(epsilon, release, bound):
    truth = twins.weights_delta(epsilon, *release, bound)
    delta = noisy_weights(release, bound).delta(epsilon)
    assert truth * (1 - 1e-12) <= delta <= truth * (1 + 3e-5)


def test_check_values():
    assert least_noise(epsilon=1.0, delta=1e-6, bound=100) == pytest.approx(
        (4.225, 23.81), rel=1e-3
    )
    assert least_noise(epsilon=0.1, delta=1e-5, bound=100).threshold <= 160.0
    assert least_noise(epsilon=1.0, delta=1e-5, bound=1).threshold <= 16.93


@pytest.mark.parametrize("by_policy", [False, True])
@pytest.mark.parametrize(
    ("epsilon", "delta", "bound"),
    [
        (1.0, 1e-6, 100),
        (0.1, 1e-5, 1),
        (3.0, 1e-20, 10),
        (0.001, 0.01, 10),
        (1.0, 0.3, 10),
        (100.0, 1e-9, 3),
    ],
)
def test_the_least_noise_meets_the_guarantee_and_never_passes_it(epsilon, delta, bound, by_policy):
    release = least_noise(epsilon=epsilon, delta=delta, bound=bound, by_policy=by_policy)
    whole = noisy_weights(release, bound, by_policy=by_policy)
    assert delta * 0.995 <= whole.delta(epsilon) <= delta
    lower = release._replace(threshold=release.threshold - 0.01 * release.sigma)
    assert noisy_weights(lower, bound, by_policy=by_policy).delta(epsilon) > delta


class AlwaysNamed(ItemsByThreshold):
    """As likely to be named, however many items one user alone holds: the worst holds one."""

    def lost(self, items, weight):
        return np.full(np.broadcast(items, weight).shape, 1e-6)


def test_users_between_the_ends_may_be_the_worst():
    stages = (GaussianStage(1 / 4.3, on_weights=True),)
    whole = Composition(stages, AlwaysNamed((Threshold(4.3, 24.0),), 50))
    lost = 1e-6
    inner = lost + (1 - lost) * float(twins.curve(1.0 - np.log1p(-lost), 0.98**0.5 / 4.3).mid())
    ends = max(lost, float(twins.curve(1.0, 1 / 4.3).mid()))
    assert whole.delta(1.0) == pytest.approx(inner, rel=1e-6)
    assert inner > 1.5 * ends


@pytest.mark.parametrize("seed", range(6))
def test_exact_laws_of_small_tables_are_covered(seed):
    """The set alone, of three items: what others hold is shared, the rest is of one user alone."""
    random = np.random.default_rng(seed)
    release, bound = GaussianThreshold(random.uniform(0.4, 2), random.uniform(0.5, 3)), 3
    composition = noisy_weights(release, bound)

    def law(weights):
        chances = [
            float(twins.tail((release.threshold - h) / twins.arb(release.sigma))) if h > 0 else 0.0
            for h in weights
        ]
        return twins.named_sets(chances)

    for _ in range(10):
        others = np.where(random.random(3) < 0.5, random.uniform(0.3, 4, 3), 0.0)
        held = random.random(3) < 0.7
        size = max(held.sum(), 1)
        without, there = law(others), law(others + held / np.sqrt(size))
        for epsilon in (0.2, 1.0):
            delta = composition.delta(epsilon) * (1 + 1e-9)
            assert twins.hockey_stick(there, without, epsilon) <= delta
            assert twins.hockey_stick(without, there, epsilon) <= delta


def test_the_set_alone_attains_the_threshold():
    release = GaussianThreshold(2.0, 9.0)
    there = twins.named_sets([float(twins.tail((9.0 - 1) / twins.arb(2.0)))])
    delta = noisy_weights(release, 1).delta(5.0)
    assert twins.hockey_stick(there, {(0,): 1.0}, 5.0) == pytest.approx(delta, rel=1e-9)


def discover_then_rank(threshold_sigma=None, bound=100):
    thresholds = tuple(Threshold(s, t) for s, t in threshold_sigma or [(7.72, 44.4), (4.23, 24.4)])
    first, second = GaussianStage(0.129, on_weights=True), GaussianStage(0.198, on_weights=True)
    branch = EitherStage((BoundedRange(0.0884, 20),), (second,))
    return Composition((first, branch), ItemsByThreshold(thresholds, bound))


def test_a_whole_mechanism_is_no_less_than_each_of_its_users():
    whole = discover_then_rank()
    delta, lower = whole.delta(1.0), whole.least_delta(1.0)
    assert lower <= delta <= lower * 1.001
    shared = Composition(whole.stages).delta(1.0)
    lost = float(whole.own_items.cases.lost[-1])
    picks = Composition((BoundedRange(0.0884, 20),)).delta(1.0)
    assert delta >= shared * (1 - 1e-9)
    assert delta >= lost + picks * (1 - lost)
    assert whole.own_items_delta(1.0) <= delta


def test_delta_grows_with_the_bound_and_falls_with_thresholds():
    deltas = [
        discover_then_rank(bound=bound).own_items_delta(1.0) for bound in (1, 10, 100, 10_000)
    ]
    assert deltas == sorted(deltas)
    assert deltas[0] < deltas[-1]
    low = discover_then_rank([(7.72, 43.0), (4.23, 24.0)])
    assert low.delta(1.0) > discover_then_rank().delta(1.0)
    assert discover_then_rank([(7.72, 44.4)]).own_items_delta(1.0) < deltas[2]


def test_blocks_of_large_bounds_cover_what_is_in_them():
    thresholds, bound = (Threshold(3.0, 12.0),), 400
    shared, lost = ItemsByThreshold(thresholds, bound).cases
    s = np.array([1, 50, 99, 100, 101, 150, 333, 399, 400])
    for size in s.tolist():
        for t in sorted({1, 2, size // 3, size // 2, size - 1, size} - {0}):
            if t > size:
                continue
            exact = 1 - (1 - twins.tail((12 - 1 / twins.arb(size).sqrt()) / 3)) ** t
            covering = lost[shared >= (1 - t / size) * (1 - 1e-12)]
            assert covering.max() >= float(exact.mid()) * (1 - 1e-12)


def test_policies_may_do_what_equal_weights_do_and_more():
    thresholds = (Threshold(4.0, 20.0),)
    equal, policy = (ItemsByThreshold(thresholds, 30, by_policy=by).cases for by in (False, True))
    for shared, lost in zip(*equal, strict=True):
        assert policy.lost[policy.shared >= shared * (1 - 1e-12)].max() >= lost * (1 - 1e-12)


def test_the_worst_case_is_found_wherever_it_is():
    shared, lost = np.linspace(1, 0, 1000), np.linspace(0, 1, 1000)
    for place in (0.0, 0.3, 0.999):

        def value(share, gone, place=place):  # grows with both
            return share + gone + min(share - place, 0) + min(gone - (1 - place), 0) + 1e-3 * gone

        truth = max(value(*case) for case in zip(shared, lost, strict=True))
        found = worst(Cases(shared, lost), value)
        assert truth <= found <= truth * 1.0001
