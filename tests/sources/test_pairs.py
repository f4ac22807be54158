"""Both questions on every kind of input, from the data to what leaves."""

import json
import pickle
import re
import threading
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shortlist as sl
from helpers import engines
from helpers.forms import FORMS, counting, everything_shown, numbers, said
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.errors import SPENT, InputError
from shortlist.evidence import PrivateCounts, PublicCounts, Wants
from shortlist.mechanisms import DiscoverThenRank, LimitedDomain, Peeling, WeightedGaussian
from shortlist.mechanisms.base import Adjacency, Selection
from shortlist.mechanisms.one_shot_laplace import OneShotLaplace
from shortlist.privacy.guarantee import Guarantee
from shortlist.questions import Domain
from shortlist.release.making import make_release

MARKER = "Zz-private-91"
ASK = {"epsilon": 5.0, "delta": 1e-6}
USER, TITLE = "user [id] é", "titre, [bold]"
STEP = 80  # people between one item and the next: many times the noise

# Most popular first, each far ahead of the next. Twins differ in normalisation or in zeros only.
ITEMS = [
    "007",
    "7",
    "\u00e9t\u00e9",
    "e\u0301te\u0301",
    "[bold]x[/]",
    'a, "b"',
    "\x1b[31m日本\u202e",
]


def table(items, user=USER, item=TITLE):
    """Item number i of n has (n - i) STEP people, who hold nothing else; rows are shuffled."""
    held = [value for i, value in enumerate(items) for _ in range((len(items) - i) * STEP)]
    users = [f"{i:05d}" for i in range(len(held))]
    columns = {user: users, item: held} if isinstance(item, str) else {user: users}
    if not isinstance(item, str):
        columns |= {name: [value[i] for value in held] for i, name in enumerate(item)}
    return pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=3)


def lonely(n, marker=MARKER):
    """People who each hold an item of their own."""
    return pl.DataFrame(
        {USER: [f"x{i}" for i in range(n)], TITLE: [f"{marker}{i}" for i in range(n)]}
    )


@pytest.fixture(params=FORMS)
def form(request, tmp_path):
    return lambda frame: FORMS[request.param](frame, tmp_path)


# Answers


def test_both_questions_on_every_kind_of_input(form):
    frame = table(ITEMS).with_columns(other=pl.lit(1.5))
    source = sl.pairs(form(frame), user=USER, item=TITLE)
    top = source.top_k(3, **ASK)
    assert top.items == ITEMS[:3]
    domain = source.domain(**ASK)
    assert domain.items == ITEMS
    assert top.to_polars().schema == {"rank": pl.UInt32, TITLE: pl.String, "score": pl.Float64}


def test_public_items_on_every_kind_of_input(form):
    everybody_knows = [*ITEMS, "nobody holds this"]
    source = sl.pairs(form(table(ITEMS)), user=USER, item=TITLE, public_items=everybody_knows)
    release = source.top_k(3, epsilon=5.0)
    assert release.items == ITEMS[:3]
    assert release.scores is None
    assert source.top_k(8, **ASK).items[-1] == everybody_knows[-1]
    assert release.guarantee.assumes[1:] == (
        "the list of public items does not depend on this table",
    )


SEVERAL = [("CH", 7, date(2024, 2, 29)), ("CH", 7, date(2024, 3, 1)), ("FR", 7, date(2024, 3, 1))]
NAMES = ["pays", "numéro de page", "rank"]


@pytest.mark.parametrize("name", ["parquet", "polars", "polars lazy", "pyarrow"])
def test_items_of_several_columns(name, tmp_path):
    frame = FORMS[name](table(SEVERAL, item=NAMES), tmp_path)
    source = sl.pairs(frame, user=USER, item=NAMES)
    assert source.domain(**ASK).items == SEVERAL
    release = source.top_k(2, **ASK)
    assert release.items == SEVERAL[:2]
    assert release.to_polars().columns == ["shortlist_rank", *NAMES, "score"]
    public = sl.pairs(frame, user=USER, item=tuple(NAMES), public_items=SEVERAL)
    assert public.top_k(3, epsilon=5.0).items == SEVERAL


def test_several_columns_of_text_files_are_text(tmp_path):
    source = sl.pairs(FORMS["csv"](table(SEVERAL, item=NAMES), tmp_path), user=USER, item=NAMES)
    assert source.domain(**ASK).items == [tuple(map(str, item)) for item in SEVERAL]


@pytest.mark.parametrize(
    "items",
    [[5, -(2**60), 2**62], [date(2024, 2, 29), date(1999, 12, 31)], [2**64 - 1, 0]],
)
def test_items_keep_their_type(items):
    column = (
        pl.Series(items, strict=True)
        if max(items) != 2**64 - 1
        else pl.Series(items, dtype=pl.UInt64)
    )
    frame = table(range(len(items))).with_columns(
        pl.col(TITLE).replace_strict(range(len(items)), column)
    )
    release = sl.pairs(frame, user=USER, item=TITLE).domain(**ASK)
    assert release.items == items
    assert release.to_polars().schema[TITLE] == column.dtype


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt64, pl.Date])
def test_users_are_integers_or_dates(dtype):
    frame = table(["a", "b"])
    users = pl.int_range(frame.height).cast(pl.Int32).cast(dtype)
    assert sl.pairs(frame.with_columns(users.alias(USER)), user=USER, item=TITLE).domain(
        **ASK
    ).items == ["a", "b"]


def test_repeated_rows_and_nulls_change_nothing():
    frame = table(["a"] * 3)
    twice = pl.concat(
        [frame] * 9 + [pl.DataFrame({USER: [None, "x"] * 99, TITLE: ["b", None] * 99})]
    )
    release = sl.pairs(twice, user=USER, item=TITLE).domain(**ASK)
    assert release.items == ["a"]
    assert abs(release.scores[0] - frame.height) < 60


def test_the_bound_is_kept():
    wide = wide_frame()
    one = sl.pairs(wide, user=USER, item=TITLE, max_items_per_user=1).domain(**ASK)
    assert len(one) < 50  # 6 people an item are left
    assert one.mechanism.max_items_per_user == 1
    assert len(sl.pairs(wide, user=USER, item=TITLE).domain(**ASK)) == 50  # 300 / sqrt(50) = 42


def wide_frame():
    """300 people who each hold the same 50 items."""
    return pl.DataFrame({USER: np.repeat(np.arange(300), 50), TITLE: np.tile(np.arange(50), 300)})


def test_counts_of_private_items_are_bounded():
    source = sl.pairs(wide_frame(), user=USER, item=TITLE, max_items_per_user=10)
    release = source.top_k(50, **ASK, mechanism=LimitedDomain)
    assert release.mechanism == LimitedDomain(k=50, **ASK, max_items_per_user=10)
    shown = engines.shown(source, release.mechanism.wants)
    assert isinstance(shown.evidence, PrivateCounts)
    assert shown.evidence.max_items_per_user == 10
    assert shown.evidence.counts.sum() == 300 * 10
    assert (
        sl.pairs(table(ITEMS), user=USER, item=TITLE).top_k(3, **ASK, mechanism=LimitedDomain).items
        == ITEMS[:3]
    )


def test_counts_of_public_items_are_bounded_where_the_mechanism_is_told_to():
    known = list(range(50))
    source = sl.pairs(wide_frame(), user=USER, item=TITLE, public_items=known)
    free = source.top_k(3, epsilon=1.0, mechanism=OneShotLaplace)
    assert free.mechanism.max_items_per_user is None
    bounded = source.top_k(3, epsilon=1.0, mechanism=partial(OneShotLaplace, max_items_per_user=1))
    assert bounded.mechanism.max_items_per_user == 1
    assert bounded.mechanism.scale < free.mechanism.scale
    for bound, total in ((None, 300 * 50), (7, 300 * 7)):
        evidence = engines.shown(source, Wants(PublicCounts, bound)).evidence
        assert isinstance(evidence, PublicCounts)
        assert evidence.max_items_per_user == bound
        assert evidence.counts.sum() == total
    one = sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=[*ITEMS, "none"])
    said = "add, remove or change one user"
    changed = partial(OneShotLaplace, max_items_per_user=1, neighbours=Adjacency.GENERAL)
    release = one.top_k(3, epsilon=5.0, mechanism=changed)
    assert release.items == ITEMS[:3]
    assert release.guarantee.adjacency == said


@pytest.mark.parametrize("public", [None, ITEMS])
def test_a_noisy_count_of_each_item(public):
    source = sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=public)
    release = source.top_k(3, epsilon=10.0, delta=1e-6, count_share=0.4)
    assert release.items == ITEMS[:3]
    assert release.scores.unit == "noisy count"
    errors = np.subtract(list(release.scores), [7 * STEP, 6 * STEP, 5 * STEP])
    assert np.abs(errors).max() < 12 * release.scores.noise_sd
    assert all(float(score).is_integer() for score in release.scores)
    assert (release.guarantee.epsilon, release.guarantee.delta) == (10.0, 1e-6)
    assert release.guarantee.cost.epsilon(1e-6) <= 10.0
    for text in everything_shown(release)[:1]:
        assert "noisy count; the noise has standard deviation" in " ".join(text.split())
    assert pickle.loads(pickle.dumps(release)).items == release.items  # noqa: S301 - our own


def test_a_partial_gives_a_mechanism_its_options():
    kind = partial(DiscoverThenRank, discovery_share=0.3)
    release = sl.pairs(table(ITEMS), user=USER, item=TITLE).top_k(1, **ASK, mechanism=kind)
    assert release.mechanism == DiscoverThenRank(
        k=1, **ASK, max_items_per_user=100, discovery_share=0.3
    )


def test_what_a_source_is_made_of_is_shown():
    source = sl.pairs(table(SEVERAL, item=NAMES), user=USER, item=NAMES, max_items_per_user=7)
    assert repr(source) == (
        '<Pairs: user="user [id] é", item="pays", "numéro de page", "rank", max_items_per_user=7>'
    )


# What a release looks like never depends on the rows


def empty(frame):
    return frame.clear()


@pytest.mark.parametrize("dtype", [pl.String, pl.Int16, pl.Date, pl.Categorical])
def test_columns_do_not_depend_on_rows_or_branch(dtype):
    numbers = table(range(1, 4))
    column = pl.col(TITLE).cast(pl.Int32)
    frame = numbers.with_columns(
        column.cast(pl.String).cast(dtype)
        if dtype in (pl.String, pl.Categorical)
        else column.cast(dtype)
    )
    many = sl.pairs(frame, user=USER, item=TITLE)
    none = sl.pairs(empty(frame), user=USER, item=TITLE)
    peeled, ranked = many.top_k(2, **ASK), many.top_k(9, **ASK)
    assert peeled.scores.noise_sd == peeled.mechanism.first_sigma
    assert ranked.scores.noise_sd == ranked.mechanism.mean_sigma
    assert [len(peeled), len(ranked)] == [2, 3]
    nothing = none.top_k(2, **ASK)
    frames = [release.to_polars() for release in (peeled, ranked, nothing)]
    assert frames[0].schema == frames[1].schema == frames[2].schema
    assert many.domain(**ASK).to_polars().schema == none.domain(**ASK).to_polars().schema
    assert {release.scores.unit for release in (peeled, ranked, nothing)} == {"noisy weight"}
    keys = [_keys(json.loads(release.to_json())) for release in (peeled, ranked, nothing)]
    assert keys[0] == keys[1] == keys[2]


def _keys(value):
    """The keys of nested dicts, without the items."""
    return {k: _keys(v) for k, v in value.items() if k != "items"} if isinstance(value, dict) else 0


def test_an_empty_table_gives_an_empty_release(form):
    try:
        data = form(empty(table(ITEMS)))
        source = sl.pairs(data, user=USER, item=TITLE)
    except InputError as error:
        assert "empty" in str(error)  # noqa: PT017 - a file of no lines has no columns either
        assert str(data).endswith(("ndjson", "jsonl"))
        return
    for release in (source.top_k(3, **ASK), source.domain(**ASK)):
        assert release.items == []
        assert len(release.scores) == 0
        assert release.to_polars().columns == ["rank", TITLE, "score"]
        assert all("0 items" in text for text in everything_shown(release)[:1])


def test_items_of_the_table_are_not_public():
    refusal(
        lambda: sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=sl.IN_TABLE),
        "public_items=IN_TABLE: in rows of users and items, one more user can add an item",
        "give a list of items, or omit public_items",
    )


def test_public_items_hide_whether_the_table_is_empty():
    nobody = sl.pairs(empty(table(ITEMS)), user=USER, item=TITLE, public_items=ITEMS)
    assert sorted(nobody.top_k(7, epsilon=1.0).items) == sorted(ITEMS)
    assert len(nobody.top_k(2, epsilon=1.0)) == 2


def _answer(items, selection):
    mechanism = WeightedGaussian(**ASK, max_items_per_user=1)
    guarantee = Guarantee(
        **ASK, cost=mechanism.cost, adjacency="", protects="", assumes=(), private=False
    )
    return make_release(Domain(), mechanism, selection, pl.DataFrame(items), guarantee)


def test_a_set_is_sorted_by_score_and_then_by_item():
    scores = np.array([1.0, 2.0, 1.0, 2.0])
    selection = Selection(np.arange(4), scores, ordered=False, noise_sd=1.0)
    release = _answer({"falling score": ["d", "c", "a", "b"]}, selection)
    assert release.items == ["b", "c", "a", "d"]
    assert list(release.scores) == [2.0, 2.0, 1.0, 1.0]


def test_a_set_without_scores_is_sorted_by_item():
    selection = Selection(np.arange(3), ordered=False)
    release = _answer({"row": [2, 1, 1], "item 0": ["a", "c", "b"]}, selection)
    assert release.items == [(1, "b"), (1, "c"), (2, "a")]
    assert release.scores is None


def test_what_is_ordered_stays_so():
    release = _answer({"x": ["b", "c", "a"]}, Selection(np.arange(3)))
    assert release.items == ["b", "c", "a"]


@pytest.mark.parametrize(("scores", "apart"), [([3.0, 2.0, 2.0], False), ([2.0, 3.0, 1.0], True)])
def test_scores_that_do_not_fall_are_explained(scores, apart):
    selection = Selection(np.arange(3), np.array(scores), noise_sd=1.0)
    shown = " ".join(str(_answer({"x": ["b", "c", "a"]}, selection)).split())
    assert ("the ranks were drawn apart from the scores" in shown) == apart


def test_more_than_there_is():
    source = sl.pairs(table(["a", "b"]), user=USER, item=TITLE)
    release = source.top_k(1000, **ASK)
    assert release.items == ["a", "b"]


# Reading


def test_data_is_read_once_and_not_before_the_first_question():
    lazy, reads = counting(table(ITEMS))
    source = sl.pairs(lazy, user=USER, item=TITLE)
    refusal(lambda: source.top_k(0, **ASK), "k=0")
    refusal(lambda: source.top_k(1, epsilon=1.0), "delta is needed")
    refusal(lambda: source.domain(**ASK, random=42), "random=42")
    refusal(lambda: source.top_k(1, **ASK, count_share=2), "count_share=2")
    refusal(lambda: source.domain(**ASK, mechanism="peeling"), "mechanism='peeling'")
    assert reads == []
    assert source.top_k(3, **ASK).items == ITEMS[:3]
    assert source.domain(**ASK).items == ITEMS
    assert len(reads) == 1


def test_questions_from_many_threads_read_once():
    lazy, reads = counting(table(ITEMS))
    source = sl.pairs(lazy, user=USER, item=TITLE)
    together, answers = threading.Barrier(6), []

    def ask():
        together.wait()
        answers.append(source.top_k(2, **ASK).items)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [ITEMS[:2]] * 6
    assert len(reads) == 1


@pytest.mark.parametrize("name", ["parquet", "csv", "ndjson"])
def test_a_file_may_change_after_the_first_question(name, tmp_path):
    path = FORMS[name](table(ITEMS), tmp_path)
    source = sl.pairs(path, user=USER, item=TITLE)
    assert source.top_k(1, **ASK).items == ITEMS[:1]
    FORMS[name](table(["other"]), tmp_path)
    assert source.domain(**ASK).items == ITEMS
    path.unlink()
    assert source.top_k(2, **ASK).items == ITEMS[:2]


def test_after_a_failure_it_is_read_anew(tmp_path):
    path = FORMS["csv"](table(ITEMS), tmp_path)
    source = sl.pairs(path, user=USER, item=TITLE)
    path.unlink()
    refusal(lambda: source.top_k(1, **ASK), "t.csv")
    FORMS["csv"](table(ITEMS), tmp_path)
    assert source.top_k(1, **ASK).items == ITEMS[:1]


def test_only_the_named_columns_are_read():
    fails = pl.col(TITLE).map_batches(lambda _: 1 / 0, return_dtype=pl.Int8)
    lazy = table(["a"]).lazy().with_columns(other=fails)
    assert sl.pairs(lazy, user=USER, item=TITLE).domain(**ASK).items == ["a"]


# Refusals


def test_arguments_are_checked_when_the_source_is_built():
    frame = table(ITEMS)
    refusal(lambda: sl.pairs(frame, user="usr [id] é", item=TITLE), 'Did you mean "user [id] é"?')
    refusal(lambda: sl.pairs(frame, user=USER, item=USER), "are the same column")
    refusal(lambda: sl.pairs(frame, user=USER, item=[TITLE, USER]), "are the same column")
    refusal(lambda: sl.pairs(frame, user=USER, item=[TITLE, TITLE]), "twice")
    refusal(lambda: sl.pairs(frame, user=USER, item=[]), "item=[]")
    refusal(lambda: sl.pairs(frame, user=None, item=TITLE), "user=None: a column is given by its")
    refusal(lambda: sl.pairs(frame, user=USER, item=[1]), "item=1: a column is given by its name")
    for pattern in ("", "*", "^id$"):
        refusal(lambda name=pattern: sl.pairs(frame, user=name, item=TITLE), "read as a pattern")
    for bound in (0, -1, 1.0, True, None, "5"):
        refusal(
            lambda bound=bound: sl.pairs(frame, user=USER, item=TITLE, max_items_per_user=bound),
            f"max_items_per_user={bound!r}: must be a whole number, 1 or more",
        )
    refusal(
        lambda: sl.pairs(frame, user=USER, item=TITLE, max_items_per_user=10**30),
        "must be at most 4294967296",
    )
    assert sl.pairs(frame, user=USER, item=TITLE, max_items_per_user=np.int8(5)).domain(**ASK)


def test_more_than_a_public_list_holds_is_refused_before_data_is_read():
    lazy, reads = counting(table(ITEMS))
    source = sl.pairs(lazy, user=USER, item=TITLE, public_items=["a", "b"])
    refusal(lambda: source.top_k(3, epsilon=1.0), "k=3: there are only 2 public items")
    refusal(lambda: source.domain(**ASK), "public_items: everybody knows")
    refusal(lambda: source.top_k(1, **ASK, mechanism=DiscoverThenRank), "these are public")
    assert reads == []
    refusal(
        lambda: sl.pairs(lazy, user=USER, item=TITLE).top_k(1, epsilon=1.0, mechanism=Peeling),
        "give public_items",
    )


# Nothing private leaves


def secret_frame():
    return pl.DataFrame(
        {
            USER: [f"{MARKER}-u{i}" for i in range(40)],
            TITLE: [f"{MARKER}-t{i}" for i in range(40)],
            "price": [i + 0.5 for i in range(40)],
            "diagnosis": [f"{MARKER}-d"] * 40,
        }
    )


def _write(name, content):
    return lambda folder: (folder / name).write_bytes(content) and folder / name


def _parquet_cut_short(folder):
    path = folder / "cut.parquet"
    secret_frame().write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    return path


def _parquet_damaged(folder):
    path = folder / "damaged.parquet"
    secret_frame().write_parquet(path, compression="uncompressed")
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    return path


def _foreign(folder):
    path = folder / "foreign.parquet"
    secret_frame().write_csv(path)
    return path


def _lazy_that_fails(_):
    return secret_frame().lazy().with_columns(pl.col(TITLE).str.to_integer().alias(TITLE))


def _mixed_types(folder):
    secret_frame().write_parquet(folder / "mixed-1.parquet")
    secret_frame().with_columns(pl.lit(1).alias(TITLE)).write_parquet(folder / "mixed-2.parquet")
    return str(folder / "mixed-*.parquet")


HEAD = f"{USER},plain\n".encode()
BROKEN = {
    "cut short": _parquet_cut_short,
    "damaged": _parquet_damaged,
    "foreign": _foreign,
    "failing query": _lazy_that_fails,
    "two types": _mixed_types,
    "no header": _write("none.csv", f"{MARKER},{MARKER}\n{MARKER},{MARKER}\n".encode()),
    "ragged": _write("ragged.csv", HEAD + f"{MARKER},{MARKER},{MARKER}\n".encode()),
    "not UTF-8": _write("latin.csv", HEAD + MARKER.encode() + b",\xff\xfe\n"),
    "open quote": _write("quote.csv", HEAD + f'{MARKER},"{MARKER}\n'.encode()),
    "not JSON": _write("bad.ndjson", f'{{"{USER}": "{MARKER}", oops {MARKER}\n'.encode()),
    "nested": lambda _: pl.DataFrame({USER: [{MARKER: MARKER}], "plain": [1]}),
    "an object": lambda _: pd.DataFrame({USER: [MARKER, 5, 2.5], "plain": [MARKER] * 3}),
    "a series": lambda _: secret_frame()[TITLE],
    "a dict": lambda _: {MARKER: [MARKER]},
    "a list": lambda _: [MARKER],
    "bytes": lambda _: MARKER.encode(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_data_is_refused_without_a_word_of_it(name, tmp_path, caplog, capfd):
    data = BROKEN[name](tmp_path)
    item = (
        "plain" if Path(str(data)).suffix in {".csv", ".ndjson"} or name == "an object" else TITLE
    )
    with pytest.raises(InputError) as caught:
        sl.pairs(data, user=USER, item=item).domain(**ASK)
    streams = capfd.readouterr()
    for text in (*said(caught.value), caplog.text, streams.out, streams.err):
        assert MARKER not in text


def _column(name):
    return lambda frame: frame[name]


WRONG = [
    *({"user": name} for name in ("nobody", "price", TITLE, None, 5, 2.5)),
    *({"item": name} for name in ("nobody", "price", USER, None, [], [TITLE, TITLE], {}, 5)),
    *({argument: _column(TITLE)} for argument in ("user", "item", "max_items_per_user", "k")),
    *({argument: _column(TITLE)} for argument in ("epsilon", "delta", "mechanism", "random")),
    *({argument: lambda frame: frame} for argument in ("item", "k", "epsilon", "mechanism")),
    *({"public_items": items} for items in ([1], [None], [], ["a", "a"], 5, "a", {"a": 1})),
    *({"count_share": share} for share in (0, 1, -1, "0.1", float("nan"))),
    {"public_items": ["a", "b"], "k": 3},
    {"public_items": sl.IN_TABLE},
    {"public_items": ["a"], "mechanism": WeightedGaussian},
    {"k": 0},
    {"epsilon": -1},
    {"delta": 2},
    {"delta": 0.0},
    {"mechanism": partial(DiscoverThenRank, nothing=1)},
]


@pytest.mark.parametrize("wrong", WRONG, ids="-".join)
def test_a_wrong_argument_is_refused_without_a_word_of_the_data(wrong, caplog, capfd):
    frame = secret_frame()
    given = {"user": USER, "item": TITLE, "k": 1, **ASK, **wrong}
    given = {
        name: value(frame) if callable(value) and not isinstance(value, type | partial) else value
        for name, value in given.items()
    }
    source = {
        name: given.pop(name)
        for name in ("user", "item", "max_items_per_user", "public_items")
        if name in given
    }
    with pytest.raises(InputError) as caught:
        sl.pairs(frame, **source).top_k(**given)
    streams = capfd.readouterr()
    for text in (*said(caught.value), caplog.text, streams.out, streams.err):
        assert MARKER not in text
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("question", ["top_k", "domain"])
def test_a_release_holds_nothing_of_what_it_does_not_name(question):
    rare = lonely(20_011).with_columns(diagnosis=pl.lit(MARKER))
    known = table(["a", "b", "c"]).with_columns(diagnosis=pl.lit(MARKER))
    source = sl.pairs(pl.concat([known, rare]), user=USER, item=TITLE)
    ask = partial(source.top_k, 9) if question == "top_k" else source.domain
    release = ask(epsilon=5.0, delta=1e-12)  # so small that none of the rare comes by chance
    assert set(release.items) == {"a", "b", "c"}
    read = {known.height, rare.height, known.height + rare.height, 3 + rare.height}
    for text in everything_shown(release):
        assert MARKER not in text
        found = set(re.findall(r"\d[\d,_]*(?:\.\d+)?", text))
        assert not {f"{n}" for n in read} & {n.replace(",", "") for n in found}
    assert not numbers(vars(release)) & read


@pytest.mark.parametrize("public", [None, ITEMS])
def test_a_seeded_release_says_everywhere_that_it_is_not_private(public):
    source = sl.pairs(table(ITEMS), user=USER, item=TITLE, public_items=public)
    release = source.top_k(3, **ASK, random=SeededBits(1))
    again = source.top_k(3, **ASK, random=SeededBits(1))
    assert release.to_json() == again.to_json()
    assert release.guarantee.private is False
    assert json.loads(release.to_json())["guarantee"]["private"] is False
    shown, short, page, _, terminal = everything_shown(release)
    for text in (shown, short, page, terminal):
        assert "not private" in text
    honest = source.top_k(3, **ASK)
    assert honest.guarantee.private is True
    assert not any("not private" in text for text in everything_shown(honest))


def test_the_guarantee_says_what_was_asked():
    guarantee = sl.pairs(table(ITEMS), user=USER, item=TITLE).domain(**ASK).guarantee
    assert (guarantee.epsilon, guarantee.delta) == (5.0, 1e-6)
    assert guarantee.cost.epsilon(1e-6) <= 5.0
    assert guarantee.adjacency == "add or remove one user"
    assert guarantee.protects == f'all rows of any one "{USER}"'
    assert guarantee.assumes == ("the names and types of the columns are public",)


# Real tables

DATA = Path(__file__).parents[3] / "shared" / "data"
REAL = {
    "steam_200k": None,
    "amazon_magazine": None,
    "anime_5k": None,
    "fimi_retail": None,
    "reddit_title_tokens": 100_000,  # users
    "imdb_reviews_tokens": 10_000,
}


@pytest.fixture(scope="module", params=REAL)
def real(request):
    path = DATA / f"{request.param}.parquet"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: the real table of that name is left out")
    lazy, users = pl.scan_parquet(path), REAL[request.param]
    return lazy.collect() if users is None else lazy.filter(pl.col("user") < users).collect()


def test_real_tables(real):
    counts = real.group_by("item").len().sort("len", descending=True)
    source = sl.pairs(real, user="user", item="item")
    top = source.top_k(10, epsilon=1.0, delta=1e-5, random=SeededBits(1))
    domain = source.domain(epsilon=1.0, delta=1e-5, random=SeededBits(2))
    everything = set(counts["item"])
    assert len(top) == len(set(top.items)) == 10
    assert len(domain) == len(set(domain.items)) > 100
    assert everything.issuperset(top.items)
    assert everything.issuperset(domain.items)
    assert len(set(top.items) & set(counts["item"].head(10))) >= 8
    assert set(counts["item"].head(10)) <= set(domain.items)


def test_the_buffers_of_a_release_hold_what_it_names_and_no_more():
    # A column of strings that was gathered from another would hand on the other's buffers.
    users = [*range(2000), "ann"]
    titles = ["a title of more than twelve bytes"] * 2000 + [f"what only Ann holds: {MARKER}"]
    frame = pl.DataFrame({USER: [str(u) for u in users], TITLE: titles})
    for items in (TITLE, [TITLE, "same"]):
        source = sl.pairs(frame.with_columns(same=pl.col(TITLE)), user=USER, item=items)
        for release in (source.top_k(5, **ASK), source.domain(**ASK)):
            exported = pa.table(release)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, exported.schema) as writer:
                writer.write_table(exported)
            assert len(release) == 1
            assert MARKER.encode() not in sink.getvalue().to_pybytes()
            assert MARKER.encode() not in pickle.dumps(exported) + pickle.dumps(release)


def test_where_memory_ends_the_message_tells_no_size(monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 11.9 MiB for an array with shape (3123457,)")

    monkeypatch.setattr("shortlist.engines.rows_in_memory.Buckets.of_rows", full)
    with pytest.raises(MemoryError) as caught:
        sl.pairs(table(ITEMS), user=USER, item=TITLE).domain(**ASK)
    assert str(caught.value) == f"there is not enough memory for this table. {SPENT}"
    assert caught.value.__context__ is None
