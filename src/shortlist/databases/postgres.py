"""PostgreSQL: its address, of which no message shows anything; connections; and its errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shortlist.databases.faults import Fault, guarded
from shortlist.databases.through_ibis import Expression, as_text
from shortlist.databases.urls import scheme_of
from shortlist.errors import Words

if TYPE_CHECKING:
    import psycopg

LOST = ("08", "57P")
"""How the codes of errors begin by which a connection is lost, or the server is shut down."""


def address_of(url: str) -> str | None:
    """The URL as libpq knows it, by small letters only; None if it is of another database."""
    scheme = scheme_of(url)
    return scheme + url[len(scheme) :] if scheme in ("postgresql", "postgres") else None


def code_of(error: Exception) -> str:
    """The server's code of an error; empty where it never came to tell one."""
    return getattr(error, "sqlstate", None) or ""


def connector(url: str, subject: Words) -> Callable[[], psycopg.Connection[Any]]:
    """How to connect. The address is known to the function alone, and no attribute shows it."""

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


def with_base_types(table: Expression) -> Expression:
    """A table of Ibis with domains as the types that they are over, and CHAR(n) as text.

    Ibis knows no domain, and takes the padding of CHAR(n) for a part of the text. Where the server
    does not answer, the table is as it was: reading it will say why.
    """
    schema = table.schema()
    if not any(dtype.is_unknown() or dtype.is_string() for dtype in schema.values()):
        return table
    backend = table.get_backend()
    try:
        bases = _base_types(backend.con, backend.compile(table))
    except Exception:  # noqa: BLE001 - of Ibis, or of the driver
        return table
    typed = {}
    for (name, dtype), base in zip(schema.items(), bases, strict=True):
        if base.startswith("bpchar") or (dtype.is_unknown() and base == "text"):
            typed[name] = as_text(table[name])
        elif dtype.is_unknown() and not base.isdigit():
            typed[name] = table[name].cast(backend.compiler.type_mapper.from_string(base))
    return table.mutate(**typed) if typed else table


def _base_types(connection: psycopg.Connection[Any], query: str) -> list[str]:
    """The types of a query's columns; enums are text, and others that extensions bring numbers."""
    texts = """
        SELECT oid::int8 FROM pg_type
        WHERE oid::int8 = ANY(%s) AND (typtype = 'e' OR typname = 'citext')"""
    with connection.transaction():
        # Of a domain, the server tells the type below all domains.
        rows = f"SELECT * FROM ({query}) AS held LIMIT 0"  # noqa: S608 - as Ibis writes it
        columns = connection.execute(rows.encode()).description or []
        codes = [column.type_code for column in columns]
        as_texts = {code for (code,) in connection.execute(texts, [codes])}
    return ["text" if column.type_code in as_texts else column.type_display for column in columns]


def why(error: Exception) -> Fault:
    """What is wrong, by the driver's error, of which nothing is quoted."""
    if isinstance(error, ImportError):
        return _NOT_INSTALLED
    from psycopg import OperationalError

    if not isinstance(error, OperationalError):
        return _MISWRITTEN
    # A server gives a code only once a connection stands; before, there are words alone.
    words = f"{type(error).__name__} {code_of(error)} {error}"
    for pattern, fault in _NOT_CONNECTED.items():
        if re.search(pattern, words, re.IGNORECASE):
            return fault
    return _UNREACHED


_NOT_INSTALLED = Fault(
    "is read by psycopg, which is not installed", 'run pip install "psycopg[binary]"'
)
_MISWRITTEN = Fault(
    "cannot be taken apart",
    "write postgresql://user@host:5432/database, with special characters of user and password "
    "as %40 for @",
)
_UNREACHED = Fault(
    "cannot be connected to",
    "check that the server runs, and its host, port, database, user and password",
)
_NOT_CONNECTED = {
    r"connection refused|no such file or directory": Fault(
        "cannot be connected to: the connection was refused",
        "check that the server runs, and its port",
    ),
    r"resolve host|translate host name|name or service not known|getaddrinfo": Fault(
        "cannot be connected to: the host was not found", "check its name"
    ),
    r"ConnectionTimeout|timed? ?out|timeout expired|no route|unreachable": Fault(
        "cannot be connected to: the host did not answer in time",
        "check its name, its port and the network",
    ),
    r"3D000|database .* does not exist": Fault(
        "cannot be connected to: there is no such database", "check its name"
    ),
    r"28P01|28000|password|authentication|role .* does not exist|no pg_hba\.conf entry": Fault(
        "cannot be connected to: the server refuses this user or password",
        "check both, and whether the user may connect",
    ),
    r"53300|too many (clients|connections)|remaining connection slots": Fault(
        "cannot be connected to: the server has too many connections", "try again later"
    ),
    r"ssl|certificate": Fault(
        "cannot be connected to: an encrypted connection failed",
        "check sslmode and the certificates",
    ),
}
