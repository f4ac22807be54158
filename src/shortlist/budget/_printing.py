"""A budget for readers: what is left, as a table with bars, and every charge, also as a file."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from shortlist.budget._balance import Balance, more_questions
from shortlist.budget._entries import Entry
from shortlist.budget._units import Amount
from shortlist.privacy import round_down, round_up
from shortlist.release.readable import harmless

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

KEPT, UNKNOWN = "released", "unknown"
"""The outcome of a charge: its release is kept; or nobody knows, as after a crash."""

_FORMULAS = ("=", "+", "-", "@")
_COLUMNS = (
    *("number", "time", "who", "library", "question", "k", "mechanism", "epsilon", "delta"),
    *("first", "taken_delta", "outcome", "hash"),
)
_WIDTH_OF_BAR = 24


def _rows_of(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    entries = list(entries)
    kept = {entry.record["charge"] for entry in entries if entry.kind == "release"}
    return [
        {
            "number": entry.charges,
            **{name: entry.record[name] for name in ("time", "who", "library")},
            "question": entry.record["question"]["name"],
            "k": entry.record["question"].get("k"),
            "mechanism": entry.record["mechanism"]["name"],
            **entry.record["asked"],
            "first": entry.record["amount"][0],
            "taken_delta": entry.record["amount"][1],
            "outcome": KEPT if entry.charges in kept else UNKNOWN,
            "hash": entry.hash,
        }
        for entry in entries
        if entry.kind == "charge"
    ]


def as_csv(entries: Iterable[Entry], first: str) -> str:
    """The charges as CSV for a spreadsheet, in which nothing is a formula.

    The first number that each took is headed by its name.
    """
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([f"taken_{first}" if name == "first" else name for name in _COLUMNS])
    for row in _rows_of(entries):
        writer.writerow([_cell(row[name]) for name in _COLUMNS])
    return file.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and _is_formula(value) else value


def _is_formula(text: str) -> bool:
    """Whether it begins as one, in any width, behind spaces and what cannot be seen."""
    plain = unicodedata.normalize("NFKC", text)
    seen = (c for c in plain if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf"))
    return next(seen, "") in _FORMULAS


def entries_as_json(entries: Iterable[Entry]) -> str:
    lines = (json.dumps({"hash": entry.hash, "body": entry.body}) for entry in entries)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def budget_table(balance: Balance, entries: Iterable[Entry]) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    charges = _rows_of(entries)
    terms = balance.terms
    title = f"{terms.dataset}: epsilon = {terms.epsilon:g} and delta = {terms.delta:g}"
    what = f'Protects "{terms.protects}" ({terms.adjacency}); counted in {terms.unit.name}.'
    return Group(
        Text(harmless(title), style="bold"),
        Text(f"{harmless(what)}\n"),
        _amounts_left(balance),
        Text(f"\n{_worth(balance)}\n"),
        _questions(balance),
        Text(),
        _charges(balance, charges) if charges else Text("Nothing was charged yet."),
    )


def _table(*headings: str, left: int = 0) -> Table:
    """A table whose first columns are texts, and the others numbers."""
    from rich import box
    from rich.table import Table

    style = {"show_edge": False, "pad_edge": False, "padding": (0, 1, 0, 0)}
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", **style)  # type: ignore[arg-type]
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < left else "right", overflow="fold")
    return table


def _amounts_left(balance: Balance) -> RenderableType:
    from rich.progress_bar import ProgressBar

    terms = balance.terms
    table = _table("", "spent", "left", "of", left=1)
    table.add_column("left", justify="left")
    table.add_column("", justify="right")
    amounts = zip(balance.spent, balance.left, terms.total, strict=True)
    for name, (spent, left, total) in zip((terms.unit.first, "delta"), amounts, strict=True):
        if total:
            share = float(left / total)
            table.add_row(
                *(name, f"{round_up(spent):.4g}", f"{round_down(left):.4g}", f"{float(total):.4g}"),
                ProgressBar(total=1.0, completed=share, width=_WIDTH_OF_BAR),
                f"{share:.0%}",
            )
    return table


def _worth(balance: Balance) -> str:
    delta = balance.terms.delta
    at = f" at delta = {delta:g}" if delta else ""
    return f"What is left is worth epsilon = {balance.worth:.3g}{at}, spent at once."


def _questions(balance: Balance) -> RenderableType:
    in_all = ("in all, by zcdp", "in all, by basic") if balance.terms.delta else ("in all",)
    table = _table("epsilon each", "delta", "in what is left", *in_all)
    for epsilon, delta, still, in_zcdp, added in more_questions(balance):
        numbers = (still, in_zcdp, added) if balance.terms.delta else (still, added)
        table.add_row(f"{epsilon:g}", f"{delta:g}", *(f"{n:,}" for n in numbers))
    return table


def _charges(balance: Balance, charges: Sequence[Mapping[str, Any]]) -> RenderableType:
    from rich.text import Text

    table = _table(
        "charge", "date", "who", "question", "outcome", "epsilon", "delta", "took", left=5
    )
    for charge in charges:
        k = f", k={charge['k']}" if charge["k"] else ""
        table.add_row(
            *(str(charge["number"]), charge["time"][:10]),
            *(Text(harmless(text)) for text in (charge["who"], f"{charge['question']}{k}")),
            charge["outcome"],
            *(f"{charge[name]:.4g}" for name in ("epsilon", "delta")),
            f"{_share(balance.terms.total, charge['first'], charge['taken_delta']):.1%}",
        )
    return table


def _share(total: Amount, *taken: float) -> float:
    """How much of a total was taken: of rho or of delta, whichever is the larger share."""
    pairs = zip(taken, total, strict=True)
    return max(part / float(whole) for part, whole in pairs if whole)
