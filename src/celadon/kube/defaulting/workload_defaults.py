"""Functions of the defaulting rules for Services, jobs, autoscalers, claims and other kinds than
pods.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.kube import fieldpath, metadata, status, well_known_values
from celadon.kube.defaulting.defaulting_context import ALLOCATED_PORT, Apply, Run
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.names import GroupKind
from celadon.kube.quantity import (
    QOS_RESOURCES,
    note_rounded,
    pod_total,
    qos_class,
    rounded_to_milli,
)
from celadon.kube.releases import is_since
from celadon.kube.resources.autoscaler_conversion import to_v1, to_v2
from celadon.kube.status import StatusError

# --- Services ----------------------------------------------------------------
#
# What the registry fills into a new Service: addresses, families, node ports.

# --- Service families --------------------------------------------------------
#
# Which IP families a Service has, new or changed: before it gets its addresses.
#
# As `initIPFamilyFields` in k8s.io/kubernetes `pkg/registry/core/service/storage/alloc.go`.
# What is wrong with addresses and families is said here alone, before anything else about the
# Service is.

_SERVICE: Final = GroupKind("", "Service")
_SPEC: Final = FieldPath("spec")
_POLICY: Final = _SPEC.child("ipFamilyPolicy")
SINGLE: Final = "SingleStack"
PREFERRED: Final = "PreferDualStack"
REQUIRED: Final = "RequireDualStack"
WITH_ADDRESS: Final = frozenset({"ClusterIP", "NodePort", "LoadBalancer"})
_PARTS: Final = {"clusterIPs": "secondary cluster IP", "ipFamilies": "secondary IP family"}
_SEVERAL: Final = {"clusterIPs": "multiple cluster IPs", "ipFamilies": "multiple IP families"}


def settle_families(spec: JsonDict, run: Run, old: JsonObject) -> None:
    """Set policy and families; `old` is the spec of the Service as it was, empty for a new one.
    Raises StatusError (422) where they cannot be had."""
    if spec.get("type") == "ExternalName" or _prefers_the_same(spec, old):
        return
    bare = spec.get("clusterIP") == well_known_values.HEADLESS and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        spec["ipFamilyPolicy"] = old.get("ipFamilyPolicy") or (REQUIRED if bare else SINGLE)
    _refuse(run, _wrong_addresses(spec, old, run))
    errors = [*_released(spec, old), *_too_many(spec), *_inferred(spec, run)]
    _refuse(run, errors)
    if not bare:
        _refuse(run, _not_configured(spec, run))
    network = run.context.network
    families = list(spec.get("ipFamilies") or network.families[:1])
    if spec["ipFamilyPolicy"] != SINGLE and len(families) == 1:
        offered = well_known_values.IP_FAMILIES if bare else network.families
        families += [family for family in offered if family != families[0]]
    spec["ipFamilies"] = families


def _prefers_the_same(spec: JsonObject, old: JsonObject) -> bool:
    """Return what prefers two families is not given another one because the cluster has changed."""
    if not old or spec.get("type") != old.get("type") or spec.get("type") not in WITH_ADDRESS:
        return False
    policies = spec.get("ipFamilyPolicy"), old.get("ipFamilyPolicy") or PREFERRED
    same = all((spec.get(part) or []) == (old.get(part) or []) for part in _PARTS)
    return policies == (PREFERRED, PREFERRED) and same


def _wrong_addresses(spec: JsonObject, old: JsonObject, run: Run) -> list[FieldError]:
    # late: only Services need rules of validation this early.
    from celadon.kube.validation.field_checks import gates_on, holding
    from celadon.kube.validation.services import service_addresses

    errors = service_addresses(spec, old.get("clusterIPs") or ())
    return holding(errors, gates_on(run.context.gates))


def _released(spec: JsonDict, old: JsonObject) -> list[FieldError]:
    """Return the errors of releasing a family: a policy of one family lets the second go; without
    it nobody may leave it out."""
    errors: list[FieldError] = []
    policy = spec["ipFamilyPolicy"]
    for part, called in _PARTS.items():
        values, before = spec.get(part) or [], old.get(part) or []
        if policy == SINGLE and values == before and len(values) > 1:
            spec[part] = values[:1]
        elif policy != SINGLE and values and len(values) < len(before):
            reason = f"must be 'SingleStack' to release the {called}"
            errors.append(fieldpath.invalid(_POLICY, NamedText(policy), reason))
    return errors


def _too_many(spec: JsonObject) -> list[FieldError]:
    return [
        fieldpath.invalid(
            _POLICY,
            NamedText(SINGLE),
            f"must be 'RequireDualStack' or 'PreferDualStack' when {called} are specified",
        )
        for part, called in _SEVERAL.items()
        if spec["ipFamilyPolicy"] == SINGLE and len(spec.get(part) or ()) == 2
    ]


def _inferred(spec: JsonDict, run: Run) -> list[FieldError]:
    """Families that are not said are those of the addresses."""
    errors: list[FieldError] = []
    network, addresses = run.context.network, spec.get("clusterIPs") or []
    for index, address in enumerate(addresses):
        if address == well_known_values.HEADLESS:
            break
        families = list(spec.get("ipFamilies") or ())
        if index < len(families):
            continue
        family = "IPv6" if ":" in address else "IPv4"
        if network.families_are_known and family not in network.families:
            path = _SPEC.child("clusterIPs").index(index)
            reason = f"{family} is not configured on this cluster"
            errors.append(fieldpath.invalid(path, addresses, reason))
        else:
            spec["ipFamilies"] = [*families, family]
    return errors


def _not_configured(spec: JsonObject, run: Run) -> list[FieldError]:
    network = run.context.network
    if not network.families_are_known:
        return []
    errors: list[FieldError] = []
    if spec["ipFamilyPolicy"] == REQUIRED and len(network.families) < 2:
        reason = "this cluster is not configured for dual-stack services"
        errors.append(fieldpath.invalid(_POLICY, NamedText(REQUIRED), reason))
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in network.families:
            path = _SPEC.child("ipFamilies").index(index)
            reason = "not configured on this cluster"
            errors.append(fieldpath.invalid(path, NamedText(family), reason))
    return errors


def _refuse(run: Run, errors: Iterable[FieldError]) -> None:
    result = list(errors)
    if result:
        raise refused(run, result)


def refused(run: Run, errors: list[FieldError]) -> StatusError:
    """Return the answer to a Service that cannot have what it asks for."""
    return status.invalid(_SERVICE, metadata.name(run.root), errors)


_ADDRESSES: Final = FieldPath("spec", "clusterIPs")
_PORTS: Final = FieldPath("spec", "ports")


def service_allocate(spec: object, run: Run) -> None:
    """Allocate what a new Service needs. Raises StatusError: 422 for a value that cannot be had,
    500 where nothing is left."""
    if run.context.allocating:
        allocate(spec, run, {})


def allocate(spec: Any, run: Run, old: JsonObject) -> None:
    """Allocate what is still missing; `old` is the spec of the Service as it was, whose addresses
    and ports stay its own."""
    cluster_ip, is_name = spec.get("clusterIP", ""), spec.get("type") == "ExternalName"
    # Of a Service that becomes only a name, upstream does not look at the address alone.
    if cluster_ip and not spec.get("clusterIPs") and not (is_name and old.get("clusterIPs")):
        spec["clusterIPs"] = [cluster_ip]
    if is_name:
        return
    settle_families(spec, run, old)
    if cluster_ip != well_known_values.HEADLESS and _gets_addresses(spec, old):
        _require_addresses(spec, run, old)
        _allocate_addresses(spec, run)
    ports = _NodePorts(run)
    if spec.get("type") in well_known_values.WITH_NODE_PORTS:
        if old:
            _update_ports(spec, old, ports)
        else:
            _take_ports(spec, ports)
    if _has_health_check(spec) and not _has_health_check(old):
        _take_health_check(spec, ports)


def _gets_addresses(spec: JsonObject, old: JsonObject) -> bool:
    """Return whether a Service is new to addresses, or gets a second family; any other that has
    none, since it was created through its status, stays without."""
    # As `updateClusterIPs` of `pkg/registry/core/service/storage`.
    if not old or (_has_address(spec) and not _has_address(old)):
        return True
    counts = [len(service_spec.get("ipFamilies") or ()) for service_spec in (old, spec)]
    return _has_address(spec) and counts == [1, 2]


def _require_addresses(spec: Any, run: Run, old: JsonObject) -> None:
    """Require the addresses that were allocated. One that replaces another is no matter of
    allocation: it is refused later."""
    cluster_ips = spec.get("clusterIPs") or []
    old_count = len(old.get("clusterIPs") or ())
    for address in cluster_ips[old_count:]:
        fault = run.context.network.address_fault(address)
        if fault:
            detail = f"failed to allocate IP {address}: {fault}"
            raise refused(run, [fieldpath.invalid(_ADDRESSES, cluster_ips, detail)])


def _allocate_addresses(spec: Any, run: Run) -> None:
    cluster_ips = spec.get("clusterIPs") or []
    network = run.context.network
    missing = [
        ip_family
        for ip_family in spec["ipFamilies"][len(cluster_ips) :]
        if ip_family in network.families
    ]
    addresses = [*cluster_ips, *map(network.cluster_ip, missing)]
    if addresses:
        spec["clusterIPs"] = addresses
        spec.setdefault("clusterIP", addresses[0])


class _NodePorts:
    """The node ports that one write takes."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._taken_ports: list[int] = []

    def next(self) -> int:
        """Take a free port and return it."""
        port = self._run.context.network.node_port(self._taken_ports)
        self._taken_ports.append(port)
        return port

    def fault(self, port: int) -> str:
        """Take one that a client asks for, or return why it cannot be had."""
        if port in self._taken_ports:
            return ALLOCATED_PORT
        fault = self._run.context.network.port_fault(port)
        if not fault:
            self._taken_ports.append(port)
        return fault

    def require(self, index: int, port: int) -> None:
        """Take the one that a client asks for in a port of its Service. Raises StatusError."""
        fault = self.fault(port)
        if fault:
            path = _PORTS.index(index).child("nodePort")
            raise refused(self._run, [fieldpath.invalid(path, port, fault)])


def _take_ports(spec: Any, ports: _NodePorts) -> None:
    """Ports of a new Service with the same number share a node port, which one of them may name."""
    # As `initNodePorts` of `pkg/registry/core/service/storage`.
    service_ports = spec.get("ports") or ()
    shared: dict[int, int] = {}
    for index, port in enumerate(service_ports):
        node_port, number = port.get("nodePort", 0), port.get("port", 0)
        if not node_port and not _has_node_ports(spec):
            continue
        if number not in shared:
            same = (
                port.get("nodePort", 0) for port in service_ports if port.get("port", 0) == number
            )
            named = next(filter(None, same), 0)
            if named:
                ports.require(index, named)
            shared[number] = port["nodePort"] = named or ports.next()
        elif not node_port:
            port["nodePort"] = shared[number]
        elif node_port != shared[number]:
            ports.require(index, node_port)


def _update_ports(spec: Any, old: JsonObject, ports: _NodePorts) -> None:
    """Give node ports to an updated Service. Raises StatusError (500) when a protocol would have a
    node port twice."""
    # As `updateNodePorts` of `pkg/registry/core/service/storage`.
    known = _node_ports(old) | {old.get("healthCheckNodePort", 0)}
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(spec.get("ports") or ()):
        node_port, protocol = port.get("nodePort", 0), port.get("protocol", "")
        if not node_port and not _has_node_ports(spec):
            continue
        if not node_port:
            port["nodePort"] = ports.next()
        elif node_port not in known:
            ports.require(index, node_port)
            known.add(node_port)
        if (protocol, port["nodePort"]) in seen:
            raise status.plain_error(f"duplicate nodePort: {{{protocol} {port['nodePort']}}}")
        seen.add((protocol, port["nodePort"]))


def _take_health_check(spec: Any, ports: _NodePorts) -> None:
    number = spec.get("healthCheckNodePort", 0)
    if not number:
        spec["healthCheckNodePort"] = ports.next()
        return
    fault = ports.fault(number)
    if fault:
        reason = f"failed to allocate requested HealthCheck NodePort {number}: {fault}"
        raise status.internal_error(reason)


# --- Service updates ---------------------------------------------------------
#
# What the registry does with a changed Service: what was allocated stays, what no longer fits
# goes.
#
# A client need not send what the server allocated. When the type changes, the fields of the old
# type are wiped unless the client changed them in the same request. What is still missing is
# allocated.


def _has_address(spec: JsonObject) -> bool:
    return spec.get("type") != "ExternalName"


def _has_node_ports(spec: JsonObject) -> bool:
    kind = spec.get("type")
    unwanted = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False
    return kind in well_known_values.WITH_NODE_PORTS and not unwanted


def _has_health_check(spec: JsonObject) -> bool:
    return _is_balancer(spec) and spec.get("externalTrafficPolicy") == "Local"


def _is_balancer(spec: JsonObject) -> bool:
    return spec.get("type") == "LoadBalancer"


def _is_external(spec: JsonObject) -> bool:
    by_address = spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))
    return spec.get("type") in well_known_values.WITH_NODE_PORTS or by_address


WIPED: Final[tuple[tuple[Callable[[JsonObject], bool], tuple[str, ...]], ...]] = (
    (
        _has_address,
        ("clusterIPs", "clusterIP", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"),
    ),
    (_has_health_check, ("healthCheckNodePort",)),
    (_is_balancer, ("allocateLoadBalancerNodePorts", "loadBalancerClass")),
    (_is_external, ("externalTrafficPolicy",)),
)
"""Who has which fields. They go when a Service is no longer one of those."""


def service_update(spec: JsonDict, old: JsonObject, run: Run) -> None:
    """Change the new spec to what is validated and stored. Raises StatusError (500) when a protocol
    would have a node port twice."""
    if spec.get("clusterIP") != old.get("clusterIP") and spec.get("clusterIPs") == old.get(
        "clusterIPs"
    ):
        _follow_address(spec)
    for has, fields in WIPED:
        if has(old) and not has(spec):
            for field in fields:
                if spec.get(field) == old.get(field):
                    spec.pop(field, None)
    was, now = _has_node_ports(old), _has_node_ports(spec)
    is_left = (
        old.get("type") in well_known_values.WITH_NODE_PORTS
        and spec.get("type") not in well_known_values.WITH_NODE_PORTS
    )
    if is_left and _node_ports(spec) <= _node_ports(old):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    if _has_address(old) and _has_address(spec):
        _keep_addresses(spec, old)
    if was and now:
        _keep_node_ports(spec, old)
    if _has_health_check(old) and _has_health_check(spec):
        spec.setdefault("healthCheckNodePort", old.get("healthCheckNodePort", 0))
    allocate(spec, run, old)


def _node_ports(spec: JsonObject) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


def _keep_addresses(spec: dict[str, object], old: JsonObject) -> None:
    if not spec.get("clusterIP") and old.get("clusterIP"):
        spec["clusterIP"] = old["clusterIP"]
    addresses = old.get("clusterIPs")
    is_same = spec.get("clusterIP") == old.get("clusterIP")
    if is_same and addresses and not spec.get("clusterIPs"):
        spec["clusterIPs"] = list(addresses)


def _follow_address(spec: JsonDict) -> None:
    """Make the list of addresses that of the one that has changed."""
    # As `normalizeClusterIPs` of `pkg/registry/core/service/storage`.
    if spec.get("clusterIP"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    else:
        spec.pop("clusterIPs", None)


def _keep_node_ports(spec: JsonDict, old: JsonObject) -> None:
    """Keep node ports by the name of the port, and none twice."""
    used = _node_ports(old) & _node_ports(spec)
    named = {port.get("name", ""): port.get("nodePort", 0) for port in old.get("ports") or ()}
    for port in spec.get("ports") or ():
        result = named.get(port.get("name", ""), 0)
        if not port.get("nodePort") and result and result not in used:
            port["nodePort"] = result
            used.add(result)


# --- Workloads ---------------------------------------------------------------

CONTROLLER_UID: Final = "batch.kubernetes.io/controller-uid"


def round_milli(amounts: Any, _: Run) -> None:
    for name, amount in amounts.items():
        amounts[name] = rounded_to_milli(amount)
        note_rounded(amount, amounts[name])


def limit_range_item(item: Any, _: Run) -> None:
    """Fill in a limit of containers: defaults from maxima, default requests from defaults, then
    from minima."""
    if item.get("type") != "Container":
        return
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    if limits:
        item["default"] = limits
    if requests:
        item["defaultRequest"] = requests


def secret_string_data(secret: Any, _: Run) -> None:
    """`stringData` is for writing only: it becomes `data`."""
    plain = secret.pop("stringData", None)
    if plain:
        encoded = {
            key: base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
            for key, text in plain.items()
        }
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def job_selector(job: Any, run: Run) -> None:
    """Set the labels by which a job finds its pods, unless the user picks them.

    The template's labels may be the very map that became the job's own labels; upstream shares it,
    so what is added here shows in both.
    """
    spec, uid = job["spec"], run.context.uid
    if spec.get("manualSelector"):
        return
    name = job["metadata"].get("name", "")
    labels = spec["template"]["metadata"].setdefault("labels", {})
    for key, value in (
        ("job-name", name),
        ("batch.kubernetes.io/job-name", name),
        ("controller-uid", uid),
        (CONTROLLER_UID, uid),
    ):
        labels.setdefault(key, value)
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {}).setdefault(CONTROLLER_UID, uid)


def claim_data_sources(spec: Json, _: Run) -> None:
    """Make the two data sources of a new claim agree."""
    data_sources(spec, any_kind=False)


def data_sources(spec: Any, *, any_kind: bool) -> None:
    """`dataSource` and `dataSourceRef` say the same, where they can. Without `any_kind`, the first
    alone has only the kinds it always had."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    is_dropped = source is not None and not any_kind and not _is_classic_source(source)
    if is_dropped and reference is None:
        source = None
        del spec["dataSource"]
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}


def _is_classic_source(source: JsonObject) -> bool:
    kind = (source.get("apiGroup") or "", source.get("kind"))
    return kind in {
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    }


def request_user(spec: Any, run: Run) -> None:
    """Whoever asks is whom the certificate is for."""
    user = run.context.user
    sent = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    for key, value in sent.items():
        spec.pop(key, None)
        if value:
            spec[key] = value


def local_api_service_available(status: Any, run: Run) -> None:
    if run.root["spec"].get("service") is None:
        status["conditions"] = [
            {
                "type": "Available",
                "status": "True",
                "lastTransitionTime": run.context.now,
                "reason": "Local",
                "message": "Local APIServices are always available",
            }
        ]


def hpa_v1(autoscaler: Any, _: Run) -> None:
    """Make of it what is left of what was sent after a server has had it in the newer version:
    what v1 has no field for travels in annotations."""
    result: Any = to_v1(to_v2(autoscaler))
    autoscaler["metadata"] = result["metadata"]
    autoscaler["spec"] = result["spec"]
    if "status" in autoscaler:
        autoscaler["status"] = result["status"]


# --- Pod defaults ------------------------------------------------------------


def requests_from_limits(resources: Any, _: Run) -> None:
    """Request what is limited, if nothing else is said."""
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def pod_level_resources(spec: Any, _: Run) -> None:
    """Set requests and limits of the pod as a whole, from each other and from the containers."""
    resources = spec.get("resources")
    if resources is None:
        return
    limits, requests = dict(resources.get("limits") or {}), dict(resources.get("requests") or {})
    if limits or requests:
        for name, amount in pod_total(spec, "limits").items():
            if name.startswith(well_known_values.HUGE_PAGES) and name not in requests:
                limits.setdefault(name, str(amount))
    if limits:
        for name, amount in pod_total(spec, "requests").items():
            if name in QOS_RESOURCES:
                requests.setdefault(name, str(amount))
        for name, text in limits.items():
            if name in QOS_RESOURCES or name.startswith(well_known_values.HUGE_PAGES):
                requests.setdefault(name, text)
    amounts = {"limits": limits, "requests": requests}
    spec["resources"] = {
        **resources,
        **{part: amount for part, amount in amounts.items() if amount},
    }


def pod_ips(status: Any, _: Run) -> None:
    """`podIP` and `podIPs` say the same; the plural decides unless it contradicts the singular."""
    single, plural = status.get("podIP", ""), status.get("podIPs") or []
    first = plural[0].get("ip", "") if plural else ""
    if single and single != first:
        status["podIPs"] = [{"ip": single}]
    elif first:
        status["podIP"] = first


def pod_cidrs(spec: Any, _: Run) -> None:
    single, plural = spec.get("podCIDR", ""), spec.get("podCIDRs") or []
    if single and (not plural or plural[0] != single):
        spec["podCIDRs"] = [single]
    elif plural:
        spec["podCIDR"] = plural[0]


def _with_known_resources(spec: Any, run: Run) -> Any:
    """Return the fields that count for a class of a pod; which of its own resources do is known by
    a gate."""
    knows = "PodLevelResources" in run.gates
    return spec if knows else {key: spec[key] for key in spec if key != "resources"}


def pod_status(status: Any, run: Run) -> None:
    """Set the status of a new pod: it is pending; nothing that a client says about its status stays
    but the QoS class."""
    spec = run.root["spec"]
    result: JsonDict = {
        "phase": "Pending",
        "qosClass": status.get("qosClass") or qos_class(_with_known_resources(spec, run)),
    }
    if spec.get("schedulingGates"):
        result["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastTransitionTime": run.context.now if is_since("1.31") else None,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    run.root["status"] = result


def _affinity_terms(spec: JsonObject) -> Iterator[dict[str, object]]:
    affinity = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(side) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted["podAffinityTerm"]


def _merge_keys(term: JsonDict, field: str, operator: str, labels: Mapping[str, str]) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for key in term.get(field) or ()
        if key in labels
    ]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


def match_label_keys(spec: Any, run: Run) -> None:
    """`matchLabelKeys` and `mismatchLabelKeys` become expressions on the values the pod has."""
    labels = run.root["metadata"].get("labels") or {}
    for term in _affinity_terms(spec):
        _merge_keys(term, "matchLabelKeys", "In", labels)
        _merge_keys(term, "mismatchLabelKeys", "NotIn", labels)
    if "MatchLabelKeysInPodTopologySpreadSelectorMerge" in run.gates:
        for constraint in spec.get("topologySpreadConstraints") or ():
            _merge_keys(constraint, "matchLabelKeys", "In", labels)


def _apparmor_profile(text: str) -> dict[str, str] | None:
    if text == "unconfined":
        return {"type": "Unconfined"}
    if text == "runtime/default":
        return {"type": "RuntimeDefault"}
    if text.startswith("localhost/") and text != "localhost/":
        return {"type": "Localhost", "localhostProfile": text.removeprefix("localhost/")}
    return None


def _apparmor_text(profile: JsonObject) -> str:
    """Return the value of the annotation that means the same; empty if there is none."""
    name = profile.get("localhostProfile")
    if profile.get("type") == "Localhost" and name is not None:
        return f"localhost/{name}"
    return {"Unconfined": "unconfined", "RuntimeDefault": "runtime/default"}.get(
        profile.get("type", ""), ""
    )


def _confined(spec: Any) -> Iterator[JsonDict]:
    """Yield the containers that may have a profile of AppArmor."""
    if (spec.get("os") or {}).get("name") != "windows":
        yield from (
            container
            for name in well_known_values.CONTAINER_LISTS
            for container in spec.get(name) or ()
        )


def apparmor_to_annotations(spec: Any, run: Run) -> None:
    """Older kubelets know the annotation of a container alone, so releases before 1.34 write it
    where a field says the profile."""
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    meta = run.root["metadata"]
    for container in _confined(spec):
        key = well_known_values.APPARMOR_OF_CONTAINER + container.get("name", "")
        app_armor_profile = (container.get("securityContext") or {}).get("appArmorProfile")
        profile = _apparmor_text(app_armor_profile or of_pod or {})
        if profile and key not in (meta.get("annotations") or {}):
            meta["annotations"] = {**(meta.get("annotations") or {}), key: profile}


def apparmor_from_annotations(spec: Any, run: Run) -> None:
    """Turn the annotation of a container into its field, unless the pod says the same."""
    annotations = run.root["metadata"].get("annotations") or {}
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container in _confined(spec):
        text = annotations.get(well_known_values.APPARMOR_OF_CONTAINER + container.get("name", ""))
        context = container.get("securityContext") or {}
        if text is None or context.get("appArmorProfile"):
            continue
        profile = _apparmor_profile(text)
        if profile is not None and profile != of_pod:
            container["securityContext"] = {**context, "appArmorProfile": profile}


# --- Object functions --------------------------------------------------------
#
# The functions of the defaulting rules that work on a whole object, by their names there.

OBJECT_FUNCTIONS: Final[Mapping[str, Apply]] = {
    "appArmorFromAnnotations": apparmor_from_annotations,
    "appArmorToAnnotations": apparmor_to_annotations,
    "claimDataSources": claim_data_sources,
    "hpaV1": hpa_v1,
    "jobSelector": job_selector,
    "limitRangeItem": limit_range_item,
    "localAPIServiceAvailable": local_api_service_available,
    "matchLabelKeys": match_label_keys,
    "podCIDRs": pod_cidrs,
    "podIPs": pod_ips,
    "podLevelResources": pod_level_resources,
    "podStatus": pod_status,
    "requestUser": request_user,
    "requestsFromLimits": requests_from_limits,
    "roundMilli": round_milli,
    "secretStringData": secret_string_data,
    "serviceAllocate": service_allocate,
}
