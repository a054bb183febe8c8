"""The objects that every new server has from its start, and those that every new namespace gets.

The objects are as one would create them; the write path completes them. As k8s.io/kubernetes
`pkg/controlplane/controller/{systemnamespaces,kubernetesservice,clusterauthenticationtrust}`,
`pkg/registry/scheduling/rest`, `pkg/controller/{serviceaccount,certificates/rootcacertpublisher}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from celadon.kube import well_known_values
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.resources import Catalog

SERVICE: Final = "kubernetes"

FIRST_ADDRESS: Final = "10.0.0.1"
"""Of the Services: that of the server's own."""

API_PORT: Final = 6443
"""What that Service leads to (`--secure-port` of kube-apiserver)."""

MANAGED_BY: Final = "ipaddress.kubernetes.io/managed-by"
ADDRESS_ALLOCATOR: Final = "ipallocator.k8s.io"
"""Label and value of the records that the server keeps itself."""

ROOT_CA_CONFIG_MAP: Final = "kube-root-ca.crt"
_ROOT_CA_DESCRIPTION: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)

PRIORITY_CLASSES: Final = (
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another "
        "node if necessary.",
    ),
)
"""Name, value and description."""

SERVER: Final = "kube-apiserver"
FLOW_CONSUMER: Final = "api-priority-and-fairness-config-consumer-v1"
_FLOW_PRODUCER: Final = "api-priority-and-fairness-config-producer-v1"
MAKERS: Final[Mapping[str, str]] = {
    "FlowSchema": _FLOW_PRODUCER,
    "PriorityLevelConfiguration": _FLOW_PRODUCER,
    "ServiceAccount": "",
}
"""Who made an object of a kind, as its managers say, if not `SERVER`; empty for nobody."""


def initial_namespaces() -> Iterator[JsonDict]:
    """Yield the four that no server is without."""
    for name in well_known_values.SYSTEM_NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def initial_priority_classes() -> Iterator[JsonDict]:
    for name, value, description in PRIORITY_CLASSES:
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
        }


def kubernetes_service(address: str = FIRST_ADDRESS) -> JsonDict:
    """Return the server's own Service."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": SERVICE,
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": address,
            "ports": [
                {
                    "name": "https",
                    "protocol": "TCP",
                    "port": well_known_values.HTTPS_PORT,
                    "targetPort": API_PORT,
                }
            ],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }


def service_range(cidr: str, now: str) -> JsonDict:
    """Return the ServiceCIDR from which Services get their addresses."""
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "",
        "message": "Kubernetes default Service CIDR is ready",
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "ServiceCIDR",
        "metadata": {"name": SERVICE},
        "spec": {"cidrs": [cidr]},
        "status": {"conditions": [ready]},
    }


def address_record(address: str, namespace: str, name: str) -> JsonDict:
    """Return who has an address: a Service."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": {
            "name": address,
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv6" if ":" in address else "IPv4",
                MANAGED_BY: ADDRESS_ALLOCATOR,
            },
        },
        "spec": {"parentRef": {"resource": "services", "namespace": namespace, "name": name}},
    }


def kubernetes_endpoints(address: str, port: int) -> Iterator[JsonDict]:
    """Yield where that Service leads: an Endpoints object and an EndpointSlice. `address` is an
    IPv4 or IPv6 address that is not a loopback one: validation refuses those."""
    ports = [{"name": "https", "port": port, "protocol": "TCP"}]
    yield {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": SERVICE,
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{"addresses": [{"ip": address}], "ports": ports}],
    }
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": SERVICE,
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": SERVICE},
        },
        "addressType": "IPv6" if ":" in address else "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": ports,
    }


def authentication_config_map(client_ca: str, front_proxy: Mapping[str, str] = {}) -> JsonDict:
    """Return what extension servers read to check clients; `client_ca` is PEM, empty if there is
    none, `front_proxy` says by what they know this server."""
    data = {**({"client-ca-file": client_ca} if client_ca else {}), **front_proxy}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "extension-apiserver-authentication",
            "namespace": "kube-system",
        },
        **({"data": data} if data else {}),
    }


def default_service_account(namespace: str) -> JsonDict:
    """Return the account of pods that name none."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": namespace},
    }


def root_ca_config_map(namespace: str, server_ca: str) -> JsonDict:
    """Return the ConfigMap by which pods know the server; `server_ca` is PEM."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": ROOT_CA_CONFIG_MAP,
            "namespace": namespace,
            "annotations": {"kubernetes.io/description": _ROOT_CA_DESCRIPTION},
        },
        "data": {"ca.crt": server_ca},
    }


# --- Flow control objects ----------------------------------------------------
#
# The FlowSchemas and priority levels that every cluster has.
#
# As k8s.io/apiserver `pkg/apis/flowcontrol/bootstrap/default.go`. A server keeps them: what
# somebody deletes comes back, and what somebody changes is set right unless an annotation says
# otherwise; the mandatory ones are set right in any case. `flowcontrol` is what they do.

GROUP_VERSION: Final = "flowcontrol.apiserver.k8s.io/v1"
AUTO_UPDATE: Final = "apf.kubernetes.io/autoupdate-spec"
"""The annotation: whether the server looks after the object's spec."""

MANDATORY: Final = frozenset(
    {("FlowSchema", "exempt"), ("FlowSchema", "catch-all")}
    | {("PriorityLevelConfiguration", "catch-all")}
)
"""By kind and name: those that cannot be otherwise."""

_Rules = JsonDict

_LEVELS: Final[Mapping[str, tuple[int, int, tuple[int, int] | None]]] = {
    "catch-all": (5, 0, None),
    "global-default": (20, 50, (128, 6)),
    "leader-election": (10, 0, (16, 4)),
    "node-high": (40, 25, (64, 6)),
    "system": (30, 33, (64, 6)),
    "workload-high": (40, 50, (128, 6)),
    "workload-low": (100, 90, (128, 6)),
}
"""Shares of what is served at once, percents that may be lent, and queues with the hands dealt from
them; without queues what is too much is rejected."""

_QUEUE_LENGTH: Final = 50


def _groups(*names: str) -> list[JsonDict]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


def _users(*names: str) -> list[JsonDict]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


def _everything(subjects: Sequence[JsonDict]) -> _Rules:
    every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    return {
        "subjects": subjects,
        "resourceRules": [{**every, "clusterScope": True, "namespaces": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }


def _leases(*verbs: str) -> JsonDict:
    group = "coordination.k8s.io"
    named = {"verbs": list(verbs), "apiGroups": [group], "resources": ["leases"]}
    return {**named, "namespaces": ["*"]}


_ACCOUNTS: Final = {"name": "*", "namespace": "kube-system"}
_SYSTEM_ACCOUNTS: Final = [{"kind": "ServiceAccount", "serviceAccount": _ACCOUNTS}]
_EVERYBODY: Final = _groups(well_known_values.UNAUTHENTICATED, well_known_values.AUTHENTICATED)
_MANAGER: Final = "system:kube-controller-manager"
_SCHEDULER: Final = "system:kube-scheduler"

_WRITE_ENDPOINTS: Final = {
    "verbs": ["get", "create", "update"],
    "apiGroups": [""],
    "resources": ["endpoints"],
    "namespaces": ["*"],
}


def _account(name: str) -> JsonDict:
    account = {"name": name, "namespace": "kube-system"}
    return {"kind": "ServiceAccount", "serviceAccount": account}


_SCHEMAS: Final[Sequence[tuple[str, str, int, str, _Rules]]] = (
    ("exempt", "exempt", 1, "", _everything(_groups("system:masters"))),
    (
        "probes",
        "exempt",
        2,
        "",
        {
            "subjects": _EVERYBODY,
            "nonResourceRules": [
                {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
            ],
        },
    ),
    (
        "system-leader-election",
        "leader-election",
        100,
        "ByUser",
        {
            "subjects": [*_users(_MANAGER, _SCHEDULER), *_SYSTEM_ACCOUNTS],
            "resourceRules": [_leases("get", "create", "update")],
        },
    ),
    (
        "endpoint-controller",
        "workload-high",
        150,
        "ByUser",
        {
            "subjects": [
                *_users(_MANAGER),
                _account("endpoint-controller"),
                _account("endpointslicemirroring-controller"),
            ],
            "resourceRules": [_WRITE_ENDPOINTS],
        },
    ),
    (
        "workload-leader-election",
        "leader-election",
        200,
        "ByUser",
        {
            "subjects": _SYSTEM_ACCOUNTS,
            "resourceRules": [
                {**_WRITE_ENDPOINTS, "resources": ["endpoints", "configmaps"]},
                _leases("get", "create", "update"),
            ],
        },
    ),
    (
        "system-node-high",
        "node-high",
        400,
        "ByUser",
        {
            "subjects": _groups(well_known_values.NODE_GROUP),
            "resourceRules": [
                {
                    "verbs": ["*"],
                    "apiGroups": [""],
                    "resources": ["nodes", "nodes/status"],
                    "clusterScope": True,
                    "namespaces": ["*"],
                },
                _leases("*"),
            ],
        },
    ),
    ("system-nodes", "system", 500, "ByUser", _everything(_groups(well_known_values.NODE_GROUP))),
    (
        "kube-controller-manager",
        "workload-high",
        800,
        "ByNamespace",
        _everything(_users(_MANAGER)),
    ),
    ("kube-scheduler", "workload-high", 800, "ByNamespace", _everything(_users(_SCHEDULER))),
    (
        "kube-system-service-accounts",
        "workload-high",
        900,
        "ByNamespace",
        _everything(_SYSTEM_ACCOUNTS),
    ),
    (
        "service-accounts",
        "workload-low",
        9000,
        "ByUser",
        _everything(_groups("system:serviceaccounts")),
    ),
    ("global-default", "global-default", 9900, "ByUser", _everything(_EVERYBODY)),
    ("catch-all", "catch-all", 10000, "ByUser", _everything(_EVERYBODY)),
)
"""Names, levels, precedences, by what flows are told apart, and rules."""

_UNTIL: Final = {"endpoint-controller": "1.34", "workload-leader-election": "1.34"}
"""The release since which a FlowSchema is not there any more."""


def priority_levels() -> Iterator[JsonDict]:
    """Yield the priority levels of a new cluster, the one that nothing limits first."""
    free = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    yield _object("PriorityLevelConfiguration", "exempt", {"type": "Exempt", "exempt": free})
    for name, (shares, lendable, queues) in _LEVELS.items():
        limited: JsonDict = {
            "nominalConcurrencyShares": shares,
            "lendablePercent": lendable,
            "limitResponse": {"type": "Reject"} if queues is None else _queuing(*queues),
        }
        spec = {"type": "Limited", "limited": limited}
        yield _object("PriorityLevelConfiguration", name, spec)


def flow_schemas() -> Iterator[JsonDict]:
    """Yield the FlowSchemas of a new cluster in the order of their precedence; their levels
    exist."""
    for name, level, precedence, distinguisher, rules in _SCHEMAS:
        if name in _UNTIL and is_since(_UNTIL[name]):
            continue
        spec: JsonDict = {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": precedence,
        }
        if distinguisher:
            spec["distinguisherMethod"] = {"type": distinguisher}
        result = _object("FlowSchema", name, {**spec, "rules": [rules]})
        yield {**result, "status": {"conditions": [level_condition(level, exists=True)]}}


def level_condition(level: str, *, exists: bool) -> JsonDict:
    """Return what the status of a FlowSchema says about its level, without a time."""
    names = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    return {
        "type": "Dangling",
        "status": "False" if exists else "True",
        "reason": "Found" if exists else "NotFound",
        "message": f"{names} and it exists" if exists else f"{names} but there is no such object",
    }


def _queuing(queues: int, hand: int) -> JsonDict:
    sizes = {"queues": queues, "handSize": hand, "queueLengthLimit": _QUEUE_LENGTH}
    return {"type": "Queue", "queuing": sizes}


def _object(kind: str, name: str, spec: JsonDict) -> JsonDict:
    meta = {"name": name, "annotations": {AUTO_UPDATE: "true"}}
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": meta, "spec": spec}


# --- Api service objects -----------------------------------------------------
#
# APIServices of the versions that a server serves itself: `kubectl get apiservices` lists them.
#
# As k8s.io/kubernetes `pkg/controlplane/apiserver/aggregator.go` and
# `pkg/controlplane/apiserver/options`, where the priorities are, those of custom resources in
# `pkg/controlplane/controller/crdregistration`, and k8s.io/kube-aggregator
# `pkg/controllers/autoregister`.

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
    ("authentication.k8s.io", "v1alpha1"): 1,
    ("autoscaling", "v2"): 30,
    ("certificates.k8s.io", "v1alpha1"): 1,
    ("networking.k8s.io", "v1alpha1"): 1,
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

APIREGISTRATION: Final = "apiregistration.k8s.io"
_FIRST: Final = (20001, _STABLE)
"""Of the group of APIServices itself, which stands before all others."""

_DYNAMIC_RESOURCES_BEFORE_1_32: Final = (15900, _OTHER)
"""Of the group and of its versions."""


def api_services(catalog: Catalog) -> Iterator[JsonDict]:
    """Yield an APIService for each group version with served resources, in the catalog's order."""
    served = dict.fromkeys(
        (resource.gvr.group, resource.gvr.version) for resource in catalog if resource.served
    )
    for group, version in served:
        if group in _OF_GROUP:
            yield _api_service(group, version)


def _api_service(group: str, version: str) -> JsonDict:
    usual = _STABLE if version == "v1" else _OTHER
    of_group, priority = _OF_GROUP[group], _OF_VERSION.get((group, version), usual)
    if group == well_known_values.DYNAMIC_RESOURCES and not is_since("1.32"):
        of_group, priority = _DYNAMIC_RESOURCES_BEFORE_1_32
    return _local(group, version, of_group, priority, ON_START)


def local_priorities(group: str, version: str) -> tuple[int, int]:
    """Return the priorities of a group, and of a version of it, that this server serves itself."""
    if group == APIREGISTRATION:
        return _FIRST
    api_service = (
        _api_service(group, version) if group in _OF_GROUP else custom_api_service(group, version)
    )
    spec = api_service["spec"]
    return spec["groupPriorityMinimum"], spec["versionPriority"]


def custom_api_service(group: str, version: str) -> JsonDict:
    """Return the APIService of a version of custom resources."""
    return _local(group, version, _CUSTOM_GROUP, _CUSTOM_VERSION, ALWAYS)


def _local(group: str, version: str, of_group: int, of_version: int, managed: str) -> JsonDict:
    spec = {"groupPriorityMinimum": of_group, "version": version, "versionPriority": of_version}
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}", "labels": {MANAGED: managed}},
        "spec": {"group": group, **spec} if group else spec,
    }
