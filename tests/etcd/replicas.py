"""`celadon serve` on etcd, as processes that may be killed and stopped."""

from __future__ import annotations

import http.client
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.apiserver.served_process import command
from tests.etcd.etcd_members import free_ports

PATIENCE = 90.0


class Replica:
    """`credentials` is the folder that all replicas share."""

    def __init__(self, name: str, etcd: str, credentials: Path) -> None:
        self.name = name
        (port,) = free_ports(1)
        self.address = f"127.0.0.1:{port}"
        self._credentials = credentials
        self._log = credentials.with_name(f"{name}.log")
        self._arguments = [
            *("--plain-http", "--listen", self.address, "--etcd-servers", etcd),
            *("--credentials", str(credentials)),
            *("--kubeconfig-out", str(credentials.with_name(f"{name}.kubeconfig"))),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def token(self) -> str:
        """The administrator's."""
        return (self._credentials / "admin.token").read_text()

    def start(self) -> None:
        """Does not wait until it is ready."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command(*self._arguments), stdout=subprocess.DEVNULL, stderr=log
            )

    def wait(self) -> None:
        """Until it is ready."""
        end = time.monotonic() + PATIENCE
        while not self.is_ready():
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > end:
                raise RuntimeError(f"{self.name} does not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.1)

    def is_ready(self) -> bool:
        """By its own account."""
        connection = self.connection(1.0)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def connection(self, seconds: float) -> http.client.HTTPConnection:
        """Which gives up after so long without an answer."""
        return http.client.HTTPConnection(self.address, timeout=seconds)

    def signal(self, number: int) -> None:
        """To the process, if there is one."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """As if the machine had failed."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def replicas(number: int, etcd: str, folder: Path) -> Any:
    """Ready; killed in the end."""
    made = [Replica(f"replica{one}", etcd, folder / "credentials") for one in range(number)]
    try:
        for one in made:  # one after the other: the first makes the keys
            one.start()
            one.wait()
        yield made
    finally:
        end(made)


def end(several: Iterable[Replica]) -> None:
    """Also those that are stopped."""
    for one in several:
        one.signal(signal.SIGCONT)
        one.kill()
