"""Mechanisms as a source plans them."""

import polars as pl

import shortlist as sl
from helpers import refusals
from helpers.refusals import MARKER
from shortlist.questions import Domain, TopK

ROWS = pl.DataFrame({"user": [1], "item": ["0"], "count": [1]})
KNOWN = [str(i) for i in range(100)]


def planned(source, mechanism, k=20, epsilon=1.0, delta=1e-6, count_share=None, question=TopK):
    asked = Domain() if k is None else question(k)
    if count_share is not None:
        asked = TopK(k, count_share)
    return source.plan(asked, epsilon=epsilon, delta=delta, mechanism=mechanism).mechanism


def build(mechanism=None, *, public=False, bound=100, **asked):
    source = sl.pairs(
        ROWS,
        user="user",
        item="item",
        max_items_per_user=bound,
        public_items=KNOWN if public else None,
    )
    return planned(source, mechanism, **asked)


def build_for_counts(mechanism=None, *, public=False, bound=None, **asked):
    source = sl.counts(
        ROWS,
        item="item",
        count="count",
        max_items_per_user=bound,
        public_items=KNOWN if public else None,
    )
    return planned(source, mechanism, **asked)


def refusal(action, *contains):
    message = refusals.refusal(action, *contains)
    assert MARKER not in message
    assert "\n" not in message
    return message
