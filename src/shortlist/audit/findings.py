"""What an audit found, and how it reads: in a terminal, in text, in Markdown and in JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

_NOTHING = 1e-20  # less than that is how balls see 0


class Verdict(Enum):
    """What is certain of a claim, on the pairs that were looked at."""

    LEFT_OUT = "left out"
    HOLDS = "holds"
    UNDECIDED = "undecided"
    BROKEN = "broken"

    @property
    def rank(self) -> int:
        """The place in the order of verdicts; the worst one is the largest."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Finding:
    """What was found of one claim.

    Attributes:
        mechanism: Its name.
        setting: Its parameters.
        claim: What is claimed: epsilon, delta, curve, rho, …
        limit: The largest loss that is claimed.
        loss: The largest loss that was found, rounded up; for samples, what it certainly is above.
        pair: The neighbours of that loss.
        pairs: How many pairs were looked at.
        verdict: What is certain.
        at: At which epsilon or order the loss was found, or how certain it is.
        reason: Why nothing could be decided, where that is so whatever the pair; of what is left
            out, what that is.
    """

    mechanism: str
    setting: str
    claim: str
    limit: float
    loss: float
    pair: tuple[str, str]
    pairs: int
    verdict: Verdict
    at: str = ""
    reason: str = ""

    @classmethod
    def about(
        cls,
        mechanism: object,
        claim: str,
        verdict: Verdict,
        pair: tuple[str, str] = ("", ""),
        **figures: Any,
    ) -> Finding:
        """A finding about a mechanism with its parameters; without figures, about a promise."""
        known = {"limit": 0.0, "loss": 1.0, "pairs": 0, **figures}
        name, setting = type(mechanism).__name__, repr(mechanism)
        return cls(name, setting, claim, verdict=verdict, pair=pair, **known)

    @classmethod
    def of_samples(
        cls,
        mechanism: str,
        setting: str,
        *,
        epsilon: float,
        delta: float,
        loss: float,
        pair: tuple[str, str],
        samples: int,
    ) -> Finding:
        """A finding that a loss at this delta is certainly exceeded."""
        return cls(
            mechanism=mechanism,
            setting=setting,
            claim="epsilon",
            limit=epsilon,
            loss=loss,
            pair=pair,
            pairs=samples,
            verdict=Verdict.BROKEN if loss > epsilon else Verdict.UNDECIDED,
            at=f"delta {delta:.4g}",
        )

    @property
    def used(self) -> float:
        return share_of(self.limit, self.loss)

    @property
    def is_loss(self) -> bool:
        """Whether a loss is claimed to be limited; else it is a promise that is not kept."""
        return self.limit > 0 or self.at != ""

    @property
    def text(self) -> str:
        at = f" at {self.at}" if self.at else ""
        return f"{self.claim} at most {self.limit:.4g}{at}" if self.is_loss else self.claim

    def worse(self, other: Finding) -> Finding:
        return max((self, other), key=lambda f: (f.verdict.rank, f.used))

    def merged(self, other: Finding) -> Finding:
        return replace(self.worse(other), pairs=self.pairs + other.pairs)


def worst_of_each_claim(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each claim of each mechanism: the worst, with all pairs of that claim."""
    worst: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        key = finding.mechanism, finding.claim
        worst[key] = worst[key].merged(finding) if key in worst else finding
    return list(worst.values())


def share_of(limit: float, loss: float) -> float:
    """The loss as a share of the limit, infinite where nothing was to be lost."""
    if limit > 0:
        return loss / limit
    return 0.0 if loss < _NOTHING else math.inf


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
        """Keep the worst finding of each claim of each mechanism, over all settings."""
        worst = worst_of_each_claim(findings)
        return cls(tuple(sorted(worst, key=lambda found: found.mechanism)), counted)

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
        """All findings in JSON, with their settings."""
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
        """The table of findings in Markdown."""
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
