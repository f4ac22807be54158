"""What is mounted where, as far as can be seen: on it hangs whether locks and journals hold."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["is_mount_point", "network_filesystem"]

_NETWORK = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "coda", "ncpfs", "9p", "ceph", "glusterfs"),
    *("lustre", "gpfs", "beegfs", "orangefs", "pvfs2", "davfs", "webdav", "prl_fs", "vboxsf"),
    *("fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.ceph", "fuse.rclone"),
    *("fuse.davfs", "fuse.blobfuse", "fuse.blobfuse2", "fuse.goofys", "fuse.juicefs"),
}
_MOUNTS = Path("/proc/self/mounts")


class _Mount(NamedTuple):
    place: str
    kind: str


def network_filesystem(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The kind of the network file system that a path is on; None if none can be seen.

    Args:
        path: It need not exist.
        mounts: What is mounted where, as Linux tells it. Other systems tell nothing.
    """
    target = os.path.realpath(path)
    if target.startswith(("\\\\", "//")):
        return "a share"
    best, found = "", None
    for folder, kind in _mounted(mounts) or []:
        inside = target == folder or target.startswith(f"{folder.rstrip('/')}/")
        if inside and len(folder) >= len(best):  # of the same place, the last mount counts
            best, found = folder, kind
    return found if found in _NETWORK else None


def is_mount_point(file: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a file is mounted by itself, as containers do it, and not with its folder.

    Args:
        file: It exists.
        mounts: As of `network_filesystem`. Where nothing is told, another device is looked for.
    """
    mounted = _mounted(mounts)
    if mounted is None:
        return os.path.ismount(file)
    return os.path.realpath(file) in {mount.place for mount in mounted}


def _mounted(mounts: Path) -> list[_Mount] | None:
    """The mounts in the order of the file; None where there is no such file.

    Linux ends a line with a line feed and a field with a space, and writes these two within a
    field as numbers. All else is part of a path, even what Unicode takes for a space or a line end.
    """
    try:
        text = mounts.read_bytes().decode(errors="surrogateescape")  # no line end is translated
    except OSError:
        return None
    rows = (line.split(" ") for line in text.split("\n"))
    return [_Mount(_unescaped(row[1]), row[2]) for row in rows if len(row) >= 3]


def _unescaped(place: str) -> str:
    r"""The path that Linux writes with the numbers of spaces and the like.

    >>> _unescaped(r"/mnt/far\040away")
    '/mnt/far away'
    """
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), place)
