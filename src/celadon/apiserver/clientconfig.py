"""The configuration of a client: the address of a cluster, the authorities to trust, and the
credentials to show there.

Kubeconfigs say all three, or a pod's own files do; `ClientCredentials` are the headers of each
request, and a certificate for TLS. A token in a file is read again once a minute, since those of
service accounts are replaced there; what an exec plugin printed is kept until it ends, or until the
server no longer takes it. As k8s.io/client-go `transport`, `rest`, `tools/clientcmd` and
`plugin/pkg/client/auth/exec`. Connections are opened by `go_network`, whose failures are told in
the words of Go.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import httpcore

from celadon import private_files
from celadon.apiserver.go_network import GoNetwork
from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.tls import load_pair, trust_as_go
from celadon.goyaml import UnreadableError, first_document
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict, Needed, Shape, misfit
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

__all__ = [
    "ClientCredentials",
    "ClusterLocation",
    "CredentialsError",
    "ExecCommand",
    "GoNetwork",
    "Kubeconfig",
    "KubeconfigCluster",
    "KubeconfigError",
    "KubeconfigUser",
    "NetworkFailure",
    "given_cluster",
    "own_cluster",
    "read_kubeconfigs",
    "tls_to_cluster",
]


# --- Kubeconfigs -------------------------------------------------------------
#
# Kubeconfigs, read: clusters, users, and contexts that pair them.
#
# Several files are one: what an earlier file says about a name counts. Paths in a file are
# relative to its folder; certificates and keys are read at once, a token's file whenever it is
# needed. As k8s.io/client-go `tools/clientcmd`.

EXEC_VERSIONS: Final = (
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
)

_SHAPE: Final[Shape] = {
    "current-context": str,
    "clusters": [
        Needed(
            {
                "name": str,
                "cluster": {
                    "server": str,
                    "certificate-authority": str,
                    "certificate-authority-data": str,
                    "tls-server-name": str,
                    "insecure-skip-tls-verify": bool,
                },
            }
        )
    ],
    "contexts": [Needed({"name": str, "context": {"cluster": str, "user": str, "namespace": str}})],
    "users": [
        Needed(
            {
                "name": str,
                "user": {
                    "token": str,
                    "tokenFile": str,
                    "client-certificate": str,
                    "client-certificate-data": str,
                    "client-key": str,
                    "client-key-data": str,
                    "username": str,
                    "password": str,
                    "as": str,
                    "as-uid": str,
                    "as-groups": [Needed(str)],
                    "as-user-extra": {str: [Needed(str)]},
                    "auth-provider": {"name": str},
                    "exec": {
                        "apiVersion": str,
                        "command": str,
                        "args": [Needed(str)],
                        "env": [Needed({"name": Needed(str), "value": Needed(str)})],
                        "provideClusterInfo": bool,
                    },
                },
            }
        )
    ],
}


class KubeconfigError(ValueError):
    """Says why a file cannot be used; the text begins with its name."""


@dataclass(frozen=True, slots=True)
class ExecCommand:
    """A program that prints credentials. `folder` is that of the file, for a relative command."""

    api_version: str
    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    provides_cluster: bool = False
    folder: Path = Path()


@dataclass(frozen=True, slots=True)
class KubeconfigCluster:
    """Holds what a kubeconfig says of a cluster. `authority` is PEM; empty for the system's
    authorities."""

    server: str
    authority: bytes = b""
    tls_server_name: str = ""
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class KubeconfigUser:
    """Holds a user; everything may be empty: such a user is anonymous. `certificate` and `key` are
    PEM; `impersonation` are headers."""

    token: str = field(default="", repr=False)
    token_file: Path | None = None
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    impersonation: tuple[tuple[str, str], ...] = ()
    exec_command: ExecCommand | None = None
    auth_provider: str = ""


@dataclass(frozen=True, slots=True)
class KubeconfigContext:
    """Names a cluster and a user; `namespace` may be empty."""

    cluster: str
    user: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """Holds clusters, users and contexts by their names."""

    clusters: Mapping[str, KubeconfigCluster] = field(default_factory=dict)
    users: Mapping[str, KubeconfigUser] = field(default_factory=dict)
    contexts: Mapping[str, KubeconfigContext] = field(default_factory=dict)
    current_context: str = ""


def read_kubeconfigs(paths: Iterable[Path]) -> Kubeconfig:
    """Return the files as one. Raises KubeconfigError, also for one that is not there."""
    merged = Kubeconfig()
    for path in paths:
        kubeconfig = _read(path)
        merged = Kubeconfig(
            {**kubeconfig.clusters, **merged.clusters},
            {**kubeconfig.users, **merged.users},
            {**kubeconfig.contexts, **merged.contexts},
            merged.current_context or kubeconfig.current_context,
        )
    return merged


def _read(path: Path) -> Kubeconfig:
    try:
        value = first_document(private_files.content(path)).value
    except OSError as error:
        raise KubeconfigError(f"`{path}`: {(error.strerror or str(error)).lower()}") from None
    except UnreadableError as error:
        raise KubeconfigError(f"`{path}`: {error}") from None
    if not isinstance(value, dict):
        raise KubeconfigError(f"`{path}`: not a kubeconfig")
    wrong = misfit(value, _SHAPE)
    if wrong is not None:
        raise KubeconfigError(f"`{path}`: not a kubeconfig: {wrong}")
    return _Reader(path).kubeconfig(value)


class _Reader:
    """Reads one file that has the shape of a kubeconfig; everything raises KubeconfigError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.absolute().parent

    def kubeconfig(self, value: JsonObject) -> Kubeconfig:
        return Kubeconfig(
            {name: self._cluster(item) for name, item in _named(value, "clusters", "cluster")},
            {name: self._user(item) for name, item in _named(value, "users", "user")},
            {
                name: KubeconfigContext(
                    _text(item, "cluster"), _text(item, "user"), _text(item, "namespace")
                )
                for name, item in _named(value, "contexts", "context")
            },
            _text(value, "current-context"),
        )

    def _cluster(self, value: JsonObject) -> KubeconfigCluster:
        return KubeconfigCluster(
            _text(value, "server"),
            self._content(value, "certificate-authority"),
            _text(value, "tls-server-name"),
            value.get("insecure-skip-tls-verify") is True,
        )

    def _user(self, value: JsonObject) -> KubeconfigUser:
        token_file = _text(value, "tokenFile")
        command = value.get("exec")
        provider = value.get("auth-provider") or {}
        return KubeconfigUser(
            token=_text(value, "token"),
            token_file=self._folder / token_file if token_file else None,
            certificate=self._content(value, "client-certificate"),
            key=self._content(value, "client-key"),
            username=_text(value, "username"),
            password=_text(value, "password"),
            impersonation=_impersonation(value),
            exec_command=None if command is None else self._command(command),
            auth_provider=_text(provider, "name"),
        )

    def _content(self, value: JsonObject, name: str) -> bytes:
        """Inline, or of a file; what is inline counts."""
        data = _text(value, f"{name}-data")
        if data:
            try:
                return base64.b64decode(data, validate=True)
            except ValueError:  # binascii.Error, or what is not ASCII
                raise KubeconfigError(f"`{self._path}`: `{name}-data` is not base64") from None
        file = _text(value, name)
        if not file:
            return b""
        try:
            return private_files.content(self._folder / file)
        except (OSError, ValueError) as error:  # the latter for a name that no file can have
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise KubeconfigError(f"`{self._path}`: `{name}`: `{file}`: {reason}") from None

    def _command(self, value: JsonObject) -> ExecCommand:
        version = _text(value, "apiVersion")
        if version not in EXEC_VERSIONS:
            raise KubeconfigError(f"`{self._path}`: exec plugins of `{version}` are not supported")
        return ExecCommand(
            version,
            _text(value, "command"),
            tuple(value.get("args") or ()),
            {variable["name"]: variable["value"] for variable in value.get("env") or ()},
            value.get("provideClusterInfo") is True,
            self._folder,
        )


def _named(value: JsonObject, listed: str, member: str) -> Sequence[tuple[str, JsonObject]]:
    """Return the items of a list by their names; the first of a name counts."""
    result: JsonDict = {}
    for item in value.get(listed) or ():
        result.setdefault(_text(item, "name"), item.get(member) or {})
    return tuple(result.items())


def _text(value: JsonObject, key: str) -> str:
    return value.get(key) or ""


def _impersonation(value: JsonObject) -> tuple[tuple[str, str], ...]:
    headers = []
    if _text(value, "as"):
        headers.append(("Impersonate-User", _text(value, "as")))
    if _text(value, "as-uid"):
        headers.append(("Impersonate-Uid", _text(value, "as-uid")))
    headers += [("Impersonate-Group", group) for group in value.get("as-groups") or ()]
    for key, values in (value.get("as-user-extra") or {}).items():
        headers += [(f"Impersonate-Extra-{key}", value) for value in values or ()]
    return tuple(headers)


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
    """Says why there are no credentials."""


@dataclass(frozen=True, slots=True)
class ExecTarget:
    """The server, for programs that want to know it (`provideClusterInfo`)."""

    server: str
    authority: bytes = b""
    tls_server_name: str = ""
    insecure: bool = False

    def to_json(self) -> JsonDict:
        """Return the member `spec.cluster` of an ExecCredential."""
        result: JsonDict = {"server": self.server, "config": None}
        if self.tls_server_name:
            result["tls-server-name"] = self.tls_server_name
        if self.insecure:
            result["insecure-skip-tls-verify"] = True
        if self.authority:
            result["certificate-authority-data"] = base64.b64encode(self.authority).decode()
        return result


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
    credential_request = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    environment = {
        **os.environ,
        **plugin.environment,
        "KUBERNETES_EXEC_INFO": json.dumps(credential_request),
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
        """Note that the program has exited, and nobody holds its output any more."""
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
        document = json.loads(printed)
        status = document["status"]
        until = status.get("expirationTimestamp")
        credential = ExecCredential(
            str(status.get("token") or ""),
            (status.get("clientCertificateData") or "").encode(),
            (status.get("clientKeyData") or "").encode(),
            datetime.fromisoformat(until).timestamp() if until else float("inf"),
        )
        answers = document["apiVersion"], document["kind"]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise ExecFailure(f"exec: `{plugin.command}` printed no ExecCredential") from None
    if answers != (plugin.api_version, "ExecCredential"):
        raise ExecFailure(f"exec: `{plugin.command}` answered as {answers[0]}, Kind={answers[1]}")
    if not credential.token and not credential.certificate:
        raise ExecFailure(f"exec: `{plugin.command}` printed neither a token nor a certificate")
    return credential


_UNSENDABLE: Final = late_pattern(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
"""What no header can have in it."""

TOKEN_SECONDS: Final = 60.0
"""How long a token that was read from a file is used."""

Headers = tuple[tuple[bytes, bytes], ...]


class CredentialsError(Exception):
    """Says why we cannot say who we are."""


class ClientCredentials:
    """Holds the credentials of one user. `clock` are seconds since the epoch; `target` is what an
    exec plugin may be told about the server."""

    def __init__(
        self, user: KubeconfigUser, clock: Callable[[], float], target: ExecTarget | None = None
    ) -> None:
        self._user = user
        self._clock = clock
        self._target = ExecTarget("") if target is None else target
        self._token = ""
        self._token_until = 0.0
        self._printed: ExecCredential | None = None

    async def headers(self) -> Headers:
        """Return the headers for a request that is made now. Raises CredentialsError."""
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
        if _UNSENDABLE.search(token):  # which nobody else is shown: it is a secret
            raise CredentialsError('invalid header field value for "Authorization"')
        if token:
            return ((b"Authorization", f"Bearer {token}".rstrip(" \t").encode()),)
        if user.username:
            pair = f"{user.username}:{user.password}".encode()
            return ((b"Authorization", b"Basic " + base64.b64encode(pair)),)
        return ()

    def _file_token(self) -> str:
        """Return the token of the file. One that cannot be read just now leaves the token as it
        was."""
        assert self._user.token_file is not None, "asked only for tokens in files"
        now = self._clock()
        if not self._token_until > now:
            try:
                self._token = private_files.content(self._user.token_file).decode().strip()
                self._token_until = now + TOKEN_SECONDS
            except (OSError, ValueError) as error:  # no text, or a name that no file can have
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
        """Note that the server did not take what it was shown: nothing that is kept is shown
        again."""
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
    """Says where a cluster is. `namespace` is where we are, or where the context says to be."""

    cluster: KubeconfigCluster
    credentials: ClientCredentials
    namespace: str = DEFAULT_NAMESPACE


def given_cluster(
    path: Path | None, context: str, environment: Mapping[str, str], clock: Callable[[], float]
) -> ClusterLocation:
    """Return the cluster by a kubeconfig: that of `path`, else those of `$KUBECONFIG`, else
    `~/.kube/config`. `context` is the file's own where it is empty. Raises KubeconfigError."""
    named = environment.get("KUBECONFIG", "")
    if path is not None:
        paths = [path]
    elif named:
        paths = [Path(text) for text in named.split(os.pathsep) if text and Path(text).exists()]
    else:
        paths = [Path.home() / ".kube" / "config"]
    config = read_kubeconfigs(paths)
    try:
        return _located(config, context, clock)
    except KubeconfigError as error:
        files = ", ".join(f"`{path}`" for path in paths) or "$KUBECONFIG, which names no file"
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
    """Return the cluster of the pod we run in; None outside of a cluster. Raises
    KubeconfigError."""
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "")
    token = folder / "token"
    if not host or not port or not token.exists():
        return None
    text = f"[{host}]" if ":" in host else host
    try:
        authority = private_files.content(folder / "ca.crt")
        namespace = private_files.content(folder / "namespace").decode("utf-8", "replace").strip()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise KubeconfigError(f"`{error.filename}`: {reason}") from None
    cluster = KubeconfigCluster(f"https://{text}:{port}", authority)
    credentials = ClientCredentials(KubeconfigUser(token_file=token), clock)
    return ClusterLocation(cluster, credentials, namespace or DEFAULT_NAMESPACE)


async def tls_to_cluster(location: ClusterLocation) -> ssl.SSLContext:
    """Return the client's side of TLS. Raises KubeconfigError, CredentialsError."""
    authority = location.cluster.authority
    try:
        # Python takes ASCII alone; what stands beside the certificates may be in any encoding.
        text = (authority or b"").decode("latin-1").encode("ascii", "replace").decode("ascii")
        context = ssl.create_default_context(cadata=text or None)
    except (ssl.SSLError, ValueError):
        raise KubeconfigError("the authority of the cluster is not a certificate") from None
    trust_as_go(context)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if location.cluster.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    await location.credentials.load(context)
    return context
