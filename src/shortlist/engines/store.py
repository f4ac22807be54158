"""A histogram with an index, in a database or in memory, of which few counts are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shortlist import stores
from shortlist.engines.base import Engine, Shown
from shortlist.exact import Draws
from shortlist.histogram import Wants
from shortlist.stores.contract import View

__all__ = ["IndexedStore"]


class IndexedStore(Engine):
    """A store, read at one moment for each question."""

    offers = (View,)
    items_are_public = True

    def __init__(self, held: stores.Store) -> None:
        """Open nothing yet."""
        self._held = held

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[Shown]:  # noqa: ARG002 - read as needed
        """As `Engine.show`: a snapshot, which counts what is read of it."""
        with self._held.snapshot() as view:
            yield Shown(view, view.items)
