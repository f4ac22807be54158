"""A release in plain words: what a reader of the list asks, and the answers.

They follow from what the release says, and from nothing else, so that a release and its copy from a
file say the same.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.release._promises import (
    assumed,
    cautions,
    cost,
    meaning,
    protected,
    what_epsilon_means,
)
from shortlist.release._score_intervals import has_intervals, how_sure
from shortlist.release.json_values import AnyMechanism, described_mechanism, json_value
from shortlist.release.readable import harmless
from shortlist.release.release import NONE_CHARGED, GivenBefore
from shortlist.release.sheet import advice, parameters, ranks_are_apart

if TYPE_CHECKING:
    from shortlist.mechanisms.mechanism import Mechanism
    from shortlist.release.release import Release

_COLUMNS_OF_PLAIN_TEXT = 80
_SCORES = {  # what a score is, by its unit
    "noisy weight": (
        "No. A score is a noisy weight: a user who holds one item adds 1 to it, and one who holds "
        "several adds less than 1 to each. So it is usually below the number of users who hold the "
        "item, sometimes far below, and cannot be turned into that number."
    ),
    "noisy count": "Yes, but noisy: each is a number of users, with random noise added.",
    "noisy clipped count": (
        "Nearly: each is a number of users, with random noise added, to which a user who holds "
        "many of the items found adds less than 1. So it may lie below the number of users who "
        "hold the item."
    ),
    "noisy number of wins": (
        "They are noisy numbers of wins: how many comparisons the item won, with random noise "
        "added."
    ),
}
_MISSING = {  # why an item may be missing, by question
    "rank": "it may have won often, but less often than those listed",
    "hitting-set": "most of its users may hold another item of the list already",
}
_BEST_FIRST = ("top-k", "rank")  # a set is found by other numbers than its scores, in rounds
_MORE = "other items may have more users"
_RARE = "it may have too few users to be named safely"
_BELOW = "noise may have kept it below the threshold"
_BEHIND = "noise may have put it behind others"
_TITLES = {
    "top-k": "The items that the most users hold",
    "domain": "All items with enough users to be named safely",
    "hitting-set": "Items that together reach the most users",
    "rank": "The items that do best in comparisons",
}
UNPROVEN = "A file cannot prove who made it, or that it was not changed."


class Section(NamedTuple):
    """A question, and its answer in paragraphs; points are set apart below them."""

    question: str
    paragraphs: list[str]
    points: list[str]


def in_words(release: Release) -> str:
    """What it is, what must not be overlooked, and all that a reader asks."""
    asked = "" if release.k is None else f", of {release.k:,} asked for"
    each = " in each group" if asked and release.by else ""
    named = f"{len(release):,} item{'s' * (len(release) != 1)} named{asked}{each}."
    warned = (_wrapped(f"{c.what.upper()} {c.therefore}") for c in cautions(release.guarantee))
    paid = [cost(release.guarantee), of_budget(release), UNPROVEN]
    sections = [*answers(release), Section("What did it cost?", paid, [])]
    parts = [f"{title(release)}\n{named}", *warned, *map(_laid_out, sections)]
    return "\n\n".join(parts) + "\n"


def _laid_out(section: Section) -> str:
    paragraphs = [_wrapped(text, "  ") for text in section.paragraphs]
    points = "\n".join(_wrapped(text, "  - ") for text in section.points)
    return f"{section.question}\n" + "\n\n".join([*paragraphs, *([points] if points else [])])


def _wrapped(text: str, first: str = "") -> str:
    """The lines of a paragraph; no word is broken, however long, nor a number from its unit."""
    filled = textwrap.fill(
        text,
        _COLUMNS_OF_PLAIN_TEXT,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace("\N{NO-BREAK SPACE}", " ")


def title(release: Release) -> str:
    named = _TITLES.get(release.question, harmless(release.question))
    return f"{named}, by {', '.join(map(harmless, release.by))}" if release.by else named


def of_budget(release: Release) -> str:
    """To which budget it was charged, and what to do where it was none."""
    if release.budget not in ("", NONE_CHARGED):
        again = f" {_of_again(release.given_before)}" if release.given_before else ""
        return f"It was charged to this budget: {harmless(release.budget)}.{again}"
    said = "It was counted in no budget" if release.budget else "It names no budget"
    return f"{said}. Whoever publishes it must keep account of all lists about the same people."


def _of_again(before: GivenBefore) -> str:
    return (
        f"It is not new: it was given again from what the budget has kept of charge "
        f"{before.charge}, of {before.day.isoformat()}. The table was not read again, and may have "
        "changed since."
    )


def answers(release: Release) -> list[Section]:
    """All questions in the order in which one asks, answered."""
    ranked = release.question == "rank"
    missing = "Did a missing item win nothing?" if ranked else "Does a missing item have no users?"
    return [
        Section("Who is protected?", protected(release.guarantee), assumed(release.guarantee)),
        Section(what_epsilon_means(release.guarantee), meaning(release.guarantee), []),
        Section(missing, _missing(release), []),
        Section("Are the scores counts?", list(_scores(release)), []),
        *([Section("Is the order right?", list(_order(release)), [])] if len(release) > 1 else []),
        *_drawn(release),
    ]


def _missing(release: Release) -> list[str]:
    k, more = release.k, advice(release)
    needed = _people_to_be_named(release.mechanism)
    lines = [" ".join([f"Not necessarily: {_why(release)}.", *needed])]
    if k is not None and release.by:
        lines.append(f"The list of a group ends at the latest with number {k:,}, as asked for.")
    elif k is not None and len(release) >= k:
        lines.append(f"The list ends here because {k:,} were asked for.")
    return [*lines, more] if more else lines


def _why(release: Release) -> str:
    found = _selecting(release.mechanism)
    reasons = [_RARE] if found is None or found.names_private_items else []
    if release.k is None:
        return ", or ".join([*reasons, _BELOW])
    return ", or ".join([_MISSING.get(release.question, _MORE), *reasons, _BEHIND])


def _scores(release: Release) -> Iterator[str]:
    scores = release.scores
    if scores is None:
        yield "There are none. The list does not say how many users hold an item."
        return
    default = f"Each score is this: {harmless(scores.unit)}, with random noise added."
    yield _SCORES.get(scores.unit, default)
    most = "at most " if scores.unit == "noisy clipped count" else ""
    yield f"The noise has a standard deviation of {most}{scores.noise_sd:.4g}.{_of_shared(release)}"
    if has_intervals(release):
        yield f"{how_sure()} It covers the noise, and nothing else.{_of_luck(release)}"


def _of_luck(release: Release) -> str:
    """What it means that the noise of a score also decided whether the item is listed."""
    apart = "selection" in release.mechanism.parameters()  # counts have noise of their own
    if apart or release.question not in _BEST_FIRST:
        return ""
    return (
        " The same noise helped to decide which items are listed: near the end of the list, scores "
        "are more often too high than too low."
    )


def _of_shared(release: Release) -> str:
    if release.scores is None or release.scores.shared_sd is None:
        return ""
    which = "all scores of a group" if release.by else "all scores"
    return (
        f" Part of it is one random number, of standard deviation {release.scores.shared_sd:.4g}, "
        f"that was added to {which} alike. It changes no difference between two of them, but "
        "builds up when they are added."
    )


def _order(release: Release) -> Iterator[str]:
    scores = release.scores
    if scores is None and release.question == "domain":
        yield "There is none to be right or wrong: the items are listed by name."
        return
    yield "Roughly. Items that are close together may be in the wrong order."
    if has_intervals(release):
        yield "Where the intervals of two items overlap, do not rely on which of them is ahead."
    if ranks_are_apart(release):
        yield "The noise of the ranks is not that of the scores, so the two may disagree."


def _drawn(release: Release) -> Iterator[Section]:
    needed = _people_to_be_named(release.mechanism)
    lines = [line for line in _explained(release.mechanism) if line not in needed]
    numbers = parameters(release.guarantee, release.mechanism)
    numbers[0] = f"All parameters: {numbers[0]}"
    yield Section("How was the list made?", [], [*map(harmless, lines), *numbers])


def _explained(mechanism: AnyMechanism) -> list[str]:
    """What it did, a sentence each; nothing, where this version knows no such mechanism.

    Of one that adds counts to a selection, what the selection did.
    """
    found = _selecting(mechanism)
    if found is None:
        return []
    around = "selection" in mechanism.parameters()
    left_out = (*found.unused, *found.told_of_scores) if around else ()
    return [line for line in found.explain() if line not in left_out]


def _people_to_be_named(mechanism: AnyMechanism) -> list[str]:
    """How many people an item needs to be named, in a sentence, where that can be said."""
    from shortlist.mechanisms.weighted_gaussian import people_needed

    found = _selecting(mechanism)
    finding = None if found is None else found.finding
    return [] if finding is None else [people_needed(finding.around)]


def _selecting(mechanism: AnyMechanism) -> Mechanism | None:
    """What selected the items: the mechanism, or the one that it adds counts to."""
    described = described_mechanism(mechanism)
    name, given = described["name"], described["parameters"]
    inner = given.get("selection")
    if isinstance(inner, Mapping):
        name, given = str(inner.get("name")), {k: v for k, v in inner.items() if k != "name"}
    return _rebuilt(name, given)


def _rebuilt(name: str, parameters: Mapping[str, Any]) -> Mechanism | None:
    """The mechanism of this name with these parameters, all of them, the derived ones included."""
    from shortlist.mechanisms.registry import every_mechanism
    from shortlist.parameters import Option, taken

    kind = next((kind for kind in every_mechanism() if kind.__name__ == name), None)
    if kind is None:
        return None
    given = {field: parameters[field] for field in kind.fields() if field in parameters}
    try:
        for field, takes in taken(kind).items():
            if field in given and isinstance(takes.kind, type) and issubclass(takes.kind, Option):
                given[field] = None if given[field] is None else takes.kind(given[field])
        made = kind(**given)
        same = json_value(made.parameters()) == dict(parameters)
    except (ArithmeticError, TypeError, ValueError):  # of another version, or changed by hand
        return None
    return made if same else None
