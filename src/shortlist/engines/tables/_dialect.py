"""What the plans need of an engine that each kind of engine says its own way."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from shortlist.stores.faults import Fault
from shortlist.table.interrupting import interruptible

if TYPE_CHECKING:
    from shortlist.engines.tables.reading import Read
    from shortlist.engines.tables.scratch import Scratch

__all__ = ["Arrow", "Dialect", "Expression", "Key"]

Expression: TypeAlias = Any  # of Ibis: a table or a column, which nothing reads until it is fetched
Arrow: TypeAlias = Any  # a table of PyArrow
Key: TypeAlias = tuple[int, int]  # fresh random bits, 62 in each

_T = TypeVar("_T")


class Dialect(ABC):
    """How one kind of engine says what cannot be said for all alike.

    Attributes:
        name: The engine, as a guarantee names it.
        hash: The hash by which users are bounded, as a guarantee names it.
    """

    name: str
    hash: str

    @abstractmethod
    def require(self, keys: Expression) -> None:
        """Refuse keys that the engine holds for equal though they differ. No row is read.

        Raises:
            InputError: Some of these columns are of such a type.
        """

    @abstractmethod
    def key(self, column: Expression) -> Expression:
        """The column such that values are equal only where every byte is."""

    @abstractmethod
    def digits(self, column: Expression) -> Expression:
        """Binary values as text: hexadecimal digits, letters in lower case.

        Raises:
            InputError: The engine has no word for it.
        """

    @abstractmethod
    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        """A function of the key, the user and the item alone, which looks random to any two."""

    @abstractmethod
    def numbered(self, rows: Expression, name: str, by: str | None = None) -> Expression:
        """The rows with a column of numbers from 0 on, in any order, or rising with a column."""

    @abstractmethod
    def whole(self, keys: Expression, scratch: Scratch) -> Read:
        """Each user's distinct items, from one pass over the keys, which have no nulls."""

    @abstractmethod
    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        """Work out a query once, as a temporary table: whoever reads that sees the same rows.

        Args:
            name: Of the table.
            query: The query.
            by: A column whose equal values had better lie together.
        """

    @abstractmethod
    def give(self, name: str, rows: Arrow) -> None:
        """Take rows over as a temporary table, which nobody else sees."""

    @abstractmethod
    def fetch(self, query: Expression) -> Arrow:
        """All rows of a query."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Drop a temporary table, if there is one of that name."""

    def fault(self, error: Exception) -> Fault | None:  # noqa: ARG002 - for those who can tell
        """What is wrong, by the code of an error, of which nothing is quoted; None if unknown."""
        return None

    def place(self, rows: Expression, query: str) -> object:  # noqa: ARG002 - for engines that know
        """Where the rows of a query lie, such that no others lie there, as JSON values."""
        return self._unknown

    @cached_property
    def _unknown(self) -> str:
        """A place that is like no other: what lies there is not known again."""
        return secrets.token_hex(16)

    def quiet(self) -> AbstractContextManager[None]:
        """While the engine is asked: nothing that it shows of its progress is printed."""
        return nullcontext()

    def wait(self, action: Callable[[], _T]) -> _T:
        """What the action returns, something that the engine does, which Ctrl-C must stop."""
        return interruptible(action, None)

    @abstractmethod
    def cancel(self) -> None:
        """Stop what the engine is doing for us, where it still is."""
