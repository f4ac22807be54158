"""What was asked: from a command's arguments to the source, the question and the release."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli._common_options import Form
from shortlist.cli._shell import SHELL
from shortlist.cli._tables import require_input_format, require_one_table
from shortlist.errors import InputError, Words, named, reference

if TYPE_CHECKING:
    from shortlist.budget import Budget
    from shortlist.cli._settings import Settings
    from shortlist.draws.random_bits import Bits
    from shortlist.mechanisms import Mechanism
    from shortlist.plan import Plan
    from shortlist.questions import Question
    from shortlist.sources.pairs import Pairs
    from shortlist.sources.source import Source

__all__ = ["Request"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of a command."""

    question: str
    file: str | None = field(repr=False)  # a password may be in it, if it is a URL
    user: str | None
    item: list[str]
    epsilon: float
    delta: float
    max_items_per_user: int | None
    public_items: str | None
    mechanism: str | None
    option: list[str] | None
    output: Path | None
    report: Path | None
    overwrite: bool
    form: Form | None
    as_json: bool
    dry_run: bool
    seed: int | None
    budget: str | None = field(repr=False)  # a password may be in it
    reuse: bool
    who: str | None
    dataset: str | None
    not_private: bool
    count: str | None = None
    public_items_in_table: bool = False
    store: str | None = field(default=None, repr=False)  # a password may be in it
    table: str | None = None
    pull: bool = False
    show_accesses: bool = False
    k: int | None = None
    count_share: float | None = None
    by: list[str] | None = None
    max_groups_per_user: int | None = None
    public_groups: str | None = None
    separator: str | None = None
    encoding: str | None = None
    input_format: str | None = None
    users: int | None = None
    settings: Settings | None = field(default=None, repr=False)

    def asked(self) -> Question:
        """The question, as a value."""
        from shortlist.questions import Domain, HittingSet, TopK

        if self.k is None:
            return Domain(self.count_share)
        return TopK(self.k, self.count_share) if self.question == "top-k" else HittingSet(self.k)

    def kind(
        self, usable: Iterable[type[Mechanism]]
    ) -> type[Mechanism] | partial[Mechanism] | None:
        """The mechanism asked for by name, with its own options, and a bound that it alone uses."""
        from shortlist.cli._mechanism import mechanism_and_options

        kind, own = mechanism_and_options(
            self.mechanism, self.option or (), self.synonyms(), usable
        )
        own |= self._own_bound(kind)
        return partial(kind, **own) if kind is not None and own else kind

    def synonyms(self) -> dict[str, Any]:
        """Options of a mechanism that the command has an argument for."""
        return {}

    def _own_bound(self, kind: type[Mechanism] | None) -> dict[str, int]:
        """The bound on users, where no items are discovered: then it is the mechanism's own."""
        unbounded = self.question != "domain" and self.user and self.public_items
        if not unbounded or self.max_items_per_user is None:
            return {}
        top_k = self.question == "top-k"
        if not top_k or kind is None or "max_items_per_user" not in kind.fields():
            but = Words(", but for {mechanism=one-shot-laplace}" if top_k else "")
            raise InputError(
                "{max_items_per_user=}: with {public_items} no user is bounded{but}",
                "omit it",
                given={"max_items_per_user": ...},
                but=but,
            )
        return {"max_items_per_user": self.max_items_per_user}

    def require_sense(self) -> None:
        """Refuse options that do not go together."""
        require_one_table(self)
        require_input_format(self)

    def plan(self, source: Source) -> Plan:
        """What would answer, and at which price."""
        question = self.asked()
        # To list those that could be named, all would be loaded.
        usable = () if self.mechanism is None else source.mechanisms_for(question)
        kind = self.kind(usable)
        return source.plan(question, epsilon=self.epsilon, delta=self.delta, mechanism=kind)

    def saved_as(self) -> Path | None:
        """The file that the answer goes to, if it goes to one."""
        return None if self.output is None or self._only_prints() else self.output

    def _only_prints(self) -> bool:
        return str(self.output) == "-"

    def saves(self) -> bool:
        """Whether the answer goes to a file."""
        return self.saved_as() is not None and not self.dry_run

    def printed_as(self) -> Form:
        """How the answer, or the plan, is printed."""
        if self.as_json and self.form not in (None, Form.JSON):
            raise InputError(
                "{as_json} and {form=}: give one of the two",
                given={"form": Words("{form}", form=self.form)},
            )
        form = Form.JSON if self.as_json else self.form or Form.TABLE
        if self.dry_run and form not in (Form.TABLE, Form.JSON):
            raise InputError(
                "{form=}: {dry_run} prints words, or JSON",
                "omit it",
                given={"form": Words("{form}", form=form)},
            )
        return form

    def check_output(self) -> None:
        """Refuse a file that the answer cannot be saved to, before anything is spent."""
        from shortlist.release.saving import check_output, check_replaces_none

        if self.overwrite and self.saved_as() is None and self.report is None:
            raise InputError("{overwrite} goes with {output=...} or {report=...}", "omit it")
        if (output := self.saved_as()) is not None:
            if output.suffix.lower() == ".html":
                raise InputError(
                    "an answer is not saved as a page by {output}",
                    "for a page write {page}",
                    page=named("report", str(output)),
                )
            check_replaces_none(output, self.files())
            check_output(output, overwrite=self.overwrite)
        if self.report is not None:
            from shortlist.release.report import SUFFIXES, require_report

            require_report()
            check_replaces_none(self.report, self.files())
            check_output(self.report, overwrite=self.overwrite, suffixes=SUFFIXES)

    def files(self) -> list[str]:
        """The paths and globs of all that is read."""
        from shortlist.stores.urls import sqlite_path

        database = None if self.store is None else sqlite_path(self.store)
        ledger = None if self.budget is None or "://" in self.budget else self.budget
        file = None if self.in_database else self.file
        named = file, self.public_items, self.public_groups, database, ledger
        given = [name for name in named if name is not None]
        folders = [glob.escape(name) for name in given if Path(name).is_dir()]
        inside = [f"{name}/{below}" for name in folders for below in ("*", "*=*/**")]
        return [*given, *inside]

    @property
    def in_database(self) -> bool:
        """Whether the table is in a database, by whose URL it is given."""
        return self.file is not None and "://" in self.file

    def data(self) -> object:
        """What is to be opened: a path, or what is piped in."""
        from shortlist.table.scans import StandardInput

        if self.file != "-":
            return self.file
        as_parquet = Words("add {input_format=parquet}")
        return StandardInput(f".{self.input_format or 'csv'}", as_parquet)

    def bits(self) -> Bits | None:
        """Where the noise comes from, if not from the operating system."""
        from shortlist.draws.random_bits import SeededBits

        if self.seed is None:
            if self.not_private:
                raise InputError(
                    "{not_private} goes with {seed}, and without a seed the answer is private",
                    "omit it",
                )
            return None
        if not self.not_private:
            raise InputError(
                "whoever knows the seed can undo the noise, so a seeded release is not private",
                "add {not_private} if this is a test",
                given={"seed": self.seed},
            )
        if self.seed < 0:
            raise InputError("must be a whole number, 0 or more", given={"seed": self.seed})
        return SeededBits(self.seed)

    def told(self, source: Source) -> str | None:
        """What to tell whoever asked, and nobody else."""
        if not self.show_accesses:  # and nothing more is loaded that could fail
            return None
        from shortlist.sources.store import Store

        if not isinstance(source, Store):
            return None
        accesses = source.accesses
        return (
            f"Counts read: {accesses.sorted} in falling order, {accesses.random} by id. That "
            "depends on private data: keep it to yourself."
        )

    def configured(self) -> str:
        """What was not typed, and from where it comes; nothing, where all was."""
        return "" if self.settings is None else self.settings.told()

    def blamed(self, argument: str | None) -> str:
        """What of a refusal may come from the settings: the argument at fault, if that does."""
        option = reference(argument or "").told(SHELL)
        key = option.lstrip("-")
        if self.settings is not None and key in self.settings.used:
            place = self.settings.shown
            return f"{key} is from {place}: change it there, or type {option}, which comes first."
        return f"{self.configured()}. To leave these out: --no-config."

    def charged(self) -> Budget | None:
        """The budget that is charged, if there is one."""
        if self.budget is not None:
            import shortlist

            return shortlist.Budget(self.budget, dataset=self.dataset, who=self.who)
        for name, value in (("who", self.who), ("dataset", self.dataset), ("reuse", self.reuse)):
            if value:
                raise InputError(
                    "{option} goes with {budget=...}", "omit it", option=reference(name)
                )
        return None

    def source(self) -> Source:
        """What is asked, opened as far as its schema."""
        import shortlist

        budget = self.charged()

        if self.store is not None:
            return shortlist.store(
                self.store,
                table=self.table,
                item=self.item[0],
                count=self.count,
                budget=budget,
                users=self.users,
            )

        item = self.item[0] if len(self.item) == 1 else self.item
        if self.user is not None:
            rows = shortlist.pairs(
                self.data(),
                user=self.user,
                item=item,
                max_items_per_user=self.max_items_per_user,
                public_items=self.public_items,
                separator=self.separator,
                encoding=self.encoding,
                table=self.table,
                pull=self.pull,
                budget=budget,
                users=self.users,
            )
            return self._grouped(rows)
        return shortlist.counts(
            self.data(),
            item=item,
            count=str(self.count),
            max_items_per_user=self.max_items_per_user,
            public_items=shortlist.IN_TABLE if self.public_items_in_table else self.public_items,
            by=self.by,
            max_groups_per_user=self.max_groups_per_user,
            public_groups=self.public_groups,
            separator=self.separator,
            encoding=self.encoding,
            table=self.table,
            budget=budget,
            users=self.users,
        )

    def _grouped(self, rows: Pairs) -> Source:
        """The rows in groups, if these are asked for."""
        if not self.by:
            return rows
        return rows.grouped(
            self.by,
            max_groups_per_user=1 if self.max_groups_per_user is None else self.max_groups_per_user,
            public_groups=self.public_groups,
        )
