"""Which mechanism is asked for: by its class, by a partial of it with options, by its name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from inspect import isabstract
from typing import TYPE_CHECKING, Any

from shortlist import mechanisms
from shortlist.errors import InputError, Words, in_quotes, nearest
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.wrappers._wrapper import Counted
from shortlist.mechanisms.wrappers.chosen_cap import ChosenCap
from shortlist.mechanisms.wrappers.each_group import EachGroup

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_INSTEAD = {
    EachGroup: Words("give that one, or none, and {by} to {sl.counts}"),
    ChosenCap: Words("give that one, or none, and several numbers as {cap}"),
    Counted: Words("give that one, or none, and {noisy_counts} to the question"),
}
"""How to ask for a mechanism around another."""


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
    for wrapper, instead in _INSTEAD.items():
        if isinstance(kind, type) and issubclass(kind, wrapper):
            raise InputError(
                "it goes with a mechanism that selects",
                "{instead}",
                given={"mechanism": kind},
                instead=instead,
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
    """The names of all mechanisms in kebab case, as the command takes them; none is loaded.

    Those of other packages come last: their entry points of the group "shortlist.mechanisms".
    """
    return _names_of(every_mechanism())


def _names_of(kinds: Iterable[type[Mechanism]]) -> list[str]:
    ours = [kebab(kind) for kind in kinds]
    return [*ours, *sorted({point.name for point in _entry_points()} - set(ours))]


def mechanism_named(name: str, usable: Iterable[type[Mechanism]] | None = None) -> type[Mechanism]:
    """The mechanism of that kebab-case name; one of another package is loaded now.

    Args:
        name: As the caller wrote it.
        usable: Those of this package that a refusal is to list; all, if None.

    Raises:
        InputError: There is none, or what another package gives by that name is none.
    """
    for kind in every_mechanism():
        if kebab(kind) == name:
            return kind
    if points := [point for point in _entry_points() if point.name == name]:
        return _loaded(name, points)
    names = _names_of(every_mechanism() if usable is None else usable)
    raise InputError(
        "{mechanism=} is not known",
        "there are {listed}.{hint}",
        given={"mechanism": in_quotes(name)},
        listed=", ".join(names),
        hint=nearest(name, names),
    )


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group="shortlist.mechanisms"))


def _loaded(name: str, points: list[EntryPoint]) -> type[Mechanism]:
    places = sorted({point.value for point in points})
    if len(places) > 1:
        raise InputError(
            "several packages have one of that name ({listed})",
            "uninstall all but one",
            given={"mechanism": in_quotes(name)},
            listed=", ".join(places),
        )
    try:
        kind = points[0].load()
    except Exception as error:
        raise InputError(
            "its package failed to load {place} ({kind})",
            "fix or uninstall it",
            given={"mechanism": in_quotes(name)},
            place=places[0],
            kind=type(error),
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Mechanism) and not isabstract(kind)):
        raise InputError(
            "{place} of its package is not a class of a mechanism",
            "fix or uninstall it",
            given={"mechanism": in_quotes(name)},
            place=places[0],
        )
    return kind


def every_mechanism() -> list[type[Mechanism]]:
    """The mechanisms of this package that a question takes."""
    listed = (getattr(mechanisms, name) for name in mechanisms.__all__)
    return [
        x for x in listed if isinstance(x, type) and issubclass(x, Mechanism) and x != Mechanism
    ]


def kebab(kind: type) -> str:
    """The name of a mechanism of this package, or of a series, as the command takes it."""
    name = kind.__name__
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")
