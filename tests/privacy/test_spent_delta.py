"""A delta that was asked for stands in the guarantee where it is spent, and only there."""

import itertools
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.exhaustive import exhaustive
from shortlist.audit.audited_parameters import settings_of
from shortlist.mechanisms import (
    Accounting,
    JointOrPeel,
    LimitedDomain,
    OneShotLaplace,
    Peeling,
    ThresholdTopK,
    UserPeeling,
)
from shortlist.mechanisms.registry import every_mechanism
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.stores import MemoryStore

DELTA = 1e-6
WITH_DELTA = [kind for kind in every_mechanism() if "delta" in kind.fields()]
SMALL = [Peeling, JointOrPeel, ThresholdTopK, UserPeeling, OneShotLaplace]
SMALL += [partial(Peeling, accounting=Accounting.PUBLISHED)]


def is_pure(mechanism):
    """Whether the cost alone, which speaks of every delta, needs none."""
    return mechanism.cost.delta(mechanism.epsilon) == 0


def agrees(mechanism, delta):
    assert mechanism.delta == delta
    assert mechanism.spent_delta == (0 if is_pure(mechanism) else delta)
    assert mechanism.cost.delta(mechanism.epsilon) <= mechanism.spent_delta
    said = any("No use is made of delta" in text for text in mechanism.explain())
    assert said == (delta > 0 and is_pure(mechanism))


@pytest.mark.parametrize("kind", WITH_DELTA, ids=lambda kind: kind.__name__)
def test_what_is_said_is_what_is_spent(kind):
    for mechanism in settings_of(kind, quick=False):
        agrees(mechanism, mechanism.delta)


@pytest.mark.exhaustive
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.2, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 1e-12, DELTA, 1e-2])
@pytest.mark.parametrize("kind", SMALL)
def test_for_every_small_k(kind, delta, epsilon):
    if kind is OneShotLaplace and epsilon > 0.2 and delta > 0:
        pytest.skip("refused")
    spent = []
    longest = [5000] if (delta, epsilon) == (DELTA, 1.0) else []  # which takes its time
    for k in [*range(1, 21), 39, 100, 1000, *longest]:
        mechanism = kind(k=k, epsilon=epsilon, delta=delta)
        agrees(mechanism, delta)
        spent.append(mechanism.spent_delta > 0)
        if not spent[-1]:  # all is as if it had not been asked for
            pure = kind(k=k, epsilon=epsilon)
            assert mechanism.cost == pure.cost
            assert mechanism.parameters() == pure.parameters() | {"delta": delta}
            assert mechanism.explain() == [*pure.explain(), *mechanism.unused]
    # From some k on; at the edge the accountant's rounding decides, which is up to 2 % at 1e-12.
    assert sum(earlier > later for earlier, later in itertools.pairwise(spent)) <= 2
    assert not (spent[0] and delta < 1e-5 * epsilon)  # it is worth 2 sqrt(delta / epsilon)
    assert spent[-1] == (delta > 0)


@pytest.mark.parametrize("k", [1, 5, 6, *exhaustive(2, 50)])
@pytest.mark.parametrize("share", [0.1, *exhaustive(0.5), 0.9])
@pytest.mark.parametrize("kind", [Peeling, JointOrPeel, partial(LimitedDomain, k_bar=60)])
def test_noisy_counts_spend_what_the_selection_leaves(kind, share, k):
    def build(epsilon, delta):
        return kind(k=k, epsilon=epsilon, delta=delta)

    mechanism = NoisyCounts.of(build, k=k, epsilon=1.0, delta=DELTA, count_share=share)
    agrees(mechanism, DELTA)


def test_an_unused_delta_of_the_selection_is_all_for_the_counts():
    build = partial(JointOrPeel, k=2)
    mechanism = NoisyCounts.of(
        lambda epsilon, delta: build(epsilon=epsilon, delta=delta),
        k=2,
        epsilon=1.0,
        delta=DELTA,
        count_share=0.5,
    )
    assert mechanism.selection.delta == DELTA / 2
    assert mechanism.selection.spent_delta == 0
    assert mechanism._left[1] == DELTA


ROWS = pl.DataFrame({"user": [1, 2, 3, 4] * 20, "item": [f"i{n}" for n in range(20)] * 4})


def sources():
    items = sorted(set(ROWS["item"]))
    held = ROWS.group_by("item").len("held")
    store = MemoryStore(items, range(20, 0, -1))
    store.prepare()
    pairs = sl.pairs(ROWS, user="user", item="item", public_items=items)
    counts = sl.counts(held, item="item", count="held", public_items=sl.IN_TABLE)
    return [pairs.top_k, pairs.hitting_set, counts.top_k, sl.store(store).top_k]


FROM = [4, 2, 4, 4]  # items on, a delta buys more than 1 %, or than exponential noise's edge


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("k", [1, 2, 3, 6, 20])
def test_a_release_says_what_was_spent(number, k):
    spent = DELTA if k >= FROM[number] else 0.0
    release = sources()[number](k, epsilon=1.0, delta=DELTA)
    guarantee = release.guarantee
    assert release.mechanism.delta == DELTA
    assert guarantee.delta == spent
    assert (guarantee.cost.delta(1.0) == 0) == (spent == 0)
    assert release.to_dict()["guarantee"]["delta"] == spent
    assert f"epsilon=1.0, delta={spent!r}" in " ".join(str(release).split())
    assert f"delta={spent!r}>" in repr(release)
