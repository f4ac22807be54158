"""What the engine of a source shows."""

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws


def shown(source, wants, draws=None):
    """What is shown of rows in memory, where nothing is closed after."""
    with source._engine.show(wants, draws or ExactDraws(SeededBits(1))) as found:
        return found
