"""Slow twins of the accountant, written from the definitions, in ball and rational arithmetic."""

import itertools
import math
from fractions import Fraction
from functools import cache

from flint import arb, ctx

from shortlist.privacy.accountant import BoundedRange, EitherStage, PureStage

ctx.prec = 120


def value(stages, epsilon, parts):  # noqa: C901 - the definition in one place
    """The value at loss 0 where an adversary's t is a multiple of epsilon_0 / parts: in balls.

    Every range must be a whole multiple of epsilon_0, the first stage's. At most the true worst
    case, and near it for many parts.
    """
    base = Fraction(first_range(stages))

    def steps(length):
        count = Fraction(length) / base * parts
        assert count.denominator == 1
        return int(count)

    def loss(n):
        return ball(base) * n / parts

    @cache
    def chances(length):
        whole = loss(length).exp()
        return [(whole - loss(i).exp()) / (whole - 1) for i in range(length + 1)]

    @cache
    def after(rest, n):
        """Rest: stages one by one, or branches of these."""
        if not rest:
            left = 1 - (ball(Fraction(epsilon)) - loss(n)).exp()
            return left if left > 0 else arb(0)
        kind, *ways = rest[0]
        if kind == "either":
            return largest(after(way + rest[1:], n) for way in ways)
        if kind == "pure":
            (e,) = ways
            chance = 1 / (1 + (-loss(e)).exp())
            return chance * after(rest[1:], n + e) + (1 - chance) * after(rest[1:], n - e)
        (e,) = ways
        return largest(
            p * after(rest[1:], n + i) + (1 - p) * after(rest[1:], n + i - e)
            for i, p in enumerate(chances(e))
        )

    def listed(stages):
        result = ()
        for stage in stages:
            if isinstance(stage, EitherStage):
                result += (("either", listed(stage.first), listed(stage.second)),)
            else:
                kind = "pure" if isinstance(stage, PureStage) else "range"
                result += ((kind, steps(stage.epsilon)),) * stage.times
        return result

    return float(after(listed(stages), 0).mid())


def first_range(stages):
    for stage in stages:
        if isinstance(stage, EitherStage):
            found = first_range(stage.first + stage.second)
            if found is not None:
                return found
        elif isinstance(stage, BoundedRange | PureStage):
            return stage.epsilon
    return None


def largest(balls):
    return max(balls, key=lambda one: float(one.mid()))


def ball(fraction):
    return arb(fraction.numerator) / fraction.denominator


def tail(z):
    """P(standard normal > z)."""
    return (z / arb(2).sqrt()).erfc() / 2


def curve(epsilon, mu):
    """Balle & Wang (2018), Theorem 8."""
    epsilon, mu = arb(epsilon), arb(mu)
    if mu == 0:
        return max(arb(0), 1 - epsilon.exp(), key=lambda one: float(one.mid()))
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return tail(near) - epsilon.exp() * tail(far)


def weights_delta(epsilon, sigma, threshold, bound):
    """The closed form for noisy weights alone: of every (t, s), in both directions."""
    return max(
        both_ways(epsilon, sigma, threshold, t, s)
        for s in range(1, bound + 1)
        for t in range(s + 1)
    )


def both_ways(epsilon, sigma, threshold, t, s):
    passed = tail((arb(threshold) - 1 / arb(s).sqrt()) / arb(sigma))
    own_items = (1 - passed) ** t
    mu = (1 - arb(t) / s).sqrt() / arb(sigma)
    moved = own_items.log()
    adding = 1 - own_items + own_items * curve(arb(epsilon) - moved, mu)
    return max(float(adding.mid()), float(curve(arb(epsilon) + moved, mu).mid()))


def hockey_stick(left, right, epsilon):
    """Of two laws, as dictionaries."""
    return sum(
        max(0.0, chance - math.exp(epsilon) * right.get(outcome, 0.0))
        for outcome, chance in left.items()
    )


def named_sets(chances):
    """The law of the set that independent coins name."""
    law = {}
    for outcome in itertools.product((0, 1), repeat=len(chances)):
        law[outcome] = math.prod(
            chance if named else 1 - chance for chance, named in zip(chances, outcome, strict=True)
        )
    return law
