"""`python -m bench`: accuracy and speed, printed and written under `bench/results/`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

from bench import accuracy, privacy, reproduction, speed
from bench.common import real, report

PARTS = {**accuracy.PARTS, **reproduction.PARTS, **speed.PARTS, **privacy.PARTS}
_INCOMPLETE = 3  # the exit status where tables were missing


def main() -> int:
    """Run the benchmarks that were asked for; 3 if tables that they need were missing."""
    asked = _parser().parse_args()
    if asked.data is not None:
        real.lie_in(asked.data)
    if asked.out is not None:
        report.into(asked.out)
    usual = [part for part in PARTS.values() if not part.apart]
    for part in usual if asked.what == "all" else [PARTS[asked.what]]:
        part.run(asked)
    if absent := real.missing():
        rows = [{"file": f"{name}.parquet", "from": where} for name, where in absent.items()]
        report.show("Not measured: these files are missing", pl.DataFrame(rows))
        print("Files of users and items have the columns user and item, counts item and count.")
    return _INCOMPLETE if absent else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    apart = ", ".join(name for name, part in PARTS.items() if part.apart)
    parser.add_argument(
        "what",
        nargs="?",
        default="all",
        choices=["all", *PARTS],
        help=f"all (the default) is everything but {apart}",
    )
    parser.add_argument("--runs", type=int, help="runs for each figure of accuracy, or turns")
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
    parser.add_argument(
        "--peers",
        type=Path,
        metavar="DIR",
        help="where environments with other libraries are, which ask runs beside this one",
    )
    parser.add_argument(
        "--commit",
        default="HEAD^",
        metavar="REV",
        help="what beside measures this checkout against, by default the commit before",
    )
    parser.add_argument(
        "--of",
        nargs="+",
        metavar="NAME",
        help="of which mechanisms and series audit writes the rows anew, such as peeling; or all",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
