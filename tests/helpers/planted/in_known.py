"""Mistakes in what was there in version 0.1: some anew, and those of other helpers, as plants."""

import numpy as np

from helpers import wrong_listed as listed
from helpers import wrong_mechanisms as known
from helpers import wrong_others as others
from helpers import wrong_outside as outside
from helpers import wrong_policies as in_policies
from helpers.planted.planting import Plant, times
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


def _factor(cls, name, by):
    return lambda patch: patch.method(cls, name, times(by))


def _louder(patch):
    def make(right):
        return lambda counts, k, epsilon, draws: right(counts, k, 1.03 * epsilon, draws)

    patch.at(peeling, "peel", make)


def _louder_flips(patch):
    def make(right):
        return lambda epsilon, *given: right(1.15 * epsilon, *given)

    patch.at(permute_and_flip, "flip", make)


def _louder_sequences(patch):
    def make(right):
        def wrong(weights, draws):
            its = weights.sequences
            return right(SlackWeights.of(its.groups, its.k, 1.03 * weights.decay), draws)

        return wrong

    patch.at(joint, "draw_joint", make)


def where(leads):
    """Twice the parameter of picks where something is so of the counts."""

    def plant(patch):
        def make(right):
            def wrong(counts, k, epsilon, draws):
                return right(counts, k, epsilon * (1 + bool(leads(counts))), draws)

            return wrong

        patch.at(peeling, "peel", make)

    return plant


def _third_row_leads(counts):
    return len(counts) > 0 and (int(np.argmax(counts)) == 2 or counts[0] > counts[1:].sum() / 2)


def _clamped(patch):
    """Noise may keep an item from being named, and never helps it."""

    def make(right):
        def wrong(evidence, sigma, threshold, draws):
            told = right(evidence, sigma, threshold, draws)
            least = weighted_gaussian.to_units(threshold)
            near = evidence.weights[told.looked_at] >= least
            return told._replace(passed=told.passed & near)

        return wrong

    patch.everywhere(weighted_gaussian, "discover", make)


def _picks_by_weights(patch):
    """Items are looked at in the order of their counts, and the first half take part."""

    def make(right):
        def wrong(counts, k, epsilon, draws):
            seen = np.where(2 * counts >= counts.max(initial=0), counts, 0)
            return right(seen, k, epsilon, draws)

        return wrong

    patch.at(peeling, "peel", make)


def _lower_threshold(patch):
    patch.method(WeightedGaussian, "threshold", times(0.97))


def _bar_of_third(patch):
    patch.method(LimitedDomain, "_nobody", times(2 / 3))


def _moved_less(patch):
    def make(right):
        return lambda self, shares, moved, draws: right(self, shares, moved * 97 / 100, draws)

    patch.method(SpectralRanking, "_ranked", make)


def _three_percent(cls, name, by=0.97, what="noise", case=()):
    less = "too little" if by < 1 else "too much parameter in its"
    return Plant(
        f"3 % {less} {what} in {kebab(cls)}",
        f"mechanisms/{kebab(cls).replace('-', '_')}",
        (kebab(cls),),
        _factor(cls, name, by),
        case,
        old=True,
    )


def _by_class(wrong, case=()):
    right = next(c for c in wrong.__mro__ if c.__module__.startswith("shortlist."))
    told = next(c.__doc__ for c in wrong.__mro__ if c.__doc__).splitlines()[0].rstrip(".")
    name = kebab(right)
    return Plant(
        f"{name}, {wrong.__name__}: {told[0].lower()}{told[1:]}",
        right.__module__.removeprefix("shortlist.").replace(".", "/"),
        (name,),
        lambda patch: patch.instead(right, wrong),
        case,
        old=True,
    )


def _old(name, room, shown, plant, *cases):
    return Plant(name, room, shown, plant, cases, old=True)


KNOWN = [
    _old("3 % too much parameter in peeling", "mechanisms/peeling", ("peeling",), _louder),
    _old(
        "15 % too much parameter in permute-and-flip",
        "mechanisms/permute_and_flip",
        ("permute-and-flip",),
        _louder_flips,
    ),
    _old("3 % too much parameter in joint", "mechanisms/joint", ("joint",), _louder_sequences),
    _old(
        "picks twice as sharp where the third row leads",
        "mechanisms/peeling",
        ("peeling",),
        where(_third_row_leads),
    ),
    _old(
        "picks twice as sharp where the total is odd",
        "mechanisms/peeling",
        ("peeling",),
        where(lambda counts: counts.sum() % 2 == 1),
    ),
    _old(
        "picks look at counts: those below half of the largest count as nothing",
        "mechanisms/peeling",
        ("peeling",),
        _picks_by_weights,
    ),
    _old(
        "noise is clamped before the threshold",
        "mechanisms/weighted_gaussian",
        ("weighted-gaussian", "discover-then-rank"),
        _clamped,
        "weighted-gaussian",
    ),
    _old(
        "3 % too low a threshold in weighted-gaussian",
        "mechanisms/weighted_gaussian",
        ("weighted-gaussian",),
        _lower_threshold,
    ),
    _old(
        "the bar of limited-domain is for two thirds of a user's items",
        "mechanisms/limited_domain",
        ("limited-domain",),
        _bar_of_third,
    ),
    _old(
        "3 % too little noise in spectral-ranking",
        "mechanisms/spectral_ranking",
        ("spectral-ranking",),
        _moved_less,
    ),
    _old(
        "3 % too little noise in the first of two Gaussians",
        "mechanisms/_two_gaussians",
        ("discover-then-rank",),
        _factor(TwoGaussians, "first_sigma", 0.97),
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
