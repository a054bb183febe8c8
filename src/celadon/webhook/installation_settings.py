"""What an operator decides about an installation of `celadon webhook`."""

from __future__ import annotations

import enum
from typing import Final

from celadon import __version__
from celadon.records import dataclass

PORT: Final = 8443
"""Where the webhook listens, in its container."""
CONFIGURATION_DOMAIN: Final = "policies.celadon.dev"
"""What follows the first part of the names of webhooks."""


class Certificates(enum.Enum):
    """Where the certificate comes from: a Secret of type `kubernetes.io/tls` that somebody keeps
    (`SECRET`) or cert-manager does, or the webhook itself, with an authority of its own."""

    SECRET = "secret"
    CERT_MANAGER = "cert-manager"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class InstallationSettings:
    """`from_cluster` says that policies are those in the cluster, not in a ConfigMap of the
    installation. `failure_policy` is for all webhooks, empty for that of their policies; with
    `audit_only`, failures deny nothing either.
    `excluded_namespaces` are sent nothing, beside the webhook's own namespace; `ca_bundle` is PEM.
    `params` are resources (`configmaps`, `limits.example.com`) that policies of the cluster look
    up."""

    name: str = "celadon-webhook"
    namespace: str = "celadon"
    image: str = f"celadon:{__version__}"
    replicas: int = 2
    from_cluster: bool = False
    certificates: Certificates = Certificates.OWN
    ca_bundle: str = ""
    failure_policy: str = ""
    timeout_seconds: int = 5
    excluded_namespaces: tuple[str, ...] = ("kube-system",)
    excludes_own_namespace: bool = True
    params: tuple[str, ...] = ()
    events: bool = False
    audit_only: bool = False
    service_monitor: bool = False

    @property
    def can_be_asked(self) -> bool:
        """Return whether an API server will know the certificate's authority, sooner or later."""
        return self.certificates is not Certificates.SECRET or bool(self.ca_bundle)

    @property
    def secret(self) -> str:
        """The Secret with the certificate, its key and `ca.crt`."""
        return f"{self.name}-tls"

    @property
    def asks_cluster(self) -> bool:
        """Return whether the webhook needs an API server at all."""
        return self.from_cluster or self.certificates is Certificates.OWN

    def failure_policy_of(self, policies: str) -> str:
        """Of a webhook for policies with this one."""
        return "Ignore" if self.audit_only else self.failure_policy or policies

    @property
    def exclusions(self) -> tuple[str, ...]:
        """The namespaces that are sent nothing."""
        own = (self.namespace,) if self.excludes_own_namespace else ()
        return tuple(dict.fromkeys((*own, *self.excluded_namespaces)))

    @property
    def labels(self) -> dict[str, str]:
        """Of every object."""
        return {**self.selector, "app.kubernetes.io/component": "admission-webhook"}

    @property
    def selector(self) -> dict[str, str]:
        """By which the Pods are found."""
        return {"app.kubernetes.io/name": "celadon", "app.kubernetes.io/instance": self.name}
