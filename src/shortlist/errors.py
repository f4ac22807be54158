"""The one error that a caller can mend, the one warning, and what their messages need."""

import difflib
import math
import numbers
import re
from collections.abc import Iterable


class InputError(ValueError):
    """Something the caller wrote cannot be used; the message says what, the rule and the remedy.

    A message holds only what the caller wrote and what is public: never a row, an item or a count.
    """


class WeakPrivacyWarning(UserWarning):
    """The question is answered as asked, with a guarantee so weak that it protects next to nobody.

    Silence it, where that is meant, by `warnings.simplefilter("ignore", sl.WeakPrivacyWarning)`.
    """


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
    """The text as the caller wrote it; of a URL nothing, since a password may be anywhere in it.

    >>> shown("items"), shown("postgresql://reader:secret@db.example.org/shop")
    ('items', '…://…')
    """
    return "…://…" if "://" in text else text


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint at the known name that resembles `name` most, or nothing.

    >>> nearest("usr", ["user", "item"])
    ' Did you mean "user"?'
    """
    matches = difflib.get_close_matches(name, list(names), n=1)
    return f' Did you mean "{matches[0]}"?' if matches else ""


def written(value: object) -> str:
    """What the caller wrote, if it is so small that no data can be in it, or else its type.

    >>> written(42), written("peeling"), written([1, 2])
    ('42', "'peeling'", 'a value of type list')
    """
    if isinstance(value, str):
        return repr(shown(value))
    if value is None or isinstance(value, numbers.Number):
        return repr(value)
    return value.__name__ if isinstance(value, type) else f"a value of type {type(value).__name__}"


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
