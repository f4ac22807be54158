"""What every mechanism is: public parameters, their cost, and a selection from evidence."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, ClassVar, NamedTuple

from shortlist.errors import InputError, as_float, is_whole, written
from shortlist.exact import Draws
from shortlist.histogram import Counts, Outcomes, PrivateCounts, WeightedHistogram, Wins
from shortlist.privacy import Cost
from shortlist.reals import Floats, Ints

__all__ = [
    "ADD_OR_REMOVE",
    "Mechanism",
    "Option",
    "Question",
    "Selection",
    "best_are_named",
    "counted",
    "picked_in_turn",
    "require_bounded",
    "require_contraction",
    "require_count",
    "require_delta",
    "require_epsilon",
    "require_few_comparisons",
    "require_option",
    "require_share",
    "score_digits",
]


ADD_OR_REMOVE = "add or remove one user"
MOST = 2**32  # items that a table can hold


class Question(Enum):
    """What can be asked of a source; a mechanism answers one of them."""

    TOP_K = "top-k"
    """The items held by most users."""

    DOMAIN = "domain"
    """All items held by enough users."""

    HITTING_SET = "hitting-set"
    """The items that reach most users together."""

    RANK = "rank"
    """The items that do best when compared in pairs."""

    @property
    def method(self) -> str:
        """What it is called as a method of a source."""
        return self.value.replace("-", "_")


class Option(Enum):
    """A choice between named alternatives; a mechanism's field of that kind has one as default."""


class Adjacency(Option):
    """Which pairs of tables count as neighbours, where a mechanism leaves the choice."""

    ADD_REMOVE = ADD_OR_REMOVE
    """Counts move by at most 1, all the same way."""

    GENERAL = "add, remove or change one user"
    """Counts move by at most 1 each, some up and some down."""


class Selection(NamedTuple):
    """What a mechanism selected.

    Attributes:
        positions: Positions of the selected items in the evidence.
        scores: A noisy score of each, in the same order, or None.
        ordered: Whether the order of the positions is part of the answer. If not, they are a set.
        noise_sd: The standard deviation of the noise in the scores, or None.
        branch: Which way a private choice went, where the proof allows it to be told; else None.
    """

    positions: Ints
    scores: Floats | None = None
    ordered: bool = True
    noise_sd: float | None = None
    branch: str | None = None


class Mechanism(ABC):
    """A frozen dataclass of public parameters, built by keyword.

    Fields are checked by name: `epsilon`, `delta`, shares of a whole by the ending `_share`, and
    whole numbers from 1 on by any other name. A field whose default is an `Option` takes one of
    that kind, and a field whose type ends with "| None" may be None.

    Class attributes:
        question: What it answers.
        evidence: The type of evidence that `select` takes.
        derived: Names of the values computed from the fields, listed by `parameters`.
        score_unit: What the scores measure, or None where there are none.
        why_delta: Why delta must be above 0, or None where it may be 0.

    Attributes:
        epsilon: The epsilon of the guarantee.
        delta: The delta of the guarantee; 0, where it is no field: such a mechanism is pure.
    """

    question: ClassVar[Question] = Question.TOP_K
    evidence: ClassVar[type]
    derived: ClassVar[tuple[str, ...]] = ()
    score_unit: ClassVar[str | None] = None
    why_delta: ClassVar[str | None] = None

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(field.default, Option):
                require_option(field.name, value, type(field.default))
            elif not (value is None and str(field.type).endswith("| None")):
                object.__setattr__(self, field.name, self._checked(field.name, value))
        if not self._can_be_calibrated():  # refused now, not when data was read
            raise InputError(
                f"epsilon={self.epsilon!r}, delta={self.delta!r}: no noise can be calibrated to "
                "these; epsilon from 1e-6 to 100 with delta from 1e-20 are always within reach."
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

    def _checked(self, name: str, value: Any) -> Any:  # noqa: ANN401 - of the field's type
        """The value as a plain number, if a field of that name may have it."""
        if name == "epsilon":
            require_epsilon(value)
        elif name == "delta":
            require_delta(value, zero_because=self.why_delta)
        elif name.endswith("_share"):
            require_share(name, value)
        else:
            require_count(name, value)
            return int(value)
        return float(value)

    @property
    def adjacency(self) -> str:
        """Which tables count as neighbours."""
        return ADD_OR_REMOVE

    @property
    def assumes(self) -> tuple[str, ...]:
        """What the guarantee takes as public or promised, beside what the source says."""
        return ()

    @property
    def tells_counts(self) -> bool:
        """Whether its scores are noisy counts already, at no further cost."""
        return False

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """What one `select` spends, known before any data is seen."""

    @abstractmethod
    def select(self, evidence: Any, draws: Draws) -> Selection:  # noqa: ANN401 - see `evidence`
        """Select items; all randomness comes from `draws`."""

    @abstractmethod
    def explain(self) -> list[str]:
        """What the mechanism will do, a plain sentence each, with its noise and thresholds."""

    @classmethod
    def fields(cls) -> list[str]:
        """The names of the parameters it is built from."""
        return [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]

    def parameters(self) -> dict[str, object]:
        """All public parameters by name, the derived ones included."""
        values = {name: getattr(self, name) for name in (*self.fields(), *self.derived)}
        return {n: v.value if isinstance(v, Option) else v for n, v in values.items()}


def require_epsilon(epsilon: float) -> None:
    """Refuse an epsilon that no guarantee can have."""
    if not 0 < as_float(epsilon) < math.inf:
        raise InputError(
            f"epsilon={written(epsilon)}: must be a number above 0, and finite; 1 is usual, and "
            "less is more private."
        )


def require_delta(delta: float, *, zero_because: str | None = None) -> None:
    """Refuse a delta outside [0, 1), and 0 too where `zero_because` says why it cannot be 0."""
    if not 0 <= as_float(delta) < 1:
        raise InputError(
            f"delta={written(delta)}: must be a number from 0 to less than 1, far below one over "
            "the number of users; 1e-6 is usual."
        )
    if delta == 0 and zero_because is not None:
        raise InputError(f"delta=0: {zero_because}")


def require_count(name: str, value: int) -> None:
    """Refuse what is not a whole number of at least 1, or is more than a table can hold."""
    if not (is_whole(value) and value >= 1):
        raise InputError(f"{name}={written(value)}: must be a whole number, 1 or more.")
    if value > MOST:
        raise InputError(f"{name}={value}: must be at most {MOST}, as many as a table can hold.")


def require_share(name: str, value: float) -> None:
    """Refuse what is no proper share of a whole."""
    if not 1e-6 <= as_float(value) <= 1 - 1e-6:
        raise InputError(f"{name}={written(value)}: must be a number from 1e-6 to 1 - 1e-6.")


def require_contraction(contraction: float) -> None:
    """Refuse what cannot bound the ergodicity coefficient of a walk that forgets where it began."""
    if not 0 <= as_float(contraction) <= 1 - 1e-6:
        raise InputError(
            f"contraction={written(contraction)}: must be a number from 0 to 1 - 1e-6, chosen "
            "without looking at who won; nearer to 1 protects more outcomes."
        )


def require_option(name: str, value: object, kind: type[Option]) -> None:
    """Refuse what is not one of the alternatives of that kind."""
    if not isinstance(value, kind):
        known = ", ".join(f"{kind.__name__}.{option.name}" for option in kind)
        raise InputError(f"{name}={written(value)}: must be one of {known}.")


def require_bounded(
    evidence: Counts | PrivateCounts | WeightedHistogram, max_items_per_user: int | None
) -> None:
    """Refuse evidence in which one user can change more than the mechanism accounts for."""
    _require_tight("max_items_per_user", evidence.max_items_per_user, max_items_per_user)


def require_few_comparisons(
    evidence: Wins | Outcomes, max_comparisons_per_user: int | None
) -> None:
    """Refuse comparisons of which one user made more than the mechanism accounts for."""
    bound = evidence.max_comparisons_per_user
    _require_tight("max_comparisons_per_user", bound, max_comparisons_per_user)


def _require_tight(name: str, bound: int | None, most: int | None) -> None:
    if most is not None and (bound is None or bound > most):
        looser = "not bounded" if bound is None else f"bounded at {bound}, which is looser"
        raise InputError(f"{name}={most}: the evidence is {looser}; bound it at {most}.")


def counted(n: int, noun: str) -> str:
    """So many of them, in words.

    >>> counted(1, "item"), counted(20, "item")
    ('1 item', '20 items')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def picked_in_turn(k: int) -> str:
    """That k items are picked.

    >>> picked_in_turn(1), picked_in_turn(20)
    ('1 item is picked', '20 items are picked one after another')
    """
    return "1 item is picked" if k == 1 else f"{k} items are picked one after another"


def best_are_named(k: int, score: str, order: str = ", in their order") -> str:
    """That the k items of the best scores are named, and in which order.

    >>> best_are_named(1, "largest noisy count")
    'The item of the largest noisy count is named.'
    >>> best_are_named(20, "largest noisy count")
    'The 20 items of the largest noisy counts are named, in their order.'
    """
    if k == 1:
        return f"The item of the {score} is named."
    return f"The {k} items of the {score}s are named{order}."


def score_digits(sd: float) -> int:
    """How many decimals a score with noise of this sd deserves: a grid of about sd / 500.

    >>> score_digits(4.4), score_digits(0.05), score_digits(1234.0)
    (2, 4, -1)
    """
    return 2 - math.floor(math.log10(sd))
