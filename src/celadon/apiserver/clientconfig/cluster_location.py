"""Which cluster a program is to talk to: that of a kubeconfig's context, or the one it runs in."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import httpcore

from celadon.apiserver.clientconfig.client_credentials import ClientCredentials, ExecTarget
from celadon.apiserver.clientconfig.kubeconfig_file import (
    Kubeconfig,
    KubeconfigCluster,
    KubeconfigError,
    KubeconfigUser,
    read_kubeconfigs,
)
from celadon.apiserver.tls import trust_as_go
from celadon.records import dataclass

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
