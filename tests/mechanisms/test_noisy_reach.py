"""Noisy reach: users reached first are counted, once each; mistakes; the interval of the sum."""

import math

import numpy as np
import pytest

import shortlist as sl
from helpers.hitting import contributions
from helpers.oracles import DELTA, EPSILON, ORACLES, with_reach
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import AdaptiveHittingSet, Peeling, UserPeeling
from shortlist.mechanisms.wrappers import NoisyReach
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.mechanisms.wrappers.noisy_reach import _reached_first
from shortlist.questions import REACH_SHARE, HittingSet
from shortlist.release import Scores

ORACLE = ORACLES[NoisyReach]
PRICE = {"epsilon": 2.0, "delta": 1e-6}


def test_each_user_is_counted_once_at_the_first_item_held():
    held = [{0, 1, 2}, {1, 2}, {2}, {3}, set(), {0}]
    order = np.array([2, 1, 0, 3])
    first = _reached_first(contributions(held, 4), order)
    assert first.tolist() == [3, 0, 1, 1]
    assert first.sum() == sum(bool(items) for items in held)


class OfAllHolders(NoisyReach):
    """Each item with all who hold it: a user who holds several changes several numbers."""

    def select(self, evidence, draws):
        selection = self.selection.select(evidence, draws)
        scores = self._noisy(evidence.recount().counts[selection.positions], draws)
        return selection._replace(scores=scores, noise_sd=self.count_sd)


class Loud(NoisyReach):
    """1.4 times the noise that is stated."""

    def _noisy(self, counts, draws):
        return counts + np.round(1.4 * (super()._noisy(counts, draws) - counts))


def test_counts_of_all_holders_break_the_claim():
    right, wrong = (with_reach(kind, k=2) for kind in (NoisyReach, OfAllHolders))
    assert ORACLE.excess(right, right.cost) < 1e-9
    assert ORACLE.breaks(wrong, wrong.cost, by=0.001)
    assert ORACLE.differs(wrong, right, by=0.01)


def test_the_noise_does_not_grow_with_k():
    def sd(k):
        made = NoisyReach.of(
            lambda epsilon, delta: UserPeeling(k=k, epsilon=epsilon, delta=delta),
            k=k,
            count_share=0.1,
            **PRICE,
        )
        assert made.count_shared_sd is None
        return made.count_sd

    assert max(sd(k) for k in (2, 20, 200)) < 1.5 * min(sd(k) for k in (2, 20, 200))


def test_other_selections_are_refused():
    given = {"k": 2, "epsilon": EPSILON, "delta": DELTA, "count_share": 0.5}
    peeling = Peeling(k=2, epsilon=1.0)
    refusal(lambda: NoisyReach(selection=peeling, **given), "Peeling selects no hitting set")
    users = UserPeeling(k=2, epsilon=1.0)
    refusal(lambda: NoisyReach(selection=users, max_items_per_user=3, **given), "omit it")
    assert issubclass(NoisyReach, NoisyCounts)


# As it is asked for


def source(**given):
    held = [(user, f"title {i}") for i, n in enumerate((400, 300, 200)) for user in range(n)]
    held += [(user, "apart") for user in range(1000, 1250)]
    users, titles = zip(*held, strict=True)
    return sl.pairs({"user": [*users], "title": [*titles]}, user="user", item="title", **given)


@pytest.mark.parametrize("public", [None, ["title 0", "title 1", "apart", "unheard of"]])
def test_it_says_how_many_users_are_reached(public):
    answer = source(public_items=public).hitting_set(2, noisy_counts=True, **PRICE)
    assert sorted(answer.items) == ["apart", "title 0"]
    assert answer.to_polars().columns == ["rank", "title", "reached", "reached_low", "reached_high"]
    users, least, most = answer.reached
    assert users == sum(answer.to_polars()["reached"])
    assert least <= users <= most
    assert abs(users - 650) < 6 * math.sqrt(2) * answer.scores.noise_sd
    for text in (str(answer), answer.explain(), answer.to_markdown()):
        assert f"{users:,}" in text
        assert f"{least:,} to {most:,}" in " ".join(text.split())


def test_by_default_it_takes_a_small_share_and_is_not_asked_for():
    asked = source().plan(HittingSet(2, noisy_counts=True), **PRICE).mechanism
    assert (type(asked), asked.count_share) == (NoisyReach, REACH_SHARE)
    assert type(asked.selection) is AdaptiveHittingSet
    bare = source().hitting_set(2, **PRICE)
    assert bare.reached is None
    assert "add noisy_counts=True" in " ".join(str(bare).split())


def test_a_top_k_has_no_reach():
    assert source().top_k(2, noisy_counts=True, **PRICE).reached is None


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_it_comes_back_from_a_file(tmp_path, suffix):
    answer = source().hitting_set(2, noisy_counts=True, **PRICE)
    answer.save(tmp_path / f"x.{suffix}")
    loaded = sl.load(tmp_path / f"x.{suffix}")
    assert loaded == answer
    assert loaded.reached == answer.reached
    assert loaded.explain() == answer.explain()


RUNS = 4000


def often(kind, count_share, runs=RUNS):
    """How often the interval of the sum holds the number of users reached."""
    mechanism = kind.of(
        lambda epsilon, delta: UserPeeling(k=4, epsilon=epsilon, delta=delta),
        epsilon=2.0,
        delta=1e-4,
        count_share=count_share,
        k=4,
    )
    answers = ExactDraws(SeededBits(5))
    truth = np.array([40, 20, 9, 0])
    held = 0
    for _ in range(runs):
        scores = Scores(
            mechanism._noisy(truth, answers).tolist(),
            unit=mechanism.score_unit,
            noise_sd=mechanism.count_sd,
        )
        _, least, most = scores.together(mechanism.count_noise)
        held += least <= truth.sum() <= most
    return held / runs, mechanism.count_noise


@pytest.mark.parametrize(("share", "law"), [(0.02, "Normal"), (0.5, "Laplace")])
def test_the_interval_of_the_sum_holds_as_often_as_it_says(share, law):
    found, noise = often(NoisyReach, share)
    assert noise == law
    assert found > 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)
    assert found < 0.985
    assert often(Loud, share, RUNS // 4)[0] < 0.95 - 8 * math.sqrt(0.95 * 0.05 / RUNS)
