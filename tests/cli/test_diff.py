"""Two lists compared in the shell: by a command, and in the page of a question."""

import json
from dataclasses import replace

import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import columns, created
from helpers.command import domain, top_k
from helpers.releases import GUARANTEE, release

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def saved(tmp_path):
    """An earlier list and a later one."""
    paths = []
    for name, items in (("last", ["a", "b"]), ("this", ["b", "c"])):
        paths.append(tmp_path / f"{name}.json")
        release(items).save(paths[-1])
    return paths


def test_it_says_what_is_new_gone_and_moved(answered, saved):
    out = answered("diff", *saved)
    found = sl.diff(*map(sl.load, saved))
    assert out == f"{found}\n"
    assert out.startswith("top-k: 1 new, 1 gone, 1 moved\n")
    assert answered("diff", *saved, "--format", "csv") == found.to_csv()
    assert answered("diff", *saved, "--format", "markdown") == found.to_markdown()
    assert json.loads(answered("diff", *saved, "--json")) == found.to_dict()


def test_what_cannot_be_compared_is_refused(complaint, saved, tmp_path):
    release(["a"], question="domain").save(tmp_path / "domain.json")
    said = complaint("diff", saved[0], tmp_path / "domain.json")
    assert 'they differ in the question, "top-k" before and "domain" now' in said
    assert "cannot load" in complaint("diff", saved[0], tmp_path / "none.json")
    assert "Missing argument 'THIS'" in complaint("diff", saved[0])
    assert "give one of the two" in complaint("diff", *saved, "--json", "--format", "csv")


def test_a_page_says_what_changed_since(run, file, path, tmp_path):
    created(path, epsilon=9.0, delta=1e-5)
    last, page = tmp_path / "last.json", tmp_path / "page.html"
    more = ["--share", "1/4", "--budget", path]
    asked = [*top_k(file)[:-4], *more]
    assert run(*asked, "--output", last)[0] == 0
    assert run(*asked, "--report", page, "--since", last)[0] == 0
    assert "What changed" in page.read_text()


def test_what_the_page_could_not_compare_is_refused_unspent(complaint, file, path, saved, tmp_path):
    budget = created(path, epsilon=9.0, delta=1e-5)
    page = ["--report", tmp_path / "page.html", "--budget", path]
    for words, said in (
        (top_k(file, *page, "--since", tmp_path / "none.json"), "cannot load"),
        (domain(file, *page, "--since", saved[0]), "they differ in the question"),
        (top_k(file, "--since", saved[0]), "--since goes with --report"),
    ):
        assert said in complaint(*words)
    assert columns(budget, "number") == []


def numbered(tmp_path):
    """Readers of items that are numbers, in a column of another name or of the same one."""
    rows = {"user": range(60), "song": [1, 2, 3] * 20, "title": [1, 2, 3] * 20}
    frame = pl.DataFrame(rows).with_columns(place=pl.lit("CH"))
    frame.write_parquet(tmp_path / "numbers.parquet")
    return [tmp_path / "numbers.parquet", "--user", "user", "-k", 2, "--epsilon", 1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--item", "song"], 'item columns, "title" before and "song" now'),
        (["--item", "title"], 'types of the columns, "title (String)" before and "title (Int64)"'),
        (["--item", "title", "--by", "place"], 'columns of groups, "none" before and "place" now'),
    ],
)
def test_lists_of_other_items_are_refused_unspent(complaint, path, tmp_path, more, said):
    budget = created(path, epsilon=9.0, delta=1e-5)
    release(["a", "b"], k=2, guarantee=of_user()).save(tmp_path / "last.json")
    page = ["--report", tmp_path / "page.html", "--since", tmp_path / "last.json"]
    asked = ["top-k", *numbered(tmp_path), "--delta", 1e-6, *more, "--budget", path, *page]
    assert said in complaint(*asked)
    assert columns(budget, "number") == []


def of_user():
    return replace(GUARANTEE, protects='all rows of any one "user"')


def test_groups_of_other_types_are_refused_unspent(run, complaint, path, tmp_path):
    budget = created(path, epsilon=9.0, delta=1e-5)
    page = ["--report", tmp_path / "page.html", "--since", tmp_path / "last.json"]
    asked = ["top-k", *numbered(tmp_path), "--delta", 1e-6, "--item", "song"]
    assert run(*asked, "--by", "place", "--output", tmp_path / "last.json")[0] == 0
    said = complaint(*asked, "--by", "title", "--budget", path, *page)
    assert 'columns of groups, "place" before and "title" now' in said
    assert columns(budget, "number") == []


@pytest.fixture
def path():
    """Where a budget can be created, in memory."""
    from helpers.budgets import fast_folder

    with fast_folder() as folder:
        yield f"{folder}/plays.budget"
