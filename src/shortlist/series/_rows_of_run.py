"""The rows of one run: refused, before any is read, where they cannot be those of the series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shortlist.draws import Draws
from shortlist.engines import Engine
from shortlist.errors import InputError, in_quotes
from shortlist.evidence import KeyedPairs, Wants
from shortlist.planning import Usual
from shortlist.release import About
from shortlist.runtime.phases import phase
from shortlist.series._facts import SeriesFacts
from shortlist.sources.pairs import Pairs, RowsOfRun

if TYPE_CHECKING:
    import polars as pl

_WANTS = Wants(KeyedPairs)


@dataclass(frozen=True)
class CheckedRows:
    """Rows that could be those of a run.

    Attributes:
        engine: What has them.
        about: What the list is of, and as of when.
    """

    engine: Engine
    about: About

    @property
    def columns(self) -> dict[str, str]:
        """The types of the columns, by their names: that of users first."""
        return {name: str(dtype) for name, dtype in self.engine.columns.items()}

    def require_same(self, columns: Mapping[str, str]) -> None:
        """Refuse other types than those of the run before: each user would be a new one."""
        for name, dtype in columns.items():
            if self.columns[name] != dtype:
                raise InputError(
                    "the column {column} was of type {before}, and is now of type {now}, so that "
                    "each value would be another one",
                    "cast it to the type that it had",
                    column=in_quotes(name),
                    before=dtype,
                    now=self.columns[name],
                )

    def check(self) -> None:
        """Find out whether they could be read now."""
        with phase("Checking {origin}", origin=self.engine.origin):
            self.engine.check(_WANTS)

    @contextmanager
    def rows(self, draws: Draws) -> Iterator[pl.DataFrame]:
        """Read who holds what."""
        with ExitStack() as opened:
            with phase("Reading {origin}", origin=self.engine.origin):
                shown = opened.enter_context(self.engine.show(_WANTS, draws))
            yield shown.evidence.rows


def checked_rows(rows: object, as_of: object, facts: SeriesFacts, dataset: str) -> CheckedRows:
    """The rows that are asked about, as of when.

    Raises:
        InputError: They are of another unit, of other columns, or where it cannot be read who holds
            what; or their source says what a series does not take.
    """
    if not isinstance(rows, Pairs):
        raise InputError("a run is of rows of users and items", "give those of {sl.pairs}")
    asked = rows.for_series()
    _require_columns(asked.engine, facts)
    _require_plain(asked, facts)
    return CheckedRows(asked.engine, _about(asked.about.within(dataset), as_of))


def _require_columns(engine: Engine, facts: SeriesFacts) -> None:
    names = facts.user, *facts.items
    if tuple(engine.columns) != names:
        raise InputError(
            "the series is of the columns {mine}, and these rows are of {theirs}",
            "name the columns as the series does; of other columns, create another series",
            mine=_listed(names),
            theirs=_listed(tuple(engine.columns)),
        )


def _listed(names: tuple[str, ...]) -> str:
    user, *items = names
    return f'"{user}" (users) and "{", ".join(items)}" (items)'


def _require_plain(asked: RowsOfRun, facts: SeriesFacts) -> None:
    """Refuse a source that says more than where the rows are."""
    engine, bound = asked.engine, asked.bounds.get("max_items_per_user")
    if engine.items_are_public:
        raise InputError(
            "with public items nothing need be discovered, and a series has no use for them",
            "omit {public_items}, or ask {top_k} in each period, with a share of a budget",
            given={"public_items": ...},
        )
    if engine.n_known:
        raise InputError(
            "a series knows by itself what it has named", "omit it", given={"known_items": ...}
        )
    if KeyedPairs not in engine.can_show:
        raise InputError(
            "a series must know which user holds what, and this engine shows sums alone",
            "add {pull=True}, by which the rows are read here; or write them to a file",
        )
    if asked.budget is not None:
        raise InputError(
            "a series was paid for when it was created",
            "give a source without a budget",
            given={"budget": ...},
        )
    if not isinstance(bound, Usual | None) and bound != facts.terms.max_items_per_user:
        raise InputError(
            "this series was created with {mine}, which cannot be changed",
            "omit it here; for another bound, create another series",
            given={"max_items_per_user": bound},
            mine=str(facts.terms.max_items_per_user),
        )


def _about(said: About, as_of: Any) -> About:
    """What the list is of, as of when."""
    day = About.of_data(None, as_of).as_of
    if day is None or said.as_of not in (None, day):
        raise InputError(
            "a run is known by as of when its rows are",
            "give it, and not to the source, or the same to both",
            given={"as_of": as_of},
        )
    return replace(said, as_of=day)
