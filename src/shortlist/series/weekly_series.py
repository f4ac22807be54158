"""A series for callers: created once, paid once, and asked in each run for the list so far."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from shortlist.budget.ledger import Budget
from shortlist.budget.series_account import NOT_A_FILE, SeriesAccount
from shortlist.draws.random_bits import Bits
from shortlist.errors import InputError
from shortlist.mechanisms.mechanism import counted
from shortlist.parameters import SeriesKind, require_count
from shortlist.plan import bits_of
from shortlist.privacy.guarantee import Guarantee
from shortlist.release import About, Release
from shortlist.release.rendering import html, plain_text, rich
from shortlist.runtime.processes import StaysHere, even_unmade, require_threads
from shortlist.series._facts import SeriesFacts
from shortlist.series._rows_of_run import CheckedRows, checked_rows
from shortlist.series._running_series import RunningSeries, create_state, recreate_state
from shortlist.series._state_places import state_place
from shortlist.series._stored_state import StoredSeries
from shortlist.series._told import sheet_of_series
from shortlist.series.series_plan import SeriesPlan, planned
from shortlist.series.terms import SeriesPromise
from shortlist.sources.pairs import Pairs

if TYPE_CHECKING:
    from rich.console import RenderableType


class Series(StaysHere):
    """A list in every run, such as every week, under one promise for all lists.

    Each list has items that enough users hold by now, and all that earlier lists named; or only
    items of its own period (`SeriesKind`). What is remembered about users from run to run is in a
    separate file, which is as private as the table. A budget pays once, when the series is created,
    and keeps the answer of each run. That answer is on the budget's disk before anybody sees it. So
    the budget notices if the file was restored from a backup or copied, which would break the
    promise. Back up the budget and this file separately.

    Args:
        url_or_path: Where the series is: see `create`.
        budget: The budget that it was created with, or where that is. May be omitted where that is
            a file that did not move.
        who: Who asks, for the ledger; by default the user of the operating system.

    Guarantee: all lists of all runs together are (epsilon, delta)-DP when one user is added or
    removed with all rows of all runs. Proof note: `docs/proofs/series.md`.

    Raises:
        InputError: There is no such series, or its budget is not found.

    >>> import polars as pl, shortlist as sl, tempfile
    >>> rows = pl.DataFrame({"user": range(900), "title": ["Emma", "Emma", "Ulysses"] * 300})
    >>> plays = sl.pairs(rows, user="user", item="title")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     total = {"epsilon": 3, "delta": 3e-6, "protects": "user", "dataset": "plays"}
    ...     budget = sl.Budget.create(f"{folder}/plays.budget", **total)
    ...     terms = {"periods": 52, "user": "user", "item": "title", "share": "1/2"}
    ...     weekly = sl.Series.create(f"{folder}/plays.series", budget=budget, **terms)
    ...     first = weekly.next(plays, as_of="2026-W47")
    ...     second = weekly.next(plays, as_of="2026-W48", k=1)
    >>> first.items, second.items
    (['Emma', 'Ulysses'], ['Emma'])
    """

    def __init__(
        self,
        url_or_path: str | os.PathLike[str],
        *,
        budget: Budget | str | os.PathLike[str] | None = None,
        who: str | None = None,
    ) -> None:
        place = state_place(url_or_path)
        del url_or_path  # a password may be in it, and traces show variables
        with place.reading() as execute:
            said = StoredSeries(execute).terms()
        account = _account(said["budget"] if budget is None else budget, who)
        self._running = RunningSeries(place, account, SeriesFacts.from_json(said))

    @classmethod
    def create(  # noqa: PLR0913 - what it is fixed to
        cls,
        url_or_path: str | os.PathLike[str],
        *,
        periods: int,
        user: str,
        item: str | Sequence[str],
        budget: Budget | str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float = 0.0,
        share: Fraction | str | None = None,
        max_items_per_user: int = 100,
        kind: SeriesKind = SeriesKind.SO_FAR,
        users: int | None = None,
        who: str | None = None,
    ) -> Series:
        """A new series, which the budget pays for at once. Its terms are fixed; see `prolong`.

        Args:
            url_or_path: A file that does not exist, which only you will be able to read and write;
                or postgresql://user@host:5432/database as libpq takes it, whose schema has no
                series, and which has no budget. Back it up separately from the budget.
            periods: How many runs there may be, from 1 to 500. Runs count, and not dates.
            user: The column of users, whom the budget protects.
            item: The column of items, or several.
            budget: What pays for all runs, or where it is.
            epsilon: Above 0, of all runs together.
            delta: In (0, 1), likewise; far below one over the number of users.
            share: In place of these two, the part of the budget's total that this may take.
            max_items_per_user: How many items of one user may count before they are named, in all
                runs together; with lists of single periods, in each run. Choose it without
                looking at the data.
            kind: What each run lists: `SeriesKind.SO_FAR` all that was named so far, or
                `SeriesKind.PERIOD` the items of its period, of which it is given the rows.
            users: About how many users there are, if everybody may know that: for a warning.
            who: Who creates it, for the ledger.

        Raises:
            InputError: There is such a file, an argument cannot be used, or the budget has not so
                much left; then nothing was charged.

        Warns:
            WeakPrivacyWarning: With this epsilon and delta protection is weak, or hardly any.
        """
        paying, place = _budget(budget, who), state_place(url_or_path)
        facts = cls.plan(
            periods=periods,
            user=user,
            item=item,
            budget=paying,
            epsilon=epsilon,
            delta=delta,
            share=share,
            max_items_per_user=max_items_per_user,
            kind=kind,
            users=users,
        ).facts
        place.require_new()
        account = paying.for_series()
        account.charge(facts.series, facts.user, facts.guarantee, facts.record())
        create_state(place, facts, account)
        return cls(url_or_path, budget=paying)

    @classmethod
    def plan(  # noqa: PLR0913 - what it would be fixed to
        cls,
        *,
        periods: int,
        user: str,
        item: str | Sequence[str],
        budget: Budget | str | os.PathLike[str] | None = None,
        epsilon: float | None = None,
        delta: float = 0.0,
        share: Fraction | str | None = None,
        max_items_per_user: int = 100,
        kind: SeriesKind = SeriesKind.SO_FAR,
        users: int | None = None,
    ) -> SeriesPlan:
        """What a series would cost, and what to expect of it, before it is created.

        Nothing is read, written or spent. Arguments are those of `create`. With a budget, the plan
        also says what would be left of it.

        Raises:
            InputError: An argument cannot be used.

        Warns:
            WeakPrivacyWarning: As of `create`.

        >>> import shortlist as sl
        >>> plan = sl.Series.plan(periods=52, user="user", item="title", epsilon=3.0, delta=1e-6)
        >>> for line in plan.explain().splitlines()[1:3]:
        ...     print(line)
        In zCDP that is rho = 0.2012 and delta = 4e-07. It is charged at once.
        The noise in each run has a standard deviation of 1.576.
        """
        paying = None if budget is None else _budget(budget, None)
        fixed = partial(SeriesFacts.new, kind, periods, user, item, max_items_per_user)
        return planned(fixed, paying, share, epsilon, delta, users)

    @classmethod
    def recover(
        cls,
        url_or_path: str | os.PathLike[str],
        *,
        budget: Budget | str | os.PathLike[str],
        charge: int | None = None,
        who: str | None = None,
    ) -> Series:
        """A series whose newest file is lost, able to go on; it costs nothing more.

        The ledger has kept all answers, so it is known which items were named, but not who holds
        what. So everybody counts as having used up what had accrued by the last run, and items that
        were not yet named start from nothing. From an older file, the noisy weights of the items
        that it had named are kept. If the file is the newest one, nothing changes.

        Use it after a loss alone. Whoever goes back to an older file because of what a list shows
        adds a little to the stated delta: `docs/proofs/series.md` says how much.

        Args:
            url_or_path: Where an older state of the series is, such as a backup; or where there is
                none, a new place.
            budget: The budget that has paid for it, or where that is.
            charge: Which charge of the budget has paid for it. Needed only if the budget has paid
                for several series and there is no older file.
            who: Who does it, for the ledger.

        Raises:
            InputError: The budget has paid for no such series, or for several.
        """
        account, place = _account(budget, who), state_place(url_or_path)
        if not place.exists():
            recreate_state(place, account, charge)
            return cls(url_or_path, budget=budget, who=who)
        self = cls(url_or_path, budget=budget, who=who)
        self._running.recover()
        return self

    @even_unmade
    def __repr__(self) -> str:
        terms = self.terms
        epsilon, delta = terms.promised
        return f"<Series of {counted(terms.runs, 'run')}: epsilon={epsilon!r}, delta={delta!r}>"

    @property
    def terms(self) -> SeriesPromise:
        """What it was created with, and what follows: the noise, and the threshold of each run."""
        return self._running.facts.terms

    @property
    def guarantee(self) -> Guarantee:
        """Of all lists of all runs together."""
        return self._running.facts.guarantee

    # --- a run

    def next(
        self,
        rows: Pairs,
        *,
        as_of: str | date,
        k: int | None = None,
        title: str | None = None,
        note: str | None = None,
        random: Bits | None = None,
    ) -> Release:
        """Make the next run: the list of what was named so far, or of its period, best first.

        If there is an answer with the same `as_of`, that is given again, for nothing, whatever the
        rows are now. If this is interrupted before it answers, ask again with the same `as_of`.

        Args:
            rows: The table as it is now, with the same columns: files, or a frame. Rows may have
                been added, changed or removed since. For the list of a period, only the rows of
                that period: a file of its own, or a span of days (`where=sl.days(…)`).
            as_of: The date of the rows, or a public text of one line. A run is known by it.
            k: Return only the k best, by estimates from the noisy weights of all runs.
            title: What the list is called: a public text of one line.
            note: A remark for its readers, likewise.
            random: None: with a seed nothing would be private.

        Raises:
            InputError: All runs were made, or another is being made; the columns are others, or the
                rows are where it cannot be read who holds what; or the ledger knows a later run
                than this file: see `recover`.
            MemoryError: The library's own message would tell the size of the data.
        """
        require_threads()
        bits = _private(random)
        if k is not None:
            require_count("k", k)
        words = About(title=title, note=note)
        return self._running.answer(self._asked(rows, as_of), k, words, bits)

    def explain(self, rows: Pairs, *, as_of: str | date) -> str:
        """What `next` would do with these rows; no row of them is read, and nothing is written.

        Args:
            rows: As of `next`.
            as_of: As of `next`.

        Raises:
            InputError: `next` would refuse them, as far as that shows without a row.
        """
        return self._running.explain(self._asked(rows, as_of))

    def _asked(self, rows: Pairs, as_of: str | date) -> CheckedRows:
        running = self._running
        return checked_rows(rows, as_of, running.facts, running.account.terms.dataset)

    # --- what is looked at

    @property
    def columns(self) -> tuple[str, ...]:
        """That of users, and those of items."""
        facts = self._running.facts
        return facts.user, *facts.items

    @property
    def releases(self) -> list[Release]:
        """All lists that left, in the order of runs, as the ledger has kept them."""
        return self.lists()

    def lists(self, k: int | None = None) -> list[Release]:
        """The same; with k, the k best of each."""
        return self._running.lists(k)

    def release(self, as_of: str | date) -> Release:
        """The list of one run, as the ledger has kept it.

        `sl.diff(weekly.release("2026-W40"), weekly.release("2026-W47"))` says what changed between
        any two.

        Args:
            as_of: As of when its rows were.

        Raises:
            InputError: No such list has left.
        """
        day = About.of_data(None, as_of).as_of
        found = [release for release in self.releases if release.about.as_of == day]
        if not found:
            raise InputError(
                "this series has no such list",
                "{sl.Series.show} lists those it has",
                given={"as_of": as_of},
            )
        return found[0]

    def show(self) -> RenderableType:
        """Its terms, and how many items each run has named: for `rich.print`."""
        return rich(self._sheet())

    def __rich__(self) -> RenderableType:
        return self.show()

    def __str__(self) -> str:
        return plain_text(self.show())

    def _repr_html_(self) -> str:
        return html(self._sheet())

    def _sheet(self) -> Any:
        charge = self._running.charge()
        return sheet_of_series(self._running.facts, charge, self.releases)

    # --- its end

    def prolong(self, periods: int) -> None:
        """Allow more runs of a list so far, which the budget pays for now, where it counts in zCDP.

        If the series was created with T runs, each added run takes 1/T of their rho, and the tests
        of all added runs take their part of the delta. Users give as much weight in each run as
        before, and accounts go on. To be named in an added run, an item needs enough weight in the
        added runs alone, since the decision to add them may depend on the runs before.

        Lists from now on state the larger epsilon and delta of all runs together. Earlier lists
        stated the smaller ones, of the runs that were planned then.

        Args:
            periods: How many more: in all at most 500, and 6 times as many as at first.

        Raises:
            InputError: The budget has not so much left, or adds up epsilons; the series is of lists
                of single periods, or was closed; a run is being made; or the ledger knows a later
                run than this file: see `recover`.

        Warns:
            WeakPrivacyWarning: With the epsilon and delta of all runs, protection is weak.
        """
        self._running.prolong(periods)

    def close(self) -> None:
        """End the series for good, and give back to the budget what was not used.

        If the budget counts in zCDP, that is 1 - t/T of its rho after t of T runs, and with lists
        of single periods 7/10 of that. Its delta is given back only if no run was made: lists may
        tell something about items that were nearly named, and so may the decision to stop. If the
        budget adds up epsilons, none comes back after the first run.

        The file is no longer needed, and can be deleted. Earlier lists can be had again by
        `releases`, as long as the budget has them.

        Raises:
            InputError: It was closed; another budget continues its own; a run is being made; or the
                ledger knows a later run than this file: see `recover`.
        """
        self._running.close()

    # --- a person

    def forget(self, *users: str | int | date) -> None:
        """Erase users: what they hold, and who they are, is removed from the file.

        For each user, the file keeps a hash of the id, under a key that is only in this file, and
        two numbers: how much weight was given, and how many items ever counted. So an id that
        returns goes on with what was left of its account, and all lists together still tell no more
        about that person than was promised. Items that counted, and their noisy weights, stay in
        the file. Published lists stay as they are.

        Remove the rows of these users from the table, too, or the next run finds them again. After
        restoring a backup of this file, forget the same users again. An id that the file does not
        know changes nothing, and you are not told which ids it knew.

        Args:
            users: Their ids, as the column of users has them.

        Raises:
            InputError: These cannot be ids; a run is being made; or the ledger knows a later run
                than this file: see `recover`.
        """
        self._running.forget(users)


def _budget(budget: object, who: str | None) -> Budget:
    if isinstance(budget, Budget):
        return budget
    if budget is None or budget == NOT_A_FILE:
        raise InputError(
            "a series needs a budget: it pays for all runs, and shows whether a file is the newest",
            "name it by {budget}",
        )
    return Budget(budget, who=who)  # type: ignore[arg-type]  # it checks


def _account(budget: object, who: str | None) -> SeriesAccount:
    return _budget(budget, who).for_series()


def _private(random: object) -> Bits:
    bits = bits_of(random)
    if not bits.private:
        raise InputError(
            "a seeded list is not private, and the budget says that all of a series are",
            "omit the seed",
        )
    return bits
