"""A series that is killed, or restored from backups: `python tools/series_kills.py ROLE FOLDER …`.

A process of its own, which forks before Polars is loaded. It prints what was found as JSON.
"""

from __future__ import annotations

import json
import operator
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import flint  # noqa: F401 - all but Polars is loaded before a fork
import narwhals  # noqa: F401
import numba  # noqa: F401
import numpy as np
import scipy.special  # noqa: F401

import shortlist as sl
import shortlist.series.weekly_series
import shortlist.table.reading
from ledgers import forked
from shortlist.bits import SeededBits
from shortlist.databases import postgres_database, sqlite_file
from shortlist.series._state_places import state_place
from shortlist.series._stored_state import Held, StoredSeries

__all__ = ["COLUMNS", "Twin", "held_in", "same_states", "week"]

COLUMNS = {"user": "user", "item": "title"}
_TERMS = {"epsilon": 1.0, "delta": 5e-5, "max_items_per_user": 4, **COLUMNS}
_PROLONGED = 2  # times
_TABLES = "shortlist_series", "shortlist_runs", "shortlist_cells"


class Twin(SeededBits):
    """Bits from a seed that say they are private, so that two runs can be the same."""

    private = True


def week(number: int, users: int = 300) -> sl.Pairs:
    """The rows of a week: who holds what changes, and some come late."""
    import polars as pl

    rng = np.random.default_rng(number)
    titles = [f"Title {item}" for item in rng.zipf(1.6, 4 * users) % 40]
    rows = {"user": rng.integers(0, users + 20 * number, 4 * users), "title": titles}
    return sl.pairs(pl.DataFrame(rows), **COLUMNS)


def held_in(place: Path | str) -> Held | None:
    """The state in a file, or in a database."""
    with state_place(place).reading() as execute:
        return StoredSeries(execute).held()


def same_states(one: Held | None, other: Held | None) -> bool:
    """Whether two states are the same to the last unit."""
    if one is None or other is None:
        return one is other
    same = one.users.equals(other.users) and one.items.equals(other.items)
    kept = (sorted(held.forgotten.accounts.values()) for held in (one, other))
    same &= operator.eq(*kept)
    pairs = ((vars(one.state)[name], vars(other.state)[name]) for name in vars(one.state))
    return same and all(np.array_equal(a, b) for a, b in pairs)


class Place(NamedTuple):
    """Where a series and its ledger are: files of a folder, or databases.

    Attributes:
        series: The path of its state, or the URL.
        budget: The path of the ledger, or the URL.
    """

    series: str
    budget: str

    @classmethod
    def new(cls, folder: Path, series: str = "", budget: str = "") -> Place:
        """With a new ledger, in a folder that is made; but databases where there are URLs."""
        folder.mkdir()
        place = cls(series or str(folder / "series"), budget or str(folder / "budget"))
        terms = {"epsilon": 10.0, "delta": 1e-2, "protects": "user", "dataset": "plays"}
        sl.Budget.create(place.budget, **terms)  # type: ignore[arg-type]
        return place

    @property
    def steps(self) -> int:
        """About so many statements of SQL a run takes, those of the ledger included."""
        return 44 if "://" in self.series else 32

    def opened(self) -> sl.Series:
        """The series."""
        return sl.Series(self.series, budget=self.budget)

    def copied(self) -> Any:
        """All that the state is, to be put back."""
        if "://" not in self.series:
            return Path(self.series).read_bytes()
        with state_place(self.series).reading() as execute:
            return {table: execute(f"SELECT * FROM {table}") for table in _TABLES}  # noqa: S608 - ours

    def put_back(self, copy: Any) -> None:
        """Replace the state by a copy of it."""
        if "://" not in self.series:
            Path(self.series).write_bytes(copy)
            return
        with state_place(self.series).writing() as execute:
            for table, rows in copy.items():
                execute(f"DELETE FROM {table}")  # noqa: S608 - ours
                for row in rows:
                    marks = ", ".join(f"${place}" for place in range(1, len(row) + 1))
                    execute(f"INSERT INTO {table} VALUES ({marks})", *row)  # noqa: S608 - ours

    def lose(self) -> None:
        """Remove the state."""
        if "://" not in self.series:
            Path(self.series).unlink()
            return
        with state_place(self.series).writing() as execute:
            execute(f"DROP TABLE {', '.join(_TABLES)}")


# --- killed


def kills(folder: Path, times: int, seed: int, *urls: str) -> dict[str, int]:
    """Kill all that writes a state in its course, and then do it again.

    Each run is killed once: two of three at a step, in turns at each; the others at any moment.
    Erasing somebody is killed at a step. What comes rarely is killed at each of its
    steps, or where few runs are asked for at some of them. With
    URLs the state and the ledger are in these databases; those of the twin are in files.
    """
    rng, ours = random.Random(seed), Place.new(folder / "ours", *urls)
    killed = dict.fromkeys(("next", "forget", "create", "prolong", "close"), 0)
    found = {"delivered": 0, "answered twice": 0}
    for name, number in _history(times):
        do, steps = partial(_done, ours, name, number), _steps(name, number, times, ours.steps)
        for step in steps:
            first = _killed(do, step, rng.uniform(0, 0.2))
            killed[name] += first is None
            if first is not None:
                break
        second = _told(do)
        found["answered twice"] += first not in (None, second)
        found["delivered"] += name == "next" and second is not None
    several = {"kills": sum(killed.values()), **{f"of {n}": k for n, k in killed.items()}}
    return several | found | _told(_compared, ours, folder, times)


def _steps(name: str, number: int, times: int, of_run: int) -> Iterable[int | None]:
    """At which to kill something, until it is done; None is at any moment."""
    if name == "next":
        return [1 + (number - 1) * of_run // times if number % 3 else None]
    return [1 + number % 25] if name == "forget" else count(1, 1 + 60 // times)


def _history(times: int) -> Iterator[tuple[str, int]]:
    """What is done in the life of a series of so many runs, a third of them added later.

    With each goes a number: of the run, of the user, or how many runs there shall be.
    """
    parts = min(_PROLONGED, times // 3)
    more = times // 3 // parts
    first = times - parts * more
    yield "create", first
    for run in range(1, times + 1):
        yield "next", run
        if run % 4 == 0:
            yield "forget", run
        if run * parts // first > (run - 1) * parts // first and run <= first:
            yield "prolong", first + more * (run * parts // first)
    yield "close", times


def _done(place: Place, name: str, number: int) -> str:
    """Do it, unless it was done; what a run answers."""
    if name == "create":
        return _created(place, number)
    series = sl.Series(place.series, budget=place.budget)
    if name == "next":
        release = series.next(week(number), as_of=str(number), random=Twin(number))
        return json.dumps([release.items, list(release.scores or [])])
    if name == "forget":
        series.forget(number)
    if name == "prolong" and series.terms.runs < number:
        series.prolong(number - series.terms.runs)
    if name == "close" and " closed" not in str(series):
        series.close()
    return name


def _created(place: Place, periods: int) -> str:
    """A series; one that was charged is not charged again."""
    if state_place(place.series).exists():
        return "create"
    if sl.Budget(place.budget).for_series().charges():
        sl.Series.recover(place.series, budget=place.budget)
    else:
        sl.Series.create(place.series, periods=periods, budget=place.budget, **_TERMS)  # type: ignore[arg-type]
    return "create"


def _killed(action: Callable[[], Any], step: int | None, seconds: float) -> Any:
    """What a process has told that is killed, by itself at a step, or at a moment; or None."""

    def begun() -> Any:
        if step is not None:
            _end_at(step)
        os.write(1, b"!")
        return action()

    pipe, child = forked(begun)
    told = os.read(pipe, 1)
    if step is None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    while more := os.read(pipe, 2**16):
        told += more
    os.close(pipe)
    os.waitpid(child, 0)
    text = told[1:].decode()
    return json.loads(text) if text.endswith('"') else None


def _end_at(step: int) -> None:
    """Let this process end at a statement of SQL, its own or the ledger's."""
    left = [step]

    def counting(real: Any, connection: Any) -> Any:
        execute = real(connection)

        def counted(*words: object) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(*words)

        return counted

    for module in (sqlite_file, postgres_database):
        real = module._executing  # noqa: SLF001 - what runs each
        module._executing = partial(counting, real)  # type: ignore[assignment]  # noqa: SLF001


def _compared(ours: Place, folder: Path, times: int) -> dict[str, int]:
    """What is there in the end, beside what is of a series that nobody killed."""
    twin = Place.new(folder / "twin")
    for name, number in _history(times):
        _done(twin, name, number)
    lists, unlike = ours.opened().releases, twin.opened().releases
    same = [(a.items, a.scores) == (b.items, b.scores) for a, b in zip(lists, unlike, strict=False)]
    spent, other = (sl.Budget(place.budget).standing().spent for place in (ours, twin))
    return {
        "runs": len(lists),
        "unlike the twin": len(unlike) - sum(same),
        "accounts unlike": int(not same_states(held_in(ours.series), held_in(twin.series))),
        "spent unlike": int(spent != other),
        "faults of the ledger": len(sl.Budget(ours.budget).verify()),
    }


# --- restored


def restores(folder: Path, times: int, seed: int, *urls: str) -> dict[str, int]:
    """Put an older copy in the place of a series, as often, and go on.

    Either the newest is put back, or the series is recovered, from the older one or without any,
    and every other time after the same was killed at a step.
    """
    rng, place = random.Random(seed), Place.new(folder / "ours", *urls)
    counted = "refused", "recovered", "killed", "answered", "accounts unlike", "lost an item"
    found = {"restored": times, **dict.fromkeys(counted, 0)}
    _told(_created, place, times + 2)
    older = place.copied()
    named: set[object] = set()
    for run in range(1, times + 3):
        answered = set(json.loads(_told(_done, place, "next", run))[0])
        found["answered"] += 1
        found["lost an item"] += not named <= answered
        if run in (1, times + 2):
            continue
        named, newest = answered, place.copied()
        place.put_back(older)
        found["refused"] += _told(_is_refused, place, run + 1)
        if rng.random() < 0.3:
            place.put_back(newest)
        else:
            found["killed"] += _recovered(place, rng)
            found["recovered"] += 1
            found["accounts unlike"] += not _told(_has_accrued, place, run)
        if rng.random() < 0.5:
            older = place.copied()
    return found | {"faults of the ledger": len(sl.Budget(place.budget).verify())}


def _recovered(place: Place, rng: random.Random) -> bool:
    """Recover it, from what is there or from the ledger alone; whether that was killed before."""

    def recover() -> str:
        sl.Series.recover(place.series, budget=place.budget)
        return "done"

    if rng.random() < 0.3:
        place.lose()
    killed = rng.random() < 0.6 and _killed(recover, rng.randint(1, 2 * place.steps), 0) is None
    _told(recover)
    return killed


def _has_accrued(place: Place, run: int) -> bool:
    """Whether everybody, also who is to come, has used up what had accrued by a run, exactly."""
    held = held_in(place.series)
    assert held is not None  # noqa: S101
    accrued = place.opened().terms.accrued(run)
    return held.users.is_empty() and held.state.used_by_others == accrued


def _is_refused(place: Place, run: int) -> bool:
    try:
        _done(place, "next", run)
    except sl.InputError as error:
        return "older copy" in str(error)
    return False


def _told(action: Callable[..., Any], *given: object) -> Any:
    """What a child returns."""
    pipe, child = forked(lambda: action(*given))
    told = b""
    while more := os.read(pipe, 2**16):
        told += more
    os.close(pipe)
    os.waitpid(child, 0)
    return json.loads(told) if told else None


def main() -> None:
    """Play a role: kills or restores, with FOLDER TIMES SEED, and URLs of databases or none."""
    role, folder, times, seed, *urls = sys.argv[1:]
    played: Callable[..., Any] = {"kills": kills, "restores": restores}[role]
    print(json.dumps(played(Path(folder), int(times), int(seed), *urls)))


if __name__ == "__main__":
    main()
