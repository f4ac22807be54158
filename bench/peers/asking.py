"""What each program of another library is told, and what it tells. Only of the standard library."""

import ast
import inspect
import json
import sys
import textwrap
import time
from collections.abc import Callable, Mapping

EPSILON, DELTA = 1.0, 1e-6
K, FLOOR = 20, 100
BOUNDS = 10, 50
CAP = 30.0  # of what one user spent on an item
Counts = list[tuple[str, float]]


def bound() -> int:
    """How many items of a user count, as was chosen by hand."""
    return int(sys.argv[3])


def lines_of(question: Callable[..., object]) -> int:
    """How many lines the body of a function has, its docstring left out."""
    lines = textwrap.dedent(inspect.getsource(question)).splitlines()
    (tree,) = ast.parse("\n".join(lines)).body
    first = tree.body[1 if ast.get_docstring(tree) else 0]  # type: ignore[attr-defined,arg-type]
    return sum(bool(line.strip()) for line in lines[first.lineno - 1 :])


def tell(questions: Mapping[str, Callable[[str, str, list[str]], Counts]]) -> None:
    """Answer each for what the command line says: table, condition, bound and known items."""
    path, condition, _, *known = sys.argv[1:]
    for name, question in questions.items():
        begin = time.perf_counter()
        answer = question(path, condition, known)
        seconds = time.perf_counter() - begin
        told = {"question": name, "answer": answer, "seconds": seconds, "lines": lines_of(question)}
        print("\n" + json.dumps(told), flush=True)
