"""What `python -m bench NAME` runs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Part"]


@dataclass(frozen=True)
class Part:
    """One name of the command.

    Attributes:
        run: Measures and writes, for what was asked on the command line.
        apart: Whether `all` leaves it out.
    """

    run: Callable[[Namespace], None]
    apart: bool = False
