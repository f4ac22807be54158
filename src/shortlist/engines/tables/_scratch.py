"""Temporary tables of one question: made in the engine, and dropped at the end."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.engines.tables._expressions import Arrow, Expression
from shortlist.errors import InputError, Words
from shortlist.runtime.phases import measured, phase
from shortlist.table.part import attempt

if TYPE_CHECKING:
    from types import TracebackType

    from shortlist.engines.tables._dialect import Dialect

_T = TypeVar("_T")
_TRIES_TO_DROP = 3


class Scratch:
    """The temporary tables of one question, by names that nobody else has.

    They are dropped when the context ends, however it does; where that is an error or Ctrl-C, the
    engine is told to stop first.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._names: list[str] = []
        self._quiet = ExitStack()
        self._prefix = f"shortlist_{secrets.token_hex(8)}"
        self._numbers = count()

    def __enter__(self) -> Self:
        self._quiet.enter_context(self.dialect.quiet())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is not None:
            with suppress(Exception):  # the error that is on its way says more
                self.dialect.cancel()
        # What was just stopped may refuse the first drop. A connection that is lost has taken its
        # tables with it, and refuses all.
        for _attempt in range(_TRIES_TO_DROP):
            self._names = [name for name in reversed(self._names) if not self._dropped(name)]
        self._quiet.close()

    def _dropped(self, name: str) -> bool:
        try:
            self.dialect.drop(name)
        except Exception:  # noqa: BLE001 - whatever a library says
            return False
        return True

    def keep(self, query: Expression, by: str | None = None) -> Expression:
        """The rows of a query, worked out once; those of one value of a column lie together."""
        return self.made(query.schema(), lambda name: self.dialect.keep(name, query, by))

    def fix(self, query: Expression) -> Expression:
        """The rows of a query as they are now, however often they are looked at."""
        return self.made(query.schema(), lambda name: self.dialect.fix(name, query))

    def made(self, schema: Any, make: Callable[[str], None]) -> Expression:
        """A temporary table of these columns, which something makes under a name."""
        import ibis

        name = self._new_name()
        self.asked(lambda: make(name))
        return ibis.table(schema, name=name)

    def give(self, columns: Mapping[str, NDArray[Any]]) -> Expression:
        """A temporary table of these columns."""
        return self.give_rows(_rows(columns))

    def give_each(self, key: str, columns: Mapping[str, NDArray[Any]]) -> Expression:
        """A temporary table of a row for each whole number from 0 on, to be looked up by it."""
        return self.give(_numbered(key, columns))

    def state_each(self, key: str, columns: Mapping[str, NDArray[Any]]) -> Expression:
        """As `give_each`, of public numbers: they may stand in statements, which engines log."""
        return self._made_by(self.dialect.state, _rows(_numbered(key, columns)))

    def give_rows(self, rows: Arrow) -> Expression:
        """A temporary table of these rows."""
        return self._made_by(self.dialect.give, rows)

    def _made_by(self, give: Callable[[str, Arrow], None], rows: Arrow) -> Expression:
        import ibis

        schema = ibis.Schema.from_pyarrow(rows.schema)
        return self.made(schema, lambda name: give(name, rows))

    def forget(self, table: Expression) -> None:
        """Drop a table that is not needed any more."""
        name = table.get_name()
        self.asked(lambda: self.dialect.drop(name))
        self._names.remove(name)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Drops, at its end, the tables that are made meanwhile; where it fails, the whole does."""
        before = len(self._names)
        yield
        for name in reversed(self._names[before:]):
            self.asked(partial(self.dialect.drop, name))
            self._names.remove(name)

    def summing(self) -> AbstractContextManager[None]:
        """While sums over all users are fetched, which may take the engine long."""
        if self.dialect.is_in_process:  # which would tell that rows were not fetched
            return nullcontext()
        return phase("sums by item in {engine}", engine=self.dialect.name)

    def fetch(self, query: Expression) -> dict[str, Ints]:
        """All rows of a query of whole numbers, column by column."""
        rows = self.fetch_rows(query)
        return {
            # In some engines the sum over no rows is nothing, and no 0.
            name: rows.column(name).fill_null(0).to_numpy().astype(np.int64, copy=False)
            for name in rows.column_names
        }

    def fetch_rows(self, query: Expression) -> Arrow:
        return self.asked(lambda: self.dialect.fetch(query))

    def _new_name(self) -> str:
        """Known before there is a table that could be left behind."""
        name = f"{self._prefix}_{next(self._numbers)}"
        self._names.append(name)
        return name

    def asked(self, action: Callable[[], _T]) -> _T:
        """What the engine answers, whose errors may quote rows, and no refusal does; or Ctrl-C."""
        engine = Words("{name}", name=self.dialect.name)
        refusal = InputError(
            "{engine} failed at a query",
            "check that it runs, that the table may be read, and that there is room for temporary "
            "tables. What it says may quote rows, and is not shown",
            engine=engine,
        )

        def told() -> _T:
            try:
                with measured(self.dialect.share_done):
                    return self.dialect.wait(action)
            except Exception as error:
                fault = self.dialect.fault(error)
                if fault is None:
                    raise
            raise fault.of(engine)

        return attempt(told, refusal)


def _numbered(key: str, columns: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    """Columns with one more, of the whole numbers from 0 on."""
    n = len(next(iter(columns.values())))
    return {key: np.arange(n, dtype=np.int32), **columns}


def _rows(columns: Mapping[str, NDArray[Any]]) -> Arrow:
    import pyarrow as pa

    return pa.table({name: pa.array(held) for name, held in columns.items()})
