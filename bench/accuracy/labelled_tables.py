"""Holders of items by label, of which it is known which items go with the label."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl

from bench.common import real
from shortlist.draws import Floats, Ints
from shortlist.evidence import LabelledCounts

__all__ = ["HOLDERS", "Invented", "Labelled", "genomes", "reviews"]

ITEMS, REAL = 5000, 50
HOLDERS = {"common": (0.05, 0.5), "rare": (0.002, 0.03)}
"""Shares of users who hold an item, from and to, in logarithmic spacing."""
_BLOCK, _WITHIN = 50, 0.9  # items that hang together, and the share of a block's users in each
_EFFECTS = 4.0, 8.0  # of real items, in standard deviations of an item without relation

_WORDS = 5000
_FOUNDERS, _PEOPLE, _SEGMENTS, _SNPS, _PARTS = 100, 10_000, 50, 98, 4
_CAUSES, _HERITABLE = 15, 0.3


class Labelled(NamedTuple):
    """One table, as far as a comparison of two labels looks at it.

    Attributes:
        counts: Holders by label.
        unit: Which items are one thing, of which any may be discovered, shape (n,).
        real: Whether what an item belongs to goes with the label, shape (n,).
    """

    counts: LabelledCounts
    unit: Ints
    real: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Invented:
    """Items of which the first few go with the label, and all others have nothing to do with it.

    Attributes:
        users: Half of them are cases.
        holders: How common items are, a key of `HOLDERS`.
        shared: Whether items without relation come in blocks that the same users hold.
    """

    users: int
    holders: str
    shared: bool

    def tables(self, runs: int) -> Iterator[Labelled]:
        """A table for each run."""
        for run in range(runs):
            yield self._table(np.random.default_rng([run, self.users, len(self.holders)]))

    def _table(self, draw: np.random.Generator) -> Labelled:
        half = self.users // 2
        low, high = HOLDERS[self.holders]
        share = np.exp(draw.uniform(math.log(low), math.log(high), ITEMS))
        if self.shared:
            share[REAL:] = np.repeat(share[REAL::_BLOCK], _BLOCK)
        effect = np.zeros(ITEMS)
        sd = np.sqrt(share * (1 - share) / self.users)
        effect[:REAL] = draw.uniform(*_EFFECTS, REAL) * sd[:REAL]
        cases = self._held(draw, half, np.clip(share + effect, 0, 1))
        controls = self._held(draw, half, np.clip(share - effect, 0, 1))
        counts = LabelledCounts(cases, controls, half, half)
        return Labelled(counts, np.arange(ITEMS), np.arange(ITEMS) < REAL)

    def _held(self, draw: np.random.Generator, users: int, share: Floats) -> Ints:
        if not self.shared:
            return draw.binomial(users, share)
        blocks = draw.binomial(users, share[REAL::_BLOCK] / _WITHIN)
        inside = draw.binomial(np.repeat(blocks, _BLOCK), _WITHIN)
        return np.concatenate([draw.binomial(users, share[:REAL]), inside])


def reviews(users: int, runs: int) -> Iterator[Labelled]:
    """Words of as many films' reviews, half of them positive, and each word once more as a decoy.

    A decoy is held by the same reviews, whose labels are dealt anew. So it is as its word in all
    but that. Nothing where the files are missing.
    """
    if (read := _read_reviews()) is None:
        return
    review, word, positive = read
    for run in range(runs):
        draw = np.random.default_rng([run, users])
        sides = [np.flatnonzero(positive == side) for side in (True, False)]
        kept = np.concatenate([draw.choice(side, users // 2, replace=False) for side in sides])
        is_case = np.zeros(len(positive), np.int64)
        is_case[kept[: users // 2]] = 1
        dealt = np.zeros_like(is_case)
        dealt[draw.permutation(kept)[: users // 2]] = 1
        here = np.isin(np.arange(len(positive)), kept)[review]
        held = np.bincount(word[here], minlength=_WORDS)
        cases = np.concatenate(
            [
                np.bincount(word[here & (of[review] == 1)], minlength=_WORDS)
                for of in (is_case, dealt)
            ]
        )
        counts = LabelledCounts(cases, np.tile(held, 2) - cases, users // 2, users // 2)
        yield Labelled(counts, np.arange(2 * _WORDS), np.arange(2 * _WORDS) < _WORDS)


@cache
def _read_reviews() -> tuple[Ints, Ints, Ints] | None:
    paths = real.find(("imdb_reviews_tokens", "imdb_reviews_labels"))
    if len(paths) < 2:
        return None
    rows, labels = map(pl.read_parquet, paths.values())
    common = rows.group_by("item").len().sort(["len", "item"], descending=[True, False])
    codes = common.head(_WORDS).select("item").with_row_index("word")
    users = labels.sort("user").with_row_index("review")
    coded = rows.join(codes, on="item").join(users.select("user", "review"), on="user")
    positive = (users["label"] == "positive").to_numpy()
    return coded["review"].to_numpy(), coded["word"].to_numpy(), positive


def genomes(runs: int) -> Iterator[Labelled]:
    """Carriers of 4,900 variants among 10,000 people, who copy stretches of 100 founders' genomes.

    Of 50 segments about ten hold a cause of the label; all variants in these go with it.
    """
    draw = np.random.default_rng(7)
    variants = _SEGMENTS * _SNPS
    shares = draw.uniform(0.02, 0.5, variants)
    founders = draw.random((_FOUNDERS, variants)) < shares
    # Each person copies one founder for a part of a segment, and then another.
    parts = draw.integers(0, _FOUNDERS, (_PEOPLE, _SEGMENTS * _PARTS))
    ends = np.linspace(0, _SNPS, _PARTS + 1).round().astype(np.int64)
    of_part = np.repeat(np.tile(np.arange(_PARTS), _SEGMENTS), np.tile(np.diff(ends), _SEGMENTS))
    segment = np.repeat(np.arange(_SEGMENTS), _SNPS)
    part = segment * _PARTS + of_part
    carried = np.empty((_PEOPLE, variants), np.float32)
    for column in range(variants):
        carried[:, column] = founders[parts[:, part[column]], column]
    held = carried.sum(axis=0, dtype=np.float64)
    for run in range(runs):
        draw = np.random.default_rng([run, 7])
        causes = draw.choice(np.flatnonzero(segment < _SEGMENTS // 5), _CAUSES, replace=False)
        causal = carried[:, causes]
        effects = 1 / np.maximum(causal.std(axis=0), 0.05)
        risk = (causal - causal.mean(axis=0)) @ effects.astype(np.float32)
        risk = risk / risk.std() * math.sqrt(_HERITABLE)
        liability = risk + draw.normal(0, math.sqrt(1 - _HERITABLE), _PEOPLE)
        case = liability > np.median(liability)
        cases = (case.astype(np.float32) @ carried).astype(np.int64)
        counts = LabelledCounts(
            cases, held.astype(np.int64) - cases, int(case.sum()), int((~case).sum())
        )
        yield Labelled(counts, segment, np.isin(segment, segment[causes]))
