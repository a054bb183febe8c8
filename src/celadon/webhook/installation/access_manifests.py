"""Who the webhook is in the cluster, and the least it has to be allowed.

With policies from files and a certificate from a Secret it asks the API server for nothing, and
gets no token. Policies of the cluster need what they look up; a certificate of its own needs one
Secret, one Lease and the `caBundle` of its configurations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celadon.kube.well_known_values import (
    ADMISSION_REGISTRATION,
    AUTHORIZATION_GROUP,
    RBAC_GROUP,
)
from celadon.webhook.installation.installation_settings import Certificates, InstallationSettings

_FOLLOW: Final = ("list", "watch")
"""Of caches: what they do not know, only namespaces are asked for."""


def access_manifests(settings: InstallationSettings) -> Iterator[dict[str, Any]]:
    """ServiceAccount, roles and their bindings."""
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _meta(settings, settings.namespace),
        "automountServiceAccountToken": False,
    }
    everywhere = [*_cluster_rules(settings), *_bundle_rules(settings)]
    at_home = [*_config_map_rules(settings), *_certificate_rules(settings)]
    if everywhere:
        yield from _granted(settings, everywhere, "")
    if at_home:
        yield from _granted(settings, at_home, settings.namespace)


def _meta(settings: InstallationSettings, namespace: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": settings.name, "labels": settings.labels}
    return {**found, "namespace": namespace} if namespace else found


def _rule(
    group: str, resources: Sequence[str], verbs: Sequence[str], *names: str
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "apiGroups": [group],
        "resources": list(resources),
        "verbs": list(verbs),
    }
    return {**found, "resourceNames": list(names)} if names else found


def _cluster_rules(settings: InstallationSettings) -> Iterator[dict[str, Any]]:
    """What policies of the cluster are, and what they look up."""
    if not settings.from_cluster:
        return
    policies = [
        f"{kind}admissionpolic{plural}"
        for kind in ("validating", "mutating")
        for plural in ("ies", "ybindings")
    ]
    yield _rule(ADMISSION_REGISTRATION, policies, _FOLLOW)
    yield _rule("", ["namespaces"], ["get", *_FOLLOW])
    yield _rule("apiextensions.k8s.io", ["customresourcedefinitions"], _FOLLOW)
    yield _rule(AUTHORIZATION_GROUP, ["subjectaccessreviews"], ["create"])
    for param in settings.params:
        resource, _, group = param.partition(".")
        yield _rule(group, [resource], _FOLLOW)
    if settings.events:
        yield _rule("", ["events"], ["create", "patch"])


def _bundle_rules(settings: InstallationSettings) -> Iterator[dict[str, Any]]:
    if settings.certificates is Certificates.OWN:
        kinds = ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"]
        yield _rule(ADMISSION_REGISTRATION, kinds, [*_FOLLOW, "patch"], settings.name)


def _config_map_rules(settings: InstallationSettings) -> Iterator[dict[str, Any]]:
    """ConfigMaps with policies, for clusters that do not know the kinds."""
    if settings.from_cluster:
        yield _rule("", ["configmaps"], _FOLLOW)


def _certificate_rules(settings: InstallationSettings) -> Iterator[dict[str, Any]]:
    """A creation cannot be restricted to a name."""
    if settings.certificates is Certificates.OWN:
        yield _rule("", ["secrets"], ["create"])
        yield _rule("", ["secrets"], [*_FOLLOW, "update"], settings.secret)
        yield _rule("coordination.k8s.io", ["leases"], ["create"])
        yield _rule("coordination.k8s.io", ["leases"], ["get", "update"], settings.secret)


def _granted(
    settings: InstallationSettings, rules: Sequence[dict[str, Any]], namespace: str
) -> Iterator[dict[str, Any]]:
    kind = "Role" if namespace else "ClusterRole"
    head = {"apiVersion": f"{RBAC_GROUP}/v1", "metadata": _meta(settings, namespace)}
    account = {
        "kind": "ServiceAccount",
        "name": settings.name,
        "namespace": settings.namespace,
    }
    yield {**head, "kind": kind, "rules": list(rules)}
    yield {
        **head,
        "kind": f"{kind}Binding",
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": kind, "name": settings.name},
        "subjects": [account],
    }
