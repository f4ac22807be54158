"""Charts as pictures, drawn by another process: what aborts that one loses nothing of this one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["drawn"]

_PATIENCE = 120.0  # seconds for what takes one or two
# vl-convert brings V8, which reserves so much address space that it aborts where that is limited.
# Nothing is imported from the working folder (-I), and the libraries from where they are here.
_DRAWING = """
import json, sys
given = json.load(sys.stdin)
sys.path[:] = given["path"]
import vl_convert
json.dump([vl_convert.vegalite_to_svg(chart) for chart in given["charts"]], sys.stdout)
"""


def drawn(charts: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Charts, in the words of Vega-Lite, as SVG; None if they cannot be drawn, for any reason."""
    if getattr(sys, "frozen", False):  # a program of its own, which is no Python to be run
        return None
    given = json.dumps({"path": sys.path, "charts": list(charts)})
    try:
        done = subprocess.run(  # noqa: S603 - this Python, with these words
            [sys.executable, "-I", "-c", _DRAWING],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
            timeout=_PATIENCE,
        )
        pictures: list[str] = json.loads(done.stdout)
    except (OSError, MemoryError, ValueError, subprocess.SubprocessError):
        return None
    return pictures
