"""Whether a library failed since memory is short."""

import re

__all__ = ["lacks_memory"]

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
