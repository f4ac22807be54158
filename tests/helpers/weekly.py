"""Series on invented weeks, which every test can go on with, and look into."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import shortlist as sl
from helpers.budgets import created, fast_folder
from series_kills import COLUMNS, Twin, held_in, same_states, week
from shortlist.databases import sqlite_file

TERMS = {"periods": 5, "epsilon": 1.0, "delta": 1e-4, "max_items_per_user": 4, **COLUMNS}


class Weekly:
    """A series and its budget in a folder."""

    def __init__(self, folder, **terms):
        self.folder = Path(folder)
        self.path, self.place = self.folder / "plays.series", self.folder / "plays.budget"
        self.budget = created(self.place, epsilon=10.0, delta=1e-2, dataset="plays")
        self.series = sl.Series.create(self.path, budget=self.budget, **(TERMS | terms))

    def answered(self, number, **more):
        """The list of a week."""
        return self.series.next(week(number), as_of=f"week {number}", **more)

    def as_twin(self, number):
        """The same, drawn from the bits of that week."""
        return self.answered(number, random=Twin(number))

    def backup(self, name="backup"):
        return shutil.copy(self.path, self.folder / name)

    def restore(self, name="backup"):
        shutil.copy(self.folder / name, self.path)


@contextmanager
def weekly(**terms):
    with fast_folder() as folder:
        yield Weekly(folder, **terms)


class Stopped(BaseException):
    """What ends a run at a step."""


@contextmanager
def stopping_at(monkeypatch, step):
    """Let a run end at a statement of SQL, its own or the ledger's; how many there were."""
    real, seen = sqlite_file._executing, []

    def counting(connection):
        def counted(*words):
            seen.append(words[0])
            if len(seen) == step:
                raise Stopped
            return real(connection)(*words)

        return counted

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_file, "_executing", counting)
        yield seen


def assert_held(found, times):
    """Whether a series whose processes were killed is as one of which none was."""
    killed = {name: found.pop(name) for name in [*found] if name.startswith("of ")}
    assert found.pop("kills") == sum(killed.values())
    assert killed["of next"] >= times // 2
    assert min(killed.values()) > 0
    wrong = "answered twice", "unlike the twin", "accounts unlike", "spent unlike"
    right = {"delivered": times, "runs": times, "faults of the ledger": 0}
    assert found == right | dict.fromkeys(wrong, 0)


def assert_restored(found, times):
    """Whether each older copy was refused, and what went on by it has forgotten what it must."""
    assert 0 < found.pop("killed") <= found.pop("recovered")
    wrong = "accounts unlike", "lost an item", "faults of the ledger"
    right = {"restored": times, "refused": times, "answered": times + 2}
    assert found == right | dict.fromkeys(wrong, 0)


__all__ = [
    "COLUMNS", "TERMS", "Stopped", "Twin", "Weekly", "assert_held", "assert_restored", "held_in",
    "same_states", "stopping_at", "week", "weekly",
]  # fmt: skip
