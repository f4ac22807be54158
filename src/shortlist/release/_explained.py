"""What the mechanism of a release did, in its own plain words: also of one read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist.release.described import named, plain

if TYPE_CHECKING:
    from shortlist.mechanisms.mechanism import Mechanism as Selecting
    from shortlist.release import Mechanism

__all__ = ["explained", "finds_private_items", "people_to_be_named"]


def explained(mechanism: Mechanism) -> list[str]:
    """What it did, a sentence each; nothing, where this version knows no such mechanism.

    Of one that adds counts to a selection, what the selection did. Only the name and the public
    parameters are looked at, so that a release and its copy from a file say the same.
    """
    found = _selecting(mechanism)
    if found is None:
        return []
    around = "selection" in mechanism.parameters()
    left_out = (*found.unused, *found.told_of_scores) if around else ()
    return [line for line in found.explain() if line not in left_out]


def people_to_be_named(mechanism: Mechanism) -> list[str]:
    """How many people an item needs to be named, in a sentence, where that can be said."""
    from shortlist.mechanisms.weighted_gaussian import people_needed

    found = _selecting(mechanism)
    finding = None if found is None else found.finding
    return [] if finding is None else [people_needed(finding.around)]


def finds_private_items(mechanism: Mechanism) -> bool | None:
    """Whether it names items that only the table knew; None where that cannot be said."""
    found = _selecting(mechanism)
    return None if found is None else found.names_private_items


def _selecting(mechanism: Mechanism) -> Selecting | None:
    """What selected the items: the mechanism, or the one that it adds counts to."""
    told = named(mechanism)
    name, parameters = told["name"], told["parameters"]
    inner = parameters.get("selection")
    if isinstance(inner, Mapping):
        name, parameters = str(inner.get("name")), dict(inner)
        parameters.pop("name", None)
    return _rebuilt(name, parameters)


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
