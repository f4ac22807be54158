"""Mistakes in what was there in version 0.1: some anew, and those of other helpers, as plants."""

import numpy as np

from helpers import wrong_listed as listed
from helpers import wrong_mechanisms as known
from helpers import wrong_others as others
from helpers import wrong_outside as outside
from helpers import wrong_policies as in_policies
from helpers.planted.planting import (
    Plant,
    argument,
    argument_times,
    at,
    everywhere,
    method,
    mistakes,
    times,
)
from shortlist.algorithms.slack import SlackWeights
from shortlist.mechanisms import (
    DiscoverThenRank,
    Gamma,
    LimitedDomain,
    OneShotLaplace,
    PolicyGaussian,
    SpectralRanking,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
    WinCount,
    joint,
    peeling,
    permute_and_flip,
    weighted_gaussian,
)
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.mechanisms.registry import kebab


def where(leads):
    """Twice the parameter of picks where something is so of the counts."""

    def wrong(right, counts, k, epsilon, draws):
        return right(counts, k, epsilon * (1 + bool(leads(counts))), draws)

    return at(peeling, "peel", wrong)


def _third_row_leads(counts):
    return len(counts) > 0 and (int(np.argmax(counts)) == 2 or counts[0] > counts[1:].sum() / 2)


def _louder_sequences(weights):
    its = weights.lists
    return SlackWeights.of(its.every(), 1.03 * weights.decay)


def _clamped(right, evidence, sigma, threshold, draws):
    """Noise may keep an item from being named, and never helps it."""
    told = right(evidence, sigma, threshold, draws)
    near = evidence.weights[told.shown] >= weighted_gaussian.to_units(threshold)
    return told._replace(passed=told.passed & near)


def _above_half(counts):
    return np.where(2 * counts >= counts.max(initial=0), counts, 0)


def _three_percent(cls, name, by=0.97, what="noise"):
    less = "too little" if by < 1 else "too much parameter in its"
    mistake = f"3 % {less} {what} in {kebab(cls)}"
    return Plant(mistake, method(cls, name, times(by)), (kebab(cls),))


def _by_class(wrong, cases=()):
    right = next(c for c in wrong.__mro__ if c.__module__.startswith("shortlist."))
    told = next(c.__doc__ for c in wrong.__mro__ if c.__doc__).splitlines()[0].rstrip(".")
    name = kebab(right)
    mistake = f"{name}, {wrong.__name__}: {told[0].lower()}{told[1:]}"
    return Plant(mistake, lambda patches: patches.instead(right, wrong), (name,), cases)


KNOWN = [
    *mistakes(
        "peeling",
        (),
        {
            "3 % too much parameter in peeling": at(peeling, "peel", argument_times(2, 1.03)),
            "picks twice as sharp where the third row leads": where(_third_row_leads),
            "picks twice as sharp where the total is odd": where(
                lambda counts: counts.sum() % 2 == 1
            ),
            "picks look at counts: those below half of the largest count as nothing": at(
                peeling, "peel", argument(0, _above_half)
            ),
        },
    ),
    *mistakes(
        "permute-and-flip",
        (),
        {
            "15 % too much parameter in permute-and-flip": at(
                permute_and_flip, "ExponentialWeights", argument_times(2, 1.15)
            )
        },
    ),
    *mistakes(
        "joint",
        (),
        {
            "3 % too much parameter in joint": at(
                joint, "draw_joint", argument(0, _louder_sequences)
            )
        },
    ),
    *mistakes(
        ("weighted-gaussian", "discover-then-rank"),
        "weighted-gaussian",
        {
            "noise is clamped before the threshold": everywhere(
                weighted_gaussian, "discover", _clamped
            )
        },
    ),
    *mistakes(
        "limited-domain",
        (),
        {
            "the bar of limited-domain is for two thirds of a user's items": method(
                LimitedDomain, "_nobody", times(2 / 3)
            )
        },
    ),
    *mistakes(
        "spectral-ranking",
        (),
        {
            "3 % too little noise in spectral-ranking": method(
                SpectralRanking, "_ranked", argument(2, lambda moved: moved * 97 / 100)
            )
        },
    ),
    *mistakes(
        "discover-then-rank",
        (),
        {
            "3 % too little noise in the first of two Gaussians": method(
                TwoGaussians, "first_sigma", times(0.97)
            )
        },
    ),
    Plant(
        "3 % too low a threshold in weighted-gaussian",
        method(WeightedGaussian, "threshold", times(0.97)),
        ("weighted-gaussian",),
    ),
    _three_percent(OneShotLaplace, "_pure_scale"),
    _three_percent(Gamma, "scale"),
    _three_percent(WeightedGaussian, "sigma"),
    _three_percent(PolicyGaussian, "sigma"),
    _three_percent(WinCount, "scale"),
    _three_percent(ThresholdTopK, "scale"),
    _three_percent(UserPeeling, "local_epsilon", 1.03, "picks"),
    _three_percent(DiscoverThenRank, "local_epsilon", 1.03, "picks"),
    *map(
        _by_class,
        [
            known.FlipOfBoundedRange,
            known.Quiet,
            known.Quieter,
            known.Understated,
            known.FlagTells,
            known.Decides,
            known.QuietWhereMany,
            known.QuietlyTold,
            known.FullDeltaTwice,
            known.CountsAsHeld,
            known.StopsWhenReached,
            known.OneComparison,
            others.Even,
            others.Shares,
            others.LeaderAhead,
            others.Ranks,
            others.WithReplacement,
            others.BySpread,
            others.SpreadTold,
            others.TrueOrder,
            others.ALittleMore,
            others.Frequent,
            others.RestTwice,
            others.ShortRadius,
            others.OddTotal,
            others.ThirdTold,
            others.EarlyByOne,
            others.WithoutLast,
            others.FirstPage,
            listed.LessRho,
            listed.MoreThanAsked,
            listed.ThresholdFromTwo,
            listed.BarFromTwo,
            listed.SecondTold,
            listed.FarDigits,
            listed.FreeChoice,
            listed.SilentChoice,
            listed.HalfCountNoise,
            listed.CountsForOne,
            listed.SharedAnew,
            listed.NothingShared,
            listed.StopsEarly,
            listed.FloorsAbove,
            outside.SharedNoise,
            outside.NoiseAgain,
            in_policies.FillThenSpread,
            in_policies.SteepCoin,
        ],
    ),
    _by_class(listed.LessRhoOfPicks, ("peeling zcdp",)),
]
