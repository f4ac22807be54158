"""Which tests take long: of each test function with several cases, all but the quickest may wait.

    python -m pytest -n 2 --dist worksteal --durations=0 > times.txt
    python tools/slow_tests.py times.txt 0.5 > tests/exhaustive.txt

What is listed there is run by `make exhaustive`, and by `make test` is not: so measure with
`-m "exhaustive or not exhaustive"` where the list is to be made anew.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

# A planted mistake or a claim of privacy keeps its only quick witness, however long that takes.
KEPT = re.compile(r"catch|caught|mistake|wrong|break|privacy|(is|are)_private|forked")
_ROW = re.compile(r"([\d.]+)s (?:call|setup|teardown) +(tests/.*)")


def slow(report: str, least: float) -> Iterator[str]:
    """The cases that take so many seconds or more, but for the quickest of each test."""
    seconds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in filter(None, map(_ROW.fullmatch, report.splitlines())):
        seconds[row[2].partition("[")[0]][row[2]] += float(row[1])
    for cases in seconds.values():
        quickest = min(cases, key=lambda case: cases[case])
        yield from (case for case, took in cases.items() if took >= least and case != quickest)


def may_wait(case: str) -> bool:
    """Whether a case says nothing that others of its test do not say."""
    return not KEPT.search(case.partition("[")[0].rpartition("::")[2])


if __name__ == "__main__":
    report, least = Path(sys.argv[1]).read_text(), float(sys.argv[2])
    print(*sorted(filter(may_wait, slow(report, least))), sep="\n")
