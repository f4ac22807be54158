"""The output law of top-k per group, by brute force from its definition, in plain floats.

Data are users' sets of pairs. Pair x is of the group x % 2 and the item x // 2.
"""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np

from helpers.oracles_of_clipped_counts import on_grid, part
from helpers.oracles_of_rounds import upper
from helpers.oracles_of_top_k import law_on_grid, orders
from helpers.oracles_of_users import averaged, weights_of
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import GroupedSets

N_GROUPS, BITS = 2, 2.0**-20
CHOICE, OF_GROUPS, OF_ITEMS, LOSS_OF_GROUPS = 0.02, 0.1, 0.2, 0.3
OPEN, SPREAD, MOVED, ALONE, HELD, NOISE_WEIGHT = 2.0, 0.5, 2.0, 4.0, 1.5, 0.3
SEEN = 1.0  # of groups that were found


def in_groups(_mechanism, data, n_pairs, _draws=None, *, public=False, known=()):
    """What is shown of users who each hold a set of pairs."""
    rows = [(user, pair) for user, pairs in enumerate(data) for pair in sorted(pairs)]
    users, pairs = np.array(rows, np.uint32).reshape(-1, 2).T.copy()
    held = Contributions.of_rows(users, pairs, n_users=len(data), n_items=n_pairs)
    codes = np.arange(n_pairs, dtype=np.uint32)
    sets = GroupedSets.of_pairs(
        held, codes % N_GROUPS, codes // N_GROUPS, N_GROUPS, (n_pairs + 1) // N_GROUPS
    )
    return replace(sets, groups_are_public=public).with_public(np.array(known, np.int64))


def groups_oracle(mechanism, data, *, public=False, seen=SEEN, known=()):
    """Each outcome: the places of groups and items in their order, and their noisy counts."""
    outcomes = Counter()
    for kept, p in kept_groups(data, mechanism.max_groups_per_user):
        groups = found_groups(mechanism, kept) if not public else {tuple(range(N_GROUPS)): 1.0}
        for (order, q), (items, s) in itertools.product(
            groups.items(), found_items(mechanism, kept, known).items()
        ):
            for told, t in looked_at(mechanism, kept, order, dict(items), public=public, seen=seen):
                outcomes[told] += p * q * s * t
    return dict(outcomes)


def kept_groups(data, most):
    """Each user's pairs in a uniformly random subset of the user's own groups."""
    own = [sorted({pair % N_GROUPS for pair in user}) for user in data]
    ways = [list(itertools.combinations(groups, min(most, len(groups)))) for groups in own]
    for choice in itertools.product(*ways):
        kept = [
            {x for x in user if x % N_GROUPS in c} for user, c in zip(data, choice, strict=True)
        ]
        yield kept, 1 / math.prod(map(len, ways))


def found_groups(mechanism, kept):
    """Each order of found groups, those of most users first, and its chance."""
    sets = [frozenset(pair % N_GROUPS for pair in user) for user in kept]
    lost = mechanism.delta * mechanism.threshold_share * LOSS_OF_GROUPS
    bound = mechanism.max_groups_per_user
    found = found_in_a_round(mechanism, sets, OF_GROUPS, lost, bound, mechanism._groups.search.grid)
    groups = Counter()
    for named, p in found.items():
        groups[tuple(group for group, _ in named)] += p
    return groups


def found_items(mechanism, kept, known=()):
    """Each order of found items, with how common each seems, and its chance."""
    sets = [frozenset(pair // N_GROUPS for pair in user) for user in kept]
    lost = mechanism.delta * mechanism.threshold_share * (1 - LOSS_OF_GROUPS)
    bound, grid = mechanism.max_items_per_user, mechanism._items.search.grid
    return averaged(
        sets,
        bound,
        lambda bounded: found_in_a_round(mechanism, bounded, OF_ITEMS, lost, bound, grid, known),
    )


def found_in_a_round(mechanism, sets, share, lost, bound, grid, known=()):
    """Weighted Gaussian on a coarse grid: what passes, with its noisy weight, the largest first.

    What is known passes as soon as it does so by mistake with a chance of 1 %.
    """
    sigma = 1 / math.sqrt(2 * gaussians(mechanism) * share)
    least = max(1 / math.sqrt(d) + sigma * upper(lost / d) for d in range(1, bound + 1))
    sets = [held for held in sets if held]
    sums = {x: w for x, w in enumerate(weights_of(sets, 3)) if w > 0 or x in known}
    bars = {x: min(least, sigma * upper(0.01)) if x in known else least for x in sums}
    step, outcomes = grid.step * BITS, Counter()
    laws = [law_on_grid(grid, weight, sigma) for weight in sums.values()]
    for rounded in itertools.product(*laws):
        p = math.prod(q for _, q in rounded)
        told = zip(sums, rounded, strict=True)
        passed = {x: step * value for x, (value, _) in told if value and step * value >= bars[x]}
        for order, q in orders(passed):
            outcomes[tuple((x, passed[x]) for x in order)] += p * q
    return outcomes


def gaussians(mechanism):
    """What the choices leave of the zCDP."""
    return mechanism.rho * (1 - len(mechanism.design.shares) * CHOICE)


# --- looks


def looked_at(mechanism, kept, groups, popularity, *, public, seen):
    """What is told of all found items in all found groups, and its chance."""
    left = 1 - OF_ITEMS - (0 if public else OF_GROUPS)
    rho = gaussians(mechanism) * left
    popularity = {item: max(weight, 1.0) for item, weight in popularity.items()}
    cells = [(group, item) for group in groups for item in popularity]
    if not cells:
        yield ((), ()), 1.0
        return
    for heard, hoped, values, p in from_look(
        mechanism, kept, (popularity, seen), cells, rho, {}, None, 0
    ):
        yield answer(mechanism, groups, popularity, heard, hoped, values), p


def from_look(mechanism, kept, popularity, cells, rho, heard, expected, number):
    """All that may be heard by the looks from this one on."""
    spent = rho * float(mechanism.design.shares[number])
    for told, sd, p in look(mechanism, kept, cells, spent):
        now = dict(heard)
        for cell, value in told.items():
            mean, precision = now.get(cell, (0.0, 0.0))
            more = 1 / sd**2
            now[cell] = (mean * precision + value * more) / (precision + more), precision + more
        hoped = expected if number else expectations(now, *popularity)
        values = {cell: moved(*now[cell], hoped[cell]) for cell in now}
        if number + 1 == len(mechanism.design.shares):
            yield now, hoped, values, p
            continue
        still = [cell for cell in cells if is_open(mechanism.k, cell, values, now)]
        later = from_look(mechanism, kept, popularity, still, rho, now, hoped, number + 1)
        for end, same, last, q in later:
            yield end, same, last, p * q


def look(mechanism, kept, cells, rho):
    """Noisy clipped counts of the cells by a bound that is chosen, and the noise's sd."""
    held = [[c for c in cells if N_GROUPS * c[1] + c[0] in user] for user in kept]
    bounds = mechanism.design.bounds
    sds = [math.sqrt(bound / (2 * rho)) for bound in bounds]
    sizes = sorted(Counter(group for group, _ in cells).values())
    most = max(sum(sizes[-mechanism.max_groups_per_user :]), 1)
    lost = [sum(len(h) * (1 - part(bound, h)) for h in held if h) / most for bound in bounds]
    epsilon, weight = (
        math.sqrt(8 * CHOICE * mechanism.rho),
        NOISE_WEIGHT * max(len(cells), 1) / most,
    )
    odds = [
        math.exp(-epsilon * (a + weight * (sd - sds[0]))) for a, sd in zip(lost, sds, strict=True)
    ]
    for bound, sd, chance in zip(bounds, sds, odds, strict=True):
        counts = [sum(part(bound, h) for h in held if cell in h) for cell in cells]
        laws = [on_grid(mechanism.design.grid_of_counts(sd), count, sd) for count in counts]
        for values in itertools.product(*laws):
            told = {cell: value for cell, (value, _) in zip(cells, values, strict=True)}
            yield told, sd, chance / sum(odds) * math.prod(p for _, p in values)


def expectations(heard, popularity, least):
    """Popularity times the group's size, which fits its counts best; 0 where that is unclear."""
    norm = sum(weight**2 for weight in popularity.values())
    found = {}
    for group in {group for group, _ in heard}:
        size = sum(heard[group, item][0] * w for item, w in popularity.items()) / norm
        precision = next(p for (g, _), (_, p) in heard.items() if g == group)
        seen = size > least / math.sqrt(precision * norm)
        for item, weight in popularity.items():
            found[group, item] = size * weight if seen else 0.0
    return found


def moved(count, precision, expected):
    """The count, moved towards what is expected, by so many standard deviations at most."""
    variance = 1 / precision
    share = variance / max(variance + (SPREAD * expected) ** 2, 1e-9)
    limit = (MOVED if expected > 0 else ALONE) * math.sqrt(variance)
    return count - min(max(share * (count - expected), -limit), limit)


def is_open(k, cell, values, heard):
    """Whether it is within two standard deviations of the k-th value of its group."""
    others = sorted((v for (group, _), v in values.items() if group == cell[0]), reverse=True)
    return abs(values[cell] - others[min(k, len(others)) - 1]) <= OPEN / math.sqrt(heard[cell][1])


def answer(mechanism, groups, popularity, heard, hoped, values):
    """The k largest values clearly above 0 of each group; equal ones by popularity."""

    def is_held(cell):
        variance, spread = 1 / heard[cell][1], (SPREAD * hoped[cell]) ** 2
        known = math.sqrt(variance * spread / max(variance + spread, 1e-9))
        return values[cell] > HELD * known

    named = []
    for group in groups:
        order = sorted(popularity, key=lambda item: -values[group, item])
        named += [(group, i) for i in order[: mechanism.k] if is_held((group, i))]
    n_items = mechanism.__dict__.get("n_items", 1)
    sd = max((1 / math.sqrt(heard[cell][1]) for cell in named), default=1.0)
    digits = 2 - math.floor(math.log10(sd))
    scores = tuple(round(heard[cell][0], digits) for cell in named)
    return tuple(group * n_items + item for group, item in named), scores
