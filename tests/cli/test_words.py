"""One refusal, as Python tells it and as the command does: each in its own words."""

import gzip
import random
import re

import polars as pl
import pytest

import shortlist as sl
from helpers.command import COLUMNS
from helpers.refusals import refused
from shortlist import mechanisms
from shortlist.mechanisms.registry import mechanism_names

pytestmark = pytest.mark.usefixtures("plain_terminal")

ASK = {"k": 2, "epsilon": 1.0, "delta": 1e-6}
WORDS = {"k": "-k", "epsilon": "--epsilon", "delta": "--delta", "count_share": "--count-share"}


def in_shell(file, asked, *more):
    words = [word for name, value in asked.items() for word in (WORDS[name], str(value))]
    return ["top-k", file, *COLUMNS, *words, *more]


@pytest.mark.parametrize(
    ("asked", "kind", "said"),
    [
        ({"k": 0}, None, "-k 0: must be a whole number, 1 or more."),
        ({"epsilon": 0.0}, None, "--epsilon 0.0: must be a number above 0"),
        (
            {"delta": 0.0},
            None,
            "because the items are private: add --delta 1e-6. If everybody knows the items, give",
        ),
        ({"delta": 1.0}, None, "--delta 1.0: must be a number above 0 and below 1"),
        ({"count_share": 1.0}, None, "--count-share 1.0: must be a number from 1e-6"),
        ({}, mechanisms.Peeling, "--mechanism peeling: it takes items that everybody knows; give"),
        ({}, mechanisms.WeightedGaussian, "it answers domain, not top-k; omit --mechanism, or"),
        ({}, mechanisms.ThresholdTopK, "omit --mechanism, or give a store, by --store."),
        ({}, mechanisms.WinCount, "--mechanism win-count: it answers rank, not top-k;"),
    ],
)
def test_each_face_says_it_in_its_own_words(complaint, tmp_path, asked, kind, said):
    asked = ASK | asked
    pl.DataFrame({"user": ["a"], "title": ["x"]}).write_parquet(tmp_path / "t.parquet")
    source = sl.pairs(tmp_path / "t.parquet", user="user", item="title")
    told = str(refused(lambda: source.top_k(**asked, mechanism=kind)))
    option = [] if kind is None else ["--mechanism", kebab(kind)]
    shown = complaint(*in_shell(tmp_path / "t.parquet", asked, *option))
    assert said in shown
    assert told != shown
    for name in mechanism_names():
        assert name not in told or "-" not in name
    assert not re.search(r"--\w|top-k|FILE", told)
    assert not re.search(r"\w_\w|\w=|\bsl\.", shown)
    assert not any(kind in shown for kind in mechanisms.__all__ if kind != "Joint")


def kebab(kind):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()


def test_a_domain_is_not_told_of_public_items(complaint, tmp_path):
    pl.DataFrame({"user": ["a"], "title": ["x"]}).write_parquet(tmp_path / "t.parquet")
    words = ["domain", tmp_path / "t.parquet", *COLUMNS, "--epsilon", 1, "--delta"]
    said = complaint(*words, 0)
    assert said == "--delta is needed, because the items are private: add --delta 1e-6."
    said = complaint(*words, 1e-6, "--mechanism", "domain")
    kinds = (
        "adaptive-gaussian, chosen-bound, greedy-or-rounds, policy-gaussian, policy-greedy, "
        "weighted-gaussian"
    )
    assert said == f'--mechanism "domain" is not known; there are {kinds}.'


CUT = gzip.compress(b"user,title\n" + random.Random(5).randbytes(99_999).hex().encode())[:60_000]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", b"user,title\n" + b"a,b\n" * 500 + b"a,b,Zz\n", "a row cannot be parsed"),
        ("t.csv.gz", CUT, "its compressed content is cut short or damaged"),
        ("t.parquet", b"PAR1 Zz", "it is cut short or damaged"),
        ("t.csv", b"user,title\n" + b"a,b\n" * 500 + b"Zz,\xe9\n", "is not in UTF-8 but"),
    ],
)
def test_what_cannot_be_read_names_its_cause(complaint, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    words = in_shell(tmp_path / name, ASK)
    told = complaint(*words)
    assert said in told
    assert "Zz" not in told
