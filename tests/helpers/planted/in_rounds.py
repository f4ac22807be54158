"""Mistakes in rounds: in the loop that sums weights, in when they stop, in what steers them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from helpers.planted.planting import (
    at,
    method,
    mistakes,
    number,
    result,
    times,
)
from shortlist import kernels
from shortlist.algorithms import search_in_rounds
from shortlist.algorithms.search_in_rounds import BOOSTS, Search
from shortlist.draws.noise import Normal
from shortlist.draws.reals import NormalCDF
from shortlist.evidence import contributions
from shortlist.mechanisms import Accounting
from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian
from shortlist.privacy import Gaussian

TO_THE_END = "adaptive-gaussian", "chosen-bound"
IN_ROUNDS = *TO_THE_END, "adaptive-top-k", "adaptive-hitting-set"
IN_ALL = *IN_ROUNDS, "per-group"
STOPPING = "adaptive-top-k", "adaptive-hitting-set", "per-group"
CASES = "adaptive-gaussian zcdp", "chosen-bound zcdp", "adaptive-hitting-set zcdp"
_ONE = 2**40


def _noise(factor_of_round):
    """The noise of round r times this factor."""
    return at(
        search_in_rounds,
        "sd_of_round",
        lambda right, schedule, sigma, r: right(schedule, sigma, r) * factor_of_round(r),
    )


def _remembered(patches, name, of):
    """Each `observe` of rounds keeps with its progress what is computed from what it is given."""

    def observes(right, self, progress, draws):
        vars(progress)[name] = of(self, progress, draws)
        return right(self, progress, draws)

    patches.method(Search, "observe", observes)


def _last_counts_more(right, self, so_far, sums):
    told = right(self, so_far, sums)
    return NormalCDF(told.gaps + sums, told.sd, told.unit)


def _even_by_root(right, self, largest):
    sizes = np.maximum(np.arange(largest + 1), 1)
    return np.minimum(right(self, largest) * sizes**0.1, 2**20).astype(np.int64)


def _noise_again(patches):
    now = {}

    def observes(right, self, progress, draws):
        now["progress"] = progress
        return right(self, progress, draws)

    def noisy(right, self, sums, r, draws):
        kept = vars(now["progress"])
        items = now["progress"].items
        if r == 0:
            told = right(self, sums, r, draws)
            kept["_heard"] = items, told - sums // self.grid.step
            return told
        first, noise = kept["_heard"]
        return sums // self.grid.step + noise[np.searchsorted(first, items)]

    patches.method(Search, "observe", observes)
    patches.method(Search, "_noisy", noisy)


def _lowest_of_table(_right, self, sums, r, draws):
    noise = Normal(search_in_rounds.sd_of_round(self.schedule, self.sigma, r))
    lowest = (int(sums.min()) if len(sums) else 0) // self.grid.step
    grid = self.grid._replace(lowest=max(lowest, self.grid.lowest))
    return draws.rounded_down(sums, noise, grid, unit=search_in_rounds.UNIT_OF_WEIGHTS)


def _noise_clamped(right, self, sums, r, draws):
    sd = search_in_rounds.sd_of_round(self.schedule, self.sigma, r) / self.step
    at = sums / self.grid.step
    told = right(self, sums, r, draws)
    return np.clip(told, np.floor(at - sd), np.ceil(at + sd)).astype(np.int64)


def _steered_by_truth(patches):
    def true(self, progress, _draws):
        so_far = vars(progress).get("_true", np.zeros(len(progress.sums), np.int64))
        return so_far + self.schedule.parts[progress.rounds] * (progress.sums // self.grid.step)

    def steers(right, self, progress):
        noisy, progress.so_far = progress.so_far, vars(progress)["_true"][progress.items]
        right(self, progress)
        progress.so_far = noisy

    _remembered(patches, "_true", true)
    patches.method(Search, "steer", steers)


def _steered_by_counts(right, self, boosts, floors, caps):
    counts = self.held.counts
    rare = counts < counts.sum() / max(np.count_nonzero(counts), 1)
    less = np.where(rare & (boosts > 0), boosts // 2, boosts).astype(np.int16)
    return right(self, less, floors, caps)


def _bar_of_last(right, self, r, step=None):
    thresholds = (self.limits.thresholds[-1],) * self.schedule.rounds
    return right(replace(self, limits=self.limits._replace(thresholds=thresholds)), r, step)


def _bar_of_parts_before(right, self, r, step=None):
    so_far = sum(self.schedule.parts[: r + 1])
    fewer = sum(self.schedule.parts[:r]) or so_far
    return int(right(self, r, step) * Fraction(fewer, so_far))


def _bounded_anew(patches):
    def steers(right, self, progress):
        held = progress.held
        if getattr(held, "whole", None) is not None:
            held = held.whole.bounded(held.max_items_per_user, vars(progress)["_draws"])
            progress.held, progress.steering = held, held.steering()
        right(self, progress)

    _remembered(patches, "_draws", lambda _self, _progress, draws: draws)
    patches.method(Search, "steer", steers)


def _true_sums_told(right, self, progress, draws):
    true, is_first = progress.sums_of_items // self.grid.step, progress.rounds == 0
    observed = right(self, progress, draws)
    return observed._replace(sums=true) if is_first else observed


def _estimates_without_noise(patches):
    true = []

    def observes(right, self, progress, draws):
        true[progress.rounds :] = [progress.sums_of_items // self.grid.step]
        return right(self, progress, draws)

    def estimates(right, self, told):
        return right(self, [was._replace(sums=sums) for was, sums in zip(told, true, strict=True)])

    patches.method(Search, "observe", observes)
    patches.method(Search, "_estimates", estimates)


def _stops_by_truth(right, self, _stop, held, draws):
    """Whether all that many hold was found."""
    often = int(np.count_nonzero(held.counts >= np.max(held.counts, initial=2) // 2))
    stop = search_in_rounds.UntilMany((often,) * self.schedule.rounds)
    return right(self, stop, held, draws)


def _nothing_lost(right, self):
    return Gaussian(self._by_rho.rho) if self.accounting is Accounting.ZCDP else right(self)


def _dropped_by_truth(right, self, progress):
    """An item leaves after the first round if a whole number of its sum is odd."""
    if progress.rounds == 1:
        odd = progress.sums_of_items >> 18 & 1 == 1
        progress.so_far[odd] = self._least_kept[0] - 1
    right(self, progress)


def _summed(*, norm=1.0, found_count=False, floor_on_top=False):
    """The compiled loop of a round in Python, with mistakes."""

    def steer(*given):
        starts, sizes, items, first, last, left, kept, dropped, boosts, *tables = given
        floors, caps, sums = tables
        for user in range(first, last):
            mine = items[starts[user] : starts[user] + left[user]].copy()
            still = mine[boosts[mine] >= 0]
            left[user] = len(still)
            dropped[user] += np.count_nonzero(boosts[mine] == kernels.DROPPED)
            kept[starts[user] : starts[user] + len(still)] = still
            if not len(still):
                continue
            worth = boosts[still].astype(np.float64) / BOOSTS
            floor, cap = floors[sizes[user]], caps[sizes[user]]
            spent = 0 if floor_on_top else (len(still) + dropped[user]) * floor
            rest = norm * _ONE - spent
            squares = np.full(len(still), float(floor))
            if worth.any():
                squares += worth**2 * rest / (worth @ worth)
            if found_count:  # what others of the user's items had is spent once more
                squares *= len(mine) / len(still)
            np.add.at(sums, still, np.sqrt(np.minimum(squares, cap)).astype(np.int64))

    return number(kernels, "steer", steer)


ROUNDS = [
    *mistakes(
        IN_ALL,
        CASES,
        {
            "each round has the noise of all rounds together": at(
                search_in_rounds, "sd_of_round", lambda _right, _schedule, sigma, _r: sigma
            ),
            "3 % too little noise in every round": at(search_in_rounds, "sd_of_round", times(0.97)),
            "15 % too little noise from the second round on": _noise(
                lambda r: 1 if r == 0 else 0.85
            ),
            "first weights fall too slowly with the size: norms above 1": method(
                Search, "_even_weights", _even_by_root
            ),
            "the noise of the first round serves in all rounds": _noise_again,
            "the lowest multiple follows from the table's smallest sum": method(
                Search, "_noisy", _lowest_of_table
            ),
            "noise is clamped to one standard deviation": method(Search, "_noisy", _noise_clamped),
            "users are steered by the sums without noise": _steered_by_truth,
            "users are steered by how many hold an item": method(
                contributions._Steered, "sums", _steered_by_counts
            ),
            "each round is held against the last round's threshold": method(
                Search, "_bar", _bar_of_last
            ),
            "a round's bar is for the parts without its own": method(
                Search, "_bar", _bar_of_parts_before
            ),
            "the squares of a user's weights add up to 1.2": _summed(norm=1.2),
            "weight of found items is handed on beside the whole weight": _summed(found_count=True),
        },
    ),
    *mistakes(
        IN_ALL,
        CASES[:2],
        {
            "caps are the root of 2 too large": method(
                Search, "_caps", result(lambda caps: np.minimum(2 * caps, _ONE))
            ),
            "weights of later rounds have no caps": method(
                Search, "_caps", result(lambda caps: np.full_like(caps, _ONE))
            ),
        },
    ),
    *mistakes(
        TO_THE_END,
        CASES[:2],
        {
            "the last round's coin is as if it had 20 % less noise": method(
                Search, "_last", result(lambda last: replace(last, sd=0.8 * last.sd))
            ),
            "the last round's sums count with one part more than its noise": method(
                Search, "_last", _last_counts_more
            ),
            "items are dropped by their sums without noise": method(
                Search, "steer", _dropped_by_truth
            ),
            "10 % less noise than is charged for": method(
                AdaptiveGaussian, "search", result(lambda it: replace(it, sigma=0.9 * it.sigma))
            ),
        },
    ),
    *mistakes(
        TO_THE_END,
        CASES[0],
        {
            "nothing is spent evenly, though the accountant has it so": method(
                Search, "_floors", result(np.zeros_like)
            ),
            "the share that is spent evenly is divided by the size twice": method(
                Search,
                "_floors",
                result(lambda floors: floors // np.maximum(np.arange(len(floors)), 1)),
            ),
            "users' bounded sets are drawn anew in each round": _bounded_anew,
            "what is spent evenly is not taken from the rest": _summed(floor_on_top=True),
        },
    ),
    *mistakes(
        IN_ROUNDS,
        CASES,
        {"the first sums are told without noise": method(Search, "observe", _true_sums_told)},
    ),
    *mistakes(
        STOPPING,
        ("adaptive-hitting-set zcdp", "per-group zcdp"),
        {"estimates are of the sums without noise": _estimates_without_noise},
    ),
    *mistakes(
        STOPPING,
        "adaptive-hitting-set zcdp",
        {
            "the rounds stop by how many items many users hold": method(
                Search, "found_early", _stops_by_truth
            )
        },
    ),
    *mistakes(
        "adaptive-gaussian",
        CASES[0],
        {"thresholds lose nothing in zCDP": method(AdaptiveGaussian, "cost", _nothing_lost)},
    ),
]
