"""How long the command takes, of which the rows of a table that is not large are little."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from bench.common import report, samples
from bench.common.timing import command, in_turns

__all__ = ["measure"]

PRICE = ("--user=user", "--item=item", "--epsilon=1", "--delta=1e-6")
FEW = "a top-k of 20,000 rows"
AIMS = {FEW: 0.5, "its help": 0.12, "the first top-k after installing": 2.5}


def measure(scale: float = 1.0, runs: int = 9) -> None:
    """Write two tables, run the command on them, print and write.

    Args:
        scale: Of the larger table.
        runs: Turns of each.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        small = samples.write(samples.MILLION.scaled(0.02), "text", folder)
        few = small.rename(folder / "few.parquet")
        million = samples.write(samples.MILLION.scaled(scale), "text", folder)
        taken = in_turns(_jobs(few, million), runs=runs)
        taken |= in_turns({"the first top-k after installing": _anew(few)}, runs=1)
    rows = []
    for job, times in taken.items():
        low, middle, high = np.quantile(times.cpu, (0.25, 0.5, 0.75))
        aim = AIMS.get(job)
        met = None if aim is None else "yes" if middle <= aim else "no"
        rows.append(
            {"job": job, "CPU seconds": middle, "quartile 1": low, "quartile 3": high}
            | {"seconds": times.median, "aim": aim, "met": met}
        )
    note = (
        f"A process each, in turns, its output to nobody's screen: medians of {runs} runs, after "
        f"one to warm up. CPU seconds: of all cores. The large table has {1_000_000 * scale:,.0f} "
        "rows of text. The first top-k after installing compiles its loops; of one run. Aims are "
        "of CPU seconds."
    )
    report.write("shell", "From the shell", {"Figures": pl.DataFrame(rows)}, [note])


def _jobs(few: Path, million: Path) -> dict[str, Callable[[], object]]:
    shortlist = str(Path(sys.executable).with_name("shortlist"))

    def asked(question: str, path: Path, *more: str) -> Callable[[], object]:
        return command(shortlist, question, str(path), *PRICE, *more)

    return {
        FEW: asked("top-k", few, "-k20"),
        "a domain of them": asked("domain", few),
        "a hitting set of them": asked("hitting-set", few, "-k20"),
        "the plan of a top-k: --dry-run": asked("top-k", few, "-k20", "--dry-run"),
        "a top-k of the large table": asked("top-k", million, "-k100"),
        "its help": command(shortlist, "--help"),
        "help of a question: top-k --help": command(shortlist, "top-k", "--help"),
        "import shortlist, in Python": command(sys.executable, "-c", "import shortlist"),
        "nothing, in Python": command(sys.executable, "-c", "pass"),
    }


def _anew(path: Path) -> Callable[[], object]:
    """The question with nothing compiled before it."""
    code = "import sys; from shortlist.cli import main; sys.argv[0] = 'shortlist'; main()"

    def job() -> None:
        with TemporaryDirectory() as empty:
            os.environ["NUMBA_CACHE_DIR"] = empty
            try:
                command(sys.executable, "-c", code, "top-k", str(path), *PRICE, "-k20")()
            finally:
                del os.environ["NUMBA_CACHE_DIR"]

    return job
