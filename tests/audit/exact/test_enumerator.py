"""Too few branches of the code are noticed."""

import pytest

from shortlist.audit.exact.enumerator import law_in_balls


def test_too_few_branches_are_noticed():
    def run(draws):
        draws.probability *= 0.5
        return 0

    with pytest.raises(ArithmeticError, match="do not add up"):
        law_in_balls(run)
