"""The options of the comparison of mechanisms, with their help: most of them may be repeated."""

from typing import Annotated

import typer

from shortlist.cli._builders import ANSWER, PRIVACY, flag, number, valued, whole
from shortlist.cli.completing import mechanisms, one_of
from shortlist.errors import shown

__all__ = [
    "Asked",
    "Bounds",
    "Csv",
    "Deltas",
    "Epsilons",
    "Ks",
    "Looked",
    "Mechanisms",
    "Runs",
    "Table",
]


_QUESTIONS = ("top-k", "domain", "hitting-set")


def _asked(text: str) -> str:
    """The question of that name; what is none is quoted."""
    if text in _QUESTIONS:
        return text
    raise typer.BadParameter(
        f'"{shown(text)}" is not known. It must be top-k, domain or hitting-set.'
    )


Asked = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help="top-k, domain or hitting-set.",
        parser=_asked,
        autocompletion=one_of(*_QUESTIONS),
        show_default=False,
    ),
]
Table = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A table as for that question, but one that may be looked at.",
        show_default=False,
    ),
]
Ks = Annotated[
    list[int] | None,
    valued("N", "How many items. Repeat it to compare several.", None, "-k", parser=whole),
]
Epsilons = Annotated[
    list[float], valued("NUMBER", "Repeat it to compare several.", PRIVACY, parser=number)
]
Deltas = Annotated[
    list[float] | None,
    valued(
        "NUMBER",
        "Repeat it to compare several. It may be omitted with public items.",
        PRIVACY,
        parser=number,
    ),
]
Bounds = Annotated[
    list[int] | None,
    valued(
        "N",
        "Repeat it to compare several. By default 100. Not with public items.",
        PRIVACY,
        parser=whole,
    ),
]
Mechanisms = Annotated[
    list[str] | None,
    valued(
        "NAME",
        "Repeat it to compare several. By default all that answer the question.",
        PRIVACY,
        "--mechanism",
        autocompletion=mechanisms,
    ),
]
Runs = Annotated[
    int, valued("N", "How often each mechanism answers.", ANSWER, parser=whole, show_default=True)
]
Csv = Annotated[bool, flag("--csv", "Print CSV, with all digits.")]
Looked = Annotated[
    bool, flag("--not-private", "Required: this looks at the rows without noise.", PRIVACY)
]
