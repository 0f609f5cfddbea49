"""Where a file of SQLite must not lie: file systems that several machines share."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from riemdp._errors import LedgerUnavailableError, NetworkFileSystemError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What the system says is mounted where; there is no such file beside Linux.
_MOUNTS = Path("/proc/self/mounts")
#: Types under which another machine may hold the same file, so that locks and the order of writes
#: cannot be relied on. Of what runs in user space ("fuse.sshfs") nobody knows: refused as well.
# fmt: off
_SHARED = frozenset({
    "9p", "acfs", "afp", "afpfs", "afs", "autofs", "beegfs", "ceph", "cephfs", "cifs", "coda",
    "curlftpfs", "davfs", "davfs2", "fuse", "gfs", "gfs2", "glusterfs", "gpfs", "ibrix",
    "lustre", "moosefs", "ncp", "ncpfs", "nfs", "nfs3", "nfs4", "nfsd", "ocfs2", "orangefs",
    "panfs", "prl_fs", "pvfs2", "quobyte", "shfs", "smb", "smb2", "smb3", "smbfs", "sshfs",
    "vboxsf", "virtiofs", "vmhgfs", "webdav", "wekafs",
})
# fmt: on


def check_local(path: Path) -> None:
    """Refuse a file, by its absolute path, on a network file system; links are followed.

    Known are the mounts of Linux, and on Windows paths that name a machine. Elsewhere nothing is
    refused.
    """
    real = os.path.realpath(path)
    kind = "a share of another machine" if real.startswith("\\\\") else _kind_of_mount(real)
    if kind is not None:
        raise NetworkFileSystemError(
            f"{path.name} lies on {kind}, where SQLite's locks cannot be relied on: two machines "
            "could spend the same budget. Keep it on a local disk, or use PostgreSQL: "
            'Ledger("postgresql+psycopg://...")'
        )


def check_one_name(path: Path) -> None:
    """Refuse a file that has several names, each with a journal of its own beside it.

    What is left over when a process dies under one name would take back, when that is next used,
    what was charged under another. Links are no names: they are followed to the file.
    """
    real = os.path.realpath(path)
    names = os.stat(real).st_nlink if os.path.isfile(real) else 1
    mounted = any(place == real for place, _ in _mounted())
    if names > 1 or mounted:
        what = "is mounted by itself" if mounted else f"has {names} names (hard links)"
        raise LedgerUnavailableError(
            f"{path.name} {what}: a charge under one name could be undone under another. Keep one "
            "name, or mount its folder, and use symbolic links; nothing was charged"
        )


def _mounted() -> Iterator[tuple[str, str]]:
    """Say what is mounted: places and types, in order; nothing where nobody knows."""
    try:
        text = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            yield re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[1]), fields[2]


def _kind_of_mount(real: str) -> str | None:
    """Return the type of the network file system that holds a path, or None."""
    best, kind = "", ""
    for place, type_ in _mounted():
        inside = real == place or real.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):  # of two mounts on one place the later one
            best, kind = place, type_
    shared = kind in _SHARED or kind.startswith("fuse.")
    return f"a {kind} file system" if shared else None
