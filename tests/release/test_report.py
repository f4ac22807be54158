"""The page of a release: whole, harmless, the same each time, and nothing but the release."""

import base64
import hashlib
import html
import json
import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import shortlist as sl
from helpers.charts import rows_of
from helpers.refusals import refusal
from helpers.releases import GUARANTEE, HOSTILE, counted, release
from shortlist import charts
from shortlist.mechanisms import AdaptiveTopK, WeightedGaussian
from shortlist.privacy import Approximate
from shortlist.release import report as report_room
from shortlist.release.report import report

STYLE = (Path(report_room.__file__).parent / "style.css").read_text()
INTACT = {  # as an item is, and as it is shown
    "ألف ليلة وليلة": "ألف ليلة وليلة",
    "می\u200cخواهم": "می\u200cخواهم",
    "👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3": "👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3",
    "क\u094d\u200dष": "क\u094d\u200dष",
    "ad\u200dmin": r"ad\u200dmin",
    "\u200cEmma\ufe0f": r"\u200cEmma\ufe0f",
    "a\u202eb\x00c\nd": r"a\u202eb\x00c\nd",
}


class Page(HTMLParser):
    """Tags with their attributes, the cells of the table, the text of the page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells, self.text, self._open = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._open.append(tag)
        self.text += " " * (tag in {"dd", "dt", "h3", "li", "p", "td"})
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] in {"style", "script"}:
            return
        self.text += data
        if "td" in self._open:
            self.cells[-1] += data.strip("\n")


def told(text):
    return " ".join(Page(text).text.split())


@pytest.mark.parametrize("items", [HOSTILE, ["</script><script>x()</script>", "x" * 5000, "\"'&"]])
def test_every_item_is_text_and_nothing_else(items):
    page = Page(report(counted(items)))
    assert len(page.cells) == 5 * len(items)
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not any(name.startswith("on") for _, given in page.tags for name in given)
    seen = "".join(page.cells)
    assert all(c.isprintable() for c in seen)
    if items is not HOSTILE:
        assert page.cells[1::5] == items


@pytest.mark.parametrize("column", ["<b>title</b>", 'a"onclick="x', "عنوان", "a\x1b[31m"])
def test_so_is_the_name_of_a_column(column):
    page = Page(report(release({column: ["a"]})))
    assert "b" not in {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, given in page.tags for name in given)


def test_letters_of_every_script_and_pictures_stay_whole():
    page = Page(report(counted(list(INTACT))))
    assert page.cells[1::5] == list(INTACT.values())


def test_nothing_is_loaded_and_only_its_own_script_runs():
    text = report(release(["http://evil", "url(http://evil)", "a"] * 9))
    page = Page(text)
    loading = {"src", "srcset", "action", "data", "poster", "background", "xlink:href"}
    assert not any(loading & set(given) for _, given in page.tags)
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in page.tags}
    links = [given["href"] for tag, given in page.tags if tag == "a"]
    assert all(link.startswith(("#", "data:application/json;base64,")) for link in links)
    style, script = (
        re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1] for tag in ("style", "script")
    )
    assert not re.search(r"@import|url\(|https?:", style)
    assert not re.search(r"fetch|XMLHttp|import\(|https?:", script)
    policy = next(g["content"] for _, g in page.tags if "http-equiv" in g)
    for kind, part in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_the_same_release_gives_the_same_bytes_whatever_process_draws(monkeypatch):
    answer = counted(["Emma", "Ulysses"])
    page = report(answer)
    monkeypatch.setattr(report_room, "drawn", charts.drawn)
    assert report(answer) == page
    assert "<svg" in page


def test_the_same_release_gives_the_same_bytes_also_from_a_file(tmp_path):
    rows = {"user": [*range(600)], "title": ["Emma", "Ulysses", "Dune"] * 200}
    source = sl.pairs(rows, user="user", item="title")
    answers = [
        source.top_k(2, epsilon=1.0, delta=1e-6, count_share=0.3),
        source.domain(epsilon=1.0, delta=1e-6),
        source.hitting_set(2, epsilon=1.0, delta=1e-6),
        source.domain(epsilon=1.0, delta=1e-6, mechanism=WeightedGaussian),
    ]
    for place, answer in enumerate(answers):
        path = tmp_path / f"{place}.json"
        answer.save(path)
        page = report(answer)
        assert page == report(sl.load(path))
        assert "How was the list made?" in told(page)


def test_the_release_can_be_taken_out_of_it(tmp_path):
    answer = release(HOSTILE)
    link = re.search(r'href="data:application/json;base64,([^"]*)"', report(answer))[1]
    path = tmp_path / "release.json"
    path.write_bytes(base64.b64decode(link))
    assert path.read_text() == answer.to_json()
    assert sl.load(path).items == answer.items


def test_it_holds_nothing_that_the_release_does_not():
    """Two releases that say the same are told by the same page, whatever else lies beside them."""
    one, other = release(["a", "b"]), release(["a", "b"])
    vars(other)["rows"] = ["secret"]
    assert report(one) == report(other)


def test_long_lists_are_whole_quick_to_load_and_can_be_searched():
    short, thousand, many = (
        report(counted([f"item number {i}" for i in range(n)])) for n in (10, 1000, 10_000)
    )
    assert len(thousand.encode()) < 400_000
    assert len(many.encode()) < 4_000_000
    assert Page(thousand).cells[1::5] == [f"item number {i}" for i in range(1000)]
    assert 'id="search"' in thousand
    assert 'id="search"' not in short
    assert "The first 30 of 1,000 items." in told(thousand)


# What it says


def test_who_is_protected_and_what_epsilon_means():
    said = told(report(release(["a"])))
    assert 'Protected: all rows of any one "user".' in said
    assert "reveals little about whether any one of these is in the table at all" in said
    assert "hardly at all" not in said.split("How to read it")[0]
    assert "up to 73.2 % may be" in said
    assert "at most 2.718 times as likely" in said
    assert "plus at most delta = 0.000001." in said
    assert "Assumed: the names of the columns are public." in said


@pytest.mark.parametrize(
    ("delta", "said"), [(1e-12, "0.000000000001"), (6.30252e-8, "6.30252e-08")]
)
def test_a_delta_is_written_out_where_its_zeros_can_be_counted(delta, said):
    assert f"delta = {said}" in told(
        report(release(["a"], guarantee=replace(GUARANTEE, delta=delta)))
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "right"),
    [(1.0, 0.0, "73.2 %"), (0.001, 0.0, "50.1 %"), (3.0, 0.001, "95.3 %"), (8.0, 0.0, "99.97 %")],
)
def test_a_guess_is_right_no_more_often_than_the_guarantee_allows(epsilon, delta, right):
    guarantee = replace(GUARANTEE, epsilon=epsilon, delta=delta, cost=Approximate(epsilon, delta))
    said = told(report(release(["a"], guarantee=guarantee)))
    assert f"up to {right} may be" in said
    exact = (math.exp(min(epsilon, 50)) + delta) / (1 + math.exp(min(epsilon, 50)))
    assert 0 <= float(right.removesuffix(" %")) - 100 * exact < 0.1
    assert (f"plus at most delta = {delta:g}." in said) is (delta > 0)


@pytest.mark.parametrize(("epsilon", "delta"), [(21.0, 0.0), (1.0, 0.0011)])
def test_a_guarantee_by_name_only_is_called_one(epsilon, delta):
    guarantee = replace(GUARANTEE, epsilon=epsilon, delta=delta, cost=Approximate(epsilon, delta))
    assert "This protects hardly at all: " in told(report(release(["a"], guarantee=guarantee)))


def test_other_neighbours_are_told_as_what_they_are():
    guarantee = replace(GUARANTEE, adjacency="change the outcome of one comparison")
    said = told(report(release(["a"], guarantee=guarantee)))
    assert "which of two neighbouring tables it was made from" in said
    assert "whether any one of these" not in said


def test_a_seeded_release_protects_nobody_and_says_so():
    said = told(report(release(["a"], private=False)))
    assert said.count("not private: the noise came from a seed") == 1
    assert "Who is protected? Nobody." in said
    assert "Protected nobody" in said
    assert "Protected:" not in said
    assert "Nobody is protected by it" not in told(report(release(["a"])))


@pytest.mark.parametrize(
    ("made", "answer", "shown"),
    [
        (counted(["a"]), "Its count says so, roughly", ["100", "90 to 110", "1"]),
        (
            counted(["a"], unit="noisy clipped count"),
            "Its clipped count or more, roughly",
            ["100", "at least 90"],
        ),
        (release(["a"], unit="noisy count"), "Its count says so, roughly", ["100"]),
        (
            release(["a"], unit="noisy <b>share</b>"),
            "Each score is this: noisy <b>share</b>",
            ["100"],
        ),
    ],
)
def test_how_many_users_hold_an_item(made, answer, shown):
    page = report(made)
    assert f"How many users hold an item? {answer}" in told(page)
    assert Page(page).cells[2:] == shown
    assert "<svg" in page
    assert ("1.96 standard deviations" in told(page)) is (len(shown) == 1)
    assert ("In 95 of 100 cases" in told(page)) is (len(shown) > 1)
    assert ("There are no intervals." in told(page)) is (len(shown) == 1)


@pytest.mark.parametrize("scores", [False, True], ids=["none", "weights"])
def test_no_scores_for_people_no_chart_and_no_intervals(scores):
    page = report(release(["a", "b"], scores=scores))
    assert "How many users hold an item? It does not say." in told(page)
    assert "<svg" not in page
    assert "interval" not in told(page)
    assert Page(page).cells == ["1", "a", "2", "b"]


@pytest.mark.parametrize("question", ["top-k", "domain", "hitting-set", "rank", "another"])
def test_a_missing_item_is_not_said_to_have_no_users(question):
    asked = "Did a missing item win nothing?" if question == "rank" else "have no users?"
    said = told(report(release(["a"], question=question)))
    assert f"{asked} Not necessarily: " in said


def test_of_items_that_everybody_knows_none_is_too_rare_to_be_named():
    rows = {"user": [*range(600)], "title": ["Emma", "Ulysses"] * 300}
    public = sl.pairs(rows, user="user", item="title", public_items=["Emma", "Ulysses", "Dune"])
    said = told(report(public.top_k(1, epsilon=1.0)))
    assert "other items may have more users, or noise may have put it behind others." in said
    assert "too few users" not in said
    assert "Is the order right?" not in said


@pytest.mark.parametrize(("k", "said"), [(2, "The list ends here because 2"), (5, "Fewer than 5")])
def test_why_a_list_ends(k, said):
    assert said in told(report(release(["a", "b"], k=k)))


def test_an_empty_list():
    said = told(report(release({"title": []}, k=3)))
    assert "No item could be named with this privacy." in said
    assert "Nothing came out" in said


def test_the_people_needed_are_told_where_the_mechanism_does():
    rows = {"user": [*range(600)], "title": ["Emma", "Ulysses"] * 300}
    answer = sl.pairs(rows, user="user", item="title").top_k(2, epsilon=1.0, delta=1e-6)
    (needed,) = [s for s in AdaptiveTopK(**_given(answer)).explain() if "To be named" in s]
    assert f"noise may have put it behind others. {needed}" in told(report(answer))
    assert told(report(answer)).count("To be named") == 1


def _given(answer):
    given = answer.mechanism.parameters()
    return {name: given[name] for name in ("k", "epsilon", "delta", "max_items_per_user")}


def test_how_to_repeat_it_names_the_version_and_the_parameters():
    answer = release(["a"])
    page = report(answer)
    assert f'pip install "shortlist[report]=={sl.__version__}"' in told(page)
    code = re.findall(r"<code>(\{.*?)</code>", page, re.DOTALL)[0]
    whole = answer.to_dict()
    whole.pop("items")
    assert json.loads(html.unescape(code)) == whole


# Writing it


def test_a_page_is_written_whole_and_replaces_only_if_asked(tmp_path):
    path = tmp_path / "list.html"
    release(["a"]).report(path)
    assert path.read_text(encoding="utf-8") == report(release(["a"]))
    assert "it exists, and may hold an answer" in refusal(lambda: release(["b"]).report(path))
    release(["b"]).report(path, overwrite=True)
    assert path.read_text(encoding="utf-8") == report(release(["b"]))
    wrong = refusal(lambda: release(["a"]).report(tmp_path / "list.pdf"))
    assert wrong.endswith("its name must end in .html or .htm.")
    assert "must end in .md, .json, .csv" in refusal(lambda: release(["a"]).save(path))


@pytest.mark.parametrize("missing", ["jinja2", "altair", "vl_convert"])
def test_what_is_missing_is_named_by_its_extra(monkeypatch, tmp_path, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    assert refusal(lambda: release(["a"]).report(tmp_path / "a.html")) == (
        "a report is made with Jinja2, Altair and vl-convert, and not all are installed; "
        'run pip install "shortlist[report]".'
    )
    assert list(tmp_path.iterdir()) == []


# Colours, by the rule of WCAG 2.2


def palettes():
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    light, dark, paper = (dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in blocks)
    return {"light": light, "dark": light | dark, "print": light | paper}


def luminance(colour):
    code = colour.removeprefix("#")
    code = code if len(code) == 6 else "".join(2 * c for c in code)
    parts = [int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark", "print"])
def test_text_can_be_read_and_marks_be_seen(name):
    colours = palettes()[name]
    for paper in ("paper", "raised"):
        for text in ("ink", "muted", "link"):
            assert contrast(colours[text], colours[paper]) >= 4.5, (text, paper)
        assert contrast(colours["accent"], colours[paper]) >= 3
    assert contrast(colours["alarm"], colours["alarm-paper"]) >= 4.5


def test_contrast_is_as_wcag_has_it():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)


# Groups


def grouped():
    items = {"place": ["<b>", "<b>", "Oslo"], "title": ["Emma", "Dune", "Emma"]}
    return counted(items, k=2, by=["place"])


def test_groups_stand_before_the_rank_within_them():
    page = Page(report(grouped()))
    rows = [page.cells[at : at + 3] for at in range(0, len(page.cells), 6)]
    assert rows == [["<b>", "1", "Emma"], ["<b>", "2", "Dune"], ["Oslo", "1", "Emma"]]
    said = told(report(grouped()))
    assert "The items that the most users hold, by place" in said
    assert "of 2 asked for in each group" in said
    assert "ends at the latest with number 2" in said
    assert "may disagree" not in said


def test_a_chart_of_groups_has_a_line_for_each_item():
    labels = [row["label"] for row in rows_of(grouped().plot())]
    assert labels == [
        "1  \u2068<b>, Emma\u2069",
        "2  \u2068<b>, Dune\u2069",
        "1  \u2068Oslo, Emma\u2069",
    ]


def test_the_report_of_groups_is_the_same_from_a_file(tmp_path):
    grouped().save(tmp_path / "groups.json")
    assert report(sl.load(tmp_path / "groups.json")) == report(grouped())


def test_luck_is_told_where_the_scores_put_the_items_in_order():
    wins = release(["a"], unit="noisy number of wins", question="rank")
    assert "more often too high than too low" in told(report(wins))
    assert "too high" not in told(report(counted(["a"])))
    assert "too high" not in told(report(release(["a"], question="domain")))
