"""APIServices of the versions that a server serves itself: `kubectl get apiservices` lists them.

As k8s.io/kubernetes `pkg/controlplane/apiserver/aggregator.go` and
`pkg/controlplane/apiserver/options`, where the priorities are, those of custom resources in
`pkg/controlplane/controller/crdregistration`, and k8s.io/kube-aggregator
`pkg/controllers/autoregister`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.kube.catalogue import Catalog

MANAGED: Final = "kube-aggregator.kubernetes.io/automanaged"
ON_START: Final = "onstart"
ALWAYS: Final = "true"
"""Who looks after an APIService: somebody once when a server starts, or a controller."""

_CUSTOM_GROUP, _CUSTOM_VERSION = 1000, 100
"""Priorities of custom resources: versions of a group come in the order of their names."""

_OF_GROUP: Final[Mapping[str, int]] = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "apiextensions.k8s.io": 16700,
    "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "internal.apiserver.k8s.io": 16000,
    "storagemigration.k8s.io": 15800,
}
"""Groups that are not here, as that of APIServices itself, have none."""

_OF_VERSION: Final[Mapping[tuple[str, str], int]] = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("certificates.k8s.io", "v1alpha1"): 1,
    ("storage.k8s.io", "v1alpha1"): 1,
    ("scheduling.k8s.io", "v1alpha2"): 2,
    ("admissionregistration.k8s.io", "v1beta1"): 12,
    ("coordination.k8s.io", "v1beta1"): 13,
    ("coordination.k8s.io", "v1alpha2"): 12,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("flowcontrol.apiserver.k8s.io", "v1beta3"): 18,
    ("resource.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1beta2"): 15,
    ("resource.k8s.io", "v1alpha3"): 1,
}
"""Where it is not the one of every stable, or of every other, version."""

_STABLE, _OTHER = 15, 9


def api_services(catalog: Catalog) -> Iterator[dict[str, Any]]:
    """One for each group version that has served resources, in the order of the catalogue."""
    served = dict.fromkeys((one.gvr.group, one.gvr.version) for one in catalog if one.served)
    for group, version in served:
        if group in _OF_GROUP:
            yield _api_service(group, version)


def _api_service(group: str, version: str) -> dict[str, Any]:
    usual = _STABLE if version == "v1" else _OTHER
    priority = _OF_VERSION.get((group, version), usual)
    return _local(group, version, _OF_GROUP[group], priority, ON_START)


def custom_api_service(group: str, version: str) -> dict[str, Any]:
    """That of a version of custom resources."""
    return _local(group, version, _CUSTOM_GROUP, _CUSTOM_VERSION, ALWAYS)


def _local(
    group: str, version: str, of_group: int, of_version: int, managed: str
) -> dict[str, Any]:
    spec = {"groupPriorityMinimum": of_group, "version": version, "versionPriority": of_version}
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}", "labels": {MANAGED: managed}},
        "spec": {"group": group, **spec} if group else spec,
    }
