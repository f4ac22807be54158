"""The audit: every privacy claim checked against what the code does.

The exact instrument replays a mechanism's code along every branch of its draws, on both data sets
of all neighbours of small universes, and compares the two output laws, in ball arithmetic, with
what the mechanism's cost claims. The statistical one runs the code as it is and says which loss
its frequencies certainly exceed. `docs/audit.md` says what that shows and what not.
"""

from shortlist.audit.findings import Audit, Finding, Verdict
from shortlist.audit.running import run

__all__ = ["Audit", "Finding", "Verdict", "run"]
