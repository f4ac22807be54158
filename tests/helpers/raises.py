"""Every refusal that the source can raise, and every phase, as their templates stand there."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import shortlist

ROOT = Path(shortlist.__file__).parent
BUILDERS = {"Fault", "InputError", "Words", "WeakPrivacyWarning", "phase"}
BUILDING = {"errors", "faults.py", "phases.py"}
MARK = re.compile(r"\{([^{}]+)\}")


class Raise(NamedTuple):
    """One call.

    Attributes:
        place: The file and the line.
        builder: What is built.
        templates: The texts, all alternatives of each.
        given: The names of the arguments, and None for one known only when it is raised.
        values: The names of the values.
        is_constant: Whether every template stands there as it is.
    """

    place: str
    builder: str
    templates: list[str]
    given: list[str | None]
    values: list[str]
    is_constant: bool

    @property
    def marks(self):
        """What stands between braces."""
        return [mark for template in self.templates for mark in MARK.findall(template)]

    @property
    def references(self):
        """The names that a face must know."""
        shown = [mark.partition("=")[0].rstrip("!") for mark in self.marks]
        return {name for name in shown if name not in self.values} | {n for n in self.given if n}


def raises():
    """All calls in the package, its tests' own excepted."""
    return [
        raised
        for path in sorted(ROOT.rglob("*.py"))
        if not BUILDING & {path.parent.name, path.name}
        for raised in raises_in(ast.parse(path.read_text()), str(path.relative_to(ROOT)))
    ]


def raises_in(tree, file):
    """The same of one file."""
    for node in ast.walk(tree):
        name = getattr(node.func, "id", None) if isinstance(node, ast.Call) else None
        if name not in BUILDERS:
            continue
        texts = [_texts(argument) for argument in node.args]
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        given = keywords.pop("given", None)
        yield Raise(
            f"{file}:{node.lineno}",
            name,
            [text for alternatives in texts for text in alternatives],
            [getattr(key, "value", None) for key in given.keys] if given else [],
            list(keywords),
            all(texts),
        )


def _texts(node):
    if isinstance(node, ast.Constant):
        return [] if node.value is None else [node.value]
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    return []
