"""The state of a series in SQL: a run's state, number and answer, all or nothing.

What is in it is as private as the table: who holds what, and what each has added. Proof note:
`docs/proofs/series.md`, on state.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shortlist.databases.sqlite_file import Execute
from shortlist.draws import Ints
from shortlist.errors import InputError
from shortlist.series._forgetting import ErasedUsers
from shortlist.series.weekly_run import State, are_among, merged, places_among, slots_of_items

if TYPE_CHECKING:
    import polars as pl

_VERSION = 1
_PART = 2**25  # bytes of one cell, at most: a fraction of what databases take
# Of these, the last alone are kept.
_REPLACED = ("named_in", "used", "used_by_others", "emptied", "forgotten")
# SQLite takes BYTEA for a type that changes no bytes.
_TABLES = (
    "CREATE TABLE shortlist_series (version INTEGER NOT NULL, terms TEXT NOT NULL)",
    """CREATE TABLE shortlist_runs (run INTEGER PRIMARY KEY, as_of TEXT NOT NULL UNIQUE,
    columns TEXT NOT NULL, state TEXT NOT NULL, answer TEXT NOT NULL, key BYTEA NOT NULL,
    added BYTEA NOT NULL, seal TEXT NOT NULL)""",
    """CREATE TABLE shortlist_cells (run INTEGER NOT NULL, name TEXT NOT NULL,
    part INTEGER NOT NULL, cells BYTEA NOT NULL, PRIMARY KEY (run, name, part))""",
)


class Held(NamedTuple):
    """A state, and what its codes stand for.

    Attributes:
        users: The user of each code, one column.
        items: The item of each code, which is its place among the counted ones, too.
        state: The state.
        forgotten: What is left of users who were erased.
    """

    users: pl.DataFrame
    items: pl.DataFrame
    state: State
    forgotten: ErasedUsers = ErasedUsers()

    def in_order(self) -> Held:
        """The same, without items that are not counted; each code is its place again."""
        state = self.state
        if len(state.counted) == self.items.height and (np.diff(state.counted) == 1).all():
            return self
        slots = slots_of_items(state.slots, lambda items: places_among(state.counted, items))
        counted = np.arange(len(state.counted))
        held = replace(state, counted=counted, slots=slots)
        return self._replace(items=self.items[state.counted], state=held)


class StoredRun(NamedTuple):
    """A run that was made.

    Attributes:
        run: Its number, from 1 on.
        as_of: As of when its rows were.
        columns: The types of the columns, by their names.
        state: The keyed hash of the state after it, which tells nothing without the key.
        answer: What was answered, as it was written.
    """

    run: int
    as_of: str
    columns: dict[str, str]
    state: str
    answer: str


@dataclass(frozen=True)
class StoredSeries:
    """The tables, as a transaction sees them."""

    execute: Execute

    def create(self, terms: Mapping[str, Any]) -> None:
        """The tables of a series without a run."""
        for statement in _TABLES:
            self.execute(statement)
        self.execute(
            "INSERT INTO shortlist_series VALUES ($1, $2)", _VERSION, json.dumps(dict(terms))
        )

    def terms(self) -> dict[str, Any]:
        """What it was created with."""
        [(version, terms)] = self.execute("SELECT version, terms FROM shortlist_series")
        if version > _VERSION:
            raise InputError(
                "this series was made by a newer shortlist, in version {version} of its file",
                "install a newer one",
                version=version,
            )
        found: dict[str, Any] = json.loads(terms)
        return found

    def runs(self) -> list[StoredRun]:
        """All runs, by their numbers."""
        rows = self.execute(
            "SELECT run, as_of, columns, state, answer FROM shortlist_runs ORDER BY run"
        )
        return [StoredRun(n, as_of, json.loads(said), *others) for n, as_of, said, *others in rows]

    def add(
        self, as_of: str, columns: Mapping[str, str], answer: str, before: Held, after: Held
    ) -> StoredRun:
        """Add a run: what is new in the state after it, and what of it was replaced."""
        key, said = secrets.token_bytes(32), json.dumps(dict(columns))
        added, replaced = _added(before, after), _replaced(after)
        sealed, run = _digest(added), after.state.runs
        state = self._hash((run, as_of, said, answer), key, sealed, replaced)
        self._insert(run, as_of, said, state, answer, key, sealed, state)
        for name in _REPLACED:
            self.execute("DELETE FROM shortlist_cells WHERE name = $1", name)
        self._write(run, added | replaced)
        return StoredRun(run, as_of, dict(columns), state, answer)

    def _insert(self, *values: object) -> None:
        marks = ", ".join(f"${place}" for place in range(1, len(values) + 1))
        self.execute(f"INSERT INTO shortlist_runs VALUES ({marks})", *values)  # noqa: S608 - ours

    def begin_anew(self, runs: Sequence[StoredRun], held: Held) -> StoredRun:
        """Put a state that was recovered in the place of all that is there.

        Args:
            runs: Those that were answered.
            held: The state after them.
        """
        self.execute("DELETE FROM shortlist_cells")
        self.execute("DELETE FROM shortlist_runs")
        *before, last = runs
        for run in before:
            self._insert(*run[:2], json.dumps(run.columns), *run[3:], b"", b"", "")
        return self.add(last.as_of, last.columns, last.answer, _nobody(held), held)

    def rewrite(self, held: Held) -> None:
        """Put a state that somebody was erased from in the place of that after the last run.

        The ledger knows it by the hash of that one. Nothing is left by which a guess of what was
        erased could be held against a hash: the keys go, and what was hashed without one.
        """
        last, key = self.runs()[-1], secrets.token_bytes(32)
        added, replaced = _added(_nobody(held), held), _replaced(held)
        sealed, said = _digest(added), json.dumps(last.columns)
        seal = self._hash((last.run, last.as_of, said, last.answer), key, sealed, replaced)
        self.execute("UPDATE shortlist_runs SET key = $1, added = $1, seal = $2", b"", "")
        self.execute(
            "UPDATE shortlist_runs SET key = $1, added = $2, seal = $3 WHERE run = $4",
            *(key, sealed, seal, last.run),
        )
        self.execute("DELETE FROM shortlist_cells")
        self._write(last.run, added | replaced)

    def held(self) -> Held | None:
        """The state after the last run; None where there is none.

        Raises:
            InputError: The file was damaged or changed.
        """
        runs = [run for (run,) in self.execute("SELECT DISTINCT run FROM shortlist_cells")]
        if not runs:
            return None
        chunks = {run: dict(self._read(run)) for run in sorted(runs)}
        self._require_whole(chunks)
        return _held(chunks)

    def _require_whole(self, chunks: Mapping[int, Mapping[str, bytes]]) -> None:
        """Refuse cells that are not what was hashed when they were written."""
        rows = self.execute("SELECT * FROM shortlist_runs ORDER BY run")
        for run, as_of, said, _, answer, key, sealed, seal in rows:
            cells = chunks.get(run, {})
            replaced = {name: cells[name] for name in cells if name in _REPLACED}
            added = {name: cells[name] for name in cells if name not in _REPLACED}
            same = not added or _digest(added) == sealed
            if run == rows[-1][0]:
                same &= self._hash((run, as_of, said, answer), key, sealed, replaced) == seal
            if not same:
                raise InputError(
                    "the state of this series was damaged, or changed by hand",
                    "Go on with the newest copy; or move this file away, and go on without it by "
                    "{sl.Series.recover}",
                )

    def _hash(
        self, said: tuple[object, ...], key: bytes, sealed: bytes, replaced: Mapping[str, bytes]
    ) -> str:
        """Of a run and its state, and by that of the run before of all that went before it."""
        before = self.execute("SELECT state FROM shortlist_runs WHERE run = $1 - 1", said[0])
        text = json.dumps([before, *said]).encode()
        return blake2b(text + sealed + _digest(replaced), key=key, digest_size=32).hexdigest()

    def _write(self, run: int, cells: Mapping[str, bytes]) -> None:
        for name, whole in cells.items():
            for part, start in enumerate(range(0, max(len(whole), 1), _PART)):
                self.execute(
                    "INSERT INTO shortlist_cells VALUES ($1, $2, $3, $4)",
                    *(run, name, part, whole[start : start + _PART]),
                )

    def _read(self, run: int) -> Iterator[tuple[str, bytes]]:
        query = "SELECT name, cells FROM shortlist_cells WHERE run = $1 ORDER BY name, part"
        parts: dict[str, list[bytes]] = {}
        for name, cells in self.execute(query, run):
            parts.setdefault(name, []).append(cells)
        return ((name, b"".join(several)) for name, several in parts.items())


def _digest(cells: Mapping[str, bytes]) -> bytes:
    found = blake2b(digest_size=32)
    for name in sorted(cells):
        found.update(f"{name} {len(cells[name])} ".encode())
        found.update(cells[name])
    return found.digest()


def _nobody(held: Held) -> Held:
    """Nobody and nothing beside as many runs, of the types of a state."""
    empty = State(runs=held.state.runs, sums=held.state.sums[:0])
    return Held(held.users[:0], held.items[:0], empty)


def _added(before: Held, after: Held) -> dict[str, bytes]:
    """What the later state has beyond the earlier: items with their past, and the run's sums."""
    n_items, runs = before.items.height, before.state.runs
    old, new = before.state.slots, after.state.slots
    return {
        "users": _frame_as_bytes(after.users[before.users.height :]),
        "items": _frame_as_bytes(after.items[n_items:]),
        "past": _as_bytes(after.state.sums[n_items:, :runs]),
        "now": _as_bytes(after.state.sums[:, runs:]),
        "slots": _as_bytes(new[~are_among(new, old)]),
    }


def _replaced(held: Held) -> dict[str, bytes]:
    state = held.state
    always = {
        "named_in": _as_bytes(state.named_in),
        "used": _as_bytes(state.used),
        "used_by_others": _as_bytes(np.array([state.used_by_others])),
    }
    at_times = {"emptied": _as_bytes(state.emptied), "forgotten": held.forgotten.as_bytes()}
    return always | {name: cells for name, cells in at_times.items() if cells}


def _held(chunks: Mapping[int, Mapping[str, bytes]]) -> Held:
    """The state that was written piece by piece."""
    import polars as pl

    last = max(chunks)
    items = [_frame_from(chunk["items"]) for chunk in chunks.values()]
    sums = np.zeros((sum(part.height for part in items), last), np.int64)
    first = 0
    for (run, chunk), new in zip(chunks.items(), items, strict=True):
        end = first + new.height
        if new.height:
            past = _ints(chunk["past"]).reshape(new.height, -1)
            sums[first:end, : past.shape[1]] = past
        if len(now := _ints(chunk["now"])):
            sums[:end, run - 1] = now
        first = end
    state = State(
        runs=last,
        counted=np.arange(len(sums)),
        sums=sums,
        named_in=_ints(chunks[last]["named_in"]),
        used=_ints(chunks[last]["used"]),
        slots=merged(*(_ints(chunk["slots"]) for chunk in chunks.values())),
        used_by_others=int(_ints(chunks[last]["used_by_others"])[0]),
        emptied=_ints(chunks[last].get("emptied", b"")),
    )
    forgotten = ErasedUsers.from_bytes(chunks[last].get("forgotten", b""))
    users = pl.concat([_frame_from(chunk["users"]) for chunk in chunks.values()])
    return Held(users, pl.concat(items), state, forgotten)


def _as_bytes(numbers: Ints) -> bytes:
    return np.ascontiguousarray(numbers, "<i8").tobytes()


def _ints(cells: bytes) -> Ints:
    return np.frombuffer(cells, "<i8").astype(np.int64, copy=False)


def _frame_as_bytes(frame: pl.DataFrame) -> bytes:
    """Its rows alone: views of texts would be written with all texts that were filtered out."""
    import polars as pl

    file = io.BytesIO()
    frame.write_ipc(file, compression="zstd", compat_level=pl.CompatLevel.oldest())
    return file.getvalue()


def _frame_from(cells: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_ipc(io.BytesIO(cells))
