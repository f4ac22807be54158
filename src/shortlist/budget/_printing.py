"""A budget for readers: what is left, as a table with bars, and every charge, also as a file."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from shortlist.budget._balance import Balance, more_questions
from shortlist.budget._entries import Entry
from shortlist.budget._units import Amount
from shortlist.privacy import round_down, round_up
from shortlist.release.readable import harmless, intact

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


KEPT, UNKNOWN, RETURNED = "released", "unknown", "given back"
"""The outcome of a charge: its release is kept; nobody knows, as after a crash; or it came back."""

_FORMULAS = ("=", "+", "-", "@")
_COLUMNS = (
    *("number", "time", "who", "library", "question", "k", "mechanism", "epsilon", "delta"),
    *("first", "taken_delta", "outcome", "hash", "as_of"),
)
_WIDTH_OF_BAR = 24


def _rows_of(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    entries = list(entries)
    kept = {entry.record["charge"] for entry in entries if entry.kind in ("release", "run")}
    charges = {e.charges: e for e in entries if e.kind == "charge"}
    of_series = {e.record["nonce"]: e for e in charges.values() if "series" in e.record}
    rows = []
    for entry in entries:
        if entry.kind == "charge":
            first = of_series.get(entry.record.get("prolongs"), entry)
            rows.append(_row(entry, entry, KEPT if first.charges in kept else UNKNOWN))
        if entry.kind == "returned":
            rows.append(_row(entry, of_series[entry.record["series"]], RETURNED))
    return rows


def _row(entry: Entry, charge: Entry, outcome: str) -> dict[str, Any]:
    """A charge, or what came back of one: what an entry took, and what that was for."""
    sign = -1 if outcome == RETURNED else 1
    return {
        "number": charge.charges,
        **{name: entry.record[name] for name in ("time", "who", "library")},
        "question": charge.record["question"]["name"],
        "k": charge.record["question"].get("k"),
        "mechanism": charge.record["mechanism"]["name"],
        **charge.record["asked"],
        "first": sign * entry.record["amount"][0],
        "taken_delta": sign * entry.record["amount"][1],
        "outcome": outcome,
        "hash": entry.hash,
        "as_of": charge.record.get("as_of"),  # which those of version 0.2 do not say
    }


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

    entries = list(entries)
    charges = _rows_of(entries)
    closed = bool(entries) and "closed" in entries[-1].record
    terms = balance.terms
    title = f"{terms.dataset}: epsilon = {terms.epsilon:g} and delta = {terms.delta:g}"
    what = f'Protects "{terms.protects}" ({terms.adjacency}); counted in {terms.unit.name}.'
    return Group(
        Text(harmless(title), style="bold"),
        Text(f"{harmless(what)}\n"),
        *(Text(f"{harmless(line)}\n") for line in _chained(balance, entries)),
        _amounts_left(balance),
        *([Text()] if closed else [Text(f"\n{_worth(balance)}\n"), _questions(balance), Text()]),
        _charges(balance, charges) if charges else Text("Nothing was charged yet."),
    )


def _chained(balance: Balance, entries: Sequence[Entry]) -> Iterator[str]:
    """What it continues, and whether another continues it."""
    if balance.terms.earlier:
        reasons = "; ".join(one.reason for one in balance.terms.earlier)
        yield f"It {balance.in_all}. Why it was continued: {reasons}"
    if entries and (reason := entries[-1].record.get("closed")) is not None:
        yield f"It is closed: another one continues it ({reason}). Nothing more can be charged."


def table_of(*headings: str, left: int = 0) -> Table:
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
    table = table_of("", "spent", "left", "of", left=1)
    table.add_column("left", justify="left")
    table.add_column("", justify="right")
    for when, spent, of in _accounts(balance):
        amounts = zip((terms.unit.first, "delta"), spent, of, strict=True)
        for name, spent_of_it, whole in amounts:
            if whole:
                left = whole - spent_of_it
                share = float(left / whole)
                texts = f"{round_up(spent_of_it):.4g}", f"{round_down(left):.4g}"
                bar = ProgressBar(total=1.0, completed=share, width=_WIDTH_OF_BAR)
                table.add_row(f"{name}{when}", *texts, f"{float(whole):.4g}", bar, f"{share:.0%}")
    return table


def _accounts(balance: Balance) -> Iterator[tuple[str, Amount, Amount]]:
    """What was spent of what: of the total, and of what may be spent now."""
    terms, spell = balance.terms, balance.spell
    yield "", balance.spent, terms.total
    if terms.allowance is not None and spell is not None:
        period = f", this {terms.allowance.period}"
        yield period, balance.spent.less(spell.before), terms.allowance.of(terms.total)


def _worth(balance: Balance) -> str:
    delta = balance.terms.delta
    at = f" at delta = {delta:g}" if delta else ""
    allowed = "" if balance.allowed is None else f"\n{balance.allowed}"
    return f"What is left is worth epsilon = {balance.worth:.3g}{at}, spent at once.{allowed}"


def _questions(balance: Balance) -> RenderableType:
    in_all = ("in all, by zcdp", "in all, by basic") if balance.terms.delta else ("in all",)
    table = table_of("epsilon each", "delta", "in what is left", *in_all)
    for epsilon, delta, still, in_zcdp, added in more_questions(balance):
        numbers = (still, in_zcdp, added) if balance.terms.delta else (still, added)
        table.add_row(f"{epsilon:g}", f"{delta:g}", *(f"{n:,}" for n in numbers))
    return table


def _charges(balance: Balance, charges: Sequence[Mapping[str, Any]]) -> RenderableType:
    from rich.text import Text

    dated = ["as of"] if any(charge["as_of"] for charge in charges) else []
    texts = ("charge", "date", "who", "question", *dated, "outcome")
    table = table_of(*texts, "epsilon", "delta", "took", left=len(texts))
    if dated:  # two dates, and all in 80 columns
        table.padding = (0, 0, 0, 0)
    for charge in charges:
        k = f", k={charge['k']}" if charge["k"] else ""
        words = [charge["who"], f"{charge['question']}{k}", *(charge["as_of"] or "" for _ in dated)]
        table.add_row(
            *(str(charge["number"]), charge["time"][:10]),
            *(Text(intact(text) if text else "") for text in words),
            charge["outcome"],
            *(f"{charge[name]:.3g}" for name in ("epsilon", "delta")),
            f"{_share(balance.terms.total, charge['first'], charge['taken_delta']):.1%}",
        )
    return table


def _share(total: Amount, *taken: float) -> float:
    """How much of a total was taken: of rho or of delta, whichever is the larger share."""
    pairs = zip(taken, total, strict=True)
    return max((part / float(whole) for part, whole in pairs if whole), key=abs)
