"""A server without TLS in a process of its own, on data that outlives it."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.apiserver.served_process import CELADON, command

PATIENCE = 120.0
"""Seconds after which something is wrong."""


class Process:
    """Ready when it is made."""

    def __init__(self, data: Path, *arguments: str, program: Sequence[str] = CELADON) -> None:
        """`program` is what has Celadon's commands."""
        self._process = subprocess.Popen(
            command("--plain-http", "--data", str(data), *arguments, program=program),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        found = re.search(r"at http://(.*)$", self._process.stdout.readline())
        assert found is not None, "the server does not start"
        self.address = found[1]
        for _ in range(2):
            self._process.stdout.readline()
        folder = Path(f"{data}.credentials")
        self.token = (folder / "admin.token").read_text()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def memory(self) -> int:
        """Resident, in bytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
        return int(kilobytes) << 10

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address, timeout=PATIENCE)

    def end(self, number: signal.Signals) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.send_signal(number)
        self._process.wait(PATIENCE)
