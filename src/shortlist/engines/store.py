"""A histogram with an index, in a database or in memory, of which few counts are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from shortlist import stores
from shortlist.engines.base import Engine, Shown
from shortlist.errors import InputError
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
        with ExitStack() as stack:
            try:
                view = stack.enter_context(self._held.snapshot())
            except InputError as error:  # there is no such index, or no connection
                error.before_rows = True
                raise
            yield Shown(view, view.items)
