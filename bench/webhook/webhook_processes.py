"""The webhooks as processes: Celadon's, FastAPI's, kopf's, each with the same certificate."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.server import processes
from bench.server.processes import ServerProcess
from bench.webhook import reviews
from celadon.apiserver.http import CredentialsFolder

READY_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """A webhook that listens. `path` is where reviews go."""

    process: ServerProcess
    path: str
    tls: ssl.SSLContext


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files in PEM form, and what trusts them."""

    certificate: Path
    key: Path
    trusting: ssl.SSLContext


def new_certificate(folder: Path) -> Certificate:
    """For this machine."""
    kept, now = CredentialsFolder(None), datetime.now(UTC)
    pair = kept.server((), now)
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    trusting = ssl.create_default_context(cadata=kept.authority(now).certificate.decode())
    return Certificate(certificate, key, trusting)


@contextlib.contextmanager
def celadon(folder: Path, tls: Certificate, *arguments: str) -> Iterator[Served]:
    """`celadon webhook` with the twenty policies."""
    policies = folder / "policies.json"
    policies.write_text(json.dumps(reviews.policies()))
    port = _free_port()
    command = (
        *(sys.executable, "-m", "celadon", "webhook", "-f", str(policies)),
        *("--listen", f"127.0.0.1:{port}", "--shutdown-delay-duration", "0s"),
        *("--tls-cert-file", str(tls.certificate), "--tls-private-key-file", str(tls.key)),
        *arguments,
    )
    with _listening(command, port, tls, {}) as process:
        yield Served(process, "/validate", tls.trusting)


@contextlib.contextmanager
def bare(folder: Path, tls: Certificate, answer: bytes) -> Iterator[Served]:
    """The HTTP server of `celadon webhook`, with a handler that gives these bytes to everybody."""
    given, port = folder / "answer", _free_port()
    given.write_bytes(answer)
    command = (
        *(sys.executable, "-m", "bench.server.bare", "--file", str(given)),
        *("--listen", f"127.0.0.1:{port}", "--certificate", str(tls.certificate), str(tls.key)),
    )
    with _listening(command, port, tls, {}) as process:
        yield Served(process, "/validate", tls.trusting)


@contextlib.contextmanager
def fastapi(tls: Certificate) -> Iterator[Served]:
    """FastAPI on uvicorn, with uvloop and httptools; without a log of requests."""
    port = _free_port()
    command = (
        *(sys.executable, "-m", "uvicorn", "bench.webhook.fastapi_peer:app"),
        *("--host", "127.0.0.1", "--port", str(port), "--no-access-log", "--log-level", "error"),
        *("--ssl-certfile", str(tls.certificate), "--ssl-keyfile", str(tls.key)),
    )
    with _listening(command, port, tls, {}) as process:
        yield Served(process, "/validate", tls.trusting)


@contextlib.contextmanager
def kopf(folder: Path, tls: Certificate) -> Iterator[Served]:
    """`kopf run`, with a Celadon server as its cluster."""
    kubeconfig, port = folder / "kubeconfig", _free_port()
    with processes.celadon(folder, "--kubeconfig-out", str(kubeconfig)):
        handlers = Path(__file__).with_name("kopf_peer.py")
        command = (sys.executable, "-m", "kopf", "run", "-A", "--standalone", "-q", str(handlers))
        given = {
            "KUBECONFIG": str(kubeconfig),
            "BENCH_PORT": str(port),
            "BENCH_CERTIFICATE": str(tls.certificate),
            "BENCH_KEY": str(tls.key),
        }
        with _listening(command, port, tls, given) as process:
            yield Served(process, "/images", tls.trusting)


@contextlib.contextmanager
def _listening(
    command: Sequence[str], port: int, tls: Certificate, given: Mapping[str, str]
) -> Iterator[ServerProcess]:
    environment = {**os.environ, **given}
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not _answers(port, tls):
            if process.poll() is not None or time.perf_counter() > began + READY_SECONDS:
                raise ValueError(f"{' '.join(command)} does not start")
            time.sleep(0.05)
        yield ServerProcess(process.pid, port, time.perf_counter() - began, 0.0)
    finally:
        process.kill()
        process.wait()


def _answers(port: int, tls: Certificate) -> bool:
    try:
        with (
            socket.create_connection(("127.0.0.1", port), 5.0) as plain,
            tls.trusting.wrap_socket(plain, server_hostname="127.0.0.1"),
        ):
            return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
