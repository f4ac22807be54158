"""A histogram with an index, in a database or in memory, of which few counts are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from shortlist import stores
from shortlist.draws import Draws
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.errors import InputError
from shortlist.evidence import Wants
from shortlist.evidence.view import View


class IndexedStore(Engine):
    """A store, read at one moment for each question."""

    can_show = (View,)
    items_are_public = True

    def __init__(self, held: stores.ScoreStore) -> None:
        self._held = held
        self.items = {held.item: None}

    def about(self) -> dict[str, object]:
        """The names of the table and its columns, and no address."""
        return {"store": repr(self._held)}

    def identity(self) -> object:
        return self._held.identity()

    @property
    def shows_changes(self) -> bool:
        return self._held.shows_changes

    def check(self, wants: Wants) -> None:  # noqa: ARG002 - whatever is wanted
        self._held.check()

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - read as needed
        """Show a snapshot, which counts what is read of it."""
        with ExitStack() as stack:
            try:
                view = stack.enter_context(self._held.snapshot())
            except InputError as error:  # there is no such index, or no connection
                error.before_rows = True
                raise
            yield ShownEvidence(view, view.items)
