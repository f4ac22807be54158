"""What time it is, in UTC. Whoever needs to know asks `clock.now()`, which a test can set."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)
