"""How commands are made of the table of options: for Typer, which parses and prints their help."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter
from types import ModuleType
from typing import Annotated, Any, TypeVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from shortlist.cli._options import ANSWER, HELP, CommandOption, Commands, options_of
from shortlist.cli._settings_file import configured, unconfigured
from shortlist.cli.failure import USAGE_ERROR

_Run = TypeVar("_Run", bound=Callable[..., Any])
_LEFT_OUT = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
_NO_BRACES = str.maketrans("", "", "{}")  # as in {ID}..., which others write ID...


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

    def added(run: _Run) -> _Run:
        def called(context: typer.Context) -> None:
            raise AssertionError(context)  # `whole` is called in its place

        called.__doc__ = run.__doc__
        listed: Any = partial(_Listed, whole=partial(_whole, run, command, epilog))
        group.command(command.typed, cls=listed, epilog=epilog)(called)
        return run

    return added


def _whole(run: Callable[..., Any], command: Commands, epilog: str | None) -> Any:
    """The command with its options."""
    options = options_of(command)
    taken = [_parameter(option, command) for option in options]
    context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)

    def called(context: typer.Context, **values: Any) -> Any:
        return run(context, **values) if command is Commands.HELP else run(**values)

    called.__doc__ = run.__doc__
    vars(called)["__signature__"] = inspect.Signature([context, *taken])
    alone = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich"
    )
    kind: Any = partial(_Command, parsers={option.name: option.kind.parser for option in options})
    alone.command(command.typed, cls=kind, epilog=epilog)(called)
    return typer.main.get_command(alone)


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


class _Listed(TyperCommand):
    """A command as its group lists it: its name and help, without the options.

    To make the options of all commands takes longer than all else that one of them does first.
    """

    def __init__(self, *arguments: Any, whole: Callable[[], Any], **options: Any) -> None:
        """`whole` makes the command with its options."""
        super().__init__(*arguments, **options)
        self.whole = whole


class _Command(TyperCommand):
    """One command, whose options may be given once."""

    def __init__(
        self, *arguments: Any, parsers: Mapping[str, Callable[[Any], Any] | None], **options: Any
    ) -> None:
        """Without the type of the argument, of which its name says enough.

        Values go to the parsers, by the options' names.
        """
        super().__init__(*arguments, **options)
        for parameter in self.params:
            _let_read(parameter, parsers.get(str(parameter.name)))
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

    def get_help(self, ctx: Any) -> str:
        """As Typer makes it."""
        _prepare_help()
        return super().get_help(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Without braces."""
        return [piece.translate(_NO_BRACES) for piece in super().collect_usage_pieces(ctx)]

    def get_help_option(self, ctx: Any) -> Any:
        """Beside the other flags, if there are any, and without a type."""
        option = super().get_help_option(ctx)
        panels = {getattr(parameter, "rich_help_panel", None) for parameter in self.params}
        vars(option).update(metavar="", rich_help_panel=ANSWER if ANSWER in panels else HELP)
        _let_read(option)
        return option


class _Group(TyperGroup):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for parameter in self.params:
            _let_read(parameter)

    def get_help(self, ctx: Any) -> str:
        """As Typer makes it."""
        _prepare_help()
        return super().get_help(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was typed, with its options."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, with_options(command), rest

    def get_help_option(self, ctx: Any) -> Any:
        """Without a type."""
        option = super().get_help_option(ctx)
        vars(option).update(metavar="")
        _let_read(option)
        return option


def with_options(command: Any) -> Any:
    """A command of a group, with the options that the list of commands does without."""
    return command.whole() if isinstance(command, _Listed) else command


def _prepare_help() -> None:
    """Load what Typer prints help by, but for what nothing here uses of it.

    That would take a third of the time in which help is printed.
    """
    absent = {name: kind for name, kind in _LEFT_OUT.items() if name not in sys.modules}
    for name, kind in absent.items():
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], kind, type(kind, (), {}))
    try:
        import typer.rich_utils  # noqa: F401 - loaded for Typer, which imports it then
    except ImportError:
        pass  # another Typer asks for more, and loads all of it
    finally:
        for name in absent:
            del sys.modules[name]


def _let_read(parameter: Any, parse: Callable[[Any], Any] | None = None) -> None:
    """Let a parser alone read what is given for an option; without one, as it is.

    Typer would have Pydantic call the parser, which takes as long to load as the command itself.
    """
    vars(parameter).update(process_value=partial(_parsed, parameter, parse))


def _parsed(parameter: Any, parse: Callable[[Any], Any] | None, ctx: Any, value: Any) -> Any:
    """What an option's value is to the command."""
    several = parameter.multiple or parameter.nargs == -1
    if value is None or (several and not value):
        if parameter.required:
            return type(parameter).process_value(parameter, ctx, value)  # which refuses it
        value = () if several else None
    elif parse is not None:
        value = [parse(one) for one in value] if several else parse(value)
    return value if parameter.callback is None else parameter.callback(ctx, parameter, value)
