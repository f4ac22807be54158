"""Universes of users' whole sets of items.

A data set says how many users hold each non-empty set: an entry for each set, of which item i is in
the set of entry e if bit i of e + 1 is 1. A change is one user more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from shortlist.audit.universes.small_universe import N_GROUPS, Data, Universe, classes_of
from shortlist.evidence.combinations import PairsOfItems
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.counts_and_weights import GroupedCounts, PublicCounts
from shortlist.evidence.grouped_amounts import GroupedAmounts
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.evidence.user_amounts import AmountsAtCaps, UserAmounts
from shortlist.evidence.user_sets import UserGroups, UserSets
from shortlist.mechanisms.mechanism import Mechanism

_MOST_CHOICES = 10  # of the items that count of all users, where a user's are bounded
_MOST_ORDERS = 220  # of users, times such choices, where users come in random order
_MOST_COPIES = 30  # of one set
_SOME_USERS = 4


class OfContributions(Universe):
    """Users who hold any sets of a few items.

    Attributes:
        sizes: Up to how many users of any sets there are for each number of items.
        shuffled_sizes: The same where users come in random order, of which there are many.
        scored_sizes: The same where there is much noise to integrate.
        branched_sizes: The same where so much is drawn that few branches are still many.
    """

    evidence = Contributions
    mechanism: Mechanism
    bounded_by_engine = False
    large_sizes: ClassVar[tuple[int, ...]] = (30, 1000)
    wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {5: ()}
    quick_wide_sizes = wide_sizes
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 6, 3: 3}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 2, 3: 1}
    shuffled_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 4, 3: 3, 4: 1}
    scored_sizes: ClassVar[dict[int, int]] = {1: 12, 2: 5}
    quick_scored_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 2}
    branched_sizes: ClassVar[dict[int, int]] = {1: 6, 2: 1}

    def __init__(self, mechanism: Mechanism, *, quick: bool = False) -> None:
        super().__init__(mechanism, quick=quick)
        is_list = self._hints.most_items is not None
        if self._hints.shuffles_users and not (self._is_branched and is_list):
            self._sizes = self.quick_sizes if quick else self.shuffled_sizes
        elif self._hints.score_sd is not None:
            self._sizes = self.quick_scored_sizes if quick else self.scored_sizes
        elif self._is_branched:
            self._sizes = self.branched_sizes

    @property
    def _is_branched(self) -> bool:
        """Whether there are many branches, which are no cells of a known noise."""
        return self._hints.coarse is not None and self._hints.score_sd is None

    def families(self) -> Iterator[list[Data]]:
        """All that few users may hold; and many users of one set, with a few others."""
        for n_items, bounded in self._sizes.items():
            most, n_sets = bounded + self._is_plain(), 2**n_items - 1
            found = dict.fromkeys(self._up_to(most, n_sets))
            for copies, alike in itertools.product(self._near(), range(n_sets)):
                many = tuple(copies * (alike == i) for i in range(n_sets))
                for few in self._up_to(most // 4, n_sets):
                    found[tuple(a + b for a, b in zip(many, few, strict=True))] = None
            yield [data for data in found if self._is_small(data)]
        yield from self.large()
        yield from self.wide()

    def large(self) -> Iterator[list[Data]]:
        """Many users who hold one item, of one or two, unless they come in all orders.

        On a coarse grid of nothing but scores, all would lie beyond its last step.
        """
        is_beyond = self._is_branched and not self._hints.thresholds
        if not (self._hints.shuffles_users or is_beyond):
            for n in self.large_sizes[-1 if self._quick else 0 :]:
                yield [(n,)]
                if not self._is_branched:
                    yield [(n, n, 0)]

    def wide(self) -> Iterator[list[Data]]:
        """Nobody, one user of each item, or many of the first; where nothing is drawn but picks."""
        hints = self._hints
        is_slow = hints.shuffles_users or hints.score_sd is not None or hints.inner is not None
        if is_slow or self._is_branched or (self._quick and self._bound):
            return
        for n_items in self.quick_wide_sizes if self._quick else self.wide_sizes:
            alone = [2**item - 1 for item in range(n_items)]
            each = tuple(int(held in alone) for held in range(2**n_items - 1))
            yield [(0,) * len(each), each, (self.large_sizes[0], *each[1:])]

    def changed(self, data: Data, change: Data) -> Data | None:
        other = super().changed(data, change)
        return None if other is None or not self._is_small(other) else other

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        other = super().moved(data, item, step)
        return None if other is None or not self._is_small(other) else other

    def _up_to(self, n_users: int, n_sets: int) -> Iterator[Data]:
        for n in range(n_users + 1):
            for held in itertools.combinations_with_replacement(range(n_sets), n):
                yield tuple(held.count(i) for i in range(n_sets))

    def _near(self) -> list[int]:
        """Numbers of users at a threshold, unless they come in all orders."""
        at = self._threshold()
        if self._quick or at is None or at > _MOST_COPIES or self._hints.shuffles_users:
            return []
        return [math.ceil(at)]

    def _is_plain(self) -> bool:
        """Whether nothing is drawn but picks, so that there is time for one user more."""
        return not (self._quick or self._bound or self._hints.shuffles_users)

    def _is_small(self, data: Data) -> bool:
        """Whether there are few ways to bound the users' items, and to order the users."""
        bound = self._bound or self.n_items(data)
        sizes = (held.bit_count() for held in range(1, len(data) + 1))
        ways = [math.comb(size, min(size, bound)) ** n for size, n in zip(sizes, data, strict=True)]
        choices = int(math.prod(ways))
        if self._hints.shuffles_users:
            return choices * math.factorial(sum(data)) <= _MOST_ORDERS
        return choices <= _MOST_CHOICES

    def changes(self, n_items: int) -> list[Data]:
        """One user, of any set: what is bounded is bounded by the mechanism."""
        n_sets = 2**n_items - 1
        some: Iterable[int] = range(1, n_sets + 1)
        if n_items in self.wide_sizes:  # the first of the items, or the last
            some = {mask for n in range(n_items) for mask in (n_sets >> n, n_sets - (n_sets >> n))}
        return [tuple(int(i + 1 == held) for i in range(n_sets)) for held in some if held]

    def n_items(self, data: Data) -> int:
        return len(data).bit_length()

    def permuted(self, data: Data, order: Sequence[int]) -> Data:
        return data if len(data) == 1 else _renamed(tuple(order))(data)

    def falling(self, data: Data) -> Sequence[int]:
        return max(_orders(self.n_items(data)), key=lambda order: self.permuted(data, order))

    def edges(self, n_items: int) -> tuple[float, ...]:
        """Noisy weights are cut where there is one item, and in small universes of more once."""
        if n_items == 1:
            return (0.5, 1.5, 3.5)
        return (1.5,) if self._quick else ()

    def level(self, family: Sequence[Data]) -> float:
        """The least number of users of one item; of more items, weights are less."""
        return float(min(family)[0]) if self.n_items(family[0]) == 1 else 0.0

    def sampled_pairs(self, n_items: int) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
        """One user more, who holds half of the items; others hold one item each.

        There are none of them, or one for each item, or so many that naming it is a toss-up.
        """
        held = 2 ** max(n_items // 2, 1) - 1
        for n_users in dict.fromkeys((0, 1, self._sampled_users())):
            alone = [n_users * (mask.bit_count() == 1) for mask in range(1, 2**n_items)]
            more = [n + (mask == held) for mask, n in enumerate(alone, start=1)]
            yield (tuple(alone), tuple(more)), classes_of([held >> i & 1 for i in range(n_items)])

    def _sampled_users(self) -> int:
        """About the threshold, unless these are many; some, if there is none."""
        at = self._threshold()
        return _SOME_USERS if at is None else min(max(round(at), 1), _MOST_COPIES)

    def held(self, data: Data) -> Sequence[int]:
        items = range(self.n_items(data))
        if not self.mechanism.discovers and self._bound is None:
            return items
        return [i for i in items if any(n and held >> i & 1 for held, n in enumerate(data, 1))]

    def evidence_of(self, data: Data) -> Contributions:
        return self._sets_of(data, self.held(data))

    def _sets_of(self, data: Data, known: Sequence[int]) -> Contributions:
        sets = [held for held, n in enumerate(data, start=1) for _ in range(n)]
        rows = [
            (u, place)
            for u, held in enumerate(sets)
            for place, i in enumerate(known)
            if held >> i & 1
        ]
        users, items = np.array(rows, np.uint32).reshape(-1, 2).T.copy()
        return Contributions.of_rows(users, items, n_users=len(sets), n_items=len(known))

    def written(self, data: Data) -> str:
        sets = [f"{n} of {_items(held)}" for held, n in enumerate(data, start=1) if n]
        return "(" + ", ".join(sets or ["nobody"]) + ")"


def _items(held: int) -> str:
    return "{" + ", ".join(str(i) for i in range(held.bit_length()) if held >> i & 1) + "}"


@lru_cache
def _orders(n_items: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(n_items)))


@lru_cache
def _renamed(order: tuple[int, ...]) -> Callable[[Data], Data]:
    """For each set of the items i, the entry of the set of the items order[i]; of two or more."""
    masks = range(1, 2 ** len(order))
    entries = [sum(1 << j for i, j in enumerate(order) if mask >> i & 1) - 1 for mask in masks]
    renamed: Callable[[Data], Data] = itemgetter(*entries)
    return renamed


class OfPairs(OfContributions):
    """Users who hold any sets of a few items, of whom pairs of items are asked."""

    evidence = PairsOfItems  # type: ignore[assignment]
    exchangeable: ClassVar[bool] = False  # a pair is told by the order of its items
    large_sizes: ClassVar[tuple[int, ...]] = (12, 25, 1000)
    sizes: ClassVar[dict[int, int]] = {2: 3, 3: 1}
    quick_sizes: ClassVar[dict[int, int]] = {2: 2}
    branched_sizes = sizes

    def large(self) -> Iterator[list[Data]]:
        """Many users who hold one item each: a pair may be first held by the one who comes."""
        few, some, *_ = self.large_sizes
        yield from ([(n, n, 0)] for n in ((some,) if self._quick else self.large_sizes))
        if self.most_named == 1 and not self._quick:  # of more picks, laws have many branches
            yield from ([(n, n, 0, n, 0, 0, 0)] for n in (few, some))  # of three pairs

    def wide(self) -> Iterator[list[Data]]:
        return iter(())

    def sampled_pairs(self, n_items: int) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
        for data, classes in super().sampled_pairs(n_items):
            yield data, classes_of(list(itertools.product(classes, repeat=2)))

    def held(self, data: Data) -> Sequence[int]:
        """All pairs of the items that anybody holds."""
        n, items = self.n_items(data), super().held(data)
        return [first * n + second for first, second in itertools.product(items, repeat=2)]

    def evidence_of(self, data: Data) -> PairsOfItems:  # type: ignore[override]
        return PairsOfItems(self._sets_of(data, super().held(data)))


class OfKnownItems(OfContributions):
    """The same, where everybody knows the first of the items, whether anybody holds it or not."""

    exchangeable: ClassVar[bool] = False  # the first item is no other
    sizes: ClassVar[dict[int, int]] = {1: 4, 2: 2}
    quick_sizes = shuffled_sizes = scored_sizes = quick_scored_sizes = sizes
    branched_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 1}

    def wide(self) -> Iterator[list[Data]]:
        return iter(())

    def held(self, data: Data) -> Sequence[int]:
        return sorted({0, *super().held(data)})

    def evidence_of(self, data: Data) -> Contributions:
        return super().evidence_of(data).with_public(np.zeros(1, np.int64))


class OfSetsOfAmounts(OfContributions):
    """The same with amounts: who holds one item spent 2 on it, and who holds several 1 on each."""

    step = 2
    sizes = OfContributions.quick_sizes
    branched_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 1}

    def wide(self) -> Iterator[list[Data]]:
        return iter(())

    def evidence_of(self, data: Data) -> Contributions:
        held = super().evidence_of(data)
        spent = np.array([0, self.step, *[1] * held.largest])[: held.largest + 1]
        return replace(held, known=held.added_by_size(spent), unit=1 / self.step)


class OfAmountsAtCaps(OfSetsOfAmounts):
    """The same amounts, of which some are above the first of two caps, that one is chosen from."""

    evidence = AmountsAtCaps  # type: ignore[assignment]

    def asks_for_looser(self) -> bool:
        around: Any = self.mechanism
        wants = self.mechanism.wants
        return wants.kind is not around.selection.evidence or len(wants.caps) != len(around.caps)

    def evidence_of(self, data: Data) -> AmountsAtCaps:  # type: ignore[override]
        sets = self._sets_of(data, self.held(data))
        sizes = np.repeat(sets.sizes, sets.sizes)
        held = UserAmounts.of_rows(
            np.repeat(np.arange(len(sets.sizes)), sets.sizes),
            sets.listed(),
            np.where(sizes == 1, self.step, 1),
            n_items=sets.n_items,
            most=self.step,
        )
        wants = self.mechanism.wants

        def at(place: int) -> UserSets | PublicCounts:
            capped = held.capped(wants.caps[place]).sets
            is_counts = wants.kind is PublicCounts
            return PublicCounts(capped.counts, unit=capped.unit) if is_counts else capped

        return AmountsAtCaps(partial(held.above, wants.caps), at)


class OfGroupedSets(OfContributions):
    """Users who hold any sets of a few pairs of a group and an item.

    Class attributes:
        branched_sizes: As for users' sets: 1 item in one group, or in two.
    """

    evidence = UserGroups  # type: ignore[assignment]
    exchangeable: ClassVar[bool] = False  # pairs of one group are no others'
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 3}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 2}
    branched_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 1}

    def large(self) -> Iterator[list[Data]]:
        yield from ([(n,)] for n in self.large_sizes[-1 if self._quick else 0 :])

    def wide(self) -> Iterator[list[Data]]:
        return iter(())  # many pairs are many branches

    def _near(self) -> list[int]:
        """Numbers of users at each threshold, where they are few."""
        near = {math.ceil(at) for at in self._hints.thresholds if at <= self.large_sizes[0]}
        return [] if self._quick else sorted(near)

    def _is_small(self, data: Data) -> bool:
        """Whether there are few ways to bound the users' groups."""
        ways = 1
        for held, n in enumerate(data, start=1):
            groups = len({pair % N_GROUPS for pair in range(held.bit_length()) if held >> pair & 1})
            ways *= math.comb(groups, min(groups, self._most_groups)) ** n
        return ways <= _MOST_CHOICES

    def held(self, data: Data) -> Sequence[int]:
        """The places of all items in both groups, the first group's first."""
        items = -(-self.n_items(data) // N_GROUPS)
        return [item * N_GROUPS + group for group in range(N_GROUPS) for item in range(items)]

    def evidence_of(self, data: Data) -> GroupedSets:  # type: ignore[override]
        n_pairs = self.n_items(data)
        codes = np.arange(n_pairs, dtype=np.uint32)
        pairs = self._sets_of(data, range(n_pairs))
        items = -(-n_pairs // N_GROUPS)
        return GroupedSets.of_pairs(pairs, codes % N_GROUPS, codes // N_GROUPS, N_GROUPS, items)


class OfGroupedSetsOfAmounts(OfGroupedSets):
    """The same with amounts: 2 on an item that a user holds alone in its group, else 1 on each."""

    step = 2
    sizes = OfGroupedSets.quick_sizes

    def evidence_of(self, data: Data) -> GroupedAmounts:  # type: ignore[override]
        held = super().evidence_of(data)
        sets, parts = held.groups, held.parts
        users = np.repeat(np.arange(len(sets.sizes)), sets.sizes)
        columns = (np.repeat(column, parts.sizes) for column in (users, sets.listed(), parts.sizes))
        of_users, of_groups, sizes = (column.astype(np.int64) for column in columns)
        spent = np.where(sizes == 1, self.step, 1).astype(np.int64)
        return GroupedAmounts.of_rows(
            *(of_users, of_groups, parts.listed(), spent),
            n_groups=held.n_groups,
            n_items=held.n_items,
            most=self.step,
        )


class OfGroupedAmountsAtCaps(OfGroupedSetsOfAmounts):
    """The same amounts, of which some are above the first of two caps, that one is chosen from."""

    evidence = AmountsAtCaps  # type: ignore[assignment]
    sizes = OfGroupedSets.branched_sizes
    quick_sizes = OfGroupedSets.branched_sizes

    def asks_for_looser(self) -> bool:
        around: Any = self.mechanism
        wants = self.mechanism.wants
        is_looser = wants.groups != around.selection.max_groups_per_user
        return is_looser or wants.kind is not around.selection.evidence

    def evidence_of(self, data: Data) -> AmountsAtCaps:  # type: ignore[override]
        held, wants = super().evidence_of(data), self.mechanism.wants

        def at(place: int) -> GroupedAmounts | GroupedCounts:
            capped = held.capped(wants.caps[place])
            return capped if wants.kind is UserGroups else _counted(capped)

        return AmountsAtCaps(partial(held.above, wants.caps), at)


def _counted(held: GroupedAmounts) -> GroupedCounts:
    """The sums of all items in each group, of users who count in each."""
    sums = held.among(np.arange(held.n_groups), np.arange(held.n_items))
    ends = np.arange(1, held.n_groups + 1) * held.n_items
    return GroupedCounts(
        *(sums.counts, ends, PublicCounts),
        max_items_per_user=None,
        max_groups_per_user=held.n_groups,
        unit=sums.unit,
    )


class OfKnownGroupedItems(OfGroupedSets):
    """The same, where everybody knows both groups, and the first of the items.

    In groups that are to be found, few users would tell nothing of items.
    """

    sizes: ClassVar[dict[int, int]] = {1: 3, 2: 1}
    quick_sizes = branched_sizes = sizes

    def large(self) -> Iterator[list[Data]]:
        return iter(())

    def n_items(self, data: Data) -> int:
        return max(1, super().n_items(data))

    def evidence_of(self, data: Data) -> GroupedSets:  # type: ignore[override]
        known = super().evidence_of(data).with_public(np.zeros(1, np.int64))
        return replace(known, groups_are_public=True)
