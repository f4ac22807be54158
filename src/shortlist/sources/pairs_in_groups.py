"""(user, group, item) rows: who holds what, in which group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from shortlist.engines import Engine
from shortlist.engines.known_in_groups import KnownInGroups
from shortlist.engines.rows_in_memory import RowsInGroups
from shortlist.errors import InputError, Words
from shortlist.parameters import GroupItems, ShareOfUsers
from shortlist.planning import Bounds
from shortlist.questions import Domain, HittingSet, Question, TopK, UserCounts
from shortlist.release import Release
from shortlist.runtime.processes import even_unmade
from shortlist.sources._asking import Terms, takes
from shortlist.sources._of_amounts import require_ranking
from shortlist.sources.source import GROUPS_ARE_PUBLIC, DataFacts, Source
from shortlist.table.public_items import open_public_groups

if TYPE_CHECKING:
    from shortlist.engines.rows_in_table import RowsInTable

_ANOTHER_LIST = Words("give a list that holds what everybody knows, or omit {public_groups}")


class Groups(Source):
    """Rows in groups, and the questions that can be asked of each group. Built by `Pairs.grouped`.

    Questions may be asked from several threads; the data is read by the first.
    """

    def __init__(
        self,
        rows: RowsInGroups | RowsInTable,
        public_groups: object,
        *,
        of_items: KnownInGroups,
        protects: str,
        assumes: tuple[str, ...],
        bounds: Bounds,
        facts: DataFacts,
    ) -> None:
        public = None
        if public_groups is not None:
            public = open_public_groups(
                public_groups, rows.types, table=rows.parts, otherwise=_ANOTHER_LIST
            )
        elif of_items.listed is not None:
            raise InputError(
                "with public items, the groups must be public, too",
                "give the groups that everybody knows by {public_groups}; to find them first, ask "
                "for {domain} with the column of groups as the {item}",
                given={"by": ...},
            )
        if public is not None:
            bounds = _within(bounds, public.height)
        super().__init__(
            rows.in_groups(of_items._replace(groups=public)),
            protects=protects,
            assumes=(*assumes, *(() if public is None else (GROUPS_ARE_PUBLIC,))),
            bounds=bounds,
            facts=facts,
        )
        self._pairs, self._groups_are_public = rows.as_pairs(), public is not None

    @even_unmade
    def __repr__(self) -> str:
        by = ", ".join(f'"{name}"' for name in self._engine.by)
        bounds = ", ".join(f"{name}={value}" for name, value in self.bounds.items())
        return f"<Groups: by={by}, {bounds}>"

    @takes(Terms)
    def top_k(self, k: int, **terms: Unpack[Terms]) -> Release:
        """The k items of each group that most of its users hold, with differential privacy.

        Args: as in `Pairs.top_k`.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        return self.ask(TopK(k), **terms)

    @takes(Terms)
    def domain(
        self,
        *,
        count_share: float | None = None,
        noisy_counts: bool = False,
        min_users: int | None = None,
        **terms: Unpack[Terms],
    ) -> Release:
        """The items of each group that enough of its users hold to be named.

        Args: as in `Pairs.domain`.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        question = Domain(count_share, noisy_counts, min_users)
        return self.ask(question, **terms)

    @takes(Terms)
    def hitting_set(
        self,
        k: int,
        *,
        count_share: float | None = None,
        noisy_counts: bool = False,
        **terms: Unpack[Terms],
    ) -> Release:
        """At most k items of each group that together reach the most of its users.

        Args: as in `Pairs.hitting_set`.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        return self.ask(HittingSet(k, count_share, noisy_counts), **terms)

    @takes(Terms)
    def user_counts(
        self,
        *,
        share_of_users: ShareOfUsers | None = None,
        **terms: Unpack[Terms],
    ) -> Release:
        """How many users hold each item of a list in each group, in the order of the list.

        Args: as in `Pairs.user_counts`; the list is that of the source, as by `Pairs.of_items`.

        Raises:
            InputError: An argument cannot be used; found before data is read.
        """
        return self.ask(UserCounts(share_of_users), **terms)

    def _require_each_by_itself(self) -> None:
        """Refuse what is said of all groups together, where each is answered by itself."""
        if self._engine.n_known:
            raise InputError(
                "in hitting sets by group, a known item would reveal which groups there are",
                "omit it; or give {public_items} and {public_groups}",
                given={"known_items": ...},
            )
        if self.bounds.get("group_items") not in (None, GroupItems.SHARED):
            raise InputError(
                "a hitting set of each group is picked by itself, so that this changes nothing",
                "omit it, and give {max_groups_per_user}",
                given={"group_items": ...},
            )

    def _engine_for(self, question: Question) -> Engine:
        """A domain is one of pairs: no group needs to be looked at by itself."""
        if self._engine.amounts is not None:
            require_ranking(question)
        if isinstance(question, HittingSet):
            self._require_each_by_itself()
        if not isinstance(question, Domain):
            return self._engine
        if self._groups_are_public:
            raise InputError(
                "a domain is found pair by pair, and a public group saves nothing",
                "omit it",
                given={"public_groups": ...},
            )
        if self._engine.n_known:
            raise InputError(
                "a domain is found pair by pair, and a list of items names no pair",
                "omit {by}; name the columns of groups as further columns of an {item}, and list "
                "pairs of a group and an item",
                given={"known_items": ...},
            )
        return self._pairs


def _within(bounds: Bounds, n_groups: int) -> Bounds:
    """The same where there are so few groups that nobody can be in more."""
    most = bounds.get("max_groups_per_user")
    return (
        {**bounds, "max_groups_per_user": min(most, n_groups)} if isinstance(most, int) else bounds
    )
