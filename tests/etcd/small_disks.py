"""Members of etcd on disks of their own, each of which can be full.

Needs root: a disk is a file system in memory (tmpfs) with a size, which becomes what is used. From
then on the kernel refuses each page more that a member wants to write (ENOSPC).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_ROOM = 2**31
"""Bytes; taken from memory only when something is written."""


@dataclass(frozen=True)
class Disk:
    """Mounted at `folder`."""

    folder: Path

    def fill(self) -> None:
        """Nothing more can be written. The member may write while it is asked what is used: a disk
        cannot become smaller than that."""
        while True:
            found = os.statvfs(self.folder)
            with contextlib.suppress(subprocess.CalledProcessError):
                self._resize((found.f_blocks - found.f_bfree) * found.f_frsize)
                return

    def empty(self) -> None:
        """There is room as before."""
        self._resize(_ROOM)

    def _resize(self, size: int) -> None:
        _run("mount", "-o", f"remount,size={size}", str(self.folder))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def can_mount() -> bool:
    """Whether this process may."""
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError, ValueError):
        command = ("mount", "-t", "tmpfs", "none", folder)
        if subprocess.run(command, capture_output=True).returncode:
            return False
        return not subprocess.run(("umount", folder), capture_output=True).returncode
    return False


@contextlib.contextmanager
def disks(folders: Sequence[Path]) -> Iterator[Sequence[Disk]]:
    """Folders that are made here, each a disk; gone afterwards."""
    with contextlib.ExitStack() as stack:
        for folder in folders:
            folder.mkdir()
            _run("mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "none", str(folder))
            stack.callback(_run, "umount", "-l", str(folder))
        yield [Disk(folder) for folder in folders]
