"""The words of a command, and tables for it."""

MARKER = "Zz-private-91"
ITEMS = ["007", "7", "[bold]x[/]", "\x1b[31m日本", "e\u0301te\u0301"]
PRIVACY = ["--epsilon", "5", "--delta", "1e-6"]
COLUMNS = ["--user", "user", "--item", "title"]


def top_k(file, *more, k=2):
    return ["top-k", file, *COLUMNS, "-k", k, *PRIVACY, *more]


def domain(file, *more):
    return ["domain", file, *COLUMNS, *PRIVACY, *more]


def hitting_set(file, *more, k=2):
    return ["hitting-set", file, *COLUMNS, "-k", k, *PRIVACY, *more]


def count(file, *more, k=2):
    words = ["--item", "title", "--count", "readers", "-k", k, "--epsilon", "5"]
    return ["top-k", file, *words, *more]


def in_store(url, *more, k=2):
    words = ["--table", "items", "--item", "name", "--count", "plays", "-k", k, "--epsilon", "5"]
    return ["top-k", "--store", url, *words, *more]


IN_TABLE = "--public-items-in-table"
STORED = [(item, (5 - i) * 1000) for i, item in enumerate(ITEMS)]
