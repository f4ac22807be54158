"""Which file systems are of another machine, whose locks do not hold, as far as can be seen."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["network_filesystem"]

_NETWORK = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "coda", "ncpfs", "9p", "ceph", "glusterfs"),
    *("lustre", "gpfs", "beegfs", "orangefs", "pvfs2", "davfs", "webdav", "prl_fs", "vboxsf"),
    *("fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.ceph", "fuse.rclone"),
    *("fuse.davfs", "fuse.blobfuse", "fuse.blobfuse2", "fuse.goofys", "fuse.juicefs"),
}
_MOUNTS = Path("/proc/self/mounts")


def network_filesystem(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The kind of the network file system that a path is on; None if none can be seen.

    Args:
        path: It need not exist.
        mounts: What is mounted where, as Linux tells it. Other systems tell nothing.
    """
    target = os.path.realpath(path)
    if target.startswith(("\\\\", "//")):
        return "a share"
    try:
        lines = mounts.read_text(errors="replace").splitlines()
    except OSError:
        return None
    best, found = "", None
    for _, place, kind, *_ in map(str.split, lines):
        folder = place.replace(r"\040", " ")
        inside = target == folder or target.startswith(f"{folder.rstrip('/')}/")
        if inside and len(folder) >= len(best):  # of the same place, the last mount counts
            best, found = folder, kind
    return found if found in _NETWORK else None
