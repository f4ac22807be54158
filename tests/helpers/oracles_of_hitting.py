"""The output law of adaptive hitting sets, by brute force from its definition, in plain floats."""

import itertools
import math
from functools import partial

from scipy.special import ndtr

from helpers.hitting import picks_oracle
from helpers.oracles_of_rounds import upper
from helpers.oracles_of_users import averaged, weights_of

BOLDNESS, REACH, RESERVED = 3.0, 4.0, 0.05
LOOK = 1 / 200
BITS = 2.0**-20  # the unit of weights


def hitting_oracle(mechanism, data):
    """The mean over what bounding may keep."""
    law = partial(of_kept, Numbers(mechanism), data)
    return averaged(data, mechanism.max_items_per_user, law)


class Numbers:
    """All numbers of a mechanism, from its budget by the definitions."""

    def __init__(self, mechanism):
        self.k, self.enough, self.reach = mechanism.k, mechanism.enough, mechanism.design.reach
        self.plenty = mechanism.design.plenty * self.k
        self.bound, self.lost = mechanism.max_items_per_user, mechanism.composition.own_items.delta
        self.rho, self.picks_after = mechanism.rho, mechanism.picks_after
        self.sigma = 1 / math.sqrt(2 * self.rho * (1 - RESERVED))
        self.look_sd = 1 / math.sqrt(2 * self.rho * LOOK)
        self.parts, self.losses = mechanism.design.schedule.parts, mechanism.design.schedule.losses
        self.grid = mechanism.search.grid
        self.step = self.grid.step * BITS
        self.thresholds = [self.threshold(r) for r in range(len(self.parts))]

    def share(self, r):
        """The precision of the first r rounds, of all."""
        return sum(self.parts[:r]) / sum(self.parts)

    def threshold(self, r):
        """After round r, counted from 0: the largest that a user of any size asks for."""
        first, so_far = self.share(1), self.share(r + 1)
        noise = self.sigma / math.sqrt(so_far)
        asked = []
        for d in range(1, self.bound + 1):
            cap = min(1, REACH / math.sqrt(d))
            weight = (first / math.sqrt(d) + (so_far - first) * cap) / so_far
            asked.append(weight + noise * upper(self.lost * self.losses[r] / d))
        return max(asked)

    def mean(self, seen):
        """Of the noisy weights of an item."""
        if None in (value for value, _ in seen):
            return -math.inf
        parts = self.parts[: len(seen)]
        noisy = sum(part * value for part, (value, _) in zip(parts, seen, strict=True))
        return self.step * noisy / sum(parts)

    def estimate(self, seen):
        """By least squares, of what each noisy weight would be were all of it put on the item."""
        worth = [max(boost, 0.3) for _, boost in seen]
        terms = list(zip(self.parts, (value for value, _ in seen), worth, strict=False))
        above = sum(part * w * value for part, value, w in terms)
        return self.step * above / sum(part * w * w for part, _, w in terms)


def of_kept(m, data, kept):
    """Each outcome: the items in the order picked, and their first noisy weights."""
    kept, outcomes = [held for held in kept if held], {}
    start = {x: () for x, weight in enumerate(weights_of(kept, 3)) if weight > 0}
    for seen, found, r, looks, p in rounds_from(m, (data, kept), start, frozenset(), 0, (), 1.0):
        weights = {x: max(m.estimate(seen[x]) / m.thresholds[-1], 1) for x in found}
        power = 3.0 if all(looks[-1:]) else 1.5
        epsilon = m.picks_after(r, len(looks))
        picks = picks_oracle(data, sorted(found), m.k, epsilon, weights, power)
        for picked, q in picks.items():
            told = picked, tuple(m.step * seen[x][0][0] for x in picked)
            outcomes[told] = outcomes.get(told, 0) + p * q
    return outcomes


def rounds_from(m, users, seen, found, r, looks, p):
    """All ends: what was seen of each item until it was found, those found, in which round, looks.

    What each look said is told in turn.
    """
    data, kept = users
    is_enough = 0 < r < len(m.parts) and len(found) >= m.enough[r - 1]
    if r == len(m.parts) or (is_enough and (r > len(m.reach) or len(found) >= m.plenty)):
        yield seen, found, r, looks, p
        return
    if is_enough:
        stop = chance_of_reach(m, data, found, float(m.reach[r - 1]))
        yield seen, found, r, (*looks, True), p * stop
        looks, p = (*looks, False), p * (1 - stop)
    left = sorted(set(seen) - found)
    boosts = {x: boost(m, seen[x]) for x in left}
    sums = {x: sum(weight_of(user, x, boosts, r) for user in kept) for x in left}
    for rounded in itertools.product(*(law_on_grid(m, sums[x], r) for x in left)):
        told = {x: (value, boosts[x]) for x, (value, _) in zip(left, rounded, strict=True)}
        new = seen | {x: (*seen[x], heard) for x, heard in told.items()}
        named = found | {x for x in left if m.mean(new[x]) >= m.thresholds[r]}
        chance = p * math.prod(q for _, q in rounded)
        yield from rounds_from(m, users, new, named, r + 1, looks, chance)


def chance_of_reach(m, data, found, share):
    """That a look finds at least such a share of all users reached, of whole sets."""
    reached = sum(bool(held & found) for held in data)
    holders = sum(bool(held) for held in data)
    return ndtr((reached - share * holders) / (max(share, 1 - share) * m.look_sd))


def law_on_grid(m, total, r):
    """Each value that noise may bring a sum to, and its chance; None is below all."""
    sd = m.sigma / math.sqrt(m.parts[r] / sum(m.parts))
    rounded = [None, *range(m.grid.lowest, m.grid.highest + 1)]
    below = [ndtr((value * m.step - total) / sd) for value in rounded[1:]]
    return zip(rounded, (b - a for a, b in itertools.pairwise([0.0, *below, 1.0])), strict=True)


def weight_of(user, x, boosts, r):
    """What a user adds to an item that is not found yet."""
    if x not in user:
        return 0.0
    if r == 0:
        return 1 / math.sqrt(len(user))
    total = sum(boosts[y] ** 2 for y in user if y in boosts)
    cap = min(1, REACH / math.sqrt(len(user)))
    return min(cap, boosts[x] / math.sqrt(total)) if boosts[x] else 0.0


def boost(m, seen):
    """What an item is worth in the next round, in whole parts of 2^11."""
    if not seen:
        return 1.0
    r, mean = len(seen), m.mean(seen)
    if mean == -math.inf:
        return 0.0
    done, after = m.share(r), m.share(r + 1)
    needed = max(0.0, (after * m.thresholds[r] - done * mean) / (after - done))
    spread = m.sigma * math.sqrt(BOLDNESS**2 / done + 1 / (after - done))
    excess = max(0.0, (needed - BOLDNESS * mean) / spread)
    lacking = needed / max(mean, needed)
    return round(2**11 * lacking * math.exp(-(excess**2) / 2)) / 2**11
