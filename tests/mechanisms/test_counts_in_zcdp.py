"""Counts beside a selection where costs add up in zCDP: little is added, and all of it told."""

from functools import partial

import pytest

from helpers.audited import broken
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.draws.noise import Laplace
from shortlist.mechanisms import (
    Accounting,
    AdaptiveHittingSet,
    ChosenBound,
    JointOrPeel,
    LimitedDomain,
    Peeling,
)
from shortlist.mechanisms.wrappers import NoisyClippedCounts, NoisyCounts, NoisyReach
from shortlist.privacy import Pure, Ways
from shortlist.privacy.composed import repeated

IN_ZCDP = {
    "public items": (partial(JointOrPeel, k=10, accounting=Accounting.ZCDP), NoisyCounts),
    "picked": (partial(Peeling, k=10, accounting=Accounting.ZCDP), NoisyCounts),
    "in a limited domain": (partial(LimitedDomain, k=10, accounting=Accounting.ZCDP), NoisyCounts),
    "by reach": (
        partial(AdaptiveHittingSet, k=10, accounting=Accounting.ZCDP, max_items_per_user=100),
        NoisyReach,
    ),
}


def in_zcdp(name, share, around=None):
    selects, kind = IN_ZCDP[name]
    return (around or kind).of(
        lambda epsilon, delta: selects(epsilon=epsilon, delta=delta),
        k=10,
        epsilon=1.0,
        delta=1e-6,
        count_share=share,
    )


@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("name", IN_ZCDP)
def test_a_small_share_for_counts_adds_little_zcdp(name, share):
    alone = IN_ZCDP[name][0](epsilon=1.0, delta=1e-6).cost
    mechanism = in_zcdp(name, share)
    assert mechanism.cost.delta(1.0) <= 1e-6
    assert mechanism.cost.rho <= 1.25 * alone.rho
    assert mechanism.cost.lost <= 1e-6


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_what_is_added_up_by_guarantees_has_the_zcdp_of_all_stages(share):
    mechanism = in_zcdp("public items", share)
    assert type(mechanism.cost) is Ways
    by_rho, by_epsilon = mechanism.cost.ways
    assert by_epsilon.delta(1.0) <= 1e-6
    noise, before = mechanism._best.noise, mechanism.selection.cost
    each = 10 / noise.scale**2 / 2 if isinstance(noise, Laplace) else 10 / noise.sd**2 / 2
    assert by_rho.rho == pytest.approx(before.rho + each, rel=0.01)


class ByGuarantees(NoisyCounts):
    """Counts for the epsilon and the delta that are left, whatever else there is."""

    def _ways(self):
        yield from self._by_guarantees()


class PaidByGuarantees(ByGuarantees):
    """Planted: the noise has its part of epsilon, and nothing of zCDP is said to be spent on it."""

    def _beside_guarantee(self, epsilon, delta, by_rho):  # noqa: ARG002
        return super()._beside_guarantee(epsilon, delta, Pure(1e-9))


def rho_is_kept(kind):
    """Whether the audit finds no more zCDP than is claimed, where counts have half of epsilon."""
    selects = partial(JointOrPeel, k=1, accounting=Accounting.ZCDP)
    mechanism = kind.of(
        lambda epsilon, delta: selects(epsilon=epsilon, delta=delta),
        k=1,
        epsilon=2.0,
        delta=0.02,
        count_share=0.5,
    )
    assert type(mechanism.cost) is Ways
    return "rho" not in " ".join(map(str, broken(audit_exactly(mechanism, quick=True))))


def test_noise_that_costs_no_zcdp_is_seen():
    assert rho_is_kept(ByGuarantees)
    assert not rho_is_kept(PaidByGuarantees)


@pytest.mark.parametrize("share", [0.01, 0.03, 0.3])
def test_so_does_a_small_share_for_clipped_counts(share):
    selects = partial(ChosenBound, max_items_per_user=100, accounting=Accounting.ZCDP)
    alone = selects(epsilon=1.0, delta=1e-6).cost
    mechanism = NoisyClippedCounts.of(
        lambda epsilon, delta: selects(epsilon=epsilon, delta=delta),
        epsilon=1.0,
        delta=1e-6,
        count_share=share,
    )
    assert mechanism.cost.delta(1.0) <= 1e-6
    assert mechanism.cost.rho <= 1.05 * alone.rho
    assert mechanism.least_count_sd <= 3.6 / share**0.5


def test_several_groups_cost_as_often_in_both_ways():
    once = in_zcdp("public items", 0.1).cost
    thrice = repeated(once, 3, epsilon=3.0)
    assert thrice.rho == pytest.approx(3 * once.rho)
    assert thrice.delta(3.0) <= (once * 3).delta(3.0) * (1 + 1e-9)
    assert 0 < thrice.delta(1.0) <= 1
