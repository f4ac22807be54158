"""Permute-and-flip by coins and choices alone."""

from __future__ import annotations

from dataclasses import dataclass

from shortlist.draws.contract import Candidates, Draws
from shortlist.draws.reals import UrnChance

__all__ = ["first_accepted"]


@dataclass
class _Urn:
    """A share that is never drawn, as a coin whose next answer depends on its earlier ones."""

    weights: Candidates
    late: int = 0
    early: int = 0

    def is_late(self, draws: Draws) -> bool:
        answer = bool(draws.coin(UrnChance(self.weights, self.late, self.early))[0])
        self.late += answer
        self.early += not answer
        return answer


def first_accepted(candidates: Candidates, draws: Draws) -> int:
    """The class of the item that an exact permute-and-flip names.

    Permute-and-flip visits all items in random order and takes the first that is accepted, each
    with its class's chance. Give every item a uniform arrival time: accepted items of class i
    then arrive at the rate size · chance · (1 - y) / (1 - chance · y) per unit of
    z = -ln(1 - y), which is at most the class's weight. So arrivals are proposed at the rate
    of the weights, and a proposal at time y is kept with probability
    (1 - y) / (1 - chance · y). That is the chance that a coin of chance 1 - y, thrown again as
    long as both it fails and a coin of the class's chance succeeds, succeeds at last.

    y itself is never drawn. 1 - y is the product, over the proposals so far, of independent
    shares whose law is that of an urn's, and what an urn answers next has a chance that is
    known (`UrnChance`). On average there are fewer than two proposals.
    """
    urns: list[_Urn] = []
    while (i := candidates.pick(draws)) != 0:  # class 0 has chance 1
        urns.append(_Urn(candidates))
        while any(urn.is_late(draws) for urn in urns):
            if not draws.coin(candidates.chance(i))[0]:
                break
        else:
            break
    return i
