"""Walks on few items, by fractions: independent of the code."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from shortlist.evidence import Outcomes


def outcomes(n, pairs, bound=None):
    """Comparisons from (first, second, times, wins of the first)."""
    columns = np.array(pairs, np.int64).reshape(-1, 4).T
    return Outcomes(*columns, n, bound)


def complete(n, times, wins):
    """Every pair is compared; times and wins in the order of `triu_indices`, or one for all."""
    first, second = np.triu_indices(n, 1)
    times = np.broadcast_to(times, len(first))
    return Outcomes(first, second, times.astype(np.int64), np.array(wins, np.int64), n)


def transitions(seen, degree):
    """The transition matrix, as lists of fractions."""
    n = seen.n_items
    matrix = [[Fraction(0)] * n for _ in range(n)]
    columns = (seen.first, seen.second, seen.times, seen.wins)
    for i, j, times, wins in zip(*(column.tolist() for column in columns), strict=True):
        matrix[i][j] = Fraction(times - wins, times * degree)
        matrix[j][i] = Fraction(wins, times * degree)
    for i in range(n):
        matrix[i][i] = 1 - sum(matrix[i])
    return matrix


def stationary(matrix):
    """The stationary distribution, by Gauss and Jordan's elimination; None if it is not single."""
    n = len(matrix)
    rows = [[matrix[i][j] - (i == j) for i in range(n)] + [Fraction(0)] for j in range(n - 1)]
    rows.append([Fraction(1)] * (n + 1))
    for column in range(n):
        pivot = next((r for r in range(column, n) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [x / rows[column][column] for x in rows[column]]
        for r in range(n):
            if r != column and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[column], strict=True)]
    return [row[n] for row in rows]


def tau(matrix):
    """The ergodicity coefficient, by its formula."""
    return max(
        (sum(abs(x - y) for x, y in zip(a, b, strict=True)) / 2 for a in matrix for b in matrix),
        default=Fraction(0),
    )


@st.composite
def graphs(draw, most=5, *, full=False):
    """Outcomes on a connected graph, pairs compared 1 to 4 times."""
    n = draw(st.integers(2, most))
    pairs = []
    for i in range(n):
        for j in range(i + 1, n):
            if full or j == i + 1 or draw(st.booleans()):
                times = draw(st.integers(1, 4))
                pairs.append((i, j, times, draw(st.integers(0, times))))
    return outcomes(n, pairs)


def changed(seen, pair):
    """The same with the outcome of one comparison of that pair changed."""
    wins = seen.wins.copy()
    wins[pair] += 1 if wins[pair] < seen.times[pair] else -1
    return Outcomes(seen.first, seen.second, seen.times, wins, seen.n_items)
