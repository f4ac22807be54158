"""`python -m bench`: accuracy and speed, printed and written under `bench/results/`."""

from __future__ import annotations

import argparse


def main() -> None:
    """Run the benchmarks that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "what",
        nargs="?",
        default="all",
        choices=["all", "accuracy", "speed", "tuning"],
        help="all (the default) is accuracy and speed",
    )
    parser.add_argument("--runs", type=int, default=100, help="runs for each accuracy figure")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="size of the generated tables, to try things out"
    )
    asked = parser.parse_args()
    if asked.what in ("all", "accuracy"):
        from bench import accuracy

        accuracy.compare(asked.runs)
    if asked.what in ("all", "speed"):
        from bench import speed

        speed.measure(asked.scale)
    if asked.what == "tuning":
        from bench import accuracy

        accuracy.tune(asked.runs)


if __name__ == "__main__":
    main()
