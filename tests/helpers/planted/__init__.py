"""Mistakes planted in the shipped code, to see what notices them.

Each is one mistake, by which a mechanism spends more than it says or looks at what it may not:

    with PLANTS[0].apply():
        ...  # the shipped code with that mistake
"""

from helpers.planted.in_costs import COSTS, STAGES
from helpers.planted.in_evidence import EVIDENCE
from helpers.planted.in_fitting import FITTING
from helpers.planted.in_known import KNOWN
from helpers.planted.in_looks import LOOKS
from helpers.planted.in_mechanisms import GROUPS, MECHANISMS
from helpers.planted.in_rounds import ROUNDS
from helpers.planted.in_wrappers import WRAPPERS
from helpers.planted.planting import Plant

__all__ = ["KNOWN", "NEW", "PLANTS", "Plant"]

NEW = [
    *ROUNDS,
    *LOOKS,
    *MECHANISMS,
    *GROUPS,
    *WRAPPERS,
    *EVIDENCE,
    *STAGES,
    *FITTING,
    *COSTS,
]
PLANTS = [*NEW, *KNOWN]
