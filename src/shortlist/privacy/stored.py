"""Costs written as JSON values and read from them again; nothing that is read is ever run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from shortlist.errors import InputError
from shortlist.privacy.combined_costs import Either, Sum, Ways
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import ZCDP, Approximate, Cost, Gaussian, Pure

_PLAIN: dict[str, type[Cost]] = {
    kind.__name__: kind for kind in (Approximate, Gaussian, Pure, ZCDP)
}

# What 0.2 wrote is read for good, so that names in files stay where names in the code change.
_FIELDS_IN_FILES = {"own_items": "unnamed"}


def stored(cost: Cost) -> dict[str, Any]:
    """The name of a cost's kind and its parameters, as JSON values.

    >>> stored(ZCDP(0.5))
    {'name': 'ZCDP', 'parameters': {'rho': 0.5, 'delta': 0.0}}
    """
    name = type(cost).__name__
    match cost:
        case Composed():
            parameters: dict[str, Any] = {
                "composition": _stored_part(cost.composition),
                "by_rho": stored(cost.ways[0]),
                "epsilon": cost.calibrated_to,
            }
        case Ways():
            by_rho, by_epsilon = cost.ways
            parameters = {"by_rho": stored(by_rho), "by_epsilon": stored(by_epsilon)}
        case Sum():
            parameters = {"parts": [stored(part) for part in cost.parts]}
        case Either():
            parameters = {"alternatives": [stored(part) for part in cost.alternatives]}
        case _:
            parameters = dict(cost.parameters())
    return {"name": name, "parameters": parameters}


def cost_from(name: str, parameters: Mapping[str, Any]) -> Cost:
    """Read a cost, given as the name of its kind and its parameters.

    Raises:
        InputError: The kind is unknown, or there is no such cost with these parameters.
        TypeError: The parameters are others than those of the kind.
    """
    cost = _made(name, dict(parameters))
    if stored(cost)["parameters"] != parameters:
        raise InputError("its cost is not made of the numbers that it says")
    return cost


def _made(name: str, parameters: dict[str, Any]) -> Cost:
    match name, parameters:
        case "Composed", {"composition": stages, "by_rho": by_rho, "epsilon": epsilon}:
            return Composed(_part_from(stages), cost_from(**by_rho), epsilon=epsilon)
        case "Ways", {"by_rho": by_rho, "by_epsilon": by_epsilon}:
            return Ways(cost_from(**by_rho), cost_from(**by_epsilon))
        case "Sum", {"parts": parts}:
            return Sum(*(cost_from(**part) for part in parts))
        case "Either", {"alternatives": alternatives}:
            return Either(*(_pure(cost_from(**part)) for part in alternatives))
    if name not in _PLAIN:
        raise InputError("its cost is of a kind that is not known here, {kind}", kind=name)
    return _PLAIN[name](**parameters)


def _pure(cost: Cost) -> Pure:
    if not isinstance(cost, Pure):
        raise InputError("the alternatives of its cost are not pure")
    return cost


def _stored_part(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_stored_part(inner) for inner in part]
    name = next((name for name, kind in _kinds_of_parts().items() if type(part) is kind), None)
    if name is None:
        return part
    values = {
        _FIELDS_IN_FILES.get(field.name, field.name): _stored_part(getattr(part, field.name))
        for field in fields(part)
    }
    return {"stage": name, **values}


def _part_from(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_part_from(inner) for inner in value)
    if not isinstance(value, Mapping):
        return value
    kind = _kinds_of_parts()[value["stage"]]
    fields_of_files = {in_file: field for field, in_file in _FIELDS_IN_FILES.items()}
    parts = {str(name): _part_from(inner) for name, inner in value.items() if name != "stage"}
    return kind(**{fields_of_files.get(name, name): part for name, part in parts.items()})


@cache
def _kinds_of_parts() -> dict[str, type]:
    """What a composition is made of, by its name in files; loaded where there is one."""
    from shortlist.privacy import accountant

    return {
        "AfterChoice": accountant.AfterChoice,
        "BoundedRange": accountant.BoundedRange,
        "Composition": accountant.Composition,
        "EitherStage": accountant.EitherStage,
        "GaussianStage": accountant.GaussianStage,
        "Lost": accountant.ThresholdDelta,
        "LossStage": accountant.LossStage,
        "NovelInRounds": accountant.ItemsInRounds,
        "NovelItems": accountant.ItemsByThreshold,
        "OwnItemsStage": accountant.OwnItemsStage,
        "PureStage": accountant.PureStage,
        "Threshold": accountant.Threshold,
    }
