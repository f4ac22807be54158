"""Output laws of the mechanisms of counts, by brute force from their definitions."""

import itertools
import math
from collections import Counter
from functools import partial

from flint import arb, ctx

from helpers.oracles_one_shot import exponential_law
from shortlist.mechanisms import Accounting


def one_by_one(pick, counts, k):
    """The law of k picks, each by the law `pick(counts of the items left)`, without replacement."""
    found = {}

    def step(left, picked, p):
        if len(picked) == k or not left:
            found[picked] = found.get(picked, 0) + p
            return
        for item, q in zip(left, pick([counts[i] for i in left]), strict=True):
            step([i for i in left if i != item], (*picked, item), p * q)

    step(list(range(len(counts))), (), 1.0)
    return found


def exponential(epsilon, counts):
    weights = [math.exp(epsilon * (c - max(counts))) for c in counts]
    return [w / sum(weights) for w in weights]


def peeling_oracle(counts, k, epsilon):
    """The law of k picks by the exponential mechanism."""
    return one_by_one(partial(exponential, epsilon), counts, k)


def permute_and_flip(epsilon, counts):
    """Over all orders in which the items may be visited."""
    accepted = [math.exp(-epsilon * (max(counts) - c)) for c in counts]
    chances = [0.0] * len(counts)
    orders = list(itertools.permutations(range(len(counts))))
    for order in orders:
        p = 1 / len(orders)
        for item in order:
            chances[item] += p * accepted[item]
            p *= 1 - accepted[item]
    return chances


def shortfalls(counts, k):
    """The slack of each sequence."""
    best = sorted(counts, reverse=True)
    sequences = itertools.permutations(range(len(counts)), k)
    return {s: max(best[r] - counts[i] for r, i in enumerate(s)) for s in sequences}


def joint(epsilon, counts, k):
    slacks = shortfalls(counts, k)
    chances = exponential(epsilon / 2, [-slack for slack in slacks.values()])
    return dict(zip(slacks, chances, strict=True))


def joint_permute_and_flip(epsilon, counts, k):
    """By the inclusion and exclusion of who is accepted besides, with the digits that it needs.

    P(s) = p_s · sum over sets T of others of the product of -p_t over T, divided by 1 + |T|.
    """
    slacks = shortfalls(counts, k)
    found = {}
    with ctx.workprec(600):
        accepted = {s: (-arb(epsilon) / 2 * slack).exp() for s, slack in slacks.items()}
        for slack in set(slacks.values()):
            same = [s for s in slacks if slacks[s] == slack]
            sums = [arb(1)]  # of the products over all sets of so many others
            for other in slacks:
                if other != same[0]:
                    shifted = [arb(0), *(-accepted[other] * x for x in sums)]
                    sums = [a + b for a, b in zip([*sums, arb(0)], shifted, strict=True)]
            integral = sum((x / (1 + size) for size, x in enumerate(sums)), arb(0))
            found |= dict.fromkeys(same, float(accepted[same[0]] * integral))
    return found


def joint_or_peel(mechanism, counts, k, coarse=None, step=1):
    """One by one by the counts; as a whole by coarser ones, in whole steps, if there are such."""
    coarse = counts if coarse is None else coarse
    if mechanism.one_shot:
        scale = mechanism.k / mechanism.joint_epsilon
        one_by_one = exponential_law(counts, scale, k)
    else:
        one_by_one = peeling_oracle(counts, k, mechanism.local_epsilon)
    crowded = chance_of_a_crowd(mechanism, coarse, k, step) if mechanism.chooses else 1.0
    flips = mechanism.accounting is Accounting.EXACT
    whole = (joint_permute_and_flip if flips else joint)(mechanism.joint_epsilon, coarse, k)
    return {s: (1 - crowded) * whole[s] + crowded * one_by_one[s] for s in whole}


def losses(counts, k):
    """Of each set of k items: by how much one outside is larger than one inside, at most."""
    sets = itertools.combinations(range(len(counts)), k)
    return {
        s: max(c for i, c in enumerate(counts) if i not in s) - min(counts[i] for i in s)
        for s in sets
    }


def set_or_peel(mechanism, counts, k):
    if len(counts) <= mechanism.k:
        return {tuple(range(len(counts))): 1.0}
    if mechanism.one_shot:
        picks = exponential_law(counts, mechanism.k / mechanism.set_epsilon, k)
    else:
        picks = peeling_oracle(counts, k, mechanism.local_epsilon)
    found = losses(counts, k)
    least = min(found.values())
    flips = mechanism.accounting is Accounting.EXACT
    law = permute_and_flip if flips and len(found) <= 7 else _flipped if flips else exponential
    chances = law(mechanism.set_epsilon / 2, [least - loss for loss in found.values()])
    whole = dict(zip(found, chances, strict=True))
    crowded = _crowd(mechanism, found.values(), k) if mechanism.chooses else float(k == 1)
    mixed = {s: (1 - crowded) * p for s, p in whole.items()}
    for s, p in picks.items():
        mixed[tuple(sorted(s))] += crowded * p
    return mixed


def _flipped(epsilon, scores):
    """`permute_and_flip` of more candidates than there are orders to go through."""
    with ctx.workprec(600):
        accepted = [(arb(epsilon) * score).exp() for score in scores]
        chances = []
        for i, p in enumerate(accepted):
            sums = [arb(1)]
            for q in (*accepted[:i], *accepted[i + 1 :]):
                sums = [a - b * q for a, b in zip([*sums, arb(0)], [arb(0), *sums], strict=True)]
            chances.append(float(p * sum((x / (1 + n) for n, x in enumerate(sums)), arb(0))))
        return chances


def chance_of_a_crowd(mechanism, counts, k, step=1):
    slacks = [round(slack / step) for slack in shortfalls(counts, k).values()]
    return _crowd(mechanism, slacks, k, step)


def _crowd(mechanism, slacks, k, step=1):
    """That the noisy logarithm of the normaliser, from exp(k - 1) lists on, is large enough."""
    decay = mechanism.whole_epsilon / 2 * step
    near = math.exp(-decay)
    w = 0.0
    for t in range(min(0, *slacks), max(slacks) + 1):
        number = sum(slack <= t for slack in slacks)
        if number >= math.exp(max(k - 1, 1)):
            w += number * near**t * (1 - near if t < max(slacks) else 1)
    if not w:
        return 0.0
    slope = 2 * mechanism.choice_epsilon / mechanism.whole_epsilon
    distance = (math.log(w) - mechanism.switch_at) * slope
    if not mechanism.one_shot:
        return 1 / (1 + math.exp(-distance))
    least = laplace_cdf(distance)
    ceiling = max(mechanism.switch_at, 0.7 * math.log(len(slacks)))
    return least - laplace_cdf((math.log(w) - ceiling) * slope)


def laplace_cdf(x):
    return 1 - math.exp(-x) / 2 if x > 0 else math.exp(x) / 2


def limited_domain(mechanism, counts, k):
    """Over all orders that may break ties."""
    local, k_bar = mechanism.local_epsilon, mechanism.looked_at or math.inf
    changed = min(k_bar, mechanism.max_items_per_user or math.inf)
    k_bar = min(k_bar, len(counts))
    held = [i for i in range(len(counts)) if counts[i] > 0]
    found, domains = {}, Counter()
    orders = list(itertools.permutations(held))
    for order in orders:
        ranked = sorted(order, key=lambda i: -counts[i])
        bar = counts[ranked[k_bar]] if len(ranked) > k_bar else 0
        domains[tuple(sorted(ranked[:k_bar])), bar] += 1
    for (domain, bar), times in domains.items():

        def step(left, picked, p, tried, bar=bar):
            """`tried`: how many picks are left, their epsilon, its "nobody", whether the first."""
            picks, epsilon, odds, is_first = tried
            nobody = bar + 1 + math.log(odds) / epsilon
            chances = exponential(epsilon, [*(counts[i] for i in left), nobody])
            second = second_try(mechanism, changed, len(picked)) if is_first and picks else None
            ended = p * chances[-1] if picks else p
            if second:
                step(left, picked, ended, second)
            else:
                found[picked] = found.get(picked, 0) + ended
            for item, q in zip(left, chances, strict=False) if picks else []:
                rest = [i for i in left if i != item]
                step(rest, (*picked, item), p * q, (picks - 1, *tried[1:]))

        tries = bool(second_try(mechanism, changed, 0))
        odds = changed / (mechanism.threshold_delta * (0.75 if tries else 1))
        step(domain, (), times / len(orders), (k, local, odds, True))
    return found


def second_try(mechanism, changed, found):
    """How many picks it has, their epsilon and odds of "nobody"; None where there is none."""
    times = getattr(mechanism, "second_try", None)
    if not times or mechanism._is_pure:
        return None
    part = math.ceil(mechanism.k / 3)
    last = next(end for end in range(part, 4 * part, part) if found < end)
    if picks := max(mechanism.k - last, 0) // times**2:
        odds = changed / (mechanism.threshold_delta / 4)
        return picks, mechanism.local_epsilon * times, odds, False
    return None


def oracle(kind, mechanism, counts, k):
    return ORACLES[kind.split(",")[0]](mechanism, counts, k)


ORACLES = {
    "joint": lambda m, counts, k: joint(m.epsilon, counts, k),
    "joint-permute-and-flip": lambda m, counts, k: joint_permute_and_flip(m.epsilon, counts, k),
    "permute-and-flip": lambda m, counts, k: one_by_one(
        partial(permute_and_flip, m.epsilon / k), counts, k
    ),
    "peeling": lambda m, counts, k: peeling_oracle(counts, k, m.local_epsilon),
    "one-shot exponential": lambda m, counts, k: exponential_law(counts, k / m.epsilon, k),
    "joint or peel": joint_or_peel,
    "set or peel": set_or_peel,
    "limited domain": limited_domain,
}


def distance(one, other):
    return max(abs(one.get(o, 0) - other.get(o, 0)) for o in one.keys() | other.keys())
