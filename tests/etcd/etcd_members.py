"""Clusters of etcd that tests start and end.

The program is that of `.venv/bin` (`make test` puts it there) or of the PATH. Where there is none,
tests are skipped. Data is in memory (`/dev/shm`) where that exists: what is tested here is not the
disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

QUICK: Final = ("--heartbeat-interval", "20", "--election-timeout", "200")
"""Milliseconds: elections within the time that a test may take, on a busy machine."""

ONE_QUICK: Final = ("--heartbeat-interval", "5", "--election-timeout", "25")
"""For a cluster of one, which always wins."""

START_SECONDS: Final = 60.0


def etcd_program() -> str:
    """Skips the test where there is none."""
    beside = Path(sys.executable).parent / "etcd"
    found = str(beside) if beside.exists() else shutil.which("etcd")
    if found is None:
        pytest.skip("etcd is not installed: `apt-get install etcd-server`")
    return found


def free_ports(number: int) -> list[int]:
    """That were free a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def memory_folder() -> tempfile.TemporaryDirectory[str]:
    """In memory where that is possible."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # as its docstring says
    return tempfile.TemporaryDirectory(prefix="celadon-etcd-", dir=where)


@dataclass
class Member:
    """One process, which may be killed, stopped and started again with the same data."""

    name: str
    client_url: str
    arguments: Sequence[str]
    log: Path
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        """Does not wait until it is ready."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=log)

    def signal(self, number: int) -> None:
        """To the process, if there is one."""
        if self.process is not None:
            self.process.send_signal(number)

    def kill(self) -> None:
        """As if the machine had failed."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def has_ended(self) -> bool:
        """By itself, or killed."""
        return self.process is None or self.process.poll() is not None

    def is_healthy(self) -> bool:
        """Whether it answers, and knows a leader. Not with TLS."""
        try:
            with urllib.request.urlopen(
                f"{self.client_url}/health", timeout=1
            ) as answer:  # loopback
                return b'"true"' in answer.read()
        except OSError:
            return False

    def leads(self) -> bool:
        """By its own account."""
        try:
            with urllib.request.urlopen(f"{self.client_url}/metrics", timeout=1) as answer:
                return b"\netcd_server_is_leader 1" in answer.read()
        except OSError:
            return False

    def ask(self, path: str, body: object) -> Any:
        """What its JSON interface answers; the call must succeed."""
        url = f"{self.client_url}/v3/{path}"
        request = urllib.request.Request(url, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            return json.load(answer)

    def wait(self, seconds: float = START_SECONDS) -> None:
        """Until it is healthy."""
        end = time.monotonic() + seconds
        while not self.is_healthy():
            if self.has_ended() or time.monotonic() > end:
                raise RuntimeError(f"etcd does not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.02)


@dataclass(frozen=True)
class Cluster:
    """Of members that know each other."""

    members: Sequence[Member]

    @property
    def urls(self) -> str:
        """As `--etcd-servers` wants them."""
        return ",".join(one.client_url for one in self.members)

    def start(self) -> None:
        """Returns when all are healthy."""
        for one in self.members:
            one.start()
        for one in self.members:
            one.wait()

    def end(self) -> None:
        """Nothing is left but files."""
        for one in self.members:
            one.signal(signal.SIGCONT)
            one.kill()


@contextlib.contextmanager
def cluster(
    size: int = 1, options: Sequence[str] | None = None, folder: Path | None = None
) -> Iterator[Cluster]:
    """Healthy when it comes; its data goes with it, unless a folder is given."""
    if options is None:
        options = ONE_QUICK if size == 1 else QUICK
    with memory_folder() as made:
        found = planned_cluster(size, options, folder or Path(made))
        try:
            found.start()
            yield found
        finally:
            found.end()


def planned_cluster(
    size: int,
    options: Sequence[str],
    folder: Path,
    hosts: Sequence[str] = (),
    before: Sequence[Sequence[str]] = (),
) -> Cluster:
    """Not yet started. `hosts` are where members listen, if not on loopback; `before` is for each
    what its command begins with."""
    program, ports = etcd_program(), free_ports(2 * size)
    names = [f"m{number}" for number in range(size)]
    hosts = hosts or ("127.0.0.1",) * size
    clients = [f"http://{host}:{port}" for host, port in zip(hosts, ports[:size], strict=True)]
    peers = [f"http://{host}:{port}" for host, port in zip(hosts, ports[size:], strict=True)]
    everybody = ",".join(f"{name}={peer}" for name, peer in zip(names, peers, strict=True))
    return Cluster(
        [
            Member(
                name,
                client,
                [
                    *first,
                    *(program, "--name", name, "--data-dir", str(folder / name)),
                    *("--listen-client-urls", client, "--advertise-client-urls", client),
                    *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                    *("--initial-cluster", everybody, "--log-level", "error", *options),
                ],
                folder / f"{name}.log",
            )
            for name, client, peer, first in zip(
                names, clients, peers, before or ((),) * size, strict=True
            )
        ]
    )
