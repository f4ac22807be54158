"""How columns are called in what we make in an engine."""

__all__ = ["CODE", "HOLDERS", "PLACE", "RANK", "SIZE", "SUM", "USER", "VALUE", "item_columns"]

USER, CODE, SIZE = "u", "c", "t"
"""Of a table of users' sets: the user, the item by its number, and how many items the user has."""

_ITEM = "i"  # and the place of a column among those of an item

PLACE = "place"
"""Of items that are asked for: the place of each among them."""

HOLDERS = "n"
"""How many users hold an item."""

SUM = "sum"
"""What users add to an item."""

RANK = "rank"
"""A place in an order."""

VALUE = "value"
"""What a user's number stands for."""


def item_columns(n: int) -> list[str]:
    """The names of the columns of an item."""
    return [f"{_ITEM}{place}" for place in range(n)]
