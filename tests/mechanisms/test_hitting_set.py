"""The hitting set of a table, from its rows to the release."""

import json
import re
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers import refusals
from helpers.forms import FORMS, counting, everything_shown, said
from helpers.refusals import MARKER
from shortlist.bits import SeededBits
from shortlist.mechanisms import (
    Accounting,
    AdaptiveHittingSet,
    DiscoverThenRank,
    Peeling,
    UserPeeling,
    WeightedGaussian,
)

ASK = {"epsilon": 5.0, "delta": 1e-6}
PUBLIC = ["b", "a", "nobody", "c"]


def sets(*groups):
    """So many users who hold these items, for each group."""
    rows, user = [], 0
    for people, items in groups:
        for _ in range(people):
            rows += [(str(user), item) for item in items]
            user += 1
    return pl.DataFrame(rows, schema=["who", "what"], orient="row")


NESTED = sets((300, "ab"), (250, "b"), (200, "c"), (150, "ac"), (3, "abc"), (100, "d"))


def ask(frame, k=3, public=None, **more):
    source = sl.pairs(frame, user="who", item="what", public_items=public)
    return source.hitting_set(k, **{**ASK, "random": SeededBits(1), **more})


@pytest.mark.parametrize("form", FORMS)
def test_items_are_picked_for_whom_they_reach_anew(form, tmp_path):
    # b reaches 553, then c 350 more than a does, then d 100, and a nobody.
    data = FORMS[form](NESTED, tmp_path)
    assert ask(data).items == ["b", "c", "d"]
    assert ask(data, k=2, public=PUBLIC, delta=0.0).items == ["b", "c"]


def test_the_mechanisms_and_their_guarantees():
    release = ask(NESTED)
    assert isinstance(release.mechanism, AdaptiveHittingSet)
    assert (release.question, release.scores.unit) == ("hitting-set", "noisy weight")
    assert release.guarantee.cost.epsilon(1e-6) <= 5.0
    assert release.guarantee.protects == 'all rows of any one "who"'
    known = ask(NESTED, public=PUBLIC, delta=0.0)
    assert isinstance(known.mechanism, UserPeeling)
    assert known.scores is None
    assert known.guarantee.cost.delta(5.0) == 0
    assert "the list of public items does not depend on this table" in known.guarantee.assumes
    for accounting in Accounting:
        paper = ask(NESTED, mechanism=partial(UserPeeling, accounting=accounting))
        assert paper.items == ["b", "c", "d"]
        assert paper.mechanism.max_items_per_user == 100


@pytest.mark.parametrize("mechanism", [None, UserPeeling])
def test_fewer_come_out_where_fewer_can_be_named(mechanism):
    release = ask(NESTED, k=9, mechanism=mechanism)
    assert sorted(release.items) == ["a", "b", "c", "d"]
    rare = sets((1, "a"), (1, "b"))
    assert ask(rare, k=9, mechanism=mechanism).items == []


@pytest.mark.parametrize("public", [None, [*map(str, range(30))]])
def test_users_of_every_kind(public):
    everybody = sets((400, ["7"]), (1, map(str, range(30))))
    nothing = pl.DataFrame({"who": ["x", None, "y"], "what": [None, "7", None]})
    release = ask(pl.concat([everybody, nothing]), k=5, public=public)
    assert release.items[0] == "7"
    assert len(release) == (5 if public else 1)


def test_nobody_reads_before_the_question_is_sound():
    frame, reads = counting(NESTED)
    source = sl.pairs(frame, user="who", item="what")
    known = sl.pairs(frame, user="who", item="what", public_items=PUBLIC)
    refused = refusals.refusal
    refused(lambda: source.hitting_set(0, **ASK), "k=0", "1 or more")
    refused(lambda: source.hitting_set(None, **ASK), "k=None")
    refused(lambda: source.hitting_set(2, epsilon=1.0), "delta is needed", "private")
    refused(lambda: source.hitting_set(2, epsilon=0, delta=1e-6), "epsilon=0")
    refused(lambda: known.hitting_set(5, epsilon=1.0), "k=5", "only 4 public items")
    for mechanism in (DiscoverThenRank, Peeling):
        wrong = partial(source.hitting_set, 2, **ASK, mechanism=mechanism)
        refused(wrong, "it answers top_k, not hitting_set")
    wrong = partial(source.hitting_set, 2, **ASK, mechanism=WeightedGaussian)
    refused(wrong, "it answers domain, not hitting_set")
    refused(lambda: source.top_k(2, **ASK, mechanism=UserPeeling), "it answers hitting_set")
    refused(lambda: source.domain(**ASK, mechanism=UserPeeling), "it answers hitting_set")
    wrong = partial(known.hitting_set, 2, **ASK, mechanism=AdaptiveHittingSet)
    refused(wrong, "discovers private items, and these are public", "omit mechanism")
    assert not reads
    source.hitting_set(2, **ASK)
    source.hitting_set(2, **ASK)
    assert len(reads) == 1


def test_a_release_holds_nothing_of_what_it_does_not_name():
    rare = sets(*((1, [f"{MARKER} {i}"]) for i in range(4099)))
    frame = pl.concat([NESTED, rare.with_columns(who="lonely " + pl.col("who"))])
    release = ask(frame, k=3)
    assert release.items == ["b", "c", "d"]
    for text in everything_shown(release):
        assert MARKER not in text
        found = {n.replace(",", "") for n in re.findall(r"\d[\d,]*", text)}
        assert not {"4099", str(frame.height), "1003", "5102"} & found


def test_a_failure_tells_nothing(monkeypatch):
    def fail(*_):
        raise MemoryError(MARKER)

    monkeypatch.setattr("shortlist.kernels.reach", fail)
    with pytest.raises(MemoryError) as caught:
        ask(NESTED)
    assert not any(MARKER in text for text in said(caught.value))


def test_the_order_of_rows_changes_nothing_that_is_certain():
    shuffled = NESTED.sample(fraction=1.0, shuffle=True, seed=3)
    assert ask(shuffled, epsilon=50.0).items == ask(NESTED, epsilon=50.0).items
    release = json.loads(ask(shuffled).to_json())
    assert [row["what"] for row in release["items"]] == ["b", "c", "d"]


def test_it_reaches_about_as_many_as_the_best_items_do():
    rng = np.random.default_rng(5)
    items = np.minimum((1 / rng.random(60_000)).astype(int), 4000)
    frame = pl.DataFrame({"who": rng.integers(0, 20_000, 60_000), "what": items}).unique()
    reached = frame.filter(pl.col("what").is_in(ask(frame, k=20, epsilon=1.0).items))
    best = frame.group_by("what").len().top_k(20, by="len")["what"]
    likely = frame.filter(pl.col("what").is_in(best.implode()))
    assert reached["who"].n_unique() > 0.99 * likely["who"].n_unique()
