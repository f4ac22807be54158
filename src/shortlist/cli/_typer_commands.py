"""How commands are made of the table of options: for Typer, which parses and prints their help."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from inspect import Parameter
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from shortlist.cli._options import ANSWER, HELP, CommandOption, Commands, options_of
from shortlist.cli._settings_file import configured, unconfigured
from shortlist.cli.failure import USAGE_ERROR

_Run = TypeVar("_Run", bound=Callable[..., Any])


def group_of_commands(example: str) -> typer.Typer:
    """A command that has others, with an example in its help."""
    return typer.Typer(
        cls=_Group,
        add_completion=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        epilog=examples(example),
    )


def add_to(
    group: typer.Typer, command: Commands, epilog: str | None = None
) -> Callable[[_Run], _Run]:
    """Make a function a command, whose arguments are those of the table.

    Args:
        group: That of which it is one.
        command: Which it is.
        epilog: What stands below its help, which is the function's docstring.
    """
    taken = [_parameter(option, command) for option in options_of(command)]
    context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)

    def added(run: _Run) -> _Run:
        def called(context: typer.Context, **values: Any) -> Any:
            return run(context, **values) if command is Commands.HELP else run(**values)

        called.__doc__ = run.__doc__
        vars(called)["__signature__"] = inspect.Signature([context, *taken])
        group.command(command.typed, cls=_Command, epilog=epilog)(called)
        return run

    return added


def examples(lines: str, title: str = "Example") -> str:
    """What stands below a help: lines that can be typed, with an empty one between two."""
    return f"[bold]{title}[/]\n\n{lines}"


def _parameter(option: CommandOption, command: Commands) -> Parameter:
    """An argument of a function as Typer reads it."""
    repeats = command in option.repeats
    default = False if option.is_flag else None if repeats else option.default
    kind: Any = list[option.kind.made] if repeats else option.kind.made  # type: ignore[name-defined]
    if command in option.required:
        default = Parameter.empty
    elif default is None:
        kind |= None
    annotation: Any = Annotated
    return Parameter(
        option.name,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=annotation[kind, _described(option, command)],
    )


def _described(option: CommandOption, command: Commands) -> Any:
    text = option.help_of(command)
    how: dict[str, Any] = {
        "metavar": option.typed if option.is_argument else option.placeholder,
        "help": text,
        "hidden": not text,
        "parser": option.kind.parser,
        "autocompletion": option.kind.complete,
        "show_default": isinstance(option.default, int),
        "callback": {"config": configured, "no_config": unconfigured}.get(option.name),
        "is_eager": option.eager,
        "rich_help_panel": option.panel_of(command),
    }
    if option.is_argument:
        return typer.Argument(**how)
    return typer.Option(option.in_shell, **how)


class _Command(TyperCommand):
    """One command, whose options may be given once."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Without the type of the argument, of which its name says enough."""
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                vars(parameter).update(display_type_rich=lambda **_: "")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, of which the parser would take the last.

        Where a shell asks how a line may go on, what stands before the option at its end counts.
        """
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]  # its value is still to come, without which nothing would be parsed
        try:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        except USAGE_ERROR as error:
            vars(error)["ctx"] = ctx  # which it does not give for an option without its value
            raise
        for option, times in Counter(given).items():
            if times > 1 and option.param_type_name == "option" and not option.multiple:
                ctx.fail(f"Option '{max(option.opts, key=len)}' is given {times} times.")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Without braces."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def get_help_option(self, ctx: Any) -> Any:
        """Beside the other flags, if there are any, and without a type."""
        option = super().get_help_option(ctx)
        panels = {getattr(parameter, "rich_help_panel", None) for parameter in self.params}
        vars(option).update(metavar="", rich_help_panel=ANSWER if ANSWER in panels else HELP)
        return option


class _Group(TyperGroup):
    def get_help_option(self, ctx: Any) -> Any:
        """Without a type."""
        option = super().get_help_option(ctx)
        vars(option).update(metavar="")
        return option
