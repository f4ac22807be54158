"""The table of options: which commands take them, of which type, with which help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Flag, auto

from shortlist.cli._values import (
    ALLOWANCE,
    CAPS,
    COLUMN,
    DAY,
    DIRECTION,
    FLAG,
    GROUP_ITEMS,
    KIND_OF_SERIES,
    MECHANISM,
    NUMBER,
    PART,
    PATH,
    SEPARATOR,
    SHARES,
    SIDE,
    TEXT,
    WHOLE,
    BudgetForm,
    Form,
    ListsOf,
    ValueKind,
    choice,
)
from shortlist.cli.completing import SHELLS, commands
from shortlist.errors import joined
from shortlist.strength import SCALE

PRIVACY, STORE, ABOUT, ANSWER, TESTS, HELP = (
    *("Privacy", "Database", "What it is of (public)", "Answer", "Tests", "Help"),
)


class Commands(Flag):
    """The commands, so that an option can say which take it, and what it is to each."""

    TOP_K = auto()
    DOMAIN = auto()
    HITTING_SET = auto()
    USER_COUNTS = auto()
    RANK = auto()
    SCORES = auto()
    ASSOCIATE = auto()
    COMPARE = auto()
    AUDIT = auto()
    EXPLAIN = auto()
    DIFF = auto()
    COMPLETION = auto()
    HELP = auto()
    CREATE = auto()
    SHOW = auto()
    PLAN = auto()
    EXPORT = auto()
    VERIFY = auto()
    SERIES_CREATE = auto()
    SERIES_NEXT = auto()
    SERIES_SHOW = auto()
    SERIES_RECOVER = auto()
    SERIES_FORGET = auto()
    SERIES_CLOSE = auto()
    SERIES_PROLONG = auto()
    ROWS = DOMAIN | HITTING_SET | USER_COUNTS
    QUESTIONS = TOP_K | ROWS | RANK | SCORES | ASSOCIATE
    LISTS = QUESTIONS | SERIES_NEXT
    FILTERED = TOP_K | ROWS | ASSOCIATE | COMPARE | SERIES_NEXT
    KNOWN_BUDGET = SHOW | PLAN | EXPORT | VERIFY
    KNOWN_SERIES = SERIES_NEXT | SERIES_SHOW | SERIES_FORGET | SERIES_CLOSE | SERIES_PROLONG
    SERIES = SERIES_CREATE | KNOWN_SERIES | SERIES_RECOVER
    SERIES_IN_FILE = SERIES_CREATE | SERIES_NEXT | SERIES_SHOW
    IN_FILE = QUESTIONS | SERIES_IN_FILE
    NONE = 0

    @classmethod
    def called(cls, name: str) -> Commands:
        """The command that is typed so."""
        return cls[name.upper().replace("-", "_")]

    @property
    def typed(self) -> str:
        """What is typed for this one command, behind that of which it is one."""
        return str(self.name).lower().removeprefix("series_").replace("_", "-")


C = Commands

# What a row of the table holds


@dataclass(frozen=True)
class CommandOption:
    """One option, or argument, of one or several commands.

    Attributes:
        name: What it is called in Python.
        kind: What is written after it.
        panel: The box of the help in which it stands, for all commands or for each.
        help: What it does, by the commands that take it; nothing, where they only refuse it.
        metavar: What help calls its value, if not as others of this kind.
        typed: What is typed, if not its name; without dashes it is an argument.
        required: The commands that cannot do without it.
        repeats: The commands to which it can be given several times.
        default: Its value where it is not given.
        settable: Whether shortlist.toml may set it.
        less_private: Whether it makes answers less private, so that it must be typed each time.
        goes_with: The option without which it means nothing.
        not_with: The options that exclude it, each with the reason.
        otherwise: What to do where one of these is given.
        eager: Whether it is looked at before others.
    """

    name: str
    kind: ValueKind
    panel: str | Mapping[Commands, str] | None = None
    _: KW_ONLY
    help: Mapping[Commands, str]
    metavar: str = ""
    typed: str = ""
    required: Commands = C.NONE
    repeats: Commands = C.NONE
    default: object = None
    settable: bool = False
    less_private: bool = False
    goes_with: str = ""
    not_with: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = "omit one of the two"
    eager: bool = False

    @property
    def in_shell(self) -> str:
        """How it is written in a shell."""
        return self.typed or f"--{self.name.replace('_', '-')}"

    @property
    def key(self) -> str:
        """How it is written in shortlist.toml."""
        return self.in_shell.lstrip("-").lower()

    @property
    def is_argument(self) -> bool:
        """Whether its value stands alone."""
        return not self.in_shell.startswith("-")

    @property
    def is_flag(self) -> bool:
        return self.kind is FLAG

    @property
    def is_path(self) -> bool:
        """Whether its value is a path, seen from where it is written."""
        return self.kind is PATH

    @property
    def placeholder(self) -> str:
        return self.metavar or self.kind.metavar

    def help_of(self, command: Commands) -> str | None:
        """What it does in this command, or None where it is not taken."""
        return _of_command(command, self.help)

    def panel_of(self, command: Commands) -> str | None:
        return _of_command(command, self.panel) if isinstance(self.panel, Mapping) else self.panel


def _of_command(command: Commands, texts: Mapping[Commands, str]) -> str | None:
    return next((text for of, text in texts.items() if command in of), None)


def options_of(command: Commands) -> list[CommandOption]:
    """What this command takes, in the order of its help; what it only refuses, too."""
    return [option for option in OPTIONS if option.help_of(command) is not None]


# Reasons

_NOT_OF_A_STORE = {
    "store": "its table has one row for each item that everybody knows, with its count"
}
_KNOWN_OR_GROUPED = {
    "by": "it is said of one list, not of groups",
    "public_items": "everybody knows these items; user-counts says how many users hold each",
    "public_items_in_table": "everybody knows these items",
    "count": "counts do not tell who holds what; give one row per user and item",
}
_TOGETHER = {
    "by": "pairs of items cannot be asked for by group",
    "public_items": "pairs are discovered, and a list of items names no pairs",
    "public_items_in_table": "everybody knows these items",
    "count": "counts do not tell who holds what; give one row per user and item",
    "others": "of a user who holds many pairs only some count",
}

# Help

_FILE = "A Parquet, CSV or NDJSON file, a quoted glob, a directory, or - for standard input, with"
_URL = (
    " Or, with --table, the URL of a database, such as duckdb:///plays.db or "
    "postgresql://user@host/database. Put a password in PGPASSWORD or a password file."
)
_ITEM_BOUND = (
    "At most N items of each user count when items are discovered; of a user with more, N are "
    "picked at random."
)
_DELTA = "Far below one over the number of users, such as 1e-6."
_SEVERAL = "Repeat it to compare several."
_KNOWN = "A file with the items that everybody knows"
_SIZES = "Your promise, if everybody knows the number, such as from the study's design:"

# fmt: off
OPTIONS: tuple[CommandOption, ...] = (
    # Which series, and which table
    CommandOption("series", PATH, settable=True, typed="SERIES", required=C.SERIES, help={
        C.SERIES_CREATE: "A file that does not exist yet, or postgresql://… of a database without "
            "a budget. Back it up separately from the budget.",
        C.KNOWN_SERIES: "The file of a series, or postgresql://…",
        C.SERIES_RECOVER: "An older file of the series, such as a backup; or where there is none, "
            "a new one.",
    }),
    CommandOption("question", choice(("top-k", "domain", "hitting-set"), "QUESTION"),
        typed="QUESTION", required=C.COMPARE, help={C.COMPARE: "top-k, domain or hitting-set."}),
    CommandOption("file", PATH, settable=True,
        typed="FILE", required=C.ROWS | C.RANK | C.SCORES | C.ASSOCIATE | C.COMPARE | C.EXPLAIN
            | C.SERIES_NEXT,
        not_with=_NOT_OF_A_STORE, help={
        C.TOP_K: f"{_FILE} one row per user and item; or, with --count, one per item. Or use "
            f"--store.{_URL}",
        C.ROWS | C.ASSOCIATE: f"{_FILE} one row per user and item.{_URL}",
        C.SERIES_NEXT: "The table as it is now; for a series with --kind period, the rows of the "
            f"period. {_FILE} one row per user and item.{_URL}",
        C.RANK: f"{_FILE} one row per comparison.",
        C.SCORES: f"{_FILE} one row per item, with its score.{_URL}",
        C.COMPARE: "A table as for that question, but one that may be looked at.",
        C.EXPLAIN: "A release that was saved as .json or .parquet; or - for one from a pipe, in "
            "JSON.",
    }),
    CommandOption("winner", COLUMN, settable=True,
        required=C.RANK, help={C.RANK: "The items that won."}),
    CommandOption("loser", COLUMN, settable=True, required=C.RANK, help={
        C.RANK: "The items that lost, of the same type.",
    }),
    CommandOption("user", COLUMN, settable=True,
        required=C.ROWS | C.ASSOCIATE, not_with=_NOT_OF_A_STORE, help={
        C.TOP_K | C.COMPARE: "The users, who are protected. This or --count is required.",
        C.ROWS: "The users, who are protected.",
        C.ASSOCIATE: "The users, who are protected together with their label. If whole groups "
            "share a label, such as shops, families or days: the column of groups.",
        C.RANK: "The users who compared: protects all rows of each user, rather than each row.",
    }),
    CommandOption("count", COLUMN,
        settable=True,
        not_with={"user": "a table has rows of users and items, or of items and their counts"},
        help={
        C.TOP_K | C.COMPARE: "The number of users who hold the item, each counted once. Instead "
            "of --user.",
    }),
    CommandOption("item", COLUMN, settable=True,
        required=C.TOP_K | C.ROWS | C.SCORES | C.ASSOCIATE | C.COMPARE,
        repeats=C.TOP_K | C.ROWS | C.SCORES | C.ASSOCIATE | C.COMPARE, help={
        C.TOP_K | C.ROWS | C.SCORES | C.ASSOCIATE | C.COMPARE: "The items. Repeat it if several "
            "columns make up an item.",
    }),
    CommandOption("score", COLUMN, settable=True, required=C.SCORES, help={
        C.SCORES: "The score of the item: a number, written as 0.5 or 5e-1 in a text file.",
    }),
    CommandOption("labels", PATH, settable=True, required=C.ASSOCIATE, help={
        C.ASSOCIATE: "A file with a row and a label for every user of the study, also for those "
            "who hold nothing. Users who are not in it are left out.",
    }),
    CommandOption("label", COLUMN, settable=True, required=C.ASSOCIATE, help={
        C.ASSOCIATE: "The column of labels in --labels.",
    }),
    CommandOption("case", TEXT, settable=True, metavar="VALUE", required=C.ASSOCIATE, help={
        C.ASSOCIATE: "The label of a case. Rows with other labels than this and --control do not "
            "count, and a user who has both is left out.",
    }),
    CommandOption("control", TEXT, settable=True, metavar="VALUE", required=C.ASSOCIATE, help={
        C.ASSOCIATE: "The label of a control.",
    }),
    CommandOption("label_user", COLUMN, settable=True, help={
        C.ASSOCIATE: "The column of users in --labels. By default, the name is that in FILE.",
    }),
    CommandOption("where", TEXT, settable=True, metavar="CONDITION", not_with={
            "store": "its index has one order, of all items",
        }, otherwise="give a table of the items that count, with an index of its own", help={
        C.TOP_K | C.COMPARE: "Only rows for which this is true: a condition in SQL over the "
            "columns of one row, such as \"country = 'NO' and age between 18 and 30\"; with "
            "--count, over those of --item and --by. It is shown with the answer; choose it "
            "without looking at the data.",
        C.ROWS | C.ASSOCIATE: "Only rows for which this is true: a condition in SQL over the "
            "columns of one row, such as \"country = 'NO' and age between 18 and 30\". It is shown "
            "with the answer; choose it without looking at the data.",
        C.SERIES_NEXT: "Only rows for which this is true, as for top-k: a condition in SQL over "
            "the columns of one row. It is shown with the answer.",
    }),
    CommandOption("amount", COLUMN, settable=True, goes_with="user", help={
        C.TOP_K: "Numbers, such as minutes or prices: ranks items by the sum of what users spent "
            "on each, and not by how many users hold it. Goes with --cap.",
    }),
    CommandOption("cap", CAPS, settable=True, goes_with="amount", help={
        C.TOP_K: "The most that one user counts for one item, in the unit of --amount. More noise "
            "for a larger cap, more of the largest sums cut off for a smaller one. Choose it "
            "without looking at the data. If you do not know which is best, give several, such "
            "as 60,120,300,600: one of them is chosen privately, and is shown with the answer.",
    }),
    CommandOption("time", COLUMN, settable=True, goes_with="user", help={
        C.FILTERED: "Dates or timestamps: only rows of the days --from … --to count, both of them "
            "included. It is shown with the answer.",
    }),
    CommandOption("first_day", DAY, typed="--from", settable=True, goes_with="time", help={
        C.FILTERED: "The first day, such as 2026-11-01.",
    }),
    CommandOption("last_day", DAY, typed="--to", settable=True, goes_with="time", help={
        C.FILTERED: "The last day.",
    }),
    # What is asked of it, with which privacy
    CommandOption("k", WHOLE, settable=True, typed="-k",
        required=C.TOP_K | C.HITTING_SET | C.RANK | C.SCORES | C.ASSOCIATE,
        repeats=C.COMPARE, help={
        C.ASSOCIATE: "How many items are looked at: as many as you hope to name, or up to twice "
            "that. The more, the larger the noise.",
        C.TOP_K | C.HITTING_SET | C.RANK | C.SCORES: "How many items.",
        C.COMPARE: f"How many items. {_SEVERAL}",
        C.SERIES_NEXT: "Only the K best. By default all.",
    }),
    CommandOption("fdr", NUMBER, settable=True, help={
        C.ASSOCIATE: "The false discovery rate: of all items named, at most this share has nothing "
            "to do with the label, on average over repetitions. By default 0.1.",
    }),
    CommandOption("side", SIDE, settable=True, help={
        C.ASSOCIATE: "cases (the default) for items more common among cases, controls for those "
            "more common among controls, or both, which looks at half as many of each.",
    }),
    CommandOption("epsilon", NUMBER, PRIVACY, settable=True,
        required=C.COMPARE, repeats=C.COMPARE,
        help={
        C.QUESTIONS: f"Privacy budget: {SCALE}. This or --share is required.",
        C.COMPARE: _SEVERAL,
    }),
    CommandOption("delta", NUMBER, PRIVACY, settable=True,
        repeats=C.COMPARE,
        help={
        C.TOP_K | C.HITTING_SET: f"{_DELTA} It may be omitted with public items.",
        C.DOMAIN: _DELTA,
        C.USER_COUNTS: f"{_DELTA} It may be omitted; of more than a few items it makes the noise "
            "less.",
        C.RANK: "Omit it: no mechanism for rankings uses one.",
        C.SCORES: f"{_DELTA} It may be omitted.",
        C.ASSOCIATE: f"{_DELTA} It or --share is required.",
        C.COMPARE: f"{_SEVERAL} It may be omitted with public items.",
    }),
    CommandOption("share", PART, PRIVACY, settable=True, goes_with="budget",
        not_with=dict.fromkeys(("epsilon", "delta"), "a share of the budget says how much of both"),
        help={
        C.QUESTIONS: "With --budget, in place of --epsilon and --delta: the part of the total that "
            "this may take, such as 1/52. Exactly 52 questions with that share fit into the total.",
    }),
    CommandOption("sensitivity", NUMBER, PRIVACY, less_private=True, required=C.SCORES, help={
        C.SCORES: "Your promise: the most by which one user, added or removed, can move any score. "
            "It cannot be checked. It must hold for the numbers as they stand in the file.",
    }),
    CommandOption("direction", DIRECTION, PRIVACY, less_private=True, required=C.SCORES, help={
        C.SCORES: "Your promise: one, if one user moves all scores the same way, as when amounts "
            "of 0 or more are added up; any, if not, or if you do not know.",
    }),
    CommandOption("missing", NUMBER, PRIVACY, settable=True, required=C.SCORES, help={
        C.SCORES: "The score of a public item without a row, or without a number, such as 0 for "
            "sums. The promises must hold for it, too.",
    }),
    CommandOption("cases", WHOLE, PRIVACY, less_private=True, help={
        C.ASSOCIATE: f"{_SIZES} how many users are cases. Do not count them in the table for it. "
            "By default, they are counted with noise.",
    }),
    CommandOption("controls", WHOLE, PRIVACY, less_private=True, help={
        C.ASSOCIATE: f"{_SIZES} how many users are controls.",
    }),
    CommandOption("size_error", WHOLE, PRIVACY, less_private=True, help={
        C.ASSOCIATE: "By how many users each of --cases and --controls may be off at most. If one "
            "is further off, items may be named that have nothing to do with the label.",
    }),
    CommandOption("bottom", FLAG, help={
        C.SCORES: "The items with the smallest scores, instead of the largest.",
    }),
    CommandOption("noisy_scores", FLAG, PRIVACY, settable=True, help={
        C.SCORES: "Give the score of each item, with noise and an interval. That takes 0.15 of the "
            "budget, so that the list is less accurate.",
    }),
    CommandOption("users", WHOLE, PRIVACY, settable=True, help={
        C.USER_COUNTS: "How many users there are, if everybody may know that: for --share-of-users "
            "stated, and to warn of a --delta above 1 / N. Do not count them in the table for it.",
        C.TOP_K | C.ROWS | C.SCORES | C.ASSOCIATE: "About how many users there are, if everybody "
            "may know that: a --delta above 1 / N is warned of. Do not count them in the table for "
            "it.",
    }),
    CommandOption("max_items_per_user", WHOLE, PRIVACY, settable=True, repeats=C.COMPARE,
        not_with=_NOT_OF_A_STORE, help={
        C.TOP_K: f"{_ITEM_BOUND} By default 100. Choose N without looking at the data. With "
            "--count: your promise that no user is in more than N counts. With --public-items: "
            "for one-shot-laplace only.",
        C.DOMAIN: f"{_ITEM_BOUND} By default N is chosen privately, from 3 to 1,000; with another "
            "mechanism it is 100. Choose N without looking at the data.",
        C.HITTING_SET: f"{_ITEM_BOUND} By default 100. Choose N without looking at the data. Not "
            "with --public-items.",
        C.COMPARE: f"{_SEVERAL} By default 100. Not with public items.",
    }),
    CommandOption("max_comparisons_per_user", WHOLE, PRIVACY, settable=True, help={
        C.RANK: "At most N comparisons of each user count; of a user with more, N are picked at "
            "random. Required with --user. Choose N without looking at the data.",
    }),
    CommandOption("public_items", PATH, PRIVACY, settable=True,
        required=C.USER_COUNTS | C.ASSOCIATE, not_with=_NOT_OF_A_STORE, help={
        C.ASSOCIATE: f"{_KNOWN}, in a column named as in the table: all items that you ask about. "
            "Do not leave any out after looking at the data.",
        C.USER_COUNTS: "The items to count, which everybody knows: a file with a column named as "
            "in the table, or an earlier release, saved as .json. The answer has them in this "
            "order.",
        C.TOP_K | C.HITTING_SET | C.COMPARE: f"{_KNOWN}, in a column named as in the table.",
        C.DOMAIN: "",
        C.RANK | C.SCORES: f"{_KNOWN}. This or --public-items-in-table is required.",
    }),
    CommandOption("known_items", PATH, PRIVACY, settable=True, goes_with="user", help={
        C.TOP_K | C.DOMAIN | C.HITTING_SET: "A file with those of the private items that everybody "
            "knows: an earlier release, saved as .json, or a list as --public-items takes. They "
            "are named with fewer users; others may be discovered beside them.",
    }),
    CommandOption("public_items_in_table", FLAG, PRIVACY, less_private=True,
        not_with=_NOT_OF_A_STORE | {
            "public_items": "what everybody knows is in a file of its own or in the table",
        }, help={
        C.TOP_K | C.COMPARE: "With --count: everybody knows which items the table has.",
        C.RANK: "Everybody knows which items the table compares.",
        C.SCORES: "Everybody knows which items the table has.",
    }),
    CommandOption("by", COLUMN, settable=True, repeats=C.TOP_K | C.ROWS,
        not_with={"store": "its index has one order, of all items"},
        otherwise="omit it, or give the table as a file", help={
        C.TOP_K | C.DOMAIN | C.HITTING_SET: "Items of each group: the column of groups. Repeat it "
            "if several make up a group.",
        C.USER_COUNTS: "Counts in each group: the column of groups. Repeat it if several make up a "
            "group. It goes with --public-groups.",
    }),
    CommandOption("of", WHOLE, settable=True, not_with=_NOT_OF_A_STORE | _TOGETHER, help={
        C.TOP_K: "2 for the k pairs of items that most users hold together, 3 for triples. Of a "
            "user who holds more than 64 items (24 for triples), or --max-items-per-user, so many "
            "are picked at random, and all their pairs count.",
    }),
    CommandOption("max_groups_per_user", WHOLE, PRIVACY, settable=True, goes_with="by", help={
        C.TOP_K: "With --by: at most N groups of each user count; of a user in more, N are picked "
            "at random. By default 1. Choose N without looking at the data. With --count: your "
            "promise that no user is in more than N groups.",
        C.HITTING_SET: "With --by: each user counts in at most N groups; of a user in more, N are "
            "picked at random. By default 1. With 2, each group gets about half of the budget. "
            "Choose N without looking at the data.",
        C.USER_COUNTS: "With --by: each user counts in at most N groups; of a user in more, N are "
            "picked at random, and then counts are too small. By default 1. A larger N adds noise. "
            "Choose N without looking at the data.",
    }),
    CommandOption("group_items", GROUP_ITEMS, PRIVACY, settable=True, goes_with="by", not_with={
            "count": "a histogram is answered group by group anyway",
        }, help={
        C.TOP_K: "With --by: own, if everybody knows that each item belongs to one group alone, "
            "such as the restaurants of cities; then lists miss less, and a user counts in any "
            "number of groups. unknown, if nobody knows: then a little of epsilon chooses. "
            "By default shared. Privacy holds in any case.",
    }),
    CommandOption("public_groups", PATH, PRIVACY, settable=True, goes_with="by", help={
        C.TOP_K: "With --by: a file with the groups that everybody knows, in a column named as in "
            "the table. Others are dropped. With --count, every public item is possible in every "
            "public group.",
        C.HITTING_SET: "With --by: a file with the groups that everybody knows, in a column named "
            "as in the table. Others are dropped. It goes with --public-items, too.",
        C.USER_COUNTS: "With --by: a file with the groups that everybody knows, in a column named "
            "as in the table. All are printed; others are dropped.",
    }),
    CommandOption("store", TEXT, STORE, settable=True, metavar="URL", help={
        C.TOP_K: "Instead of FILE, a database, of which only a few counts are read, by an index: "
            "sqlite:///items.db or postgresql://user@host/database. The items are public. Put a "
            "password in PGPASSWORD or a password file.",
    }),
    CommandOption("table", TEXT, {C.TOP_K: STORE}, settable=True, metavar="TABLE", help={
        C.TOP_K: "With --store, or with a URL in place of FILE: the table.",
        C.ROWS | C.SCORES | C.ASSOCIATE | C.SERIES_NEXT: "With a URL in place of FILE: the table.",
    }),
    CommandOption("pull", FLAG, ANSWER, not_with=_NOT_OF_A_STORE,
        help={
        C.TOP_K | C.ROWS: "With a URL in place of FILE: fetch the rows and add them up here. By "
            "default the database adds up, and only sums over all users come here, and the items "
            "that are named; DuckDB's rows are added up here where memory holds them.",
        C.ASSOCIATE | C.SERIES_NEXT: "Required with a URL in place of FILE: the rows are fetched.",
    }),
    CommandOption("push", FLAG, ANSWER,
        not_with=_NOT_OF_A_STORE | {"pull": "rows are added up here, or by the database"},
        help={
        C.TOP_K | C.ROWS: "With a URL in place of FILE: let the database add up, whichever it is.",
    }),
    CommandOption("show_accesses", FLAG, STORE, less_private=True, goes_with="store",
        not_with={
            "dry_run": "nothing is read then, and how much would be read depends on the data",
        }, help={
        C.TOP_K: "With --store: say on standard error how many counts were read. Keep it to "
            "yourself: it depends on private data.",
    }),
    CommandOption("noisy_counts", FLAG, PRIVACY, settable=True, not_with=_NOT_OF_A_STORE, help={
        C.TOP_K: "Say of each item how many users hold it, with noise and an interval. That takes "
            "0.15 of the budget, so that the list is less accurate. With --by, rows of users have "
            "clipped counts anyway, for nothing and without an interval: this changes nothing "
            "there. What each number is, docs/concepts.md says.",
        C.DOMAIN: "Say of each item how many users hold it at least, with noise. That takes 0.15 "
            "of the budget, so that fewer items are named.",
        C.HITTING_SET: "Say of each item, and of all together, how many users they reach, with "
            "noise and an interval. That takes 0.1 of the budget.",
    }),
    CommandOption("min_users", WHOLE, PRIVACY, settable=True, not_with=_NOT_OF_A_STORE, help={
        C.TOP_K | C.DOMAIN: "Only items that at least about N users hold: one that fewer hold is "
            "named in at most 1 of 100 cases. It takes 0.4 of the budget, for noisy counts. "
            "--dry-run says how many users an item needs to be left out as rarely as that.",
    }),
    CommandOption("others", FLAG, PRIVACY, settable=True,
        not_with=_NOT_OF_A_STORE | _KNOWN_OR_GROUPED, help={
        C.TOP_K | C.DOMAIN: "Say, with noise and intervals, how many users hold none of the named "
            "items, and which share of all pairs of a user and an item the list covers. That takes "
            "0.05 of the budget. It is printed below the list, and in JSON, not in CSV.",
    }),
    CommandOption("share_of_users", SHARES, PRIVACY, settable=True, help={
        C.USER_COUNTS: "Give each count also as a share of users, with an interval. counted: of "
            "all users in the table, or with --by in the group; their number is counted with "
            "noise, too. stated: of the number that you give as --users.",
    }),
    CommandOption("unordered", FLAG, PRIVACY, not_with=_NOT_OF_A_STORE, help={
        C.TOP_K: "The top k as a set, sorted by name and without ranks. Its items are all right "
            "more often. It goes with public items.",
    }),
    CommandOption("count_share", NUMBER, PRIVACY, settable=True, not_with=_NOT_OF_A_STORE, help={
        C.TOP_K | C.DOMAIN | C.HITTING_SET: "For experts: as --noisy-counts, for another share of "
            "the budget.",
    }),
    CommandOption("mechanism", MECHANISM, PRIVACY, settable=True, repeats=C.COMPARE, help={
        C.TOP_K: "greedy-or-adaptive (the default), adaptive-top-k, discover-then-rank, "
            "weighted-gaussian-peeling, limited-domain (the default with --count), "
            "adaptive-gaussian-peeling (the default with --amount); for public items "
            "joint-or-peel (the default), set-or-peel (the default with --unordered), joint, "
            "joint-permute-and-flip, permute-and-flip, peeling, one-shot-exponential, "
            "one-shot-laplace, gamma; with --store threshold-top-k; with --by per-group; with "
            "--of 2 items-then-pairs.",
        C.DOMAIN: "greedy-or-rounds (the default), adaptive-gaussian, chosen-bound, "
            "weighted-gaussian, policy-gaussian, policy-greedy (the default with "
            "--max-items-per-user 1).",
        C.HITTING_SET: "adaptive-hitting-set (the default) or user-peeling; for public items "
            "user-peeling.",
        C.USER_COUNTS: "count-each (the default); for lists of hundreds of items "
            "clipped-count-each, with less noise, but only a least number of users.",
        C.RANK: "win-count (the default), or spectral-ranking, which protects who won, but not "
            "which pairs were compared.",
        C.ASSOCIATE: "association (the default).",
        C.SCORES: "joint-or-peel (the default), joint, joint-permute-and-flip, permute-and-flip, "
            "peeling, one-shot-exponential, one-shot-laplace, gamma.",
        C.COMPARE: f"{_SEVERAL} By default all that answer the question.",
    }),
    CommandOption("contraction", NUMBER, PRIVACY, less_private=True, help={
        C.RANK: "For experts, with spectral-ranking: only tables whose random walk has at most "
            "this ergodicity coefficient are protected. Not needed where all pairs were compared.",
    }),
    CommandOption("degree", WHOLE, PRIVACY, less_private=True, help={
        C.RANK: "For spectral-ranking: the most other items that any one item was compared with.",
    }),
    # How it is read
    CommandOption("config", TEXT, metavar="FILE", eager=True, help={
        C.QUESTIONS: "Take options that are not typed from this file. By default from "
            "shortlist.toml, of this folder or the nearest one above it.",
        C.SERIES_IN_FILE: "Take options that are not typed from this file. What a series costs, "
            "and who pays, is taken from its section named series alone. By default from "
            "shortlist.toml, of this folder or the nearest one above it.",
    }),
    CommandOption("no_config", FLAG, eager=True, help={
        C.IN_FILE: "Take nothing from any file.",
    }),
    CommandOption("separator", SEPARATOR, settable=True, not_with=_NOT_OF_A_STORE, help={
        C.LISTS | C.COMPARE: "The character between fields of CSV and text files, such as "
            r"';', or \t for a tab. By default the first line tells.",
    }),
    CommandOption("encoding", TEXT, settable=True, not_with=_NOT_OF_A_STORE, help={
        C.LISTS | C.COMPARE: "The encoding of text files that are not in UTF-8, such as "
            "latin1 or utf-16.",
    }),
    CommandOption("input_format", choice(("csv", "tsv", "ndjson", "parquet"), "FORMAT"), help={
        C.LISTS | C.COMPARE: "The format of standard input: csv (the default), tsv, ndjson or "
            "parquet.",
    }),
    CommandOption("option", TEXT, PRIVACY, settable=True,
        metavar="NAME=VALUE", repeats=C.QUESTIONS, help={
        C.QUESTIONS: "With --mechanism: an option of that mechanism's own, as in accounting=zcdp. "
            "Repeat it for several.",
    }),
    # What is charged
    CommandOption("budget", PATH, PRIVACY, settable=True, metavar="BUDGET", help={
        C.QUESTIONS: "Charge the answer to this budget before anything is read, and refuse what "
            "would overspend it: a file made by shortlist budget create, or postgresql://…",
    }),
    CommandOption("reuse", FLAG, PRIVACY, goes_with="budget", help={
        C.QUESTIONS: "With --budget: if the same was answered before, of the same --as-of, print "
            "that answer again, for nothing. If the data changed since, refuse. Of a table in "
            "PostgreSQL a change does not show, so that --as-of is needed.",
    }),
    CommandOption("reuse_changed", FLAG, PRIVACY, goes_with="budget", help={
        C.QUESTIONS: "The same as --reuse; but print that answer even if the data changed since.",
    }),
    CommandOption("who", TEXT, PRIVACY, settable=True, goes_with="budget", help={
        C.QUESTIONS: "With --budget: who asks. By default, your user name.",
    }),
    # What the answer is of
    CommandOption("dataset", TEXT, ABOUT, settable=True, help={
        C.QUESTIONS: "What the data set is called. Every form of the answer shows it, but for CSV. "
            "With --budget: as the budget calls it, which is the default.",
    }),
    CommandOption("as_of", TEXT, ABOUT, metavar="DATE", help={
        C.QUESTIONS: "The date of the rows, such as 2026-11-22, or any words. The answer shows "
            "it.",
    }),
    CommandOption("title", TEXT, ABOUT, settable=True, metavar="TEXT", help={
        C.LISTS: "What the list is called. The answer shows it.",
    }),
    CommandOption("note", TEXT, ABOUT, settable=True, metavar="TEXT", help={
        C.LISTS: "A remark for those who read the list. The answer shows it.",
    }),
    # What is printed and saved
    CommandOption("output", PATH, ANSWER, help={
        C.LISTS: "Save the answer too, as .json or .parquet (all of it), .md (with the "
            "guarantee) or .csv (without it). With -, save nothing, and print the whole answer. In "
            "the name {dataset}, {as_of} and {title} stand for what was given, as in "
            "'top-{as_of}.csv'; the data set may be that of the budget.",
    }),
    CommandOption("report", PATH, ANSWER, help={
        C.LISTS: "Write a page for people too, as .html: the list with its noise, whom it "
            "protects, what the numbers mean, and how to check it. One file, which loads nothing. "
            "Its name may have {dataset}, {as_of} and {title}, as that of --output.",
    }),
    CommandOption("since", PATH, ANSWER, goes_with="report", help={
        C.QUESTIONS & ~(C.USER_COUNTS | C.ASSOCIATE): "With --report: an earlier answer to the "
            "same question, saved as .json or .parquet. The page says what is new, gone or moved "
            "since.",
    }),
    CommandOption("overwrite", FLAG, ANSWER, help={
        C.LISTS: "Let --output and --report replace a file.",
    }),
    CommandOption("form", choice(list(Form), made=Form), ANSWER, settable=True,
        typed="--format", help={
        C.LISTS | C.DIFF: "Print it as table (the default), csv (without the guarantee), json "
            "or markdown.",
    }),
    CommandOption("quick", FLAG, ANSWER, help={
        C.AUDIT: "Few parameters and small inputs: a minute or two for all.",
    }),
    CommandOption("statistical", FLAG, ANSWER, help={
        C.AUDIT: "Check samples of the code's output rather than its exact output laws.",
    }),
    CommandOption("as_json", FLAG, ANSWER, typed="--json", help={
        C.LISTS | C.DIFF: "The same as --format json.",
        C.AUDIT: "Print JSON.",
    }),
    CommandOption("dry_run", FLAG, ANSWER, help={
        C.QUESTIONS: "Only say what the answer would cost, how large the noise is, and what an "
            "item needs to be named, and whether it could be asked now. No row is read and "
            "nothing is spent.",
        C.SERIES_CREATE: "Only say what all lists would cost, what an item needs to be named, and "
            "how large the file grows. Nothing is spent or written.",
        C.SERIES_NEXT: "Only say which run it would be, what an item needs to be named, and "
            "whether it could be made now. No row is read and nothing is written.",
    }),
    CommandOption("runs", WHOLE, ANSWER, default=10, help={
        C.COMPARE: "How often each mechanism answers.",
    }),
    CommandOption("as_csv", FLAG, ANSWER, typed="--csv", help={
        C.COMPARE: "Print CSV, with all digits.",
    }),
    # Tests
    CommandOption("seed", WHOLE, TESTS, less_private=True, help={
        C.QUESTIONS: "Draw the noise from a seed: the same answer each time, and no privacy at "
            "all.",
    }),
    CommandOption("not_private", FLAG, {C.QUESTIONS: TESTS, C.COMPARE: PRIVACY}, less_private=True,
        help={
        C.QUESTIONS: "Required with --seed.",
        C.COMPARE: "Required: this looks at the rows without noise.",
    }),
    # Budgets
    CommandOption("place", PATH, typed="BUDGET", required=C.CREATE, help={
        C.CREATE: "A file, or postgresql://user@host/database for many machines.",
        C.KNOWN_BUDGET: "A file, or postgresql://user@host/database. By default that of "
            "shortlist.toml.",
    }),
    CommandOption("epsilon", NUMBER, PRIVACY, required=C.CREATE, help={C.CREATE: "Of the total."}),
    CommandOption("delta", NUMBER, PRIVACY, default=0.0, help={
        C.CREATE: "Of the total, far below one over the number of users. By default 0: then only "
            "questions that need none can be charged.",
    }),
    CommandOption("protects", TEXT, PRIVACY, metavar="COLUMN", help={
        C.CREATE: 'Who is protected: the column of users; or "comparison", for rankings without '
            "one. Required without --continues.",
    }),
    CommandOption("dataset", TEXT, PRIVACY, help={
        C.CREATE: "What you call the data set. Required without --continues.",
    }),
    CommandOption("dataset", TEXT, help={
        C.KNOWN_BUDGET: "The data set, where a database has several budgets.",
    }),
    CommandOption("accounting", TEXT, PRIVACY, help={
        C.CREATE: "zcdp (the default with a delta), by which many questions cost far less; basic, "
            "which adds up epsilons and deltas; or pure (the default without a delta).",
    }),
    CommandOption("adjacency", TEXT, PRIVACY, metavar="TEXT", help={
        C.CREATE: 'Which tables are neighbours. By default "add or remove one user".',
    }),
    CommandOption("lost_share", NUMBER, PRIVACY, help={
        C.CREATE: "For experts: in zcdp, the share of delta that pays for thresholds. The rest "
            "gives rho. By default 0.75.",
    }),
    CommandOption("per", ALLOWANCE, PRIVACY, help={
        C.CREATE: "An allowance, such as month 1/12: in one day, week, month or year of the "
            "calendar in UTC, no more than that part of the total may be spent.",
    }),
    CommandOption("continues", PATH, PRIVACY, metavar="BUDGET", help={
        C.CREATE: "With --reason: an older budget that this one continues. The older one is "
            "closed, and its promises hold. The new one states both totals.",
    }),
    CommandOption("reason", TEXT, PRIVACY, metavar="TEXT", help={
        C.CREATE: "With --continues: why another total is needed. Both ledgers keep it.",
    }),
    CommandOption("who", TEXT, help={
        C.CREATE: "Who creates it. By default, your user name.",
    }),
    CommandOption("form", choice(list(BudgetForm), made=BudgetForm), ANSWER, typed="--format",
        default=BudgetForm.CSV, help={
        C.EXPORT: "csv (the default), one line a charge; or json, with all that is hashed.",
    }),
    CommandOption("questions", WHOLE, required=C.PLAN, help={
        C.PLAN: "How many are to fit, such as 52 for a list every week.",
    }),
    CommandOption("known", TEXT, metavar="HASH", help={
        C.VERIFY: "The hash that this command printed before: it must still be there.",
    }),
    # Series
    CommandOption("periods", WHOLE, settable=True,
        required=C.SERIES_CREATE | C.SERIES_PROLONG, help={
        C.SERIES_PROLONG: "How many more lists there may be.",
        C.SERIES_CREATE: "How many lists there may be, such as 52 for one in each week of a year.",
    }),
    CommandOption("kind", KIND_OF_SERIES, settable=True, default=ListsOf.SO_FAR, help={
        C.SERIES_CREATE: "What each list holds: so-far (the default), all items named by then; or "
            "period, items of its own period, for which you give only that period's rows.",
    }),
    CommandOption("user", TEXT, settable=True, metavar="COLUMN", required=C.SERIES_CREATE, help={
        C.SERIES_CREATE: "The users, who are protected.",
    }),
    CommandOption("item", TEXT, settable=True, metavar="COLUMN", required=C.SERIES_CREATE,
        repeats=C.SERIES_CREATE, help={
        C.SERIES_CREATE: "The items. Repeat it if several columns make up an item.",
    }),
    CommandOption("epsilon", NUMBER, PRIVACY, settable=True, help={
        C.SERIES_CREATE: f"Of all lists together: {SCALE}. This or --share is required.",
    }),
    CommandOption("delta", NUMBER, PRIVACY, settable=True, help={
        C.SERIES_CREATE: f"Of all lists together. {_DELTA}",
    }),
    CommandOption("share", PART, PRIVACY, settable=True, help={
        C.SERIES_CREATE: "In place of --epsilon and --delta: the part of the budget that all lists "
            "together may take, such as 1/2.",
    }),
    CommandOption("max_items_per_user", WHOLE, PRIVACY, settable=True, default=100, help={
        C.SERIES_CREATE: "At most N items of each user count before they are named, in all runs "
            "together; with --kind period, in each run. Choose N without looking at the data.",
    }),
    CommandOption("users", WHOLE, PRIVACY, settable=True, help={
        C.SERIES_CREATE: "About how many users there are, if everybody may know that: a --delta "
            "above 1 / N is warned of.",
    }),
    CommandOption("budget", PATH, PRIVACY, settable=True, metavar="BUDGET",
        required=C.SERIES_CREATE | C.SERIES_RECOVER, help={
        C.SERIES_CREATE: "The budget that pays at once for all lists, and keeps them: a file made "
            "by shortlist budget create, or postgresql://…",
        C.KNOWN_SERIES: "The budget that has paid for it. Needed only if it is not in a file, or "
            "was moved.",
        C.SERIES_RECOVER: "The budget that has paid for it.",
    }),
    CommandOption("ids", TEXT, typed="ID", required=C.SERIES_FORGET, repeats=C.SERIES_FORGET,
        help={C.SERIES_FORGET: "A user, as the column of users has it."}),
    CommandOption("charge", WHOLE, PRIVACY, help={
        C.SERIES_RECOVER: "Which charge of the budget has paid for this series. Needed only if it "
            "has paid for several, and there is no older file.",
    }),
    CommandOption("who", TEXT, PRIVACY, settable=True, help={
        C.SERIES_CREATE | C.SERIES_NEXT | C.SERIES_RECOVER | C.SERIES_CLOSE | C.SERIES_PROLONG:
            "Who asks, for the budget. By default, your user name.",
    }),
    CommandOption("as_of", TEXT, ABOUT, metavar="DATE", required=C.SERIES_NEXT, help={
        C.SERIES_NEXT: "The date of the rows, such as 2026-W47; the list is known by it. If you "
            "ask for it again, the same list is printed, and nothing is read.",
        C.SERIES_SHOW: "Print the list of this date instead.",
    }),
    CommandOption("earlier", TEXT, ABOUT, typed="--since", metavar="DATE", help={
        C.SERIES_SHOW: "With --as-of: print what is new, gone or moved since the list of DATE.",
    }),
    # Other commands
    CommandOption("mechanism", MECHANISM, typed="MECHANISM", help={
        C.AUDIT: "A mechanism or a series, such as peeling or weekly-gaussian. By default all.",
    }),
    CommandOption("before", PATH, typed="LAST", required=C.DIFF, help={
        C.DIFF: "The earlier answer, saved as .json or .parquet.",
    }),
    CommandOption("now", PATH, typed="THIS", required=C.DIFF, help={
        C.DIFF: "The later one, of the same question about the same data set.",
    }),
    CommandOption("shell", choice(SHELLS, "SHELL"), typed="SHELL", required=C.COMPLETION, help={
        C.COMPLETION: f"The shell: {joined(SHELLS)}.",
    }),
    CommandOption("names", ValueKind("COMMAND", str, complete=commands), typed="COMMAND",
        repeats=C.HELP, help={C.HELP: "A command, such as top-k."}),
    CommandOption("every", FLAG, typed="--all", help={C.HELP: "Print that of all commands."}),
)
# fmt: on
"""A name has several rows where it is another thing to other commands."""
