"""The command: arguments to source to question to printed release."""

import contextlib
import io
import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command; exit with 0, 2 (can be mended), 130 (interrupted) or 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # items may be any Unicode, terminals may not
            stream.reconfigure(errors="backslashreplace")
    try:
        status = exit_status()
    except KeyboardInterrupt:  # before anything was parsed
        sys.stderr.write("shortlist: interrupted; nothing was released.\n")
        status = 130
    # All is printed and saved: taking the libraries down in order would cost 0.2 s.
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def exit_status() -> int:
    """Parse, answer, complain; the exit status."""
    from shortlist.cli.answer import answer
    from shortlist.cli.commands import app
    from shortlist.cli.failure import INTERRUPTED, complain, diagnosis
    from shortlist.cli.request import Request

    try:
        asked = app(prog_name="shortlist", standalone_mode=False)
        if isinstance(asked, Request):
            answer(asked)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - every text of another's might quote the data
        message, status = diagnosis(error)
        if message:
            complain(message)
        return status
    if asked == INTERRUPTED:  # while the arguments were looked at
        complain(diagnosis(KeyboardInterrupt())[0])
    return asked if isinstance(asked, int) else 0
