"""The pictures of the concepts, light and dark: `python docs/pictures/draw.py` writes them anew.

Noise in them is drawn from a seed, so that they stay the same; all else is computed.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import altair as alt
import numpy as np

import shortlist as sl

HERE = Path(__file__).parent
EPSILON, DELTA = 1.0, 1e-6
MECHANISM = sl.mechanisms.WeightedGaussian(epsilon=EPSILON, delta=DELTA, max_items_per_user=10)
WIDTH = 400  # so that letters can be read on a phone


class Look(NamedTuple):
    """Colours of a page."""

    ink: str
    muted: str
    rule: str
    mark: str
    other: str
    faint: str


LOOKS = {
    "light": Look("#1f2428", "#57606a", "#d8dbde", "#0b6e99", "#b3541e", "#b8c0c7"),
    "dark": Look("#e3e7ea", "#a8b1b9", "#3c454d", "#58b4d8", "#f0a066", "#5b666f"),
}


def users(look: Look) -> alt.LayerChart:
    """Two neighbouring tables: with all rows of one user, and without."""
    held = [("Ann", "Emma"), ("Ann", "Dune"), ("Ann", "Solaris")]
    others = [("Ben", "Emma"), ("Cleo", "Emma"), ("Cleo", "Dune"), ("Dan", "Ulysses")]
    tables = [("one table", [*others[:1], *held, *others[1:]]), ("its neighbour", others)]
    cells = [
        {"x": 2.3 * table + column, "y": -row, "text": text, "hers": user == "Ann"}
        for table, (_, rows) in enumerate(tables)
        for row, (user, item) in enumerate(rows)
        for column, text in enumerate((user, item))
    ]
    names = [{"x": 2.3 * n + 0.5, "y": 1, "text": name} for n, (name, _) in enumerate(tables)]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.5, 3.8]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-6.6, 1.5]))
    colour = alt.condition("datum.hers", alt.value(look.mark), alt.value(look.rule))
    ink = alt.condition("datum.hers", alt.value(look.mark), alt.value(look.ink))
    drawn = alt.Chart(alt.InlineData(values=cells)).encode(x, y)
    return alt.layer(
        drawn.mark_rect(filled=False, width=88, height=24, cornerRadius=3).encode(stroke=colour),
        drawn.mark_text(fontSize=14).encode(text="text:N", color=ink),
        alt.Chart(alt.InlineData(values=names))
        .mark_text(fontSize=14, color=look.muted)
        .encode(x, y, text="text:N"),
    ).properties(width=WIDTH, height=230)


def chance_of_being_named(users_of_it: float) -> float:
    """Of an item whose users hold nothing else: their number plus normal noise, at a threshold."""
    return 0.5 * math.erfc((MECHANISM.threshold - users_of_it) / MECHANISM.sigma / math.sqrt(2))


def delta(look: Look) -> alt.LayerChart:
    """The chance that an item is named, down to that of one user's own."""
    points = [
        {"users": n / 4, "chance": chance_of_being_named(n / 4)} for n in range(4, 40 * 4 + 1)
    ]
    x = alt.X("users:Q", title="users who hold the item")
    y = alt.Y("chance:Q", title="chance of being named", scale=alt.Scale(type="log"))
    y = y.axis(
        values=[1e-7, 1e-6, 1e-4, 1e-2, 1],
        labelExpr="datum.value == 1 ? '1' : format(datum.value, '~e')",
    )
    one = alt.InlineData(values=points[:1])
    limit = alt.InlineData(values=[{"users": 40, "chance": DELTA, "text": f"delta = {DELTA:g}"}])
    word = {"users": 1, "chance": points[0]["chance"], "text": "one person’s own item"}
    words = alt.Chart(alt.InlineData(values=[word])).encode(x, y, text="text:N")
    return alt.layer(
        alt.Chart(alt.InlineData(values=points)).mark_line(color=look.mark).encode(x, y),
        alt.Chart(limit).mark_rule(color=look.other, strokeDash=[5, 4]).encode(y),
        alt.Chart(limit)
        .mark_text(color=look.other, align="right", dy=-9, fontSize=14)
        .encode(x, y, text="text:N"),
        alt.Chart(one).mark_point(color=look.mark, filled=True, size=70, opacity=1).encode(x, y),
        words.mark_text(color=look.ink, align="left", dx=10, dy=3, fontSize=14),
    ).properties(width=WIDTH, height=250)


def silent(look: Look) -> alt.LayerChart:
    """Items by their number of users, with the noisy weights that decide who is named."""
    noise = np.random.default_rng(3).normal(0, MECHANISM.sigma, 60).tolist()
    rows = [{"users": n, "noisy": n + noise[n - 1], "named": False} for n in range(1, 61)]
    for row in rows:
        row["named"] = row["noisy"] >= MECHANISM.threshold
    x = alt.X("users:Q", title="users who hold the item")
    y = alt.Y("noisy:Q", title="with noise")
    colour = alt.condition("datum.named", alt.value(look.mark), alt.value(look.faint))
    bar = alt.InlineData(values=[{"noisy": MECHANISM.threshold, "users": 0, "text": "threshold"}])
    return alt.layer(
        alt.Chart(bar).mark_rule(color=look.other, strokeDash=[5, 4]).encode(y),
        alt.Chart(bar)
        .mark_text(color=look.other, align="left", dx=4, dy=-9, fontSize=14)
        .encode(x, y, text="text:N"),
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=45, opacity=1)
        .encode(x, y, color=colour),
    ).properties(width=WIDTH, height=250)


def epsilon(look: Look) -> alt.LayerChart:
    """How often the best guess is right whether a user is there, beside a coin's half."""
    points = [{"epsilon": n / 20, "right": 1 / (1 + math.exp(-n / 20))} for n in range(101)]
    x = alt.X("epsilon:Q", title="epsilon")
    y = alt.Y("right:Q", title="guesses that are right", scale=alt.Scale(domain=[0.4, 1]))
    y = y.axis(format="%")
    marked = [p for p in points if p["epsilon"] in {0.1, 1, 3}]
    for point in marked:
        point["text"] = f"{math.ceil(1000 * point['right']) / 10} % at {point['epsilon']:g}"
    at = alt.Chart(alt.InlineData(values=marked)).encode(x, y)
    return alt.layer(
        alt.Chart(alt.InlineData(values=points)).mark_line(color=look.mark).encode(x, y),
        at.mark_point(color=look.mark, filled=True, size=70, opacity=1),
        at.mark_text(color=look.ink, align="left", dx=10, dy=8, fontSize=14).encode(text="text:N"),
    ).properties(width=WIDTH, height=230)


PICTURES: dict[str, Callable[[Look], alt.LayerChart]] = {
    "users": users,
    "epsilon": epsilon,
    "delta": delta,
    "silent": silent,
}


def dressed(chart: alt.LayerChart, look: Look) -> alt.LayerChart:
    """The chart in the colours of a page, without a background of its own."""
    return (
        chart.configure(font="sans-serif", padding=8, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            gridColor=look.rule,
            domainColor=look.muted,
            tickColor=look.muted,
            labelColor=look.ink,
            titleColor=look.muted,
            labelFontSize=14,
            titleFontSize=14,
            titleFontWeight="normal",
        )
    )


def main() -> None:
    """Write each picture twice."""
    for name, draw in PICTURES.items():
        for shade, look in LOOKS.items():
            dressed(draw(look), look).save(HERE / f"{name}-{shade}.svg")


if __name__ == "__main__":
    main()
