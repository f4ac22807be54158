"""A series that is killed, or restored from backups: `python tools/series_kills.py ROLE FOLDER …`.

A process of its own, which forks before Polars is loaded. It prints what was found as JSON.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flint  # noqa: F401 - all but Polars is loaded before a fork
import numba  # noqa: F401
import numpy as np
import scipy.special  # noqa: F401

import shortlist as sl
from ledgers import forked
from shortlist.bits import SeededBits
from shortlist.databases import sqlite_file
from shortlist.series._state_file import Held, StoredSeries, state_file

__all__ = ["COLUMNS", "Twin", "held_in", "same_states", "week"]

COLUMNS = {"user": "user", "item": "title"}
_TERMS = {"epsilon": 1.0, "delta": 1e-4, "max_items_per_user": 4, **COLUMNS}
_STEPS = 32  # about so many statements of SQL a run takes, those of the ledger included


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


def held_in(path: Path | str) -> Held | None:
    """The state in a file."""
    with state_file(Path(path)).reading() as execute:
        return StoredSeries(execute).held()


def same_states(one: Held | None, other: Held | None) -> bool:
    """Whether two states are the same to the last unit."""
    if one is None or other is None:
        return one is other
    same = one.users.equals(other.users) and one.items.equals(other.items)
    same &= one.forgotten.accounts == other.forgotten.accounts
    pairs = ((vars(one.state)[name], vars(other.state)[name]) for name in vars(one.state))
    return same and all(np.array_equal(a, b) for a, b in pairs)


def kills(folder: Path, times: int, seed: int) -> dict[str, int]:
    """Kill each run of a series once, in its course, and then ask for it again.

    Two of three are killed at a step, in turns at each; the others at any moment.
    """
    rng, steps = random.Random(seed), [1 + n * _STEPS // times for n in range(times)]
    ours, twin = folder / "ours", folder / "twin"
    ours.mkdir()
    twin.mkdir()
    _told(_created, ours, times)
    found = {"kills": 0, "delivered": 0, "answered twice": 0}
    for run in range(1, times + 1):
        step = steps[run - 1] if run % 3 else None
        first = _killed(ours, run, step, rng.uniform(0, 0.2))
        found["kills"] += first is None
        second = _told(_asked, ours, run)
        found["delivered"] += second is not None
        found["answered twice"] += first not in (None, second)
    return found | _told(_compared, ours, twin, times)


def _created(place: Path, periods: int) -> None:
    budget = sl.Budget.create(
        place / "budget", epsilon=10.0, delta=1e-2, protects="user", dataset="plays"
    )
    sl.Series.create(place / "series", periods=periods, budget=budget, **_TERMS)  # type: ignore[arg-type]


def _asked(place: Path, run: int) -> str:
    """What a run answers."""
    release = sl.Series(place / "series").next(week(run), as_of=str(run), random=Twin(run))
    return json.dumps([release.items, list(release.scores or [])])


def _killed(place: Path, run: int, step: int | None, seconds: float) -> str | None:
    """What a run has answered whose process is killed, by itself at a step, or at a moment."""

    def asked() -> str:
        if step is not None:
            _end_at(step)
        os.write(1, b"!")
        return _asked(place, run)

    pipe, child = forked(asked)
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
    real, left = sqlite_file._executing, [step]  # noqa: SLF001 - what runs each

    def counting(connection: Any) -> Any:
        execute = real(connection)

        def counted(*words: object) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(*words)

        return counted

    sqlite_file._executing = counting  # noqa: SLF001 - as above


def _compared(ours: Path, twin: Path, periods: int) -> dict[str, int]:
    """What is in the files in the end, beside those of a series that nobody killed."""
    _created(twin, periods)
    for run in range(1, periods + 1):
        _asked(twin, run)
    budget, series = sl.Budget(ours / "budget"), sl.Series(ours / "series")
    other = sl.Series(twin / "series")
    lists, unlike = series.releases, other.releases
    same = [(a.items, a.scores) == (b.items, b.scores) for a, b in zip(lists, unlike, strict=False)]
    return {
        "runs": len(lists),
        "unlike the twin": len(unlike) - sum(same),
        "accounts unlike": int(not same_states(*(held_in(p / "series") for p in (ours, twin)))),
        "charges": len(budget.to_csv().splitlines()) - 1,
        "faults of the ledger": len(budget.verify()),
    }


def restores(folder: Path, times: int, seed: int) -> dict[str, int]:
    """Put an older copy in the place of a series, as often, and go on by it."""
    return _told(_restored, folder, times, seed)  # type: ignore[no-any-return]


def _restored(place: Path, times: int, seed: int) -> dict[str, int]:
    rng, older = random.Random(seed), place / "older"
    found = dict.fromkeys(("restored", "refused", "recovered", "answered", "lost an item"), 0)
    _created(place, times + 1)
    file, named = place / "series", set(_asked(place, 1))
    shutil.copy(file, older)
    for run in range(2, times + 2):
        newest = file.read_bytes()
        if run > 2 and rng.random() < 0.8:
            shutil.copy(older, file)
            found["restored"] += 1
            found["refused"] += _is_refused(place, run)
            if rng.random() < 0.2:
                file.unlink()
            if rng.random() < 0.7:
                sl.Series.recover(file, budget=place / "budget")
                found["recovered"] += 1
            else:
                file.write_bytes(newest)
        if rng.random() < 0.5:
            shutil.copy(file, older)
        _asked(place, run)
        before, named = named, set(sl.Series(file).releases[-1])
        found["answered"] += 1
        found["lost an item"] += run > 2 and not before <= named
    return found | {"faults of the ledger": len(sl.Budget(place / "budget").verify())}


def _is_refused(place: Path, run: int) -> bool:
    try:
        _asked(place, run)
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
    """Play a role: kills or restores, with FOLDER TIMES SEED."""
    role, folder, *numbers = sys.argv[1:]
    played = {"kills": kills, "restores": restores}[role]
    print(json.dumps(played(Path(folder), *map(int, numbers))))


if __name__ == "__main__":
    main()
