"""Many who charge one budget at once, and some who are killed: `python tools/ledgers.py ROLE …`.

A process of its own, which forks before Polars is loaded. It prints what was found as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import flint  # noqa: F401 - all but Polars is loaded before a fork
import numba  # noqa: F401
import numpy as np
import scipy.special  # noqa: F401

import shortlist as sl
from shortlist.draws import Draws
from shortlist.engines import Engine, ShownEvidence
from shortlist.evidence import PublicCounts, Wants
from shortlist.mechanisms import PermuteAndFlip
from shortlist.plan import Chargeable, Plan
from shortlist.privacy.guarantee import Guarantee

__all__ = ["PART", "TOTAL", "TinyCounts", "forked", "plan_of"]

TOTAL, PART = 200 / 128, 1 / 128  # 200 parts are the total, exactly


class TinyCounts(Engine):
    """Three counts, of which it is noted that they were read.

    Attributes:
        times_read: How often.
    """

    can_show = (PublicCounts,)
    items_are_public = True

    def __init__(self, unit: str | None = "user", name: str = "tiny") -> None:
        self.times_read = 0
        self._unit, self._name = unit, name

    @property
    def unit(self) -> str | None:
        """As given."""
        return self._unit

    def about(self) -> dict[str, object]:
        """As given."""
        return {"name": self._name}

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - one kind
        """The counts."""
        import polars as pl

        self.times_read += 1
        items = pl.DataFrame({"item": ["a", "b", "c"]})
        yield ShownEvidence(PublicCounts(np.array([30, 20, 10])), items.__getitem__, 3)


def plan_of(
    budget: Chargeable | None,
    part: float = PART,
    *,
    engine: Engine | None = None,
    **changed: object,
) -> Plan:
    """A question for one item, which costs so much; `changed` are parts of its guarantee."""
    question = sl.TopK(1)
    priced = {"cost": "cost", "delta": "spent_delta", "adjacency": "adjacency"}
    own = {priced[name]: value for name, value in changed.items() if name in priced}
    kind = type("PermuteAndFlip", (PermuteAndFlip,), own)
    mechanism = kind(k=1, epsilon=changed.get("epsilon", part))
    promise = {
        "epsilon": part,
        "delta": 0.0,
        "cost": mechanism.cost,
        "adjacency": mechanism.adjacency,
        "protects": 'all rows of any one "user"',
        "assumes": (),
    }
    guarantee = Guarantee(**(promise | changed))  # type: ignore[arg-type]
    return Plan(
        question=question,
        mechanism=mechanism,
        guarantee=guarantee,
        engine=engine or TinyCounts(),
        promises=lambda *_: guarantee,
        budget=budget,
    )


def crowd(place: str, processes: int, threads: int, times: int) -> dict[str, int]:
    """Let threads of processes charge a part each, so often: how many were accepted and refused."""
    pipes = [forked(lambda: _crowded(place, threads, times)) for _ in range(processes)]
    told = [json.loads(Path(f"/dev/fd/{pipe}").read_text()) for pipe, _ in pipes]
    for _, child in pipes:
        os.waitpid(child, 0)
    return {name: sum(one[name] for one in told) for name in ("accepted", "refused", "failed")}


def _crowded(place: str, threads: int, times: int) -> dict[str, int]:
    budget = _opened(place)
    counts = {"accepted": 0, "refused": 0, "failed": 0}
    lock = threading.Lock()

    def ask() -> None:
        for _ in range(times):
            name = _charged(budget)
            with lock:
                counts[name] += 1

    asking = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    return counts


def _opened(place: str) -> sl.Budget:
    """The budget, even where connections are cut."""
    for _ in range(100):
        with contextlib.suppress(sl.InputError):
            return sl.Budget(place)
        time.sleep(0.05)
    return sl.Budget(place)


def _charged(budget: sl.Budget) -> str:
    try:
        budget.charge(plan_of(None))
    except sl.InputError as error:
        return "refused" if "and this question costs" in str(error) else "failed"
    return "accepted"


def kills(place: str, times: int, seed: int) -> dict[str, int]:
    """Kill so many that ask without end, and look at the ledger each time.

    What is delivered is told by a pipe, as soon as the release was returned.
    """
    rng = random.Random(seed)
    found = {"kills": times, "delivered": 0, "without a charge": 0, "unreadable": 0, "wrong sum": 0}
    budget, delivered = sl.Budget(place), set()
    for _ in range(times):
        pipe, child = forked(lambda: _asking(place))
        told, enough = os.read(pipe, 1), rng.randint(0, 2)  # it is at work
        while told.count(b"\n") < enough:
            told += os.read(pipe, 4096)
        time.sleep(rng.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(pipe, 4096):
            told += more
        os.close(pipe)
        delivered |= {int(line) for line in told[1:].split(b"\n")[:-1]}
        for name, holds in _looked_at(budget, delivered).items():
            found[name] += not holds
    charges = budget.to_csv().splitlines()[1:]
    unknown = sum(",unknown," in line for line in charges)
    return found | {"delivered": len(delivered), "charges": len(charges), "unknown": unknown}


def _asking(place: str) -> None:
    """Ask without end, and tell of each answer by its number."""
    budget = sl.Budget(place)
    plan_of(None).run()  # all is loaded
    os.write(1, b"!")
    while True:
        release = plan_of(budget).run()
        os.write(1, f"{release.budget.split()[1]}\n".encode())


def _looked_at(budget: sl.Budget, delivered: set[int]) -> dict[str, bool]:
    """What must hold after each kill."""
    try:
        rows = [line.split(",") for line in budget.to_csv().splitlines()[1:]]
        faults, spent = budget.verify(), budget.standing().spent
    except Exception:  # noqa: BLE001 - it is counted, whatever it is
        return {"unreadable": False}
    cost = budget.terms.unit.cost(plan_of(None).guarantee)
    return {
        "unreadable": not faults,
        "wrong sum": spent.first == cost.first * len(rows),
        "without a charge": delivered <= {int(row[0]) for row in rows},
    }


def forked(action) -> tuple[int, int]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """A child that does it, with a pipe for its standard output, to which what it returns goes."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            os.dup2(writer, 1)
            os.write(1, json.dumps(action()).encode())
            status = 0
        os._exit(status)
    os.close(writer)
    return reader, child


def main() -> None:
    """Play a role: crowd PLACE PROCESSES THREADS TIMES, or kills PLACE TIMES SEED."""
    role, place, *numbers = sys.argv[1:]
    played = {"crowd": crowd, "kills": kills}[role]
    print(json.dumps(played(place, *map(int, numbers))))


if __name__ == "__main__":
    main()
