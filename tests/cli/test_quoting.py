"""No message repeats what may be a table: a text with a line end, or of over 200 characters."""

import inspect
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from shortlist.errors import InputError, is_short, named, shown, written
from shortlist.stores import MemoryStore

MARKER = "Zz-private"
ROW = f"{MARKER},Ann"
TEXTS = {
    "rows": f"user,item\n{ROW}\n",
    "a row": f"{ROW}\n",
    "a line": ROW * 40,
    "CR": f"user,item\r{ROW}",
    "other ends": f"user,item\u2028{ROW}",
    "a path": f"{ROW}\n.csv",
    "a long path": ROW * 40 + ".parquet",
    "a glob": f"*{ROW}\n*.csv",
    "a URL": f"postgresql://{ROW}\n@host/db",
    "a database": f"sqlite:///{ROW}\n.db",
    "a pattern": f"^{ROW}\n$",
}
FRAME = pl.DataFrame({"user": ["u"], "item": ["i"], "other": ["j"], "count": [1]})
ASK = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture(params=TEXTS)
def text(request):
    return TEXTS[request.param]


def arguments(call, left_out=()):
    """Every argument of a call that can be given by name."""
    names = [name for name in inspect.signature(call).parameters if name not in left_out]
    assert names
    return names


def check(call, given):
    """It is refused, alone and within something, and nothing of it is repeated."""
    with pytest.raises(InputError) as caught:
        call(given)
    said = [caught.value]
    for wrapped in ([given], (given, given), {given: given}, {"item": [given, given]}):
        try:
            call(wrapped)
        except (InputError, TypeError) as error:
            said.append(error)
    for error in said:
        assert MARKER not in str(error)
        assert len(str(error).splitlines()) == 1
        assert error.__cause__ is None


def with_one(call, name, given, **rest):
    return call(**(rest | {name: given}))


SOURCES = {
    "pairs": (sl.pairs, {"data": FRAME, "user": "user", "item": "item"}),
    "counts": (sl.counts, {"data": FRAME, "item": "item", "count": "count"}),
    "comparisons": (
        sl.comparisons,
        {"data": FRAME, "winner": "item", "loser": "other", "public_items": sl.IN_TABLE},
    ),
    "store": (
        sl.store,
        {"url_or_store": "sqlite:///none.db", "table": "t", "item": "i", "count": "c"},
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_no_argument_of_a_source_is_repeated(name, text):
    build, given = SOURCES[name]
    for argument in arguments(build):
        check(partial(with_one, build, argument, **given), text)


@pytest.mark.parametrize("name", ["pairs", "counts", "comparisons"])
def test_no_argument_beside_an_unknown_column_is_repeated(name, text):
    build, given = SOURCES[name]
    frame = pl.DataFrame({text: ["x"], "user": ["u"]})
    check(lambda _: build(**(given | {"data": frame})), text)


QUESTIONS = {
    "pairs": [("top_k", {"k": 1} | ASK), ("domain", ASK), ("hitting_set", {"k": 1} | ASK)],
    "counts": [("top_k", {"k": 1} | ASK)],
    "comparisons": [("rank", {"k": 1, "epsilon": 1.0})],
    "store": [("top_k", {"k": 1, "epsilon": 1.0})],
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_argument_of_a_question_is_repeated(name, text):
    build, given = SOURCES[name]
    held = MemoryStore(["a", "b"], [2, 1])
    source = sl.store(held) if name == "store" else build(**given)
    for question, asked in QUESTIONS[name]:
        ask = getattr(source, question)
        for argument in arguments(ask, left_out={"note"} if len(text.splitlines()) == 1 else ()):
            check(partial(with_one, ask, argument, **asked), text)
        option = partial(ask, **asked)
        check(
            lambda value, ask=option: ask(mechanism=partial(sl.mechanisms.Gamma, **{value: 1})),
            text,
        )


def test_the_path_of_a_release_is_not_repeated(text):
    release = sl.pairs(FRAME, user="user", item="item").top_k(1, **ASK)
    check(release.save, f"{text}.xlsx")


def test_a_text_in_place_of_a_path_is_told_what_to_do(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(TEXTS["rows"])
    for build, given in list(SOURCES.values())[:3]:
        with pytest.raises(InputError, match="this is text with line ends, and a path is needed"):
            build(**(given | {"data": path.read_text()}))
    with pytest.raises(InputError, match=r'public_items="…" is text and no existing file'):
        sl.pairs(FRAME, user="user", item="item", public_items=path.read_text())


def test_a_path_may_be_long_and_have_line_ends(tmp_path):
    folder = tmp_path / ("long" * 30) / ("x\ny" * 30)
    folder.mkdir(parents=True)
    FRAME.write_csv(folder / "t.csv")
    source = sl.pairs(folder / "t.csv", user="user", item="item")
    assert source.top_k(1, **ASK).question == "top-k"
    with pytest.raises(InputError) as caught:
        sl.pairs(folder / "t.csv", user="who", item="item")
    assert str(caught.value).startswith('data="…": user="who" is not a column.')


@pytest.mark.parametrize("good", ["", "title", "a b", "é" * 200, "007"])
def test_short_texts_are_shown(good):
    assert is_short(good)
    assert shown(good) == good
    assert str(named("item", good)) == f'item="{good}"'


@pytest.mark.parametrize("end", "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
def test_no_line_end_is_shown(end):
    for text in (end, f"a{end}", f"{end}a", f"a{end}b"):
        assert shown(text) == "…"
        assert written(text) == "'…'"


def test_numbers_and_names_of_types_are_bounded():
    assert written(10**199) == str(10**199)
    assert written(10**201) == "…"
    assert written(10**9999) == "a value of type int"
    assert written(type("x" * 300, (), {})) == "…"
    assert written(type("x" * 300, (), {})()) == "a value of type …"
