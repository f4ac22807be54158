"""An audit as it reads: a table in a terminal, in text, in Markdown and in JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from shortlist.audit.findings import Finding, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Audit"]

_WIDTH = 80  # columns of a terminal
_ON = "    "  # before the data on which a claim is broken
_STYLES = {"left out": "dim", "holds": "", "undecided": "yellow", "broken": "bold red"}


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
        return cls(tuple(sorted(worst.values(), key=lambda found: found.mechanism)), counted)

    @property
    def holds(self) -> bool:
        """Whether every claim certainly holds, on all that was looked at; samples cannot say so."""
        verdicts = {finding.verdict for finding in self.findings}
        return verdicts - {Verdict.LEFT_OUT} == {Verdict.HOLDS}

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
        content = {"holds": self.holds, "broken": self.broken, "findings": rows}
        return json.dumps(content, indent=2, allow_nan=False) + "\n"

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = ["| " + " | ".join(row) + " |" for row in (self._columns, *self._rows())]
        aligned = "|---|---|--:|--:|---|--:|---|"
        return "\n".join([lines[0], aligned, *lines[1:], ""])

    @property
    def summary(self) -> str:
        """How many claims hold.

        >>> Audit(()).summary
        'No claim holds, none undecided, none broken.'
        """
        n = Counter(finding.verdict for finding in self.findings)
        hold = n[Verdict.HOLDS]
        held = f"{hold or 'No'} {'claim holds' if hold < 2 else 'claims hold'}"
        others = (f"{n[v] or 'none'} {v.value}" for v in (Verdict.UNDECIDED, Verdict.BROKEN))
        told = ", ".join([held, *others]) + "."
        if n[Verdict.LEFT_OUT]:
            told += " What is left out draw by draw was looked at by its exact laws alone."
        return told

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console

        file = StringIO()
        Console(file=file, width=_WIDTH, color_system=None, force_jupyter=False).print(self)
        return file.getvalue()

    def __rich__(self) -> RenderableType:
        """A line for each claim below its mechanism, no wider than 80 columns, and the summary."""
        from rich.console import Group
        from rich.text import Text

        _, _, loss, share, _, counted, verdict = self._columns
        lines = [Text(_line("", loss, share, counted, verdict), "bold")]
        before = None
        for finding, row in zip(self.findings, self._rows(), strict=True):
            name, claim, loss, share, between, counted, verdict = row
            if name != before:
                lines.append(Text(name, "bold"))
            line = _line(f"  {claim}", loss, share, counted, verdict)
            lines.append(Text(line, _STYLES[verdict]))
            if verdict == Verdict.BROKEN.value:
                lines += map(Text, wrap(between, _WIDTH, initial_indent=_ON, subsequent_indent=_ON))
            elif finding.reason:
                lines += map(
                    Text, wrap(finding.reason, _WIDTH, initial_indent=_ON, subsequent_indent=_ON)
                )
            before = name
        return Group(*lines, Text(), Text(self.summary, "bold"))

    @property
    def _columns(self) -> list[str]:
        loss = "largest loss" if self.counted == "pairs" else "certain loss"
        return ["mechanism", "claim", loss, "share", "between", self.counted, "verdict"]

    def _rows(self) -> list[list[str]]:
        return [
            [
                f.mechanism,
                f.text,
                f"{f.loss:.4g}" if f.is_loss else "",
                _share(f.used) if f.is_loss else "",
                " and ".join(dict.fromkeys(f.pair)),
                f"{f.pairs:,}",
                f.verdict.value,
            ]
            for f in self.findings
        ]


def _line(claim: str, loss: str, share: str, counted: str, verdict: str) -> str:
    return f"{claim:<40} {loss:>12} {share:>5} {counted:>9}  {verdict}"


def _share(used: float) -> str:
    return f"{used:.0%}" if used < 100 else "∞"


def _finite(x: float) -> float | str:
    return x if abs(x) < 1e300 else "infinite"
