"""`celadon serve` as a process, and a client that trusts what its kubeconfig says."""

from __future__ import annotations

import base64
import http.client
import json
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


CELADON = (sys.executable, "-m", "celadon")


def command(*arguments: str, program: Sequence[str] = CELADON) -> list[str]:
    return [*program, "serve", "--listen", "127.0.0.1:0", *arguments]


class Served:
    """A running process, and a client that trusts what its kubeconfig says."""

    def __init__(
        self, folder: Path, *arguments: str, before: Callable[[], None] | None = None
    ) -> None:
        """`before` is called in the process before it begins."""
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.log = folder / "log"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                command("--kubeconfig-out", str(self.kubeconfig), *arguments),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=before,
            )
        assert self.process.stdout is not None
        self.lines = [self.process.stdout.readline() for _ in range(3)]
        config = json.loads(self.kubeconfig.read_text())
        self.token = config["users"][0]["user"]["token"]
        self.address = config["clusters"][0]["cluster"]["server"].removeprefix("https://")
        self.tls = ssl.create_default_context()
        (folder / "ca.crt").write_bytes(self.trusted())
        self.tls.load_verify_locations(folder / "ca.crt")

    def trusted(self) -> bytes:
        """What the kubeconfig says now (PEM)."""
        cluster = json.loads(self.kubeconfig.read_text())["clusters"][0]["cluster"]
        return base64.b64decode(cluster["certificate-authority-data"])

    def connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self.address, timeout=60, context=self.tls)

    def call(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        connection = self.connection()
        connection.request(method, path, _body(body), request_headers(token or self.token))
        answer = connection.getresponse()
        found = answer.status, json.loads(answer.read())
        connection.close()
        return found

    def text(self, path: str) -> tuple[int, str]:
        """What is got there, as it is."""
        connection = self.connection()
        connection.request("GET", path, headers=request_headers(self.token))
        answer = connection.getresponse()
        found = answer.status, answer.read().decode()
        connection.close()
        return found

    def logged(self) -> list[Any]:
        """The lines of the log so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(60)


def _body(body: Any) -> bytes | None:
    return None if body is None else json.dumps(body).encode()


def request_headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
