"""Mistakes in rounds, in when they stop, and in what steers them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from helpers.planted.planting import Plant, times
from shortlist.algorithms import search_in_rounds
from shortlist.algorithms.search_in_rounds import Observed, Search
from shortlist.draws.noise import Normal
from shortlist.draws.reals import NormalCDF
from shortlist.evidence import contributions
from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian

IN_ROUNDS = "adaptive-gaussian", "chosen-bound", "adaptive-top-k", "adaptive-hitting-set"
IN_ALL = *IN_ROUNDS, "per-group"
TO_THE_END = "adaptive-gaussian", "chosen-bound"
CASES = "adaptive-gaussian zcdp", "chosen-bound zcdp", "adaptive-hitting-set zcdp"
_ONE = 2**40


def _noise_of_all(patch):
    patch.at(search_in_rounds, "sd_of_round", lambda _: lambda schedule, sigma, r: sigma)  # noqa: ARG005


def _a_little_less(patch):
    patch.at(search_in_rounds, "sd_of_round", times(0.97))


def _later_rounds_less(patch):
    def make(right):
        return lambda schedule, sigma, r: right(schedule, sigma, r) * (1 if r == 0 else 0.85)

    patch.at(search_in_rounds, "sd_of_round", make)


def _last_coin_sharper(patch):
    def make(right):
        return lambda schedule, sigma, r: right(schedule, sigma, r) * (0.8 if r == -1 else 1)

    patch.at(search_in_rounds, "sd_of_round", make)


def _last_counts_more(patch):
    def make(right):
        def wrong(self, so_far, sums):
            told = right(self, so_far, sums)
            return NormalCDF(told.gaps + sums, told.sd, told.unit)

        return wrong

    patch.method(Search, "_last", make)


def _without_floor(patch):
    patch.method(Search, "_floors", lambda right: lambda self, n: np.zeros_like(right(self, n)))


def _larger_caps(patch):
    patch.method(
        Search, "_caps", lambda right: lambda self, n: np.minimum(right(self, n) * 2, _ONE)
    )


def _without_caps(patch):
    patch.method(Search, "_caps", lambda right: lambda self, n: np.full_like(right(self, n), _ONE))


def _even_by_root(patch):
    def make(right):
        def wrong(self, largest):
            sizes = np.maximum(np.arange(largest + 1), 1)
            return np.minimum(right(self, largest) * sizes**0.1, 2**20).astype(np.int64)

        return wrong

    patch.method(Search, "_even_weights", make)


def _noise_again(patch):
    now = {}

    def observes(right):
        def wrong(self, progress, draws):
            now["progress"] = progress
            return right(self, progress, draws)

        return wrong

    def make(right):
        def wrong(self, sums, r, draws):
            if r == 0:
                told = right(self, sums, r, draws)
                vars(now["progress"])["_noise"] = told - sums // self.grid.step
                return told
            progress = now["progress"]
            noise = vars(progress)["_noise"][np.flatnonzero(~progress.found)]
            return sums // self.grid.step + noise

        return wrong

    patch.method(Search, "observe", observes)
    patch.method(Search, "_noisy", make)


def _lowest_of_table(patch):
    def make(_right):
        def wrong(self, sums, r, draws):
            noise = Normal(search_in_rounds.sd_of_round(self.schedule, self.sigma, r))
            lowest = (int(sums.min()) if len(sums) else 0) // self.grid.step
            grid = self.grid._replace(lowest=max(lowest, self.grid.lowest))
            return draws.rounded_down(sums, noise, grid, unit=search_in_rounds.UNIT_OF_WEIGHTS)

        return wrong

    patch.method(Search, "_noisy", make)


def _noise_clamped(patch):
    def make(right):
        def wrong(self, sums, r, draws):
            sd = search_in_rounds.sd_of_round(self.schedule, self.sigma, r) / self.step
            at = sums / self.grid.step
            told = right(self, sums, r, draws)
            return np.clip(told, np.floor(at - sd), np.ceil(at + sd)).astype(np.int64)

        return wrong

    patch.method(Search, "_noisy", make)


def _steered_by_truth(patch):
    def observes(right):
        def wrong(self, progress, draws):
            true = vars(progress).setdefault("_true", np.zeros(len(progress.items), np.int64))
            part = self.schedule.parts[progress.rounds]
            true += part * (progress.sums[progress.items] // self.grid.step)
            return right(self, progress, draws)

        return wrong

    def steers(right):
        def wrong(self, progress):
            noisy, progress.so_far = progress.so_far, vars(progress)["_true"]
            right(self, progress)
            progress.so_far = noisy

        return wrong

    patch.method(Search, "observe", observes)
    patch.method(Search, "steer", steers)


def _steered_by_counts(patch):
    def make(right):
        def wrong(self, boosts, floors, caps):
            counts = self.held.counts
            rare = counts < counts.sum() / max(np.count_nonzero(counts), 1)
            less = np.where(rare & (boosts > 0), boosts // 2, boosts).astype(np.int16)
            return right(self, less, floors, caps)

        return wrong

    patch.method(contributions._Steered, "sums", make)


def _bar_of_last(patch):
    def make(right):
        def wrong(self, r, step=None):
            thresholds = (self.limits.thresholds[-1],) * self.schedule.rounds
            return right(replace(self, limits=self.limits._replace(thresholds=thresholds)), r, step)

        return wrong

    patch.method(Search, "_bar", make)


def _bounded_anew(patch):
    def observes(right):
        def wrong(self, progress, draws):
            vars(progress)["_draws"] = draws
            return right(self, progress, draws)

        return wrong

    def steers(right):
        def wrong(self, progress):
            held = progress.held
            if getattr(held, "whole", None) is not None:
                held = held.whole.bounded(held.max_items_per_user, vars(progress)["_draws"])
                progress.held, progress.steering = held, held.steering()
            right(self, progress)

        return wrong

    patch.method(Search, "observe", observes)
    patch.method(Search, "steer", steers)


def _true_sums_told(patch):
    def make(right):
        def wrong(self, progress, draws):
            sums, is_first = progress.sums, progress.rounds == 0
            observed = right(self, progress, draws)
            true = sums[progress.items[observed.left]] // self.grid.step
            return Observed(observed.left, true) if is_first else observed

        return wrong

    patch.method(Search, "observe", make)


def _estimates_without_noise(patch):
    def observes(right):
        def wrong(self, progress, draws):
            vars(progress)["_step"] = self.grid.step
            return right(self, progress, draws)

        return wrong

    def adds(right):
        def wrong(self, progress, part, observed):
            true = progress.sums[progress.items[observed.left]] // vars(progress)["_step"]
            return right(self, progress, part, Observed(observed.left, true))

        return wrong

    patch.method(Search, "observe", observes)
    patch.method(search_in_rounds._Estimates, "add", adds)


def _stops_by_truth(patch):
    """Whether all that many hold was found."""

    def make(right):
        def wrong(self, _stop, held, draws):
            often = int(np.count_nonzero(held.counts >= np.max(held.counts, initial=2) // 2))
            stop = search_in_rounds.UntilMany((often,) * self.schedule.rounds)
            return right(self, stop, held, draws)

        return wrong

    patch.method(Search, "found_early", make)


def _left_as_first(patch):
    def make(right):
        def wrong(self, largest):
            return right(self, largest) // np.maximum(np.arange(largest + 1), 1)

        return wrong

    patch.method(Search, "_floors", make)


def _less_sigma(patch):
    def make(right):
        def wrong(self):
            search = right(self)
            return replace(search, sigma=0.9 * search.sigma)

        return wrong

    patch.method(AdaptiveGaussian, "search", make)


def _drop_lost(patch):
    from shortlist.mechanisms import Accounting
    from shortlist.privacy import Gaussian

    def make(right):
        def wrong(self):
            if self.accounting is Accounting.ZCDP:
                return Gaussian(self._by_rho.rho)
            return right(self)

        return wrong

    patch.method(AdaptiveGaussian, "cost", make)


def _mean_of_parts(patch):
    """The bar of a round is for as many parts as there are rounds so far."""

    def make(right):
        def wrong(self, r, step=None):
            so_far = sum(self.schedule.parts[: r + 1])
            fewer = sum(self.schedule.parts[:r]) or so_far
            return int(right(self, r, step) * Fraction(fewer, so_far))

        return wrong

    patch.method(Search, "_bar", make)


def _plant(name, plant, shown=IN_ALL, cases=CASES, room="algorithms/search_in_rounds"):
    return Plant(name, room, shown, plant, cases)


ROUNDS = [
    _plant("each round has the noise of all rounds together", _noise_of_all),
    _plant("3 % too little noise in every round", _a_little_less),
    _plant("15 % too little noise from the second round on", _later_rounds_less),
    _plant(
        "the last round's coin is as if it had 20 % less noise",
        _last_coin_sharper,
        TO_THE_END,
        CASES[:2],
    ),
    _plant(
        "the last round's sums count with one part more than its noise",
        _last_counts_more,
        TO_THE_END,
        CASES[:2],
    ),
    _plant(
        "nothing is spent evenly, though the accountant has it so",
        _without_floor,
        TO_THE_END,
        CASES[:1],
    ),
    _plant(
        "the share that is spent evenly is divided by the size twice",
        _left_as_first,
        TO_THE_END,
        CASES[:1],
    ),
    _plant("caps are the root of 2 too large", _larger_caps, cases=CASES[:2]),
    _plant("weights of later rounds have no caps", _without_caps, cases=CASES[:2]),
    _plant("first weights fall too slowly with the size: norms above 1", _even_by_root),
    _plant("the noise of the first round serves in all rounds", _noise_again),
    _plant("the lowest multiple follows from the table's smallest sum", _lowest_of_table),
    _plant("noise is clamped to one standard deviation", _noise_clamped),
    _plant("users are steered by the sums without noise", _steered_by_truth),
    _plant("users are steered by how many hold an item", _steered_by_counts),
    _plant("each round is held against the last round's threshold", _bar_of_last),
    _plant("a round's bar is for the parts without its own", _mean_of_parts),
    _plant(
        "users' bounded sets are drawn anew in each round",
        _bounded_anew,
        TO_THE_END,
        ("adaptive-gaussian zcdp",),
    ),
    _plant("the first sums are told without noise", _true_sums_told, IN_ROUNDS),
    _plant(
        "estimates are of the sums without noise",
        _estimates_without_noise,
        ("adaptive-top-k", "adaptive-hitting-set", "per-group"),
        ("adaptive-hitting-set zcdp", "per-group zcdp"),
        "algorithms/search_in_rounds",
    ),
    _plant(
        "the rounds stop by how many items many users hold",
        _stops_by_truth,
        ("adaptive-top-k", "adaptive-hitting-set", "per-group"),
        ("adaptive-hitting-set zcdp",),
        "algorithms/search_in_rounds",
    ),
    _plant(
        "10 % less noise than is charged for",
        _less_sigma,
        TO_THE_END,
        CASES[:2],
        "mechanisms/adaptive_gaussian",
    ),
    _plant(
        "thresholds lose nothing in zCDP",
        _drop_lost,
        ("adaptive-gaussian",),
        CASES[:1],
        "mechanisms/adaptive_gaussian",
    ),
]
