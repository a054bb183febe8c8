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
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Final

import httpcore

from celadon.apiserver.clientconfig.kubeconfig_file import (
    ExecCommand,
    Kubeconfig,
    KubeconfigCluster,
    KubeconfigError,
    KubeconfigUser,
    read_kubeconfigs,
)
from celadon.apiserver.tls import load_pair, trust_as_go
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


# --- Clusters ----------------------------------------------------------------
#
# Which cluster a program is to talk to: that of a kubeconfig's context, or the one it runs in.

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod finds its token, its namespace and the authority of its cluster."""

DEFAULT_NAMESPACE: Final = "default"


@dataclass(frozen=True, slots=True)
class ClusterLocation:
    """`namespace` is where we are, or where the context says to be."""

    cluster: KubeconfigCluster
    credentials: ClientCredentials
    namespace: str = DEFAULT_NAMESPACE


def given_cluster(
    path: Path | None,
    context: str,
    environment: Mapping[str, str],
    clock: Callable[[], float],
) -> ClusterLocation:
    """Return the cluster by a kubeconfig: that of `path`, else those of `$KUBECONFIG`, else
    `~/.kube/config`. `context` is the file's own where it is empty. Raises KubeconfigError."""
    named = environment.get("KUBECONFIG", "")
    if path is not None:
        paths = [path]
    elif named:
        paths = [Path(one) for one in named.split(os.pathsep) if one and Path(one).exists()]
    else:
        paths = [Path.home() / ".kube" / "config"]
    config = read_kubeconfigs(paths)
    try:
        return _located(config, context, clock)
    except KubeconfigError as error:
        files = ", ".join(f"`{one}`" for one in paths) or "$KUBECONFIG, which names no file"
        raise KubeconfigError(f"{files}: {error}") from None


def _located(config: Kubeconfig, context: str, clock: Callable[[], float]) -> ClusterLocation:
    name = context or config.current_context
    if not name:
        raise KubeconfigError("no context is chosen, and the kubeconfig has none of its own")
    chosen = config.contexts.get(name)
    if chosen is None:
        raise KubeconfigError(f"the kubeconfig has no context `{name}`")
    cluster = config.clusters.get(chosen.cluster)
    if cluster is None or not cluster.server:
        raise KubeconfigError(f"the kubeconfig has no cluster `{chosen.cluster}`")
    if not _is_address(cluster.server):
        raise KubeconfigError(
            f"the server of cluster `{chosen.cluster}` is no URL of http or https"
        )
    user = config.users.get(chosen.user)
    if user is None:
        if chosen.user:
            raise KubeconfigError(f"the kubeconfig has no user `{chosen.user}`")
        user = KubeconfigUser()
    credentials = ClientCredentials(user, clock, _target(cluster))
    return ClusterLocation(cluster, credentials, chosen.namespace or DEFAULT_NAMESPACE)


def _is_address(server: str) -> bool:
    """Return whether requests can be sent there."""
    try:
        return httpcore.URL(server).scheme in (b"http", b"https")
    except (TypeError, ValueError):  # what is not ASCII, and what is no port
        return False


def _target(cluster: KubeconfigCluster) -> ExecTarget:
    return ExecTarget(cluster.server, cluster.authority, cluster.tls_server_name, cluster.insecure)


def own_cluster(
    environment: Mapping[str, str], clock: Callable[[], float], folder: Path = SERVICE_ACCOUNT
) -> ClusterLocation | None:
    """That of the pod we run in; None outside of a cluster. Raises KubeconfigError."""
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "")
    token = folder / "token"
    if not host or not port or not token.exists():
        return None
    shown = f"[{host}]" if ":" in host else host
    try:
        authority = (folder / "ca.crt").read_bytes()
        namespace = (folder / "namespace").read_text("utf-8").strip()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise KubeconfigError(f"`{error.filename}`: {why}") from None
    cluster = KubeconfigCluster(f"https://{shown}:{port}", authority)
    credentials = ClientCredentials(KubeconfigUser(token_file=token), clock)
    return ClusterLocation(cluster, credentials, namespace or DEFAULT_NAMESPACE)


async def tls_to_cluster(location: ClusterLocation) -> ssl.SSLContext:
    """The client's side. Raises KubeconfigError, CredentialsError."""
    authority = location.cluster.authority
    try:
        context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    except (ssl.SSLError, UnicodeDecodeError, ValueError):
        raise KubeconfigError("the authority of the cluster is not a certificate") from None
    trust_as_go(context)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if location.cluster.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    await location.credentials.load(context)
    return context
