import csv
import json
import pickle
import subprocess
import sys
from datetime import date
from importlib.metadata import version

import numpy as np
import polars as pl
import pytest

import shortlist
from helpers.releases import GUARANTEE, HOSTILE, Example, counted, release
from shortlist.errors import InputError
from shortlist.release import Release, Scores
from shortlist.release.sheet import sheet

BIG = 2**63 - 1


RANGES = "count_low", "count_high", "rank_low", "rank_high"


def test_behaves_as_the_collection_of_its_items():
    answer = release(["b", "a"])
    assert answer.items == list(answer) == ["b", "a"]
    assert len(answer) == 2
    assert "a" in answer
    assert "c" not in answer


def test_several_item_columns_make_tuples_of_native_values():
    answer = release({"day": [date(2024, 2, 29)], "page": [BIG], "lang": ["de"]})
    assert answer.items == [(date(2024, 2, 29), BIG, "de")]
    assert (date(2024, 2, 29), BIG, "de") in answer


def test_is_immutable():
    frame = pl.DataFrame({"title": ["a", "b"]})
    kept = Release(
        question="domain", items=frame, scores=None, guarantee=GUARANTEE, mechanism=Example()
    )
    frame[0, "title"] = "changed"
    kept.items.append("more")
    kept.to_polars()[0, "title"] = "changed"
    assert kept.items == ["a", "b"]
    for name in ("items", "scores", "question", "new"):
        with pytest.raises(AttributeError):
            setattr(kept, name, None)
    with pytest.raises(AttributeError):
        del kept.guarantee


def test_survives_pickling():
    answer = release(["b", "a"])
    assert pickle.loads(pickle.dumps(answer)).to_dict() == answer.to_dict()  # noqa: S301 - our own


def test_needs_one_score_per_item():
    with pytest.raises(ValueError, match="as many scores as items"):
        release(["a", "b"], scores=release(["a"]).scores)


def test_scores_are_a_value():
    scores = Scores([3, 2.5, 1], unit="noisy weight", noise_sd=2)
    assert list(scores) == [3.0, 2.5, 1.0]
    assert scores[-1] == 1.0
    assert scores[:2] == Scores([3.0, 2.5], unit="noisy weight", noise_sd=2.0)
    assert scores != Scores([3.0, 2.5, 1.0], unit="noisy count", noise_sd=2.0)
    assert scores != Scores([3.0, 2.5, 1.0], unit="noisy weight", noise_sd=1.0)
    assert scores != [3.0, 2.5, 1.0]
    assert len({scores, Scores([3, 2.5, 1], unit="noisy weight", noise_sd=2)}) == 1
    assert repr(scores) == "Scores([3.0, 2.5, 1.0], unit='noisy weight', noise_sd=2.0)"
    with pytest.raises(AttributeError):
        scores.unit = "x"


def test_the_part_of_the_noise_that_scores_share_is_part_of_their_value():
    own = Scores([3, 2], unit="noisy count", noise_sd=2)
    shared = Scores([3, 2], unit="noisy count", noise_sd=2, shared_sd=1)
    assert own.shared_sd is None
    assert shared.shared_sd == 1.0
    assert shared[:1].shared_sd == 1.0
    assert len({own, shared, Scores([3, 2], unit="noisy count", noise_sd=2, shared_sd=1.0)}) == 2
    assert repr(shared) == "Scores([3.0, 2.0], unit='noisy count', noise_sd=2.0, shared_sd=1.0)"


def with_a_shared_part(shared_sd=3.125):
    scores = Scores([107, 96], unit="noisy count", noise_sd=6.75, shared_sd=shared_sd)
    return release(["a", "b"], scores=scores)


def test_it_is_shown_that_scores_share_a_part_of_their_noise():
    said = dict(sheet(with_a_shared_part()).notes)["count"]
    assert said == (
        "noisy count; the noise has standard deviation 6.75, of which a part (3.125) is the "
        "same for all counts: it cancels in differences and adds up in sums"
    )
    alone = dict(sheet(with_a_shared_part(None)).notes)["count"]
    assert alone == "noisy count; the noise has standard deviation 6.75"
    assert said in with_a_shared_part().to_markdown()


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_a_shared_part_is_saved_and_loaded(tmp_path, suffix):
    held = with_a_shared_part()
    held.save(tmp_path / f"x.{suffix}")
    loaded = shortlist.load(tmp_path / f"x.{suffix}")
    assert loaded == held
    assert loaded.scores.shared_sd == 3.125
    assert held != with_a_shared_part(None)
    said = {"unit": "noisy count", "noise_sd": 6.75}
    assert held.to_dict()["scores"] == {**said, "shared_sd": 3.125}
    assert with_a_shared_part(None).to_dict()["scores"] == said


def test_to_polars_has_rank_items_and_score():
    frame = release(["b", "a"]).to_polars()
    assert frame.schema == {"rank": pl.UInt32, "title": pl.String, "weight": pl.Float64}
    assert frame.rows() == [(1, "b", 100.0), (2, "a", 99.75)]


def test_to_polars_of_an_empty_release_has_the_same_schema():
    frame = release({"title": pl.Series([], dtype=pl.String)}).to_polars()
    assert frame.schema == {"rank": pl.UInt32, "title": pl.String, "weight": pl.Float64}


def test_without_scores_there_is_no_score_column():
    assert release(["b"], scores=False).to_polars().columns == ["rank", "title"]


@pytest.mark.parametrize(
    ("items", "columns"),
    [
        (["rank"], ["shortlist_rank", "rank", "weight"]),
        (["weight", "x"], ["rank", "weight", "x", "shortlist_weight"]),
        (
            ["shortlist_rank", "rank"],
            ["shortlist_shortlist_rank", "shortlist_rank", "rank", "weight"],
        ),
    ],
)
def test_item_columns_keep_their_names(items, columns):
    answer = release({name: ["v"] for name in items})
    assert answer.to_polars().columns == columns
    assert answer.to_dict()["columns"] == {
        "rank": columns[0],
        "items": items,
        "types": dict.fromkeys(items, "String"),
        "score": columns[-1],
        "score_type": "Float64",
    }
    assert str(answer)
    assert answer._repr_html_()


def test_arrow_stream():
    answer = release(["b", "a"])
    assert pl.DataFrame(answer).equals(answer.to_polars())


def test_to_dict_says_everything():
    answer = release({"day": [date(2024, 2, 29)], "page": [BIG]}, private=False)
    assert answer.to_dict() == {
        "format": "shortlist.release",
        "version": 4,
        "library": shortlist.__version__,
        "about": dict.fromkeys(
            ("dataset", "as_of", "where", "amount", "title", "note", "version", "made_on")
        ),
        "question": "top-k",
        "guarantee": {
            "epsilon": 1.0,
            "delta": 1e-6,
            "cost": {"name": "Gaussian", "parameters": {"rho": 0.02, "delta": 0.0}},
            "adjacency": "add or remove one user",
            "protects": 'all rows of any one "user"',
            "assumes": ["the names of the columns are public"],
            "private": False,
        },
        "budget": "none was charged",
        "mechanism": {
            "name": "Example",
            "parameters": {
                "steps": 3,
                "delta": 1e-6,
                "sigma": 4.88,
                "limit": "inf",
                "split": {"discover": 0.5, "rank": 0.25},
            },
        },
        "columns": {
            "rank": "rank",
            "items": ["day", "page"],
            "types": {"day": "Date", "page": "Int64"},
            "score": "weight",
            "score_type": "Float64",
        },
        "scores": {"unit": "noisy weight", "noise_sd": 4.88},
        "items": [{"rank": 1, "day": "2024-02-29", "page": BIG, "weight": 100.0}],
    }


@pytest.mark.parametrize("items", [HOSTILE, pl.Series([], dtype=pl.String)], ids=["some", "none"])
@pytest.mark.parametrize("scores", [True, False])
def test_json_text_is_ascii_without_controls_and_means_the_dict(items, scores):
    answer = release({"title": items}, scores=scores)
    text = answer.to_json()
    assert all(" " <= character <= "~" for character in text.replace("\n", ""))
    assert json.loads(text) == answer.to_dict()


def test_saves_json(tmp_path):
    answer = release(HOSTILE)
    answer.save(tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text("ascii")) == answer.to_dict()


def test_saves_csv_faithfully(tmp_path):
    items = [*HOSTILE, "007", " padded ", 'quo"te, comma', "=1+1", "+1", "-1", "@x", "日本"]
    answer = counted(items)
    answer.save(str(tmp_path / "out.csv"))
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["rank", "title", "count", *RANGES]
    assert [row[1] for row in rows] == items
    assert [float(row[2]) for row in rows] == list(answer.scores)


def test_saves_parquet_with_its_guarantee(tmp_path):
    path = tmp_path / "out.PARQUET"
    answer = release(HOSTILE)
    answer.save(path)
    assert pl.read_parquet(path).equals(answer.to_polars())
    about = json.loads(pl.read_parquet_metadata(path)["shortlist.release"])
    assert about | {"items": answer.to_dict()["items"]} == answer.to_dict()


def test_unknown_suffix_names_the_four(tmp_path):
    for name in ("out.xlsx", "out", ".json", ""):
        with pytest.raises(InputError, match=r"\.md, \.json, \.csv or \.parquet"):
            release(["a"]).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_repr_is_one_line_without_items():
    expected = "<Release top-k: 2 items, epsilon=1.0, delta=1e-06>"
    assert repr(release(["secret\n", "b"])) == expected
    seeded = release(["a"], question="domain", private=False)
    assert repr(seeded) == "<Release domain: 1 item, epsilon=1.0, delta=1e-06, not private>"


def test_import_is_light():
    code = "import sys, shortlist.release; print(sorted({'polars', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout == "[]\n"


def test_it_says_how_many_were_asked_for():
    assert release(["a"]).k is None
    assert release(["a"], k=3).k == 3
    rows = pl.DataFrame({"user": range(500), "title": ["Emma", "Ulysses"] * 250})
    plays = shortlist.pairs(rows, user="user", item="title")
    assert plays.domain(epsilon=1.0, delta=1e-6).k is None
    for share in (None, 0.2):
        assert plays.top_k(7, epsilon=1.0, delta=1e-6, count_share=share).k == 7
    assert plays.hitting_set(7, epsilon=1.0, delta=1e-6).k == 7


def test_fewer_than_asked_for_is_in_the_repr():
    assert "top-k: 1 item, fewer than the 2 asked for, epsilon" in repr(release(["a"], k=2))
    assert "fewer" not in repr(release(["a", "b"], k=2)) + repr(release([], question="domain"))


def test_pandas_keeps_rank_and_score():
    pandas = pytest.importorskip("pandas")
    answer = release({"page": [BIG, 7], "day": [date(2024, 2, 29), None]})
    cells = [[1, BIG, date(2024, 2, 29), 100.0], [2, 7, None, 99.75]]
    assert pandas.DataFrame(answer).to_numpy().tolist() == cells
    assert pandas.DataFrame(answer, columns=list("abcd"))["a"].tolist() == [1, 2]
    frame = answer.to_pandas()
    assert list(frame.columns) == ["rank", "page", "day", "weight"]
    assert frame["page"].tolist() == [BIG, 7]
    assert frame["weight"].tolist() == [100.0, 99.75]
    assert len(pandas.DataFrame(release({"title": []}))) == 0


def test_a_release_as_an_array_is_its_table():
    cells = np.asarray(release(["a", "b"], scores=False))
    assert cells.tolist() == [[1, "a"], [2, "b"]]
    assert np.array(release(["a"], scores=False), dtype=str).tolist() == [["1", "a"]]
    with pytest.raises(ValueError, match="leave copy out"):
        np.array(release(["a"]), copy=False)


def test_the_version_is_that_of_the_package():
    assert shortlist.__version__ == version("shortlist")
    code = "import sys, shortlist; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout == "False\n"


def test_saves_markdown(tmp_path):
    answer = release(HOSTILE)
    answer.save(tmp_path / "out.MD")
    assert (tmp_path / "out.MD").read_text("utf-8") == answer.to_markdown()


@pytest.mark.parametrize("suffix", [".json", ".csv", ".md", ".parquet"])
def test_what_exists_is_not_replaced_unasked(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    release(["a"]).save(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"it exists, .* or overwrite=True\.$"):
        release(["b"]).save(path)
    assert path.read_bytes() == before
    release(["b"]).save(path, overwrite=True)
    assert path.read_bytes() != before
