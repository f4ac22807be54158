"""How many users with either of two labels hold each item, and how many users have each label."""

from __future__ import annotations

from dataclasses import dataclass

from shortlist.draws import Ints


@dataclass(frozen=True)
class LabelledCounts:
    """Holders of each of the items, which everybody knows, by the label of the holders.

    One user is a case or a control: whoever is added raises any of the counts of one of the two by
    1, and the number of these users by 1.

    Attributes:
        cases: How many cases hold each item, shape (n_items,).
        controls: How many controls do, likewise.
        n_cases: How many users are cases, also those who hold nothing.
        n_controls: How many are controls, likewise.
    """

    cases: Ints
    controls: Ints
    n_cases: int
    n_controls: int
