"""The options that some questions have, with their help."""

from typing import Annotated, Any

import typer

from shortlist.cli._builders import PRIVACY, STORE, flag, number, valued, whole
from shortlist.cli.completing import columns, mechanisms
from shortlist.errors import InputError
from shortlist.strength import SCALE


def _file(rows: str, more: str = "") -> Any:
    """The table."""
    return typer.Argument(
        metavar="FILE",
        help=f"A Parquet, CSV or NDJSON file, a quoted glob, a directory, or - for standard input, "
        f"with {rows}{more}",
        show_default=False,
    )


def _column(text: str) -> Any:
    """A column by its name."""
    return valued("COLUMN", text, autocompletion=columns)


def _budget(text: str) -> Any:
    """A number on which privacy depends."""
    return valued("NUMBER", text, PRIVACY, parser=number)


def _most(text: str) -> Any:
    """How much of each user counts."""
    return valued("N", text, PRIVACY, parser=whole)


def _items_of_users(more: str) -> Any:
    """How many items of each user count."""
    return _most(
        "At most N items of each user count when items are discovered; of a user with more, N are "
        f"picked at random.{more}"
    )


def _known(more: str = ", in a column named as in the table.") -> Any:
    """The items that are public, in a file."""
    return valued("FILE", f"A file with the items that everybody knows{more}", PRIVACY)


def _known_in_table(text: str) -> Any:
    """That those of the table are."""
    return flag("--public-items-in-table", text, PRIVACY)


def _mechanism(names: str) -> Any:
    """Which mechanism answers."""
    return valued("NAME", names, PRIVACY, "--mechanism", autocompletion=mechanisms)


def _no_counts(count: str | None) -> None:
    """Say at once why there is no such option: that --user is missing would not help."""
    if count is not None:
        raise InputError(
            "{count=}: a domain is found by who holds what, which counts do not tell",
            "give a table of users and items, with {user}",
            given={"count": ...},
        )


# The table

_URL = (
    " Or, with --table, the URL of a database, such as duckdb:///plays.db or "
    "postgresql://user@host/database. Put a password in PGPASSWORD or a password file."
)
File = Annotated[str, _file("one row per user and item.", _URL)]
TopKFile = Annotated[
    str | None,
    _file("one row per user and item; or, with --count, one per item. Or use --store.", _URL),
]
RankFile = Annotated[str, _file("one row per comparison.")]
User = Annotated[str, _column("The users, who are protected.")]
TopKUser = Annotated[
    str | None, _column("The users, who are protected. This or --count is required.")
]
RankUser = Annotated[
    str | None,
    _column("The users who compared: protects all rows of each user, rather than each row."),
]
Winner = Annotated[str, _column("The items that won.")]
Loser = Annotated[str, _column("The items that lost, of the same type.")]
Count = Annotated[
    str | None,
    _column("The number of users who hold the item, each counted once. Instead of --user."),
]
NoCount = Annotated[
    str | None,
    typer.Option("--count", metavar="COLUMN", hidden=True, is_eager=True, callback=_no_counts),
]
Item = Annotated[list[str], _column("The items. Repeat it if several columns make up an item.")]
By = Annotated[
    list[str] | None,
    _column("Items of each group: the column of groups. Repeat it if several make up a group."),
]
GroupBound = Annotated[
    int | None,
    _most(
        "With --by: at most N groups of each user count; of a user in more, N are picked at "
        "random. By default 1. Choose N without looking at the data. With --count: your promise "
        "that no user is in more than N groups."
    ),
]
PublicGroups = Annotated[
    str | None,
    valued(
        "FILE",
        "With --by: a file with the groups that everybody knows, in a column named as in the "
        "table. Others are dropped. With --count, every public item is possible in every public "
        "group.",
        PRIVACY,
    ),
]
StoreUrl = Annotated[
    str | None,
    valued(
        "URL",
        "Instead of FILE, a database, of which only a few counts are read, by an index: "
        "sqlite:///items.db or postgresql://user@host/database. The items are public. Put a "
        "password in PGPASSWORD or a password file.",
        STORE,
    ),
]
StoreTable = Annotated[
    str | None,
    valued("TABLE", "With --store, or with a URL in place of FILE: the table.", STORE),
]
UrlTable = Annotated[str | None, valued("TABLE", "With a URL in place of FILE: the table.")]
Pull = Annotated[
    bool,
    flag(
        "--pull",
        "With a URL in place of FILE: fetch the rows and add them up here. By default the database "
        "adds up, and only sums over all users come here, and the items that are named.",
    ),
]
ShowAccesses = Annotated[
    bool,
    flag(
        "--show-accesses",
        "With --store: say on standard error how many counts were read. Keep it to yourself: it "
        "depends on private data.",
        STORE,
    ),
]

# The question and its privacy

_DELTA = "Far below one over the number of users, such as 1e-6."

K = Annotated[int, valued("N", "How many items.", None, "-k", parser=whole)]
Epsilon = Annotated[float, _budget(f"Privacy budget: {SCALE}.")]
Users = Annotated[
    int | None,
    _most(
        "About how many users there are, if everybody may know that: a --delta above 1 / N is "
        "warned of. Do not count them in the table for it."
    ),
]
Delta = Annotated[float, _budget(f"{_DELTA} It may be omitted with public items.")]
DomainDelta = Annotated[float, _budget(_DELTA)]
RankDelta = Annotated[float, _budget("Omit it: no mechanism for rankings uses one.")]
Bound = Annotated[
    int | None,
    _items_of_users(
        " By default N is chosen privately, from 3 to 1,000; with another mechanism it is 100. "
        "Choose N without looking at the data."
    ),
]
TopKBound = Annotated[
    int | None,
    _items_of_users(
        " By default 100. Choose N without looking at the data. With --count: your promise that "
        "no user is in more than N counts. With --public-items: for one-shot-laplace only."
    ),
]
HittingSetBound = Annotated[
    int | None,
    _items_of_users(
        " By default 100. Choose N without looking at the data. Not with --public-items."
    ),
]
ComparisonBound = Annotated[
    int | None,
    _most(
        "At most N comparisons of each user count; of a user with more, N are picked at random. "
        "Required with --user. Choose N without looking at the data."
    ),
]
PublicItems = Annotated[str | None, _known()]
NoPublicItems = Annotated[str | None, typer.Option(metavar="FILE", hidden=True)]
RankPublicItems = Annotated[str | None, _known(". This or --public-items-in-table is required.")]
PublicItemsInTable = Annotated[
    bool, _known_in_table("With --count: everybody knows which items the table has.")
]
RankPublicItemsInTable = Annotated[
    bool, _known_in_table("Everybody knows which items the table compares.")
]
CountShare = Annotated[
    float | None,
    _budget(
        "The share of the budget for a noisy count of each item, such as 0.2; none by default."
    ),
]
TopKMechanism = Annotated[
    str | None,
    _mechanism(
        "adaptive-top-k (the default), discover-then-rank, weighted-gaussian-peeling, "
        "limited-domain (the default with --count); for public items joint-or-peel (the default), "
        "joint, joint-permute-and-flip, permute-and-flip, peeling, one-shot-exponential, "
        "one-shot-laplace, gamma; with --store threshold-top-k; with --by per-group."
    ),
]
DomainMechanism = Annotated[
    str | None,
    _mechanism(
        "chosen-bound (the default), adaptive-gaussian (the default with --max-items-per-user), "
        "weighted-gaussian, policy-gaussian, policy-greedy (the default with --max-items-per-user "
        "1)."
    ),
]
HittingSetMechanism = Annotated[
    str | None,
    _mechanism(
        "adaptive-hitting-set (the default) or user-peeling; for public items user-peeling."
    ),
]
RankMechanism = Annotated[
    str | None,
    _mechanism(
        "win-count (the default), or spectral-ranking, which protects who won, but not which pairs "
        "were compared."
    ),
]
Contraction = Annotated[
    float | None,
    _budget(
        "For experts, with spectral-ranking: only tables whose random walk has at most this "
        "ergodicity coefficient are protected. Not needed where all pairs were compared."
    ),
]
Degree = Annotated[
    int | None,
    _most("For spectral-ranking: the most other items that any one item was compared with."),
]
