"""Users' items in groups: what each user holds in each of the user's groups."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from shortlist import kernels
from shortlist.draws import Draws, Ints
from shortlist.evidence.buckets import Buckets, Codes
from shortlist.evidence.contributions import Contributions, places_of
from shortlist.evidence.user_sets import InOneGroup, PairSets, UserGroups
from shortlist.runtime.threads import parts, share, zeros

_CODE_BITS = 32


class Pairing(NamedTuple):
    """What the codes of pairs of a group and an item stand for.

    A code packs the item below the group, unless there are tables of both.

    Attributes:
        n_groups: How many codes of groups there are.
        n_items: How many codes of items there are.
        group_of: The group of each code; empty where codes are packed.
        item_of: The item of each.
    """

    n_groups: int
    n_items: int
    group_of: Codes = np.empty(0, np.uint32)
    item_of: Codes = np.empty(0, np.uint32)

    @property
    def bits(self) -> int:
        """How many bits of a code are the item's."""
        return _bits(self.n_items)

    @property
    def fits(self) -> bool:
        """Whether codes can be packed."""
        return _bits(self.n_groups) + self.bits <= _CODE_BITS

    def pack(self, groups: Codes, items: Codes) -> Codes:
        """The codes of rows, in the place of those of the groups."""
        groups <<= np.uint32(self.bits)
        groups |= items
        return groups


@dataclass(frozen=True)
class GroupedSets(UserGroups):
    """Sets of items, one for each user in each group.

    Attributes:
        groups: The groups that each user is in.
        parts: What users hold in them: set number p is of the group, and of the user, at place p of
            `groups.items`. Users' items lie in `parts.items` in the order of users.
        groups_are_public: Whether everybody knows the groups: then all codes are groups.
        public: As in `UserGroups`.
        listed: As in `UserGroups`.
    """

    groups: Contributions
    parts: Contributions
    groups_are_public: bool = False
    public: Ints = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    listed: Ints | None = field(default=None, repr=False)

    @classmethod
    def of_buckets(cls, buckets: Buckets, pairing: Pairing) -> GroupedSets:
        """Group rows by user and group, bucket by bucket; repeated rows count once.

        Args:
            buckets: The rows, with the codes of pairs for items.
            pairing: Of these codes.
        """
        n_rows, ends = len(buckets.pairs), buckets.ends
        starts, sizes = zeros(buckets.n_users), zeros(buckets.n_users)
        items, group_of = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint32)
        begins, held = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
        ranges = parts(n_rows, ends)
        before = [int(ends[first - 1]) if first else 0 for first, _ in ranges]
        rooms = iter(before)  # where a thread's parts begin: it has no more of them than rows
        done = share(
            ranges,
            partial(
                kernels.group_parts,
                *(buckets.pairs, buckets.runs, buckets.first_users, ends),
                *(np.uint64(pairing.bits), pairing.group_of, pairing.item_of, _odd()),
            ),
            lambda: [starts, sizes, items, group_of, begins, held, np.array([next(rooms)])],
        )
        n_parts = 0
        for (first, last), room, (*_, end) in zip(ranges, before, done, strict=True):
            users_of_range = slice(buckets.first_users[first], buckets.first_users[last])
            starts[users_of_range] -= room - n_parts
            n = int(end[0]) - room
            for column in (group_of, begins, held):
                column[n_parts : n_parts + n] = column[room : room + n]
            n_parts += n
        return cls(
            Contributions(starts, sizes, group_of[:n_parts], pairing.n_groups),
            Contributions(begins[:n_parts], held[:n_parts], items, pairing.n_items),
        )

    @classmethod
    def of_pairs(
        cls,
        pairs: Contributions,
        group_of: Codes,
        item_of: Codes,
        n_groups: int,
        n_items: int,
    ) -> GroupedSets:
        """Sets of pairs, of which tables tell the group and the item."""
        users = np.repeat(np.arange(len(pairs.sizes), dtype=np.uint32), pairs.sizes)
        buckets = Buckets.of_rows(users, pairs.listed(), len(pairs.sizes))
        return cls.of_buckets(buckets, Pairing(n_groups, n_items, group_of, item_of))

    @property
    def n_groups(self) -> int:
        return self.groups.n_items

    @property
    def n_items(self) -> int:
        return max(self.parts.n_items, int(self.public.max(initial=-1)) + 1)

    def with_public(self, codes: Ints) -> GroupedSets:
        return replace(self, public=np.sort(codes))

    def bounded(self, max_groups_per_user: int, draws: Draws) -> GroupedSets:
        if self.groups.largest <= max_groups_per_user:
            return self
        return self._at(self._places().bounded(max_groups_per_user, draws))

    def within(self, groups: Ints) -> GroupedSets:
        places = places_of(groups, self.n_groups)
        known = places[self.groups.items] != kernels.NOWHERE
        kept = self._at(self._places().among(np.where(known, np.arange(len(known)), -1)))
        placed = replace(kept.groups, items=places[kept.groups.items], n_items=len(groups))
        return replace(kept, groups=placed, groups_are_public=True)

    def each(self) -> Iterator[InOneGroup]:
        for held in self.in_each():
            yield InOneGroup(held if self.listed is None else held.among(self.listed))

    def in_each(self) -> Iterator[Contributions]:
        """What users hold in each group; items have the codes that they have in all groups."""
        # Place by place, the parts of each group side by side: no row is gone through twice.
        codes, held = self.groups.items, self.parts
        order = np.argsort(codes, kind="stable")
        ends = np.bincount(codes, minlength=self.n_groups).cumsum()
        for places in np.split(order, ends[:-1]) if len(ends) else ():
            own = replace(held, starts=held.starts[places], sizes=held.sizes[places])
            starts = np.cumsum(own.sizes) - own.sizes
            yield replace(own, starts=starts, items=own.listed())

    def items(self) -> Contributions:
        return self._united().with_public(self.public)

    def _united(self) -> Contributions:
        groups, held = self.groups, self.parts
        if groups.largest <= 1:
            return held
        starts, sizes = zeros(len(groups.sizes)), zeros(len(groups.sizes))
        items = np.empty_like(held.items)
        share(
            parts(int(groups.sizes.sum()), np.cumsum(groups.sizes)),
            partial(
                kernels.unite_parts,
                *(groups.starts, groups.sizes, held.starts, held.sizes, held.items, _odd()),
            ),
            lambda: [items, starts, sizes],
        )
        return Contributions(starts, sizes, items, held.n_items)

    def pairs(self) -> PairSets:
        # Pairs in one group of each item are numbered as items are: others are few, or it is slow.
        groups, held, n = self.groups, self.parts, self.n_items
        of_rows, codes = np.repeat(groups.items, held.sizes), held.listed()
        own = np.zeros(n, np.uint32)
        own[codes] = of_rows
        elsewhere = np.flatnonzero(own[codes] != of_rows)
        others = of_rows[elsewhere].astype(np.int64) * n + codes[elsewhere]
        others, places = np.unique(others, return_inverse=True)
        codes[elsewhere] = n + places
        positions = np.append(own.astype(np.int64) * n + np.arange(n), others)
        before = np.append(0, np.cumsum(held.sizes))
        starts = before[groups.starts]
        sizes = before[groups.starts + groups.sizes] - starts
        order = np.argsort(positions)
        numbers = np.empty(len(order), np.uint32)
        numbers[order] = np.arange(len(order))
        sets = Contributions(starts, sizes, numbers[codes], len(order))
        return PairSets(sets, positions[order].__getitem__)

    def among(self, groups: Ints, items: Ints) -> Contributions:
        held, sets = self.parts, self.groups
        kernel = partial(
            kernels.place_parts,
            *(sets.starts, sets.sizes, sets.items, held.starts, held.sizes, held.items),
            *(places_of(groups, self.n_groups), places_of(items, self.n_items), len(items)),
        )
        return Contributions.kept_by(kernel, sets.sizes, held.items, len(groups) * len(items))

    def _places(self) -> Contributions:
        """Users' sets of places in `groups.items`."""
        places = np.arange(len(self.groups.items), dtype=np.uint32)
        return Contributions(self.groups.starts, self.groups.sizes, places, len(places))

    def _at(self, places: Contributions) -> GroupedSets:
        """What users hold at these places alone."""
        listed, sizes = places.listed(), places.sizes
        groups = self.groups.items[listed]
        return replace(
            self,
            groups=Contributions(np.cumsum(sizes) - sizes, sizes, groups, self.n_groups),
            parts=replace(
                self.parts, starts=self.parts.starts[listed], sizes=self.parts.sizes[listed]
            ),
        )


def _bits(n: int) -> int:
    return max(n - 1, 0).bit_length()


def _odd() -> np.uint64:
    # Drawn anew, so that nobody can choose items that meet at one place of the tables.
    return np.uint64(secrets.randbits(64) | 1)
