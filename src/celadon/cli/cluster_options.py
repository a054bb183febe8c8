"""The options of `celadon webhook` that are about its cluster, and what they come to."""

from __future__ import annotations

import argparse
import os
import socket
import time
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from celadon.cli.check.check_options import conversion_services
from celadon.cli.exit_codes import WrongUseError
from celadon.cli.options import seconds
from celadon.records import dataclass

if TYPE_CHECKING:
    import ssl

    from celadon.admission import Request, Verdict
    from celadon.apiserver.clientconfig import ClusterLocation
    from celadon.apiserver.conversion_webhooks import Caller
    from celadon.apiserver.operation import Family
    from celadon.webhook.certificates import OwnAuthority, SecretCertificate
    from celadon.webhook.cluster import ClusterClient, ClusterPolicies, FollowedRelease

MAX_STALENESS: Final = 300.0
DEFAULT_SERVICE: Final = "celadon-webhook"
SECRETS: Final = ("tls_secret", "self_signed_secret")
_USES: Final = ("from_cluster", "events", *SECRETS)
_MEANINGLESS_WITHOUT: Final = {
    "kubeconfig": _USES,
    "context": _USES,
    "max_staleness": ("from_cluster",),
    "tls_names": ("self_signed_secret",),
    "webhook_configuration": SECRETS,
}


def add_cluster(group: argparse._ArgumentGroup) -> None:
    """Add the options that say from which cluster policies and what they look up come."""
    group.add_argument(
        "--from-cluster",
        action="store_true",
        help="policies, bindings, params and namespaces are those of the cluster",
    )
    group.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="of the cluster (default: the pod's own)"
    )
    group.add_argument("--context", default="", metavar="NAME", help="in the kubeconfig")
    group.add_argument(
        "--max-staleness",
        type=seconds,
        default=MAX_STALENESS,
        metavar="DURATION",
        help="after so long without the cluster nothing is decided (default: 5m)",
    )
    group.add_argument(
        "--events", action="store_true", help="write a Kubernetes Event for each denial"
    )


def add_certificates(group: argparse._ArgumentGroup) -> None:
    """Add the options that name a certificate which the cluster keeps."""
    exclusive = group.add_mutually_exclusive_group()
    exclusive.add_argument(
        "--tls-secret", metavar="[NAMESPACE/]NAME", help="a Secret that cert-manager keeps, say"
    )
    exclusive.add_argument(
        "--self-signed-secret",
        metavar="[NAMESPACE/]NAME",
        help="a Secret for an authority of our own, and what it signs",
    )
    group.add_argument(
        "--tls-names",
        default="",
        metavar="NAMES",
        help=f"in the certificate, with commas (default: {DEFAULT_SERVICE}.NAMESPACE.svc)",
    )
    group.add_argument(
        "--webhook-configuration",
        action="append",
        default=[],
        metavar="NAME",
        help="keep the caBundle of these configurations right; may be repeated",
    )


def uses_cluster(options: argparse.Namespace) -> bool:
    """Return whether anything of the cluster is wanted."""
    return any(getattr(options, use) for use in _USES)


def missing_beside(options: argparse.Namespace) -> tuple[str, tuple[str, ...]] | None:
    """Return an option that is given for nothing, and those of which it needs one."""
    for name, value in _MEANINGLESS_WITHOUT.items():
        data = getattr(options, name)
        is_given = data != MAX_STALENESS if name == "max_staleness" else bool(data)
        if is_given and not any(getattr(options, text) for text in value):
            return name, value
    return None


@dataclass(frozen=True, slots=True)
class ClusterParts:
    """A webhook takes these parts from its cluster. `beside` runs as long as it does; `authority`
    is there if certificates or bundles are kept."""

    policies: ClusterPolicies | None
    certificate: SecretCertificate | None
    denied: Callable[[Request, Verdict], None] | None
    beside: tuple[Callable[[], Coroutine[None, None, None]], ...]
    authority: OwnAuthority | None = None
    families: tuple[Family, ...] = ()
    """Metrics of all that."""
    release: FollowedRelease | None = None
    """That of the cluster, which `policies` follow by themselves."""

    @property
    def waits_for(self) -> tuple[Callable[[], str], ...]:
        """Return what the webhook cannot be ready without, besides its policies."""
        certificate = self.certificate
        return () if certificate is None else (lambda: certificate.missing,)

    @property
    def remarks(self) -> tuple[Callable[[], Iterable[str]], ...]:
        """Return what an operator should look at."""
        return () if self.authority is None else (self.authority.remarks,)


def cluster_parts(
    options: argparse.Namespace, prepare: Callable[[ssl.SSLContext], None]
) -> ClusterParts:
    """`prepare` is what else the contexts of TLS need. Raises StartError."""
    from celadon.apiserver.http import StartError
    from celadon.webhook.cluster import ClusterClient

    try:
        location = chosen_cluster(options.kubeconfig, options.context)
    except WrongUseError as error:
        raise StartError(str(error)) from None
    client = ClusterClient(location)
    identity = f"{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid4()}"
    beside: list[Callable[[], Coroutine[None, None, None]]] = []
    families: tuple[Family, ...] = ()
    denied = None
    if options.events:
        from celadon.webhook.cluster import DenialEvents

        events = DenialEvents(client, identity.partition("_")[0])
        denied = events.denied
        beside.append(events.run)
        families += events.families()
    certificate = authority = None
    if options.tls_secret or options.self_signed_secret:
        certificate, authority = _certificate(options, client, identity, prepare)
        beside.append(certificate.run if authority is None else authority.run)
        families += () if authority is None else authority.families()
    policies = _policies(options, client)
    release = policies.release if policies is not None else _release(options, client)
    if policies is None and not options.kubernetes_version:
        beside.append(release.run)
    return ClusterParts(policies, certificate, denied, tuple(beside), authority, families, release)


def chosen_cluster(kubeconfig: Path | None, context: str) -> ClusterLocation:
    """Return the cluster of a kubeconfig, or the pod's own. Raises WrongUseError."""
    from celadon.apiserver.clientconfig import KubeconfigError, given_cluster, own_cluster

    try:
        if kubeconfig is None and not context:
            location = own_cluster(os.environ, time.time)
            if location is not None:
                return location
        return given_cluster(kubeconfig, context, os.environ, time.time)
    except KubeconfigError as error:
        raise WrongUseError(str(error)) from None


def _policies(options: argparse.Namespace, client: ClusterClient) -> ClusterPolicies | None:
    if not options.from_cluster:
        return None
    from celadon.webhook.cluster import ClusterPolicies, PolicySettings

    settings = PolicySettings(
        options.kubernetes_version or "",
        client.location.namespace,
        options.max_staleness,
        conversion_caller(options),
    )
    return ClusterPolicies(client, settings)


def conversion_caller(options: argparse.Namespace) -> Caller | None:
    """Return what calls conversion webhooks; None where nobody does. Raises StartError."""
    from celadon.apiserver.http import StartError
    from celadon.apiserver.webhook_routes import CallerOnDemand, ServiceRoutes

    try:
        services = conversion_services(options)
    except ValueError as error:
        raise StartError(f"--webhook-service: {error}") from None
    if services is None:
        return None
    return CallerOnDemand(ServiceRoutes(None, services)).call


def _release(options: argparse.Namespace, client: ClusterClient) -> FollowedRelease:
    from celadon.webhook.cluster import FollowedRelease

    return FollowedRelease(client, options.kubernetes_version or "")


def _certificate(
    options: argparse.Namespace,
    client: ClusterClient,
    identity: str,
    prepare: Callable[[ssl.SSLContext], None],
) -> tuple[SecretCertificate, OwnAuthority | None]:
    from celadon.apiserver.leaderelection import LeaderElection, leases_path
    from celadon.webhook.certificates import (
        AuthoritySettings,
        ClusterLeases,
        OwnAuthority,
        SecretCertificate,
    )

    tls_secret = options.tls_secret or options.self_signed_secret
    namespace, _, name = tls_secret.rpartition("/")
    namespace = namespace or client.location.namespace
    certificate = SecretCertificate(client, namespace, name, prepare)
    names = [tls_name.strip() for tls_name in options.tls_names.split(",") if tls_name.strip()]
    settings = AuthoritySettings(
        tuple(names) or (f"{DEFAULT_SERVICE}.{namespace}.svc",),
        tuple(options.webhook_configuration),
        is_own=not options.tls_secret,
    )
    if not settings.is_own and not settings.configurations:
        return certificate, None
    election = LeaderElection(ClusterLeases(client), leases_path(namespace), name, identity)
    return certificate, OwnAuthority(client, certificate, settings, election)
