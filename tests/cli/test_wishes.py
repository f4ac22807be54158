"""What new users try first, and what they are told."""

import io
import os
import sys
import threading

import polars as pl
import pytest

import shortlist as sl

ASKED = ("-k", "2", "--epsilon", "1", "--delta", "1e-6")


@pytest.fixture
def table(plays, tmp_path):
    path = tmp_path / "plays.csv"
    plays.write_csv(path)
    return path


def test_a_column_of_other_letters_is_suggested_in_a_csv_too(complaint, table):
    said = complaint("top-k", table, "--user", "User", "--item", "Title", *ASKED)
    assert said.endswith('--user "User" is not a column. Did you mean "user"?')
    assert "somebody's row" in complaint("top-k", table, "--user", "x", "--item", "y", *ASKED)


@pytest.mark.parametrize("item", ["user,title", "country,city"])
def test_several_columns_are_named_one_by_one(complaint, table, item):
    said = complaint("top-k", table, "--user", "user", "--item", item, *ASKED)
    assert "For several columns repeat the option, as in --item country --item city. " in said
    with pytest.raises(sl.InputError, match=r'give a list of their names, as in \["country",'):
        sl.pairs(str(table), user="user", item=item)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("--where", "Rows are not filtered here. Write those that count to a file first"),
        ("--filter", "choose them without looking at the data."),
        ("--limit", "How many items: -k N."),
        ("--group-by", "By groups: --by COLUMN."),
        ("--out", "To save the answer: --output FILE."),
    ],
)
def test_what_other_commands_have_is_told_how_to_have(complaint, table, wish, said):
    told = complaint("top-k", table, "--user", "user", "--item", "title", *ASKED, wish, "x")
    assert said in told
    assert "Did you mean" not in told


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_release_is_explained_from_a_pipe(run, complaint, table, monkeypatch, tmp_path):
    words = ("--user", "user", "--item", "title", *ASKED)
    saved = run("top-k", table, *words, "--json")[1].encode()

    def piped(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    piped(saved)
    assert run("explain", "-")[1].startswith("The items that the most users hold\n2 items named")
    named = tmp_path / "pipe"
    os.mkfifo(named)
    writer = threading.Thread(target=named.write_bytes, args=(saved,))
    writer.start()
    assert run("explain", named)[1].startswith("The items that the most users hold")
    writer.join()
    for wrong in (b"", b"user,item\n", b"{}"):
        piped(wrong)
        assert "print it by --json, and write --json | shortlist explain -." in complaint(
            "explain", "-"
        )


def test_empty_items_can_be_seen_and_joined_emoji_are_whole(run, tmp_path):
    family = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}"
    items = ["", "  ", family, "a\N{ZERO WIDTH JOINER}b"]
    path = tmp_path / "items.parquet"
    pl.DataFrame({"user": range(2000), "title": items * 500}).write_parquet(path)
    words = ("domain", path, "--user", "user", "--item", "title", *ASKED[2:])
    for form in ("table", "markdown"):
        out = run(*words, "--format", form)[1].replace("\\\\", "\\")
        assert family in out
        assert ' ""' in out
        assert ' "  "' in out
        assert r"a\u200db" in out
    release = sl.pairs(str(path), user="user", item="title").domain(epsilon=1.0, delta=1e-6)
    assert '"  "' in str(release)
    assert "&quot;&quot;</td>" in release._repr_html_()
