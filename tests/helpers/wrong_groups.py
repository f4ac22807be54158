"""Top-k per group with one mistake each, where all groups and items are known to everybody."""

import math
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction

import numpy as np

from shortlist.draws import RoundingGrid
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.mechanisms._own_items import KindChoice
from shortlist.mechanisms.per_group import PerGroup, PerGroupDesign, _FoundCodes


def fields_of(evidence):
    """What it was made of."""
    return [getattr(evidence, field.name) for field in fields(evidence)]


class Known(PerGroup):
    """Nothing is looked for: right, for what it costs, where the places are the same everywhere."""

    def _found_groups(self, held, _draws):
        return np.arange(held.n_groups), Fraction(1)

    def _found_items(self, held, _enough, _draws):
        return _FoundCodes(np.arange(held.n_items), np.ones(held.n_items), Fraction(0))


_ONE_LOOK = replace(
    PerGroup.design.coarse,
    shares=(Fraction(1),),
    grid_of_counts=lambda sd: RoundingGrid(2 ** (math.frexp(sd)[1] + 19), -2, 6),
)


@dataclass(frozen=True, kw_only=True)
class OneLook(Known):
    """One look, of which more is told: right, too."""

    design: PerGroupDesign = field(default=_ONE_LOOK, repr=False)

    def audit_hints(self):
        return replace(super().audit_hints(), coarse=None)


class _Apart(GroupedSets):
    def among(self, groups, items):
        """As if a user were another one in each group."""
        held = super().among(groups, items)
        rows = [
            (user, group, item)
            for user, (start, size) in enumerate(zip(held.starts, held.sizes, strict=True))
            for item in held.items[start : start + size].tolist()
            for group in [item // len(items)]
        ]
        users = np.array([user * len(groups) + group for user, group, _ in rows], np.uint32)
        codes = np.array([item for *_, item in rows], np.uint32)
        n_users = len(held.starts) * len(groups)
        return Contributions.of_rows(users, codes, n_users=n_users, n_items=held.n_items)


class ForOneGroup(OneLook):
    """Charges, and clips, for one group where a user is in two."""

    def select(self, evidence, draws):
        return super().select(_Apart(*fields_of(evidence)), draws)


class _ByOthers(GroupedSets):
    def bounded(self, max_groups_per_user, _draws):
        """The groups that most users are in; of equal ones the first."""
        groups = self.groups
        most = np.argsort(-groups.counts, kind="stable")[:max_groups_per_user]
        within = np.isin(groups.items, most)
        users = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
        kept = within | (groups.sizes <= max_groups_per_user)[users]
        places = self._places().among(np.where(kept, np.arange(len(kept)), -1))
        return self._at(places)


class BoundedByOthers(Known):
    """Which groups of a user count depends on who else is in them."""

    def select(self, evidence, draws):
        return super().select(_ByOthers(*fields_of(evidence)), draws)


class TellsOfGroups(Known):
    """A group is named because somebody is in it."""

    def _found_groups(self, held, _draws):
        return np.flatnonzero(held.groups.counts), Fraction(1)


class NoiseForHeld(Known):
    """What nobody holds gets no noise, and is not named."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        every = np.arange(evidence.n_groups), np.arange(evidence.n_items)
        places = np.flatnonzero(evidence.among(*every).counts)
        kept = np.isin(told.positions, places)
        return told._replace(positions=told.positions[kept], scores=told.scores[kept])


class _PairsApart(GroupedSets):
    def pairs(self):
        """As if a user were another one in each group."""
        return pairs_apart(super().pairs(), self)


def pairs_apart(own, sets):
    """Pairs of a group and an item, of which every part of a user counts as a user."""
    users = np.repeat(np.arange(len(own.sets.sizes)), own.sets.sizes)
    codes = own.sets.listed()
    users = (users * sets.n_groups + own.positions(codes) // sets.n_items).astype(np.uint32)
    n_users = len(own.sets.sizes) * sets.n_groups
    apart = Contributions.of_rows(users, codes, n_users=n_users, n_items=own.sets.n_items)
    return own._replace(sets=apart)


class PairsApart(PerGroup):
    """Adds and clips a user's pairs in each group by itself."""

    def select(self, evidence, draws):
        return super().select(_PairsApart(*fields_of(evidence)), draws)


_ONE_ROUND = PerGroupDesign(of_items=PerGroup.design.coarse.of_items)


@dataclass(frozen=True, kw_only=True)
class OneRound(PerGroup):
    """Each search has one round: right, too."""

    design: PerGroupDesign = field(default=_ONE_ROUND, repr=False)


class _OfAllGroups(GroupedSets):
    def bounded(self, max_groups_per_user, draws):
        """Items are still seen of all groups."""
        kept = _OfAllGroups(*fields_of(super().bounded(max_groups_per_user, draws)))
        vars(kept)["every"] = self
        return kept

    def items(self):
        return GroupedSets.items(vars(self).get("every", self))


class ItemsOfAllGroups(OneRound):
    """Items are found by what users hold in groups that do not count."""

    def select(self, evidence, draws):
        return super().select(_OfAllGroups(*fields_of(evidence)), draws)


@dataclass(frozen=True, kw_only=True)
class LoudChoice(PerGroup):
    """The choice of whose items are has half of the budget: right, too."""

    design: PerGroupDesign = field(
        default=replace(PerGroup.design, kind_share=0.5, most_for_kind=math.inf), repr=False
    )


class WholeChoice(KindChoice):
    """A user counts in whole for each pair held."""

    def _lost_as_own(self, evidence):
        pairs = evidence.pairs()
        held = pairs.sets.added_by_size(np.full(pairs.sets.largest + 1, 2**20))
        in_main = np.zeros(max(evidence.n_items, 1), np.int64)
        np.maximum.at(in_main, pairs.positions(np.arange(len(held))) % len(in_main), held)
        return int(held.sum() - in_main.sum())


class WholeInChoice(LoudChoice):
    """The choice adds up pairs instead of users, of which one user moves many."""

    @property
    def _either(self):
        either = super()._either
        return either and either._replace(choice=WholeChoice(**vars(either.choice)))
