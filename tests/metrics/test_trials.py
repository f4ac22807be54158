"""How a comparison prints, and how it is drawn."""

import math
import sys

import polars as pl
import pytest

from helpers.refusals import refusal
from shortlist.metrics import Trials
from shortlist.metrics.trials import NOT_PRIVATE, SETTINGS


def trials(cells, **measured):
    """Two runs in each cell, one a tenth below and one a tenth above the figure."""
    rows = [
        {**dict(zip(SETTINGS, cell, strict=True)), "run": run}
        | {name: values[place] * share for name, values in measured.items()}
        for place, cell in enumerate(cells)
        for run, share in enumerate((0.9, 1.1))
    ]
    return Trials.of_rows(rows)


def cell(mechanism="One", *, question="top-k", k=5, epsilon=1.0, delta=1e-5, bound=100):
    return (question, k, epsilon, delta, bound, mechanism)


def drawn(chart):
    """The data of a chart, by mechanism."""
    (rows,) = chart.to_dict()["datasets"].values()
    return rows


def layers(chart):
    told = chart.to_dict()
    return told.get("spec", told)["layer"]


LEGEND = (
    "Less is better, but for items. missing_mass: what the answer lacks, as a share of all pairs; "
    "items: how many it names."
)
TWO = [cell(epsilon=e, mechanism=name) for e in (0.1, 1.0) for name in ("One", "Other")]


def test_figures_are_printed_to_the_digits_that_their_errors_leave():
    printed = repr(trials(TWO, missing_mass=[0.5, 0.25, 2e-5, 0.0], items=[5.0, 4.0, 5.0, 3.0]))
    assert printed.split("\n") == [
        "top-k, k=5, delta=1e-05, max_items_per_user=100: means of 2 runs ± standard errors",
        "epsilon   mechanism            missing_mass         items",
        "─────────────────────────────────────────────────────────",
        "    0.1   One                 0.500 ± 0.050   5.00 ± 0.50",
        "    0.1   Other               0.250 ± 0.025   4.00 ± 0.40",
        "      1   One         0.0000200 ± 0.0000020   5.00 ± 0.50",
        "      1   Other                       0 ± 0   3.00 ± 0.30",
        LEGEND,
        NOT_PRIVATE,
    ]


def test_each_question_has_a_table_of_its_own():
    cells = [cell(), cell(question="domain", k=None)]
    printed = repr(trials(cells, missing_mass=[0.5, 0.25]))
    assert "top-k, k=5, epsilon=1, delta" in printed
    assert "\ndomain, epsilon=1, delta" in printed


def test_names_are_no_markup():
    assert "[red]One[/]" in repr(trials([cell("[red]One[/]")], missing_mass=[0.5]))


def test_lines_run_across_what_varies_and_panels_show_the_rest():
    found = trials(TWO, missing_mass=[0.5, 0.25, 0.2, 0.1])
    chart = found.plot()
    rows = drawn(chart)
    assert {(row["epsilon"], row["mechanism"], row["mean"]) for row in rows} == {
        (0.1, "One", 0.5), (0.1, "Other", 0.25), (1.0, "One", 0.2), (1.0, "Other", 0.1),
    }  # fmt: skip
    for row in rows:  # two runs a tenth above and below: a standard error of a tenth
        assert math.isclose(row["low"], 0.8 * row["mean"])
        assert math.isclose(row["high"], 1.2 * row["mean"])
    assert layers(chart)[1]["encoding"]["x"]["axis"]["values"] == [0.1, 1.0]
    assert layers(chart)[1]["encoding"]["y"]["axis"]["title"].startswith("missing mass")
    assert NOT_PRIVATE in chart.to_dict()["title"]["subtitle"]
    more = [cell(epsilon=e, k=k, bound=b) for e in (0.1, 1) for k in (5, 9) for b in (1, 2)]
    chart = trials(more, missing_mass=[0.5] * 8).plot(across="max_items_per_user")
    assert {row["column"] for row in drawn(chart)} == {"epsilon = 0.1", "epsilon = 1"}
    assert {row["row"] for row in drawn(chart)} == {"k = 5", "k = 9"}


def test_far_figures_are_on_a_logarithmic_axis_with_a_place_for_zero():
    def axis(*means):
        chart = trials(TWO, missing_mass=list(means)).plot()
        return layers(chart)[1]["encoding"]["y"]

    assert "type" not in axis(0.5, 0.25, 0.2, 0.1)["scale"]
    far = axis(0.5, 0.25, 2e-4, 0.1)
    assert (far["scale"]["type"], far["axis"]["values"][0]) == ("log", 1e-4)
    zero = axis(0.5, 0.25, 2e-4, 0.0)
    assert zero["axis"]["values"][0] == pytest.approx(1e-5)
    assert "'0'" in zero["axis"]["labelExpr"]
    assert "type" not in axis(0.5, 0.25, 2e-4, -0.1)["scale"]


def test_one_setting_is_drawn_line_by_line():
    found = trials([cell(), cell("Other")], missing_mass=[0.5, 0.25], items=[5, 4])
    encoding = layers(found.plot("items"))[1]["encoding"]
    assert encoding["y"]["field"] == "mechanism"
    assert encoding["x"]["axis"]["title"] == "items named"


def test_a_plot_is_saved(tmp_path):
    found = trials(TWO, missing_mass=[0.5, 0.25, 2e-4, 0.0])
    found.plot().save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_refused():
    found = trials(TWO, missing_mass=[0.5, 0.25, 0.2, 0.1], items=[5, 4, 3, 2])
    assert refusal(lambda: found.plot("item")) == (
        'measure="item": is not measured here; there are missing_mass, items. Did you mean "items"?'
    )
    assert refusal(lambda: found.plot(across="k")).startswith('across="k": takes one value here')
    two = trials([cell(), cell(question="domain")], missing_mass=[0.5, 0.25])
    said = 'question=None: a plot is of one question; give one of "top-k", "domain".'
    assert refusal(two.plot) == said
    assert [row["mean"] for row in drawn(two.plot(question="domain"))] == [0.25]


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    said = refusal(lambda: trials([cell()], missing_mass=[0.5]).plot())
    assert said == (
        'plots are drawn by Altair, which is not installed; run pip install "shortlist[plot]".'
    )


def test_frames_go_to_files_and_say_what_they_are(tmp_path):
    found = trials([cell()], missing_mass=[0.5])
    found.frame.write_csv(tmp_path / "frame.csv")
    assert pl.read_csv(tmp_path / "frame.csv")["private"].to_list() == [False]
