"""What a ranking was asked of: comparisons, and what is public about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shortlist.cli.request import Request
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.questions import Question
    from shortlist.sources.comparisons import Comparisons

__all__ = ["RankRequest"]


@dataclass(frozen=True, kw_only=True)
class RankRequest(Request):
    """The arguments of `shortlist rank`."""

    item: list[str] = field(default_factory=list)  # two columns hold them
    max_items_per_user: int | None = None
    winner: str
    loser: str
    max_comparisons_per_user: int | None
    contraction: float | None
    degree: int | None

    def asked(self) -> Question:
        """The question, as a value."""
        from shortlist.questions import Rank

        return Rank(self.k)  # type: ignore[arg-type]  # the command requires it

    def synonyms(self) -> dict[str, Any]:
        """Options of a mechanism that the command has an argument for."""
        return {"contraction": self.contraction, "degree": self.degree}

    def require_sense(self) -> None:
        """Refuse options that do not go together."""
        from shortlist.sources.comparisons import require_bound

        require_bound(self.user, self.max_comparisons_per_user)
        self._require_public()

    def _require_public(self) -> None:
        if self.public_items is not None and self.public_items_in_table:
            raise InputError(
                "{public_items} and {public_items_in_table}: what everybody knows is in a file of "
                "its own or in the table",
                "give one of the two",
            )
        if self.public_items is None and not self.public_items_in_table:
            raise InputError(
                "one of {public_items} and {public_items_in_table} is needed",
                "give a file with the items that everybody knows, or say that those of the table "
                "are "
                "known",
            )

    def source(self) -> Comparisons:
        """What is asked, opened as far as its schema."""
        import shortlist

        return shortlist.comparisons(
            self.data(),
            winner=self.winner,
            loser=self.loser,
            public_items=shortlist.IN_TABLE if self.public_items_in_table else self.public_items,
            user=self.user,
            max_comparisons_per_user=self.max_comparisons_per_user,
            separator=self.separator,
            encoding=self.encoding,
            budget=self.charged(),
        )
