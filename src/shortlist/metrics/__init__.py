"""How good an answer is, in the papers' measures, and what could be had without privacy.

Everything here reads private data and adds no noise: for experiments only. Never publish a value of
theirs about a private table; no budget pays for it.
"""

from shortlist.metrics.comparing import compare
from shortlist.metrics.discovery import Zipf, missing_mass, zipf_fit
from shortlist.metrics.hitting_set import (
    best_hitting_set,
    greedy_hitting_set,
    hits,
    missed_users,
)
from shortlist.metrics.top_k import (
    one_shot_laplace_success,
    top_k_l1,
    top_k_linf,
    top_k_missing_mass,
    top_k_relative,
)
from shortlist.metrics.trials import Trials

__all__ = [
    "Trials",
    "Zipf",
    "best_hitting_set",
    "compare",
    "greedy_hitting_set",
    "hits",
    "missed_users",
    "missing_mass",
    "one_shot_laplace_success",
    "top_k_l1",
    "top_k_linf",
    "top_k_missing_mass",
    "top_k_relative",
    "zipf_fit",
]
