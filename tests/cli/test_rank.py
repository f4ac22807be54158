"""Rankings from the shell: what is printed and what is refused."""

import json

import polars as pl
import pytest

from helpers.command import IN_TABLE, ITEMS, instead
from helpers.refusals import MARKER
from shortlist.engines.comparisons_in_memory import ComparisonsInMemory

pytestmark = pytest.mark.usefixtures("plain_terminal")
SPECTRAL = ["--mechanism", "spectral-ranking"]


@pytest.fixture
def games(tmp_path):
    """Item number i of five wins (5 - i) 80 comparisons, each made by somebody else."""
    won = [item for i, item in enumerate(ITEMS) for _ in range((5 - i) * 80)]
    lost = [ITEMS[(ITEMS.index(item) + 1) % 5] for item in won]
    path = tmp_path / "games.parquet"
    frame = pl.DataFrame({"won": won, "lost": lost, "who": range(len(won))})
    frame.with_columns(secret=pl.lit(MARKER), number=pl.lit(1)).write_parquet(path)
    return path


def rank(file, *more, k=2):
    words = ["--winner", "won", "--loser", "lost", "-k", k, "--epsilon", "3"]
    return instead(["rank", file, *words], more)


def test_a_ranking(run, answered, games, tmp_path):
    out = answered(*rank(games, IN_TABLE))
    assert out.startswith("rank: 2 items\n")
    assert [line.split()[:2] for line in out.split("\n")[5:7]] == [["1", "007"], ["2", "7"]]
    assert "protects    one comparison\n" in out
    assert "the items that the table compares are public" in " ".join(out.split())
    known = tmp_path / "known.csv"
    known.write_text("won\nnobody\n7\n007\n[bold]x[/]\n")
    users = ["--user", "who", "--max-comparisons-per-user", 3, "--public-items", known]
    status, out, _ = run(*rank(games, *users, "--json"))
    release = json.loads(out)
    assert (status, [item["item"] for item in release["items"]]) == (0, ["007", "7"])
    assert release["guarantee"]["protects"] == "one user, at most 3 comparisons"
    assert release["mechanism"]["parameters"]["max_comparisons_per_user"] == 3
    assert release["question"] == "rank"


def test_a_spectral_ranking(answered, games):
    words = rank(games, IN_TABLE, *SPECTRAL, "--contraction", "0.9", "--degree", 4, k=5)
    out = answered(*words)
    said = " ".join(out.split())
    assert "who won, in one comparison" in said
    assert "an ergodicity coefficient of at most 0.9; other outcomes are not protected" in said
    assert "SpectralRanking: 5 items asked for; contraction at most 0.9; each item was" in said
    out = answered(*words, "--dry-run")
    assert "other outcomes are not protected" in " ".join(out.split())


def test_a_dry_run_of_a_ranking_reads_nothing(answered, games, monkeypatch):
    monkeypatch.setattr(ComparisonsInMemory, "show", lambda *_: pytest.fail("rows are read"))
    out = answered(*rank(games, IN_TABLE, "--dry-run"))
    assert out.startswith("No row was read and nothing was spent.\n\nrank by WinCount.\n- This run")
    assert "hides what one comparison changes" in " ".join(out.split())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "one of --public-items and --public-items-in-table is needed; give a file"),
        ([IN_TABLE, "--public-items", "x.csv"], "omit one of the two."),
        ([IN_TABLE, "--input-format", "csv"], "--input-format goes with - for FILE;"),
        ([IN_TABLE, "--user", "who"], '--user "who": all comparisons of a user are protected'),
        ([IN_TABLE, "--user", "who"], "give --max-comparisons-per-user, such as 10, or omit"),
        ([IN_TABLE, "--max-comparisons-per-user", 3], "--max-comparisons-per-user 3: it bounds"),
        ([IN_TABLE, "--winner", "wno"], '--winner "wno" is not a column. The columns are "won"'),
        ([IN_TABLE, "--winner", "wno"], 'Did you mean "won"?'),
        ([IN_TABLE, "--loser", "won"], '--winner "won" and --loser "won" are the same column'),
        ([IN_TABLE, "--loser", "number"], '--winner "won" is of type String, and'),
        ([IN_TABLE, "--delta", "0.1"], "--delta 0.1: win-count is pure and uses none of it"),
        ([IN_TABLE, "--mechanism", "joint"], "--mechanism joint: it answers top-k, not rank;"),
        ([IN_TABLE, "-k", 6], "-k 6: there are only 5 public items; ask for at most 5."),
        ([IN_TABLE, "--seed", 1], "--seed 1: whoever knows the seed"),
        ([IN_TABLE, "--degree", 3], "--degree: it goes with --mechanism spectral-ranking; omit"),
        ([IN_TABLE, *SPECTRAL], "--mechanism spectral-ranking: not every pair of items was"),
        ([IN_TABLE, *SPECTRAL], "give its option --contraction, with which fewer outcomes are"),
        ([IN_TABLE, *SPECTRAL], "or omit --mechanism: the default protects all."),
        ([IN_TABLE, "--mechanism", "win-count", "--contraction", "0.9"], "--contraction: it goes"),
        ([IN_TABLE, "--contraction", "0.9"], "--contraction: it goes with --mechanism spectral-"),
        (
            [IN_TABLE, *SPECTRAL, "--user", "who", "--max-comparisons-per-user", 3],
            "drawn at random, which a larger --max-comparisons-per-user may fix",
        ),
        ([IN_TABLE, *SPECTRAL, "--contraction", "1"], "--contraction 1.0: must be a number from 0"),
        ([IN_TABLE, *SPECTRAL, "--contraction", "0.9", "--degree", 1], "give 2 or more, or"),
        ([IN_TABLE, *SPECTRAL, "--delta", "0.1"], "--delta 0.1: spectral-ranking is pure and uses"),
    ],
)
def test_values_that_do_not_fit_a_ranking(complaint, games, more, said):
    assert said in complaint(*rank(games, *more))
