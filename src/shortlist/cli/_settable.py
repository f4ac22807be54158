"""Which options a settings file may set, and of which types: the others are typed each time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from shortlist.errors import InputError, nearest, shown, written

__all__ = ["COMMAND_LINE_ONLY", "PATH", "SETTINGS", "Kind", "check"]


class Kind(NamedTuple):
    """What a setting holds."""

    types: tuple[type, ...]
    told: str


_TEXT = Kind((str,), "a text in quotes")
PATH = Kind((str,), "a path in quotes")
_TEXTS = Kind((str, list), "a text in quotes, or a list of such texts")
_WHOLE = Kind((int,), "a whole number")
_NUMBER = Kind((int, float), "a number")

SETTINGS: dict[str, Kind] = {
    "file": PATH,
    **dict.fromkeys(("user", "count", "winner", "loser", "store", "table"), _TEXT),
    **dict.fromkeys(("separator", "encoding"), _TEXT),
    **dict.fromkeys(("item", "by", "option"), _TEXTS),
    **dict.fromkeys(("k", "users", "max-items-per-user", "max-groups-per-user"), _WHOLE),
    "max-comparisons-per-user": _WHOLE,
    **dict.fromkeys(("epsilon", "delta", "count-share"), _NUMBER),
    **dict.fromkeys(("public-items", "public-groups", "budget"), PATH),
    **dict.fromkeys(("mechanism", "who", "dataset", "format"), _TEXT),
}
"""By the names of the options; "file" is the table."""

_LESS_PRIVATE = "it makes answers less private, which must not happen unseen"
_ONCE = "it is meant for one answer"
COMMAND_LINE_ONLY = {
    **dict.fromkeys(("seed", "not-private", "public-items-in-table"), _LESS_PRIVATE),
    **dict.fromkeys(("show-accesses", "contraction", "degree"), _LESS_PRIVATE),
    **dict.fromkeys(("output", "report", "overwrite", "json", "dry-run", "reuse"), _ONCE),
    **dict.fromkeys(("pull", "input-format", "config", "no-config"), _ONCE),
}
"""The other options, each with the reason."""


def check(values: object, known: Iterable[str], where: str, tables: Iterable[str] = ()) -> None:
    """Refuse what is no setting there, and a value of another type.

    Args:
        values: What stands there, by the names.
        known: The settings that may.
        where: How the place is told.
        tables: What else may stand there.

    Raises:
        InputError: It names the place, and quotes the value if it is short.
    """
    if not isinstance(values, dict):
        raise InputError("{where} must be a table of settings", where=where)
    for key, value in values.items():
        if key in COMMAND_LINE_ONLY:
            raise InputError(
                "{where}: {key} is for the command line alone",
                "{why}",
                where=where,
                key=key,
                why=COMMAND_LINE_ONLY[key],
            )
        if key not in known:
            raise InputError(
                "{where}: {key} is not a setting here",
                "{hint}",
                where=where,
                key=shown(key),
                hint=nearest(key, [*known, *tables]),
            )
        kind = SETTINGS[key]
        if list in kind.types and isinstance(value, list) and (wrong := _no_texts(value)):
            raise InputError(
                "{where}: {key} must be {told}; the list holds {value}",
                where=where,
                key=key,
                told=kind.told,
                value=written(wrong[0]),
            )
        if not _is_of(value, kind):
            raise InputError(
                "{where}: {key} must be {told}, not {value}",
                where=where,
                key=key,
                told=kind.told,
                value=written(value),
            )


def _no_texts(values: list[object]) -> list[object]:
    return [value for value in values if not isinstance(value, str)]


def _is_of(value: object, kind: Kind) -> bool:
    return isinstance(value, kind.types) and not isinstance(value, bool)
