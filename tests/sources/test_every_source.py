"""What holds of every source that reads a table: when it is read, and what a failure says."""

import threading
from functools import partial
from typing import NamedTuple

import polars as pl
import pytest

import shortlist as sl
from helpers import comparing, histogram, pairs
from helpers.forms import FORMS, counting
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.errors import SPENT


class Case(NamedTuple):
    """A kind of source, a table for it, a question, and what fails where memory ends."""

    build: partial
    table: pl.DataFrame
    bound: str
    ask: object
    counted_by: str


BUCKETS = "shortlist.engines.rows_in_memory.Buckets.of_rows"
CASES = {
    "pairs": Case(
        partial(sl.pairs, user=pairs.USER, item=pairs.TITLE),
        pairs.table(pairs.ITEMS),
        "max_items_per_user",
        lambda source, k, **more: source.top_k(k, **pairs.ASK, **more),
        BUCKETS,
    ),
    "domain": Case(
        partial(sl.pairs, user=pairs.USER, item=pairs.TITLE),
        pairs.table(pairs.ITEMS[:1]),
        "max_items_per_user",
        lambda source, _, **more: source.domain(**pairs.ASK, **more),
        BUCKETS,
    ),
    "counts": Case(
        histogram.counts,
        histogram.table(histogram.ITEMS),
        "max_items_per_user",
        lambda source, k, **more: source.top_k(k, **histogram.ASK, **more),
        "shortlist.table.sensitive_table.whole_counts",
    ),
    "public counts": Case(
        partial(histogram.counts, public_items=sl.IN_TABLE),
        histogram.table(histogram.ITEMS),
        "max_items_per_user",
        lambda source, k, **more: source.top_k(k, **histogram.ASK, **more),
        "shortlist.table.sensitive_table.whole_counts",
    ),
    "comparisons": Case(
        comparing.comparisons,
        comparing.table(),
        "max_comparisons_per_user",
        lambda source, k, **more: source.rank(k, epsilon=5.0, **more),
        "shortlist.table.comparison_rows.code",
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def best(case, source):
    return case.ask(source, 1).items[0]


def test_questions_from_many_threads_read_once(case):
    lazy, reads = counting(case.table)
    source = case.build(lazy)
    together, answers = threading.Barrier(6), []

    def ask():
        together.wait()
        answers.append(best(case, source))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["007"] * 6
    assert len(reads) == 1


def test_after_a_failure_it_is_read_anew(case, tmp_path):
    path = FORMS["csv"](case.table, tmp_path)
    source = case.build(path)
    path.unlink()
    refusal(lambda: best(case, source), "t.csv")
    FORMS["csv"](case.table, tmp_path)
    assert best(case, source) == "007"


@pytest.mark.parametrize("name", ["parquet", "csv", "ndjson"])
def test_a_file_may_change_after_the_first_question(name, case, tmp_path):
    path = FORMS[name](case.table, tmp_path)
    source = case.build(path)
    assert best(case, source) == "007"
    FORMS[name](case.table.clear(), tmp_path)
    assert best(case, source) == "007"
    path.unlink()
    assert best(case, source) == "007"


def test_a_seeded_release_says_that_it_is_not_private(case):
    source = case.build(case.table)
    release = case.ask(source, 3, random=SeededBits(1))
    assert release.to_json() == case.ask(source, 3, random=SeededBits(1)).to_json()
    assert release.guarantee.private is False
    assert case.ask(source, 3).guarantee.private is True


@pytest.mark.parametrize("bound", [0, -1, 1.0, True, "5"])
def test_a_bound_is_a_whole_number(case, bound):
    given = {case.bound: bound}
    if case.bound == "max_comparisons_per_user":
        given["user"] = comparing.WHO
    rule = f"{case.bound}={bound!r}: must be a whole number, 1 or more"
    refusal(lambda: case.build(case.table, **given), rule)


def test_where_memory_ends_the_message_tells_no_size(case, monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 11.9 MiB for an array with shape (3123457,)")

    monkeypatch.setattr(case.counted_by, full)
    with pytest.raises(MemoryError) as caught:
        best(case, case.build(case.table))
    assert str(caught.value) == f"there is not enough memory for this table. {SPENT}"
    assert caught.value.__context__ is None
