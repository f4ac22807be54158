"""What every question takes, whatever it asks: its price, what answers it, and its title."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar, get_type_hints

from shortlist.draws.random_bits import Bits
from shortlist.plan import Reuse

Method = TypeVar("Method", bound=Callable[..., object])


class PlanTerms(TypedDict, total=False):
    """On which terms a question is planned; `Source.ask` says what each of them means."""

    epsilon: float | None
    delta: float
    share: Fraction | str | None
    mechanism: object
    title: str | None
    note: str | None


class Terms(PlanTerms, total=False):
    """On which terms a question is asked: as it is planned, and as the plan is run."""

    random: Bits | None
    reuse: bool | Reuse


_UNLESS_GIVEN: Terms = {
    "epsilon": None,
    "delta": 0.0,
    "share": None,
    "mechanism": None,
    "title": None,
    "note": None,
    "random": None,
    "reuse": False,
}


def takes(terms: type[PlanTerms]) -> Callable[[Method], Method]:
    """Spell out the `**terms` of a method: in its signature, and by a value for each of them.

    Python itself would show and refuse none of them: it takes any name for `**terms`.
    """
    types = get_type_hints(terms)
    defaults = {name: value for name, value in _UNLESS_GIVEN.items() if name in types}
    spelled = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=value, annotation=types[name])
        for name, value in defaults.items()
    ]

    def decorate(method: Method) -> Method:
        bare = signature(method)
        *own, _ = bare.parameters.values()  # the last is **terms
        n_first = sum(one.kind is not Parameter.KEYWORD_ONLY for one in own)
        shown = bare.replace(parameters=[*own[:n_first], *spelled, *own[n_first:]])

        @wraps(method)
        def whole(*args: Any, **given: Any) -> object:
            for name in given:
                if name not in shown.parameters:
                    raise TypeError(
                        f"{method.__qualname__}() got an unexpected keyword argument {name!r}"
                    )
            return method(*args, **{**defaults, **given})

        whole.__signature__ = shown  # type: ignore[attr-defined]  # what `inspect` looks for
        return whole  # type: ignore[return-value]  # it takes and gives the same

    return decorate
