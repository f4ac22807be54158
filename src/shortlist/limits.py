"""How much a table can hold."""

__all__ = ["MOST"]

MOST = 2**32  # items, and ids that a store can span
