"""Mistakes planted in the shipped code, to see what notices them.

Each is one mistake, by which a mechanism spends more than it says or looks at what it may not:

    with PLANTS[0].apply():
        ...  # the shipped code with that mistake
"""

from helpers.planted.in_accountant import ACCOUNTANT
from helpers.planted.in_choices import CHOICES
from helpers.planted.in_costs import COSTS
from helpers.planted.in_known import KNOWN
from helpers.planted.in_rounds import ROUNDS
from helpers.planted.in_wrappers import WRAPPERS
from helpers.planted.planting import Plant

__all__ = ["KNOWN", "NEW", "PLANTS", "Plant"]

NEW = [*ROUNDS, *CHOICES, *WRAPPERS, *ACCOUNTANT, *COSTS]
PLANTS = [*NEW, *KNOWN]
