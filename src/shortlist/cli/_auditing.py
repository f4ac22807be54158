"""The audit as a command: a table or JSON, and an exit status."""

from __future__ import annotations

import os
import sys

import typer

from shortlist.cli._progress import showing_progress
from shortlist.cli.failure import releasing_nothing
from shortlist.progress import phase

__all__ = ["audited"]


def audited(mechanism: str | None, *, quick: bool, statistical: bool, as_json: bool) -> int:
    """Print what was found; the exit status."""
    from rich.console import Console

    from shortlist import audit

    with releasing_nothing(), showing_progress(), phase("Auditing"):
        found = audit.run(
            mechanism, quick=quick, statistical=statistical, processes=os.cpu_count() or 1
        )
    if as_json:
        sys.stdout.write(found.to_json())
    else:
        Console(highlight=False).print(found)
    if found.broken:
        typer.echo("A claim is broken: do not rely on it.", err=True)
    elif not (found.holds or statistical):
        typer.echo("Not every claim could be decided.", err=True)
    return 1 if found.broken else 0
