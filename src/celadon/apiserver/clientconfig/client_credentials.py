"""Proving to a server who we are: the headers of each request, and a certificate for TLS.

A token in a file is read again once a minute, since those of service accounts are replaced there;
what an exec plugin printed is kept until it ends, or until the server no longer takes it. As
k8s.io/client-go `transport`, `rest` and `plugin/pkg/client/auth/exec`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
from collections.abc import Callable
from dataclasses import field
from datetime import datetime
from typing import Final

from celadon.apiserver.clientconfig.kubeconfig_file import ExecCommand, KubeconfigUser
from celadon.apiserver.private_files import load_pair
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

# --- Exec plugin -------------------------------------------------------------
#
# Programs that print credentials: what a kubeconfig names under `exec`.
#
# The program is told the API version that it is to answer in (`KUBERNETES_EXEC_INFO`) and
# prints an `ExecCredential`. It has no terminal. As k8s.io/client-go
# `plugin/pkg/client/auth/exec`.


EXEC_SECONDS: Final = 60.0
MOST_PRINTED: Final = 1 << 20
"""Bytes; a token has some thousand."""
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

    def to_json(self) -> JsonDict:
        """As `spec.cluster` of an ExecCredential."""
        found: JsonDict = {"server": self.server, "config": None}
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
    """Return what the program prints now. Raises ExecFailure."""
    spec: JsonDict = {"interactive": False}
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
    except ValueError as error:  # no program can be told such arguments or variables
        raise ExecFailure(f"exec: `{plugin.command}`: {error}") from None
    return _credential(plugin, printed)


class _Printed(asyncio.SubprocessProtocol):
    """Takes what a program prints; `ended` has come when it has exited and its output is closed, or
    when it has printed too much."""

    def __init__(self) -> None:
        self.text = bytearray()
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what has come, as far as there is room."""
        self.text += data[: MOST_PRINTED + 1 - len(self.text)]
        if len(self.text) > MOST_PRINTED and not self.ended.done():
            self.ended.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The program has exited, and nobody holds its output any more."""
        for future in (self.ended, self.gone):
            if not future.done():
                future.set_result(None)


async def _output(command: str, arguments: tuple[str, ...], environment: dict[str, str]) -> bytes:
    transport, printed = await asyncio.get_running_loop().subprocess_exec(
        _Printed,
        command,
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=None,
    )
    try:
        await printed.ended
    finally:
        transport.close()  # kills it if it runs, and leaves what is still in the pipe
        await printed.gone
    if len(printed.text) > MOST_PRINTED:
        raise ExecFailure(f"exec: `{command}` printed more than {MOST_PRINTED} bytes")
    code = transport.get_returncode()
    if code:
        raise ExecFailure(f"exec: `{command}` failed with exit code {code}")
    return bytes(printed.text)


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
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise ExecFailure(f"exec: `{plugin.command}` printed no ExecCredential") from None
    if answers != (plugin.api_version, "ExecCredential"):
        raise ExecFailure(f"exec: `{plugin.command}` answered as {answers[0]}, Kind={answers[1]}")
    if not credential.token and not credential.certificate:
        raise ExecFailure(f"exec: `{plugin.command}` printed neither a token nor a certificate")
    return credential


TOKEN_SECONDS: Final = 60.0
"""How long a token that was read from a file is used."""

Headers = tuple[tuple[bytes, bytes], ...]


class CredentialsError(Exception):
    """Says why we cannot say who we are."""


class ClientCredentials:
    """Holds the credentials of one user. `clock` are seconds since the epoch; `target` is what an
    exec plugin may be told about the server."""

    def __init__(
        self,
        user: KubeconfigUser,
        clock: Callable[[], float],
        target: ExecTarget | None = None,
    ) -> None:
        self._user = user
        self._clock = clock
        self._target = ExecTarget("") if target is None else target
        self._token = ""
        self._token_until = 0.0
        self._printed: ExecCredential | None = None

    async def headers(self) -> Headers:
        """For a request now. Raises CredentialsError."""
        impersonated = tuple(
            (key.encode(), text.encode()) for key, text in self._user.impersonation
        )
        return *await self._authorization(), *impersonated

    async def _authorization(self) -> Headers:
        user = self._user
        if user.auth_provider:
            raise CredentialsError("auth provider not supported")
        token = self._file_token() if user.token_file is not None else user.token
        if not token and user.exec_command is not None:
            token = (await self._plugin()).token
        if token:
            return ((b"Authorization", f"Bearer {token}".encode()),)
        if user.username:
            pair = f"{user.username}:{user.password}".encode()
            return ((b"Authorization", b"Basic " + base64.b64encode(pair)),)
        return ()

    def _file_token(self) -> str:
        """A file that cannot be read just now leaves the token as it was."""
        assert self._user.token_file is not None, "asked only for tokens in files"
        now = self._clock()
        if not self._token_until > now:
            try:
                self._token = self._user.token_file.read_text("utf-8").strip()
                self._token_until = now + TOKEN_SECONDS
            except (OSError, UnicodeDecodeError) as error:
                if not self._token:
                    raise CredentialsError(f"the token cannot be read: {error}") from None
        return self._token

    async def _plugin(self) -> ExecCredential:
        printed = self._printed
        if printed is None or printed.until <= self._clock():
            assert self._user.exec_command is not None, "asked only where there is a plugin"
            try:
                printed = await run_plugin(self._user.exec_command, self._target)
            except ExecFailure as error:
                raise CredentialsError(str(error)) from None
            self._printed = printed
        return printed

    def refused(self) -> None:
        """The server did not take what it was shown: nothing that is kept is shown again."""
        self._token_until = 0.0
        self._printed = None

    @property
    def in_headers(self) -> bool:
        """Return whether requests alone show them; else connections do, too, and are to be made
        anew."""
        return not self._user.certificate and self._user.exec_command is None

    async def load(self, context: ssl.SSLContext) -> None:
        """Put the certificate of the user, if there is one, into the client's side of TLS. Raises
        CredentialsError."""
        certificate, key = self._user.certificate, self._user.key
        if not certificate and self._user.exec_command is not None:
            printed = await self._plugin()
            certificate, key = printed.certificate, printed.key
        if not certificate:
            return
        try:
            load_pair(context, certificate, key)
        except OSError as error:
            raise CredentialsError(f"not a client certificate with its key: {error}") from None
