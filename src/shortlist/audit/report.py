"""An audit as it reads: a table in a terminal, in text, in Markdown and in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist.audit.findings import Finding, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Audit"]

_NUMERIC = {"largest loss", "certain loss", "share", "pairs", "samples"}
_WRAPPED = {"claim", "largest loss", "certain loss", "between"}


@dataclass(frozen=True)
class Audit:
    """What was found of every claim of every mechanism that was audited.

    Attributes:
        findings: One for each claim of each mechanism, of the setting that comes nearest to it.
        counted: What was looked at: pairs, or samples.
    """

    findings: tuple[Finding, ...]
    counted: str = "pairs"

    @classmethod
    def of(cls, findings: Iterable[Finding], counted: str = "pairs") -> Audit:
        """The worst of each claim of each mechanism, over all settings."""
        worst: dict[tuple[str, str], Finding] = {}
        for finding in findings:
            key = finding.mechanism, finding.claim
            worst[key] = worst[key].merged(finding) if key in worst else finding
        return cls(tuple(worst.values()), counted)

    @property
    def holds(self) -> bool:
        """Whether every claim certainly holds, on all that was looked at; samples cannot say so."""
        return {finding.verdict for finding in self.findings} == {Verdict.HOLDS}

    @property
    def broken(self) -> bool:
        """Whether a claim certainly does not hold."""
        return any(finding.verdict is Verdict.BROKEN for finding in self.findings)

    def to_json(self) -> str:
        """All of it, the settings included."""
        rows = [
            {
                **{self.counted if name == "pairs" else name: x for name, x in vars(f).items()},
                "verdict": f.verdict.value,
                "used": _finite(f.used),
                "loss": _finite(f.loss),
            }
            for f in self.findings
        ]
        told = {"holds": self.holds, "broken": self.broken, "findings": rows}
        return json.dumps(told, indent=2, allow_nan=False) + "\n"

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = ["| " + " | ".join(row) + " |" for row in (self._columns, *self._rows())]
        aligned = "|---|---|--:|--:|---|--:|---|"
        return "\n".join([lines[0], aligned, *lines[1:], ""])

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console

        file = StringIO()
        Console(file=file, width=120, color_system=None, force_jupyter=False).print(self)
        return file.getvalue()

    def __rich__(self) -> RenderableType:
        """The table for a terminal."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for name in self._columns:
            table.add_column(
                name,
                justify="right" if name in _NUMERIC else "left",
                no_wrap=name not in _WRAPPED,
            )
        styles = {"broken": "bold red", "undecided": "yellow"}
        before = None
        for row in self._rows():
            shown = ["" if row[0] == before else row[0], *row[1:]]
            table.add_row(*map(Text, shown[:-1]), Text(row[-1], styles.get(row[-1], "")))
            before = row[0]
        return table

    @property
    def _columns(self) -> list[str]:
        loss = "largest loss" if self.counted == "pairs" else "certain loss"
        return ["mechanism", "claim", loss, "share", "between", self.counted, "verdict"]

    def _rows(self) -> list[list[str]]:
        return [
            [
                f.mechanism,
                f"{f.claim} at most {f.limit:.4g}" + (f" at {f.at}" if f.at else ""),
                f"{f.loss:.4g}",
                f"{f.used:.0%}" if f.used < 100 else "∞",
                f"{f.pair[0]} and {f.pair[1]}",
                f"{f.pairs:,}",
                f.verdict.value,
            ]
            for f in self.findings
        ]


def _finite(x: float) -> float | str:
    return x if abs(x) < 1e300 else "infinite"
