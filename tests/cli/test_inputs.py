"""What the command reads: the standard input, directories, packed files."""

import gzip
import io
import json

import pytest

from helpers.command import domain, top_k

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.mark.parametrize(
    ("options", "separator"),
    [
        ([], ","),
        (["--input-format", "csv", "--separator", ";"], ";"),
        (["--input-format", "tsv"], "\t"),
        (["--separator", r"\t"], "\t"),
        (["--separator", "tab"], "\t"),
    ],
)
def test_what_is_piped_in(answered, monkeypatch, options, separator):
    rows = "".join(f"u{i}{separator}007\n" for i in range(3000))
    content = f"user{separator}title\n{rows}".encode()
    for words in (top_k("-", *options, k=1), domain("-", *options)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        out = answered(*words, "--json")
        assert [item["title"] for item in json.loads(out)["items"]] == ["007"]


def test_parquet_is_told_from_text(complaint, file, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    said = "the standard input is Parquet; add --input-format parquet."
    assert complaint(*top_k("-")) == said
    (tmp_path / "plays.csv").write_bytes(file.read_bytes())
    said = complaint(*top_k(tmp_path / "plays.csv"))
    assert said.endswith('plays.csv" is Parquet; give it the suffix .parquet.')
    (tmp_path / "plays.csv").write_text("PAR1,title\n1,a\n")
    assert '--user "user" is not a column' in complaint(*top_k(tmp_path / "plays.csv"))


@pytest.mark.parametrize("given", ["directory", "gzip"])
def test_other_files(run, tmp_path, given):
    rows = b"".join(b"u%d;007\n" % i for i in range(3000))
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"user;title\n" + rows))
    given = tmp_path if given == "directory" else file
    status, out, _ = run(*top_k(given, "--separator", ";", "--json", k=1))
    assert (status, [item["title"] for item in json.loads(out)["items"]]) == (0, ["007"])


def test_a_ranking_of_what_is_piped_in(run, monkeypatch):
    content = b"won\tlost\n" + b"007\t7\n" * 900
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    words = ["rank", "-", "--winner", "won", "--loser", "lost", "--public-items-in-table"]
    status, out, _ = run(*words, "--input-format", "tsv", "-k", 1, "--epsilon", 1, "--json")
    assert (status, [item["item"] for item in json.loads(out)["items"]]) == (0, ["007"])


def test_a_separator_that_is_found_is_told_on_stderr_once(run, tmp_path):
    for name in "ab":
        rows = "".join(f"{name}{i};007\n" for i in range(3000))
        (tmp_path / f"{name}.csv").write_text(f"user;title\n{rows}")
    status, out, err = run(*top_k(tmp_path / "*.csv", "--json", k=1))
    assert status == 0
    assert [item["title"] for item in json.loads(out)["items"]] == ["007"]
    assert err.count("semicolons") == err.count("--separator") == 1
    status, _, err = run(*top_k(tmp_path / "*.csv", "--json", "--separator", ";", k=1))
    assert (status, err) == (0, "")


def test_text_in_another_encoding(answered, complaint, tmp_path):
    path = tmp_path / "plays.csv"
    path.write_bytes(b"user,title\n" + "".join(f"u{i},é\n" for i in range(3000)).encode("latin1"))
    assert "--encoding" in complaint(*top_k(path, k=1))
    out = answered(*top_k(path, "--encoding", "latin1", "--json", k=1))
    assert [item["title"] for item in json.loads(out)["items"]] == ["é"]
    assert complaint(*top_k(path, "--encoding", "x")).startswith("--encoding 'x': must be the name")
