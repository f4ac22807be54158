"""What was asked: from a command's arguments to the source, the question and the release."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import shortlist
from shortlist.cli._options import OPTIONS, Commands
from shortlist.cli._question_commands import QUESTIONS, RUN_OF_SERIES, TableQuestion
from shortlist.cli._settings_file import Settings, is_given
from shortlist.cli._shell import SHELL
from shortlist.cli._values import Form
from shortlist.errors import InputError, Words, named, reference

if TYPE_CHECKING:
    from shortlist.draws.random_bits import Bits
    from shortlist.mechanisms import Mechanism
    from shortlist.plan import Plan, Reuse
    from shortlist.release import Release
    from shortlist.sources.source import Source


@dataclass(frozen=True)
class Request:
    """The arguments of a question's command.

    Attributes:
        of: The question.
        given: The values of all options, by their names in Python; those that the command does not
            take are None. A password may be in them.
        settings: What was not typed; None if there is no file.
    """

    of: TableQuestion
    given: SimpleNamespace = field(repr=False)
    settings: Settings | None = field(default=None, repr=False)

    @classmethod
    def made(
        cls, command: Commands, values: dict[str, Any], settings: Settings | None = None
    ) -> Request:
        """Ask this of these values."""
        unset = {option.name: False if option.is_flag else None for option in OPTIONS}
        given = unset | values
        if settings is not None:
            given, settings = settings.beside(given)
        return cls(QUESTIONS[command], SimpleNamespace(**given), settings)

    def kind(
        self, usable: Iterable[type[Mechanism]]
    ) -> type[Mechanism] | partial[Mechanism] | None:
        """The mechanism asked for by name, with its own options, and a bound that it alone uses."""
        from shortlist.cli._mechanism_options import mechanism_and_options

        given = self.given
        synonyms = {"contraction": given.contraction, "degree": given.degree}
        kind, own = mechanism_and_options(given.mechanism, given.option or (), synonyms, usable)
        own |= self._own_bound(kind)
        return partial(kind, **own) if kind is not None and own else kind

    def _own_bound(self, kind: type[Mechanism] | None) -> dict[str, int]:
        """The bound on users, where no items are discovered: then it is the mechanism's own."""
        of, given = self.of.command, self.given
        unbounded = of is not Commands.DOMAIN and given.user and given.public_items
        if not unbounded or given.max_items_per_user is None:
            return {}
        top_k = of is Commands.TOP_K
        if not top_k or kind is None or "max_items_per_user" not in kind.fields():
            but = Words(", but for {mechanism=one-shot-laplace}" if top_k else "")
            raise InputError(
                "{max_items_per_user=}: with {public_items} no user is bounded{but}",
                "omit it",
                given={"max_items_per_user": ...},
                but=but,
            )
        return {"max_items_per_user": given.max_items_per_user}

    def require_sense(self) -> None:
        """Refuse options that do not go together, and the lack of those that must."""
        self._require_fitting()
        self.of.require(self.given)
        if self.given.input_format is not None and self.given.file != "-":
            raise InputError(
                "{input_format=} goes with - for {data}",
                "the suffix of a file tells its format",
                given={"input_format": ...},
            )

    def require_price(self) -> None:
        """Refuse a question that says nowhere how much it may spend."""
        from shortlist.parameters import require_delta_of_domain

        if self.given.epsilon is self.given.share is None:
            raise InputError(
                "one of {epsilon} and {share} is needed",
                "add {epsilon=1}; or, with {budget}, {share=1/52}",
            )
        if self.of.command is Commands.DOMAIN and self.given.share is None:
            require_delta_of_domain("delta", self.given.delta or 0.0)

    def _require_fitting(self) -> None:
        """Refuse what goes with an option that is not given, or not with one that is."""
        given = {option.name for option in OPTIONS if is_given(getattr(self.given, option.name))}
        for option in OPTIONS:
            if option.name not in given or not option.help_of(self.of.command):
                continue
            for other, why in option.not_with.items():
                if other in given:
                    raise InputError(
                        "{option} does not go with {other}: {why}",
                        "{otherwise}{origin}",
                        option=option.in_shell,
                        other=reference(other),
                        why=why,
                        otherwise=option.otherwise,
                        origin=self._origin(option.name, other),
                    )
            if option.goes_with and option.goes_with not in given:
                raise InputError(
                    "{option} goes with {other}",
                    "give both, or omit it{origin}",
                    option=option.in_shell,
                    other=reference(option.goes_with),
                    origin=self._origin(option.name),
                )

    def _origin(self, *names: str) -> str:
        """Which of these arguments were not typed, and where they are set."""
        if self.settings is None:
            return ""
        keys = [option.key for option in self.settings.used if option.name in names]
        return f" (set in {self.settings.shown}: {', '.join(keys)})" if keys else ""

    def plan(self, source: Source) -> Plan:
        """What would answer, and at which price."""
        given, question = self.given, self.of.asked(self.given)
        # To list those that could be named, all would be loaded.
        usable = () if given.mechanism is None else source.mechanisms_for(question)
        kind = self.kind(usable)
        return source.plan(
            question,
            epsilon=given.epsilon,
            delta=given.delta or 0.0,
            share=given.share,
            mechanism=kind,
            title=given.title,
            note=given.note,
        )

    def saved_as(self) -> Path | None:
        """The file that the answer goes to, if it goes to one."""
        return None if self.given.output in (None, "-") else self._named("output")

    def report(self) -> Path | None:
        """The file that the page for people goes to, if there is to be one."""
        return None if self.given.report is None else self._named("report")

    def _named(self, option: str) -> Path:
        """A file by its name, in which words in braces stand for what was given."""
        from shortlist.release.saving import named_after

        path = getattr(self.given, option)
        texts = {name: getattr(self.given, name) for name in ("dataset", "as_of", "title")}
        if "{dataset}" in path:
            texts["dataset"] = self._dataset
        return Path(named_after(path, texts))

    @cached_property
    def _dataset(self) -> str | None:
        """What the data set is called: as was said, or as the budget has it."""
        given = self.given
        if given.dataset is not None or given.budget is None:
            return cast("str | None", given.dataset)
        return shortlist.Budget(given.budget).dataset

    def since(self, plan: Plan) -> Release | None:
        """The earlier answer that the page compares with, which is to the same question.

        Raises:
            InputError: It cannot be read, or is of something else.
        """
        if self.given.since is None:
            return None
        from shortlist.release.differences import require_comparable, terms_of

        before = shortlist.load(self.given.since)
        terms = terms_of(
            question=plan.question.name,
            ordered=plan.question.in_order,
            k=plan.question.most_items,
            by=plan.engine.by,
            dataset=plan.about.dataset,
            where=plan.about.where,
            amount=plan.about.amount,
            guarantee=plan.guarantee,
            items=plan.engine.items,
        )
        require_comparable(before, terms)
        return before

    def saves(self) -> bool:
        """Whether the answer goes to a file."""
        return self.saved_as() is not None and not self.given.dry_run

    def printed_as(self) -> Form:
        """How the answer, or the plan, is printed."""
        given = self.given
        form = one_form(given.form, as_json=given.as_json)
        if given.dry_run and form not in (Form.TABLE, Form.JSON):
            raise InputError(
                "{form=}: {dry_run} prints words, or JSON",
                "omit it",
                given={"form": Words("{form}", form=form)},
            )
        return form

    def check_output(self) -> None:
        """Refuse a file that the answer cannot be saved to, before anything is spent."""
        from shortlist.release.saving import check_output, check_replaces_none

        output, report, overwrite = self.saved_as(), self.report(), self.given.overwrite
        if overwrite and output is None and report is None:
            raise InputError("{overwrite} goes with {output=...} or {report=...}", "omit it")
        if output is not None:
            if output.suffix.lower() == ".html":
                raise InputError(
                    "an answer is not saved as a page by {output}",
                    "for a page write {page}",
                    page=named("report", str(output)),
                )
            check_replaces_none(output, self.files())
            check_output(output, overwrite=overwrite)
        if report is not None:
            from shortlist.release.report import SUFFIXES, require_report

            require_report()
            check_replaces_none(report, self.files())
            check_output(report, overwrite=overwrite, suffixes=SUFFIXES)

    def files(self) -> list[str]:
        """The paths and globs of all that is read."""
        from shortlist.databases.sqlite import sqlite_path

        given = self.given
        database = None if given.store is None else sqlite_path(given.store)
        lists = (given.public_items, given.known_items, given.public_groups, given.labels)
        named = (given.file, *lists, given.budget, given.since, given.series)
        read = [name for name in named if name is not None and "://" not in name]
        read += [] if database is None else [database]
        folders = [glob.escape(name) for name in read if Path(name).is_dir()]
        inside = [f"{name}/{below}" for name in folders for below in ("*", "*=*/**")]
        return [*read, *inside]

    def bits(self) -> Bits | None:
        """Where the noise comes from, if not from the operating system."""
        from shortlist.draws.random_bits import SeededBits

        seed, not_private = self.given.seed, self.given.not_private
        if seed is None:
            if not_private:
                raise InputError(
                    "{not_private} goes with {seed}, and without a seed the answer is private",
                    "omit it",
                )
            return None
        if not not_private:
            raise InputError(
                "whoever knows the seed can undo the noise, so a seeded release is not private",
                "add {not_private} if this is a test",
                given={"seed": seed},
            )
        if seed < 0:
            raise InputError("must be a whole number, 0 or more", given={"seed": seed})
        return SeededBits(seed)

    def accesses(self, source: Source) -> str | None:
        """How much of a store was read, for whoever asked, and nobody else."""
        if not self.given.show_accesses:  # and nothing more is loaded that could fail
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
        return "" if self.settings is None else self.settings.described()

    def blamed(self, argument: str | None) -> str:
        """What of a refusal may come from the settings: the argument at fault, if that does."""
        typed = SHELL.reference(argument or "")
        if self.settings is not None and typed in (one.in_shell for one in self.settings.used):
            key = typed.lstrip("-").lower()
            place = self.settings.shown
            return f"{key} is from {place}: change it there, or type {typed}, which comes first."
        return f"{self.configured()}. To leave these out: --no-config."

    def reuse(self) -> Reuse:
        """Whether an answer that was given before is printed again."""
        from shortlist.plan import Reuse

        if self.given.reuse_changed:
            return Reuse.CHANGED_DATA
        return Reuse.of(bool(self.given.reuse))

    @property
    def if_lost(self) -> str:
        """What to do where an answer is neither printed nor saved as was asked."""
        if self.of.command is Commands.SERIES_NEXT:
            return "ask again for the same --as-of, which costs nothing."
        return "the budget is spent: do not ask again."

    def source(self) -> Source:
        """What is asked, opened as far as its schema."""
        return self.of.source(self.given)


def request_for_series(columns: Sequence[str], given: dict[str, Any]) -> Request:
    """The arguments of a run of a series, whose columns are those of the series.

    Args:
        columns: That of users, and those of items.
        given: What was typed.
    """
    user, *item = columns
    unset = {option.name: False if option.is_flag else None for option in OPTIONS}
    known = {"user": user, "item": item, "budget": None}
    return Request(RUN_OF_SERIES, SimpleNamespace(**(unset | given | known)))


def one_form(form: Form | None, *, as_json: bool) -> Form:
    """How something is printed: a table, unless another form is asked for."""
    if as_json and form not in (None, Form.JSON):
        raise InputError(
            "{as_json} and {form=}: give one of the two",
            given={"form": Words("{form}", form=form)},
        )
    return Form.JSON if as_json else form or Form.TABLE
