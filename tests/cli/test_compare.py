"""Mechanisms beside each other from the shell: what is printed, and that it must be allowed."""

import io

import polars as pl
import pytest

from helpers.command import COLUMNS, IN_TABLE, PRIVACY
from shortlist.metrics.trials import NOT_PRIVATE


def words(question, file, *more):
    runs = () if "--runs" in more else ("--runs", 2)
    return ["compare", question, file, *COLUMNS, *PRIVACY, *runs, "--not-private", *more]


def read(out):
    return pl.read_csv(io.StringIO(out))


def test_figures_are_printed_with_what_they_are(answered, file):
    out = answered(*words("top-k", file, "-k", 2, "-k", 3))
    assert out.startswith("top-k, epsilon=3, delta=1e-06, max_items_per_user=100: means of 2 runs")
    assert out.endswith(f"\n{NOT_PRIVATE}\n")
    legend = " ".join(out.split())
    assert "Less is better, but for items. missing_mass: what the answer lacks, as a" in legend
    assert "; linf: the same at the worst place; relative: " in legend


def test_every_option_may_be_repeated(answered, file):
    more = ["--epsilon", 1, "--max-items-per-user", 1, "--max-items-per-user", 7, "--csv"]
    more += ["--delta", 1e-5, "--mechanism", "policy-greedy", "--mechanism", "weighted-gaussian"]
    out = answered(*words("domain", file, *more))
    frame = read(out)
    assert len(frame) == 2 * 2 * 2 * 2
    assert set(frame["mechanism"]) == {"PolicyGreedy", "WeightedGaussian"}
    assert set(frame["private"]) == {False}
    assert set(frame["max_items_per_user"]) == {1, 7}


def test_counts_are_compared_too(answered, readers):
    asked = ["compare", "top-k", readers, "--item", "title", "--count", "readers", IN_TABLE]
    out = answered(*asked, "-k", 2, "--epsilon", 1, "--runs", 1, "--not-private", "--csv")
    assert read(out)["missing_mass"].to_list()[0] == 0.0


@pytest.mark.parametrize(
    ("question", "more", "said"),
    [
        ("domain", ["-k", 2], "-k: a domain has no number of items; omit it."),
        ("top-k", [], "-k is needed for this question; add -k 20."),
        ("domain", ["--runs", 0], "--runs 0: must be a whole number, 1 or more."),
        ("domain", ["--epsilon", -1], "--epsilon -1.0: must be a number above 0"),
        ("domain", ["--mechanism", "joint"], "--mechanism joint: it answers top-k, not domain"),
        ("rank", [], "Invalid value for 'QUESTION': \"rank\" is not known."),
    ],
)
def test_what_cannot_be_used_is_refused_in_the_words_of_a_shell(
    complaint, file, question, more, said
):
    assert complaint(*words(question, file, *more)).startswith(said)


def test_nothing_is_read_unless_it_may_be_looked_at(complaint, file, monkeypatch):
    monkeypatch.setattr("shortlist.cli.request.Request.source", None)  # what would open it
    asked = [word for word in words("domain", file) if word != "--not-private"]
    assert complaint(*asked) == (
        "this looks at the rows without noise; add --not-private if they may be looked at."
    )


@pytest.mark.parametrize("question", ["domain", "hitting-set"])
@pytest.mark.parametrize("more", [[], ["--user", "user"]])
def test_counts_answer_a_top_k_alone(complaint, file, question, more):
    asked = ["compare", question, file, "--item", "title", "--count", "user", *more, *PRIVACY]
    assert "--count" in complaint(*asked, "-k", 1, "--not-private")
