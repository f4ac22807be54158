"""The questions as commands: what each asks, opens and needs, with its help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import shortlist
from shortlist.cli._options import Commands
from shortlist.cli._sources import (
    open_comparisons,
    open_labelled_rows,
    open_listed_rows,
    open_rows,
    open_scores,
    open_table,
    require_comparisons,
    require_database,
    require_file,
    require_rows,
    require_scores,
    require_table,
)

if TYPE_CHECKING:
    from shortlist.questions import Question
    from shortlist.sources.source import Source


@dataclass(frozen=True)
class TableQuestion:
    """A question as a command.

    Attributes:
        command: Which it is.
        about: Its help.
        examples: Lines that can be typed, with an empty one between two.
        asked: The question as a value, from what was given.
        source: Opens what is asked, as far as its schema.
        require: Refuses the lack of what the source needs.
    """

    command: Commands
    about: str
    examples: str
    asked: Callable[[SimpleNamespace], Question]
    source: Callable[[SimpleNamespace], Source]
    require: Callable[[SimpleNamespace], None]


def _discoveries(given: SimpleNamespace) -> Question:
    rate = {} if given.fdr is None else {"fdr": given.fdr}
    return shortlist.Discoveries(given.k, **rate, side=shortlist.Side(given.side or "cases"))


def _list_so_far(_: SimpleNamespace) -> Question:
    from shortlist.questions import ListSoFar  # loads what help does not need

    return ListSoFar()


RUN_OF_SERIES = TableQuestion(Commands.SERIES_NEXT, "", "", _list_so_far, open_rows, require_file)

QUESTIONS = {
    question.command: question
    for question in (
        TableQuestion(
            Commands.TOP_K,
            """The k items held by most users, best first; with --by, those of each group.

            Fewer come out if fewer are held by enough users to be named.""",
            """shortlist top-k plays.parquet --user user --item title \\
    -k 20 --epsilon 1 --delta 1e-6

shortlist top-k readers.csv --item title --count readers \\
    -k 20 --epsilon 1 --public-items-in-table

shortlist top-k plays.parquet --user user --item title \\
    --by country -k 10 --epsilon 1 --delta 1e-6

shortlist top-k --store sqlite:///items.db --table items \\
    --item name --count plays -k 100 --epsilon 1""",
            lambda given: shortlist.TopK(
                given.k,
                given.count_share,
                given.noisy_counts,
                given.min_users,
                given.others,
                ordered=not given.unordered,
            ),
            open_table,
            require_table,
        ),
        TableQuestion(
            Commands.DOMAIN,
            "All items held by enough users to be named.",
            """shortlist domain plays.parquet --user user --item title \\
    --epsilon 1 --delta 1e-6 --output titles.csv""",
            lambda given: shortlist.Domain(
                given.count_share, given.noisy_counts, given.min_users, given.others
            ),
            open_rows,
            require_rows,
        ),
        TableQuestion(
            Commands.HITTING_SET,
            """At most k items that together reach the most users; with --by, of each group.

            Each item is picked by how many users it reaches beyond those before it.""",
            """shortlist hitting-set plays.parquet --user user --item title \\
    -k 20 --epsilon 1 --delta 1e-6""",
            lambda given: shortlist.HittingSet(given.k, given.count_share, given.noisy_counts),
            open_rows,
            require_rows,
        ),
        TableQuestion(
            Commands.USER_COUNTS,
            """How many users hold each item of a list, with intervals; --by: in each group.

            Everybody knows the list. All of it is printed, in its order, also what
            nobody holds.""",
            """shortlist user-counts plays.parquet --user user --item title \\
    --public-items titles.csv --epsilon 1 --delta 1e-6""",
            lambda given: shortlist.UserCounts(
                given.share_of_users and shortlist.ShareOfUsers(given.share_of_users)
            ),
            open_listed_rows,
            require_rows,
        ),
        TableQuestion(
            Commands.RANK,
            "The k items that do best when compared in pairs, best first.",
            """shortlist rank games.csv --winner won --loser lost \\
    --public-items-in-table -k 10 --epsilon 1""",
            lambda given: shortlist.Rank(given.k),
            open_comparisons,
            require_comparisons,
        ),
        TableQuestion(
            Commands.SCORES,
            """The k items with the largest scores, or with --bottom the smallest.

            Scores are numbers that you computed from users' data. You state how far
            one user can move them: the guarantee rests on it.""",
            """shortlist scores hours.csv --item title --score hours \\
    --sensitivity 8 --direction one --missing 0 \\
    --public-items titles.csv -k 10 --epsilon 1""",
            lambda given: (shortlist.BottomScores if given.bottom else shortlist.TopScores)(
                given.k, noisy_scores=given.noisy_scores
            ),
            open_scores,
            require_scores,
        ),
        TableQuestion(
            Commands.ASSOCIATE,
            """The items that go with a label: which are more common among cases.

            k items are looked at, and those are named for which the evidence is strong
            enough. The labels have a row for every user, also for those who hold nothing.""",
            """shortlist associate taken.parquet --user patient --item drug \\
    --labels patients.parquet --label event --case yes --control no \\
    --public-items drugs.csv -k 50 --epsilon 1 --delta 1e-6""",
            _discoveries,
            open_labelled_rows,
            require_database,
        ),
    )
}
"""One row for each question."""
