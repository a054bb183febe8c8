"""Programs that print credentials: what a kubeconfig names under `exec`.

The program is told the API version that it is to answer in (`KUBERNETES_EXEC_INFO`) and prints an
`ExecCredential`. It has no terminal. As k8s.io/client-go `plugin/pkg/client/auth/exec`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from celadon.records import dataclass
from celadon.serve.outgoing.kubeconfig_file import ExecCommand

EXEC_SECONDS: Final = 60.0
"""How long a program may take."""


class ExecFailure(Exception):
    """Why there are no credentials."""


@dataclass(frozen=True, slots=True)
class ExecTarget:
    """The server, for programs that want to know it (`provideClusterInfo`)."""

    server: str
    authority: bytes = b""
    tls_server_name: str = ""
    insecure: bool = False

    def to_json(self) -> dict[str, Any]:
        """As `spec.cluster` of an ExecCredential."""
        found: dict[str, Any] = {"server": self.server, "config": None}
        if self.tls_server_name:
            found["tls-server-name"] = self.tls_server_name
        if self.insecure:
            found["insecure-skip-tls-verify"] = True
        if self.authority:
            found["certificate-authority-data"] = base64.b64encode(self.authority).decode()
        return found


@dataclass(frozen=True, slots=True)
class ExecCredential:
    """A token, a certificate with its key (PEM), or both; good until `until`, in seconds since the
    epoch."""

    token: str = field(default="", repr=False)
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)
    until: float = float("inf")


async def run_plugin(plugin: ExecCommand, target: ExecTarget) -> ExecCredential:
    """What the program prints now. Raises ExecFailure."""
    spec: dict[str, Any] = {"interactive": False}
    if plugin.provides_cluster:
        spec["cluster"] = target.to_json()
    asked = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    environment = {
        **os.environ,
        **plugin.environment,
        "KUBERNETES_EXEC_INFO": json.dumps(asked),
    }
    command = plugin.command
    if os.sep in command:
        command = str(plugin.folder / command)
    try:
        async with asyncio.timeout(EXEC_SECONDS):
            printed = await _output(command, plugin.arguments, environment)
    except TimeoutError:
        raise ExecFailure(f"exec: `{plugin.command}` took too long") from None
    except OSError as error:
        raise ExecFailure(f"exec: `{plugin.command}`: {error.strerror}".lower()) from None
    return _credential(plugin, printed)


async def _output(command: str, arguments: tuple[str, ...], environment: dict[str, str]) -> bytes:
    process = await asyncio.create_subprocess_exec(
        command,
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise ExecFailure(f"exec: `{command}` failed with exit code {process.returncode}")
    return printed


def _credential(plugin: ExecCommand, printed: bytes) -> ExecCredential:
    try:
        found = json.loads(printed)
        status = found["status"]
        until = status.get("expirationTimestamp")
        credential = ExecCredential(
            status.get("token") or "",
            (status.get("clientCertificateData") or "").encode(),
            (status.get("clientKeyData") or "").encode(),
            datetime.fromisoformat(until).timestamp() if until else float("inf"),
        )
        answers = found["apiVersion"], found["kind"]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ExecFailure(f"exec: `{plugin.command}` printed no ExecCredential") from None
    if answers != (plugin.api_version, "ExecCredential"):
        raise ExecFailure(f"exec: `{plugin.command}` answered as {answers[0]}, Kind={answers[1]}")
    if not credential.token and not credential.certificate:
        raise ExecFailure(f"exec: `{plugin.command}` printed neither a token nor a certificate")
    return credential
