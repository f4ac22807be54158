"""`python -m bench`: accuracy and speed, printed and written under `bench/results/`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

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
    reproduction,
    speed,
    store_speed,
)

PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "accuracy": lambda asked: accuracy.compare(asked.runs or 100),
    "errors": lambda asked: errors.compare(asked.runs or 50),
    "reproduction": lambda asked: reproduction.compare(asked.runs or 50),
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
    "audit": lambda _: audit.write_tables(),
}


def main() -> None:
    """Run the benchmarks that were asked for."""
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
    asked = parser.parse_args()
    parts = PARTS if asked.what == "all" else {asked.what: (PARTS | APART)[asked.what]}
    for run in parts.values():
        run(asked)


if __name__ == "__main__":
    main()
