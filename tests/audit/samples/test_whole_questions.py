"""Whole questions of every source, sampled."""

import dataclasses

import pytest

from shortlist.audit import Verdict
from shortlist.audit.samples.whole_questions import QUESTIONS, audit_question
from shortlist.bits import SeededBits
from shortlist.questions import Domain, HittingSet, Rank, TopK
from shortlist.sources.comparisons import Comparisons
from shortlist.sources.counts import Counts
from shortlist.sources.pairs import Pairs
from shortlist.sources.store import Store


def test_every_question_of_every_source_is_sampled():
    sources = {"pairs": Pairs, "counts": Counts, "store": Store, "comparisons": Comparisons}
    asked = {
        f"{name}.{question.method()}"
        for name, source in sources.items()
        for question in (TopK, Domain, HittingSet, Rank)
        if hasattr(source, question.method())
    }
    assert asked == {question.name for question in QUESTIONS}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_samples_of_whole_questions(question):
    # One more user stands for four hundred: as if each had so many rows that all count.
    def about(a, b):
        return question.about(a + 400 * ((a, b) not in question.held), b)

    loud = dataclasses.replace(question, about=about)
    (finding,) = audit_question(loud, bits=SeededBits(6), samples=200)
    assert finding.verdict is Verdict.BROKEN
    (finding,) = audit_question(question, bits=SeededBits(6), samples=60)
    assert finding.verdict is Verdict.UNDECIDED
