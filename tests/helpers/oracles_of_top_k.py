"""The output law of adaptive top-k, by brute force from its definition, in plain floats."""

import itertools
import math
from functools import cache, partial
from types import SimpleNamespace

from scipy.special import ndtr

from helpers.oracles_of_counts import exponential, limited_domain
from helpers.oracles_of_policies import greedy_with_scores
from helpers.oracles_of_rounds import upper
from helpers.oracles_of_users import averaged, counts_of, weights_of

SLACK, BOLDNESS, REACH, CHOICE, MARGIN = 6.0, 3.0, 4.0, 0.02, 1.5
BITS = 2.0**-20  # the unit of weights


def top_k_oracle(mechanism, data, n_items=2, *, forced=None):
    """Each outcome: the items in their order, and their scores, or None.

    forced: From all numbers to the law of the way, in the place of the private choice.
    """
    m, outcomes = Numbers(mechanism), {}
    counts = counts_of(data, n_items)
    rounds = partial(of_rounds, m, data)
    ways = route_law(m, counts) if forced is None else forced(m)
    for way, p in ways.items():
        if way is None:
            law = averaged(data, mechanism.max_items_per_user, rounds)
        else:
            law = {(picked, None): q for picked, q in picks_law(m, counts, way).items()}
        for outcome, q in law.items():
            outcomes[outcome] = outcomes.get(outcome, 0) + p * q
    return outcomes


def greedy_or_adaptive_oracle(mechanism, data):
    """The law of either way, with the way, by the votes of all users."""
    first = chance_of_one_item(mechanism, data)
    outcomes = {
        (("all items of a user", order), scores): p * (1 - first)
        for (order, scores), p in top_k_oracle(mechanism._other, data).items()
    }
    for (found, scores), p in greedy_with_scores(mechanism._greedy, data).items():
        for order, q in orders(dict(zip(sorted(found), scores, strict=True))):
            told = ("one item of a user", order[: mechanism.k]), None
            outcomes[told] = outcomes.get(told, 0) + p * q * first
    return outcomes


def chance_of_one_item(mechanism, data):
    """That one unit is chosen, by how many items users hold."""
    design, sizes = mechanism.design, [len(held) for held in data if held]
    of_one = mechanism.max_items_per_user == 1
    several = sum(min((size - 1) / design.most, 1) for size in sizes)
    against = max(several - design.borne * sizes.count(1), 0)
    odds = (design.factor_of_one if of_one else design.factor) * math.exp(
        (
            0
            if of_one
            else min(design.cap, mechanism.choice_epsilon * design.for_units * sizes.count(1))
        )
        - mechanism.choice_epsilon * against
    )
    return odds / (1 + odds)


class Numbers:
    """All numbers of a mechanism, from its budget by the definitions."""

    def __init__(self, mechanism):
        self.k, self.bound = mechanism.k, mechanism.max_items_per_user
        self.lost = mechanism.delta / 4
        self.route, self.local = mechanism.route_epsilon, mechanism.local_epsilon
        rho, self.lost_in_rounds = mechanism._rounds
        self.choice = math.sqrt(8 * CHOICE * rho)
        self.rho = rho * (1 - 2 * CHOICE)
        self.sigma = 1 / math.sqrt(2 * self.rho)
        self.parts, self.losses = mechanism.design.schedule.parts, mechanism.design.schedule.losses
        design = mechanism.design
        self.looked_at = sorted({design.times_k * self.k, max(self.k, design.in_all)})
        self.bounds, self.grid = design.bounds, mechanism.search.grid
        self.grid_of_counts = design.grid_of_counts
        self.step = self.grid.step * BITS
        self.thresholds = [self.threshold(r) for r in range(len(self.parts))]

    def share(self, r):
        """The precision of the first r rounds, of the whole."""
        return sum(self.parts[:r]) / sum(self.parts)

    def noise(self, r):
        """Of the mean of the rounds up to r, counted from 0."""
        return self.sigma / math.sqrt(self.share(r + 1))

    def threshold(self, r):
        """The largest that a user of any size asks for."""
        first, so_far = self.share(1), self.share(r + 1)
        asked = []
        for d in range(1, self.bound + 1):
            cap = min(1, REACH / math.sqrt(d))
            weight = (first / math.sqrt(d) + (so_far - first) * cap) / so_far
            asked.append(weight + self.noise(r) * upper(self.lost_in_rounds * self.losses[r] / d))
        return max(asked)


# --- the route, and picks


def route_law(m, counts):
    """The odds of each way by how far the k-th count is ahead, as it is told."""
    falling = sorted(counts, reverse=True)

    def at(place):
        return falling[place] if place < len(falling) else 0

    scores = {None: 0.0}
    for n in m.looked_at:
        needed = 1 + (math.log(n / m.lost) + SLACK) / m.local
        scores[n] = at(m.k - 1) - at(n) - needed
    return dict(zip(scores, exponential(m.route, [*scores.values()]), strict=True))


def picks_law(m, counts, looked_at):
    """Those of limited domain."""
    numbers = {"local_epsilon": m.local, "looked_at": looked_at, "threshold_delta": m.lost}
    return limited_domain(SimpleNamespace(**numbers, max_items_per_user=None), counts, m.k)


# --- rounds that stop


def of_rounds(m, data, kept):
    """All that may come of rounds on bounded sets, and of counting whole ones."""
    kept = [held for held in kept if held]
    start = {x: () for x, w in enumerate(weights_of(kept, 3)) if w > 0}
    ranked, outcomes = cache(partial(ranked_law, m, data)), {}
    for seen, found, r, p in rounds_from(m, kept, start, {}, 0, 1.0):
        estimates = {x: estimate(m, seen[x]) for x in found}
        for order, q in orders(estimates):
            if r == len(m.parts):
                told = {(order[: m.k], None): 1.0}
            else:
                told = ranked(frozenset(order[: 2 * m.k]), r)
            for outcome, s in told.items():
                outcomes[outcome] = outcomes.get(outcome, 0) + p * q * s
    return outcomes


def rounds_from(m, kept, seen, found, r, p):
    """All ends: what was seen of each item until it was found, who was, and after which round."""
    if r and (r == len(m.parts) or is_safe(m, seen, found, r)):
        yield seen, found, r, p
        return
    left = sorted(set(seen) - set(found))
    boosts = {x: boost(m, seen[x], r) for x in left}
    sums = dict.fromkeys(left, 0.0)
    for user in kept:
        for x, weight in weights(user, boosts, r).items():
            sums[x] += weight
    laws = [
        law_on_grid(m.grid, sums[x], m.sigma / math.sqrt(m.parts[r] / sum(m.parts))) for x in left
    ]
    for rounded in itertools.product(*laws):
        told = dict(zip(left, rounded, strict=True))
        new = seen | {x: (*seen[x], (value, boosts[x])) for x, (value, _) in told.items()}
        named = found | {x: r for x in left if is_found(m, new[x])}
        yield from rounds_from(m, kept, new, named, r + 1, p * math.prod(q for _, q in rounded))


def law_on_grid(grid, score, sd):
    """Each value (None below all) that noise around a score is rounded down to."""
    size = grid.step * BITS
    rounded = range(grid.lowest, grid.highest + 1)
    below = [0.0, *(ndtr((size * value - score) / sd) for value in rounded), 1.0]
    chances = [b - a for a, b in itertools.pairwise(below)]
    return list(zip([None, *rounded], chances, strict=True))


def weights(user, boosts, r):
    """In proportion to what items are worth, none on what is found; capped. In round 0 even."""
    d = len(user)
    if r == 0:
        return dict.fromkeys(user, 1 / math.sqrt(d))
    left = [x for x in user if x in boosts]
    norm = math.sqrt(sum(boosts[x] ** 2 for x in left))
    return {x: min(1, REACH / math.sqrt(d), boosts[x] / norm) if norm else 0.0 for x in left}


def boost(m, seen, r):
    """What an item is worth, by how far it is from the next test, in whole parts of 2^11."""
    if r == 0:
        return 1.0
    if any(value is None for value, _ in seen):
        return 0.0
    num = m.step * sum(part * value for part, (value, _) in zip(m.parts, seen, strict=False))
    num /= sum(m.parts)
    done, rest = m.share(r), m.share(r + 1) - m.share(r)
    needed = max(0.0, (m.share(r + 1) * m.thresholds[r] - num) / rest)
    mean = num / done
    spread = m.sigma * math.sqrt(BOLDNESS**2 / done + 1 / rest)
    excess = max(0.0, needed - BOLDNESS * mean) / spread
    lacking = needed / max(mean, needed) if needed else 0.0
    return round(2**11 * lacking * math.exp(-(excess**2) / 2)) / 2**11


def is_found(m, seen):
    """Whether the mean of what was seen so far passes the threshold."""
    if any(value is None for value, _ in seen):
        return False
    done = sum(m.parts[: len(seen)])
    num = m.step * sum(part * value for part, (value, _) in zip(m.parts, seen, strict=False))
    return num / done >= m.thresholds[len(seen) - 1]


def estimate(m, seen):
    """Least squares: each noisy sum over what the item was worth, until it was found."""
    worth = [max(b, 0.3) for _, b in seen]
    top = sum(g * b * value for g, b, (value, _) in zip(m.parts, worth, seen, strict=False))
    return m.step * top / sum(g * b * b for g, b in zip(m.parts, worth, strict=False))


def is_safe(m, seen, found, r):
    """Whether k are found, and the k-th best seems to be far above the threshold."""
    best = sorted((estimate(m, seen[x]) for x in found), reverse=True)
    noise = m.noise(r - 1)
    return len(best) >= m.k and best[m.k - 1] >= m.thresholds[r - 1] + MARGIN * noise


# --- two looks at what was found


def ranked_law(m, data, found, r):
    """The best k by noisy clipped counts, with these."""
    rho, items, outcomes = m.rho * (1 - m.share(r)), sorted(found), {}
    for first, sd, p in looks_law(m, data, items, rho, math.sqrt(0.5)):
        kth = sorted(first.values(), reverse=True)[min(m.k, len(items)) - 1]
        apart = {x: first[x] - kth for x in items}
        few = m.k >= len(items)
        is_in = [] if few else [x for x in items if apart[x] > 1.3 * sd]
        is_open = items if few else [x for x in items if abs(apart[x]) <= 1.3 * sd]
        for second, again, q in looks_law(m, data, is_open, rho, 1.0):
            share = again**2 / (sd**2 + again**2)
            mean = {x: share * first[x] + (1 - share) * second[x] for x in is_open}
            both = share * sd, (1 - share) * again
            sds = dict.fromkeys(is_in, sd) | dict.fromkeys(is_open, math.hypot(*both))
            for order, s in orders(mean):
                named = [*is_in, *order[: m.k - len(is_in)]]
                for told, t in orders({x: (first | mean)[x] for x in named}):
                    digits = 2 - math.floor(math.log10(max(sds[x] for x in named)))
                    scores = tuple(round((first | mean)[x], digits) for x in told)
                    outcomes[told, scores] = outcomes.get((told, scores), 0) + p * q * s * t
    return outcomes


def looks_law(m, data, items, rho, share):
    """Noisy clipped counts of the items by a bound that is chosen, and the noise's sd."""
    held = [set(user) & set(items) for user in data]
    sds = [math.sqrt(bound / rho) for bound in m.bounds]
    lost = [
        sum(max(0, len(h) - math.sqrt(b * len(h))) for h in held) / len(items) for b in m.bounds
    ]
    scores = [-x - 5 * share * sd for x, sd in zip(lost, sds, strict=True)]
    choices = exponential(m.choice, scores)
    for bound, sd, p in zip(m.bounds, sds, choices, strict=True):
        grid = m.grid_of_counts(sd)
        size = grid.step * BITS
        clipped = [sum(min(1, math.sqrt(bound / len(h))) for h in held if x in h) for x in items]
        laws = [law_on_grid(grid, count, sd) for count in clipped]
        for rounded in itertools.product(*laws):
            told = [size * (grid.lowest - 1 if value is None else value) for value, _ in rounded]
            yield dict(zip(items, told, strict=True)), sd, p * math.prod(q for _, q in rounded)


def orders(values):
    """All orders of falling values, each as likely as the others."""
    ties = [
        [x for x in sorted(values) if values[x] == value]
        for value in sorted(set(values.values()), reverse=True)
    ]
    ways = list(itertools.product(*map(itertools.permutations, ties)))
    return [(tuple(itertools.chain(*way)), 1 / len(ways)) for way in ways]
