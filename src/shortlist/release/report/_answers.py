"""What a reader of a list asks, and the answers: from what the release says, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from shortlist.release._explained import explained, finds_private_items, people_to_be_named
from shortlist.release.intervals import has_intervals, told_of_intervals
from shortlist.release.report._promises import meaning, of_epsilon, protected, taken
from shortlist.release.sheet import advice, harmless, ranks_are_apart

if TYPE_CHECKING:
    from shortlist.release import Release
    from shortlist.release.scores import Scores

__all__ = ["Answer", "answers"]

_SCORES = {  # what a score is, by its unit
    "noisy weight": (
        "No. A score is a noisy weight: a user who holds one item adds 1 to it, and one who holds "
        "several adds less than 1 to each. So it is mostly below the number of users who hold the "
        "item."
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
_MISSING = {  # why an item is missing, by question
    "rank": (
        "That cannot be said. It may have been compared, and even have won often: it did less well "
        "than those listed, or noise put it behind them."
    ),
    "hitting-set": (
        "That cannot be said. It may be held by many people. Perhaps those already hold an item of "
        "the list, which then gains nothing by it; or noise put it behind; or it was too rare to "
        "be named."
    ),
}
_RARE = (
    "That cannot be said. It may be held by many people, and be missing because it was too rare to "
    "be named safely, or because noise put it behind others."
)
_BEHIND = (
    "That cannot be said. It may be held by many people, and be missing because others are held by "
    "more, or because noise put it behind them."
)


class Answer(NamedTuple):
    """A question, and its answer in paragraphs; points are set apart below them."""

    question: str
    paragraphs: list[str]
    points: list[str]


def answers(release: Release) -> list[Answer]:
    """All of them, in the order in which one asks."""
    return [
        Answer("Who is protected?", protected(release.guarantee), taken(release.guarantee)),
        Answer(of_epsilon(release.guarantee), meaning(release.guarantee), []),
        Answer(_of_missing(release), _missing(release), []),
        Answer("Are the scores counts?", list(_scores(release)), []),
        *([Answer("Is the order right?", list(_order(release)), [])] if len(release) > 1 else []),
        *_drawn(release),
    ]


def _of_missing(release: Release) -> str:
    if release.question == "rank":
        return "Did a missing item win nothing?"
    return "Does a missing item have no users?"


def _missing(release: Release) -> list[str]:
    public = finds_private_items(release.mechanism) is False
    why = _MISSING.get(release.question, _BEHIND if public else _RARE)
    k, more = release.k, advice(release)
    lines = [" ".join([why, *people_to_be_named(release.mechanism)])]
    if k is not None and release.by:
        lines.append(f"The list of a group ends at the latest with number {k:,}, as asked for.")
    elif k is not None and len(release) >= k:
        lines.append(f"The list ends here because {k:,} were asked for.")
    return [*lines, more] if more else lines


def _scores(release: Release) -> Iterator[str]:
    scores = release.scores
    if scores is None:
        yield (
            "There are none. The list says which items were named, and nothing of how many users "
            "hold them."
        )
        return
    default = f"Each score is this: {harmless(scores.unit)}, with random noise added."
    yield _SCORES.get(scores.unit, default)
    most = "at most " if scores.unit == "noisy clipped count" else ""
    yield f"The noise has standard deviation {most}{scores.noise_sd:.4g}.{_of_shared(scores)}"
    if has_intervals(release):
        yield (
            f"{told_of_intervals()} It tells of the noise alone. An item is listed since its noisy "
            "value was high: near the end of the list, scores are more often too high than too low."
        )


def _of_shared(scores: Scores) -> str:
    if scores.shared_sd is None:
        return ""
    return (
        f" A part of it, of standard deviation {scores.shared_sd:.4g}, is the same for all items: "
        "it cancels in differences and adds up in sums."
    )


def _order(release: Release) -> Iterator[str]:
    scores = release.scores
    if scores is None and release.question == "domain":
        yield "There is none to be right or wrong: the items are listed by name."
        return
    yield "About. Noise may have put items the wrong way round that are close together."
    if has_intervals(release):
        yield "Where the intervals of two items overlap, do not rely on which of them is ahead."
    if ranks_are_apart(release):
        yield "The ranks were drawn apart from the scores, so that the two need not agree."


def _drawn(release: Release) -> Iterator[Answer]:
    needed = people_to_be_named(release.mechanism)
    lines = [line for line in explained(release.mechanism) if line not in needed]
    if lines:
        yield Answer("How was the list drawn?", [], [harmless(line) for line in lines])
