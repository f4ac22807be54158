"""Which mechanism is asked for: by its class, by a partial of it with options, by its name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from inspect import isabstract
from typing import Any

from shortlist import mechanisms
from shortlist.errors import InputError, Words, in_quotes, nearest
from shortlist.mechanisms.base import Mechanism
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts

__all__ = ["every_mechanism", "kind_and_options", "mechanism_named", "mechanism_names"]


def kind_and_options(
    mechanism: object, usable: Iterable[type[Mechanism]]
) -> tuple[type[Mechanism], dict[str, Any]]:
    """The class, and the options that a partial gives it.

    Args:
        mechanism: As the caller gave it.
        usable: What could be given instead, for messages.

    Raises:
        InputError: It is no class of a mechanism, or of one that does not select.
    """
    options: dict[str, Any] = {}
    kind = mechanism
    if isinstance(mechanism, partial) and not mechanism.args:
        kind, options = mechanism.func, mechanism.keywords
    if isinstance(kind, type) and issubclass(kind, NoisyCounts):
        raise InputError(
            "it goes with a mechanism that selects",
            "give that one, or none, and {count_share} to the question",
            given={"mechanism": kind},
        )
    if isinstance(kind, type) and issubclass(kind, Mechanism) and not isabstract(kind):
        return kind, options
    if isinstance(mechanism, Mechanism):
        raise InputError(
            "give the class {kind}, or functools.partial({kind}, ...) of it with its own options",
            "the question supplies k, epsilon, delta and bounds",
            given={"mechanism": Words("{kind}(...)", kind=type(mechanism))},
            kind=type(mechanism),
        )
    names = ", ".join(kind.__name__ for kind in usable)
    raise InputError(
        "must be a class of shortlist.mechanisms that answers this ({names}), or a "
        "functools.partial of one with its options by keyword",
        given={"mechanism": mechanism},
        names=names,
    )


def mechanism_names() -> list[str]:
    """The names of the mechanisms in kebab case, as the command takes them."""
    return [_kebab(kind.__name__) for kind in every_mechanism()]


def mechanism_named(name: str, usable: Iterable[type[Mechanism]] | None = None) -> type[Mechanism]:
    """The mechanism of that kebab-case name.

    Args:
        name: As the caller wrote it.
        usable: Those that a refusal is to list; all, if None.

    Raises:
        InputError: There is no such mechanism.
    """
    for kind in every_mechanism():
        if _kebab(kind.__name__) == name:
            return kind
    names = [_kebab(kind.__name__) for kind in (every_mechanism() if usable is None else usable)]
    raise InputError(
        "{mechanism=} is not known",
        "there are {listed}.{hint}",
        given={"mechanism": in_quotes(name)},
        listed=", ".join(names),
        hint=nearest(name, names),
    )


def every_mechanism() -> list[type[Mechanism]]:
    """The mechanisms that a question takes."""
    listed = (getattr(mechanisms, name) for name in mechanisms.__all__)
    return [
        x for x in listed if isinstance(x, type) and issubclass(x, Mechanism) and x != Mechanism
    ]


def _kebab(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")
