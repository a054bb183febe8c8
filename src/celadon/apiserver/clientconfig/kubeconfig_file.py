"""Kubeconfigs, read: clusters, users, and contexts that pair them.

Several files are one: what an earlier file says about a name counts. Paths in a file are relative
to its folder; certificates and keys are read at once, a token's file whenever it is needed. As
k8s.io/client-go `tools/clientcmd`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final

from celadon.goyaml import UnreadableError, first_document
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict, Needed, Shape, misfit
from celadon.records import dataclass

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
    """`authority` is PEM; empty for the system's authorities."""

    server: str
    authority: bytes = b""
    tls_server_name: str = ""
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class KubeconfigUser:
    """Everything may be empty: such a user is anonymous. `certificate` and `key` are PEM;
    `impersonation` are headers."""

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
    """Names of a cluster and a user; `namespace` may be empty."""

    cluster: str
    user: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """By name."""

    clusters: Mapping[str, KubeconfigCluster] = field(default_factory=dict)
    users: Mapping[str, KubeconfigUser] = field(default_factory=dict)
    contexts: Mapping[str, KubeconfigContext] = field(default_factory=dict)
    current_context: str = ""


def read_kubeconfigs(paths: Iterable[Path]) -> Kubeconfig:
    """The files as one. Raises KubeconfigError, also for one that is not there."""
    merged = Kubeconfig()
    for path in paths:
        found = _read(path)
        merged = Kubeconfig(
            {**found.clusters, **merged.clusters},
            {**found.users, **merged.users},
            {**found.contexts, **merged.contexts},
            merged.current_context or found.current_context,
        )
    return merged


def _read(path: Path) -> Kubeconfig:
    try:
        value = first_document(path.read_bytes()).value
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
    """Of one file, which has the shape of one; everything raises KubeconfigError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.absolute().parent

    def kubeconfig(self, value: JsonObject) -> Kubeconfig:
        return Kubeconfig(
            {name: self._cluster(one) for name, one in _named(value, "clusters", "cluster")},
            {name: self._user(one) for name, one in _named(value, "users", "user")},
            {
                name: KubeconfigContext(
                    _text(one, "cluster"), _text(one, "user"), _text(one, "namespace")
                )
                for name, one in _named(value, "contexts", "context")
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
            return (self._folder / file).read_bytes()
        except (OSError, ValueError) as error:  # the latter for a name that no file can have
            why = (getattr(error, "strerror", None) or str(error)).lower()
            raise KubeconfigError(f"`{self._path}`: `{name}`: `{file}`: {why}") from None

    def _command(self, value: JsonObject) -> ExecCommand:
        version = _text(value, "apiVersion")
        if version not in EXEC_VERSIONS:
            raise KubeconfigError(f"`{self._path}`: exec plugins of `{version}` are not supported")
        return ExecCommand(
            version,
            _text(value, "command"),
            tuple(value.get("args") or ()),
            {one["name"]: one["value"] for one in value.get("env") or ()},
            value.get("provideClusterInfo") is True,
            self._folder,
        )


def _named(value: JsonObject, listed: str, member: str) -> Sequence[tuple[str, JsonObject]]:
    """The first of a name counts."""
    found: JsonDict = {}
    for one in value.get(listed) or ():
        found.setdefault(_text(one, "name"), one.get(member) or {})
    return tuple(found.items())


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
        headers += [(f"Impersonate-Extra-{key}", one) for one in values or ()]
    return tuple(headers)
