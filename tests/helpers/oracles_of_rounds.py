"""The output law of set union in rounds, by brute force from its definition, in plain floats."""

import itertools
import math
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

from scipy.special import ndtr

from helpers.oracles_of_counts import peeling_oracle
from helpers.oracles_of_policies import greedy_with_scores
from helpers.oracles_of_users import averaged, weights_of

FLOOR, BOLDNESS, TOO_FAR = 0.25**2, 1.5, 2.5
SHARED = ("sigma", "search", "_release")  # by all bounds that are chosen from
OF_ITEMS = 0.15  # of the zCDP, where pairs are picked of what is found


def rounds_oracle(mechanism, data, known=frozenset()):
    """The mean over what bounding may keep; of items of which everybody knows some."""
    return averaged(data, mechanism.max_items_per_user, partial(of_kept, mechanism, known=known))


def chosen_bound_oracle(mechanism, data):
    """The same at each bound, with the bound, by the odds of each."""
    outcomes = {}
    odds = list(odds_of_bounds(mechanism, data))
    for bound, search, weight in zip(mechanism.bounds, mechanism._searches, odds, strict=True):
        at_bound = SimpleNamespace(
            **{name: getattr(mechanism, name) for name in SHARED},
            max_items_per_user=bound,
            thresholds=search.thresholds,
            threshold=search.threshold,
        )
        for (found, first), p in rounds_oracle(at_bound, data).items():
            told = (f"at most {bound} items of a user", found), first
            outcomes[told] = p * weight / sum(odds)
    return outcomes


def greedy_or_rounds_oracle(mechanism, data):
    """The law of either way, with the way, by the votes of all users."""
    greedy, rounds = mechanism._greedy, mechanism._other
    lean = mechanism.design.worth * rounds.threshold / greedy.threshold
    ahead = [lean - math.sqrt(min(len(held), rounds.max_items_per_user)) for held in data if held]
    first = chance_of_units(mechanism, [one / mechanism.design.most for one in ahead])
    outcomes = {}
    for branch, weight, oracle in (
        ("one item of a user", first, greedy_with_scores(greedy, data)),
        ("rounds", 1 - first, rounds_oracle(rounds, data)),
    ):
        for (found, scores), p in oracle.items():
            told = (branch, frozenset(found)), scores
            outcomes[told] = outcomes.get(told, 0) + p * weight
    return outcomes


def chance_of_units(mechanism, votes):
    """That one unit is chosen by these votes, each cut off at 1."""
    votes = [max(-1, min(vote, 1)) for vote in votes]
    for_units, against = (sum(max(sign * vote, 0) for vote in votes) for sign in (1, -1))
    range_ = mechanism.choice_epsilon
    first = mechanism.design.factor * math.exp(-range_ * against)
    return first / (first + math.exp(-range_ * for_units))


def pairs_oracle(mechanism, data):
    """Rounds of single items without an even part, then picks of all pairs of those found."""
    sigma = 1 / math.sqrt(2 * OF_ITEMS * mechanism.rho)
    rounds = SimpleNamespace(
        **{name: getattr(mechanism, name) for name in ("search", "_release", "thresholds")},
        sigma=sigma,
        threshold=mechanism.threshold,
        max_items_per_user=mechanism.most_items,
        floor=0.0,
    )
    outcomes = {}
    for (found, _), p in rounds_oracle(rounds, data).items():
        pairs = list(itertools.combinations(sorted(found), 2))
        together = [sum(held.issuperset(pair) for held in data) for pair in pairs]
        for picked, q in peeling_oracle(together, mechanism.k, mechanism.local_epsilon).items():
            told = tuple(3 * pairs[place][0] + pairs[place][1] for place in picked)
            outcomes[told] = outcomes.get(told, 0) + p * q
    return outcomes


def odds_of_bounds(mechanism, data):
    """By what users lose at each."""
    thresholds = [search.threshold for search in mechanism._searches]
    sizes = [len(held) for held in data if held]
    whole = mechanism.design.whole
    for bound, threshold in zip(mechanism.bounds, thresholds, strict=True):
        costs = min(2 * (1 - min(thresholds) / threshold), 1)
        lost = sum(min(size / whole, 1) * (1 if size > bound else costs) for size in sizes)
        factor = (min(bound, 100) / max(bound, 100)) ** 0.75
        yield factor * math.exp(-mechanism.choice_epsilon * lost)


class Bars(NamedTuple):
    """What an item has to reach after each round, and whether it is heard of in all of them."""

    thresholds: tuple
    is_known: bool = False


def of_kept(mechanism, kept, known):
    """Each outcome: the items found, and the first noisy weight of each."""
    kept = [held for held in kept if held]
    outcomes = {}
    weights = {x: w for x, w in enumerate(weights_of(kept, 3)) if w > 0}
    start = dict.fromkeys(sorted(set(weights) | known), ())
    bars = dict.fromkeys(start, Bars(mechanism.thresholds))
    bars |= {x: Bars(tuple(known_thresholds(mechanism)), is_known=True) for x in known}
    for history, p in after(mechanism, bars, kept, start, frozenset(), 1.0):
        outcomes[history] = outcomes.get(history, 0) + p
    return outcomes


def known_thresholds(mechanism):
    """What an item that nobody holds reaches with 1 % in all rounds, if that is less."""
    schedule, done = mechanism.search.schedule, 0
    for threshold, part, loss in zip(
        mechanism.thresholds, schedule.parts, schedule.losses, strict=True
    ):
        done += part
        sd = mechanism.sigma * math.sqrt(sum(schedule.parts) / done)
        yield min(threshold, sd * upper(0.01 * loss))


def after(mechanism, bars, kept, seen, found, p):
    """All that may come of noisy weights seen so far, of each item."""
    r = max(map(len, seen.values()), default=0)
    parts = mechanism.search.schedule.parts
    if not seen or r == len(parts):
        yield told(mechanism, seen, found), p
        return
    sums = {
        x: sum(weight_of(mechanism, bars, user, seen, found, r).get(x, 0) for user in kept)
        for x in seen
    }
    left = sorted(set(seen) - found)
    laws = [law_of_round(mechanism, bars[x], seen[x], sums[x], r) for x in left]
    for outcome in itertools.product(*laws):
        new = {x: (*seen[x], None) for x in found}
        new |= {x: (*seen[x], value) for x, (value, _, _) in zip(left, outcome, strict=True)}
        named = found | {x for x, (_, yes, _) in zip(left, outcome, strict=True) if yes}
        yield from after(mechanism, bars, kept, new, named, p * math.prod(q for _, _, q in outcome))


def law_of_round(mechanism, bars, seen, total, r):
    """For each rounded value: whether it finds the item, and its chance; at last, the coin."""
    parts, grid = mechanism.search.schedule.parts, mechanism.search.grid
    size, done = grid.step / 2**20, sum(parts[: r + 1])
    sd = mechanism.sigma * math.sqrt(sum(parts) / parts[r])
    bar = done * bars.thresholds[r]
    is_out = -1 in seen or is_dropped(mechanism, bars, seen)
    before = -math.inf if is_out else size * sum(map(math.prod, zip(parts, seen, strict=False)))
    if r == len(parts) - 1:
        chance = ndtr((before + parts[r] * total - bar) / (parts[r] * sd))
        return [(None, True, chance), (None, False, 1 - chance)]
    ends = [size * value for value in range(grid.lowest, grid.highest + 1)]
    below = [ndtr((end - total) / sd) for end in ends]
    chances = [b - a for a, b in itertools.pairwise([0.0, *below, 1.0])]
    return [
        (value, value >= 0 and before + parts[r] * size * value >= bar, q)
        for value, q in enumerate(chances, start=-1)
    ]


def weight_of(mechanism, bars, user, seen, found, r):
    """What a user adds to each item held, in round r."""
    d = len(user)
    if r == 0:
        return dict.fromkeys(user, 1 / math.sqrt(d))
    left = [x for x in user if x not in found]
    boosts = {x: boost(mechanism, bars[x], seen[x], r) for x in left}
    total = sum(b**2 for b in boosts.values())
    even = getattr(mechanism, "floor", FLOOR) / d
    free = 1 - len(left) * even
    cap = cap_of(mechanism, d)
    squares = {x: even + (free * b**2 / total if total else 0) for x, b in boosts.items()}
    return {x: min(cap, math.sqrt(square)) for x, square in squares.items()}


def cap_of(mechanism, d):
    """By the definition, from the thresholds of even weights."""
    sigma, one = mechanism.sigma, float(mechanism.search.schedule.spent(1))

    def noise(d):
        return sigma * upper(mechanism._release.lost * 0.9 / d)

    first = max(1 / math.sqrt(n) + noise(n) for n in range(1, mechanism.max_items_per_user + 1))
    even = 1 / math.sqrt(d)
    return max(even, min(1, 8 * even, (1.06 * first - noise(d) - one * even) / (1 - one)))


def upper(chance):
    """What a standard normal number exceeds with that chance, by bisection."""
    low, high = -40.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if ndtr(-middle) > chance else (low, middle)
    return low


def is_dropped(mechanism, bars, seen):
    """Whether it was too far from the last threshold after any of these rounds."""
    return not bars.is_known and any(
        missing(mechanism, bars, seen[: r + 1])[1] > TOO_FAR for r in range(len(seen))
    )


def boost(mechanism, bars, seen, r):
    """In whole parts of 2^11."""
    if -1 in seen or is_dropped(mechanism, bars, seen):
        return 0.0
    lacking, excess = missing(mechanism, bars, seen[:r])
    return round(2**11 * lacking * math.exp(-(max(0.0, excess) ** 2) / 2)) / 2**11


def missing(mechanism, bars, seen):
    """What is lacking, and by how many standard deviations it is more than can be hoped for."""
    parts, whole = mechanism.search.schedule.parts, mechanism.search.schedule.whole
    size = mechanism.search.grid.step / 2**20
    sums = size * sum(map(math.prod, zip(parts, seen, strict=False))) / whole
    done = sum(parts[: len(seen)]) / whole
    rest, mean = 1 - done, sums / done
    needed = (bars.thresholds[-1] - sums) / rest
    spread = mechanism.sigma * math.sqrt(BOLDNESS**2 / done + 1 / rest)
    lacking = min(1.0, max(0.0, needed) / mean) if mean > 0 else float(needed > 0)
    return lacking, (needed - BOLDNESS * mean) / spread


def told(mechanism, seen, found):
    """The items found, with the noisy weights of the first round."""
    size = mechanism.search.grid.step / 2**20
    return frozenset(found), tuple(size * seen[x][0] for x in sorted(found))
