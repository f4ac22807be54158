"""Whether a library failed, and whether that was since memory is short."""

import re

_NO_MEMORY = re.compile(
    r"os error 1[12]\b|out of memory|memory allocation|allocate memory|resource temporarily"
    r"|start new thread|spawn|thread ?pool|map segment|cannot map",
    re.IGNORECASE,
)


def has_failed(error: BaseException) -> bool:
    """Whether this is a failure, and not Ctrl-C or an exit: a panic in Rust is no `Exception`.

    >>> has_failed(ValueError()), has_failed(KeyboardInterrupt())
    (True, False)
    """
    return isinstance(error, Exception) or _has_panicked(error)


def _has_panicked(error: BaseException) -> bool:
    """Whichever library it was: each has an exception of its own of that name."""
    return type(error).__name__ == "PanicException"


def lacks_memory(error: BaseException) -> bool:
    """Whether a library failed since memory is short, a thread that cannot be started included.

    Told by the words of errors that quote no data: of the system, of Python, of a panic in Rust.

    >>> lacks_memory(OSError("Cannot allocate memory (os error 12)")), lacks_memory(OSError())
    (True, False)
    """
    if isinstance(error, MemoryError):
        return True
    quotes_nothing = isinstance(error, OSError | ImportError | RuntimeError)
    return (quotes_nothing or _has_panicked(error)) and bool(_NO_MEMORY.search(str(error)))
