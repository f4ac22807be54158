"""A release comes back from its file as it was saved, and nothing else is taken for one."""

import json
import math
import os
import pickle
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shortlist as sl
from helpers.releases import GUARANTEE, HOSTILE, Example, release
from shortlist.errors import InputError
from shortlist.privacy import ZCDP, Approximate, Either, Gaussian, Pure
from shortlist.questions import Domain, HittingSet, Rank, TopK
from shortlist.release import Scores

BIG = 2**63 - 1
WINTER = datetime(2024, 10, 27, 1, 30, tzinfo=UTC)  # 2.30 in Paris, for the second time that night
WHOLE = pytest.mark.parametrize("suffix", [".json", ".parquet"])


def typed(values, dtype):
    return pl.Series(values).cast(dtype)


ITEMS = {
    "texts": pl.Series(HOSTILE),
    "none": pl.Series([], dtype=pl.String),
    "integers": pl.Series([BIG, -BIG, 0]),
    "small": typed([1, 2], pl.UInt8),
    "huge": typed([2**64 - 1], pl.UInt64),
    "dates": pl.Series([date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)]),
    "times": typed([0, 1, -62_135_596_800_000], pl.Datetime("ms")),  # the first of year 1
    "micros": typed([0, 1, 1_709_170_563_000_004], pl.Datetime("us")),
    "nanos": typed([1, -1, 1_709_170_563_000_000_001], pl.Datetime("ns")),
    "zoned": typed([WINTER, WINTER.replace(hour=0)], pl.Datetime("us", "Europe/Paris")),
    "utc": typed([WINTER], pl.Datetime("ns", "UTC")),
}


def saved(answer, folder, suffix):
    answer.save(folder / f"answer{suffix}")
    return sl.load(folder / f"answer{suffix}")


@WHOLE
@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("scores", [True, False])
def test_every_type_of_item_comes_back(tmp_path, suffix, kind, scores):
    answer = release({"rank": ITEMS[kind], 'a "b", c': ITEMS[kind]}, scores=scores, private=False)
    loaded = saved(answer, tmp_path, suffix)
    assert loaded == answer
    assert hash(loaded) == hash(answer)
    assert loaded.items == answer.items
    assert loaded.to_polars().equals(answer.to_polars())
    assert loaded.to_polars().schema == answer.to_polars().schema
    assert loaded.to_json() == answer.to_json()
    assert (str(loaded), repr(loaded)) == (str(answer), repr(answer))
    assert pickle.loads(pickle.dumps(loaded)) == answer  # noqa: S301 - our own


@WHOLE
@pytest.mark.parametrize(
    "cost",
    [
        Gaussian(0.02, delta=1e-7),
        ZCDP(0.1),
        Pure(1.0, 0.1),
        Approximate(0.3, 1e-300),
        Either(Pure(0.5), Pure(1.0, 0.03), Pure(2.0, 0.01)),
    ],
)
def test_the_cost_is_one_that_composes(tmp_path, suffix, cost):
    guarantee = replace(GUARANTEE, cost=cost, epsilon=2.0 + 0.1 + 0.2, delta=1e-4)
    held = release(["a"], scores=False, guarantee=guarantee)
    loaded = saved(held, tmp_path, suffix)
    assert loaded == held
    assert loaded.guarantee.cost + cost == cost + cost
    assert type(loaded.guarantee.cost) is type(cost)


@WHOLE
@pytest.mark.parametrize("limit", [math.inf, -math.inf, math.nan, 0.1 + 0.2, 3, None])
def test_every_parameter_comes_back(tmp_path, suffix, limit):
    held = release(["a"], question="domain", mechanism=Example(limit=limit))
    loaded = saved(held, tmp_path, suffix)
    assert loaded == held
    assert repr(loaded.mechanism.parameters()) == repr(held.mechanism.parameters())
    assert loaded.mechanism.name == "Example"


@WHOLE
@given(scores=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4))
def test_every_score_comes_back(tmp_path_factory, suffix, scores):
    items = pl.Series([str(i) for i in range(len(scores))], dtype=pl.String)
    noisy = Scores(scores, unit="noisy weight", noise_sd=0.1 + 0.2)
    held = release({"title": items}, scores=noisy)
    assert list(saved(held, tmp_path_factory.mktemp("x"), suffix).scores) == scores


@WHOLE
@pytest.mark.parametrize("question", [TopK, Domain, HittingSet, Rank])
def test_real_answers_come_back(tmp_path, suffix, question):
    rows = pl.DataFrame({"user": range(600), "title": ["Emma", "Dune", "Ulysses"] * 200})
    games = pl.DataFrame({"won": ["Ann"] * 90 + ["Bob"], "lost": ["Bob"] * 90 + ["Ann"]})
    plays = sl.pairs(rows, user="user", item="title")
    answer = {
        TopK: lambda: plays.top_k(2, epsilon=1.0, delta=1e-6, count_share=0.2),
        Domain: lambda: plays.domain(epsilon=1.0, delta=1e-6, count_share=0.2),
        HittingSet: lambda: plays.hitting_set(2, epsilon=1.0, delta=1e-6),
        Rank: lambda: sl.comparisons(
            games, winner="won", loser="lost", public_items=sl.IN_TABLE
        ).rank(1, epsilon=1.0),
    }[question]()
    loaded = saved(answer, tmp_path, suffix)
    assert (loaded, loaded.k, str(loaded)) == (answer, answer.k, str(answer))
    assert loaded != release(["a"])
    again = tmp_path / f"again{suffix}"
    loaded.save(again)
    assert sl.load(again) == answer


def test_releases_that_say_other_things_are_not_equal():
    answer = release(["a", "b"], k=2)
    assert answer == release(["a", "b"], k=2)
    assert len({answer, release(["a", "b"], k=2)}) == 1
    others = (
        release(["b", "a"], k=2),
        release({"name": ["a", "b"]}, k=2),
        release({"title": pl.Series(["a", "b"], dtype=pl.Categorical)}, k=2),
        release(["a", "b"], k=3),
        release(["a", "b"], k=2, scores=False),
        release(["a", "b"], k=2, private=False),
        release(["a", "b"], k=2, question="domain"),
        ["a", "b"],
    )
    assert all(answer != other for other in others)


def test_a_file_says_which_version_wrote_it(tmp_path):
    release(["a"]).save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["library"] == sl.__version__


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is not JSON."),
        ("[1", "it is not JSON."),
        ("\xff", "it is not JSON."),
        ("[]", "it is not a release that shortlist saved."),
        ('{"format": "shortlist.plan", "version": 2}', "it is not a release that shortlist saved."),
        ('{"format": "shortlist.release", "version": 1}', "did not say the types of its columns"),
        ('{"format": "shortlist.release"}', "did not say the types of its columns"),
        (
            '{"format": "shortlist.release", "version": 5, "library": "9.1"}',
            r"version 5 of the format, by shortlist 9\.1; this is .* Install a newer one\.",
        ),
        ('{"format": "shortlist.release", "version": 2}', "it is not a whole release"),
    ],
)
def test_what_is_no_release_is_refused(tmp_path, content, why):
    path = tmp_path / "x.json"
    path.write_text(content, "latin-1")
    with pytest.raises(InputError, match=f"^cannot load '.*': .*{why}"):
        sl.load(path)


def changed(whole, path, value):
    *most, last = path.split(".")
    inner = whole
    for name in most:
        inner = inner[int(name)] if isinstance(inner, list) else inner[name]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return whole


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("guarantee", None),
        ("guarantee.private", None),
        ("guarantee.private", "false"),
        ("guarantee.epsilon", "1.0"),
        ("guarantee.epsilon", -3.0),
        ("guarantee.epsilon", math.inf),
        ("guarantee.delta", 1.0),
        ("guarantee.delta", math.nan),
        ("guarantee.cost.name", "os.system"),
        ("guarantee.cost.parameters", {"rho": 0.02, "delta": 0.0, "more": 1.0}),
        ("guarantee.cost.parameters.rho", -1.0),
        ("guarantee.cost.parameters.rho", "__import__('os')"),
        ("mechanism.parameters", [1]),
        ("mechanism", None),
        ("items", None),
        ("items.0.rank", 2),
        ("items.0.title", None),
        ("items.0.title", 5),
        ("items.0.weight", "100"),
        ("items.0.weight", None),
        ("columns.types.title", "Object"),
        ("columns.types.title", "Datetime[us, Mars/Olympus]"),
        ("columns.types.title", "__class__"),
        ("columns.types.title", "Date"),
        ("columns.items", []),
        ("scores.noise_sd", "much"),
        ("scores.noise_sd", -4.88),
        ("scores.noise_sd", 0.0),
        ("scores.noise_sd", "nan"),
        ("scores.shared_sd", -1.0),
        ("scores.shared_sd", "nan"),
        ("items.0.weight", math.nan),
        ("items.0.weight", math.inf),
        ("items.0.weight", "nan"),
        ("items.0.title", "b"),
        ("items.0.rank", True),
        ("guarantee.epsilon", 0.01),
        ("guarantee.delta", 1e-300),
        ("guarantee.cost.parameters.rho", 0.5),
        ("scores.shared_sd", "much"),
        ("scores", {}),
        ("question", 5),
    ],
)
def test_what_was_changed_is_refused(tmp_path, path, value):
    file = tmp_path / "x.json"
    whole = release(["a", "b"]).to_dict()
    file.write_text(json.dumps(whole))
    assert sl.load(file) == release(["a", "b"])
    file.write_text(json.dumps(changed(whole, path, value)))
    with pytest.raises(InputError, match=r"^cannot load '"):
        sl.load(file)


def test_what_is_said_twice_is_refused(tmp_path):
    """Whoever reads the first of two epsilons and we, who read the last, would see two promises."""
    text = release(["a", "b"]).to_json()
    for once, twice in (
        ('"epsilon": 1.0', '"epsilon": 0.5, "epsilon": 1.0'),
        ('"title": "b"', '"title": "c", "title": "b"'),
    ):
        assert once in text
        (tmp_path / "x.json").write_text(text.replace(once, twice))
        with pytest.raises(InputError, match="says something twice"):
            sl.load(tmp_path / "x.json")


def test_groups_that_are_torn_are_refused(tmp_path):
    answer = release(
        {"land": ["CH", "CH", "FR"], "title": ["a", "b", "c"]}, scores=False, by=["land"]
    )

    def of(*rows):
        whole = answer.to_dict()
        for record, (land, rank) in zip(whole["items"], rows, strict=True):
            record.update(land=land, rank=rank)
        (tmp_path / "x.json").write_text(json.dumps(whole))
        return sl.load(tmp_path / "x.json")

    assert of(("CH", 1), ("CH", 2), ("FR", 1)) == answer
    with pytest.raises(InputError, match="do not lie together"):
        of(("CH", 1), ("FR", 1), ("CH", 1))
    with pytest.raises(InputError, match="ranks are not"):
        of(("CH", 1), ("CH", 2), ("FR", 3))


def test_a_small_file_of_very_many_rows_is_refused_before_one_is_read(tmp_path, monkeypatch):
    release(["a"]).save(tmp_path / "good.parquet")
    about = pl.read_parquet_metadata(tmp_path / "good.parquet")["shortlist.release"]
    n = 2**24 + 1
    rows = pl.select(
        rank=pl.repeat(1, n, dtype=pl.UInt32), title=pl.repeat("a", n), weight=pl.repeat(1.0, n)
    )
    rows.write_parquet(tmp_path / "bomb.parquet", metadata={"shortlist.release": about})
    assert (tmp_path / "bomb.parquet").stat().st_size < 1_000_000
    monkeypatch.setattr("shortlist.release.loading._release", lambda *_: pytest.fail("was read"))
    with pytest.raises(InputError, match="more than 16,777,216 items"):
        sl.load(tmp_path / "bomb.parquet")


def test_a_release_is_loaded_column_by_column(tmp_path, monkeypatch):
    """Row by row, millions of items take minutes."""
    n = 300_000
    answer = release([f"{i:06d}" for i in range(n)])
    answer.save(tmp_path / "long.parquet")
    for name in ("iter_rows", "rows", "to_dicts"):
        monkeypatch.setattr(pl.DataFrame, name, lambda *_, **__: pytest.fail("row by row"))
    monkeypatch.setattr(pl.Series, "to_list", lambda *_: pytest.fail("value by value"))
    loaded = sl.load(tmp_path / "long.parquet")
    assert len(loaded) == len(loaded.scores) == n
    assert loaded.scores[n - 1] == answer.scores[n - 1]


def test_parquet_that_is_no_release_is_refused(tmp_path):
    (tmp_path / "text.parquet").write_text("no")
    pl.DataFrame({"rank": [1]}).write_parquet(tmp_path / "table.parquet")
    foreign = {"shortlist.release": json.dumps({"format": "shortlist.release", "version": 9})}
    pl.DataFrame({"rank": [1]}).write_parquet(tmp_path / "newer.parquet", metadata=foreign)
    release(["a"]).save(tmp_path / "good.parquet")
    about = pl.read_parquet_metadata(tmp_path / "good.parquet")["shortlist.release"]
    for name, frame in {
        "ranks": pl.DataFrame({"rank": [2], "title": ["a"], "weight": [1.0]}),
        "types": pl.DataFrame({"rank": [1], "title": [5], "weight": [1.0]}),
        "column": pl.DataFrame({"rank": [1], "title": ["a"]}),
    }.items():
        frame.write_parquet(tmp_path / f"{name}.parquet", metadata={"shortlist.release": about})
    (tmp_path / "good.parquet").unlink()
    for path in tmp_path.iterdir():
        with pytest.raises(InputError, match=r"^cannot load '"):
            sl.load(path)


@pytest.mark.parametrize("name", ["x.csv", "x.md", "x.txt", "x", "none.json", "none.parquet"])
def test_other_files_are_refused(tmp_path, name):
    if name in {"x.csv", "x.md"}:
        release(["a"]).save(tmp_path / name)
    why = "No such file" if name.startswith("none") else r"in a \.json or \.parquet file"
    with pytest.raises(InputError, match=f"^cannot load '.*': .*{why}"):
        sl.load(os.fspath(tmp_path / name))


def test_a_name_that_is_a_glob_is_only_a_name(tmp_path):
    release(["a"]).save(tmp_path / "[x].parquet")
    release(["b"]).save(tmp_path / "x.parquet")
    assert sl.load(Path(tmp_path / "[x].parquet")).items == ["a"]
