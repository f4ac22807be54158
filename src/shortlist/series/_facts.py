"""What a series is fixed to when it is created, as its file and its ledger say it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE
from shortlist.parameters import SeriesKind
from shortlist.privacy.guarantee import Guarantee
from shortlist.release.json_values import LoadedMechanism
from shortlist.series.kinds import KINDS, KindOfSeries
from shortlist.series.terms import SeriesPromise
from shortlist.sources.pairs import Pairs

_TOGETHER = "this list and all others of its series have this guarantee together"
_ONE_ID = "a user has the same id in all runs"


@dataclass(frozen=True)
class SeriesFacts:
    """What a series is fixed to, for good.

    Attributes:
        series: A name that no other has.
        user: The column of users.
        items: The columns of items.
        kind: What each run answers.
        terms: The promise, and what follows from it.
    """

    series: str
    user: str
    items: tuple[str, ...]
    kind: SeriesKind
    terms: SeriesPromise

    @classmethod
    def new(
        cls,
        kind: object,
        periods: int,
        user: object,
        item: object,
        bound: int | None,
        epsilon: float,
        delta: float,
    ) -> SeriesFacts:
        """Of a series that is not yet created.

        Raises:
            InputError: One of them cannot be used.
        """
        if not isinstance(kind, SeriesKind):
            raise InputError("must be one of shortlist.SeriesKind", given={"kind": kind})
        items = [item] if isinstance(item, str) else item
        names = [user, *items] if isinstance(items, Sequence) else []
        if len(names) < 2 or len(set(names)) < len(names) or not all(map(_is_name, names)):
            raise InputError(
                "must be names of columns, all different", given={"user": user, "item": item}
            )
        if bound is None:
            raise InputError(
                "a bound that is picked privately would be another one in each run",
                "give one, such as 100; choose it without looking at the data",
                given={"max_items_per_user": None},
            )
        terms = KINDS[kind].terms(
            epsilon=epsilon, delta=delta, periods=periods, max_items_per_user=bound
        )
        return cls(uuid.uuid4().hex, str(user), tuple(map(str, names[1:])), kind, terms)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> SeriesFacts:
        """What `json_values` has said."""
        names = ("epsilon", "delta", "periods", "max_items_per_user")
        kind = SeriesKind(said["kind"])
        terms = KINDS[kind].terms(**{name: said[name] for name in names})
        return cls(said["series"], said["user"], tuple(said["items"]), kind, terms)

    def json_values(self) -> dict[str, Any]:
        """All that it was created with."""
        return {
            "series": self.series,
            "user": self.user,
            "items": list(self.items),
            "kind": self.kind.value,
            **self._promised(self.terms.epsilon, self.terms.delta, self.terms.periods),
        }

    def prolonged(self, added: tuple[int, ...]) -> SeriesFacts:
        """The same with so many more runs, each time that it was prolonged."""
        return replace(self, terms=self.terms.prolonged(added)) if added else self

    @property
    def of_kind(self) -> KindOfSeries:
        """What it differs by from series of the other kind."""
        return KINDS[self.kind]

    def _promised(self, epsilon: float, delta: float, periods: int) -> dict[str, Any]:
        bound = self.terms.max_items_per_user
        said = {"epsilon": epsilon, "delta": delta, "periods": periods}
        return said | {"max_items_per_user": bound}

    @property
    def guarantee(self) -> Guarantee:
        """Of all lists of all runs together."""
        epsilon, delta = self.terms.promised
        return Guarantee(
            epsilon=epsilon,
            delta=delta,
            cost=self.terms.cost,
            adjacency=ADD_OR_REMOVE,
            protects=f'all rows of any one "{self.user}"',
            assumes=(*Pairs.known, _ONE_ID, _TOGETHER),
        )

    def mechanism(self, **of_run: object) -> LoadedMechanism:
        """What releases and ledgers say of it; no plan could run it by itself."""
        promised = self._promised(*self.terms.promised, self.terms.runs)
        values = {**promised, "sigma": self.terms.sigma, **of_run}
        return LoadedMechanism(self.of_kind.mechanism, values)

    def record(self) -> dict[str, Any]:
        """What a ledger says of its charge."""
        promise, mechanism = self.guarantee, self.mechanism()
        return {
            "question": self.of_kind.question.described(),
            "mechanism": {"name": mechanism.name, "parameters": mechanism.parameters()},
            "asked": {"epsilon": promise.epsilon, "delta": promise.delta},
            "adjacency": promise.adjacency,
            "protects": promise.protects,
            "assumes": list(promise.assumes),
            "series": {**self.json_values(), "at_once": str(self.terms.at_once)},
        }


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)
