"""Which tests take long, and may wait for `make exhaustive`, which runs what is listed.

    python -m pytest -n 2 --dist worksteal --durations=0 > times.txt
    python tools/slow_tests.py times.txt 0.15 1 > tests/exhaustive.txt

Of a test with several cases, all but the quickest may wait, where they take so many seconds as the
first number says; the quickest, too, where it takes so many as the second.
Measure with `-m "exhaustive or not exhaustive"` where the list is to be made anew.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

# A planted mistake, a claim of privacy, an example of the documents and what holds the layout keep
# their quickest case.
KEPT = re.compile(
    r"tests/docs/|test_layout|underscored"
    r"|::.*(catch|caught|mistake|wrong|break|privacy|is_private|are_private|forked)"
)
_ROW = re.compile(r"([\d.]+)s (?:call|setup|teardown) +(tests/.*)")


def slow(report: str, repeated: float, whole: float) -> Iterator[str]:
    """The cases that may wait, by how long each took."""
    seconds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in filter(None, map(_ROW.fullmatch, report.splitlines())):
        seconds[row[2].partition("[")[0]][row[2]] += float(row[1])
    for test, cases in seconds.items():
        quickest = min(cases, key=lambda case: cases[case])
        yield from (case for case, took in cases.items() if took >= repeated and case != quickest)
        if cases[quickest] >= whole and may_wait(test):
            yield quickest


def may_wait(test: str) -> bool:
    """Whether `make test` may leave a test out as a whole."""
    return not KEPT.search(test)


if __name__ == "__main__":
    report, *least = sys.argv[1:]
    print(*sorted(slow(Path(report).read_text(), *map(float, least))), sep="\n")
