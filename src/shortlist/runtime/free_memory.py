"""How much memory this process may still take, about."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_WHERE_NOTHING_TELLS = 2**30
# Of a control group: the limit, and what its processes hold; in Linux of today, and before.
_GROUPS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Bytes: the least of what the system, a container and a limit of this process leave."""
    return max(min(_told(), default=_WHERE_NOTHING_TELLS), 0)


def _told() -> Iterable[int]:
    yield from _left_in_system()
    for limit, held in _GROUPS:
        with suppress(OSError, ValueError):  # there is none, or it has no limit
            folder = Path("/sys/fs/cgroup")
            yield int((folder / limit).read_text()) - int((folder / held).read_text())
    yield from _left_of_address_space()


def _left_in_system() -> Iterable[int]:
    with suppress(OSError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        yield from (int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
        return
    with suppress(AttributeError, ValueError, OSError):  # other systems tell no more than all
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _left_of_address_space() -> Iterable[int]:
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        with suppress(OSError):
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield limit - pages * os.sysconf("SC_PAGE_SIZE")
