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
from functools import partial
from pathlib import Path
from typing import Any

import flint  # noqa: F401 - all but Polars is loaded before a fork
import numba  # noqa: F401
import numpy as np
import scipy.special  # noqa: F401

import shortlist as sl
from ledgers import forked
from shortlist.bits import SeededBits
from shortlist.databases import postgres_database, sqlite_file
from shortlist.series._state_places import state_place
from shortlist.series._stored_state import Held, StoredSeries

__all__ = ["COLUMNS", "Twin", "held_in", "same_states", "week"]

COLUMNS = {"user": "user", "item": "title"}
_TERMS = {"epsilon": 1.0, "delta": 1e-4, "max_items_per_user": 4, **COLUMNS}
# About so many statements of SQL a run takes, those of the ledger included.
_STEPS, _STEPS_OF_POSTGRESQL = 32, 44


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
    same &= one.forgotten.accounts == other.forgotten.accounts
    pairs = ((vars(one.state)[name], vars(other.state)[name]) for name in vars(one.state))
    return same and all(np.array_equal(a, b) for a, b in pairs)


def kills(folder: Path, times: int, seed: int, url: str | None = None) -> dict[str, int]:
    """Kill each run of a series once, in its course, and then ask for it again.

    Two of three are killed at a step, in turns at each; the others at any moment. With a URL, the
    state is in that database, and its twin's is in a file.
    """
    most = _STEPS if url is None else _STEPS_OF_POSTGRESQL
    rng, steps = random.Random(seed), [1 + n * most // times for n in range(times)]
    ours, twin = folder / "ours", folder / "twin"
    ours.mkdir()
    twin.mkdir()
    if url is not None:
        (ours / "url").write_text(url)
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


def _series_of(place: Path) -> str:
    """Where the state is."""
    url = place / "url"
    return url.read_text() if url.exists() else str(place / "series")


def _created(place: Path, periods: int) -> None:
    budget = sl.Budget.create(
        place / "budget", epsilon=10.0, delta=1e-2, protects="user", dataset="plays"
    )
    sl.Series.create(_series_of(place), periods=periods, budget=budget, **_TERMS)  # type: ignore[arg-type]


def _asked(place: Path, run: int) -> str:
    """What a run answers."""
    release = sl.Series(_series_of(place)).next(week(run), as_of=str(run), random=Twin(run))
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


def _compared(ours: Path, twin: Path, periods: int) -> dict[str, int]:
    """What is in the files in the end, beside those of a series that nobody killed."""
    _created(twin, periods)
    for run in range(1, periods + 1):
        _asked(twin, run)
    budget, (series, other) = (
        sl.Budget(ours / "budget"),
        map(sl.Series, map(_series_of, (ours, twin))),
    )
    lists, unlike = series.releases, other.releases
    same = [(a.items, a.scores) == (b.items, b.scores) for a, b in zip(lists, unlike, strict=False)]
    return {
        "runs": len(lists),
        "unlike the twin": len(unlike) - sum(same),
        "accounts unlike": int(not same_states(*(held_in(_series_of(p)) for p in (ours, twin)))),
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
    """Play a role: kills, with FOLDER TIMES SEED and a URL or none; or restores, without one."""
    role, folder, times, seed, *url = sys.argv[1:]
    played: Callable[..., Any] = {"kills": kills, "restores": restores}[role]
    print(json.dumps(played(Path(folder), int(times), int(seed), *url)))


if __name__ == "__main__":
    main()
