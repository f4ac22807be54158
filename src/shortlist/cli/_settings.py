"""What is not typed each time: the settings in a file called shortlist.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from shortlist.cli._settable import PATH, SETTINGS, Kind, check
from shortlist.errors import InputError, shown
from shortlist.runtime.processes import others_can_write

__all__ = ["NAME", "Settings", "budget_of_file", "settings_of"]

NAME = "shortlist.toml"


@dataclass(frozen=True)
class Settings:
    """The settings of one command.

    Attributes:
        shown: The file, as it is told.
        values: By the names that the arguments have in Python.
    """

    shown: str
    values: Mapping[str, object] = field(repr=False)
    context: typer.Context = field(repr=False)

    @property
    def used(self) -> list[str]:
        """The options that were not typed, in the order of the command's help."""
        return [
            _option(parameter)
            for parameter in self.context.command.params
            if parameter.name in self.values
            and getattr(self.context.get_parameter_source(parameter.name), "name", "")
            == "DEFAULT_MAP"
        ]

    def told(self) -> str:
        """Which come from the file, or nothing."""
        return f"{', '.join(self.used)}: from {self.shown}" if self.used else ""


def settings_of(context: typer.Context, given: str | None) -> Settings | None:
    """Those of a file for the command of this context, which takes them where none was typed.

    Args:
        context: Of a question's command.
        given: The file; None for the nearest shortlist.toml, if there is any.

    Raises:
        InputError: The file cannot be read, or has what is no setting.
    """
    path = _nearest_file() if given is None else Path(given)
    if path is None:
        return None
    name = shown(str(path))
    whole, questions = _read(path, name), _questions(context)
    for question, options in questions.items():
        check(whole.get(question, {}), options & set(SETTINGS), f"{name}, [{question}]")
    check({k: v for k, v in whole.items() if k not in questions}, set(SETTINGS), name, questions)
    names = _options(context.command)
    own = {k: v for k, v in whole.items() if k in names} | whole.get(str(context.info_name), {})
    values = {
        names[key].name: _as_given(value, SETTINGS[key], names[key], path.parent)
        for key, value in own.items()
    }
    context.default_map = values
    return Settings(name, values, context)


def budget_of_file() -> tuple[str, str | None, str]:
    """The budget that the nearest shortlist.toml names, its data set, and how the file is told.

    Raises:
        InputError: There is no such file, it names none, or it cannot be read.
    """
    path = _nearest_file()
    name = "" if path is None else shown(str(path))
    whole = {} if path is None else _read(path, name)
    given = {key: whole[key] for key in ("budget", "dataset") if key in whole}
    check(given, set(SETTINGS), name)
    if path is None or "budget" not in given:
        raise InputError("BUDGET is needed", "give it here, or as budget in {file}", file=NAME)
    return _seen_from(path.parent, given["budget"]), given.get("dataset"), name


def _option(parameter: Any) -> str:
    """Its name without dashes."""
    if parameter.param_type_name == "argument":
        return str(parameter.name)
    return str(max(parameter.opts, key=len)).lstrip("-")


def _options(command: Any) -> dict[str, Any]:
    """What the command takes, by the names; what it takes only to refuse it is left out."""
    return {_option(p): p for p in command.params if not getattr(p, "hidden", False)}


def _questions(context: typer.Context) -> dict[str, set[str]]:
    """The commands that take settings, and the options of each."""
    group: Any = context.parent.command if context.parent else None
    commands = getattr(group, "commands", {})
    found = {name: set(_options(command)) for name, command in commands.items()}
    return {name: options for name, options in found.items() if "config" in options}


def _nearest_file() -> Path | None:
    """That of the working folder or the nearest one above it; it must be the user's own."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return None
    for folder in (here, *here.parents):
        path = folder / NAME
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
    """What stands in the file."""
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


def _as_given(value: Any, kind: Kind, parameter: Any, folder: Path) -> object:
    """As the option would be given; a path is seen from the folder of the file."""
    if kind is PATH:
        value = _seen_from(folder, value)
    return [value] if parameter.multiple and isinstance(value, str) else value


def _seen_from(folder: Path, path: str) -> str:
    """A path that stands in a file of that folder; a URL and the standard input are none."""
    return path if "://" in path or path == "-" else str(folder / path)
