"""What every mechanism is: public parameters, their cost, and a selection from evidence."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.noise import Laplace
from shortlist.errors import InputError, in_quotes
from shortlist.evidence import (
    UserGroups,
    UserSets,
    Wants,
)
from shortlist.parameters import Option, checked
from shortlist.privacy import Composed, Cost, Pure
from shortlist.privacy.accountant import Composition
from shortlist.questions import Question, TopK

if TYPE_CHECKING:
    from shortlist.algorithms.e_values import Associated
    from shortlist.mechanisms.finding import Detection

ADD_OR_REMOVE = "add or remove one user"

FIXED = {"shortlist": "fixed"}
"""The metadata of a field that is the same whatever the parameters, such as a rounding grid.

The audit alone builds a mechanism with another value. It is no parameter, and `Plan` refuses a
mechanism in which it was changed: a release would not say so, and the cost may not follow it.
"""


class Accounting(Option):
    """How the stages of a mechanism add up to (epsilon, delta)."""

    EXACT = "exact"
    """The worst case of all stages together: the least noise for one release."""

    ZCDP = "zcdp"
    """In zCDP, and a share of delta for the rest: the least noise for one of many releases that
    share a budget, which adds up their rho."""

    PUBLISHED = "published"
    """As in the mechanism's paper, for comparison."""


class Adjacency(Option):
    """Which pairs of tables count as neighbours, where a mechanism leaves the choice."""

    ADD_REMOVE = ADD_OR_REMOVE
    """Counts move by at most 1, all the same way."""

    GENERAL = "add, remove or change one user"
    """Counts move by at most 1 each, some up and some down."""

    @property
    def spread(self) -> float:
        """By how much more than another a count can rise; and how often a user's items can count.

        Whoever exchanges items for others lowers as many counts as may be held, and raises as many.
        """
        return 1.0 if self is Adjacency.ADD_REMOVE else 2.0


class Selection(NamedTuple):
    """What a mechanism selected.

    Attributes:
        positions: Positions of the selected items in the evidence.
        scores: A noisy score of each, in the same order, or None.
        ordered: Whether the order of the positions is part of the answer. If not, they are a set.
        noise_sd: The standard deviation of the noise in the scores, or None.
        branch: Which way a private choice went, where the proof lets it be released; else None.
        shared_sd: The standard deviation of the part of the noise that all scores share, or None.
        others: Noisy numbers of what is not in the list, where they were asked for, or of cases and
            controls; else None.
        users: Of how many users each score is told as a share, in the order of the positions, where
            that was asked for; or how many users hold the item; else None.
        score_step: What 1 of the scores, and of their noise, is in the unit that is released.
        associations: What follows from noisy numbers of each item that was looked at, the best
            first; None where it is not asked whether items go with a label.
        cap: Of amounts, up to which a sum counts, where that was chosen; else None.
    """

    positions: Ints
    scores: Floats | None = None
    ordered: bool = True
    noise_sd: float | None = None
    branch: str | None = None
    shared_sd: float | None = None
    others: Floats | None = None
    users: Floats | None = None
    score_step: float = 1.0
    associations: tuple[Associated, ...] | None = None
    cap: float | None = None

    @property
    def told(self) -> Selection:
        """With scores and noise in the unit that is released, where it is another than that."""
        if self.score_step == 1 or self.scores is None or self.noise_sd is None:
            return self
        sd = self.noise_sd * self.score_step
        return self._replace(
            scores=np.round(self.scores * self.score_step, score_digits(sd)),
            noise_sd=sd,
            shared_sd=None if self.shared_sd is None else self.shared_sd * self.score_step,
            score_step=1.0,
        )


@dataclass(frozen=True)
class AuditHints:
    """What the audit should know of a mechanism, to look where a mistake would show.

    No claim is taken from here: what is not said makes the audit look elsewhere, not believe more.

    Attributes:
        most_items: How many items it names at most; None if there is no bound.
        n_items: How many items there are, where it was told; None where any number will do.
        user_bound: How many items, or comparisons, of one user its cost takes to count at most;
            None if any number.
        most_groups: In how many groups one user counts at most; None if in any number.
        thresholds: By how many people, who hold nothing else, an item has to be held to be named:
            where the code may begin to do something else.
        score_sd: The standard deviation of the noise in its scores, where no data decide it.
        shuffles_users: Whether users come in random order: of many there are too many orders.
        inner: The mechanism that it wraps, whose law is a part of its own; None if it wraps none.
        coarse: The same code and parameters with fewer branches, which is enumerated in its place;
            None where the mechanism itself is.
    """

    most_items: int | None = None
    n_items: int | None = None
    user_bound: int | None = None
    most_groups: int | None = None
    thresholds: tuple[float, ...] = ()
    score_sd: float | None = None
    shuffles_users: bool = False
    inner: Mechanism | None = None
    coarse: Mechanism | None = None


class Mechanism(ABC):
    """A frozen dataclass of public parameters, built by keyword.

    The types of its fields carry their checks: see `shortlist.parameters`. A parameter that is out
    of range, or with which no noise can be calibrated, is refused by an `InputError`.

    Class attributes:
        question: What it answers.
        evidence: The type of evidence that `select` takes.
        derived: Names of the values computed from the fields, listed by `parameters`.
        score_unit: What the scores of all its selections measure; None where none are released.
        discovers: Whether it names private items; None where its parameters decide.
        names_sets: Whether all its selections are sets, whatever is asked.
        takes_known_items: Whether it makes use of which private items everybody knows.
        reads_unit: Whether it reads the unit of its counts, so that scores may stand as such.
        accountings: How its stages may be counted, for its field `accounting`, if it has one.
        only_in_zcdp: Options that have no effect where the worst case counts.
        chooses_bound: Whether it chooses a bound on users' items itself, where none is given.

    Attributes:
        epsilon: The epsilon of the guarantee.
        delta: The delta that was asked for; 0 for a mechanism without this field, which is pure.
    """

    question: ClassVar[type[Question]] = TopK
    evidence: ClassVar[type]
    derived: ClassVar[tuple[str, ...]] = ()
    # The columns of a release follow from it, and so tell nothing of what was drawn: scores that
    # only some selections have are dropped.
    score_unit: ClassVar[str | None] = None
    discovers: ClassVar[bool | None] = False
    names_sets: ClassVar[bool] = False
    takes_known_items: ClassVar[bool] = False
    reads_unit: ClassVar[bool] = False
    accountings: ClassVar[tuple[Accounting, ...]] = (Accounting.EXACT, Accounting.ZCDP)
    only_in_zcdp: ClassVar[tuple[str, ...]] = ()
    chooses_bound: ClassVar[bool] = False

    epsilon: float
    delta: float = 0.0

    def __init_subclass__(cls) -> None:
        """Who selects in another way than its parent reads no units, unless it says so, too."""
        super().__init_subclass__()
        if "select" in vars(cls) and "reads_unit" not in vars(cls):
            cls.reads_unit = False

    def __post_init__(self) -> None:
        checked(self)
        self._require_accounting()
        if not self._can_be_calibrated():  # refused now, not when data was read
            raise InputError(
                "no noise can be calibrated to these",
                "{epsilon} from 1e-6 to 20 and {delta} from 1e-12 are nearly always enough",
                given={"epsilon": self.epsilon, "delta": self.delta},
            )

    def _require_accounting(self) -> None:
        asked = getattr(self, "accounting", None)
        if asked is not None and asked not in self.accountings:
            known = " or ".join(f'"{one.value}"' for one in self.accountings)
            raise InputError(
                "{kind} cannot count its stages that way",
                "take {known}, or omit it",
                given={"accounting": in_quotes(asked.value)},
                kind=type(self),
                known=known,
            )

    def _can_be_calibrated(self) -> bool:
        if 0 < self.delta < 1e-300:  # halves of it would lose digits
            return False
        try:
            self.parameters()
            self.cost.parameters()
        except (ArithmeticError, ValueError):  # an InputError is a ValueError
            return False
        return True

    @property
    def wants(self) -> Wants:
        """What `select` is to be shown, and how bounded: users' whole sets are bounded there."""
        whole = issubclass(self.evidence, UserSets | UserGroups)
        return Wants(self.evidence, None if whole else self._user_bound)

    @property
    def _user_bound(self) -> int | None:
        """How many items, or comparisons, of one user count; None if any number, or if unknown."""
        names = "max_items_per_user", "max_comparisons_per_user"
        bounds = (getattr(self, name) for name in names if name in self.fields())
        return next((bound for bound in bounds if bound is not None), None)

    @property
    def names_private_items(self) -> bool:
        """Whether it names items that only the table knows."""
        return bool(self.discovers)

    @property
    def adjacency(self) -> str:
        """Which tables count as neighbours: those of its option `neighbours`, if it has one."""
        chosen: Adjacency = getattr(self, "neighbours", Adjacency.ADD_REMOVE)
        return chosen.value

    @property
    def assumes(self) -> tuple[str, ...]:
        """What the guarantee takes as public or promised, beside what the source says."""
        return ()

    @property
    def scores_are_counts(self) -> bool:
        """Whether its scores are noisy counts already, at no further cost."""
        return False

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """What one `select` spends, known before any data is seen."""

    @property
    def spent_delta(self) -> float:
        """The delta of the guarantee: what was asked for, or 0 where it is not used."""
        return self.delta if self.cost.delta(self.epsilon) > 0 else 0.0

    @property
    def unused(self) -> list[str]:
        """A sentence for `explain` where no use is made of the delta that was asked for."""
        if self.spent_delta == self.delta:
            return []
        why = "since for so few items the noise would hardly be less; the guarantee is pure."
        return [f"No use is made of delta={self.delta:.3g}, {why}"]

    @property
    def noise_varies(self) -> bool:
        """Whether the noise of its scores may be larger in one run than in another.

        It is taken to do so where there are scores, unless a mechanism says otherwise.
        """
        return self.score_unit is not None

    @property
    def finding(self) -> Detection | None:
        """How it finds items, each by itself; None where that hangs on the counts of others."""
        return None

    def require_items(self, n_items: int) -> None:  # noqa: B027 - most take any number
        """Refuse more public items than it can compare, before a row is read.

        Raises:
            InputError: There are too many for its parameters.
        """

    @abstractmethod
    def select(self, evidence: Any, draws: Draws) -> Selection:
        """Select items; all randomness comes from `draws`.

        Raises:
            InputError: One user can change more in the evidence than the cost accounts for.
        """

    def concluded(self, selection: Selection) -> Selection:
        """What is released of a selection: a function of it and of public parameters alone.

        The audit looks at the selection itself, of which noisy numbers can be told apart.
        """
        return selection

    @abstractmethod
    def explain(self) -> list[str]:
        """What the mechanism will do, a plain sentence each, with its noise and thresholds."""

    def explain_known(self) -> list[str]:
        """What it does with those of the private items that everybody knows, likewise."""
        return []

    def audit_hints(self) -> AuditHints:
        """What the audit should know of it: by default, what its parameters of common names say."""
        return AuditHints(
            most_items=getattr(self, "k", None),
            n_items=getattr(self, "n_items", None),
            user_bound=self._user_bound,
            coarse=with_coarse_design(self),
        )

    @classmethod
    def fields(cls) -> list[str]:
        """The names of the parameters it is built from, without what is fixed."""
        known: Any = cls
        return [field.name for field in dataclasses.fields(known) if not _is_fixed(field)]

    @property
    def is_as_shipped(self) -> bool:
        """Whether all that is fixed, in it and in what it wraps, is as its class has it."""
        itself: Any = self
        fields = dataclasses.fields(itself)
        changed = [f for f in fields if _is_fixed(f) and getattr(self, f.name) != f.default]
        wrapped = (getattr(self, f.name) for f in fields)
        return not changed and all(w.is_as_shipped for w in wrapped if isinstance(w, Mechanism))

    @property
    def idle(self) -> tuple[str, ...]:
        """Options that nothing depends on, as the others are."""
        exact = getattr(self, "accounting", None) is Accounting.EXACT
        return self.only_in_zcdp if exact else ()

    def parameters(self) -> dict[str, object]:
        """All public parameters by name, the derived ones included, without idle options."""
        names = (name for name in (*self.fields(), *self.derived) if name not in self.idle)
        values = {name: getattr(self, name) for name in names}
        return {n: v.value if isinstance(v, Option) else v for n, v in values.items()}


def _is_fixed(field: dataclasses.Field[Any]) -> bool:
    return FIXED.keys() <= field.metadata.keys()


def with_coarse_design(mechanism: Mechanism) -> Mechanism | None:
    """The mechanism with few branches; None where it has a coarse design already, or none at all.

    A design is a field that is `FIXED`, and knows a coarser one, with which the same code can be
    enumerated.
    """
    made: Any = mechanism
    design = getattr(made, "design", None)
    if design is None or design == design.coarse:
        return None
    coarse: Mechanism = dataclasses.replace(made, design=design.coarse)
    return coarse


def cost_of_release(
    accounting: Accounting, composition: Composition, by_rho: Cost, epsilon: float
) -> Cost:
    """The cost of stages; with their exact worst case, if they were calibrated by it."""
    pure_enough = isinstance(by_rho, Pure) and by_rho.pure <= epsilon
    if accounting is not Accounting.EXACT or pure_enough:
        return by_rho
    return Composed(composition, by_rho, epsilon=epsilon)


def require_bounded(evidence: object, **accounted_for: int | None) -> None:
    """Refuse evidence in which one user can change more than the mechanism accounts for.

    Args:
        evidence: What knows of each bound how tight it is; None if it is not bounded.
        accounted_for: Bounds by name, such as `max_items_per_user`; None if any will do.
    """
    for name, most in accounted_for.items():
        bound = getattr(evidence, name)
        if most is not None and (bound is None or bound > most):
            looser = "not bounded" if bound is None else f"bounded at {bound}, which is looser"
            raise InputError(
                "the evidence is {looser}",
                "bound it at {most}",
                given={name: most},
                looser=looser,
                most=most,
            )


def counted(n: int, noun: str) -> str:
    """So many of them, in words.

    >>> counted(1, "item"), counted(20, "item")
    ('1 item', '20 items')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def picked_in_turn(k: int, noun: str = "item") -> str:
    """That k items are picked.

    >>> picked_in_turn(1), picked_in_turn(20)
    ('1 item is picked', '20 items are picked one after another')
    """
    return f"{counted(k, noun)} {'is picked' if k == 1 else 'are picked one after another'}"


def best_are_named(k: int, score: str, order: str = ", in that order") -> str:
    """That the k items of the best scores are named, and in which order.

    >>> best_are_named(1, "largest noisy count")
    'The item with the largest noisy count is named.'
    >>> best_are_named(20, "largest noisy count")
    'The 20 items with the largest noisy counts are named, in that order.'
    """
    if k == 1:
        return f"The item with the {score} is named."
    return f"The {k} items with the {score}s are named{order}."


def score_digits(sd: float) -> int:
    """How many decimals a score with noise of this sd deserves: a grid of about sd / 500.

    >>> score_digits(4.4), score_digits(0.05), score_digits(1234.0)
    (2, 4, -1)
    """
    return 2 - math.floor(math.log10(sd))


def whole_score(noise: Laplace) -> tuple[int, float]:
    """To how many decimals, 0 or fewer, a count in this noise is rounded; the rounded noise's sd.

    >>> whole_score(Laplace(1000.0))
    (-1, 1414.213562373095...)
    """
    sd = math.sqrt(2) * noise.scale
    digits = min(0, score_digits(sd))
    return digits, sd if digits else noise.rounded_sd
