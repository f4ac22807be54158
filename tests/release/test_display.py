import re
import unicodedata
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from helpers.releases import GUARANTEE, HOSTILE, Example, counted, release
from shortlist.release import rendering
from shortlist.release.readable import _KEPT, intact, visible, without_idle_digits
from shortlist.release.sheet import notes, sheet

SCRIPTS = [
    "ألف ليلة",
    "進撃の巨人　総集編",
    "🎉 fête",
    "e\u0301te\u0301",
    "हिन्दी",
    "한국어",
    "plain",
]
TAGS = {"div", "p", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


UNSEEN = "\u034f\u115f\u1160\u17b4\u180b\u180f\u2800\u3164\ufe00\ufe0f\uffa0\U0001d159\U000e0100"


def harmless(text):
    seen = all(c.isprintable() or unicodedata.category(c) == "Zs" for c in text)
    return seen and not set(UNSEEN) & set(text)


def all_harmless(text):
    """What scripts and emoji are joined by may stand between these, and nowhere else."""
    return harmless(_KEPT.sub("", text).replace("\n", ""))


def in_terminal(answer, width=80):
    file = StringIO()
    options = {"force_terminal": True, "color_system": "truecolor", "force_jupyter": False}
    Console(file=file, width=width, **options).print(answer)
    return file.getvalue()


class Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.cells = [], []
        self.feed(text)

    def handle_starttag(self, tag, _):
        self.tags.append(tag)
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_data(self, data):
        if self.tags[-1] in {"td", "th"}:
            self.cells[-1] += data


TINY = """\
top-k: 2 items

rank   title   count   95\N{NO-BREAK SPACE}% interval   95\N{NO-BREAK SPACE}% rank
────────────────────────────────────────────────
   1   b         100   90 to 110       1 to 2
   2   a          99   89 to 109       1 to 2

protects    all rows of any one "user"
privacy     protection is strong: epsilon=1.0, delta=1e-06
neighbours  add or remove one user
assumes     the names of the columns are public
mechanism   Example: 0.3 of the budget for counts
count       noisy count; the noise has standard deviation 4.88; in 95 of 100
            cases the number of users is in the interval, and all ranks are as
            the last column says: those by numbers of users, among the items
            listed
budget      none was charged

A new run costs as much again."""


def test_plain_text():
    assert str(counted(["b", "a"])) == TINY


def test_clipped_counts_are_told_from_counts():
    clipped = release(["b", "a"], unit="noisy clipped count")
    assert str(clipped).split("\n")[2].split() == ["rank", "title", "clipped_count"]
    assert " ".join(str(clipped).split()).endswith(
        "clipped_count noisy clipped count: a user who holds many items adds less than 1, or "
        "counts for some of them only; the noise has standard deviation at most 4.88 budget none "
        "was charged A new run costs as much again."
    )
    whole = " ".join(str(release(["b", "a"], unit="noisy count")).split())
    assert " count noisy count; the noise has standard deviation 4.88 budget none" in whole


def test_terminal_says_the_same():
    plain = re.sub(r"\x1b\[[\d;]*m", "", in_terminal(counted(["b", "a"])))
    assert [line.rstrip() for line in plain.rstrip("\n").split("\n")] == TINY.split("\n")


def test_empty_and_single():
    assert str(release({"title": []})).startswith("top-k: 0 items\n")
    assert str(release(["a"], scores=False, question="domain")).startswith("domain: 1 item\n")


def test_a_seeded_release_says_so_above_and_below():
    answer = release(["a"], private=False)
    warning = "not private: the noise came from a seed"
    lines = str(answer).split("\n")
    assert lines[1] == warning
    assert lines.count(warning) == 2
    assert in_terminal(answer).count(warning) == 2
    assert warning in answer._repr_html_()
    assert "not private" not in str(release(["a"])) + release(["a"])._repr_html_()


@pytest.mark.parametrize(("total", "shown"), [(100, 100), (101, 30), (2_000, 30)])
def test_long_lists_are_shown_by_their_head(total, shown):
    answer = release([f"item {i}" for i in range(total)])
    more = f"… and {total - shown:,} more"
    for text in (str(answer), answer._repr_html_()):
        assert text.count("item ") == shown
        assert (more in text) == (total > shown)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_hostile_items_print_literally_and_harmlessly(width):
    text = in_terminal(release(HOSTILE), width)
    assert harmless(re.sub(r"\x1b\[[\d;]*m", "", text).replace("\n", ""))
    assert set(re.findall(r"\x1b\[[\d;]*m", text)) <= {"\x1b[0m", "\x1b[1m", "\x1b[2m"}


@pytest.mark.parametrize("shown", [r"\x1b[31mred\x1b]8;;", r"tab\tline\nret", "[bold]x[/] [link="])
def test_what_was_hidden_can_be_seen(shown):
    assert shown in str(release(HOSTILE))
    assert shown in release(HOSTILE)._repr_html_()


@pytest.mark.parametrize("character", UNSEEN + "\u200b\u200d\u00ad\u2060\U000e0061\n\x7f\x85")
def test_what_shows_nothing_is_escaped(character):
    shown = visible(f"a{character}b")
    assert shown.isascii()
    assert shown.encode().decode("unicode_escape") == f"a{character}b"


@pytest.mark.parametrize("text", [*SCRIPTS, "a\u00a0b", "\\", "ｗｉｄｅ", "⠁", "ㅣ"])
def test_what_can_be_seen_stays(text):
    assert visible(text) == text


@given(items=st.lists(anything, max_size=4), column=anything)
@example(items=HOSTILE, column="<script>")
def test_no_text_gets_past_the_displays(items, column):
    answer = release({f"c{column}": items}, unit="noisy number of wins")
    assert all_harmless(str(answer))
    page = answer._repr_html_()
    assert all_harmless(page)
    parsed = Cells(page)
    assert set(parsed.tags) <= TAGS
    assert parsed.cells[1] == visible(f"c{column}")
    assert parsed.cells[4::3] == [intact(item, cut=True) for item in items]


def test_hostile_words_of_the_caller_are_harmless_too():
    @dataclass(frozen=True)
    class Named:
        def parameters(self):
            return {"note": "<b>\x1b[1m"}

    hostile = replace(GUARANTEE, protects="<i>\u202e", assumes=("\n[red]",))
    assert all(harmless(line) for _, line in notes(hostile, Named()))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_scores_stay_in_line_beside_every_script(width):
    file = StringIO()
    Console(file=file, width=width, force_jupyter=False).print(release(SCRIPTS))
    lines = file.getvalue().split("\n")[4 : 4 + len(SCRIPTS)]
    assert [line.split(maxsplit=1)[0] for line in lines] == list("1234567")
    assert all(item in line for item, line in zip(SCRIPTS, lines, strict=True))
    assert len({cell_len(line) for line in lines}) == 1


def test_long_items_are_folded_and_very_long_ones_cut():
    assert "".join(str(release(["x" * 150])).split()).count("x" * 64) == 2
    assert visible("x" * 10_000) == "x" * 199 + "…"


@pytest.mark.parametrize(
    ("score", "noise_sd", "shown"),
    [
        (123.45000000000001, 4.88, "123.5"),
        (-0.01, 4.88, "0.0"),
        (123.456, 0.05, "123.456"),
        (98765.4, 300.0, "98765"),
        (98765.4, 0.0, "98765.4"),
        (1e-9, 1e-30, "0.000000001000"),
    ],
)
def test_scores_have_the_digits_that_their_noise_leaves(score, noise_sd, shown):
    assert without_idle_digits([score], noise_sd) == [shown]


def test_epsilon_and_delta_are_said_once():
    said = dict(notes(GUARANTEE, Example()))
    assert "delta" in said["privacy"]
    assert "delta" not in said["mechanism"]


def test_nothing_assumed_is_said():
    assert dict(notes(replace(GUARANTEE, assumes=()), Example()))["assumes"] == "nothing"


FEWER = "Fewer than 3 came out: no other item could be named with this privacy."
NOTHING = "Nothing came out: no item could be named with this privacy."


@pytest.mark.parametrize(
    ("items", "k", "said"),
    [(["a"], 3, FEWER), ([], 3, NOTHING), ([], None, NOTHING), (["a"], None, ""), (["a"], 1, "")],
)
def test_what_to_do_where_less_came_out(items, k, said):
    answer = release({"title": items}, k=k)
    shown = (str(answer), in_terminal(answer), answer._repr_html_(), answer.to_markdown())
    for text in (" ".join(text.split()) for text in shown):
        assert (said or "came out") in text or not said
        assert ("A larger epsilon or delta names more" in text) is bool(said)
        assert ("public items need no discovery" in text) is bool(said and k)


@pytest.mark.parametrize("total", [100, 101, 2_000])
def test_a_whole_sheet_has_every_row_and_every_letter(total):
    items = [f"{i} {'日' * 300}" for i in range(total)]
    printed = rendering.text(sheet(release(items), whole=True))
    assert "".join(printed.split()).count("日" * 3) == total * 100
    assert "… and" not in printed
    assert "privacy     protection is strong: epsilon=1.0" in printed
    assert "…" not in printed


def test_a_long_table_is_laid_out_as_a_short_one():
    hundred = rendering.text(sheet(release([*SCRIPTS, *map(str, range(93))]))).split("\n")
    more = rendering.text(sheet(release([*SCRIPTS, *map(str, range(93)), "x"]), whole=True)).split(
        "\n"
    )
    assert [line.rstrip() for line in more[2:104]] == hundred[2:104]


def cells_of(page):
    """The cells of a Markdown table, as text, by a reader of our own: no escape is left."""
    for line in page.split("\n"):
        if line.startswith("| "):
            cells = re.findall(r"(?<=\| )(?:\\.|[^|\\])*?(?= \|)", line)
            yield [re.sub(r"\\(.)", r"\1", cell) for cell in cells]


@given(items=st.lists(anything, max_size=4), column=anything)
@example(items=HOSTILE, column="<script>")
@example(
    items=["a|b", "`x`", "*x*", "_x_", "http://x", "www.x.y", ":tada:", "@x", "$x$"], column="|"
)
def test_markdown_interprets_nothing(items, column):
    page = release({f"c{column}": items}, unit="noisy number of wins").to_markdown()
    assert all_harmless(page)
    head, rule, *rows = cells_of(page)
    assert head == ["rank", visible(f"c{column}"), "wins"]
    assert rule == ["---:", ":---", "---:"]
    assert [row[1] for row in rows] == [intact(item) for item in items]
    bare = re.sub(r"\\.", "", page.split("\n\n- ")[0].replace("**top-k", ""))
    assert not set("`*_<>[]{}~$@&") & set(bare.replace("**", ""))
    assert not re.search("://|www\\.", bare)


def test_markdown_has_the_guarantee_and_the_warning():
    page = release(["a"], private=False).to_markdown()
    assert "**not private: the noise came from a seed**" in page
    assert '- protects: all rows of any one "user"' in page
    assert "- privacy: none: epsilon=1.0, delta=1e-06" in page
    assert "A new run" not in page
    assert release(["a"]).to_markdown().endswith("A new run costs as much again.\n")
