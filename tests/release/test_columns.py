"""Columns follow from the plan: the same whatever was drawn, and in every format."""

import csv
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.releases import counted, release
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace, Normal
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import (
    Accounting,
    AdaptiveTopK,
    DiscoverThenRank,
    LimitedDomain,
    OneShotLaplace,
    Peeling,
    PolicyGreedy,
    WeightedGaussianPeeling,
)
from shortlist.mechanisms.wrappers import NoisyCounts
from shortlist.release import Scores
from shortlist.release.report import report

PRICE = {"epsilon": 1.0, "delta": 1e-6}
ADAPTIVE = {**PRICE, "mechanism": AdaptiveTopK}
COUNTED = ["count", "count_low", "count_high", "rank_low", "rank_high"]
ROWS = pl.Schema({"user": pl.String, "place": pl.String, "title": pl.String})


def table(sizes):
    """A title of each size, of which every user holds one."""
    rows = [
        (f"{user} of {i}", "ab"[user % 2], f"title {i}")
        for i, n in enumerate(sizes)
        for user in range(n)
    ]
    return pl.DataFrame(rows, schema=ROWS, orient="row")


# Nothing; what is picked by its count; what is found in rounds that stop early; in all of them.
FEW = table((55, 30, 5))
DRAWN = [(table(()), 1), (table((900, 880, 20, 3)), 1), (FEW, 0), (FEW, 2)]


def rows(held, **given):
    return sl.pairs(held, user="user", item="title", **given)


def histogram(held, **given):
    by = ("place", "title") if "by" in given else ("title",)
    readers = held.group_by(by).agg(readers=pl.col("user").n_unique().cast(pl.Int64))
    return sl.counts(readers, item="title", count="readers", **given)


def top(k=1, **given):
    """A top-k of rows."""
    return lambda held, bits: rows(held).top_k(k, **PRICE, random=bits, **given)


def of_counts(k=1, *, by=None, **given):
    source = partial(histogram, by=by, max_groups_per_user=1) if by else histogram
    return lambda held, bits: source(held).top_k(k, **PRICE, random=bits, **given)


def domain(**given):
    return lambda held, bits: rows(held).domain(**PRICE, random=bits, **given)


ASKED = {
    "top-k": (top(), ["rank", "title"]),
    "top-k, adaptive": (top(mechanism=AdaptiveTopK), ["rank", "title"]),
    "top-k, counts": (
        top(noisy_counts=True),
        ["rank", "title", *COUNTED],
    ),
    "top-k, another share": (
        top(count_share=0.4),
        ["rank", "title", *COUNTED],
    ),
    "top-k of two": (top(2), ["rank", "title"]),
    "discovered, then ranked": (top(mechanism=DiscoverThenRank), ["rank", "title", "weight"]),
    "published": (
        top(mechanism=WeightedGaussianPeeling, noisy_counts=True),
        ["rank", "title", "clipped_count", "count_low"],
    ),
    "in groups": (top(by="place"), ["place", "rank", "title", "clipped_count"]),
    "in groups, counts": (
        top(by="place", noisy_counts=True),
        ["place", "rank", "title", "clipped_count"],
    ),
    "of counts": (of_counts(), ["rank", "title"]),
    "of counts, counts": (
        of_counts(noisy_counts=True, mechanism=LimitedDomain),
        ["rank", "title", *COUNTED],
    ),
    "of counts in groups, counts": (
        of_counts(by="place", noisy_counts=True),
        ["place", "rank", "title", *COUNTED],
    ),
    "domain": (domain(), ["rank", "title", "weight"]),
    "domain, counts": (domain(noisy_counts=True), ["rank", "title", "clipped_count", "count_low"]),
    "domain of units": (domain(mechanism=PolicyGreedy), ["rank", "title", "weight"]),
    "domain without weights": (
        domain(mechanism=partial(PolicyGreedy, accounting=Accounting.PUBLISHED)),
        ["rank", "title"],
    ),
    "domain in groups": (domain(by="place"), ["place", "rank", "title", "weight"]),
    "hitting set, counts": (
        lambda held, bits: rows(held).hitting_set(2, noisy_counts=True, **PRICE, random=bits),
        ["rank", "title", "reached", "reached_low", "reached_high"],
    ),
    "hitting set": (
        lambda held, bits: rows(held).hitting_set(2, **PRICE, random=bits),
        ["rank", "title", "weight"],
    ),
}
TYPES = {
    "rank": pl.UInt32,
    "count": pl.Int64,
    "count_low": pl.Int64,
    "count_high": pl.Int64,
    "rank_low": pl.UInt32,
    **dict.fromkeys(("reached", "reached_low", "reached_high"), pl.Int64),
    "rank_high": pl.UInt32,
    "clipped_count": pl.Float64,
    "weight": pl.Float64,
    "place": pl.String,
    "title": pl.String,
}


def shapes(answer, folder):
    """The columns of a release in every format, with their types where it has any."""
    answer.save(folder / "x.parquet", overwrite=True)
    whole = answer.to_dict()
    page = report(answer)
    return {
        "frame": answer.to_polars().schema,
        "pandas": list(answer.to_pandas().columns),
        "arrow": pl.DataFrame(answer).schema,
        "Parquet": pl.read_parquet_schema(folder / "x.parquet"),
        "CSV": next(csv.reader(answer.to_csv().split("\n"))),
        "JSON": whole["columns"] | {"scores": whole["scores"] is not None},
        "rows": list(whole["items"][0]) if whole["items"] else None,
        "text": str(answer).split("\n")[2].split(),
        "Markdown": answer.to_markdown().split("\n")[2],
        "page": [part.split("</bdi>")[0] for part in page.split("<th ")[1:]] or None,
        "explained": {line for line in answer.explain().split("\n") if line.endswith("?")},
    }


def same(one, other):
    """But for what an empty list does not show."""
    if None in (one["rows"], other["rows"]):
        keep = set(one) - {"rows", "page", "explained"}
        return {name: one[name] for name in keep} == {name: other[name] for name in keep}
    return {**one, "explained": 0} == {**other, "explained": 0}


@pytest.mark.parametrize("asked", ASKED)
def test_every_answer_to_a_plan_has_the_same_columns_in_every_format(asked, tmp_path):
    ask, columns = ASKED[asked]
    first = None
    for held, seed in DRAWN:
        answer = ask(held, SeededBits(seed))
        found = shapes(answer, tmp_path)
        assert found["frame"] == pl.Schema({name: TYPES[name] for name in columns})
        assert found["CSV"] == [name for name in columns if name != "weight"]
        for text in (str(answer), answer.to_markdown(), report(answer).split("<section id")[1]):
            assert "weight</" not in text
            assert "weight |" not in text
        assert first is None or same(first, found)
        first = found if first is None or first["rows"] is None else first


def test_both_ways_of_adaptive_top_k_are_taken_on_these_tables():
    """Or else the test above would show nothing."""
    ways = []
    for held, seed in DRAWN:
        plan, draws = rows(held).plan(sl.TopK(1), **ADAPTIVE), ExactDraws(SeededBits(seed))
        with plan.engine.show(plan.mechanism.wants, draws) as shown:
            ways.append(plan.mechanism.select(shown.evidence, draws).scores is None)
    assert set(ways) == {True, False}


def test_a_column_that_shows_the_way_is_noticed(monkeypatch, tmp_path):
    """The planted mistake: the scores that one way has for nothing are released with it."""
    monkeypatch.setattr(AdaptiveTopK, "score_unit", "noisy clipped count")
    ask, _ = ASKED["top-k, adaptive"]
    found = [shapes(ask(held, SeededBits(seed)), tmp_path) for held, seed in DRAWN]
    assert not all(same(found[0], other) for other in found)


@pytest.mark.parametrize("largest", [2**53, 2**62 - 1, 2**62])
def test_counts_that_fill_64_bits_have_the_same_columns(largest, tmp_path):
    held = pl.DataFrame({"title": ["a", "b"], "n": [largest, largest - 1]})
    books = sl.counts(held, item="title", count="n", public_items=sl.IN_TABLE)
    answer = books.top_k(2, epsilon=1.0, noisy_counts=True, random=SeededBits(3))
    assert {name: TYPES[name] for name in ("title", *COUNTED)}.items() <= dict(
        answer.to_polars().schema
    ).items()
    answer.save(tmp_path / "x.json")
    assert sl.load(tmp_path / "x.json").scores == answer.scores


@pytest.mark.parametrize("n_items", [2, 50, 4000])
def test_one_shot_laplace_has_counts_or_none_for_any_number_of_items(n_items):
    held = pl.DataFrame({"title": [f"{i}" for i in range(n_items)], "n": range(n_items)})

    def ask(**given):
        source = sl.counts(
            held, item="title", count="n", public_items=sl.IN_TABLE, max_items_per_user=1
        )
        return source.top_k(2, mechanism=OneShotLaplace, random=SeededBits(1), **given)

    pure = ask(epsilon=1.0).to_polars()
    assert pure.schema == {"rank": pl.UInt32, "title": pl.String, "count": pl.Int64}
    with_delta = ask(epsilon=0.1, delta=0.01)
    made = with_delta.mechanism
    assert with_delta.to_polars().columns == (
        ["rank", "title"] if made._uses_delta else ["rank", "title", "count"]
    )


# What a count says


def test_an_interval_has_whole_ends_and_none_below_nobody():
    frame = counted(
        ["a", "b", "c"], scores=Scores([100.0, 5.0, -30.0], unit="noisy count", noise_sd=4.88)
    ).to_polars()
    assert frame["count"].to_list() == [100, 5, -30]
    assert frame["count_low"].to_list() == [90, 0, 0]
    assert frame["count_high"].to_list() == [110, 15, 0]


def test_of_a_clipped_count_follows_the_least_number_of_users():
    frame = counted(["a", "b"], unit="noisy clipped count").to_polars()
    assert frame.columns == ["rank", "title", "clipped_count", "count_low"]
    # Each less 10, which is 1.96 · 4.88 and a half: 90 and 89.75.
    assert frame["count_low"].to_list() == [90, 90]


def test_noise_that_chose_the_items_gives_no_interval():
    assert release(["a"], unit="noisy count").to_polars().columns == ["rank", "title", "count"]


def test_counts_that_older_versions_did_not_round_stay_as_they_are(tmp_path):
    held = counted(["a"], scores=Scores([99.5], unit="noisy count", noise_sd=2.0))
    assert held.to_polars()["count"].to_list() == [99.5]
    held.save(tmp_path / "x.json")
    assert sl.load(tmp_path / "x.json") == held


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_numbers_of_users_come_back_from_a_file(tmp_path, suffix):
    held = counted(["a", "b"])
    held.save(tmp_path / f"x.{suffix}")
    loaded = sl.load(tmp_path / f"x.{suffix}")
    assert loaded == held
    assert loaded.to_polars().schema == held.to_polars().schema


def test_a_count_in_a_file_is_a_whole_number(tmp_path):
    whole = counted(["a"]).to_dict()
    assert json.loads(json.dumps(whole))["items"][0]["count"] == 100
    whole["items"][0]["count"] = 100.5
    (tmp_path / "x.json").write_text(json.dumps(whole))
    with pytest.raises(sl.InputError, match="cannot load"):
        sl.load(tmp_path / "x.json")


# How often an interval holds

RUNS = 4000


def held_in(noise, low, high, *, wrong=1.0, seed=7, unit="noisy count"):
    """How often the interval holds 50 users, of so many counts in such noise."""
    name = "sd" if isinstance(noise, Normal) else "scale"
    drawn = replace(noise, **{name: getattr(noise, name) * wrong})
    order = Order(np.full(RUNS, 50), [drawn], unit=1.0, digits=0)
    values = ExactDraws(SeededBits(seed)).order(order).by_position()
    scores = Scores(values.tolist(), unit=unit, noise_sd=noise.rounded_sd)
    far = scores.reach(type(noise).__name__)
    return np.mean([a <= 50 <= b for a, b in zip(low(scores, far), high(scores, far), strict=True)])


def lows(scores, far):
    return scores.users(beyond=-far)


def highs(scores, far):
    return scores.users(beyond=far)


@pytest.mark.parametrize(
    "noise", [Normal(0.3), Normal(1.0), Normal(7.3), Laplace(0.4), Laplace(2.0), Laplace(9.0)]
)
def test_an_interval_holds_the_number_of_users_as_often_as_it_says(noise):
    often, spread = held_in(noise, lows, highs), math.sqrt(0.95 * 0.05 / RUNS)
    assert often > 0.95 - 4 * spread
    if noise.rounded_sd > 5:  # what rounding adds is little there, so that it holds no more often
        assert often < 0.96 + 4 * spread
    assert held_in(noise, lows, highs, wrong=1.3) < often or noise.rounded_sd < 0.5


@pytest.mark.parametrize("noise", [Normal(0.4), Normal(1.3), Laplace(0.3), Laplace(9.0)])
def test_the_lower_end_of_a_clipped_count_holds_where_it_is_rounded_to_a_whole_number(noise):
    def nothing_above(scores, _):
        return [math.inf] * len(scores)

    often = held_in(noise, lows, nothing_above, unit="noisy clipped count")
    assert often > 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.parametrize("noise", [Normal(7.3), Laplace(9.0)])
def test_noise_that_is_more_than_stated_is_noticed(noise):
    spread = math.sqrt(0.95 * 0.05 / RUNS)
    assert held_in(noise, lows, highs, wrong=1.3) < 0.95 - 4 * spread


class WrongSigma(NoisyCounts):
    """Counts in 1.3 times the noise that is stated."""

    def _noisy(self, counts, draws, _unit=1.0):
        noise = self._best.noise
        name = "sd" if isinstance(noise, Normal) else "scale"
        more = replace(noise, **{name: 1.3 * getattr(noise, name)})
        shared = self._best.shared and Normal(1.3 * self._best.shared.sd)
        told = Order(counts, [more], shared=shared, unit=1.0, digits=0)
        return draws.order(told).by_position()


def coverage(kind, *, runs=RUNS):
    """How often the intervals of a real answer hold the numbers of users, an item in each run."""
    truth = np.array([40, 30, 2])
    mechanism = kind.of(
        lambda epsilon, _: Peeling(k=2, epsilon=epsilon),
        epsilon=2.0,
        delta=0.01,
        count_share=0.5,
        k=2,
        max_items_per_user=None,
    )
    evidence, draws = PublicCounts(truth), ExactDraws(SeededBits(11))
    selections = [mechanism.select(evidence, draws) for _ in range(runs)]
    noisy = [selection.scores[-1] for selection in selections]  # of the last: others are close
    scores = Scores(noisy, unit="noisy count", noise_sd=mechanism.count_sd)
    far = scores.reach(mechanism.count_noise)
    held = truth[[selection.positions[-1] for selection in selections]]
    return np.mean((lows(scores, far) <= held) & (held <= highs(scores, far)))


def test_the_intervals_of_real_answers_hold_as_often_as_they_say():
    spread = math.sqrt(0.95 * 0.05 / RUNS)
    assert coverage(NoisyCounts) > 0.95 - 4 * spread
    assert coverage(WrongSigma, runs=RUNS // 5) < 0.95 - 4 * math.sqrt(5) * spread
