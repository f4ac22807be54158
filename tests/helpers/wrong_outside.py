"""Mechanisms that do something wrong beside their answer."""

import logging
import sys
import warnings

import numpy as np

from shortlist.draws import Order
from shortlist.draws.noise import Laplace
from shortlist.evidence import PublicCounts, Wants
from shortlist.mechanisms import OneShotLaplace, Peeling, Selection
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts


def many(evidence):
    return int(evidence.counts.max(initial=0)) > 3


class Exits(Peeling):
    """An exit where a count is large."""

    def select(self, evidence, draws):
        if many(evidence):
            raise SystemExit(0)
        return super().select(evidence, draws)


class Strange(BaseException):
    """No exception that anybody catches."""


class Escapes(Peeling):
    """Something that is no error."""

    def select(self, evidence, draws):
        if many(evidence):
            raise Strange
        return super().select(evidence, draws)


class Interrupts(Peeling):
    """An interrupt, as if the user had asked for it."""

    def select(self, *_):
        raise KeyboardInterrupt


class SpentNothing(Peeling):
    """A guarantee without the delta that is spent."""

    spent_delta = 0.0


class TellsLater(Peeling):
    """The largest count is kept among the public parameters."""

    derived = ("local_epsilon", "largest")
    largest = property(lambda self: vars(self).get("_largest", 0))

    def select(self, evidence, draws):
        object.__setattr__(self, "_largest", int(evidence.counts.max(initial=0)))
        return super().select(evidence, draws)


class ExplainsLater(Peeling):
    """The same in words, kept with the class."""

    seen = [0]  # noqa: RUF012 - the mistake

    def explain(self):
        return [f"The largest count is {self.seen[-1]}."]

    def select(self, evidence, draws):
        self.seen.append(int(evidence.counts.max(initial=0)))
        return super().select(evidence, draws)


class Warns(Peeling):
    """A warning that says a count."""

    def select(self, evidence, draws):
        if many(evidence):
            warnings.warn(f"{evidence.counts.max()}", stacklevel=1)
        return super().select(evidence, draws)


class Prints(Peeling):
    """A count on the screen."""

    def select(self, evidence, draws):
        if many(evidence):
            sys.stderr.write(f"{evidence.counts.max()}\n")
        return super().select(evidence, draws)


class Logs(Peeling):
    """A count in a log."""

    def select(self, evidence, draws):
        if many(evidence):
            logging.getLogger("wrong").error("%s", evidence.counts.max())
        return super().select(evidence, draws)


class AsksForAll(OneShotLaplace):
    """Evidence that nobody has bounded, taken as if it were."""

    wants = property(lambda self: Wants(self.evidence))

    def select(self, evidence, draws):
        return super().select(PublicCounts(evidence.counts, self.max_items_per_user), draws)


class KeepsNoise(OneShotLaplace):
    """Noise that is kept for the next table of as many items."""

    kept = {}  # noqa: RUF012 - the mistake

    def select(self, evidence, draws):
        n, noise = len(evidence.counts), [Laplace(self._pure_scale)]
        if n not in self.kept:
            told = draws.order(Order(np.zeros(n, np.int64), noise, digits=0, unit=1.0))
            self.kept[n] = told.by_position()
        noisy = evidence.counts + self.kept[n]
        return Selection(np.argsort(-noisy, kind="stable")[: self.k])


class DrawsOn(Peeling):
    """A draw that is made again and again."""

    def select(self, _, draws):
        while True:
            draws.integer(np.array([1]))


class SharedNoise(NoisyCounts):
    """One noise for all counts."""

    def _noisy(self, counts, draws, _unit=1.0):
        zero = np.zeros(1, np.int64)
        told = draws.order(Order(zero, [self._best.noise], unit=1.0, digits=0)).by_position()
        return counts + told[0]


class NoiseAgain(NoisyCounts):
    """From the third count on, the noise of the second."""

    def _noisy(self, counts, draws, _unit=1.0):
        told = super()._noisy(counts[:2], draws)
        return np.concatenate([told, counts[2:] + (told[1] - counts[1])])
