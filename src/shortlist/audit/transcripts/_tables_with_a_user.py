"""Tables of real sizes on which one user changes as much as a mechanism allows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from shortlist.draws import ExactDraws, Ints
from shortlist.draws.random_bits import SeededBits
from shortlist.evidence import (
    Contributions,
    GroupedCounts,
    GroupedSets,
    LabelledCounts,
    PairsOfItems,
    PrivateCounts,
    PublicCounts,
    PublicScores,
    UserGroups,
    UserSets,
    WeightedHistogram,
    Wins,
)
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE, Mechanism
from shortlist.mechanisms.wrappers import OfScores
from shortlist.parameters import Direction

_GAP = 3  # between counts: no user makes two of them equal, so that neighbours have one order
_LEVELS = 0.4, 1.2, 4.0  # of the threshold, at which counts lie
_QUICK_LEVELS = 0.4, 4.0
ITEMS = 60
"""That others hold, in most tables."""
_FEW = 3  # items, or groups
_RARE = 8  # items that are hardly held
_MOST = 100.0  # of a threshold: from there on, tables would only be larger
_LEADS = 500.0  # over epsilon: counts that are far ahead of others
_USERS = 300  # who hold several items each, in a random table
_EACH = 12  # items that each of them holds


@dataclass(frozen=True)
class TableWithUser:
    """A table with one user who may be left out.

    Attributes:
        name: What is special about it.
        evidence: What a mechanism is shown, with the user or without.
        own: How many items the user alone holds: they have the last codes.
        ties: Whether the user may make two counts equal.
        parallel: Whether groups are answered one by one, of which the user is in some.
        lonely: Whether hardly anybody else is there, so that nothing but the user's items may be
            found: then it is tried what it takes to find these.
    """

    name: str
    evidence: Callable[[bool], Any]
    own: int = 0
    ties: bool = False
    parallel: bool = False
    lonely: bool = False

    @property
    def is_of_its_own(self) -> bool:
        """Whether what its draws spend says nothing of draws of the same law elsewhere."""
        return self.own > 0 or self.parallel


def tables_of(mechanism: Mechanism, *, quick: bool = False) -> Iterator[TableWithUser]:
    """The tables for the evidence that a mechanism looks at; none where there are none for it."""
    kind = mechanism.evidence
    hints = mechanism.audit_hints()
    if hints.shuffles_users:
        return
    for family, tables in _FAMILIES.items():
        if issubclass(kind, family):
            yield from tables(mechanism, quick)
            return


# --- users' sets


def _sets(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - of all families
    """A user of few items, of as many as count, of more; of all others' items, or some alone."""
    private = mechanism.names_private_items
    bound = min(_bound_of(mechanism, ITEMS), ITEMS)
    for level in _levels(mechanism, quick=quick):
        counts = _ladder(level)
        for name, items, own in _users(bound, private=private):
            yield _table_of_sets(f"{name}, counts from {counts[-1]}", mechanism, counts, items, own)
    for level in (0.0, _levels(mechanism, quick=True)[-1]):
        few, name = _ladder(level)[-_RARE:], f"a user of all of few items, counts from {level:.0f}"
        yield _table_of_sets(name, mechanism, few, np.arange(_RARE), 0)
    lonely = (2 * bound,) if quick else (2 * bound, bound, _FEW, 1)
    for size in dict.fromkeys(lonely if private else ()):
        title, nobody = f"a user of {size} own items, alone", np.empty(0, np.int64)
        table = _table_of_sets(title, mechanism, nobody, np.arange(size), size)
        yield replace(table, lonely=True)
    for seed in range(2 if quick else 4):
        yield _random_sets(mechanism, seed, bound, bound // 2 * (seed % 2) * private)


def _sets_of_pairs(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - of all families
    """The same, where the pairs of a user's items are as common as others."""
    for table in _sets(mechanism, quick):
        yield replace(table, ties=True)


def _users(bound: int, *, private: bool) -> Iterator[tuple[str, Ints, int]]:
    yield "a user of the best item", np.arange(1), 0
    if bound > _FEW and not private:  # whom the first picks reach
        yield "a user of some of the best items", np.arange(_FEW), 0
    yield "a user at the bound", np.arange(bound), 0
    yield "a user of everything", np.arange(ITEMS), 0
    if bound > 1 and private:
        own = bound // 2
        items = np.append(np.arange(bound - own), ITEMS + np.arange(own))
        yield "a user of some own items", items, own


def _table_of_sets(
    name: str, mechanism: Mechanism, counts: Ints, items: Ints, own: int
) -> TableWithUser:
    others = np.repeat(np.arange(len(counts)), counts)
    evidence = _shown(mechanism, others, np.ones_like(others), items, len(counts) + own)
    return TableWithUser(name, evidence, own)


def _shown(
    mechanism: Mechanism, others: Ints, sizes: Ints, items: Ints, n_items: int
) -> Callable[[bool], Any]:
    """The evidence that the mechanism wants, of users the last of whom holds these items."""
    wants = mechanism.wants

    @cache
    def evidence(with_user: bool) -> Any:  # noqa: FBT001 - of all tables
        sets = _held(others, sizes, items if with_user else items[:0], n_items)
        if wants.bound is not None:
            sets = sets.bounded(wants.bound, ExactDraws(SeededBits(0)))
        return PairsOfItems(sets) if wants.kind is PairsOfItems else sets.shown_as(wants)

    return evidence


def _bound_of(mechanism: Mechanism, most: int) -> int:
    return mechanism.audit_hints().user_bound or most


def _held(others: Ints, sizes: Ints, items: Ints, n_items: int) -> Contributions:
    if len(items):
        others, sizes = np.append(others, items), np.append(sizes, len(items))
    return Contributions(np.cumsum(sizes) - sizes, sizes, others.astype(np.uint32), n_items)


def _random_sets(mechanism: Mechanism, seed: int, bound: int, own: int) -> TableWithUser:
    """Users who hold several items each, the commoner ones more often, and one at the bound."""
    generator = np.random.default_rng(seed)  # of tables, not of noise
    others, sizes = _several(generator, min(_EACH, bound))
    shared = generator.choice(ITEMS, bound - own, replace=False)
    items = np.append(shared, ITEMS + np.arange(own))
    evidence = _shown(mechanism, others, sizes, items, ITEMS + own)
    return TableWithUser(f"random sets, seed {seed}", evidence, own, ties=True)


def _several(generator: np.random.Generator, each: int, groups: int = 1) -> tuple[Ints, Ints]:
    """Items of users who hold several each, in one group, and of one user more for each item."""
    odds = 1 / np.arange(1, ITEMS + 1)
    sets = [
        generator.integers(groups) * ITEMS
        + generator.choice(ITEMS, each, replace=False, p=odds / odds.sum())
        for _ in range(_USERS)
    ]
    alone = np.arange(groups * ITEMS)
    sizes = np.append(np.full(len(sets), each), np.ones(len(alone), np.int64))
    return np.concatenate([*sets, alone]), sizes


# --- counts


def _counts(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - of all families
    """Counts that a user raises: the largest ones, all, every other; or that are the user's own."""
    for level in _levels(mechanism, quick=quick):
        for name, moved in _moves(mechanism):
            title = f"{name}, counts from {level:.0f}"
            yield _table_of_counts(title, mechanism, _ladder(level), moved)
    flat = _table_of_counts("equal counts", mechanism, np.full(ITEMS, ITEMS), _half(mechanism))
    yield replace(flat, ties=True)
    if issubclass(mechanism.evidence, PrivateCounts):
        own, none = min(_bound_of(mechanism, ITEMS), ITEMS), np.zeros(_FEW, np.int64)
        yield _table_of_counts(f"a user of {own} own items, alone", mechanism, none, none, own)


def _half(mechanism: Mechanism) -> Ints:
    """Every other one of the first items moves, as many as a user may move."""
    places, bound = np.arange(ITEMS), min(_bound_of(mechanism, ITEMS), ITEMS)
    half: Ints = ((places % 2 == 0) & (places < 2 * bound)).astype(np.int64)
    return half


def _moves(mechanism: Mechanism) -> Iterator[tuple[str, Ints]]:
    bound = min(_bound_of(mechanism, ITEMS), ITEMS)
    few = np.arange(ITEMS) < min(bound, _FEW)
    yield "the largest move", few.astype(np.int64)
    places = np.arange(ITEMS)
    yield "every other moves", _half(mechanism)
    if mechanism.adjacency != ADD_OR_REMOVE:
        back = np.zeros(ITEMS, np.int64)
        back[-bound:] = -1
        yield "some move back", np.where(few, 1, back)
        as_many = np.where(places < 2 * bound, 1 - 2 * (places // 2 % 2), 0)
        yield "as many move back", as_many


def _table_of_counts(
    name: str, mechanism: Mechanism, counts: Ints, moved: Ints, own: int = 0
) -> TableWithUser:
    bound = mechanism.audit_hints().user_bound
    kind, n_users = mechanism.evidence, 2 * int(counts.max())

    @cache
    def evidence(with_user: bool) -> Any:  # noqa: FBT001
        some = counts + moved * with_user
        users = {"users": n_users + with_user} if mechanism.wants.users else {}
        return kind(np.append(some, np.full(own, int(with_user))), bound, **users)

    return TableWithUser(name, evidence, own)


# --- scores


def _scores(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - as above
    """Scores of which a user moves some by the sensitivity, and the others back, if any may."""
    assert isinstance(mechanism, OfScores)  # noqa: S101 - nothing else looks at scores
    places, back = np.arange(ITEMS), -int(mechanism.direction is Direction.ANY)
    for name, few in (("the largest", places < _FEW), ("every other", places % 2 == 0)):
        for level in (-float(ITEMS), float(ITEMS))[quick:]:
            evidence = partial(_scores_of, mechanism, level, np.where(few, 1, back))
            yield TableWithUser(f"a user moves {name}, scores from {level:.0f}", evidence)


def _scores_of(mechanism: OfScores, level: float, moved: Ints, with_user: bool) -> PublicScores:  # noqa: FBT001 - of all tables
    stated = mechanism.sensitivity, mechanism.direction
    steps = (_ladder(level) + moved * with_user).astype(np.float64)
    return PublicScores(steps * stated[0], *stated)


# --- labels


def _labels(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - as above
    """A case, or a control, of few items, of every other item, or of none."""
    places = np.arange(ITEMS)
    moves = {"few items": places < _FEW, "every other item": places % 2 == 0, "nothing": places < 0}
    for name, held in moves.items():
        for level, is_case in itertools.product(_levels(mechanism, quick=quick), (True, False)):
            evidence = partial(_labels_of, _ladder(level), held.astype(np.int64), is_case)
            who = "a case" if is_case else "a control"
            yield TableWithUser(f"{who} of {name}, counts from {level:.0f}", evidence)


def _labels_of(counts: Ints, held: Ints, is_case: bool, with_user: bool) -> LabelledCounts:  # noqa: FBT001 - of all tables
    cases, controls = counts.copy(), counts[::-1].copy()
    sizes = [2 * int(counts.max()), 3 * int(counts.max())]
    sizes[1 - is_case] += with_user
    added = cases if is_case else controls
    added += held * with_user
    return LabelledCounts(cases, controls, *sizes)


# --- groups


def _grouped_counts(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - as above
    """A user who moves counts of as many groups as may change; or who alone holds items there."""
    hints = mechanism.audit_hints()
    most = min(hints.most_groups or _FEW, _FEW)
    groups = most if mechanism.adjacency == ADD_OR_REMOVE else min(2 * most, _FEW)
    each = (hints.user_bound or ITEMS) // most
    signs = 1 if mechanism.adjacency == ADD_OR_REMOVE else 1 - 2 * (np.arange(ITEMS) // 2 % 2)
    places = np.arange(ITEMS)
    moved = ((places % 2 == 0) & (places < 2 * each)) * signs
    for level in _levels(mechanism, quick=quick):
        title = f"a user in {groups} of {_FEW} groups, counts from {level:.0f}"
        yield _table_of_grouped_counts(title, mechanism, _ladder(level), moved, groups)
    if mechanism.names_private_items:
        none, own = np.zeros(each, np.int64), np.ones(each, np.int64)
        title = f"a user of {each} own items in each of {groups} groups, alone"
        table = _table_of_grouped_counts(title, mechanism, none, own, groups)
        yield replace(table, own=each)


def _table_of_grouped_counts(
    name: str, mechanism: Mechanism, counts: Ints, moved: Ints, groups: int
) -> TableWithUser:
    hints, private = mechanism.audit_hints(), mechanism.names_private_items
    kind: type[PrivateCounts | PublicCounts] = PrivateCounts if private else PublicCounts
    in_groups = np.repeat(np.arange(_FEW), len(counts))
    moves = np.tile(moved, _FEW) * (in_groups < groups)

    @cache
    def evidence(with_user: bool) -> GroupedCounts:  # noqa: FBT001 - of all tables
        return GroupedCounts.of_rows(
            np.tile(counts, _FEW) + moves * with_user,
            in_groups,
            kind,
            max_items_per_user=hints.user_bound,
            max_groups_per_user=hints.most_groups or _FEW,
        )

    return TableWithUser(name, evidence, parallel=True)


def _grouped_sets(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - as above
    """A user who is in as many groups as count, or in more; with items and groups of one user."""
    hints = mechanism.audit_hints()
    most = min(hints.most_groups or _FEW, _FEW)
    bound = min(hints.user_bound or ITEMS, ITEMS)
    for level in _levels(mechanism, quick=quick):
        for name, groups, items in (
            ("in as many groups as count", np.arange(most), np.arange(bound)),
            ("of everything", np.arange(_FEW), np.arange(ITEMS)),
        ):
            title = f"a user {name}, counts from {level:.0f}"
            yield _table_of_groups(title, _ladder(level), groups, items)
    for seed in range(1 if quick else 3):
        yield _random_groups(seed, most, bound)
    crowd = np.array([int(4 * max(hints.thresholds, default=ITEMS))])
    groups, items = _FEW + np.arange(most), 1 + np.arange(bound)
    title = f"a user of {bound} own items in {most} own groups, alone"
    table = _table_of_groups(title, crowd, groups, items)
    yield replace(table, own=bound * most, lonely=True, ties=True)


def _random_groups(seed: int, most: int, bound: int) -> TableWithUser:
    """Users who are in one group or in as many as count, and hold several items in each."""
    generator = np.random.default_rng(seed)  # of tables, not of noise
    others, sizes = _several(generator, min(_EACH, bound), _FEW)
    items = generator.choice(ITEMS, bound, replace=False)
    mine = _in_groups(np.arange(most), items, ITEMS)
    return _of_pairs(f"random sets in groups, seed {seed}", others, sizes, mine, _FEW, ITEMS)


def _table_of_groups(name: str, counts: Ints, groups: Ints, items: Ints) -> TableWithUser:
    n_groups, n_items = max(_FEW, int(groups[-1]) + 1), max(len(counts), int(items[-1]) + 1)
    others = _in_groups(np.arange(_FEW), np.repeat(np.arange(len(counts)), counts), n_items)
    mine = _in_groups(groups, items, n_items)
    return _of_pairs(name, others, np.ones_like(others), mine, n_groups, n_items)


def _in_groups(groups: Ints, items: Ints, n_items: int) -> Ints:
    pairs: Ints = (groups[:, None] * n_items + items).ravel()
    return pairs


def _of_pairs(
    name: str, others: Ints, sizes: Ints, mine: Ints, n_groups: int, n_items: int
) -> TableWithUser:
    codes = np.arange(n_groups * n_items, dtype=np.uint32)

    @cache
    def evidence(with_user: bool) -> GroupedSets:  # noqa: FBT001 - of all tables
        pairs = _held(others, sizes, mine if with_user else mine[:0], len(codes))
        return GroupedSets.of_pairs(pairs, codes // n_items, codes % n_items, n_groups, n_items)

    return TableWithUser(name, evidence, ties=True)


# --- wins


def _wins(mechanism: Mechanism, quick: bool) -> Iterator[TableWithUser]:  # noqa: FBT001 - as above
    """A user who raises one number of wins by all comparisons that count, or many by one."""
    bound = mechanism.audit_hints().user_bound
    for level in _levels(mechanism, quick=quick):
        for name, times in (("one item", bound or 1), ("many items", 1)):
            moved = (np.arange(ITEMS) < (bound or 1) // times) * times
            evidence = partial(_wins_of, _ladder(level) * 10, moved, bound)
            yield TableWithUser(f"a user moves {name}, wins from {level:.0f}", evidence)


def _wins_of(wins: Ints, moved: Ints, bound: int | None, with_user: bool) -> Wins:  # noqa: FBT001 - of all tables
    return Wins(wins + moved * with_user, bound)


# --- all


def _levels(mechanism: Mechanism, *, quick: bool) -> list[float]:
    """From which number of users on items are held, given where items begin to be named."""
    usual = ITEMS / 2
    if mechanism.names_private_items and issubclass(
        mechanism.evidence, PrivateCounts | GroupedCounts
    ):
        usual = _LEADS / mechanism.epsilon
    at = min(max(mechanism.audit_hints().thresholds, default=usual), max(usual, _MOST))
    return [level * at for level in (_QUICK_LEVELS if quick else _LEVELS)]


def _ladder(level: float) -> Ints:
    """Counts from this one on, the largest first; half of them are far ahead of the others."""
    counts = int(level) + _GAP * np.arange(ITEMS, 0, -1, dtype=np.int64)
    counts[: ITEMS // 2] += int(level)
    return counts


_FAMILIES: dict[type, Callable[[Mechanism, bool], Iterator[TableWithUser]]] = {
    UserSets: _sets,
    PairsOfItems: _sets_of_pairs,
    WeightedHistogram: _sets,
    PublicCounts: _counts,
    PublicScores: _scores,
    PrivateCounts: _counts,
    GroupedCounts: _grouped_counts,
    UserGroups: _grouped_sets,
    LabelledCounts: _labels,
    Wins: _wins,
}
