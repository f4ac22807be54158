"""The one error that a caller can fix, the one warning, and what their messages need."""

import difflib
import math
import numbers
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

SPENT = "Count the budget as spent."
"""The last sentence of a refusal after rows were read: that it came may depend on the rows."""

_LONGEST = 200  # characters of what the caller wrote that a message repeats at most


class InputError(ValueError):
    """Something the caller wrote cannot be used; the message says what, the rule and the remedy.

    A message holds only what the caller wrote and what is public: never a row, an item or a count.

    Attributes:
        before_rows: Whether it is certain that no row had been read, though rows were about to be.
    """

    before_rows: bool = False


class WeakPrivacyWarning(UserWarning):
    """The question is answered as asked, with a guarantee so weak that it protects next to nobody.

    If that is intended, silence it by `warnings.simplefilter("ignore", sl.WeakPrivacyWarning)`.
    """


@contextmanager
def spending() -> Iterator[None]:
    """Where rows are read: whatever fails here may have been decided by them, and says so.

    >>> with spending():
    ...     raise InputError("a row cannot be read.")
    Traceback (most recent call last):
    shortlist.errors.InputError: a row cannot be read. Count the budget as spent.
    """
    try:
        yield
    except InputError as error:
        if not (error.before_rows or says_spent(error)):
            error.args = (f"{error} {SPENT}",)
        raise
    except BaseException as error:
        if not says_spent(error):
            error.add_note(SPENT)
        raise


def says_spent(error: BaseException) -> bool:
    """Whether it was raised where rows are read."""
    return SPENT in str(error) or SPENT in getattr(error, "__notes__", ())


_NO_MEMORY = re.compile(
    r"os error 1[12]\b|out of memory|memory allocation|allocate memory|resource temporarily"
    r"|start new thread|spawn|thread ?pool|map segment|cannot map",
    re.IGNORECASE,
)


def lacks_memory(error: BaseException) -> bool:
    """Whether a library failed since memory is short, a thread that cannot be started included.

    Told by the words of errors that quote no data: of the system, of Python, of a panic in Rust.

    >>> lacks_memory(OSError("Cannot allocate memory (os error 12)")), lacks_memory(OSError())
    (True, False)
    """
    if isinstance(error, MemoryError):
        return True
    quotes_nothing = isinstance(error, OSError | ImportError | RuntimeError)
    panicked = type(error).__name__ == "PanicException"  # of whichever library has its own
    return (quotes_nothing or panicked) and bool(_NO_MEMORY.search(str(error)))


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


def named(argument: str, text: str) -> str:
    r"""The argument with the text given to it, for a message.

    >>> named("item", "title"), named("data", "a\nb")
    ('item="title"', 'data="…"')
    """
    return f'{argument}="{shown(text)}"'


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint at the known name that resembles `name` most, or nothing.

    >>> nearest("usr", ["user", "item"])
    ' Did you mean "user"?'
    """
    matches = difflib.get_close_matches(name, list(names), n=1)
    return f' Did you mean "{shown(matches[0])}"?' if matches else ""


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


def is_whole(value: object) -> bool:
    """Whether `value` is a whole number of any library; True and False are none."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def as_float(value: object) -> float:
    """The value as a float; NaN, which no condition holds for, if it is no number."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
