"""Which mechanism is asked for: by its class, by a partial of it with options, by its name."""

from __future__ import annotations

from functools import partial
from inspect import isabstract
from typing import Any

from shortlist import mechanisms
from shortlist.errors import InputError, nearest, shown, written
from shortlist.mechanisms.base import Mechanism
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts

__all__ = ["every_mechanism", "kind_and_options", "mechanism_named", "mechanism_names"]


def kind_and_options(mechanism: object) -> tuple[type[Mechanism], dict[str, Any]]:
    """The class, and the options that a partial gives it.

    Raises:
        InputError: It is no class of a mechanism, or of one that does not select.
    """
    options: dict[str, Any] = {}
    kind = mechanism
    if isinstance(mechanism, partial) and not mechanism.args:
        kind, options = mechanism.func, mechanism.keywords
    if isinstance(kind, type) and issubclass(kind, NoisyCounts):
        raise InputError(
            f"mechanism={kind.__name__}: it goes with a mechanism that selects; give that one, or "
            "none, and count_share to the question."
        )
    if isinstance(kind, type) and issubclass(kind, Mechanism) and not isabstract(kind):
        return kind, options
    if isinstance(mechanism, Mechanism):
        name = type(mechanism).__name__
        raise InputError(
            f"mechanism={name}(...): give the class {name}, or functools.partial({name}, ...) of "
            "it with its own options; the question supplies k, epsilon, delta and bounds."
        )
    names = ", ".join(kind.__name__ for kind in every_mechanism())
    raise InputError(
        f"mechanism={written(mechanism)}: must be a class of shortlist.mechanisms ({names}), or a "
        "functools.partial of one with its options by keyword."
    )


def mechanism_names() -> list[str]:
    """The names of the mechanisms in kebab case, as the command takes them."""
    return [_kebab(kind.__name__) for kind in every_mechanism()]


def mechanism_named(name: str) -> type[Mechanism]:
    """The mechanism of that kebab-case name."""
    for kind in every_mechanism():
        if _kebab(kind.__name__) == name:
            return kind
    names = mechanism_names()
    raise InputError(
        f'mechanism "{shown(name)}" is not known; there are {", ".join(names)}.'
        f"{nearest(name, names)}"
    )


def every_mechanism() -> list[type[Mechanism]]:
    """The mechanisms that a question takes."""
    listed = (getattr(mechanisms, name) for name in mechanisms.__all__)
    return [
        x for x in listed if isinstance(x, type) and issubclass(x, Mechanism) and x != Mechanism
    ]


def _kebab(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")
