"""Pairs of people and items that are easily confused, as a source."""

import polars as pl

ASK = {"epsilon": 5.0, "delta": 1e-6}
USER, TITLE = "user [id] é", "titre, [bold]"
STEP = 80  # people between one item and the next: many times the noise


# Most popular first, each far ahead of the next. Twins differ in normalisation or in zeros only.
ITEMS = [
    "007",
    "7",
    "\u00e9t\u00e9",
    "e\u0301te\u0301",
    "[bold]x[/]",
    'a, "b"',
    "\x1b[31m日本\u202e",
]


def table(items, user=USER, item=TITLE):
    """Item number i of n has (n - i) STEP people, who hold nothing else; rows are shuffled."""
    held = [value for i, value in enumerate(items) for _ in range((len(items) - i) * STEP)]
    users = [f"{i:05d}" for i in range(len(held))]
    columns = {user: users, item: held} if isinstance(item, str) else {user: users}
    if not isinstance(item, str):
        columns |= {name: [value[i] for value in held] for i, name in enumerate(item)}
    return pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=3)
