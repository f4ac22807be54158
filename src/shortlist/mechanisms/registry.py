"""Which mechanism is asked for: by its class, by a partial of it with options, by its name."""

from __future__ import annotations

from functools import partial
from inspect import isabstract
from typing import TYPE_CHECKING, Any

from shortlist import mechanisms
from shortlist.errors import InputError, nearest, shown, written
from shortlist.mechanisms.base import Mechanism
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["every_mechanism", "kebab", "kind_and_options", "mechanism_named", "mechanism_names"]


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
    """The names of all mechanisms in kebab case, as the command takes them; none is loaded.

    Those of other packages come last: their entry points of the group "shortlist.mechanisms".
    """
    ours = [kebab(kind) for kind in every_mechanism()]
    return [*ours, *sorted({point.name for point in _entry_points()} - set(ours))]


def mechanism_named(name: str) -> type[Mechanism]:
    """The mechanism of that kebab-case name; one of another package is loaded now.

    Raises:
        InputError: There is none, or what another package gives by that name is none.
    """
    for kind in every_mechanism():
        if kebab(kind) == name:
            return kind
    if points := [point for point in _entry_points() if point.name == name]:
        return _loaded(name, points)
    names = mechanism_names()
    raise InputError(
        f'mechanism "{shown(name)}" is not known; there are {", ".join(names)}.'
        f"{nearest(name, names)}"
    )


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group="shortlist.mechanisms"))


def _loaded(name: str, points: list[EntryPoint]) -> type[Mechanism]:
    places = sorted({point.value for point in points})
    if len(places) > 1:
        raise InputError(
            f'mechanism "{name}": several packages have one of that name ({", ".join(places)}); '
            "uninstall all but one."
        )
    try:
        kind = points[0].load()
    except Exception as error:
        raise InputError(
            f'mechanism "{name}": its package failed to load {places[0]} '
            f"({type(error).__name__}); fix or uninstall it."
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Mechanism) and not isabstract(kind)):
        raise InputError(
            f'mechanism "{name}": {places[0]} of its package is not a class of a mechanism; fix or '
            "uninstall it."
        )
    return kind


def every_mechanism() -> list[type[Mechanism]]:
    """The mechanisms of this package that a question takes."""
    listed = (getattr(mechanisms, name) for name in mechanisms.__all__)
    return [
        x for x in listed if isinstance(x, type) and issubclass(x, Mechanism) and x != Mechanism
    ]


def kebab(kind: type[Mechanism]) -> str:
    """The name of a mechanism of this package, as the command takes it."""
    name = kind.__name__
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")
