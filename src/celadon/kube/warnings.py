"""Warnings about objects that an API server takes: the texts of `Warning` headers.

`kind_warnings` says all that is said of a new or changed object of a kind; what is said of pods is
in `pod_warnings`. Objects are as they are validated: decoded, defaulted, with what the server adds.
The texts and conditions are upstream's, as k8s.io/kubernetes has them in `pkg/api/*/warnings.go`
and in the `WarningsOnCreate` and `WarningsOnUpdate` of its strategies.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from celadon.kube import metadata, name_rules, quantity, well_known_values
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind
from celadon.kube.pod_warnings import (
    address_warnings,
    claim_spec_warnings,
    converted_apparmor,
    label_deprecation,
    pod_warnings,
    range_warnings,
    selector_warnings,
    template_warnings,
    term_warnings,
)
from celadon.kube.releases import is_since, since

# --- Cluster warnings --------------------------------------------------------
#
# What an API server remarks about nodes, accounts, devices, definitions and custom resources.
#
# As the `strategy.go` of each kind in k8s.io/kubernetes `pkg/registry` and
# k8s.io/apiextensions-apiserver `pkg/registry`, and `pkg/api/node/util.go`.

_STANDARD_FINALIZERS: Final = frozenset(
    {well_known_values.FOREGROUND, well_known_values.ORPHAN, "kubernetes"}
)
_STATUS: Final = FieldPath("status")


def node_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a Node."""
    spec = obj.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for index, pod_cidr in enumerate(spec.get("podCIDRs") or ()):
        yield from range_warnings(FieldPath("spec", "podCIDRs").index(index), pod_cidr)


def pod_status_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about the status of a Pod."""
    status = obj.get("status") or {}
    for field in ("podIPs", "hostIPs"):
        for index, item in enumerate(status.get(field) or ()):
            path = _STATUS.child(field).index(index).child("ip")
            yield from address_warnings(path, item.get("ip", ""))


def runtime_class_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a RuntimeClass."""
    selector = (obj.get("scheduling") or {}).get("nodeSelector") or {}
    for key in sorted(selector):
        reason = label_deprecation(key)
        if reason is not None:
            yield f"scheduling.nodeSelector: {reason}"


@since("1.32")
def service_account_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a ServiceAccount that gets an annotation it did not have."""
    had = old is not None and well_known_values.MOUNTABLE_SECRETS in metadata.annotations(old)
    if well_known_values.MOUNTABLE_SECRETS in metadata.annotations(obj) and not had:
        yield (
            f"metadata.annotations[{well_known_values.MOUNTABLE_SECRETS}]: deprecated in v1.32+; "
            "prefer separate namespaces to isolate access to mounted secrets"
        )


@since("1.35")
def resource_quota_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a new ResourceQuota that has more room for requests than for
    limits."""
    hard = (obj.get("spec") or {}).get("hard") or {}
    for resource in () if old is not None else _QUOTA_RESOURCES:
        names = (f"requests.{resource}", *((resource,) if resource in _SHORT_REQUESTS else ()))
        request = next((name for name in names if name in hard), None)
        limit = f"limits.{resource}"
        if request is None or limit not in hard:
            continue
        parse, most = quantity.parse(hard[request]), quantity.parse(hard[limit])
        if parse.compare(most) > 0:
            yield (f"ResourceQuota {request} ({parse}) should be less than {limit} ({most})")


_SHORT_REQUESTS: Final = ("cpu", "memory")
"""Resources whose requests may be limited by their names alone."""
_QUOTA_RESOURCES: Final = (*_SHORT_REQUESTS, "storage", "ephemeral-storage")


@since("1.35")
def resource_slice_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a ResourceSlice."""
    driver = (obj.get("spec") or {}).get("driver") or ""
    if driver != driver.lower():
        yield (
            "spec.driver: driver names should be lowercase; "
            f"{quote(driver)} contains uppercase characters"
        )


@since("1.34")
def definition_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a CustomResourceDefinition: formats that nobody checks, and that it
    did not have."""
    had = set() if old is None else set(_unknown_formats(old))
    for name in _unknown_formats(obj):
        if name not in had:
            yield f"unrecognized format {quote(name)}"


def _unknown_formats(definition: JsonObject) -> list[str]:
    # late: few objects are definitions.
    from celadon.kube.crd.definition_parts import internal_definition
    from celadon.kube.crd.openapi_validation import known_format
    from celadon.kube.crd.structural_schemas import every_schema

    result: dict[str, None] = {}
    for _, schema in internal_definition(definition.get("spec") or {}).schemas():
        for node in every_schema(schema):
            name, type_ = node.get("format") or "", node.get("type") or ""
            if type_ != "string" and not is_since("1.36"):
                continue
            if name and not known_format(name, type_):
                result[name] = None
    return [*result]


def custom_resource_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a custom resource: finalizers that it did not have and that could be
    anybody's."""
    had = () if old is None else metadata.metadata(old).get("finalizers") or ()
    added = set(metadata.metadata(obj).get("finalizers") or ()) - set(had)
    for finalizer in sorted(added):
        for reason in name_rules.qualified_name(finalizer):
            yield f"metadata.finalizers: {quote(finalizer)}: {reason}"
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            path = " including a path (/)" if "." in finalizer and is_since("1.32") else ""
            yield (
                f"metadata.finalizers: {quote(finalizer)}: prefer a domain-qualified finalizer "
                f"name{path} to avoid accidental conflicts with other finalizer writers"
            )


# --- Network warnings --------------------------------------------------------
#
# What an API server remarks about Services and what belongs to them, Ingresses,
# NetworkPolicies.
#
# As k8s.io/kubernetes `pkg/api/service/warnings.go` and the `strategy.go` of the other kinds.

ENDPOINTS_MANAGER: Final = (
    "endpoints.kubernetes.io/managed-by",
    frozenset({"endpoint-controller"}),
)
SLICE_MANAGERS: Final = (
    "endpointslice.kubernetes.io/managed-by",
    frozenset({"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}),
)
"""Who is trusted to write addresses well: a label, and its values."""

_SPEC: Final = FieldPath("spec")
_INGRESS: Final = FieldPath("status", "loadBalancer", "ingress")


def service_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a Service, new or changed."""
    spec = obj.get("spec") or {}
    if well_known_values.TOPOLOGY_HINTS in metadata.annotations(obj):
        yield (
            f"annotation {well_known_values.TOPOLOGY_HINTS} is deprecated, please use "
            f"{well_known_values.TOPOLOGY_MODE} instead"
        )
    headless = spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None"
    if spec.get("clusterIP") not in (None, "", "None"):
        yield from _listed_addresses(spec, "clusterIPs")
    if headless:
        yield from _ignored_by_headless(spec)
    yield from _listed_addresses(spec, "externalIPs")
    external_name = spec.get("type") == "ExternalName"
    if not headless and not external_name:
        yield from _deprecated_external(spec)
    if spec.get("loadBalancerIP"):
        path = _SPEC.child("loadBalancerIP")
        yield from address_warnings(path, spec["loadBalancerIP"], of_service=True)
    for index, source_range in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        path = _SPEC.child("loadBalancerSourceRanges").index(index)
        yield from range_warnings(path, source_range, of_service=True)
    if external_name and spec.get("externalIPs"):
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if not external_name and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    yield from _deprecated_distribution(spec)


@since("1.36")
def _deprecated_external(spec: JsonObject) -> Iterator[str]:
    if spec.get("externalIPs"):
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"


@since("1.35")
def _deprecated_distribution(spec: JsonObject) -> Iterator[str]:
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


@since("1.34")
def _ignored_by_headless(spec: JsonObject) -> Iterator[str]:
    if spec.get("loadBalancerIP"):
        yield "spec.loadBalancerIP is ignored for headless services"
    if spec.get("externalIPs"):
        yield "spec.externalIPs is ignored for headless services"
    if spec.get("sessionAffinity") != "None":
        yield "spec.SessionAffinity is ignored for headless services"


def _listed_addresses(spec: JsonObject, field: str) -> Iterator[str]:
    for index, address in enumerate(spec.get(field) or ()):
        yield from address_warnings(_SPEC.child(field).index(index), address, of_service=True)


def service_status_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about the status of a Service; the path ends early there."""
    for index, ingress in _load_balancer(obj):
        yield from address_warnings(_INGRESS.index(index), ingress.get("ip") or "")


def ingress_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a new Ingress."""
    chosen = (obj.get("spec") or {}).get("ingressClassName") is not None
    if old is None and well_known_values.INGRESS_CLASS in metadata.annotations(obj) and not chosen:
        yield (
            f'annotation "{well_known_values.INGRESS_CLASS}" is deprecated, please use '
            "'spec.ingressClassName' instead"
        )


def ingress_status_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about the status of an Ingress."""
    for index, ingress in _load_balancer(obj):
        yield from address_warnings(_INGRESS.index(index).child("ip"), ingress.get("ip") or "")


def _load_balancer(obj: JsonObject) -> Iterator[tuple[int, JsonObject]]:
    balancer = (obj.get("status") or {}).get("loadBalancer") or {}
    return enumerate(balancer.get("ingress") or ())


def _is_managed(obj: JsonObject, managers: tuple[str, frozenset[str]]) -> bool:
    label, names = managers
    return metadata.labels(obj).get(label) in names


def endpoints_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about an Endpoints."""
    if _is_managed(obj, ENDPOINTS_MANAGER):
        return
    for index, subset in enumerate(obj.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            path = FieldPath("subsets").index(index).child(field)
            for number, address in enumerate(subset.get(field) or ()):
                yield from address_warnings(path.index(number).child("ip"), address.get("ip", ""))


def endpoint_slice_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about an EndpointSlice; its type of address is not in a spec, whatever the
    text says."""
    if old is None and obj.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    if _is_managed(obj, SLICE_MANAGERS):
        return
    for index, endpoint in enumerate(obj.get("endpoints") or ()):
        path = FieldPath("endpoints").index(index).child("addresses")
        for number, address in enumerate(endpoint.get("addresses") or ()):
            yield from address_warnings(path.index(number), address)


def network_policy_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a NetworkPolicy."""
    spec = obj.get("spec") or {}
    for field, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(field) or ()):
            path = _SPEC.child(field).index(index).child(peers)
            for number, peer in enumerate(rule.get(peers) or ()):
                yield from _block(peer.get("ipBlock"), path.index(number).child("ipBlock"))


def _block(block: JsonObject | None, path: FieldPath) -> Iterator[str]:
    if block is None:
        return
    yield from range_warnings(path.child("cidr"), block.get("cidr", ""))
    for index, cidr in enumerate(block.get("except") or ()):
        yield from range_warnings(path.child("except").index(index), cidr)


def service_cidr_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a ServiceCIDR."""
    for index, cidr in enumerate((obj.get("spec") or {}).get("cidrs") or ()):
        yield from range_warnings(_SPEC.child("cidrs").index(index), cidr)


# --- Secret warnings ---------------------------------------------------------
#
# What an API server remarks about Secrets: a certificate whose key is another one's.


def secret_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a Secret for TLS."""
    if obj.get("type") != well_known_values.TLS_SECRET:
        return
    # late: few objects have certificates in them.
    from celadon.kube.x509 import key_pair_fault

    data = obj.get("data") or {}
    fault = key_pair_fault(_decoded(data.get("tls.crt")), _decoded(data.get("tls.key")))
    if fault:
        yield fault


def _decoded(text: str | None) -> bytes:
    try:
        return base64.b64decode(text or "")
    except binascii.Error:
        return b""


# --- Storage warnings --------------------------------------------------------
#
# What an API server remarks about volumes, claims, and those who provide them.
#
# As k8s.io/kubernetes `pkg/api/{persistentvolume,persistentvolumeclaim,storage}/util.go` and
# `pkg/registry/storage/csidriver/strategy.go`.

DEPRECATED_SOURCES: Final = (
    ("cephfs", "cephfs", "v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "v1.28, non-functional in v1.31+"),
)
"""Fields of PersistentVolumes, their names in warnings, and since when they are deprecated."""

_NOTES: Final = FieldPath("metadata", "annotations")
_OLD_CLASS: Final = 'deprecated since v1.8; use "storageClassName" attribute instead'


def volume_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a PersistentVolume."""
    spec, notes = obj.get("spec") or {}, metadata.annotations(obj)
    if well_known_values.STORAGE_CLASS in notes:
        yield f"{_NOTES.key(well_known_values.STORAGE_CLASS)}: {_OLD_CLASS}"
    if well_known_values.MOUNT_OPTIONS in notes and is_since("1.31"):
        reason = 'deprecated since v1.31; use "mountOptions" attribute instead'
        yield f"{_NOTES.key(well_known_values.MOUNT_OPTIONS)}: {reason}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        path = _SPEC.child("nodeAffinity", "required", "nodeSelectorTerms").index(index)
        yield from term_warnings(term, path)
    for field, deprecated_source, release in DEPRECATED_SOURCES:
        if spec.get(field) is not None:
            yield f"{_SPEC.child(deprecated_source)}: deprecated in {release}"


def claim_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a PersistentVolumeClaim."""
    if well_known_values.STORAGE_CLASS in metadata.annotations(obj):
        yield f"{_NOTES.key(well_known_values.STORAGE_CLASS)}: {_OLD_CLASS}"
    yield from claim_spec_warnings(obj.get("spec") or {}, _SPEC)


def storage_class_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a StorageClass."""
    for index, term in enumerate(obj.get("allowedTopologies") or ()):
        path = FieldPath("allowedTopologies").index(index).child("matchLabelExpressions")
        for number, expression in enumerate(term.get("matchLabelExpressions") or ()):
            key = expression.get("key", "")
            reason = label_deprecation(key)
            if reason is not None:
                yield f"{path.index(number).child('key')}: {reason}"


def storage_capacity_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a CSIStorageCapacity."""
    yield from selector_warnings(obj.get("nodeTopology"), FieldPath("nodeTopology"))


@since("1.35")
def driver_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a CSIDriver that wants tokens, or others than before, and does not
    say where to."""
    spec = obj.get("spec") or {}
    if old is not None and _tokens(old) == _tokens(obj):
        return
    if spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to "
            "true to prevent possible logging of tokens in volume attributes"
        )


def _tokens(driver: JsonObject) -> object:
    return (driver.get("spec") or {}).get("tokenRequests") or []


# --- Workload warnings -------------------------------------------------------
#
# What an API server remarks about whatever makes pods from a template.
#
# Of a changed object the template is looked at again only if the object has a new generation.
# As the `strategy.go` of each kind in k8s.io/kubernetes `pkg/registry/{apps,batch,core}`, and
# `pkg/api/job/warnings.go`.

MANY_COMPLETIONS: Final = 100_000
MUCH_PARALLELISM: Final = 10_000

_JOB_SPEC: Final = FieldPath("spec", "jobTemplate", "spec")
_TOO_MANY: Final = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
    "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
)
_CLAIMS: Final = _SPEC.child("volumeClaimTemplates")


def _is_new(obj: JsonObject, old: JsonObject | None) -> bool:
    return old is None or metadata.generation(obj) != metadata.generation(old)


def _pod_names(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    faults = [] if old is not None else name_rules.dns1123_label(metadata.name(obj))
    if faults:
        yield (
            "metadata.name: this is used in Pod names and hostnames, which can result in "
            f"surprising behavior; a DNS label is recommended: [{' '.join(faults)}]"
        )


def _spec(obj: JsonObject) -> JsonObject:
    spec: JsonObject = obj.get("spec") or {}
    return spec


def controller_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a Deployment or a ReplicaSet."""
    yield from _pod_names(obj, old)
    yield from daemon_set_warnings(obj, old)


def replication_controller_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Upstream warns about the template that a changed one had."""
    yield from _pod_names(obj, old)
    if _is_new(obj, old):
        template = _spec(obj if old is None else old).get("template")
        yield from template_warnings(template, _SPEC.child("template"))


def daemon_set_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a DaemonSet: just its template."""
    if _is_new(obj, old):
        yield from template_warnings(_spec(obj).get("template"), _SPEC.child("template"))


def stateful_set_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield warnings about the claims, which are looked at whatever changed, and whose path is
    upstream's."""
    yield from daemon_set_warnings(obj, old)
    for index, claim in enumerate(_spec(obj).get("volumeClaimTemplates") or ()):
        path = _CLAIMS.index(index)
        spec_path = path if old is None else path.child("Spec")
        yield from claim_spec_warnings(claim.get("spec") or {}, spec_path)
    yield from _endless_history(_spec(obj).get("revisionHistoryLimit"))


@since("1.33")
def _endless_history(limit: int | None) -> Iterator[str]:
    if limit is not None and limit < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value "
            ">= 0 is recommended"
        )


def job_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a Job."""
    yield from _pod_names(obj, old)
    if _is_new(obj, old):
        yield from _job_spec(_spec(obj), _SPEC)


def cron_job_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield warnings. A time zone in the schedule of a new one is refused; that of an old one is
    put up with."""
    yield from _pod_names(obj, old)
    if _is_new(obj, old):
        yield from _job_spec((_spec(obj).get("jobTemplate") or {}).get("spec") or {}, _JOB_SPEC)
    if old is not None and "TZ" in (_spec(obj).get("schedule") or ""):
        yield (
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )


def _job_spec(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    many = (spec.get("completions") or 0) > MANY_COMPLETIONS
    much = (spec.get("parallelism") or 0) > MUCH_PARALLELISM
    if spec.get("completionMode") == "Indexed" and many and much:
        yield f"{path}: {_TOO_MANY}"
    yield from template_warnings(spec.get("template"), path.child("template"))


def pod_template_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings about a PodTemplate."""
    if _is_new(obj, old):
        yield from template_warnings(obj.get("template"), FieldPath("template"))


Warn: TypeAlias = Callable[[JsonObject, JsonObject | None], Iterator[str]]
"""Of an object, and of the one it replaces, or None for a new one."""


def _new_pod(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Yield the warnings of new pods alone: people seldom change pods, controllers often."""
    return pod_warnings(obj) if old is None else iter(())


_CORE: Final[Mapping[str, Warn]] = {
    "Endpoints": endpoints_warnings,
    "Node": node_warnings,
    "PersistentVolume": volume_warnings,
    "PersistentVolumeClaim": claim_warnings,
    "Pod": _new_pod,
    "PodTemplate": pod_template_warnings,
    "ReplicationController": replication_controller_warnings,
    "ResourceQuota": resource_quota_warnings,
    "Secret": secret_warnings,
    "Service": service_warnings,
    "ServiceAccount": service_account_warnings,
}
WARNINGS: Final[Mapping[GroupKind, Warn]] = {
    **{GroupKind("", kind): warn for kind, warn in _CORE.items()},
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): (definition_warnings),
    GroupKind("apps", "DaemonSet"): daemon_set_warnings,
    GroupKind("apps", "Deployment"): controller_warnings,
    GroupKind("apps", "ReplicaSet"): controller_warnings,
    GroupKind("apps", "StatefulSet"): stateful_set_warnings,
    GroupKind("batch", "CronJob"): cron_job_warnings,
    GroupKind("batch", "Job"): job_warnings,
    GroupKind("discovery.k8s.io", "EndpointSlice"): endpoint_slice_warnings,
    GroupKind("networking.k8s.io", "Ingress"): ingress_warnings,
    GroupKind("networking.k8s.io", "NetworkPolicy"): network_policy_warnings,
    GroupKind("networking.k8s.io", "ServiceCIDR"): service_cidr_warnings,
    GroupKind("node.k8s.io", "RuntimeClass"): runtime_class_warnings,
    GroupKind("resource.k8s.io", "ResourceSlice"): resource_slice_warnings,
    GroupKind("storage.k8s.io", "CSIDriver"): driver_warnings,
    GroupKind("storage.k8s.io", "CSIStorageCapacity"): (storage_capacity_warnings),
    GroupKind("storage.k8s.io", "StorageClass"): storage_class_warnings,
}
STATUS_WARNINGS: Final[Mapping[GroupKind, Warn]] = {
    GroupKind("", "Pod"): pod_status_warnings,
    GroupKind("", "Service"): service_status_warnings,
    GroupKind("networking.k8s.io", "Ingress"): ingress_status_warnings,
}
"""Of writes to `/status`."""


def kind_warnings(
    kind: GroupKind,
    obj: JsonObject,
    old: JsonObject | None = None,
    *,
    subresource: str = "",
    custom: bool = False,
) -> list[str]:
    """Return the warnings of an object as validation sees it; `old` is None for a new one.
    `custom`: a definition says what the kind is."""
    if subresource not in ("", "status"):
        return []
    if custom:
        return [] if subresource else list(custom_resource_warnings(obj, old))
    warn = (STATUS_WARNINGS if subresource else WARNINGS).get(kind)
    return [] if warn is None else list(warn(obj, old))


def warnings_before(kind: GroupKind, obj: JsonObject) -> list[str]:
    """Return the warnings of a new object as it was sent, when the server will change what is
    remarked upon."""
    return list(converted_apparmor(obj)) if kind == GroupKind("", "Pod") else []
