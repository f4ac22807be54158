"""The command: arguments to source to question to printed release."""

import contextlib
import gc
import io
import os
import sys
from functools import partial
from pathlib import Path
from typing import NoReturn

from shortlist.cli import limited_memory
from shortlist.runtime.processes import remove_private_folders

__all__ = ["main"]

# New objects after which cycles are looked for. Loading libraries makes about 200,000 that
# stay, and to look through them time and again would take a tenth of the time of a short command.
_LOOK_FOR_CYCLES = 300_000


def main() -> NoReturn:
    """Run the command; exit with 0, 2 (the input can be fixed), 130 (interrupted) or 1."""
    gc.set_threshold(_LOOK_FOR_CYCLES)
    closed = _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # items may be any Unicode, terminals may not
            stream.reconfigure(errors="backslashreplace")
    run = partial(_run, can_print="stdout" not in closed)
    status = limited_memory.watched(run) if limited_memory.is_limited() else run()
    remove_private_folders()
    # All is printed and saved: taking the libraries down in order would cost 0.2 s.
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def _run(*, can_print: bool) -> int:
    try:
        return exit_status(can_print=can_print)
    except KeyboardInterrupt:  # before anything was parsed
        sys.stderr.write("shortlist: interrupted; nothing was released.\n")
        return 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _open_closed_streams() -> list[str]:
    """Let the streams that the caller has closed lead nowhere; their names."""
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:  # in the order of their numbers: no other file may get one
        setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))  # noqa: SIM115
    return closed


def exit_status(*, can_print: bool = True) -> int:
    """Parse, answer, complain; the exit status."""
    from shortlist.cli.commands import app
    from shortlist.cli.completing import prepare as prepare_completion
    from shortlist.cli.failure import INTERRUPTED, complain, diagnosis, noting
    from shortlist.cli.request import Request
    from shortlist.errors import InputError, Words

    asked = None
    try:
        prepare_completion()
        asked = app(prog_name="shortlist", standalone_mode=False)
        if asked == INTERRUPTED:  # while the arguments were looked at
            raise KeyboardInterrupt  # noqa: TRY301 - reported below as any other
        if not (can_print or (isinstance(asked, Request) and asked.saves())):
            saves = Words(", or save the answer by {output}" if isinstance(asked, Request) else "")
            raise InputError(  # noqa: TRY301
                "standard output is closed, so that nothing can be printed",
                "open it{saves}",
                saves=saves,
            )
        if isinstance(asked, Request):
            from shortlist.cli.publishing import answer

            with noting():
                answer(asked)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - every text of another's might quote the data
        message, status = diagnosis(error)
        if message:
            complain(message)
        if isinstance(error, InputError) and isinstance(asked, Request) and asked.configured():
            complain(asked.blamed(error.argument))
        return status
    return asked if isinstance(asked, int) else 0
