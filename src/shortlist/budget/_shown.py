"""A budget as a table: what is left, as a bar too, and every charge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from shortlist.budget._standing import Standing, more_questions
from shortlist.budget._units import Amount
from shortlist.privacy import round_down, round_up
from shortlist.release.readable import harmless

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["shown", "text"]

_BAR = 24  # columns


def shown(standing: Standing, charges: Sequence[Mapping[str, Any]]) -> RenderableType:
    """All of it, for a terminal, a file or a notebook."""
    from rich.console import Group
    from rich.text import Text

    terms = standing.terms
    title = f"{terms.dataset}: epsilon = {terms.epsilon:g} and delta = {terms.delta:g}"
    what = f'Protects "{terms.protects}" ({terms.adjacency}); counted in {terms.unit.name}.'
    lines = [Text(harmless(title), style="bold"), Text(harmless(what)), Text(), _left(standing)]
    lines += [Text(), Text(_worth(standing)), Text(), _questions(standing), Text()]
    lines.append(_charges(standing, charges) if charges else Text("Nothing was charged yet."))
    return Group(*lines)


def text(renderable: RenderableType) -> str:
    """As plain text of 80 columns."""
    from rich.console import Console

    console = Console(file=StringIO(), width=80, color_system=None, force_jupyter=False)
    with console.capture() as capture:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _table(*headings: str, left: int = 0) -> Table:
    """A table whose first columns are texts, and the others numbers."""
    from rich import box
    from rich.table import Table

    style = {"show_edge": False, "pad_edge": False, "padding": (0, 1, 0, 0)}
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", **style)  # type: ignore[arg-type]
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < left else "right", overflow="fold")
    return table


def _left(standing: Standing) -> RenderableType:
    from rich.progress_bar import ProgressBar

    terms = standing.terms
    table = _table("", "spent", "left", "of", left=1)
    table.add_column("left", justify="left")
    table.add_column("", justify="right")
    names = (terms.unit.first, "delta")
    for name, spent, left, total in zip(
        names, standing.spent, standing.left, terms.total, strict=True
    ):
        if total:
            share = float(left / total)
            table.add_row(
                *(name, f"{round_up(spent):.4g}", f"{round_down(left):.4g}", f"{float(total):.4g}"),
                ProgressBar(total=1.0, completed=share, width=_BAR),
                f"{share:.0%}",
            )
    return table


def _worth(standing: Standing) -> str:
    delta = standing.terms.delta
    at = f" at delta = {delta:g}" if delta else ""
    return f"What is left is worth epsilon = {standing.worth:.3g}{at}, spent at once."


def _questions(standing: Standing) -> RenderableType:
    in_all = ("in all, by zcdp", "in all, by basic") if standing.terms.delta else ("in all",)
    table = _table("epsilon each", "delta", "in what is left", *in_all)
    for epsilon, delta, still, in_zcdp, added in more_questions(standing):
        numbers = (still, in_zcdp, added) if standing.terms.delta else (still, added)
        table.add_row(f"{epsilon:g}", f"{delta:g}", *(f"{n:,}" for n in numbers))
    return table


def _charges(standing: Standing, charges: Sequence[Mapping[str, Any]]) -> RenderableType:
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
            f"{_share(standing.terms.total, charge['first'], charge['taken_delta']):.1%}",
        )
    return table


def _share(total: Amount, *taken: float) -> float:
    """How much of a total was taken: of rho or of delta, whichever is the larger share."""
    pairs = zip(taken, total, strict=True)
    return max(part / float(whole) for part, whole in pairs if whole)
