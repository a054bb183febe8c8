"""The shared server of webhooks, as a process of its own: scenarios name its fixed ports."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.paths import shared_folder

PORT = 18443
START_SECONDS = 20.0


@contextmanager
def hook_server() -> Iterator[Path]:
    """The file with its authority, while it runs. One that runs already is used."""
    folder = Path(tempfile.gettempdir(), "celadon-hook-server")
    tool = shared_folder() / "tools" / "hookserver.py"
    running = None
    if not _listens():
        command = [sys.executable, str(tool), "--port", str(PORT), "--tls-dir", str(folder)]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_SECONDS
        while not _listens():
            assert time.monotonic() < end, "the hook server does not start"
            time.sleep(0.05)
        yield folder / "ca.pem"
    finally:
        if running is not None:
            running.terminate()
            running.wait()


def bundle(authority: Path) -> str:
    """As a `caBundle`."""
    return base64.b64encode(authority.read_bytes()).decode()


def _listens() -> bool:
    try:
        socket.create_connection(("127.0.0.1", PORT), 1.0).close()
    except OSError:
        return False
    return True
