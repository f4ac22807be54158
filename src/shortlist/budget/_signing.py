"""Who has asked, when, and by which version of the library."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime

from shortlist._version import __version__
from shortlist.budget._terms import require_name

__all__ = ["named", "signed"]


def signed(who: str) -> dict[str, str]:
    """When, by whom, and by which version."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {"time": now, "who": who, "library": __version__}


def named(who: str | None) -> str:
    """Who asks; by default the user of the system."""
    if who is not None:
        return require_name("who", who)
    try:
        return require_name("who", getpass.getuser())
    except Exception:  # noqa: BLE001 - each system has its own error where a user has no name
        return "unknown"
