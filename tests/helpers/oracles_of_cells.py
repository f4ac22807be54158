"""What picked items are told with: in which cell each noisy count is."""

import itertools
import math

from helpers.noisy_counts import tail
from helpers.oracles_of_counts import peeling_oracle


def of_cells(noise, edges):
    """The chance of each cell between the edges."""
    below = [tail(noise, -edge) if edge < 0 else 1 - tail(noise, edge) for edge in edges]
    return [b - a for a, b in itertools.pairwise([0.0, *below, 1.0])]


def picked_with_cells(mechanism, counts, chances):
    """Each outcome with its chance, given that of each cell for each item."""
    picks = peeling_oracle(counts, mechanism.k, mechanism.selection.local_epsilon)
    for picked, p in picks.items():
        for told in itertools.product(range(len(chances[0])), repeat=len(picked)):
            inside = (chances[i][cell] for i, cell in zip(picked, told, strict=True))
            yield (picked, told), p * math.prod(inside)
