"""The mechanism that was asked for by name, with options of its own as a shell writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from shortlist.cli._values import number, whole
from shortlist.errors import InputError, Words, in_quotes, nearest, reference, shown
from shortlist.mechanisms import Mechanism
from shortlist.mechanisms.registry import every_mechanism, kebab, mechanism_named
from shortlist.parameters import Option, Takes, taken

_OF_SOURCES = {
    *("max_items_per_user", "max_groups_per_user", "max_comparisons_per_user", "group_items"),
}
_OF_LABELS = {"fdr", "side", "cases", "controls", "size_error"}
_SUPPLIED = (
    {"k", "n_items", "share_of_users", "users", "epsilon", "delta"} | _OF_SOURCES | _OF_LABELS
)
"""What the question or the source gives to every mechanism, by an argument of its own."""


def mechanism_and_options(
    name: str | None,
    texts: Sequence[str],
    synonyms: Mapping[str, Any],
    usable: Iterable[type[Mechanism]] | None = None,
) -> tuple[type[Mechanism] | None, dict[str, Any]]:
    """The mechanism, None for the default, and the values of its own options.

    Args:
        name: The mechanism's, in kebab case; None for the default.
        texts: What was written after each `--option`.
        synonyms: Options that have an argument of their own, with their values if given.
        usable: The mechanisms that answer what is asked; all, if None.

    Raises:
        InputError: There is no such mechanism or option, or the value is of another type.
    """
    kind = None if name is None else mechanism_named(name, usable)
    given: dict[str, Any] = {n: value for n, value in synonyms.items() if value is not None}
    for option in given:
        _require_its_own(option, kind)
    for text in texts:
        option, value = _split(text)
        if kind is None:
            raise InputError(
                "it goes with {mechanism=...}, whose option it is",
                "add it",
                given={"option": _unquoted(option)},
            )
        if option in given:
            raise InputError(
                "it is given twice", "give it once", given={"option": _unquoted(option)}
            )
        given[option] = _value(kind, str(name), option, value)
    if kind is not None:
        _require_needed(kind, str(name), given)
    return kind, given


def own_options(kind: type[Mechanism]) -> dict[str, Takes]:
    """The options that neither question nor source gives, and what they take."""
    return {name: taken(kind)[name] for name in kind.fields() if name not in _SUPPLIED}


def _require_its_own(option: str, kind: type[Mechanism] | None) -> None:
    """Refuse an argument that stands for an option which the mechanism does not have."""
    if kind is None or option not in kind.fields():
        have = [kebab(other) for other in every_mechanism() if option in other.fields()]
        raise InputError(
            "it goes with {mechanism} {listed}",
            "omit it",
            given={option: ...},
            listed=" or ".join(have),
        )


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InputError(
            "write it as NAME=VALUE, such as {example}",
            given={"option": in_quotes(text)},
            example="choice_share=0.2",
        )
    return shown(name.strip().replace("-", "_")), value.strip()


def _value(kind: type[Mechanism], mechanism: str, name: str, text: str) -> object:
    if name in _SUPPLIED:
        raise InputError(
            "it has an argument of its own",
            "give {supplied}",
            given={"option": _unquoted(name)},
            supplied=reference(name),
        )
    own = own_options(kind)
    if name not in own:
        raise InputError(
            "{kind} has no option of that name",
            "it has {known}.{hint}",
            given={"option": _unquoted(name)},
            kind=mechanism,
            known=", ".join(own) or "none",
            hint=nearest(name, own),
        )
    takes = own[name]
    if takes.may_be_none and text.lower() == "none":
        return None
    value = _parsed(name, takes.kind, text)
    return value if takes.check is None else takes.check(name, value)


def _unquoted(name: str) -> Words:
    return Words("{name}", name=name)


def _parsed(name: str, kind: Any, text: str) -> object:
    if kind is str:
        return text
    if isinstance(kind, type) and issubclass(kind, Option):
        known = {one.name.lower().replace("_", "-"): one for one in kind}
        return _alternative(name, known, text)
    if kind is bool:
        return _alternative(name, {"true": True, "false": False}, text)
    if kind not in (int, float):
        raise InputError(
            "its value cannot be written in a shell",
            "give it in Python",
            given={"option": _unquoted(name)},
        )
    try:
        return whole(text) if kind is int else number(text)
    except ValueError as error:
        raise InputError("{why}", given={"option": _unquoted(name)}, why=error) from None


def _alternative(argument: str, known: Mapping[str, object], text: str) -> object:
    for name, value in known.items():
        if text.lower() in (name, str(getattr(value, "value", name)).lower()):
            return value
    raise InputError(
        '"{text}" is not known',
        "it is one of {listed}.{hint}",
        given={"option": Words("{name}", name=argument)},
        text=shown(text),
        listed=", ".join(known),
        hint=nearest(text.lower(), known),
    )


def _require_needed(kind: type[Mechanism], mechanism: str, given: Mapping[str, Any]) -> None:
    """Refuse to go without an option that has no default."""
    for field in fields(kind):  # type: ignore[arg-type]  # every mechanism is a dataclass
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if not (optional or field.name in _SUPPLIED or field.name in given):
            raise InputError(
                "it needs its option {name}",
                "add {option} {name}=VALUE",
                given={"mechanism": _unquoted(mechanism)},
                name=field.name,
            )
