"""What people see of a release: a sheet of harmless texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist.errors import PYTHON, Face, Words, figures
from shortlist.parameters import ShareOfUsers
from shortlist.questions import OF_SERIES, BottomScores, Discoveries, ListOfPeriod, ListSoFar
from shortlist.release._associations import notes_of
from shortlist.release._columns import (
    SCORE,
    columns_for_people,
    is_ranked,
    possible_ranks_of,
    reach_of_counts,
    reached_in_all,
    shown_scores,
)
from shortlist.release.about import NOTHING_SAID, About
from shortlist.release.json_values import AnyMechanism, asked_for, floor_of, name_of
from shortlist.release.noisy_scores import REACHED
from shortlist.release.readable import harmless, intact, number, visible
from shortlist.strength import strength

if TYPE_CHECKING:
    from shortlist.privacy.guarantee import Guarantee
    from shortlist.release.noisy_scores import Scores
    from shortlist.release.release import Release

SHORT = 100
"""A list up to this long is shown whole, and of a longer one the first rows."""
_ROWS_OF_LONG_LISTS = 30
NOT_PRIVATE = "not private: the noise came from a seed"
_CLIPPED = (
    ": a user who holds many items adds less than 1, or counts for some of them only; the noise "
    "has standard deviation at most"
)
_ORDERS = {  # of what is in an order, but has no scores that people are shown, by question
    "top-k": "more users first, as far as noise allows",
    "domain": "more users first, roughly: by noisy weights, which are no numbers of users",
    ListSoFar.name: "more users first, roughly: by noisy weights of all runs, no numbers of users",
    ListOfPeriod.name: "more users first, roughly: by noisy weights, which are no numbers of users",
    "hitting-set": "as picked: each item for the users whom none before it reached",
}
_IN_WORDS = {  # what people ask for, by the names of parameters: of one, and of several
    "periods": ("a list of a series of 1 run", "a list of a series of {:,} runs"),
    "k": ("1 item asked for", "{:,} items asked for"),
    "max_items_per_user": (
        "of each user 1 {kind} counts",
        "of each user at most {:,} {kind}s count",
    ),
    "max_groups_per_user": (
        "of each user 1 group counts",
        "of each user at most {:,} groups count",
    ),
    "min_users": (
        "an item without users is named in at most 1 of 100 cases",
        "an item that fewer than {:,} users hold is named in at most 1 of 100 cases",
    ),
    "kept_from": ("", "one counted for {:,} users or more is left out in at most 1 of 100"),
    "max_comparisons_per_user": (
        "of each user 1 comparison counts",
        "of each user at most {:,} comparisons count",
    ),
    "contraction": ("contraction at most {:g}", "contraction at most {:g}"),
    "degree": (
        "each item was compared with at most 1 other",
        "each item was compared with at most {:,} others",
    ),
}
_OF_A_LABEL = {  # likewise, where it is asked which items go with a label
    "k": ("1 item looked at", "{:,} items looked at"),
    "n_items": ("of 1 public item", "of {:,} public items"),
    "cases": ("1 case, as was stated", "{:,} cases, as was stated"),
    "controls": ("1 control", "{:,} controls"),
    "size_error": ("each off by at most 1", "each off by at most {:,}"),
}
_COUNTS = Words("{noisy_counts=True}")


@dataclass(frozen=True)
class Sheet:
    """A title, a table, notes and lines, every text `visible`: what any renderer may lay out.

    Attributes:
        title: What it is, such as what was asked and how many items came out.
        about: What stands below the title, a line each: what it is of, and when it was made.
        warning: What must not be overlooked, or "".
        columns: The heading of each column; none where there is no table.
        numeric: Which columns hold numbers.
        rows: The cells of the rows.
        more: How many rows are left out, in words, or "".
        notes: Labels and texts, such as those of the guarantee.
        lines: What stands below, a paragraph each.
    """

    title: str
    about: tuple[str, ...] = ()
    warning: str = ""
    columns: tuple[str, ...] = ()
    numeric: tuple[bool, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    more: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()


def sheet(release: Release, *, whole: bool = False, face: Face = PYTHON) -> Sheet:
    """What to show of a release, in the words of a face; if `whole`, all of every row."""
    total = len(release)
    shown = total if whole or total <= SHORT else _ROWS_OF_LONG_LISTS
    columns = columns_for_people(release)
    cells = [column.cells(release, shown, cut=not whole) for column in columns]
    title, *about = _headlines(release)
    return Sheet(
        title=title,
        about=tuple(about),
        warning="" if release.guarantee.private else NOT_PRIVATE,
        columns=tuple(visible(column.name) for column in columns),
        numeric=tuple(column.is_numeric for column in columns),
        rows=tuple(zip(*cells, strict=True)),
        more=f"… and {total - shown:,} more" if shown < total else "",
        notes=(
            *notes(release.guarantee, release.mechanism, release.about),
            *([("items", release.about.items)] if release.about.items else ()),
            *_scores(release, face),
            *notes_of(release),
            *([("others", str(release.others))] if release.others else ()),
            *_users(release),
            *_cap(release),
            *([("note", intact(release.about.note))] if release.about.note else ()),
            *([("budget", harmless(release.budget))] if release.budget else ()),
            *([("given before", str(release.given_before))] if release.given_before else ()),
        ),
        lines=tuple(line for line in (_again(release), advice(release)) if line),
    )


def _cap(release: Release) -> Iterator[tuple[str, str]]:
    if release.cap is not None:
        yield "cap", f"{figures(release.cap)}, which was chosen privately"


def _again(release: Release) -> str:
    """What another run would cost."""
    if not release.guarantee.private:
        return ""
    if release.question in OF_SERIES:
        return "The next run of its series costs nothing more."
    return "A new run costs as much again."


def _headlines(release: Release) -> list[str]:
    """Its title, if it has one; what was asked of which data; when and by what it was made."""
    about = release.about
    asked = " ".join([visible(_asked(release)), *([about.of] if about.of else [])])
    return [
        *([intact(about.title)] if about.title else []),
        asked,
        *([about.made] if about.made else []),
    ]


def _asked(release: Release) -> str:
    """What was asked and how many items came out."""
    items = f"{len(release):,} item{'s' * (len(release) != 1)}"
    if release.question == Discoveries.name:
        return f"{len(release):,} discover{'y' if len(release) == 1 else 'ies'}"
    if not release.by:
        return f"{release.question}: {items}"
    groups = len(list(release.groups()))
    by = ", ".join(release.by)
    return f"{release.question} by {by}: {items} in {groups:,} group{'s' * (groups != 1)}"


def advice(release: Release) -> str:
    """What to do where fewer items came out than were asked for, or none; otherwise nothing.

    Of groups it is known by their ranks where there are fewer.
    """
    k = None if release.by else asked_for(release.mechanism)
    if len(release) >= (k or 1):
        return ""
    if release.associations is not None:
        return (
            "Nothing came out: no item that was looked at had enough evidence. Check "
            "that the labels of cases and controls are spelled as in the table. More users, a "
            "smaller k or a larger epsilon find more."
        )
    few = f"Fewer than {k}" if len(release) else "Nothing"
    if release.question == ListSoFar.name:
        return f"{few} came out yet: no other item could be named by now. Later runs name more."
    if release.question == ListOfPeriod.name:
        return (
            f"{few} came out: no other item of the period could be named. A series of fewer "
            "periods, or with a larger epsilon or delta, names more."
        )
    more = "A larger epsilon or delta names more"
    bars = "with this privacy"
    if (floor := floor_of(release.mechanism)) is not None:
        more += ", and so may a lower floor"
        bars += f" and a floor of {floor:,} users"
    if k is not None:
        more += ", and public items need no discovery"
    if len(release) == 0:
        return (
            f"Nothing came out: no item could be named {bars}. Check that the columns are the "
            f"right ones. {more}."
        )
    return (
        f"Fewer than {k} came out: no other item could be named {bars}. {more}. For a full list "
        f"ask for {len(release)}."
    )


def notes(
    guarantee: Guarantee, mechanism: AnyMechanism, about: About = NOTHING_SAID
) -> tuple[tuple[str, str], ...]:
    """The guarantee in a few plain lines: pairs of a label and a text, every text `visible`.

    What the mechanism was given of the guarantee's own epsilon and delta is not said twice.
    """
    asked = _not_shown_before(guarantee, mechanism)
    lines = [
        ("protects", guarantee.protects),
        ("privacy", _privacy(guarantee)),
        ("neighbours", guarantee.adjacency),
        ("assumes", "; ".join(guarantee.assumes) or "nothing"),
        *_mechanism("mechanism", name_of(mechanism), asked, about),
    ]
    return tuple((label, harmless(line)) for label, line in lines)


def _privacy(guarantee: Guarantee) -> str:
    """The band in words, and the numbers."""
    band = strength(guarantee.epsilon, guarantee.delta).described if guarantee.private else "none"
    return f"{band}: epsilon={guarantee.epsilon!r}, delta={guarantee.delta!r}"


def _not_shown_before(guarantee: Guarantee, mechanism: AnyMechanism) -> dict[str, object]:
    """The parameters, but for an epsilon and a delta that are those of the guarantee."""
    shown = {"epsilon": guarantee.epsilon, "delta": guarantee.delta}
    return {k: v for k, v in mechanism.parameters().items() if (k, v) not in shown.items()}


def parameters(guarantee: Guarantee, mechanism: AnyMechanism) -> list[str]:
    """The mechanism and what it wraps, a line each, with all parameters that have a value."""
    parts = _parts("mechanism", name_of(mechanism), _not_shown_before(guarantee, mechanism))
    return [harmless(f"{name}: {', '.join(_written(own))}") for _, name, own in parts]


def _mechanism(
    label: str, name: str, parameters: Mapping[str, object], about: About
) -> Iterator[tuple[str, str]]:
    """A line for the mechanism, and one for each that it wraps: what people ask for, in words."""
    for part, its_name, own in _parts(label, name, parameters):
        words = "; ".join(_in_words(own, about))
        yield part, f"{its_name}: {words}" if words else its_name


def _parts(
    label: str, name: str, parameters: Mapping[str, object]
) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """The mechanism and each that it wraps: what it is here, its name, and its parameters."""
    wrapped = {key: x for key, x in parameters.items() if isinstance(x, Mapping) and "name" in x}
    yield label, name, {key: x for key, x in parameters.items() if key not in wrapped}
    for inner, its in wrapped.items():
        rest = {key: x for key, x in its.items() if key != "name"}
        yield from _parts(inner, str(its["name"]), rest)


def _in_words(parameters: Mapping[str, object], about: About) -> Iterator[str]:
    """Those that whoever asked has given, or could have; what follows from them is left out."""
    words_of = _OF_A_LABEL if "fdr" in parameters else _IN_WORDS
    for name, (one, several) in words_of.items():
        if not isinstance(value := parameters.get(name), int | float):
            continue
        words = (one if value == 1 else several).format(value, kind=about.kind)
        if name == "max_items_per_user" and "bounds" in parameters:  # the largest of them
            words = f"of each user up to {value:,} {about.kind}s count; "
            words += "how many was chosen privately"
        yield words
    if isinstance(share := parameters.get("count_share"), float):
        yield f"{share:.3g} of the budget for {'amounts' if about.amount else 'counts'}"
    if isinstance(share := parameters.get("score_share"), float):
        yield f"{share:.3g} of the budget for scores"
    if isinstance(share := parameters.get("others_share"), float):
        yield f"{share:.3g} of the budget for what is not in the list"


def _scores(release: Release, face: Face) -> Iterator[tuple[str, str]]:
    """What the scores are, and are not, if people are shown any; else what the order is by."""
    scores = shown_scores(release)
    if scores is None:
        yield from _order(release, face)
        return
    if scores.unit == REACHED:
        yield "reached", _of_reach(release, scores)
        return
    about = scores.unit + (_CLIPPED if scores.are_clipped else "; the noise has standard deviation")
    about += f" {number(scores.noise_sd)}"
    if scores.shared_sd is not None:
        about += (
            f", of which a part ({number(scores.shared_sd)}) is the same for all "
            f"{scores.heading}s{' of a group' * bool(release.by)}: it cancels in differences and "
            "adds up in sums"
        )
    if reach_of_counts(release) is not None:
        without = "score without noise" if scores.are_stated else "number of users"
        without = "amount without noise" if scores.are_amounts else without
        about += f"; in 95 of 100 cases the {without} is in the interval"
        if possible_ranks_of(release) is not None:
            about += (
                f", and all ranks{' of all groups' * bool(release.by)} are as the last column "
                "says: those by numbers of users, among the items listed"
            )
    if (beside := _ranks_beside(release)) is not None:
        about += f"; the ranks go by {beside}, too"
    elif ranks_are_apart(release):
        about += "; the ranks were drawn apart from the scores"
    heading = next(c.name for c in columns_for_people(release) if c.added is SCORE)
    yield visible(heading), harmless(about)


def _users(release: Release) -> Iterator[tuple[str, str]]:
    """Of how many users counts are told as shares."""
    users, kind = release.users, release.share_of_users
    if not users or kind is None:
        return
    if kind is ShareOfUsers.STATED:
        yield "share of users", f"of {users[0]:,} users, as was stated"
        return
    number = "of all users in a group" if release.by else f"of all users, about {users[0]:,}"
    yield (
        "share of users",
        f"{number}, counted in the same noise; in 95 of 100 cases a share is in its interval",
    )


def _of_reach(release: Release, scores: Scores) -> str:
    """What the numbers of a hitting set are, and how many users all of its items reach."""
    about = (
        "number of users who hold the item and none above it, in noise of standard deviation "
        f"{number(scores.noise_sd)}; in 95 of 100 cases it is in the interval"
    )
    if (together := reached_in_all(release)) is None or not len(release):
        return about
    users, least, most = (f"{n:,}" for n in together)
    return f"{about}; together about {users}, {least} to {most} in 95 of 100 cases"


def _order(release: Release, face: Face) -> Iterator[tuple[str, str]]:
    """What a list without scores for people is ordered by, and how to ask for counts."""
    if not release.ordered:
        yield "order", "none was asked for: the items are listed by name"
        return
    by = _ORDERS.get(release.question) if release.scores is not None else None
    if by is None:
        return
    asked = release.question in ("top-k", "domain")
    reach = f"; for how many users that are add {_COUNTS.rendered(face)}"
    counts = f"; for numbers of users add {_COUNTS.rendered(face)}" if asked else ""
    yield "order", f"{by}{reach if release.question == 'hitting-set' else counts}"


def _ranks_beside(release: Release) -> str | None:
    """What ranks go by beside the counts, where groups were looked at together."""
    parameters = release.mechanism.parameters()
    if (kind := parameters.get("group_items")) == "own":
        return "noisy weights, which are no counts"
    if kind == "unknown":
        return "noisy weights, which are no counts, or how common an item is in all groups"
    together = "max_groups_per_user" in parameters and "selection" not in parameters
    return "how common an item is in all groups" if together else None


def ranks_are_apart(release: Release) -> bool:
    """Whether the scores, of a group or of all, do not fall with the ranks."""
    if release.by:
        parts = [part for _, part in release.groups()]
        return _ranks_beside(release) is None and any(map(ranks_are_apart, parts))
    scores = release.scores if is_ranked(release) else None
    falling = release.question != BottomScores.name
    return scores is not None and list(scores) != sorted(scores, reverse=falling)


def _written(parameters: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _written(value, f"{prefix}{name}.")
        elif value is not None:
            yield f"{prefix}{name}={number(value)}"
