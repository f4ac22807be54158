"""The one error that a caller can fix, the warnings, and what their messages are made of."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from shortlist.errors.memory import has_failed, lacks_memory
from shortlist.errors.numbers import as_float, is_whole
from shortlist.errors.words import (
    PYTHON,
    Face,
    Words,
    figures,
    in_quotes,
    is_short,
    joined,
    named,
    nearest,
    reference,
    shown,
    written,
)

__all__ = [
    "PYTHON",
    "SPENT",
    "ChargedAgainWarning",
    "Face",
    "GuessWarning",
    "InputError",
    "Structured",
    "WeakPrivacyWarning",
    "Words",
    "as_float",
    "figures",
    "has_failed",
    "in_quotes",
    "is_short",
    "is_whole",
    "joined",
    "lacks_memory",
    "level_of_caller",
    "named",
    "nearest",
    "reference",
    "says_spent",
    "shown",
    "spending",
    "written",
]

SPENT = "Count the question's epsilon and delta as spent."
"""What a refusal after rows were read says: that it came may depend on the rows."""


class Structured(Exception):  # noqa: N818 - of an error and of a warning
    """What was given, the rule, the remedy; the message is put together of them."""

    def __init__(
        self,
        rule: str | Words,
        remedy: str | Words | None = None,
        /,
        *,
        given: Mapping[str, object] | None = None,
        **values: object,
    ) -> None:
        """Take the parts of the message.

        Args:
            rule: What holds, or must. Arguments that were given and that it does not show stand
                before it, with a colon. May refer to what each face names: see `Words`.
            remedy: What to do; with a capital, a sentence of its own.
            given: The arguments concerned, as the caller wrote them; the last is the one at fault.
                `...` for one whose value is not to be shown.
            values: What the two templates call by these names.
        """
        super().__init__()
        self._rule = _text(rule, given, values)
        self._remedy = None if remedy is None else _text(remedy, given, values)

    @property
    def argument(self) -> str | None:
        """The name of the argument at fault; None if it is none."""
        return self._at_fault()[0]

    @property
    def value(self) -> str | None:
        """What was given for it, as it is written in Python; None if that is not shown."""
        return self._at_fault()[1]

    @property
    def rule(self) -> str:
        """What holds, or must."""
        return str(self._rule)

    @property
    def remedy(self) -> str | None:
        """What to do, if there is more to say than the rule does."""
        return (str(self._remedy).strip() or None) if self._remedy else None

    def rendered(self, face: Face = PYTHON) -> str:
        """The message, in the words of a face."""
        return self.joined(face, "")

    def renamed(self, name: str, other: str) -> Self:
        """The error of an argument that has another name where it was given."""
        remedy = None if self._remedy is None else self._remedy.renamed(name, other)
        return type(self)(self._rule.renamed(name, other), remedy)

    def as_written(self, **given: object) -> Self:
        """The error of a part that had some of an argument, with all that the caller gave."""
        remedy = None if self._remedy is None else self._remedy.as_written(given)
        return type(self)(self._rule.as_written(given), remedy)

    def __str__(self) -> str:
        return self.rendered()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).__new__, (type(self),), self.__dict__

    def _at_fault(self) -> tuple[str | None, str | None]:
        *_, found = [(None, None), *self._rule.arguments()]
        return found

    def joined(self, face: Face, closing: str) -> str:
        """The message, with a last sentence; a statement that is to be copied stays the last."""
        before = ", ".join(self._rule.argument(n, face) for n in self._rule.unmentioned())
        rule = f"{before}: {self._rule.rendered(face)}" if before else self._rule.rendered(face)
        remedy = self._remedy.rendered(face).strip() if self._remedy else ""
        if closing and remedy.endswith(";"):
            return f"{_sentence(rule)} {closing} {remedy[:1].upper()}{remedy[1:]}"
        if remedy:
            rule = f"{_sentence(rule)} {remedy}" if remedy[0].isupper() else f"{rule}; {remedy}"
        return f"{_sentence(rule)} {closing}".strip()


class InputError(Structured, ValueError):
    """Something the caller wrote cannot be used; the message says what, the rule and the remedy.

    A message holds only what the caller wrote and what is public: never a row, an item or a count.
    Nor does any attribute.

    Attributes:
        argument: The name of the argument at fault; None if it is none.
        value: What was given for it, as it is written in Python; None if that is not shown.
        rule: What holds, or must.
        remedy: What to do, if there is more to say than the rule does.
        spent: Whether it came once rows were read, so that the budget counts as spent.
        before_rows: Whether it is certain that no row had been read, though rows were about to be.

    >>> try:
    ...     raise InputError("must be above 0", "1 is usual", given={"epsilon": -1})
    ... except InputError as error:
    ...     print(error, error.argument, error.value, error.rule, error.remedy, sep=" | ")
    epsilon=-1: must be above 0; 1 is usual. | epsilon | -1 | must be above 0 | 1 is usual
    """

    before_rows: bool = False
    spent: bool = False

    def rendered(self, face: Face = PYTHON) -> str:
        """The message, in the words of a face."""
        return self.joined(face, SPENT if self.spent else "")


class WeakPrivacyWarning(Structured, UserWarning):
    """The question is answered as asked, with a guarantee that is weak, or protects hardly at all.

    The epsilon is above 3, the delta above 1e-4, or above one over the number of users, where that
    was said.

    If that is intended, silence it by `warnings.simplefilter("ignore", sl.WeakPrivacyWarning)`.
    """


class GuessWarning(Structured, UserWarning):
    """Something was found out that the caller can say, and that may be otherwise."""


class ChargedAgainWarning(Structured, UserWarning):
    """The same question was charged before, but there is no answer that could be given again."""


def level_of_caller() -> int:
    """How many frames up, seen from whoever calls this, the first is that is none of ours."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - as the warnings module does
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("shortlist."):
        level, frame = level + 1, frame.f_back
    return level


@contextmanager
def spending(*, charged: bool = False) -> Iterator[None]:
    """Where rows are read: whatever fails here may have been decided by them, and says so.

    Args:
        charged: Whether a budget was charged: then it is spent, even if no row was read.

    >>> with spending():
    ...     raise InputError("a row is wrong")
    Traceback (most recent call last):
    shortlist.errors.InputError: a row is wrong. Count the question's epsilon and delta as spent.
    """
    try:
        yield
    except InputError as error:
        error.spent = error.spent or charged or not error.before_rows
        raise
    except BaseException as error:
        if not says_spent(error):
            error.add_note(SPENT)
        raise


def says_spent(error: BaseException) -> bool:
    """Whether it was raised where rows are read."""
    if isinstance(error, InputError):
        return error.spent
    return SPENT in str(error) or SPENT in getattr(error, "__notes__", ())


def _text(
    words: str | Words, given: Mapping[str, object] | None, values: dict[str, object]
) -> Words:
    return words if isinstance(words, Words) else Words(words, given=given, **values)


def _sentence(words: str) -> str:
    return words if words.endswith((".", "?", ";")) else f"{words}."
