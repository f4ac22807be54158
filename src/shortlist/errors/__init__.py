"""The one error that a caller can fix, the one warning, and what their messages need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shortlist.errors.memory import has_failed, lacks_memory
from shortlist.errors.numbers import as_float, is_whole
from shortlist.errors.parts import Structured
from shortlist.errors.quoting import is_short, nearest, shown, written
from shortlist.errors.words import PYTHON, Face, Words, in_quotes, named, reference

__all__ = [
    "PYTHON",
    "SPENT",
    "Face",
    "GuessWarning",
    "InputError",
    "WeakPrivacyWarning",
    "Words",
    "as_float",
    "has_failed",
    "in_quotes",
    "is_short",
    "is_whole",
    "lacks_memory",
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

    def told(self, face: Face = PYTHON) -> str:
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
