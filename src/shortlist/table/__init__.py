"""Files and frames as columns: the sensitive table, and the list of items that everybody knows."""

from shortlist.table.formats import Writing
from shortlist.table.sensitive_table import SensitiveTable, open_table

__all__ = ["SensitiveTable", "Writing", "open_table"]
