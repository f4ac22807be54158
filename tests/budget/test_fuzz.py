"""A thousand random sequences of questions, beside a model in exact rationals."""

import random
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

import shortlist as sl
from helpers.budgets import TinyCounts, created, fast_folder, plan_of
from helpers.exhaustive import exhaustive
from shortlist.privacy import ZCDP, Approximate, Gaussian, Pure

SEQUENCES, LONGEST = 1000, 8
SIZES = [1 / 3, 0.1, 1 / 7, 0.2, 1e-3, 0.5, 1 / 128]


@dataclass
class Model:
    """What must happen, in rationals of the floats alone."""

    total: tuple
    spent: list = field(default_factory=lambda: [Fraction(0), Fraction(0)])

    def accepts(self, cost):
        after = [a + Fraction(b) for a, b in zip(self.spent, cost, strict=True)]
        if all(a <= b for a, b in zip(after, self.total, strict=True)):
            self.spent = after
            return True
        return False


def cost_of(rng, accounting):
    """A cost, what it takes in that unit, and the epsilon and delta that were asked for."""
    epsilon, delta = rng.choice(SIZES), rng.choice([0.0, 1e-7, 1e-8])
    if accounting == "pure":
        return Pure(epsilon), (epsilon, 0.0), (epsilon, 0.0)
    cost = rng.choice(
        [
            lambda: Pure(epsilon),
            lambda: Pure.bounded_range(epsilon) * 3,
            lambda: Gaussian(epsilon / 50, delta),
            lambda: ZCDP(epsilon / 50, delta),
            lambda: Approximate(epsilon, delta),
            lambda: Pure(epsilon) + Gaussian(epsilon / 70, delta),
        ]
    )()
    asked = 2 * epsilon, 1e-7
    if accounting == "basic":
        return cost, (asked[0], max(asked[1], cost.delta(asked[0]))), asked
    return cost, (cost.rho, cost.lost), asked


@pytest.mark.parametrize("part", [0, *exhaustive(*range(1, 8))])
def test_what_is_accepted_is_what_a_model_accepts(part):
    rng = random.Random(part)
    accepted = refused = 0
    with fast_folder() as folder:
        for number in range(SEQUENCES // 8):
            accounting = rng.choice(["zcdp", "zcdp", "basic", "pure"])
            epsilon = rng.choice([0.5, 1.0, 3.0])
            delta = 0.0 if accounting == "pure" else 1e-6
            budget = created(f"{folder}/{number}", epsilon, delta, accounting=accounting)
            model = Model(budget.terms.total)
            for _ in range(rng.randint(1, LONGEST)):
                cost, taken, (asked, lost) = cost_of(rng, accounting)
                engine = TinyCounts()
                plan = plan_of(budget, engine=engine, cost=cost, epsilon=asked, delta=lost)
                expected = model.accepts(taken)
                if expected:
                    budget.charge(plan)
                    accepted += 1
                else:
                    with pytest.raises(sl.InputError, match="left, and this question costs"):
                        budget.charge(plan)
                    refused += 1
            assert tuple(budget.standing().spent) == tuple(model.spent)
            within(budget, accounting)
    assert min(accepted, refused) > 50


def within(budget, accounting):
    """The total cost, by the library's own conversions, is never above the budget."""
    spent, terms = budget.standing().spent, budget.terms
    if not spent.first:
        return
    if accounting == "zcdp":
        total = ZCDP(float(spent.first), float(spent.delta))
        assert total.delta(terms.epsilon) <= terms.delta
    assert budget.epsilon_left <= terms.epsilon
