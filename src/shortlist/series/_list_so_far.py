"""What a run answers: named items, best first, by their noisy weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.mechanisms.mechanism import Selection, score_digits
from shortlist.release.json_values import LoadedMechanism, name_of
from shortlist.release.making import make_release, restated
from shortlist.release.release import Release

if TYPE_CHECKING:
    from shortlist.release import About
    from shortlist.series._facts import SeriesFacts
    from shortlist.series._stored_state import Held

_WEIGHT = "noisy weight"


def listed(facts: SeriesFacts, held: Held, budget: str, about: About) -> Release:
    """The list of a run: a function of the noisy weights of the named items alone.

    Each estimate has noise of its own; what is said is the most that any of them has.
    """
    terms, run = facts.terms, held.state.runs
    told = facts.of_kind.told(terms, held.state)
    sd = float(told.sds.max(initial=terms.sigma / np.sqrt(run)))
    scores = told.values.round(score_digits(sd))
    selection = Selection(np.arange(len(scores)), scores, ordered=False, noise_sd=sd)
    mechanism = facts.mechanism(run=run, threshold=terms.thresholds[run - 1])
    return make_release(
        facts.of_kind.question,
        mechanism,
        selection,
        held.items[told.items],
        facts.guarantee,
        score_unit=_WEIGHT,
        budget=f"{budget}; run {run} of {terms.runs}",
        about=about,
    )


def first_of(release: Release, k: int | None) -> Release:
    """The k best of a list; all, where nobody asked for k."""
    if k is None:
        return release
    frame = release.to_polars().select(release.item_columns)
    made = release.mechanism.parameters() | {"k": k}
    best = Release(
        question=release.question,
        items=frame.head(k),
        scores=None if release.scores is None else release.scores[:k],
        guarantee=release.guarantee,
        mechanism=LoadedMechanism(name_of(release.mechanism), made),
        budget=release.budget,
        about=release.about,
    )
    return restated(best, given_before=release.given_before)
