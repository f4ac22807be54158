"""Pairs as the source: what is refused, without a word of the data."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shortlist as sl
from helpers.forms import counting
from helpers.pairs import ASK, ITEMS, TITLE, USER, table
from helpers.refusals import MARKER, refusal, refused_silently
from shortlist.mechanisms import DiscoverThenRank, Peeling, WeightedGaussian


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
    refused_silently(lambda: sl.pairs(data, user=USER, item=item).domain(**ASK), capfd, caplog)


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
    error = refused_silently(lambda: sl.pairs(frame, **source).top_k(**given), capfd, caplog)
    assert "\n" not in str(error)
