"""A histogram as the source: what is refused, and that nothing private leaves."""

import json
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.forms import holds_nothing_of
from helpers.histogram import ASK, ITEMS, READERS, TITLE, counts, table
from helpers.refusals import MARKER, refusal, refused_silently
from shortlist.mechanisms import DiscoverThenRank, LimitedDomain, Peeling, WeightedGaussian


def test_arguments_are_checked_when_the_source_is_built():
    frame, build = table(ITEMS), partial(sl.counts, table(ITEMS))
    refusal(
        lambda: build(item=TITLE, count="lecteur"), 'count="lecteur" is not a', 'Did you mean "l'
    )
    refusal(lambda: build(item="titre", count=READERS), 'item="titre" is not a column')
    refusal(lambda: build(item=TITLE, count=TITLE), f'count="{TITLE}" and item="{TITLE}" are the')
    refusal(lambda: build(item=[TITLE, READERS], count=READERS), "are the same column; name two")
    refusal(lambda: build(item=[], count=READERS), "item=[]: names no column")
    refusal(lambda: build(item=TITLE, count=None), "count=None: a column is given by its name")
    refusal(lambda: build(item=TITLE, count="*"), 'count="*": a column of this name')
    refusal(lambda: counts(frame, public_items=["a", "a"]), "holds an item twice")
    refusal(lambda: counts(frame, public_items=[1]), "1, of type int")


def test_mechanisms_that_need_more_are_refused_with_the_remedy():
    for known in (None, ITEMS):
        source = counts(table(ITEMS), public_items=known)
        ask = partial(source.top_k, 1, **ASK)
        if known is None:
            refusal(
                lambda ask=ask: ask(mechanism=DiscoverThenRank), "who holds what", "by sl.pairs"
            )
            refusal(lambda ask=ask: ask(mechanism=Peeling), "give public_items")
        else:
            refusal(lambda ask=ask: ask(mechanism=LimitedDomain), "these are public; omit mecha")
    assert not hasattr(sl.Counts, "domain")


def secret_frame():
    n = 40
    return pl.DataFrame(
        {
            TITLE: [f"{MARKER}-t{i}" for i in range(n)],
            READERS: [918_273 + i for i in range(n)],
            "price": [i + 0.5 for i in range(n)],
            "words": [f"{MARKER}-w{i}" for i in range(n)],
            "flag": [True] * n,
        }
    )


def spoilt(value, dtype=pl.Int64, row=33):
    """The secret frame, one of whose counts is that value."""
    values = [918_273 + i for i in range(40)]
    values[row] = value
    return secret_frame().with_columns(pl.Series(READERS, values, dtype=dtype))


def spoilt_text(cell, suffix="csv"):
    texts = [*map(str, range(918_273, 918_312)), cell]
    frame = secret_frame().with_columns(pl.Series(READERS, texts, dtype=pl.String))

    def write(folder):
        path = folder / f"spoilt.{suffix}"
        (frame.write_csv if suffix == "csv" else frame.write_ndjson)(path)
        return path

    return write


def _json_numbers(cell):
    def write(folder):
        path = folder / "numbers.ndjson"
        lines = [json.dumps({TITLE: f"{MARKER}{i}", READERS: 918_273 + i}) for i in range(40)]
        last = f'{{"{TITLE}": "{MARKER}", "{READERS}": {cell}}}'
        path.write_text("\n".join([*lines, last, ""]))
        return path

    return write


def _twice(frame):
    return pl.concat([frame, frame[7:8]])


SPOILT = {
    "null": (spoilt(None), "holds a null beside an item"),
    "negative": (spoilt(-918_273), "below 0 or above 2^62"),
    "too large": (spoilt(2**62 + 1), "below 0 or above 2^62"),
    "too large unsigned": (spoilt(2**64 - 1, pl.UInt64), "below 0 or above 2^62"),
    "too large for 64 bits": (spoilt(2**100, pl.Int128), "below 0 or above 2^62"),
    "floats": (spoilt(1.5, pl.Float64), "is of type Float64, and counts are whole numbers; cast"),
    "NaN": (spoilt(float("nan"), pl.Float64), "is of type Float64"),
    "pandas with a null": (spoilt(None).to_pandas(), "is of type Float64"),
    "typed text": (secret_frame().cast({READERS: pl.String}), "is of type String, and counts are"),
    "an item twice": (_twice(secret_frame()), "an item is in more than one row"),
    **{
        f"text {cell!r}": (spoilt_text(cell), "is not a whole number written plainly")
        for cell in (
            "x",
            "7.0",
            "+7",
            " 7",
            "007",
            "1e3",
            "1,000",
            "-0",
            "½",
            "٣",
            "9" * 30,
            MARKER,
        )
    },
    "negative text": (spoilt_text("-5"), "below 0 or above 2^62"),
    "large text": (spoilt_text(str(2**62 + 1)), "below 0 or above 2^62"),
    "empty text": (spoilt_text(None), "holds a null beside an item"),
    "text in NDJSON": (spoilt_text("1.5", "ndjson"), "is not a whole number written plainly"),
    **{
        f"number {cell} in NDJSON": (_json_numbers(cell), "is not a whole number written plainly")
        for cell in ("1.5", "1e-3", "true", f'"{MARKER}"')
    },
    "null in NDJSON": (_json_numbers("null"), "holds a null beside an item"),
}


@pytest.mark.parametrize("public", [None, sl.IN_TABLE, ["a", "b"]])
@pytest.mark.parametrize("name", SPOILT)
def test_spoilt_counts_are_refused_without_a_word_of_them(name, public, tmp_path, caplog, capfd):
    data, why = SPOILT[name]
    data = data(tmp_path) if callable(data) else data
    n_rows = r"\b4[01]\b"
    error = refused_silently(
        lambda: counts(data, public_items=public).top_k(1, **ASK), capfd, caplog, "9182", n_rows
    )
    assert why in str(error)


WRONG = [
    *({"count": name} for name in ("nobody", "price", "words", "flag", TITLE, None, 5, 2.5)),
    *(
        {"item": name}
        for name in ("nobody", "price", "flag", READERS, None, [], [TITLE, TITLE], {})
    ),
    *({name: secret_frame()[TITLE]} for name in ("count", "item", "max_items_per_user", "k")),
    *({name: secret_frame()[TITLE]} for name in ("epsilon", "delta", "mechanism", "count_share")),
    *({name: secret_frame()} for name in ("count", "item", "k", "epsilon", "count_share")),
    *({"public_items": items} for items in ([1], [None], [], ["a", "a"], 5, "a", {"a": 1})),
    *({"count_share": share} for share in (0, 1, -1, "0.1", float("nan"))),
    {"public_items": sl.IN_TABLE, "k": 41},
    {"public_items": ["a", "b"], "k": 3},
    {"max_items_per_user": 0},
    {"mechanism": WeightedGaussian},
    {"mechanism": Peeling},
    {"k": 0},
    {"epsilon": -1},
    {"delta": 2},
    {"delta": 0.0},
]


@pytest.mark.parametrize("wrong", WRONG, ids="-".join)
def test_a_wrong_argument_is_refused_without_a_word_of_the_data(wrong, caplog, capfd):
    given = {"item": TITLE, "count": READERS, "k": 1, **ASK, **wrong}
    names = ("item", "count", "max_items_per_user", "public_items")
    source = {name: given.pop(name) for name in names if name in given}
    error = refused_silently(
        lambda: sl.counts(secret_frame(), **source).top_k(**given), capfd, caplog, "9182"
    )
    assert "\n" not in str(error)


@pytest.mark.parametrize("public", [None, sl.IN_TABLE, list("abc")])
def test_a_release_holds_nothing_of_what_it_does_not_name(public):
    known = pl.DataFrame({TITLE: list("abc"), READERS: [918_273, 818_274, 718_275]})
    rare = pl.DataFrame({TITLE: [f"{MARKER}{i}" for i in range(20_011)], READERS: [1] * 20_011})
    frame = pl.concat([rare, known])
    release = counts(frame, public_items=public).top_k(3, **ASK)
    assert release.items == list("abc")
    private = {20_011, 20_014, 918_273, 818_274, 718_275}
    holds_nothing_of(release, MARKER, private)
