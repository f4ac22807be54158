"""Words of messages: what of a caller's they may repeat, and how each face spells references."""

from __future__ import annotations

import difflib
import numbers
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Protocol

# Characters of what the caller wrote that a message repeats at most.
_LONGEST = 200


def shown(text: str) -> str:
    r"""The text as the caller wrote it, if it is short and of one line: else it may be data.

    Of a URL nothing, since a password may be anywhere in it.

    >>> shown("items"), shown("postgresql://reader:secret@db.example.org/shop")
    ('items', '…://…')
    >>> shown("user,item\nAnn,Emma\n")
    '…'
    """
    if "://" in text:
        return "…://…"
    return text if is_short(text) else "…"


def is_short(text: str) -> bool:
    """Whether it can be a name or a path, and no table: one line of at most 200 characters."""
    return len(text) <= _LONGEST and (not text or text.splitlines() == [text])


def joined(words: Iterable[str], by: str = "or") -> str:
    """Words as they are listed in a sentence.

    >>> joined(["csv"]), joined(["csv", "json"]), joined(["bash", "zsh", "fish"], "and")
    ('csv', 'csv or json', 'bash, zsh and fish')
    """
    *others, last = words
    return f"{', '.join(others)} {by} {last}" if others else last


def figures(number: float) -> str:
    """A number as it is read in a sentence, with all digits that were given.

    >>> figures(1500.0), figures(0.25)
    ('1,500', '0.25')
    """
    return f"{number:,.15g}"


def nearest(name: str, names: Iterable[str], *, but_for_case: bool = False) -> str:
    """A hint at the known name that resembles `name` most, or nothing.

    With `but_for_case`, at one that has the same letters, whatever their case.

    >>> nearest("usr", ["user", "item"]), nearest("user id", ["User ID", "item"])
    (' Did you mean "user"?', ' Did you mean "User ID"?')
    """
    alike = {_alike(known): known for known in names}
    matches = difflib.get_close_matches(
        _alike(name), list(alike), n=1, cutoff=1.0 if but_for_case else 0.6
    )
    return f' Did you mean "{shown(alike[matches[0]])}"?' if matches else ""


def _alike(name: str) -> str:
    """What names that differ in their case and spaces have in common."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def written(value: object) -> str:
    """What the caller wrote, if it is so small that no data can be in it, or else its type.

    >>> written(42), written("peeling"), written([1, 2])
    ('42', "'peeling'", 'a value of type list')
    """
    if isinstance(value, str):
        return repr(shown(value))
    if isinstance(value, type):
        return shown(value.__name__)
    if value is None or isinstance(value, numbers.Number):
        with suppress(ValueError):  # of an integer too long to be written
            return shown(repr(value))
    return f"a value of type {shown(type(value).__name__)}"


_MARK = re.compile(r"\{([^{}]+)\}")


class Face(Protocol):
    """How those who read a message write what it refers to."""

    def argument(self, name: str, value: str | None) -> str:
        """An argument with its value; None where that is not shown, "..." for some value."""

    def reference(self, name: str) -> str:
        """An argument, a mechanism, a question or a function, by the name that Python has."""


class _Python:
    def argument(self, name: str, value: str | None) -> str:
        return name if value in (None, "...") else f"{name}={value}"

    def reference(self, name: str) -> str:
        return _PHRASES.get(name, name)


# For what the command does in another way, or not at all.
_PHRASES = {
    "or_prepare": "create it by prepare(), or ",
    "several_columns": 'give a list of their names, as in ["country", "city"]',
    "give_a_relation": "give duckdb.sql(\"FROM '…'\")",
}
PYTHON: Face = _Python()


class Words:
    """A template, what the caller gave, and values.

    In the template stands
    - `{n}` for a value, which is put in as it is: a text, a number, another `Words`;
    - `{user=}` for an argument as the caller wrote it, `{path!}` for what was given for it;
    - `{delta=1e-6}` for one as it may be written, `{public_items=...}` with whatever value;
    - `{public_items}`, `{Peeling}`, `{top_k}`, `{sl.pairs}` for what each face calls its own way.

    What was put in is never looked at again, so that nothing which a caller wrote is a reference.

    >>> text = Words("{user=}: give {public_items}, of {n}", given={"user": "{k}"}, n=5)
    >>> str(text)
    "user='{k}': give public_items, of 5"
    """

    def __init__(
        self, template: str, /, *, given: Mapping[str, object] | None = None, **values: object
    ) -> None:
        """Take over nothing of what the caller wrote but what may be shown.

        Args:
            template: As above.
            given: Arguments by name, as the caller wrote them; `...` if that is not to be shown.
            values: What the template calls by these names. A class is one that faces may know.
        """
        self.template = template
        self.given = {name: _as_given(value) for name, value in (given or {}).items()}
        self.values = {name: _as_value(value) for name, value in values.items()}

    def __str__(self) -> str:
        return self.rendered(PYTHON)

    def rendered(self, face: Face) -> str:
        """The words for who reads that face."""
        return _MARK.sub(lambda mark: self._part(mark[1], face), self.template)

    def _part(self, mark: str, face: Face) -> str:
        if mark.endswith("!"):
            return self.given[mark[:-1]].rendered(face)  # type: ignore[union-attr]  # it is shown
        name, shows, literal = mark.partition("=")
        if shows and name.isidentifier():
            return face.argument(name, literal) if literal else self.argument(name, face)
        value = self.values.get(mark)
        if value is None:
            return face.reference(mark)
        return value.rendered(face) if isinstance(value, Words) else value

    def argument(self, name: str, face: Face) -> str:
        """The argument as it was given."""
        value = self.given[name]
        return face.argument(name, None if value is None else value.rendered(face))

    def renamed(self, name: str, other: str) -> Words:
        """The words for an argument that has another name where it was given.

        >>> str(Words("{public_items=} is empty", given={"public_items": ...}).renamed(
        ...     "public_items", "public_groups"))
        'public_groups is empty'
        """
        words = Words(self.template.replace(f"{{{name}", f"{{{other}"))
        words.given = {other if n == name else n: value for n, value in self.given.items()}
        words.values = {
            n: value.renamed(name, other) if isinstance(value, Words) else value
            for n, value in self.values.items()
        }
        return words

    def as_written(self, given: Mapping[str, object]) -> Words:
        """The words with these arguments as the caller wrote them, where they are shown.

        >>> part = Words("{epsilon=} is too small", given={"epsilon": 0.05})
        >>> str(part.as_written({"epsilon": 0.1, "delta": 1e-6}))
        'epsilon=0.1 is too small'
        """
        words = Words(self.template)
        shown = {n: given[n] for n, value in self.given.items() if n in given and value is not None}
        words.given = self.given | {n: _as_given(value) for n, value in shown.items()}
        words.values = {
            n: value.as_written(given) if isinstance(value, Words) else value
            for n, value in self.values.items()
        }
        return words

    def unmentioned(self) -> list[str]:
        """The arguments that were given and stand nowhere in the template."""
        return [n for n in self.given if not {f"{n}=", f"{n}!"} & set(_MARK.findall(self.template))]

    def arguments(self) -> Iterator[tuple[str, str | None]]:
        """All arguments that were given, those of the texts within first."""
        for value in self.values.values():
            if isinstance(value, Words):
                yield from value.arguments()
        for name, given in self.given.items():
            yield name, None if given is None else str(given)


def reference(name: str) -> Words:
    """What each face has its own name for."""
    return Words(f"{{{name}}}")


def named(argument: str, value: object) -> Words:
    r"""The argument with the name of a column, a path or the like that was given for it.

    >>> str(named("item", "title")), str(named("data", "a\nb"))
    ('item="title"', 'data="…"')
    """
    return Words(f"{{{argument}=}}", given={argument: in_quotes(value)})


def in_quotes(name: object) -> Words:
    """The name of a column, a path or the like, as `given` takes it."""
    if isinstance(name, Words):
        return name
    return Words("{text}", text=f'"{shown(name)}"' if isinstance(name, str) else written(name))


def _as_given(value: object) -> Words | None:
    if value is ... or isinstance(value, Words):
        return None if value is ... else value
    if isinstance(value, type):
        return reference(shown(value.__name__))
    return Words("{text}", text=written(value))


def _as_value(value: object) -> str | Words:
    if isinstance(value, Words):
        return value
    return reference(shown(value.__name__)) if isinstance(value, type) else str(value)
