"""The day on which a test takes place."""

from datetime import UTC, datetime

from shortlist.runtime import clock


def stopped(monkeypatch, moment):
    """Let it be that moment for all of shortlist, such as "2026-11-22" or "2026-11-22T10:00"."""
    told = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: told)
