"""Spectral ranking of few items, with its noise by the theorem."""

from fractions import Fraction

from helpers import walks
from shortlist.draws import ExactDraws
from shortlist.mechanisms import SpectralRanking

EPSILON = 2.0
NEAR = 1e-3  # the noise that pays for the precision of the scores, relatively; less on few items


def build(k=1, **options):
    return SpectralRanking(**{"k": k, "epsilon": EPSILON} | options)


def exact_scores(seen, degree):
    return [float(x) for x in walks.stationary(walks.transitions(seen, degree))]


class Watched(ExactDraws):
    """Keeps what is to be ranked, and in which noise."""

    def order(self, asked):
        self.shares, self.scale = asked.scores, Fraction(asked.noises[0].scale)
        return super().order(asked)
