"""What was asked: from a command's arguments to the source, the question and the release."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.tables import require_input_format, require_one_table
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.bits import Bits
    from shortlist.mechanisms import Mechanism
    from shortlist.release import Release
    from shortlist.sources.comparisons import Comparisons
    from shortlist.sources.counts import Counts
    from shortlist.sources.offer import Offer
    from shortlist.sources.pairs import Pairs
    from shortlist.sources.store import Store

__all__ = ["Request"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of a command."""

    question: str
    file: str | None
    user: str | None
    item: list[str]
    epsilon: float
    delta: float
    max_items_per_user: int | None
    public_items: str | None
    mechanism: str | None
    output: Path | None
    as_json: bool
    dry_run: bool
    seed: int | None
    not_private: bool
    count: str | None = None
    public_items_in_table: bool = False
    store: str | None = field(default=None, repr=False)  # a password may be in it
    table: str | None = None
    show_accesses: bool = False
    k: int | None = None
    count_share: float | None = None
    separator: str | None = None
    input_format: str | None = None

    def asked(self) -> dict[str, Any]:
        """The arguments of the question that a mechanism is built from."""
        asked: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        if self.k is None:
            return asked
        if self.store is not None or self.question != "top-k":
            return {"k": self.k, **asked}
        return {"k": self.k, **asked, "count_share": self.count_share}

    def kind(self) -> type[Mechanism] | partial[Mechanism] | None:
        """The mechanism asked for by name, with a bound that it alone makes use of."""
        from shortlist.sources.kinds import mechanism_named

        kind = None if self.mechanism is None else mechanism_named(self.mechanism)
        unbounded = self.question != "domain" and self.user and self.public_items
        if not unbounded or self.max_items_per_user is None:
            return kind
        top_k = self.question == "top-k"
        if not top_k or kind is None or "max_items_per_user" not in kind.fields():
            but = ", but for --mechanism one-shot-laplace" if top_k else ""
            raise InputError(
                f"--max-items-per-user: with --public-items no user is bounded{but}; leave it out."
            )
        return partial(kind, max_items_per_user=self.max_items_per_user)  # type: ignore[call-arg]

    def plan(self) -> Mechanism:
        """The mechanism that would answer, from the arguments alone."""
        from shortlist.mechanisms import Question
        from shortlist.sources.question import build_mechanism

        require_input_format(self)
        question = Question(self.question)
        return build_mechanism(self.kind(), self._offer(), question=question, **self.asked())

    def _offer(self) -> Offer:
        """What the table has for a mechanism, by what is said of its columns."""
        from shortlist.sources.offer import Offer

        require_one_table(self)
        if self.store is not None:
            return Offer.of_store()
        public = self.public_items_in_table or self.public_items is not None
        if self.user is None:
            return Offer.of_counts(public=public, max_items_per_user=self.max_items_per_user)
        return Offer.of_pairs(public=public, max_items_per_user=self._bound())

    def _bound(self) -> int:
        """The most items of a user that count for discovery."""
        from shortlist.sources.offer import MAX_ITEMS_PER_USER

        return MAX_ITEMS_PER_USER if self.max_items_per_user is None else self.max_items_per_user

    def saves(self) -> bool:
        """Whether the answer goes to a file."""
        return self.output is not None and not self.dry_run

    def files(self) -> list[str]:
        """The paths and globs of all that is read."""
        from shortlist.stores.urls import sqlite_path

        database = None if self.store is None else sqlite_path(self.store)
        given = [name for name in (self.file, self.public_items, database) if name is not None]
        inside = [f"{glob.escape(name)}/*" for name in given if Path(name).is_dir()]
        return [*given, *inside]

    def data(self) -> object:
        """What is to be opened: a path, or what is piped in."""
        from shortlist.table.scans import StandardInput

        return StandardInput(f".{self.input_format or 'csv'}") if self.file == "-" else self.file

    def bits(self) -> Bits | None:
        """Where the noise comes from, if not from the operating system."""
        from shortlist.bits import SeededBits

        if self.seed is None:
            if self.not_private:
                raise InputError(
                    "--not-private goes with --seed, and without a seed the answer is private; "
                    "leave it away."
                )
            return None
        if not self.not_private:
            raise InputError(
                f"--seed {self.seed}: whoever knows the seed can undo the noise, so a seeded "
                "release is not private; add --not-private if this is a test."
            )
        if self.seed < 0:
            raise InputError(f"--seed {self.seed}: must be a whole number, 0 or more.")
        return SeededBits(self.seed)

    def release(self, source: Pairs | Counts | Store | Comparisons, bits: Bits | None) -> Release:
        """The answer."""
        from shortlist.mechanisms import Question

        ask = getattr(source, Question(self.question).method)
        release: Release = ask(**self.asked(), mechanism=self.kind(), random=bits)
        return release

    def told(self, source: Pairs | Counts | Store | Comparisons) -> str | None:
        """What to tell whoever asked, and nobody else."""
        from shortlist.sources.store import Store

        if not (self.show_accesses and isinstance(source, Store)):
            return None
        accesses = source.accesses
        return (
            f"Counts read: {accesses.sorted} in falling order, {accesses.random} by id. That "
            "depends on private data: keep it to yourself."
        )

    def source(self) -> Pairs | Counts | Store | Comparisons:
        """What is asked, opened as far as its schema."""
        import shortlist

        if self.store is not None:
            return shortlist.store(
                self.store, table=self.table, item=self.item[0], count=self.count
            )

        item = self.item[0] if len(self.item) == 1 else self.item
        if self.user is not None:
            return shortlist.pairs(
                self.data(),
                user=self.user,
                item=item,
                max_items_per_user=self._bound(),
                public_items=self.public_items,
                separator=self.separator,
            )
        return shortlist.counts(
            self.data(),
            item=item,
            count=str(self.count),
            max_items_per_user=self.max_items_per_user,
            public_items=shortlist.IN_TABLE if self.public_items_in_table else self.public_items,
            separator=self.separator,
        )
