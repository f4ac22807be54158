"""`python -m bench`: accuracy and speed, printed and written under `bench/results/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl

from bench import (
    accesses,
    accuracy,
    audit,
    bounds,
    choice,
    counts_speed,
    domain_speed,
    errors,
    ranking,
    real,
    report,
    reproduction,
    speed,
    store_speed,
    unseen,
)

PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "accuracy": lambda asked: accuracy.compare(asked.runs or 100),
    "errors": lambda asked: errors.compare(asked.runs or 50),
    "reproduction": lambda asked: reproduction.compare(asked.runs or 50),
    "unseen": lambda asked: unseen.compare(asked.runs or 50),
    "choice": lambda asked: choice.compare(asked.runs or 50),
    "speed": lambda asked: speed.measure(asked.scale),
    "counts-speed": lambda asked: counts_speed.measure(asked.scale),
    "domain-speed": lambda asked: domain_speed.measure(asked.scale),
    "store-speed": lambda asked: store_speed.measure(asked.scale),
    "ranking": lambda asked: ranking.measure(asked.scale, asked.runs or 100),
    "accesses": lambda asked: accesses.measure(asked.scale, asked.runs or 30),
    "bounds": lambda asked: bounds.measure(asked.scale, asked.runs or 5),
}
APART: dict[str, Callable[[argparse.Namespace], None]] = {
    "tuning": lambda asked: accuracy.tune(asked.runs or 20),
    "audit": lambda asked: audit.write_tables(asked.out),
}
_INCOMPLETE = 3  # the exit status where tables were missing


def main() -> int:
    """Run the benchmarks that were asked for; 3 if tables that they need were missing."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        default="all",
        choices=["all", *PARTS, *APART],
        help=f"all (the default) is everything but {', '.join(APART)}",
    )
    parser.add_argument("--runs", type=int, help="runs for each figure of accuracy")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="size of generated data, to try things out"
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where the tables are, if not in ../shared/data"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="write there, and leave the results that are kept in bench/results alone",
    )
    asked = parser.parse_args()
    if asked.data is not None:
        real.lie_in(asked.data)
    if asked.out is not None:
        report.into(asked.out)
    parts = PARTS if asked.what == "all" else {asked.what: (PARTS | APART)[asked.what]}
    for run in parts.values():
        run(asked)
    if absent := real.missing():
        rows = [{"file": f"{name}.parquet", "from": where} for name, where in absent.items()]
        report.show("Not measured: these files are missing", pl.DataFrame(rows))
        print("Files of users and items have the columns user and item, counts item and count.")
    return _INCOMPLETE if absent else 0


if __name__ == "__main__":
    sys.exit(main())
