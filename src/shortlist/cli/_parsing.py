"""How the arguments of a command are parsed, and its help is laid out."""

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperGroup

from shortlist.cli._builders import ANSWER, HELP
from shortlist.cli.failure import USAGE_ERROR

__all__ = ["Command", "Group"]


class Command(TyperCommand):
    """One command, whose options may be given once."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Without the type of the argument, of which its name says enough."""
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                vars(parameter).update(display_type_rich=lambda **_: "")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, of which the parser would take the last.

        Where a shell asks how a line may go on, what stands before the option at its end is heard.
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


class Group(TyperGroup):
    """Commands."""

    def get_help_option(self, ctx: Any) -> Any:
        """Without a type."""
        option = super().get_help_option(ctx)
        vars(option).update(metavar="")
        return option
