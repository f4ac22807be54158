"""What is not typed each time: the settings in a file called shortlist.toml."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from shortlist.cli._options import CommandOption, Commands, options_of
from shortlist.errors import InputError, nearest, shown, written
from shortlist.runtime.processes import others_can_write

_NAME = "shortlist.toml"
_SERIES = "series"  # what the part of the file about these is called
# What the settings that all commands share cannot say of a series: it is of all its lists together.
_OF_ONE_ANSWER = {"budget", "epsilon", "delta", "share", "max-items-per-user"}
_PRICES = ("share",), ("epsilon", "delta")


def is_given(value: object) -> bool:
    """Whether an option with this value was given."""
    return value is not None and value is not False and value != []


@dataclass(frozen=True)
class Settings:
    """The settings of one command.

    Attributes:
        shown: The file, as it is shown.
        values: By the names that the arguments have in Python.
    """

    shown: str
    values: Mapping[str, object] = field(repr=False)
    context: typer.Context = field(repr=False)

    @property
    def used(self) -> list[CommandOption]:
        """The options that were not typed, in the order of the command's help."""
        return [
            option
            for option in _settable(_command(self.context)).values()
            if option.name in self.values
            and getattr(self.context.get_parameter_source(option.name), "name", "") == "DEFAULT_MAP"
        ]

    def beside(self, given: Mapping[str, object]) -> tuple[dict[str, Any], Settings]:
        """What is given and the settings of it, but for what something typed has displaced.

        That is what says in one way how much may be spent, where the other was typed.
        """
        names = {option.name for option in self.used}
        typed = {name for name, value in given.items() if is_given(value)} - names
        ways = zip(_PRICES, reversed(_PRICES), strict=True)
        out = {name for one, other in ways if typed & set(one) for name in names & set(other)}
        kept = {name: value for name, value in self.values.items() if name not in out}
        return {**given, **dict.fromkeys(out)}, replace(self, values=kept)

    def described(self) -> str:
        """Which come from the file, or nothing."""
        keys = ", ".join(option.key for option in self.used)
        return f"{keys}: from {self.shown}" if keys else ""


def configured(context: typer.Context, given: str | None) -> Any:
    """Take the settings of a file for this command, where nothing was typed; they, or None.

    Args:
        context: Of the command.
        given: The file; None for the nearest shortlist.toml, if there is any.

    Raises:
        InputError: The file cannot be read, or has what is no setting.
    """
    if context.params.get("no_config"):
        if given is not None:
            raise InputError("{config} and {no_config}: give one of the two")
        return None
    path = _nearest_file() if given is None else Path(given)
    if path is None:
        return None
    name, command = shown(str(path)), _command(context)
    own = _settings_for(command, _read(path, name), name)
    known = _settable(command)
    values = {
        known[key].name: _as_typed(value, known[key], command, path.parent)
        for key, value in own.items()
    }
    context.default_map = values
    return Settings(name, values, context)


def unconfigured(context: typer.Context, given: bool) -> bool:  # noqa: FBT001 - as Typer calls it
    """Refuse that settings of a file are left out where one was typed before this."""
    if given and context.params.get("config") is not None:
        raise InputError("{config} and {no_config}: give one of the two")
    return given


def _settings_for(command: Commands, whole: dict[str, Any], name: str) -> dict[str, Any]:
    """What the file sets for a command: for all, and for this one alone."""
    parts = {question.typed: question for question in Commands.QUESTIONS}
    parts[_SERIES] = Commands.SERIES_IN_FILE
    for typed, commands in parts.items():
        _check(whole.get(typed, {}), _settable(commands), f"{name}, [{typed}]")
    shared = {key: value for key, value in whole.items() if key not in parts}
    _check(shared, _settable(Commands.QUESTIONS), name, parts)
    of_series = command in Commands.SERIES
    if of_series:
        shared = {key: value for key, value in shared.items() if key not in _OF_ONE_ANSWER}
    own: dict[str, Any] = whole.get(_SERIES if of_series else command.typed, {})
    known = _settable(command)
    return {key: value for key, value in (shared | own).items() if key in known}


def budget_of_file() -> tuple[str, str | None, str]:
    """The budget that the nearest shortlist.toml names, its data set, and the name of the file."""
    path = _nearest_file()
    name = "" if path is None else shown(str(path))
    whole = {} if path is None else _read(path, name)
    given = {key: whole[key] for key in ("budget", "dataset") if key in whole}
    _check(given, _settable(Commands.QUESTIONS), name)
    if path is None or "budget" not in given:
        raise InputError("BUDGET is needed", "give it here, or as budget in {file}", file=_NAME)
    return _seen_from(path.parent, given["budget"]), given.get("dataset"), name


def _command(context: typer.Context) -> Commands:
    of_series = context.parent is not None and context.parent.info_name == _SERIES
    return Commands.called(f"{_SERIES}-" * of_series + str(context.info_name))


def _settable(commands: Commands) -> dict[str, CommandOption]:
    """What a file may set for some of these, by the keys; what they only refuse is left out."""
    taken = [o for command in commands for o in options_of(command) if o.help_of(command)]
    return {option.key: option for option in taken if option.settable}


_ONLY_TYPED = {
    option.key: "it makes answers less private, which must not happen unseen"
    if option.less_private
    else "it is meant for one answer"
    for question in Commands.QUESTIONS
    for option in options_of(question)
    if not option.settable
}


def _check(
    values: object, known: Mapping[str, CommandOption], where: str, tables: Iterable[str] = ()
) -> None:
    """Refuse what is no setting there, and a value of another type.

    Args:
        values: What stands there, by the keys.
        known: The settings that may.
        where: What the place is called.
        tables: What else may stand there.
    """
    if not isinstance(values, dict):
        raise InputError("{where} must be a table of settings", where=where)
    for key, value in values.items():
        if key in _ONLY_TYPED:
            raise InputError(
                "{where}: {key} is for the command line alone",
                "{why}",
                where=where,
                key=key,
                why=_ONLY_TYPED[key],
            )
        if key not in known:
            raise InputError(
                "{where}: {key} is not a setting here",
                "{hint}",
                where=where,
                key=shown(key),
                hint=nearest(key, [*known, *tables]),
            )
        _check_type(value, known[key], where)


def _check_type(value: object, option: CommandOption, where: str) -> None:
    several = bool(option.repeats & Commands.IN_FILE)
    values = value if several and isinstance(value, list) else [value]
    for one in values:
        # To Python true is a whole number, too.
        if not isinstance(one, option.kind.in_file) or isinstance(one, bool) != option.is_flag:
            raise InputError(
                "{where}: {key} must be {kind}{but} {value}",
                where=where,
                key=option.key,
                kind=option.kind.described + ", or a list of such texts" * several,
                but="; the list holds" if values is value else ", not",
                value=written(one),
            )


def _nearest_file() -> Path | None:
    """That of the working folder or the nearest one above it; it must be the user's own."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return None
    for folder in (here, *here.parents):
        path = folder / _NAME
        if os.path.isfile(path):  # noqa: PTH113 - a folder that may not be looked into has none
            _require_own(path)
            return Path(os.path.relpath(path, here))
    return None


def _require_own(path: Path) -> None:
    """Refuse a file that somebody else may have written, who might ask for weaker privacy."""
    if others_can_write(path):
        raise InputError(
            '"{path}" belongs to somebody else, or others may write to it',
            "if you trust it, name it by {config=...}; or leave it out by {no_config}",
            path=shown(str(path)),
        )


def _read(path: Path, name: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    except tomllib.TOMLDecodeError as error:
        why = f"it is not TOML: {error}"
    except RecursionError:
        why = "it is nested too deeply"
    raise InputError("cannot read the settings in {name}: {why}", name=name, why=why)


def _as_typed(value: Any, option: CommandOption, command: Commands, folder: Path) -> object:
    """As the option would be given; a path is seen from the folder of the file."""
    if option.is_path:
        value = _seen_from(folder, value)
    return [value] if command in option.repeats and isinstance(value, str) else value


def _seen_from(folder: Path, path: str) -> str:
    """A path that stands in a file of that folder; a URL and the standard input are none."""
    return path if "://" in path or path == "-" else str(folder / path)
