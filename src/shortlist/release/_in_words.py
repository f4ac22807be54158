"""A release in plain words: what a reader of the list asks, and the answers.

They follow from what the release says, and from nothing else, so that a release and its copy from a
file say the same.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.errors import figures
from shortlist.mechanisms.mechanism import counted
from shortlist.parameters import Direction, ShareOfUsers
from shortlist.questions import (
    OF_SERIES,
    BottomScores,
    Discoveries,
    ListOfPeriod,
    ListSoFar,
    TopScores,
    UserCounts,
)
from shortlist.release._associations import evidence
from shortlist.release._columns import (
    is_ranked,
    names_items,
    possible_ranks_of,
    reach_of_counts,
    reached_in_all,
    shown_scores,
)
from shortlist.release._promises import (
    assumed,
    cautions,
    cost,
    may_be_published,
    meaning,
    protected,
    what_epsilon_means,
)
from shortlist.release.json_values import AnyMechanism, described_mechanism, floor_of, json_value
from shortlist.release.noisy_scores import REACHED, STATED
from shortlist.release.readable import harmless, intact, number
from shortlist.release.release import NONE_CHARGED, GivenBefore
from shortlist.release.sheet import advice, parameters, ranks_are_apart

if TYPE_CHECKING:
    from shortlist.mechanisms.mechanism import Mechanism
    from shortlist.release.noisy_scores import Scores
    from shortlist.release.release import Release

_COLUMNS_OF_PLAIN_TEXT = 80
_SCORES = {  # what a score is, by its unit
    "noisy weight": (
        "It does not say. The items were found by noisy weights: a user who holds one item adds 1 "
        "to its weight, and one who holds several adds less than 1 to each. A weight is usually "
        "below the number of users who hold the item, sometimes far below, and cannot be turned "
        "into that number. So it is not shown; the file has it."
    ),
    "noisy count": (
        "Its count says so, roughly: that is the number of users with random noise added."
    ),
    "noisy amount": (
        "It does not say. Its amount is the sum of what users spent on it, each up to the cap, "
        "with random noise added."
    ),
    "noisy clipped count": (
        "Its clipped count or more, roughly: that is a number of users, with random noise added, "
        "to which a user who holds many items adds less than 1, or counts for some of them only. "
        "So it may lie below the number of users who hold the item."
    ),
    REACHED: (
        "It does not say. It says how many users hold an item and none above it, with random noise "
        "added. Each user is counted once, so that these numbers add up to all users reached."
    ),
    STATED: (
        "Its score says so, roughly: that is the score that whoever asked had computed, with "
        "random noise added."
    ),
    "noisy number of wins": (
        "That is not what its score says, which is a noisy number of wins: how many comparisons "
        "the item won, with random noise added."
    ),
}
_OF_SERIES = (
    "It does not say. The order is by noisy weights, to which a user who holds several items adds "
    "less for each. They are no numbers of users, and cannot be turned into "
    "these. So they are not shown; the file has them."
)
_MISSING = {  # why an item may be missing, by question
    TopScores.name: "other items may have larger scores",
    BottomScores.name: "other items may have smaller scores",
    "rank": "it may have won often, but less often than those listed",
    "hitting-set": "most of its users may hold another item of the list already",
}
_TOLD_APART = (
    "The documentation tells counts, clipped counts, weights and scores apart, under Concepts: "
    "what the numbers are."
)
_OF_LUCK = (
    "There are no intervals. The same noise helped to decide which items are listed: near the end "
    "of the list, scores are more often too high than too low."
)
_OF_INTERVALS = (
    "In 95 of 100 cases the number of users who hold an item is in its interval. Each interval "
    "stands for itself: of twenty, expect one to be wrong."
)
_OF_INTERVALS_OF_SCORES = (
    "In 95 of 100 cases the score of an item, as it was without noise, is in its interval. That is "
    "the score in these data, and no estimate for other people. Each interval stands for itself: "
    "of twenty, expect one to be wrong."
)
_OF_AMOUNTS = (
    "In 95 of 100 cases the sum of what users spent on an item, each up to the cap, is in its "
    "interval. Each interval stands for itself: of twenty, expect one to be wrong."
)
_OF_CLIPPED_INTERVALS = (
    "In 95 of 100 cases at least as many users hold an item as its interval says. Each interval "
    "stands for itself: of twenty, expect one to be wrong."
)
_MORE = "other items may have more users"
_MORE_SPENT = "others may have larger sums"
_RARE = "it may have too few users to be named safely"
_BELOW = "noise may have kept it below the threshold"
_UNDER_FLOOR = "its noisy count may be below the floor that was asked for"
_BEHIND = "noise may have put it behind others"
_TITLES = {
    "top-k": "The items that the most users hold",
    "domain": "All items with enough users to be named safely",
    "hitting-set": "Items that together reach the most users",
    "rank": "The items that do best in comparisons",
    TopScores.name: "The items with the largest scores",
    BottomScores.name: "The items with the smallest scores",
    UserCounts.name: "How many users hold each item of a list",
    Discoveries.name: "The items that go with a label",
    ListSoFar.name: "All items that were named so far, with enough users to be named safely",
    ListOfPeriod.name: "The items of the period, with enough users to be named safely",
}
_ASKED_OF_USERS = "Does a missing item have no users?", "How many users hold an item?"
_ASKED = {  # what one asks of a missing item, and of those listed, by question
    "rank": ("Did a missing item win nothing?", _ASKED_OF_USERS[1]),
    Discoveries.name: (
        "Does a missing item have nothing to do with the label?",
        "How sure is it that an item goes with the label?",
    ),
    TopScores.name: ("Does a missing item have a small score?", "What is the score of an item?"),
    BottomScores.name: ("Does a missing item have a large score?", "What is the score of an item?"),
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
    done = "named" if names_items(release) else "counted"
    named = f"{len(release):,} item{'s' * (len(release) != 1)} {done}{asked}{each}."
    warned = (_wrapped(f"{c.what.upper()} {c.therefore}") for c in cautions(release.guarantee))
    paid = [cost(release.guarantee, release.question), of_budget(release), UNPROVEN]
    sections = [*answers(release), Section("What did it cost?", paid, [])]
    facts = [f"{label}: {text}" for label, text in identity(release)]
    head = "\n".join(map(_wrapped, [title(release), *facts, named]))
    parts = [head, *map(_wrapped, note_of(release)), *warned]
    return "\n\n".join([*parts, *map(_laid_out, sections)]) + "\n"


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
    """As it is called; without a title, what was asked, and of what."""
    about = release.about
    if about.title:
        return intact(about.title)
    named = _TITLES.get(release.question, harmless(release.question))
    named = named if about.amount is None else "The items with the largest sums"
    by = f", by {', '.join(map(harmless, release.by))}" if release.by else ""
    of = f": {intact(about.dataset)}" if about.dataset else ""
    return f"{named}{by}{of}"


def identity(release: Release) -> list[tuple[str, str]]:
    """By what one tells it from other lists: labels and texts, of what is known."""
    about = release.about
    made_by = f"shortlist {about.version}" if about.version else None
    day = about.made_on.isoformat() if about.made_on else None
    told = {
        "Data set": about.dataset,
        "As of": about.as_of,
        "Rows where": about.where,
        "Items": about.items,
        "By sums of": about.amount,
        "Cap that was chosen": None if release.cap is None else figures(release.cap),
        "Made on": day,
        "Made by": made_by,
    }
    return [(label, intact(text)) for label, text in told.items() if text]


def note_of(release: Release) -> list[str]:
    """The remark for its readers, if there is one."""
    return [intact(release.about.note)] if release.about.note else []


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
    missing, amount = _ASKED.get(release.question, _ASKED_OF_USERS)
    return [
        Section("Who is protected?", protected(release.guarantee), assumed(release.guarantee)),
        Section(what_epsilon_means(release.guarantee), meaning(release.guarantee), []),
        Section("May it be published?", may_be_published(release.guarantee), []),
        Section(missing, _missing(release), []),
        *_others(release),
        Section(amount, list(_scores(release)), []),
        *([Section("Is the order right?", list(_order(release)), [])] if len(release) > 1 else []),
        *_drawn(release),
    ]


def _missing(release: Release) -> list[str]:
    if not names_items(release):
        return ["Nothing is said of it: the items of a list were counted, and no others."]
    if release.associations is not None:
        looked_at = f"{len(release.associations):,} items were looked at"
        return [f"Not necessarily: {looked_at}, and those with too little evidence are not named."]
    k, more = release.k, advice(release)
    floor = _floor(release.mechanism)
    needed = floor or _people_to_be_named(release.mechanism)
    lines = [" ".join([f"Not necessarily: {_why(release)}.", *needed])]
    if k is not None and release.by:
        lines.append(f"The list of a group ends at the latest with number {k:,}, as asked for.")
    elif k is not None and len(release) >= k:
        lines.append(f"The list ends here because {k:,} were asked for.")
    better = [] if floor else _with_more(release.mechanism)
    return [*lines, " ".join([more, *better])] if more else lines


def _floor(mechanism: AnyMechanism) -> list[str]:
    """How few people are hardly ever enough, in a sentence, where a floor was asked for."""
    least = floor_of(mechanism)
    if least is None:
        return []
    return [f"An item that fewer than {least:,} users hold is named in at most 1 of 100 cases."]


def _others(release: Release) -> Iterator[Section]:
    """How much is not in the list, where it was asked for."""
    if (others := release.others) is None:
        return
    (users, *ends), (share, *reaches) = others.users_without, others.coverage
    most = release.mechanism.parameters()["max_pairs_per_user"]
    without = (
        f"About {users:,} users hold none of its items: {ends[0]:,} to {ends[1]:,} in 95 of 100 "
        "cases."
    )
    covered = (
        "Of all pairs of a user and an item that the user holds, the list covers about "
        f"{share:.1%}: {reaches[0]:.1%} to {reaches[1]:.1%} in 95 of 100 cases. Of a user who "
        f"holds more than {most:,} items each pair counts for less, so that all of them count for "
        f"{most:,}."
    )
    yield Section("How much is not in the list?", [without, covered], [])


def _why(release: Release) -> str:
    found = _selecting(release.mechanism)
    reasons = [_RARE] if found is None or found.names_private_items else []
    if floor_of(release.mechanism) is not None:
        reasons.append(_UNDER_FLOOR)
    if release.k is None:
        return ", or ".join([*reasons, _BELOW])
    more = _MORE if release.about.amount is None else _MORE_SPENT
    return ", or ".join([_MISSING.get(release.question, more), *reasons, _BEHIND])


def _scores(release: Release) -> Iterator[str]:
    scores = release.scores
    if release.associations is not None:
        yield from evidence(release)
        return
    if scores is None:
        yield "It does not say."
        return
    if release.question in OF_SERIES:
        yield _OF_SERIES
        return
    default = f"Each score is this: {harmless(scores.unit)}, with random noise added."
    yield _SCORES.get(scores.unit, default)
    if not scores.are_weights:
        yield from _noise(release, scores)
    yield _TOLD_APART


def _noise(release: Release, scores: Scores) -> Iterator[str]:
    """How large it is, and whether there are intervals."""
    most = "at most " if scores.are_clipped else ""
    yield f"The noise has a standard deviation of {most}{scores.noise_sd:.4g}.{_of_shared(release)}"
    if scores.unit == REACHED:
        yield from _reach(release)
    elif reach_of_counts(release) is None:
        yield _OF_LUCK
    elif scores.are_stated:
        yield _OF_INTERVALS_OF_SCORES
    else:
        clipped = _OF_CLIPPED_INTERVALS if scores.are_clipped else _OF_INTERVALS
        yield _OF_AMOUNTS if scores.are_amounts else clipped
        yield from _of_groups(release)
        yield from _of_shares(release)


def _of_shares(release: Release) -> Iterator[str]:
    """Of what the shares are, and how often they are within their ends."""
    users = release.users
    if not users:
        return
    both = " It allows for the noise in both numbers."
    if release.share_of_users is ShareOfUsers.STATED:
        number, both = f"{users[0]:,} users, as whoever asked has stated", ""
    elif release.by:
        number = "all users in its group, who were counted in the same noise"
    else:
        number = f"all users, who were counted in the same noise: about {users[0]:,}"
    yield (
        f"The share of users is of {number}. In 95 of 100 cases a share is in the interval beside "
        f"it.{both}"
    )


def _of_groups(release: Release) -> Iterator[str]:
    """In how many groups a user is counted, where that may be fewer than the user is in."""
    most = release.mechanism.parameters().get("max_groups_per_user")
    if isinstance(most, int) and most < len(list(release.groups())):
        groups = "1 group" if most == 1 else f"{most:,} groups"
        yield (
            f"A user is counted in at most {groups}. Where users are in more, the number of users "
            "who hold an item in a group may be larger than its interval says"
            f"{', and a share is one of those counted there' * bool(release.users)}."
        )


def _reach(release: Release) -> Iterator[str]:
    yield (
        "In 95 of 100 cases the number of an item is in its interval. Each interval stands for "
        "itself: of twenty, expect one to be wrong."
    )
    if (together := reached_in_all(release)) is not None and len(release):
        users, least, most = (f"{n:,}" for n in together)
        yield (
            f"Together the items reach about {users} users: {least} to {most} in 95 of 100 cases."
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
    if scores is None and (release.question == "domain" or not release.ordered):
        yield "There is none to be right or wrong: the items are listed by name."
        return
    if not release.ordered:
        yield "None was asked for: the items are listed by their numbers, as far as noise allows."
        return
    if not is_ranked(release):
        yield "There is none to be right or wrong: the items are listed as they were asked for."
        return
    if release.associations is not None:
        yield "They are listed by their e-values: the strongest evidence first."
        return
    yield "Roughly. Items that are close together may be in the wrong order."
    if (ranks := possible_ranks_of(release)) is not None:
        certain = sum(low == high for low, high in ranks)
        yield (
            "The last column says which ranks an item may have by its number of users, among the "
            f"items listed{' in its group' * bool(release.by)}. In 95 of 100 cases all of these"
            f"{', in all groups,' * bool(release.by)} are right together. "
            f"Of {len(ranks):,} ranks {certain:,} are certain."
        )
    shown = shown_scores(release)
    if shown is not None and shown.unit != REACHED and ranks_are_apart(release):
        yield (
            "Items were put in order by other noise than their numbers have. So one may stand "
            "above another that has a larger number."
        )


def _drawn(release: Release) -> Iterator[Section]:
    needed = _people_to_be_named(release.mechanism)
    made = _MADE_IN_RUNS.get(release.question, _explained)
    lines = [line for line in made(release.mechanism) if line not in needed]
    if release.about.amount is not None:
        lines.insert(0, "A count here is the sum of an item, where one cap counts as one person.")
    if release.cap is not None:
        chosen = f"The cap of {figures(release.cap)} was chosen privately"
        lines.insert(0, f"{chosen}, by how many users have sums above each of those listed.")
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
    parameters = mechanism.parameters()
    left_out = found.unused if "selection" in parameters else []
    steps = [line for line in found.explain() if line not in left_out]
    return [*_of_scores(parameters), *steps]


def _of_list_so_far(mechanism: AnyMechanism) -> list[str]:
    """How a run of a series makes its list, a sentence each."""
    of, bound, sigma, threshold = _of_run(mechanism)
    spent = "in each run an equal part of that is added, and what is not spent is kept"
    enough = f"in this run {threshold} for one run alone, and more by the root of their number"
    return [
        "In each run every user gives weights to the items that they hold.",
        f"The squares of all weights of a user in all {of} add up to at most 1: {spent}.",
        f"Of each user at most {bound} items count before they are named.",
        "Items that are close to being named are given more weight, and named items little.",
        f"{_noise_of_run(sigma)} any more.",
        f"An item is named if its noisy sums of the last 1, 2, 4, … runs reach enough: {enough}.",
        "Once named, it stays on the list.",
        "The order is that of estimates from the noisy sums of all runs.",
    ]


def _of_list_of_period(mechanism: AnyMechanism) -> list[str]:
    """The same where each list is of its own period."""
    of, bound, sigma, threshold = _of_run(mechanism)
    spent = "3/10 are there before the first run, the rest is added evenly, and a run takes half"
    return [
        "In each run every user gives the same weight to each item that they hold in its period.",
        f"Of each user at most {bound} items count that no list has named before.",
        f"The squares of all weights of a user in all {of} add up to at most 1: {spent}.",
        f"{_noise_of_run(sigma)}.",
        f"An item is named if its noisy sum is at least {threshold}.",
        "One that was named before is shown if it is at least 3 standard deviations of the noise.",
        "The order is that of the noisy sums.",
    ]


def _noise_of_run(sigma: str) -> str:
    noise = f"normal noise of standard deviation {sigma} is added to the sum of an item's weights"
    return f"In each run {noise}, also where nobody holds the item"


_MADE_IN_RUNS = {ListSoFar.name: _of_list_so_far, ListOfPeriod.name: _of_list_of_period}


def _of_run(mechanism: AnyMechanism) -> tuple[str, str, str, str]:
    """The runs of a series, the items of a user that count, noise and threshold, in words."""
    given = mechanism.parameters()
    names = "max_items_per_user", "sigma", "threshold"
    bound, sigma, threshold = (number(given.get(name, "?")) for name in names)
    return counted(given.get("periods", 0), "run"), bound, sigma, threshold  # type: ignore[arg-type]  # loaded


def _of_scores(parameters: Mapping[str, object]) -> list[str]:
    """How what is said of counts is to be read of scores, where there are such."""
    from shortlist.mechanisms.wrappers.of_scores import in_spreads

    sensitivity, direction = parameters.get("sensitivity"), parameters.get("direction")
    ways = {way.value: way for way in Direction}
    if (
        not isinstance(sensitivity, float)
        or not isinstance(direction, str)
        or direction not in ways
    ):
        return []
    return [in_spreads(sensitivity, ways[direction])]


def _people_to_be_named(mechanism: AnyMechanism) -> list[str]:
    """How many people an item needs to be named, in a sentence, where that can be said."""
    from shortlist.mechanisms.weighted_gaussian import people_needed

    found = _selecting(mechanism)
    finding = None if found is None else found.finding
    return [] if finding is None else [people_needed(finding.around)]


def _with_more(mechanism: AnyMechanism) -> list[str]:
    """How many people an item would need with more epsilon, by public parameters alone."""
    found = _selecting(mechanism)
    if found is None or found.finding is None:
        return []
    known: Any = found
    try:
        twice, thrice = (
            f"about {replace(known, epsilon=n * found.epsilon).finding.around:.0f}" for n in (2, 3)
        )
    except (ArithmeticError, ValueError):  # no noise can be calibrated to so much
        return []
    now = f"{found.finding.around:.0f}, if each holds only this item"
    more = f"with three times the epsilon, {thrice}"
    return [
        f"With twice the epsilon an item would need {twice} users in the place of {now}; {more}."
    ]


def _selecting(mechanism: AnyMechanism) -> Mechanism | None:
    """What selected the items: the mechanism, or the one that it adds counts to."""
    described = described_mechanism(mechanism)
    name, given = described["name"], described["parameters"]
    while isinstance(inner := given.get("selection"), Mapping):
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
