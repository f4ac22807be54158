"""What an engine answers of users' sets where the rows lie: group-bys over temporary tables.

What is asked of an engine is in `sets.py`, `groups.py`, `_steering.py` and `_unreached.py`: one
plan for all. How each kind of engine says it is in a file of its own, and `_dialect.py` lists what
there is to say. `opening.py` finds out which kind a table is of; `connecting.py` opens one by a
URL.
"""

from shortlist.engines.tables.connecting import connected, is_url, require_ibis
from shortlist.engines.tables.groups import GroupsInTable
from shortlist.engines.tables.items import Items
from shortlist.engines.tables.opening import Lying, is_lying, lying
from shortlist.engines.tables.reading import read
from shortlist.engines.tables.rehearsing import rehearse
from shortlist.engines.tables.scratch import Scratch
from shortlist.engines.tables.sets import SetsInTable

__all__ = [
    "GroupsInTable",
    "Items",
    "Lying",
    "Scratch",
    "SetsInTable",
    "connected",
    "is_lying",
    "is_url",
    "lying",
    "read",
    "rehearse",
    "require_ibis",
]
