"""What is asked: from a question's arguments to the mechanism that answers it, without any data."""

from __future__ import annotations

from functools import partial
from inspect import isabstract
from typing import Any

from shortlist import mechanisms
from shortlist.bits import Bits, SystemBits
from shortlist.errors import InputError, nearest, written
from shortlist.histogram import Counts
from shortlist.mechanisms.base import Mechanism

__all__ = ["bits_of", "build_mechanism", "mechanism_named", "mechanism_names"]


def build_mechanism(
    mechanism: object,
    *,
    items_are_public: bool,
    max_items_per_user: int,
    epsilon: float,
    delta: float,
    k: int | None = None,
) -> Mechanism:
    """The mechanism that answers top-k (given `k`) or domain (without), from public parameters.

    Args:
        mechanism: A class, a `functools.partial` of one, or None for the default.
        items_are_public: Whether everybody knows the items.
        max_items_per_user: The bound on what one user contributes to discovery.
        epsilon: As asked.
        delta: As asked.
        k: As asked, or None.

    Raises:
        InputError: The mechanism does not answer this question, or a parameter is out of range.
    """
    if k is None and items_are_public:
        raise InputError(
            "public_items: everybody knows these items, so there is no domain to discover; ask "
            "for top_k, or leave public_items out."
        )
    kind, options = _class_and_options(
        _default(k, items_are_public) if mechanism is None else mechanism
    )
    _require_fit(kind, k, items_are_public)
    given = {
        "k": k,
        "epsilon": epsilon,
        "delta": delta,
        "max_items_per_user": max_items_per_user,
    }
    _require_options(kind, options, given)
    return kind(**{name: given[name] for name in given if name in kind.fields()}, **options)


def bits_of(random: object) -> Bits:
    """The source of random bits that was asked for: the operating system's, if None."""
    if random is None:
        return SystemBits()
    if isinstance(random, type):
        raise InputError(f"random={random.__name__}: give an instance, {random.__name__}(…).")
    if not (callable(getattr(random, "words", None)) and hasattr(random, "private")):
        raise InputError(
            f"random={written(random)}: must be a source of bits; leave it out, or for a test "
            "give shortlist.bits.SeededBits(42), whose releases are not private."
        )
    return random  # type: ignore[return-value]


def mechanism_names() -> list[str]:
    """The names of the mechanisms in kebab case, as the command takes them."""
    return [_kebab(kind.__name__) for kind in _kinds()]


def mechanism_named(name: str) -> type[Mechanism]:
    """The mechanism of that kebab-case name."""
    for kind in _kinds():
        if _kebab(kind.__name__) == name:
            return kind
    names = mechanism_names()
    raise InputError(
        f'mechanism "{name}" is not known; there are {", ".join(names)}.{nearest(name, names)}'
    )


def _default(k: int | None, items_are_public: bool) -> type[Mechanism]:  # noqa: FBT001 - a fact
    if k is None:
        return mechanisms.WeightedGaussian
    return mechanisms.Peeling if items_are_public else mechanisms.DiscoverThenRank


def _kinds() -> list[type[Mechanism]]:
    listed = (getattr(mechanisms, name) for name in mechanisms.__all__)
    return [
        x for x in listed if isinstance(x, type) and issubclass(x, Mechanism) and x != Mechanism
    ]


def _kebab(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")


def _class_and_options(mechanism: object) -> tuple[type[Mechanism], dict[str, Any]]:
    options: dict[str, Any] = {}
    kind = mechanism
    if isinstance(mechanism, partial) and not mechanism.args:
        kind, options = mechanism.func, mechanism.keywords
    if isinstance(kind, type) and issubclass(kind, Mechanism) and not isabstract(kind):
        return kind, options
    if isinstance(mechanism, Mechanism):
        name = type(mechanism).__name__
        raise InputError(
            f"mechanism={name}(...): give the class {name}, or functools.partial({name}, ...) of "
            "it with its own options; the question supplies k, epsilon, delta and bounds."
        )
    names = ", ".join(kind.__name__ for kind in _kinds())
    raise InputError(
        f"mechanism={written(mechanism)}: must be a class of shortlist.mechanisms ({names}), or a "
        "functools.partial of one with its options by keyword."
    )


def _require_fit(kind: type[Mechanism], k: int | None, items_are_public: bool) -> None:  # noqa: FBT001
    name = kind.__name__
    if (k is not None) != ("k" in kind.fields()):
        asked, answered = ("domain", "top_k") if k is None else ("top_k", "domain")
        raise InputError(f"mechanism={name}: it answers {answered}, not {asked}.")
    if (kind.evidence is Counts) != items_are_public:
        raise InputError(
            f"mechanism={name}: it discovers private items, and these are public; leave mechanism "
            "out."
            if items_are_public
            else f"mechanism={name}: it takes items that everybody knows; give public_items."
        )


def _require_options(kind: type[Mechanism], options: dict[str, Any], given: dict[str, Any]) -> None:
    own = [name for name in kind.fields() if name not in given]
    for name in options:
        if name in given:
            raise InputError(f"mechanism: {name} is given by the question; leave it out there.")
        if name not in own:
            known = ", ".join(own) or "none"
            raise InputError(
                f"mechanism: {kind.__name__} has no option {name}; it has {known}."
                f"{nearest(name, own)}"
            )
