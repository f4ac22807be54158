"""The instrument draw by draw: what paths through a mechanism spend, beside what is claimed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from shortlist.audit.findings import Finding, Verdict, share_of
from shortlist.audit.transcripts._followed_paths import Path, path_of
from shortlist.audit.transcripts._spent import Spent, certain_delta, converted
from shortlist.audit.transcripts._tables_with_a_user import ITEMS, TableWithUser, tables_of
from shortlist.audit.transcripts._tried_thresholds import chance_of_own
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    GaussianStage,
    LossStage,
    OwnItemsStage,
    PureStage,
    Stage,
    Stages,
    ThresholdDelta,
)
from shortlist.privacy.accountant.after_choice import AfterChoice
from shortlist.privacy.accountant.cost_of_rounds import ItemsInRounds
from shortlist.privacy.accountant.items_of_one_user import ItemsOfOneUser
from shortlist.privacy.accountant.stages import names_own_items, with_loss
from shortlist.privacy.combined_costs import Either, Sum
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import Approximate, Cost, Pure

_ROUNDING = 1 + 1e-6  # of sums of floats, and of weights that are rounded down
_COVERED = 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 3.5, 4.0  # standard deviations: where picks are seen


class PartOfClaim(NamedTuple):
    """One part of a claim.

    Attributes:
        name: What it is about.
        limit: What is claimed.
        spent: What a path spends.
        where: On which table that was.
    """

    name: str
    limit: float
    spent: float
    where: str = "all tables"

    @property
    def share(self) -> float:
        return share_of(self.limit, self.spent)


@dataclass(frozen=True)
class Claimed:
    """The stages of one way through a mechanism.

    Attributes:
        on_weights: The sum of squared sensitivities over variances, of noise on weights, of which
            items that one user alone holds take their part.
        squares: The same of all other normal noise.
        ranges: Of exponential mechanisms.
        pures: Of draws of which only the largest loss is known.
        kept: The least share of the squared norm that the user's own items take from others.
        lost: The mass that is lost on this way, whoever the user is.
    """

    on_weights: float = 0.0
    squares: float = 0.0
    ranges: tuple[float, ...] = ()
    pures: tuple[float, ...] = ()
    kept: float = 1.0
    lost: float = 0.0

    def and_then(self, stage: Stage) -> Iterator[Claimed]:
        match stage:
            case EitherStage():
                for way in (stage.first, stage.second):
                    yield from _after(self, way)
            case GaussianStage():
                if stage.on_weights:
                    yield replace(self, on_weights=self.on_weights + stage.mu**2)
                else:
                    yield replace(self, squares=self.squares + stage.mu**2)
            case BoundedRange():
                yield replace(self, ranges=self.ranges + (stage.epsilon,) * stage.times)
            case PureStage():
                yield replace(self, pures=self.pures + (stage.epsilon,) * stage.times)
            case LossStage():
                yield replace(self, lost=self.lost + stage.delta)
            case OwnItemsStage():
                yield self

    def parts(self, spent: Spent, shared: float) -> list[PartOfClaim]:
        """Hold what is claimed of each kind of draw against what is spent, at this share."""
        noise = self.on_weights * (1 - self.kept * (1 - shared)) + self.squares
        parts = [PartOfClaim("noise", noise, spent.squares)]
        spent = spent.by_losses(len(self.pures))
        all_pure = not self.pures or len(spent.pures) == len(self.pures)
        by_noise = (spent.ranges or spent.reached) and not self.ranges and all_pure
        claimed, drawn = (*self.ranges, *self.pures), (*spent.ranges, *spent.pures)
        if by_noise:  # of which no stage is claimed, beside draws that each have one
            parts.append(self._covered_by_noise(spent, noise - spent.squares))
            drawn = spent.pures
        elif all_pure and noise > spent.squares and len(spent.ranges) > len(self.ranges) > 0:
            own, others = _claimed_alone(self.ranges, spent.ranges)
            rest = replace(spent, ranges=others)
            parts.append(self._covered_by_noise(rest, noise - spent.squares))
            drawn = (*own, *spent.pures)
        if claimed:
            parts += _picks_one_by_one(sorted(claimed)[::-1], sorted(drawn)[::-1])
        return parts

    def _covered_by_noise(self, spent: Spent, left: float) -> PartOfClaim:
        """Picks that are claimed to lose no more than the noise that is left, at any epsilon."""
        picks = Spent(ranges=spent.ranges, reached=spent.reached)
        return _below_noise("beside noise", max(left, 0.0), self.lost, picks)

    def most(self, shared: float, lost: float) -> Spent:
        """All that is claimed, as if it were spent."""
        noise = self.on_weights * shared + self.squares
        return Spent(noise, self.ranges, self.pures, self.lost + lost)


def _below_noise(name: str, squares: float, lost: float, spent: Spent) -> PartOfClaim:
    """What is claimed to lose no more than normal noise, but for mass that is lost."""

    def part(epsilon: float) -> PartOfClaim:
        limit = lost + certain_delta(Spent(squares=squares), epsilon)
        return PartOfClaim(name, limit, certain_delta(spent, epsilon))

    each = (part(times * math.sqrt(squares)) for times in _COVERED)
    return max(each, key=lambda one: one.share)


def _claimed_alone(
    limits: tuple[float, ...], losses: tuple[float, ...]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The draws that stages of their own are claimed for, each the loudest that fits; the others.

    What is left over has to be covered by noise: which draws these are is in the claim's favour.
    """
    left, own = sorted(losses), []
    for limit in sorted(limits):
        fitting = [loss for loss in left if loss <= limit * _ROUNDED]
        own.append(fitting[-1] if fitting else left[0])
        left.remove(own[-1])
    return tuple(own), tuple(left)


def _picks_one_by_one(limits: list[float], losses: list[float]) -> Iterator[PartOfClaim]:
    """Hold the largest against the largest, and so on: each draw needs a stage of its own."""
    yield PartOfClaim("number of picks", float(len(limits)), float(len(losses)))
    each = [PartOfClaim("range of a pick", *both) for both in zip(limits, losses, strict=False)]
    if each:
        yield max(each, key=lambda part: part.share)


def ways_of(cost: Cost) -> list[Claimed]:
    """The ways through a mechanism whose cost knows its stages; none, where it does not."""
    if isinstance(cost, Pure | Either) or not isinstance(cost, Composed):
        return []
    return _ways(cost.composition, cost.composition.stages)


def _ways(composition: Composition, stages: Stages) -> list[Claimed]:
    """The ways through stages of a composition, or those of one kind of user."""
    choice = (composition.choice,) if isinstance(composition, AfterChoice) else ()
    return list(_after(Claimed(ranges=choice, kept=_kept(composition)), stages))


def _kept(composition: Composition) -> float:
    own_items = composition.own_items
    return own_items.kept if isinstance(own_items, ItemsInRounds) else 1.0


def _after(claimed: Claimed, stages: Iterable[Stage]) -> Iterator[Claimed]:
    ways = [claimed]
    for stage in stages:
        ways = [after for way in ways for after in way.and_then(stage)]
    yield from ways


_SEEDS = 3
_WAYS = 6  # of private choices between few, that are taken in turn
_TRIED = 1.01  # of a chance that is found by trying
_ROUNDED = 1 + 1e-9  # of an epsilon that is a sum of floats
_CONVERTED = 1 + 1e-4  # of what another arithmetic converts to
_NAME = "draws"


class _Paths:
    """All that was followed of one mechanism.

    Attributes:
        mechanism: The mechanism.
        paths: They.
        ways: The stages that its cost knows, way by way.
    """

    def __init__(self, mechanism: Mechanism, paths: list[Path]) -> None:
        self.mechanism, self.paths = mechanism, paths
        self.ways: list[Claimed] = ways_of(mechanism.cost)
        self._enough: dict[int, int] = {}

    @cached_property
    def _most(self) -> dict[tuple[object, ...], Spent]:
        """The most that a draw of each law spends on any path."""
        most: dict[tuple[object, ...], Spent] = {}
        for path in self.paths:
            for law, spent in zip(path.laws, path.spent, strict=True):
                if not path.table.is_of_its_own:
                    most[law] = most.get(law, Spent()).most(spent)
        return most

    def _spent(self, path: Path) -> Spent:
        """What the path's draws spend where they spend most; of a user with own items, here."""
        if path.table.is_of_its_own:
            spent = path.total
        else:
            spent = sum((self._most[law] for law in path.laws), Spent())
        return spent.until_reached() if self._ends_when_reached else spent

    @cached_property
    def _ends_when_reached(self) -> bool:
        """Whether no pick spends anything once the user is reached, as far as was seen.

        Where a stage is claimed for each pick, all of them count as if the user never were; and
        where no delta is lost, without which picks are not as noise.
        """
        after = [spent for path in self.paths for spent in path.after_reaching]
        claimed = any(way.ranges or way.pures for way in self.ways)
        may = self.mechanism.cost.lost > 0 and not claimed
        return bool(after) and may and not any(one.ranges for one in after)

    def _as_claimed(self, spent: Spent) -> Spent:
        """Coins by their largest losses, if a way has as many stages that are claimed so."""
        if not self.ways:
            return spent.by_losses(len(spent.coins))
        each = [spent.by_losses(len(way.pures)) for way in self.ways]
        return min(each, key=lambda one: one.rho)

    def judged(self) -> Iterator[PartOfClaim]:
        """Every part of the claim, on every path; and of the stages that are claimed."""
        for path in self.paths:
            if path.spent or not path.left:
                for part in self._of_path(path):
                    yield part._replace(where=path.table.name)
        yield from self._counted_anew()
        yield from self._never_asked()

    def _of_path(self, path: Path) -> Iterator[PartOfClaim]:
        mechanism, cost, spent = self.mechanism, self.mechanism.cost, self._spent(path)
        if path.wrong:
            yield PartOfClaim(path.wrong, 0.0, 1.0)
            return
        yield from self._stages(path, spent)
        if spent.reached:
            yield _below_noise("as noise", 2 * cost.rho, cost.lost, spent)
        elif not _is_by_guarantee(cost):
            yield PartOfClaim("rho", cost.rho, self._as_claimed(spent).rho)
        if not math.isinf(spent.pure) and mechanism.delta == 0:
            yield PartOfClaim("epsilon", mechanism.epsilon, spent.pure)
        own = self._own_named(path)
        yield PartOfClaim("own items", cost.lost, own)
        if mechanism.delta:
            certain = certain_delta(
                replace(self._as_claimed(spent), lost=own), mechanism.epsilon * _ROUNDED
            )
            yield PartOfClaim("delta", mechanism.delta, certain)

    def _own_named(self, path: Path) -> float:
        spent = path.total
        if path.table.parallel:  # each group's picks may end by one
            return spent.lost + sum(each.picked for each in path.spent)
        if not path.decided_later:
            return spent.lost + spent.picked
        if not path.table.lonely:  # what a path's noise has been so far would tell more, or less
            return spent.picked
        return chance_of_own(self.mechanism, path, self._enough) / _TRIED + spent.picked

    def _stages(self, path: Path, spent: Spent) -> list[PartOfClaim]:
        """The parts of the claimed way through the stages that comes nearest to the path."""
        if not self.ways:
            return []
        each = [way.parts(spent, path.shared) for way in self.ways]
        return min(each, key=lambda parts: max(part.share for part in parts))

    def _counted_anew(self) -> Iterator[PartOfClaim]:
        """Count anew what the cost claims for itself, by another accountant."""
        mechanism, cost, at = self.mechanism, self.mechanism.cost, self.mechanism.epsilon
        yield PartOfClaim("delta of cost", mechanism.delta, cost.delta(at))
        yield PartOfClaim("conversion", mechanism.delta, converted(cost, at) / _CONVERTED)
        if not isinstance(cost, Composed):
            return
        composition = cost.composition
        if cost.lost and not composition.lost:
            yield PartOfClaim("mass is lost that no stage has", 0.0, cost.lost)
        for shared, lost in _corners(composition.own_items):
            stages, beside = composition.stages, lost
            if names_own_items(stages):
                stages, beside = with_loss(stages, lost), 0.0
            for way in _ways(composition, stages):
                delta = certain_delta(way.most(shared, beside), at)
                yield PartOfClaim("delta of stages", mechanism.delta, delta)

    def _never_asked(self) -> Iterator[PartOfClaim]:
        """Find stages that no draw was seen of, though every path was followed to its end."""
        if any(path.left or path.wrong for path in self.paths if not path.table.ties):
            return
        noise = max((path.noise for path in self.paths), default=0)
        picks = max((path.picks for path in self.paths), default=0)
        asked_for = self.mechanism.audit_hints().most_items or 0
        for way in self.ways:
            as_noise = picks and not (way.ranges or way.pures)  # what picks may be claimed to be
            if (way.on_weights or (way.squares and not as_noise)) and not noise:
                yield PartOfClaim("noise that no draw asks for", 0.0, 1.0)
            if (way.ranges or way.pures) and not picks and asked_for < ITEMS:
                yield PartOfClaim("picks that no draw asks for", 0.0, 1.0)


def audit_by_transcript(mechanism: Mechanism, *, quick: bool = False) -> list[Finding]:
    """Follow a mechanism draw by draw: each part of its claim, and what was not looked at.

    Args:
        mechanism: With its parameters.
        quick: On fewer tables, along fewer paths.
    """
    tables = list(tables_of(mechanism, quick=quick))
    if not tables:
        return [_left_out(mechanism, "not followed: there are no tables of real size for it")]
    every = (path for table in tables for path in _paths(mechanism, table, quick=quick))
    paths = list(_distinct(every))
    found = list(_worst(mechanism, _Paths(mechanism, paths).judged(), len(paths)))
    reasons = dict.fromkeys(path.left for path in paths if path.left and not path.table.ties)
    return found + [_left_out(mechanism, reason) for reason in reasons]


def _left_out(mechanism: Mechanism, reason: str) -> Finding:
    return Finding.about(mechanism, _NAME, Verdict.LEFT_OUT, loss=0.0, reason=reason)


def _paths(mechanism: Mechanism, table: TableWithUser, *, quick: bool) -> Iterator[Path]:
    """Paths by a few seeds, and by more where private choices have more ways."""
    first = path_of(mechanism, table, 0)
    yield first
    ways = _SEEDS if quick else min(first.ways, _WAYS)
    for way in range(1, max(ways, _SEEDS)):
        yield path_of(mechanism, table, way)


def _distinct(paths: Iterable[Path]) -> Iterator[Path]:
    """Leave out paths of a lonely user that go the same way: trying what it takes is slow."""
    seen = set()
    for path in paths:
        key = path.table.name, tuple(path.own), path.kept, path.picks, path.noise
        if not (path.table.lonely and path.decided_later and key in seen):
            yield path
        seen.add(key)


def _corners(own_items: ThresholdDelta | ItemsOfOneUser | None) -> list[tuple[float, float]]:
    """Users who share all their items, and who share none: how much, and what thresholds lose."""
    if isinstance(own_items, ItemsOfOneUser):
        shared, lost = own_items.cases
        return [(float(shared[i]), float(lost[i])) for i in (0, -1)]
    return [(1.0, 0.0 if own_items is None else own_items.delta)]


def _is_by_guarantee(cost: Cost) -> bool:
    """Whether an (epsilon, delta) is all that is known of a part: its rho is beside that delta."""
    by_rho = cost.ways[0]
    parts = by_rho.parts if isinstance(by_rho, Sum) else (by_rho,)
    return any(isinstance(part, Approximate) for part in parts)


def _worst(mechanism: Mechanism, parts: Iterable[PartOfClaim], n: int) -> Iterator[Finding]:
    """One finding for each part, of where it comes nearest to its limit."""
    worst: dict[str, PartOfClaim] = {}
    for part in parts:
        if part.limit or part.spent:  # else nothing is claimed, nor spent
            worst[part.name] = max(worst.get(part.name, part), part, key=lambda p: p.share)
    for part in worst.values():
        yield Finding.about(
            mechanism,
            f"{_NAME}: {part.name}",
            Verdict.HOLDS if part.share <= _ROUNDING else Verdict.BROKEN,
            (part.where, "the same without the user"),
            limit=part.limit,
            loss=part.spent,
            pairs=n,
        )
