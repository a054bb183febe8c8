"""A cluster with a webhook in two replicas, all of them processes.

In between stands what a Service is in a cluster: each new connection goes to one of the replicas
that accept any.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import json
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.apiserver.served_process import CONFIGMAPS, Served, request_headers

PATIENCE = 120.0
SERVICE = "hook.default.svc"
GROUP = "admissionregistration.k8s.io/v1"
REGISTRATION = f"/apis/{GROUP}"
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
    "operations": ["CREATE"],
}
CONFIGURATION = {
    "apiVersion": GROUP,
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "hooks"},
    "webhooks": [
        {
            "name": "policies.example.com",
            "clientConfig": {
                "service": {"namespace": "default", "name": "hook", "path": "/validate"}
            },
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 10,
            "rules": [RULE],
        }
    ],
}


def policy(name: str, expression: str) -> dict[str, Any]:
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [RULE]},
            "validations": [{"expression": expression, "message": f"not {name}"}],
        },
    }


def binding(name: str) -> dict[str, Any]:
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


class Balancer:
    """Listens in a thread of its own."""

    def __init__(self, ports: list[int]) -> None:
        self._turns = itertools.cycle(ports)
        self._count = len(ports)
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._join, "127.0.0.1", 0)
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(self._count):
            try:
                far = await asyncio.open_connection("127.0.0.1", next(self._turns))
            except OSError:
                continue
            await asyncio.gather(_copy(reader, far[1]), _copy(far[0], writer))
            return
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


@dataclass(slots=True)
class Replica:
    """`celadon webhook --from-cluster`."""

    port: int
    kubeconfig: Path
    log: Path
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        arguments = [
            *("--from-cluster", "--kubeconfig", str(self.kubeconfig), "--events"),
            *("--listen", f"127.0.0.1:{self.port}", "--shutdown-delay-duration", "500ms"),
            *("--self-signed-secret", "default/tls", "--tls-names", SERVICE),
            *("--webhook-configuration", "hooks"),
        ]
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "celadon", "webhook", *arguments]
            self.process = subprocess.Popen(command, stderr=log)

    def page(self, path: str) -> str:
        """Of its own; empty while it does not answer."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=30, context=context
        )
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            text = answer.read().decode()
        except OSError:
            return ""
        finally:
            connection.close()
        return text if answer.status == 200 else ""

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@dataclass(slots=True)
class Cluster:
    """`served` is another process after `restart`."""

    folder: Path
    port: int
    balancer: Balancer
    replicas: list[Replica]
    served: Served = field(init=False)

    def start(self) -> None:
        self.served = Served(
            self.folder,
            *("--listen", f"127.0.0.1:{self.port}", "--data", str(self.folder / "data.db")),
            *("--disable-admission-plugins", "ValidatingAdmissionPolicy"),
            *("--webhook-service", f"default/hook=127.0.0.1:{self.balancer.port}"),
        )

    def call(self, method: str, path: str, body: Any = None) -> Any:
        code, found = self.served.call(method, path, body)
        assert code < 300, found
        return found

    def patch(self, path: str, change: Mapping[str, Any]) -> None:
        connection = self.served.connection()
        headers = request_headers(self.served.token)
        headers["Content-Type"] = "application/merge-patch+json"
        connection.request("PATCH", path, json.dumps(change), headers)
        assert connection.getresponse().status == 200
        connection.close()

    def apply(self, name: str, expression: str) -> None:
        """A policy that is bound."""
        self.call("POST", f"{REGISTRATION}/validatingadmissionpolicies", policy(name, expression))
        self.call("POST", f"{REGISTRATION}/validatingadmissionpolicybindings", binding(name))

    def tried(self, name: str) -> str:
        """What comes of creating a ConfigMap, without creating it."""
        code, found = self.served.call("POST", f"{CONFIGMAPS}?dryRun=All", _config_map(name))
        return "created" if code == 201 else str(found["message"])


def _config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def until(holds: Callable[[], object], seconds: float = PATIENCE) -> float:
    """How long it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, "it takes too long"
        time.sleep(0.02)
    return time.monotonic() - began


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    ports = [free_port(), free_port()]
    replicas = [
        Replica(port, folder / "kubeconfig", folder / f"replica-{at}.log")
        for at, port in enumerate(ports)
    ]
    cluster = Cluster(folder, free_port(), Balancer(ports), replicas)
    cluster.start()
    try:
        cluster.call("POST", f"{REGISTRATION}/validatingwebhookconfigurations", CONFIGURATION)
        for one in replicas:
            one.start()
        until(lambda: all(one.page("/readyz") for one in replicas))
        until(lambda: cluster.tried("a") == "created")
        yield cluster
    finally:
        for one in replicas:
            one.process.kill()
            one.process.wait()
        cluster.served.process.kill()
        cluster.served.end()


class Load:
    """Creates, of which every second one is to be denied, from several connections at once."""

    def __init__(self, cluster: Cluster, connections: int = 3) -> None:
        self._cluster = cluster
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(connections)]
        self.results: Counter[str] = Counter()

    def __enter__(self) -> Load:
        for one in self._threads:
            one.start()
        until(lambda: sum(self.results.values()) > 10)
        return self

    def __exit__(self, *_: object) -> None:
        before = sum(self.results.values())
        until(lambda: sum(self.results.values()) > before + 20)
        self._ends.set()
        for one in self._threads:
            one.join(PATIENCE)

    def _run(self) -> None:
        connection = self._cluster.served.connection()
        headers = request_headers(self._cluster.served.token)
        for name in itertools.cycle(("good", "bad")):
            if self._ends.is_set():
                break
            body = json.dumps(_config_map(name)).encode()
            connection.request("POST", f"{CONFIGMAPS}?dryRun=All", body, headers)
            answer = connection.getresponse()
            found = json.loads(answer.read())
            self.results[f"{name}: {answer.status} {found.get('message', '')}"] += 1
        connection.close()
