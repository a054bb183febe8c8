"""The shared server of webhooks, as a process of its own: scenarios name its fixed ports."""

from __future__ import annotations

import base64
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.paths import shared_folder

PORT = 18443
START_SECONDS = 60.0


@contextmanager
def hook_server() -> Iterator[Path]:
    """The file with its authority, while it runs. All that want it at once use the same one, and
    whoever is the last to leave ends it."""
    folder = Path(tempfile.gettempdir(), "celadon-hook-server")
    folder.mkdir(exist_ok=True)
    with (folder / "users").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        if not _listens():
            _start(folder)
        try:
            end = time.monotonic() + START_SECONDS
            while not _listens():
                assert time.monotonic() < end, "the hook server does not start"
                time.sleep(0.05)
            yield folder / "ca.pem"
        finally:
            with suppress(BlockingIOError, ProcessLookupError, FileNotFoundError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.kill(int((folder / "pid").read_text()), signal.SIGTERM)
                (folder / "pid").unlink()


def _start(folder: Path) -> None:
    """In a process that may outlive this one."""
    tool = shared_folder() / "tools" / "hookserver.py"
    command = [sys.executable, str(tool), "--port", str(PORT), "--tls-dir", str(folder)]
    in_background = '"$@" > /dev/null 2>&1 & echo $! > "$0"'
    subprocess.run(["sh", "-c", in_background, str(folder / "pid"), *command], check=True)


def bundle(authority: Path) -> str:
    """As a `caBundle`."""
    return base64.b64encode(authority.read_bytes()).decode()


def _listens() -> bool:
    try:
        socket.create_connection(("127.0.0.1", PORT), 1.0).close()
    except OSError:
        return False
    return True
