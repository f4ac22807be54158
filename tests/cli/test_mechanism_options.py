"""A mechanism's own options from the shell, in every command that takes a mechanism."""

import json

import polars as pl
import pytest

from helpers.command import COLUMNS, count, domain, hitting_set, top_k

RANK = ["--winner", "won", "--loser", "lost", "--public-items-in-table", "-k", 1, "--epsilon", 5]
SPECTRAL = ["--mechanism", "spectral-ranking"]


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.csv"
    pl.DataFrame({"won": ["a", "b"] * 200, "lost": ["b", "a"] * 200}).write_csv(path)
    return path


@pytest.fixture
def planned(run):
    """The parameters of the mechanism that would answer."""

    def planned(words):
        status, out, err = run(*words, "--dry-run", "--json")
        assert (status, err) == (0, "")
        return json.loads(out)["mechanism"]["parameters"]

    return planned


def test_every_command_takes_them(planned, file, readers, games):
    asked = [
        (top_k(file), "discover-then-rank", "discovery_share=0.2", 0.2),
        (domain(file), "policy-greedy", "alpha=4", 4),
        (hitting_set(file), "user-peeling", "accounting=published", "published"),
        (["rank", games, *RANK], "spectral-ranking", "contraction=0.5", 0.5),
        (count(readers, "--public-items-in-table"), "joint-or-peel", "threshold=None", None),
    ]
    for words, mechanism, option, value in asked:
        told = planned([*words, "--mechanism", mechanism, "--option", option])
        assert told[option.split("=")[0]] == value


def test_with_noisy_counts_they_are_those_of_the_selection(planned, file):
    words = [*top_k(file), "--mechanism", "discover-then-rank", "--count-share", "0.3"]
    told = planned([*words, "--option", "discovery-share=0.2"])
    assert told["selection"]["discovery_share"] == 0.2


def test_beside_a_bound_of_the_mechanism_s_own(planned, file, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("title\n7\n007\nx\n")
    words = ["top-k", file, *COLUMNS, "-k", 2, "--epsilon", 5, "--public-items", known]
    words += ["--mechanism", "one-shot-laplace", "--max-items-per-user", 1]
    told = planned([*words, "--option", "neighbours=general"])
    assert told["max_items_per_user"] == 1
    assert told["neighbours"] == "add, remove or change one user"


def test_an_option_and_its_synonym_are_one(planned, complaint, games):
    words = ["rank", games, *RANK, *SPECTRAL]
    by_option = planned([*words, "--option", "contraction=0.5", "--option", "degree=3"])
    assert by_option == planned([*words, "--contraction", "0.5", "--degree", 3])
    said = complaint(*words, "--degree", 3, "--option", "degree=4")
    assert said == "--option degree: it is given twice; give it once."


@pytest.mark.parametrize("mechanism", [[], ["--mechanism", "peeling"]])
def test_what_may_be_a_table_is_not_quoted(complaint, file, mechanism):
    table = "user,item\nAnn,Emma"
    for option in (table, f"{table}=1", f"accounting={table}"):
        assert "Ann" not in complaint(*top_k(file), *mechanism, "--option", option)
