"""The defaults on tables and histograms that nothing was tuned on: the README's figures."""

from __future__ import annotations

import polars as pl

from bench.accuracy import counts, top_k
from bench.common import real, report
from bench.common.cells import Beside, means
from bench.reproduction import hitting_set
from bench.reproduction.hitting_set_findings import MISSED, OURS, PAPERS
from bench.reproduction.tables import Loaded, Size, Source

__all__ = ["compare"]

RANKED = {
    "amazon_grocery_5core": "Amazon grocery",
    "amazon_video_games_5core": "Amazon games",
    "reddit_askreddit_1pct_bigrams": "AskReddit bigrams",
    "reddit_askreddit_1pct_tokens": "AskReddit words",
    "twitter_airline_tokens": "Airline tweets",
}
"""For top-k; the shares of `DiscoverThenRank` were chosen on `real.TABLES`."""

HIT = {name: title for name, title in RANKED.items() if name != "amazon_grocery_5core"} | {
    "anime_5k": "Anime lists",
    "fimi_retail": "Retail baskets",
}
"""For hitting sets; those of `DiscoverThenHit` on Steam, Amazon magazines and Amazon grocery."""

GROUPED = {"twitter_airline_tokens_by_airline": 6, "reddit_title_tokens_by_subreddit": 6}
"""For counts, so many groups of each; the choice of `JointOrPeel` was set on whole tables."""


def compare(runs: int) -> None:
    """All three questions, each beside what was published: tables, in one file."""
    measured = {"Top-k": _ranked(runs), "Hitting set": _hit(runs), "Counts": _counted(runs)}
    parts = {title: table for title, table in measured.items() if not table.is_empty()}
    if not parts:
        return
    pictures = {"unseen.png": "Missing mass against k"}
    report.write("unseen", "Tables that nothing was tuned on", parts, _notes(runs), pictures)


def _notes(runs: int) -> list[str]:
    settings = (
        "Tables and histograms on which no share or threshold of a default was chosen. "
        f"{runs} runs each from fixed seeds, so nothing here is private."
    )
    ranked = (
        "Top-k: missing mass of `DiscoverThenRank` over that of the published mechanism "
        "(Dick et al. 2026, Alg. 2), geometric means of (mass + 1e-4); and in how many cells "
        "(epsilon 1 and 0.1, k from 5 to 200; missing mass and l1 loss) it is worse by more than "
        f"twice the combined error. delta=1e-5. Tables: {', '.join(RANKED.values())}."
    )
    hit = (
        "Hitting set: in how many such cells `DiscoverThenHit` misses fewer or more users than the "
        "published mechanism (Alg. 4) by more than twice the combined error. Tables: "
        f"{', '.join(HIT.values())}."
    )
    counted = (
        "Counts: median l1 error + 1 of each mechanism over the least of all in the same cell, "
        "geometric means over k = 5, 15, …, 195: over all histograms and, for l1, over the one "
        "where it is least and the one where it is most. epsilon=1, delta=1e-6. Histograms: words "
        "in tweets to each of six airlines and in titles of six subreddits."
    )
    return [settings, ranked, hit, counted]


def _ranked(runs: int) -> pl.DataFrame:
    """How `DiscoverThenRank` compares on each table, and on all."""
    trials = top_k.trials_of(real.find(RANKED), top_k.MECHANISMS, runs)
    if trials.is_empty():
        return trials
    figures = means(trials, top_k.MEASURES)
    cells = pl.concat([top_k.beside(figures, measure) for measure in top_k.MEASURES])
    print(top_k.verdict(cells))
    top_k.plot(figures, RANKED, "unseen.png")
    worse = cells.group_by("table").agg(compared=pl.len(), worse=pl.col("new is worse").sum())
    total = cells.select(
        pl.lit("all").alias("table"), compared=pl.len(), worse=pl.sum("new is worse")
    )
    counted = pl.concat([worse, total.cast(worse.schema)])
    ratios = top_k.ratios(figures).select(pl.col("cells").alias("table"), "ratio")
    return ratios.join(counted, on="table", maintain_order="left").with_columns(
        pl.col("table").replace(RANKED)
    )


def _hit(runs: int) -> pl.DataFrame:
    """In how many cells `DiscoverThenHit` misses fewer users, and in how many more."""
    tables = [
        Loaded(Source(HIT[name], "", Size(0, 0, 0)), real.read(path))
        for name, path in real.find(HIT).items()
    ]
    if not tables:
        return pl.DataFrame()
    rows = [row for table in tables for row in hitting_set.trials_of(table, table.runs(runs))]
    figures = means(pl.DataFrame(rows, schema=hitting_set.COLUMNS, orient="row"), (MISSED,))
    every = Beside.of(figures, MISSED, new=OURS, old=PAPERS)
    counted = [_told(table.source.title, every.where(table=table.source.title)) for table in tables]
    return pl.DataFrame([*counted, _told("all", every)])


def _told(name: str, beside: Beside) -> dict[str, object]:
    return {
        "table": name,
        "cells": len(beside.cells),
        "fewer missed": len(beside.smaller),
        "more missed": len(beside.larger),
    }


def _counted(runs: int) -> pl.DataFrame:
    """How far each mechanism is from the best of all, on counts that everybody may know."""
    found = {
        f"{group} ({name.rpartition('_')[2]})": held
        for name, most in GROUPED.items()
        for group, held in real.grouped(name, most).items()
    }
    if not found:
        return pl.DataFrame()
    trials = pl.concat([counts.of_histogram(name, held, runs) for name, held in found.items()])
    shares = counts.summary(counts.quartiles(trials))
    each = [f"l1 {name}" for name in found]
    ends = pl.min_horizontal(each).alias("l1 at best"), pl.max_horizontal(each).alias("l1 at worst")
    return shares.select("mechanism", *counts.MEASURES, *ends)
