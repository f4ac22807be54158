"""A budget that cannot be overspent: a ledger that survives crashes, and that machines share."""

from shortlist.budget.ledger import Budget

__all__ = ["Budget"]
