"""What the mechanism of a release did, in its own plain words: also of one read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist.release.described import named, plain

if TYPE_CHECKING:
    from shortlist.mechanisms.base import Mechanism as Selecting
    from shortlist.release import Mechanism

__all__ = ["explained"]


def explained(mechanism: Mechanism) -> list[str]:
    """What it did, a sentence each; nothing, where this version knows no such mechanism.

    Of one that adds counts to a selection, what the selection did. Only the name and the public
    parameters are looked at, so that a release and its copy from a file say the same.
    """
    told = named(mechanism)
    parameters = told["parameters"]
    inner = parameters.get("selection")
    if isinstance(inner, Mapping):
        rest = {name: value for name, value in inner.items() if name != "name"}
        found = _rebuilt(str(inner.get("name")), rest)
        left_out = () if found is None else (*found.unused, *found.told_of_scores)
    else:
        found, left_out = _rebuilt(told["name"], parameters), ()
    return [] if found is None else [line for line in found.explain() if line not in left_out]


def _rebuilt(name: str, parameters: Mapping[str, Any]) -> Selecting | None:
    """The mechanism of this name with these parameters, all of them, the derived ones included."""
    from shortlist.mechanisms.registry import every_mechanism
    from shortlist.parameters import Option, taken

    kind = next((kind for kind in every_mechanism() if kind.__name__ == name), None)
    if kind is None:
        return None
    given = {field: parameters[field] for field in kind.fields() if field in parameters}
    try:
        for field, takes in taken(kind).items():
            if field in given and isinstance(takes.kind, type) and issubclass(takes.kind, Option):
                given[field] = None if given[field] is None else takes.kind(given[field])
        made = kind(**given)
        same = plain(made.parameters()) == dict(parameters)
    except (ArithmeticError, TypeError, ValueError):  # of another version, or changed by hand
        return None
    return made if same else None
