"""What can be asked of a source: one value for each question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from shortlist.errors import InputError
from shortlist.parameters import (
    FalseDiscoveryRate,
    Share,
    ShareOfUsers,
    Side,
    Whole,
    checked,
)

__all__ = [
    "COUNT_SHARE",
    "FLOOR_SHARE",
    "OF_SERIES",
    "OTHERS_SHARE",
    "REACH_SHARE",
    "BottomScores",
    "Discoveries",
    "Domain",
    "HittingSet",
    "KItems",
    "ListOfPeriod",
    "ListSoFar",
    "Question",
    "Rank",
    "TopK",
    "TopScores",
    "UserCounts",
    "WithCounts",
    "WithFloor",
    "WithOthers",
]

# Measured on eight tables: with less, counts have much more noise, and with more, much more is
# missing from the list. The product of the two is least between 0.1 and 0.2.
COUNT_SHARE = 0.15
"""The share of the budget for noisy counts that are asked for without a share."""
# Measured on eight tables: with 0.15, noise leaves out more of the items of enough users than the
# rest of the budget finds, and from 0.6 on too few are found.
FLOOR_SHARE = 0.4
"""Likewise for a floor on numbers of users, by which less noise names more items."""
REACH_SHARE = 0.1
"""Likewise of a hitting set, of which one user changes one number alone. Hardly more is missed."""
OTHERS_SHARE = 0.05
"""Likewise for what is said of the users and the pairs that are not in a list."""


class Question:
    """A frozen dataclass of what is asked, without data and without a budget.

    A new kind of question is a subclass, and mechanisms that say they answer it.

    Class attributes:
        name: What it is called as a command, such as "top-k".
        keeps_order: Whether items stand in the order of the list that everybody knows.
        selects_as: The question whose mechanisms select its items; None for its own.
    """

    name: ClassVar[str]
    keeps_order: ClassVar[bool] = False
    selects_as: ClassVar[type[Question] | None] = None

    @property
    def leaves_out(self) -> bool:
        """Whether of the items selected some may be left out again."""
        return False

    @property
    def in_order(self) -> bool:
        """Whether the order of the items may be a part of the answer."""
        return True

    @property
    def most_items(self) -> int | None:
        """How many items are asked for, or None where no number is named."""
        return None

    @classmethod
    def method(cls) -> str:
        """What it is called as a method of a source."""
        return cls.name.replace("-", "_")

    def parameters(self) -> dict[str, Any]:
        """What it gives to the fields of a mechanism that have these names."""
        return {} if self.most_items is None else {"k": self.most_items}

    def described(self) -> dict[str, Any]:
        """Its name and what it asks, as plans and ledgers hold it."""
        return {"name": self.name, **vars(self)}

    def require(self, *, items_are_public: bool) -> None:
        """Refuse a question that makes no sense of such items."""

    def asked_of(self, users: int | None, *, by: tuple[str, ...]) -> Self:  # noqa: ARG002 - for questions of shares
        """The same, asked of a source.

        Args:
            users: How many users there are, as the source states it; None where it does not.
            by: The columns of groups; none where items are in no groups.
        """
        return self


@dataclass(frozen=True)
class KItems(Question):
    """A question for k items.

    Attributes:
        k: How many items, at least 1.

    Raises:
        InputError: An attribute is out of range.
    """

    k: Whole

    def __post_init__(self) -> None:
        checked(self)

    @property
    def most_items(self) -> int:
        return self.k


@dataclass(frozen=True)
class WithCounts(Question):
    """A question that may ask for noisy numbers of users beside the items.

    Attributes:
        count_share: A share of the budget, between 0 and 1, for these; None for the usual one.
        noisy_counts: Whether to have them.

    Class attributes:
        usual_share: The share where none is given.
    """

    count_share: Share | None = None
    noisy_counts: bool = False

    usual_share: ClassVar[float] = COUNT_SHARE

    def __post_init__(self) -> None:
        checked(self)
        if not isinstance(self.noisy_counts, bool):
            raise InputError("must be True or False", given={"noisy_counts": self.noisy_counts})

    @property
    def share_of_counts(self) -> float | None:
        """The share of the budget for counts; None where none are asked for."""
        asked = self.noisy_counts and self.count_share is None
        return self.usual_share if asked else self.count_share


@dataclass(frozen=True)
class WithFloor(WithCounts):
    """A question that may leave out items of few users, by their noisy counts.

    Attributes:
        min_users: Fewer users have an item named in at most 1 of 100 cases; None for no such floor.
    """

    min_users: Whole | None = None

    @property
    def share_of_counts(self) -> float | None:
        """As of `WithCounts`; a floor asks for counts, of less noise than others have."""
        floored = self.leaves_out and self.count_share is None
        return FLOOR_SHARE if floored else super().share_of_counts

    @property
    def leaves_out(self) -> bool:
        return self.min_users is not None

    def described(self) -> dict[str, Any]:
        # Without a floor it is the question that it was before there were any: what a budget has
        # kept is found by it.
        told = super().described()
        return told if self.leaves_out else {n: v for n, v in told.items() if n != "min_users"}


@dataclass(frozen=True)
class WithOthers(WithFloor):
    """A question for a list that may ask what is not in it.

    Attributes:
        others: Whether to have noisy numbers of the users who hold none of the named items, and of
            the pairs of a user and an item that the list covers, for 0.05 of the budget.
    """

    others: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.others, bool):
            raise InputError("must be True or False", given={"others": self.others})

    def described(self) -> dict[str, Any]:
        told = super().described()  # without others as before there were any, as above
        return told if self.others else {n: v for n, v in told.items() if n != "others"}


@dataclass(frozen=True)
class TopK(WithOthers, KItems):
    """The k items held by most users, best first.

    Attributes:
        k: How many items, at least 1.
        count_share: A share of the budget, between 0 and 1, for a noisy count of each selected
            item; None for that of `noisy_counts`.
        noisy_counts: Whether to have such counts, by default for 0.15 of the budget, or for nothing
            where the mechanism has them anyway.
        min_users: Only items that at least about so many users hold, by such counts: one that
            fewer hold is named in at most 1 of 100 cases. By default it takes 0.4 of the budget.
            None for no such floor.
        others: Whether to have noisy numbers of the users who hold none of the named items, and of
            the pairs of a user and an item that the list covers, for 0.05 of the budget.
        ordered: Whether to have them best first. A list of public items without order is a set,
            which is more often right as a whole.

    Raises:
        InputError: An attribute is out of range.

    >>> TopK(20).share_of_counts, TopK(20, noisy_counts=True).share_of_counts
    (None, 0.15)
    """

    ordered: bool = True

    name: ClassVar[str] = "top-k"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.ordered, bool):
            raise InputError("must be True or False", given={"ordered": self.ordered})

    @property
    def in_order(self) -> bool:
        return self.ordered

    def described(self) -> dict[str, Any]:
        told = super().described()  # in order as before there was any other, as above
        return {n: v for n, v in told.items() if n != "ordered" or not v}

    def require(self, *, items_are_public: bool) -> None:
        """Refuse to forget an order that a list of private items has at no cost."""
        if not self.ordered and not items_are_public:
            raise InputError(
                "a list without order names no more of the private items, and costs as much",
                "omit it, or give {public_items}",
                given={"ordered": False},
            )


@dataclass(frozen=True)
class ListSoFar(Question):
    """All items that a series has named up to a run; it is asked of a `shortlist.Series` alone."""

    name: ClassVar[str] = "series"


@dataclass(frozen=True)
class ListOfPeriod(Question):
    """The items of one period of a series; it is asked of a `shortlist.Series` alone."""

    name: ClassVar[str] = "period"


OF_SERIES = frozenset((ListSoFar.name, ListOfPeriod.name))
"""The names of what is asked of a series."""


@dataclass(frozen=True)
class Domain(WithOthers):
    """All items held by enough users to be named; also set union, partition selection, key set.

    Attributes:
        count_share: A share of the budget, between 0 and 1, for a noisy count of each named item;
            None for that of `noisy_counts`. A user who holds many of the named items adds less than
            1 to each count.
        noisy_counts: Whether to have such counts, by default for 0.15 of the budget.
        min_users: As of `TopK`.
        others: As of `TopK`.

    Raises:
        InputError: An attribute is out of range.

    >>> Domain(noisy_counts=True).share_of_counts, Domain(min_users=100).share_of_counts
    (0.15, 0.4)
    """

    name: ClassVar[str] = "domain"

    def require(self, *, items_are_public: bool) -> None:
        """Refuse to discover what everybody knows."""
        if items_are_public:
            raise InputError(
                "everybody knows these items, so there is no domain to discover",
                "ask for {top_k} or {hitting_set}, or omit {public_items}",
                given={"public_items": ...},
            )


@dataclass(frozen=True)
class HittingSet(WithCounts, KItems):
    """At most k items that together reach as many users as possible, in the order picked.

    Attributes:
        k: How many items, at least 1.
        count_share: A share of the budget, between 0 and 1, for a noisy number of the users whom
            each item reaches first; None for that of `noisy_counts`.
        noisy_counts: Whether to have such numbers, by default for 0.1 of the budget.

    Raises:
        InputError: An attribute is out of range.
    """

    name: ClassVar[str] = "hitting-set"
    usual_share: ClassVar[float] = REACH_SHARE


@dataclass(frozen=True)
class Rank(KItems):
    """The k items that do best when compared in pairs, best first.

    Attributes:
        k: How many items, at least 1.
    """

    name: ClassVar[str] = "rank"


@dataclass(frozen=True)
class TopScores(KItems):
    """The k items with the largest scores, best first.

    Attributes:
        k: How many items, at least 1.
        score_share: A share of the budget, between 0 and 1, for a noisy score of each selected
            item; None for that of `noisy_scores`.
        noisy_scores: Whether to have such scores, by default for 0.15 of the budget.

    Raises:
        InputError: An attribute is out of range.

    >>> TopScores(20).share_of_scores, TopScores(20, noisy_scores=True).share_of_scores
    (None, 0.15)
    """

    score_share: Share | None = None
    noisy_scores: bool = False

    name: ClassVar[str] = "top-scores"
    selects_as: ClassVar[type[Question] | None] = TopK

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.noisy_scores, bool):
            raise InputError("must be True or False", given={"noisy_scores": self.noisy_scores})

    @property
    def share_of_scores(self) -> float | None:
        """The share of the budget for scores; None where none are asked for."""
        asked = self.noisy_scores and self.score_share is None
        return COUNT_SHARE if asked else self.score_share


@dataclass(frozen=True)
class BottomScores(TopScores):
    """The k items with the smallest scores, the smallest first.

    Attributes:
        k: As of `TopScores`.
        score_share: As of `TopScores`.
        noisy_scores: As of `TopScores`.

    Raises:
        InputError: An attribute is out of range.
    """

    name: ClassVar[str] = "bottom-scores"


@dataclass(frozen=True)
class Discoveries(KItems):
    """Which items go with a label, and at most which share of those named is named by chance.

    Attributes:
        k: How many items are looked at: about as many as you hope to name, or up to twice that.
            More noise for more of them.
        fdr: The false discovery rate: the share of items named that have nothing to do with the
            label, on average over repetitions, is at most this; from 0.002 to 0.499.
        side: Whether items are looked for that are more common among cases, among controls, or
            either.

    Raises:
        InputError: An attribute is out of range.

    >>> Discoveries(100).fdr
    0.1
    """

    fdr: FalseDiscoveryRate = 0.1
    side: Side = Side.CASES

    name: ClassVar[str] = "discoveries"

    @property
    def leaves_out(self) -> bool:
        return True

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "fdr": self.fdr, "side": self.side}

    def described(self) -> dict[str, Any]:
        return {**super().described(), "side": self.side.value}


@dataclass(frozen=True)
class UserCounts(Question):
    """How many users hold each item of a list that everybody knows, in the order of the list.

    Every item is listed, also one that nobody holds.

    Attributes:
        share_of_users: Of which number of users each count is also a share; None for no shares.
        users: That number, if it is stated. The source fills it in.

    Raises:
        InputError: An attribute is out of range.

    >>> UserCounts().share_of_users is None
    True
    """

    share_of_users: ShareOfUsers | None = None
    users: Whole | None = None

    name: ClassVar[str] = "user-counts"
    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked(self)

    def asked_of(self, users: int | None, *, by: tuple[str, ...]) -> Self:
        if self.share_of_users is not ShareOfUsers.STATED:
            return self
        if by:
            raise InputError(
                "the number of users in each group is stated nowhere",
                "take {sl.ShareOfUsers.COUNTED}, which counts them",
                given={"share_of_users": ...},
            )
        if users is None:
            raise InputError(
                "the number of users must be stated to the source",
                "give it by {users}, if everybody may know it; or take {sl.ShareOfUsers.COUNTED}",
                given={"share_of_users": ...},
            )
        return replace(self, users=users)

    def parameters(self) -> dict[str, Any]:
        return {"share_of_users": self.share_of_users, "users": self.users}

    def described(self) -> dict[str, Any]:
        # Without a share as before there were any, as above.
        told = {name: value for name, value in super().described().items() if value is not None}
        share = self.share_of_users
        return told if share is None else {**told, "share_of_users": share.value}

    def require(self, *, items_are_public: bool) -> None:
        """Refuse items of which only the table knows."""
        if not items_are_public:
            raise InputError(
                "{user_counts}: which items are counted must be known to everybody",
                "give the list by {public_items}, or as the argument of {user_counts}; or, to find "
                "the items first, ask for {domain} or {top_k} with {noisy_counts}",
            )
