"""Output laws of the policy mechanisms, by brute force from their definitions."""

import itertools
import math
from fractions import Fraction
from functools import cache

from scipy.special import ndtr

from shortlist.mechanisms.mechanism import Accounting


def mean_law(histograms, chance):
    """Each item is named by a coin of its own, in the mean over equally likely histograms."""
    oracle, histograms = {}, list(histograms)
    for histogram in histograms:
        held = [item for item in histogram if histogram[item] is not None]
        for named in itertools.product([False, True], repeat=len(held)):
            p = 1.0
            for item, yes in zip(held, named, strict=True):
                p *= chance(histogram[item]) if yes else 1 - chance(histogram[item])
            outcome = frozenset(item for item, yes in zip(held, named, strict=True) if yes)
            oracle[outcome] = oracle.get(outcome, 0) + p / len(histograms)
    return oracle


def descents(data, bound, cutoff):
    """For all subsets of the users' sets and all orders of users."""
    choices = [list(itertools.combinations(sorted(s), min(len(s), bound))) for s in data]
    for kept in itertools.product(*choices):
        for order in itertools.permutations(kept):
            weights = {item: 0.0 for items in kept for item in items}
            for items in order:
                norm = math.sqrt(sum((cutoff - weights[i]) ** 2 for i in items))
                for i in items:
                    weights[i] += (cutoff - weights[i]) * min(1.0, 1 / max(norm, 1e-300))
            yield weights


def gaussian_oracle(mechanism, data):
    return mean_law(
        descents(data, mechanism.max_items_per_user, mechanism.cutoff),
        lambda weight: ndtr((weight - mechanism.threshold) / mechanism.sigma),
    )


def units(data, cutoff, n_items, known=frozenset(), head_start=0):
    """For all orders of users and of items, of which known ones come first."""
    rankings = [
        ranking
        for ranking in itertools.permutations(range(n_items))
        if known == set(ranking[: len(known)])
    ]
    for order in itertools.permutations(data):
        for ranking in rankings:
            counts = {i: head_start if i in known and head_start else None for i in range(n_items)}
            for items in order:
                held = [i for i in ranking if i in items]
                for i in [i for i in held if (counts[i] or 0) < cutoff][:1] or held[:1]:
                    counts[i] = (counts[i] or 0) + 1
            yield counts


def laplace_tail(x):
    return math.exp(-x) / 2 if x > 0 else 1 - math.exp(x) / 2


def private(less, more, epsilon, delta):
    """Whether two chances of one name are within (epsilon, delta), either way, named or not."""
    pairs = (less, more), (more, less), (1 - less, 1 - more), (1 - more, 1 - less)
    growth = Fraction(math.exp(epsilon))
    return all(left <= growth * right + Fraction(delta) for left, right in pairs)


@cache
def best_chance(units, epsilon, delta):
    """The largest chance that is private beside that of one unit less, by halving, to 2^-100."""
    if units == 0:
        return Fraction(0)
    less = best_chance(units - 1, epsilon, delta)
    low, high, one = math.floor(less * 2**100), 2**100, 2**100
    if private(less, Fraction(1), epsilon, delta):
        return Fraction(1)
    while high - low > 1:
        middle = (low + high) // 2
        good = private(less, Fraction(middle, one), epsilon, delta)
        low, high = (middle, high) if good else (low, middle)
    return Fraction(low, one)


def greedy_chance(mechanism, count):
    """To name an item of so many units, above 0."""
    if mechanism.accounting is Accounting.PUBLISHED:
        return laplace_tail(mechanism.epsilon * (mechanism.threshold - count))
    return float(best_chance(count, mechanism.epsilon, mechanism.delta))


def greedy_with_scores(mechanism, data):
    """The names in rising order, and how far each item's units are above a random need."""
    oracle, histograms = {}, list(units(data, mechanism.cutoff, 3))
    for histogram in histograms:
        held = [item for item in histogram if histogram[item]]
        for told in itertools.product(*(needs(mechanism, histogram[item]) for item in held)):
            named = [i for i, (score, _) in zip(held, told, strict=True) if score is not None]
            scores = tuple(float(score) for score, _ in told if score is not None)
            outcome = frozenset(named), scores
            p = math.prod(chance for _, chance in told) / len(histograms)
            oracle[outcome] = oracle.get(outcome, 0) + p
    return oracle


def needs(mechanism, count):
    """The scores of an item of so many units, None where it is not named, and their chances."""
    chances = [greedy_chance(mechanism, n) if n else 0.0 for n in range(count + 1)]
    yield None, 1 - chances[-1]
    for needed in range(1, count + 1):
        if chances[needed] > chances[needed - 1]:
            yield count - needed + mechanism.threshold, chances[needed] - chances[needed - 1]


def greedy_oracle(mechanism, data, known=frozenset()):
    histograms = units(data, mechanism.cutoff, 3, known, mechanism.head_start)
    return mean_law(histograms, lambda count: greedy_chance(mechanism, count))
