"""Servers as processes: started, ready, and what they use of processor and memory."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

from celadon.cli.envtest.asset_folders import AssetVersion, make_folder

_TICKS: Final = os.sysconf("SC_CLK_TCK")
TOKEN: Final = "bench-token"
_READY: Final = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """`ready_seconds` is the time from the start of Python to the first answer that it is ready,
    `ready_cpu` what it computed until then."""

    pid: int
    port: int
    ready_seconds: float
    ready_cpu: float
    tls: bool = False

    def cpu_seconds(self) -> float:
        """Of the processor, by all its threads, since it was started."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def peak_bytes(self) -> int:
        """The most memory it has had."""
        return self._memory("VmHWM:")

    def resident_bytes(self) -> int:
        """The memory it has now."""
        return self._memory("VmRSS:")

    def _memory(self, which: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(which):
                return int(line.split()[1]) * 1024
        raise ValueError(f"no {which}")


@contextlib.contextmanager
def celadon(folder: Path, *arguments: str) -> Iterator[ServerProcess]:
    """`celadon serve` over plain HTTP with an administrator's token, unless told otherwise."""
    tokens = str(_tokens(folder))
    with _process(
        "celadon", "serve", "--plain-http", "--token-auth-file", tokens, *arguments
    ) as server:
        yield server


def _tokens(folder: Path) -> Path:
    tokens = folder / "tokens.csv"
    tokens.write_text(f'{TOKEN},admin,1,"system:masters"\n')
    return tokens


@contextlib.contextmanager
def stand_in(folder: Path) -> Iterator[ServerProcess]:
    """`kube-apiserver` of `celadon envtest`, told what test servers tell it, over TLS."""
    assets = make_folder(folder, AssetVersion(1, 36, 0))
    port = _free_port()
    command = (
        str(assets / "kube-apiserver"),
        *("--bind-address=127.0.0.1", f"--secure-port={port}", f"--cert-dir={folder / 'certs'}"),
        *("--authorization-mode=RBAC", "--etcd-servers=http://127.0.0.1:1"),
        *("--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount"),
    )
    with _running(command, port, _is_ready_over_tls) as server:
        yield server


@contextlib.contextmanager
def secure_celadon(folder: Path, *arguments: str) -> Iterator[ServerProcess]:
    """`celadon serve` as it is by default, over TLS, with an administrator's token."""
    port = _free_port()
    command = (
        *(sys.executable, "-m", "celadon", "serve", "--listen", f"127.0.0.1:{port}"),
        *("--token-auth-file", str(_tokens(folder)), *arguments),
    )
    with _running(command, port, _is_ready_over_tls) as server:
        yield server


@contextlib.contextmanager
def kube_apiserver(
    folder: Path, program: Path, etcd: Path
) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """kube-apiserver with the same tokens, and the etcd of its own that it keeps objects in."""
    client, peer, port = (_free_port() for _ in range(3))
    kept, key = folder / "etcd", folder / "accounts.key"
    subprocess.run(("openssl", "genrsa", "-out", str(key), "2048"), check=True, capture_output=True)
    command = (
        *(str(etcd), "--data-dir", str(kept), "--log-level=error"),
        *(f"--listen-client-urls=http://127.0.0.1:{client}",),
        *(f"--advertise-client-urls=http://127.0.0.1:{client}",),
        *(f"--listen-peer-urls=http://127.0.0.1:{peer}",),
        *(f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",),
        *(f"--initial-cluster=default=http://127.0.0.1:{peer}",),
        "--experimental-watch-progress-notify-interval=5s",
    )
    served = (
        *(str(program), f"--secure-port={port}", "--bind-address=127.0.0.1"),
        *(f"--etcd-servers=http://127.0.0.1:{client}", f"--cert-dir={folder / 'kube-certs'}"),
        *(f"--token-auth-file={_tokens(folder)}", "--authorization-mode=RBAC"),
        *("--service-account-issuer=https://kubernetes.default.svc",),
        *(f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}"),
        "--service-cluster-ip-range=10.0.0.0/24",
    )
    with (
        _running(command, client, _listens) as store,
        _running(served, port, _is_ready_over_tls) as server,
    ):
        yield server, store


@contextlib.contextmanager
def bare(answer: Path) -> Iterator[ServerProcess]:
    """The same HTTP server with a handler that gives the bytes in a file to everybody."""
    with _process("bench.server.bare", "--file", str(answer)) as server:
        yield server


@contextlib.contextmanager
def bare_store(folder: Path) -> Iterator[ServerProcess]:
    """The same HTTP server over TLS and the same store, without anything of Kubernetes."""
    certificate, key, port = folder / "bare.crt", folder / "bare.key", _free_port()
    subprocess.run(
        (
            *("openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-subj", "/CN=localhost"),
            *("-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-keyout", str(key), "-out", str(certificate)),
        ),
        check=True,
        capture_output=True,
    )
    command = (
        *(sys.executable, "-m", "bench.server.bare", "--data", str(folder / "bare.db")),
        *("--certificate", str(certificate), str(key), "--listen", f"127.0.0.1:{port}"),
    )
    with _running(command, port, _is_ready_over_tls) as server:
        yield server


@contextlib.contextmanager
def _process(module: str, *arguments: str) -> Iterator[ServerProcess]:
    port = _free_port()
    listen = ("--listen", f"127.0.0.1:{port}")
    command: Sequence[str] = (sys.executable, "-m", module, *arguments, *listen)
    with _running(command, port, _is_ready) as server:
        yield server


@contextlib.contextmanager
def _running(
    command: Sequence[str], port: int, is_ready: Callable[[int], bool]
) -> Iterator[ServerProcess]:
    start = perf_counter()
    process = subprocess.Popen(
        command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        while not is_ready(port):
            if process.poll() is not None:
                raise ValueError(f"{' '.join(command)} has ended")
        tls = is_ready is _is_ready_over_tls
        server = ServerProcess(process.pid, port, perf_counter() - start, 0.0, tls)
        yield replace(server, ready_cpu=server.cpu_seconds())
    finally:
        process.terminate()
        process.communicate()


def _environment() -> dict[str, str]:
    """Python keeps its compiled modules, as those of an installed Celadon are."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _is_ready(port: int) -> bool:
    """Whether it says so itself."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
            return _says_so(plain)
    except OSError:
        sleep(0.001)
        return False


def _is_ready_over_tls(port: int) -> bool:
    """The same, whatever certificate it shows."""
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
            ANY_SERVER.wrap_socket(plain) as secure,
        ):
            return _says_so(secure)
    except OSError:
        sleep(0.001)
        return False


def _listens(port: int) -> bool:
    """Whether anybody does."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        sleep(0.001)
        return False
    return True


def _says_so(connection: socket.socket) -> bool:
    connection.sendall(_READY)
    return connection.recv(64).startswith(b"HTTP/1.1 200")


ANY_SERVER: Final = ssl._create_unverified_context()
