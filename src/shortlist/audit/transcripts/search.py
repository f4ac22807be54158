"""The instrument by transcript: paths through a mechanism on tables chosen to be worst."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from shortlist.audit.findings import Finding, Verdict
from shortlist.audit.transcripts._accountant import certain_delta
from shortlist.audit.transcripts._claims import Claimed, Part, ways_of
from shortlist.audit.transcripts._conversion import converted
from shortlist.audit.transcripts._following import Path, path_of
from shortlist.audit.transcripts._spent import Spent
from shortlist.audit.transcripts._tables import ITEMS, tables_of
from shortlist.audit.transcripts._thresholds import chance_of_own
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.privacy.accountant import Lost
from shortlist.privacy.accountant.novel import Novel
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import Approximate, Cost
from shortlist.privacy.sums import Sum

__all__ = ["audit_by_transcript"]

_WAYS = 6  # seeds, and the ways that private choices between few take in turn
_QUICK_WAYS = 3
_TRIED = 1.01  # of a chance that is found by trying
_ROUNDED = 1 + 1e-9  # of an epsilon that is a sum of floats
_CONVERTED = 1 + 1e-4  # of what another arithmetic converts to
_NAME = "draws"


class _Judged(NamedTuple):
    """A part of the claim, and where it was looked at."""

    part: Part
    where: str


class _Paths:
    """All that was followed of one mechanism.

    Attributes:
        mechanism: The mechanism.
        paths: Each with its way.
        ways: The stages that its cost knows, way by way.
    """

    def __init__(self, mechanism: Mechanism, paths: list[tuple[Path, int]]) -> None:
        self.mechanism, self.paths = mechanism, paths
        self.ways: list[Claimed] = ways_of(mechanism.cost)

    @cached_property
    def _most(self) -> dict[tuple[object, ...], Spent]:
        """The most that a draw of each law spends on any path."""
        most: dict[tuple[object, ...], Spent] = {}
        for path, _ in self.paths:
            for law, spent in zip(path.laws, path.spent, strict=True):
                if not path.table.is_of_its_own:
                    most[law] = most.get(law, Spent()).most(spent)
        return most

    def _spent(self, path: Path) -> Spent:
        """What the path's draws spend where they spend most; of a user with own items, here."""
        if path.table.is_of_its_own:
            return path.total
        return sum((self._most[law] for law in path.laws), Spent())

    def judged(self) -> Iterator[_Judged]:
        """Every part of the claim, on every path; and of the stages that are claimed."""
        for path, way in self.paths:
            if path.left and not path.spent:
                continue
            for part in self._of_path(path, way):
                yield _Judged(part, path.table.name)
        for part in [*self._counted_anew(), *self._never_asked()]:
            yield _Judged(part, "all tables")

    def _of_path(self, path: Path, way: int) -> Iterator[Part]:
        mechanism, cost, spent = self.mechanism, self.mechanism.cost, self._spent(path)
        if path.wrong:
            yield Part(path.wrong, 0.0, 1.0)
            return
        yield from self._stages(path, spent)
        if not _is_by_guarantee(cost):
            yield Part("rho", cost.rho, spent.rho)
        if not math.isinf(spent.pure) and mechanism.delta == 0:
            yield Part("epsilon", mechanism.epsilon, spent.pure)
        own = self._own_named(path, way)
        yield Part("own items", cost.lost, own)
        if mechanism.delta:
            certain = certain_delta(replace(spent, lost=own), mechanism.epsilon * _ROUNDED)
            yield Part("delta", mechanism.delta, certain)

    def _own_named(self, path: Path, way: int) -> float:
        """The chance that an item of the user alone is named."""
        spent = path.total
        if path.table.parallel:  # each group's picks may end by one
            return spent.lost + sum(each.picked for each in path.spent)
        if not path.decided_later:
            return spent.lost + spent.picked
        if not path.table.lonely:  # what a path's noise has been so far would tell more, or less
            return spent.picked
        return chance_of_own(self.mechanism, path, way) / _TRIED + spent.picked

    def _stages(self, path: Path, spent: Spent) -> list[Part]:
        """Beside the way through the stages that comes nearest to the path."""
        if not self.ways:
            return []
        each = [way.parts(spent, path.shared) for way in self.ways]
        return min(each, key=lambda parts: max(part.share for part in parts))

    def _counted_anew(self) -> Iterator[Part]:
        """What the cost claims for itself, by another accountant."""
        mechanism, cost, at = self.mechanism, self.mechanism.cost, self.mechanism.epsilon
        yield Part("delta of cost", mechanism.delta, cost.delta(at))
        yield Part("conversion", mechanism.delta, converted(cost, at) / _CONVERTED)
        if not isinstance(cost, Composed):
            return
        composition = cost.composition
        if cost.lost and not composition.lost:
            yield Part("mass is lost that no stage has", 0.0, cost.lost)
        for way in self.ways:
            for shared, lost in _corners(composition.unnamed):
                delta = certain_delta(way.most(shared, lost), at)
                yield Part("delta of stages", mechanism.delta, delta)

    def _never_asked(self) -> Iterator[Part]:
        """Stages that no draw was seen of, though every path was followed to its end."""
        if any(path.left or path.wrong for path, _ in self.paths if not path.table.ties):
            return
        noise = max((path.noise for path, _ in self.paths), default=0)
        picks = max((path.picks for path, _ in self.paths), default=0)
        asked_for = self.mechanism.audit_hints().most_items or 0
        for way in self.ways:
            if (way.on_weights or way.squares) and not noise:
                yield Part("noise that no draw asks for", 0.0, 1.0)
            if (way.ranges or way.pures) and not picks and asked_for < ITEMS:
                yield Part("picks that no draw asks for", 0.0, 1.0)


def audit_by_transcript(mechanism: Mechanism, *, quick: bool = False) -> list[Finding]:
    """What was found of each part of a mechanism's claim, and what was not looked at.

    Args:
        mechanism: With its parameters.
        quick: On fewer tables, along fewer paths.
    """
    tables = list(tables_of(mechanism, quick=quick))
    if not tables:
        return [_left_out(mechanism, "not followed: there are no tables of real size for it")]
    ways = range(_QUICK_WAYS if quick else _WAYS)
    followed = ((path_of(mechanism, table, way), way) for table in tables for way in ways)
    paths = list(_distinct(followed))
    found = list(_worst(mechanism, _Paths(mechanism, paths).judged(), len(paths)))
    reasons = dict.fromkeys(path.left for path, _ in paths if path.left and not path.table.ties)
    return found + [_left_out(mechanism, reason) for reason in reasons]


def _left_out(mechanism: Mechanism, reason: str) -> Finding:
    return Finding(
        mechanism=type(mechanism).__name__,
        setting=repr(mechanism),
        claim=_NAME,
        limit=0.0,
        loss=0.0,
        pair=("", ""),
        pairs=0,
        verdict=Verdict.LEFT_OUT,
        reason=reason,
    )


def _distinct(paths: Iterable[tuple[Path, int]]) -> Iterator[tuple[Path, int]]:
    """Without those of a lonely user that go the same way: trying what it takes is slow."""
    seen = set()
    for path, way in paths:
        key = path.table.name, tuple(path.own), path.kept, path.picks, path.noise
        if not (path.table.lonely and path.decided_later and key in seen):
            yield path, way
        seen.add(key)


def _corners(unnamed: Lost | Novel | None) -> list[tuple[float, float]]:
    """Users who share all their items, and who share none: how much, and what thresholds lose."""
    if isinstance(unnamed, Novel):
        shared, lost = unnamed.cases
        return [(float(shared[i]), float(lost[i])) for i in (0, -1)]
    return [(1.0, 0.0 if unnamed is None else unnamed.delta)]


def _is_by_guarantee(cost: Cost) -> bool:
    """Whether an (epsilon, delta) is all that is known of a part: its rho is beside that delta."""
    by_rho = cost.ways[0]
    parts = by_rho.parts if isinstance(by_rho, Sum) else (by_rho,)
    return any(isinstance(part, Approximate) for part in parts)


def _worst(mechanism: Mechanism, judged: Iterable[_Judged], n: int) -> Iterator[Finding]:
    """One finding for each part: of where it comes nearest to its limit."""
    worst: dict[str, _Judged] = {}
    for one in judged:
        if not one.part.limit and not one.part.spent:
            continue  # nothing is claimed, nor spent
        known = worst.get(one.part.name)
        if known is None or one.part.share > known.part.share:
            worst[one.part.name] = one
    for part, where in worst.values():
        yield Finding(
            mechanism=type(mechanism).__name__,
            setting=repr(mechanism),
            claim=f"{_NAME}: {part.name}",
            limit=part.limit,
            loss=part.spent,
            pair=(where, "the same without the user"),
            pairs=n,
            verdict=Verdict.HOLDS if part.holds else Verdict.BROKEN,
        )
