"""The words of a command, tables for it, and the command as a process."""

import os
import subprocess
import sys

PROGRAM = [sys.executable, "-m", "shortlist"]

ITEMS = ["007", "7", "[bold]x[/]", "\x1b[31m日本", "e\u0301te\u0301"]
PRIVACY = ["--epsilon", "3", "--delta", "1e-6"]
COLUMNS = ["--user", "user", "--item", "title"]


def instead(words, more):
    """The words with `more` at their end, in place of the same options where they had them."""
    words, given = list(words), {word for word in more if str(word).startswith("-")} - {"--item"}
    for option in given & set(map(str, words)):
        at = words.index(option)
        del words[at : at + 2]
    return [*words, *more]


def top_k(file, *more, k=2):
    return instead(["top-k", file, *COLUMNS, "-k", k, *PRIVACY], more)


def domain(file, *more):
    return instead(["domain", file, *COLUMNS, *PRIVACY], more)


def hitting_set(file, *more, k=2):
    return instead(["hitting-set", file, *COLUMNS, "-k", k, *PRIVACY], more)


def count(file, *more, k=2):
    words = ["--item", "title", "--count", "readers", "-k", k, "--epsilon", "3"]
    return instead(["top-k", file, *words], more)


def in_store(url, *more, k=2):
    words = ["--table", "items", "--item", "name", "--count", "plays", "-k", k, "--epsilon", "3"]
    return instead(["top-k", "--store", url, *words], more)


IN_TABLE = "--public-items-in-table"
STORED = [(item, (5 - i) * 1000) for i, item in enumerate(ITEMS)]


def started(*words, env=(), **options):
    """The command as a process that runs."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    environment = os.environ | dict(env)
    return subprocess.Popen([*PROGRAM, *map(str, words)], env=environment, **streams)  # noqa: S603 - our own


def process(*words, **options):
    """Exit status, standard output and standard error of the command as a process."""
    with started(*words, **options) as running:
        out, err = running.communicate()
    return running.returncode, (out or b"").decode(), err.decode()
