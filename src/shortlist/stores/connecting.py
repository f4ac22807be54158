"""A connection to a PostgreSQL server, of whose address no message shows anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shortlist.errors import Words
from shortlist.stores.faults import Fault, guarded

if TYPE_CHECKING:
    import psycopg

__all__ = ["connector", "why"]


def connector(url: str, subject: Words) -> Callable[[], psycopg.Connection[Any]]:
    """How to connect. The address is known to the function alone, and no attribute shows it.

    Args:
        url: As libpq takes it.
        subject: What messages call it by.
    """

    def connect() -> psycopg.Connection[Any]:
        import psycopg

        return psycopg.connect(
            url,
            autocommit=True,  # transactions begin where they are written
            prepare_threshold=None,  # a pool of connections may be in between
            cursor_factory=psycopg.RawCursor,
            client_encoding="UTF8",
            fallback_application_name="shortlist",
        )

    return lambda: guarded(connect, lambda error: why(error).of(subject))


def why(error: Exception) -> Fault:
    """What is wrong, by the driver's error, of which nothing is quoted."""
    if isinstance(error, ImportError):
        return _NOT_INSTALLED
    from psycopg import OperationalError

    if not isinstance(error, OperationalError):
        return _MISWRITTEN
    # A server gives a code only once a connection stands; before, there are words alone.
    words = f"{type(error).__name__} {getattr(error, 'sqlstate', None) or ''} {error}"
    for pattern, fault in _NOT_CONNECTED.items():
        if re.search(pattern, words, re.IGNORECASE):
            return fault
    return _UNREACHED


_NOT_INSTALLED = Fault(
    Words("is read by psycopg, which is not installed"),
    Words('run pip install "psycopg[binary]"'),
)
_MISWRITTEN = Fault(
    Words("cannot be taken apart"),
    Words(
        "write postgresql://user@host:5432/database, with special characters of user and password "
        "as %40 for @"
    ),
)
_UNREACHED = Fault(
    Words("cannot be connected to"),
    Words("check that the server runs, and its host, port, database, user and password"),
)
_NOT_CONNECTED = {
    r"connection refused|no such file or directory": Fault(
        Words("cannot be connected to: the connection was refused"),
        Words("check that the server runs, and its port"),
    ),
    r"resolve host|translate host name|name or service not known|getaddrinfo": Fault(
        Words("cannot be connected to: the host was not found"), Words("check its name")
    ),
    r"ConnectionTimeout|timed? ?out|timeout expired|no route|unreachable": Fault(
        Words("cannot be connected to: the host did not answer in time"),
        Words("check its name, its port and the network"),
    ),
    r"3D000|database .* does not exist": Fault(
        Words("cannot be connected to: there is no such database"), Words("check its name")
    ),
    r"28P01|28000|password|authentication|role .* does not exist|no pg_hba\.conf entry": Fault(
        Words("cannot be connected to: the server refuses this user or password"),
        Words("check both, and whether the user may connect"),
    ),
    r"53300|too many (clients|connections)|remaining connection slots": Fault(
        Words("cannot be connected to: the server has too many connections"),
        Words("try again later"),
    ),
    r"ssl|certificate": Fault(
        Words("cannot be connected to: an encrypted connection failed"),
        Words("check sslmode and the certificates"),
    ),
}
