"""A release in plain words, for a terminal: what the page of a report says beside the list."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from shortlist.release._answers import UNPROVEN, Answer, answers, of_budget, title
from shortlist.release._promises import cautions, cost

if TYPE_CHECKING:
    from shortlist.release import Release

__all__ = ["in_words"]

_WIDTH = 80


def in_words(release: Release) -> str:
    """What it is, what must not be overlooked, and all that a reader asks."""
    asked = "" if release.k is None else f", of {release.k:,} asked for"
    each = " in each group" if asked and release.by else ""
    named = f"{len(release):,} item{'s' * (len(release) != 1)} named{asked}{each}."
    warned = (_wrapped(f"{c.what.upper()} {c.therefore}") for c in cautions(release.guarantee))
    paid = [cost(release.guarantee), of_budget(release), UNPROVEN]
    told = [*answers(release), Answer("What did it cost?", paid, [])]
    parts = [f"{title(release)}\n{named}", *warned, *map(_section, told)]
    return "\n\n".join(parts) + "\n"


def _section(answer: Answer) -> str:
    """The question, and below it paragraphs and points."""
    paragraphs = [_wrapped(text, "  ") for text in answer.paragraphs]
    points = "\n".join(_wrapped(text, "  - ") for text in answer.points)
    return f"{answer.question}\n" + "\n\n".join([*paragraphs, *([points] if points else [])])


def _wrapped(text: str, first: str = "") -> str:
    """The lines of a paragraph; no word is broken, however long, nor a number from its unit."""
    filled = textwrap.fill(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace("\N{NO-BREAK SPACE}", " ")
