"""What to expect of an answer before anything is spent: from public parameters and guesses alone.

No table of the caller's is looked at. What is played out is played on tables that are invented
here, with bits from a fixed seed, so that the same question has the same answer.
"""

from shortlist.expectations.chances import chart_of_chances
from shortlist.expectations.playing import Expectation, expected

__all__ = ["Expectation", "chart_of_chances", "expected"]
