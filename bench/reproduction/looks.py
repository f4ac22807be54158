"""One colour for each mechanism, in all plots of the reproduction."""

from __future__ import annotations

import shortlist as sl
from bench.common.defaults import of_private_items
from bench.common.plotting import Look

__all__ = [
    "DEFAULT",
    "HITTING_SET",
    "KINDS",
    "KNOWN",
    "KNOWN_TIGHT",
    "LIMITED",
    "NOT_PRIVATE",
    "PAPER",
    "SET_UNION",
    "TOP_K",
    "ZCDP",
]

LIMITED = tuple(f"limited domain, k_bar = {looked_at}" for looked_at in ("k", "5 k", "10 k", "∞"))
PAPER = {"top-k": "the paper's: WeightedGaussianPeeling", "hitting set": "the paper's: UserPeeling"}
KINDS = {
    "top-k": of_private_items(sl.TopK(1)),
    "hitting set": of_private_items(sl.HittingSet(1)),
}
"""Our defaults."""

DEFAULT = {question: f"default: {kind.__name__}" for question, kind in KINDS.items()}
NOT_PRIVATE = "greedy, not private"
KNOWN = "private greedy, items public"
KNOWN_TIGHT = "the same, composed in zCDP"
ZCDP = "UserPeeling, composed in zCDP"

_BLUE, _ORANGE = Look("#0b6e99", width=3), Look("#d1701a", width=3)

SET_UNION = {
    "WeightedGaussian": Look("#17a2a2", width=3),
    "PolicyGaussian": Look("#8e4fa8"),
    "PolicyGreedy": Look("#8a9a01"),
}
TOP_K = {
    LIMITED[0]: Look("#c4c4c4"),
    LIMITED[1]: Look("#9a9a9a"),
    LIMITED[2]: Look("#6f6f6f"),
    LIMITED[3]: Look("#444444", dashed=True),
    PAPER["top-k"]: _ORANGE,
    DEFAULT["top-k"]: _BLUE,
}
HITTING_SET = {
    NOT_PRIVATE: Look("#444444", dashed=True),
    KNOWN: Look("#8c2d2d"),
    KNOWN_TIGHT: Look("#8c2d2d", dashed=True),
    PAPER["hitting set"]: _ORANGE,
    ZCDP: Look("#d1701a", dashed=True),
    DEFAULT["hitting set"]: _BLUE,
}
