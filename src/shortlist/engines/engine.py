"""What every engine is: the way from rows, wherever they are, to evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.draws import Draws, Ints
from shortlist.errors import Words
from shortlist.evidence import Wants
from shortlist.runtime.processes import StaysHere

if TYPE_CHECKING:
    import polars as pl

    from shortlist.table.amounts import Amounts


class ShownEvidence(NamedTuple):
    """What a mechanism may look at.

    Attributes:
        evidence: Of the kind that was wanted.
        items: From positions in it to the items, one row each and in the same order.
        n_items: How many items there are, where everybody knows them; None where not.
    """

    evidence: Any
    items: Callable[[Ints], pl.DataFrame]
    n_items: int | None = None


class Engine(StaysHere, ABC):
    """Where rows live. Only `show` reads them.

    `Plan.run` calls it, and `shortlist.metrics.compare`, which is not private and says so.

    Attributes:
        can_show: The types of evidence that it can show; the first decides the default mechanism.
        items_are_public: Whether everybody knows the items.
        n_items: How many items there are, if that is known before rows are read.
        n_groups: Likewise of groups; None too where nothing is in groups.
        n_known: Of private items, how many everybody knows, held or not.
        columns: The types of the columns by their names, as far as these are known.
        origin: What is read, in messages.
        amounts: What of users' rows is summed up; None where users are counted.
        by: The first columns of what `items` gives, where they say the group of an item.
        items: The columns of what `items` gives, and their types: None for one that is known only
            with the rows. Empty where the columns are so, too.
    """

    can_show: tuple[type, ...]
    items_are_public: bool
    n_items: int | None = None
    n_groups: int | None = None
    n_known: int = 0
    columns: Mapping[str, pl.DataType] = MappingProxyType({})
    origin: Words = Words("rows")
    amounts: Amounts | None = None
    by: tuple[str, ...] = ()
    items: Mapping[str, pl.DataType | None] = MappingProxyType({})

    @property
    def unit(self) -> str | None:
        """The privacy unit by name, such as the column of users; None where counts are given.

        Then it is the caller's word who was counted.
        """
        return None

    def about(self) -> dict[str, object]:
        """What is public of the data, as JSON values, so that a budget knows it again."""
        return {}

    def identity(self) -> object:
        """What tells the rows from those of other tables, as JSON values, which may be private.

        Where rows were read and kept, of the table as it was then. A budget keeps a keyed hash.
        """
        return None

    @property
    def fetches_rows(self) -> bool:
        """Whether rows lie elsewhere, and are fetched for what goes through users one by one."""
        return False

    @property
    def counts_in_part(self) -> bool:
        """Whether of some users a part alone is shown, whatever is wanted."""
        return False

    @property
    def shows_changes(self) -> bool:
        """Whether `identity` tells rows from those that were there before; of frames it does not.

        Where it does not, a budget gives an answer again only as of a date that the caller says.
        """
        return True

    def belongs_to(self, budget: object) -> bool:
        """Whether rows are read for this budget; None if for nothing. The first plan decides it."""
        return vars(self).setdefault("_budget", budget) is budget

    def require(self, wants: Wants) -> None:
        """Refuse, before anything is read, what could not be shown as tightly bounded as wanted."""

    def check(self, wants: Wants) -> None:
        """Find out whether `show` can be answered, without reading a row.

        Whatever fails for every content of the table fails here: a table or a column that is gone,
        a right that is missing, a function that the engine lacks, a connection that is lost.
        `Plan.run` asks this just before it charges the budget.

        Args:
            wants: The evidence that `show` will be asked for.

        Raises:
            InputError: It cannot. Nothing is spent.
        """

    def assumes(self, wants: Wants) -> tuple[str, ...]:  # noqa: ARG002 - for engines elsewhere
        """What the guarantee takes for granted of how this is shown, one sentence each."""
        return ()

    @abstractmethod
    def show(self, wants: Wants, draws: Draws) -> AbstractContextManager[ShownEvidence]:
        """Read rows and show what is wanted of them, for as long as the context lasts.

        Args:
            wants: Of a kind that is offered.
            draws: What each user's random subset is drawn from, where users are bounded.

        Raises:
            InputError: The rows cannot be read, or are not what they should be.
        """
