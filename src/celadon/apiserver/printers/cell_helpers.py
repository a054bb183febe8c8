"""The cells that are too hard for the language of `printer_cells`: one function for each.

Every function takes the value at the path that the data name (most often the object) and the row.
As k8s.io/kubernetes `pkg/printers/internalversion/printers.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.admission import convert
from celadon.apiserver.printers.cell_texts import (
    NONE,
    SHOWN,
    UNKNOWN,
    UNSET,
    Cell,
    Row,
    at,
    elapsed,
    first_three,
    is_true,
    items,
    joined,
    number,
    quantity_text,
    seconds,
    since,
    text,
    texts,
)
from celadon.apiserver.printers.pod_cells import (
    pod_readiness_gates,
    pod_ready,
    pod_restarts,
    pod_status,
)
from celadon.kube import GroupResource, GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import (
    DEFAULT_INGRESS_CLASS,
    DEFAULT_STORAGE_CLASS,
    STORAGE_CLASS,
)

# --- Autoscaler cells --------------------------------------------------------
#
# The targets of autoscalers: what each metric is and what it should be.


AUTOSCALER: Final = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
SHOWN_METRICS: Final = 2

_MEMBERS: Final = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""The member that describes a metric of a type."""


def autoscaler_targets(obj: JsonObject, row: Row) -> Cell:
    """Of any version: what v1 keeps in annotations counts, too."""
    scaler = convert(obj, AUTOSCALER)
    metrics = items(scaler, "spec", "metrics")
    if not metrics:
        return NONE
    current = items(scaler, "status", "currentMetrics")
    shown = [
        _metric(metric, current[index] if index < len(current) else None)
        for index, metric in enumerate(metrics[:SHOWN_METRICS])
    ]
    return joined(shown, separator=", ", total=len(metrics))


def _metric(metric: JsonObject, status: JsonObject | None) -> str:
    kind = text(metric, "type")
    member = _MEMBERS.get(kind)
    if member is None:
        return "<unknown type>"
    described, target = at(metric, member), at(metric, member, "target")
    now = at(status, member, "current") if at(status, member) is not None else None
    if kind == "Pods":
        return f"{_amount(now, 'averageValue')}/{_pointed(at(target, 'averageValue'))}"
    if kind in ("External", "Object"):
        return _total_or_average(target, now)
    return f"{text(described, 'name')}: {_used(target, now)}"


def _total_or_average(target: object, now: JsonObject | None) -> str:
    average = at(target, "averageValue")
    if average is None:
        return f"{_amount(now, 'value')}/{_pointed(at(target, 'value'))}"
    known = None if at(now, "averageValue") is None else now
    return f"{_amount(known, 'averageValue')}/{quantity_text(average)} (avg)"


def _used(target: object, now: JsonObject | None) -> str:
    """Of a resource: as an amount, or in percent of what was asked for."""
    average = at(target, "averageValue")
    if average is not None:
        return f"{_amount(now, 'averageValue')}/{quantity_text(average)}"
    used, wanted = at(now, "averageUtilization"), at(target, "averageUtilization")
    shown = UNKNOWN if used is None else f"{used}%"
    return f"{shown}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _amount(now: JsonObject | None, member: str) -> str:
    return UNKNOWN if now is None else _pointed(now.get(member))


def _pointed(amount: object) -> str:
    """An amount that Go holds by a pointer."""
    return "<nil>" if amount is None else quantity_text(amount)


CellFunction: TypeAlias = Callable[[Any, Row], Cell]
_Objects: TypeAlias = Sequence[JsonObject] | None

ACCESS_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
"""In the order in which they are shown."""

ROLE_PREFIX: Final = "node-role.kubernetes.io/"
ROLE_LABEL: Final = "kubernetes.io/role"
CORE_EVENT: Final = GroupVersionKind("", "v1", "Event")
_CERTIFICATE_STATES: Final = frozenset({"Issued", "Denied", "Failed"})
_JOB_STATES: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")
"""Conditions that are a job's status while it has not ended, the first that holds."""
_DEFAULT_ATTRIBUTES_CLASS: Final = "volumeattributesclass.alpha.kubernetes.io/is-default-class"
_MIGRATION_STATES: Final = ("Running", "Failed", "Succeeded")


# Workloads


def _controller_owner(owners: _Objects, row: Row) -> Cell:
    owner = next((one for one in owners or () if one.get("controller")), None)
    if owner is None:
        return NONE
    group, _ = parse_api_version(text(owner, "apiVersion"))
    kind = text(owner, "kind")
    return f"{f'{kind}.{group}' if group else kind}".lower() + f"/{text(owner, 'name')}"


def _job_status(job: JsonObject, row: Row) -> Cell:
    if is_true(job, "Complete"):
        return "Complete"
    if is_true(job, "Failed"):
        return "Failed"
    if metadata.deletion_timestamp(job):
        return "Terminating"
    states = _JOB_STATES if is_since("1.34") else _JOB_STATES[:-1]
    return next((state for state in states if is_true(job, state)), "Running")


def _job_completions(job: JsonObject, row: Row) -> Cell:
    succeeded = number(job, "status", "succeeded")
    completions = at(job, "spec", "completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = number(job, "spec", "parallelism")
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: JsonObject, row: Row) -> Cell:
    start, end = text(job, "status", "startTime"), text(job, "status", "completionTime")
    if not start:
        return ""
    return elapsed((seconds(end) if end else row.now) - seconds(start))


# Nodes, and what is kept in and said about them


def _node_status(node: JsonObject, row: Row) -> Cell:
    """By the last condition of the type."""
    ready = [one for one in items(node, "status", "conditions") if one.get("type") == "Ready"]
    status = "Unknown"
    if ready:
        status = "Ready" if text(ready[-1], "status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if at(node, "spec", "unschedulable") else status


def _node_roles(labels: Mapping[str, str] | None, row: Row) -> Cell:
    known = labels or {}
    named = {key.removeprefix(ROLE_PREFIX) for key in known if key.startswith(ROLE_PREFIX)}
    roles = {role for role in (*named, known.get(ROLE_LABEL, "")) if role}
    return ",".join(sorted(roles)) or NONE


def _quota(status: JsonObject | None, *, limits: bool) -> str:
    hard, used = at(status, "hard") or {}, at(status, "used") or {}
    return ", ".join(
        f"{name}: {quantity_text(used.get(name))}/{quantity_text(hard[name])}"
        for name in sorted(hard)
        if name.startswith("limits.") == limits
    )


def _health(condition: JsonObject, row: Row) -> Cell:
    return "Healthy" if text(condition, "status") == "True" else "Unhealthy"


def _event(event: JsonObject) -> JsonObject:
    """Of both groups: the newer names are turned into those of the core group."""
    return convert(event, CORE_EVENT)


def _event_last_seen(obj: JsonObject, row: Row) -> Cell:
    event = _event(obj)
    if at(event, "series") is not None:
        return since(text(event, "series", "lastObservedTime"), row.now)
    last = text(event, "lastTimestamp")
    return since(last, row.now) if last else _event_first_seen(obj, row)


def _event_first_seen(obj: JsonObject, row: Row) -> Cell:
    event = _event(obj)
    return since(text(event, "firstTimestamp") or text(event, "eventTime"), row.now)


def _event_count(obj: JsonObject, row: Row) -> Cell:
    event = _event(obj)
    if at(event, "series") is not None:
        return number(event, "series", "count")
    return number(event, "count") or 1


def _event_object(involved: JsonObject | None, row: Row) -> Cell:
    kind, name = text(involved, "kind"), text(involved, "name")
    return f"{kind.lower()}/{name}" if name else kind.lower()


def _event_source(obj: JsonObject, row: Row) -> Cell:
    event = _event(obj)
    component = text(event, "source", "component") or text(event, "reportingComponent")
    instance = text(event, "source", "host") or text(event, "reportingInstance")
    return f"{component}, {instance}" if instance else component


# Services, and what stands before and behind them


def _service_external_ip(service: JsonObject, row: Row) -> Cell:
    external = ",".join(items(service, "spec", "externalIPs"))
    match text(service, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return external or NONE
        case "LoadBalancer":
            balancer = _addresses(items(service, "status", "loadBalancer", "ingress"))
            return ",".join(filter(None, (balancer, external))) or "<pending>"
        case "ExternalName":
            return text(service, "spec", "externalName")
        case _:
            return UNKNOWN


def _addresses(entries: Sequence[Any]) -> str:
    """The addresses of a load balancer, sorted and without repetition."""
    addresses = {text(one, "ip") or text(one, "hostname") for one in entries}
    return ",".join(sorted(filter(None, addresses)))


def _service_port(port: JsonObject, row: Row) -> Cell:
    node_port = number(port, "nodePort")
    shown = f"{port.get('port')}:{node_port}" if node_port else port.get("port")
    return f"{shown}/{text(port, 'protocol')}"


def _endpoints(subsets: _Objects, row: Row) -> Cell:
    """Every address with every port, or alone where its subset has no ports."""
    if not subsets:
        return NONE
    shown: list[str] = []
    for subset in subsets:
        addresses = texts(items(subset, "addresses"), "ip")
        ports = items(subset, "ports")
        shown += (
            [_host_port(ip, number(port, "port")) for port in ports for ip in addresses]
            if ports
            else addresses
        )
    return first_three(shown, "")


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _slice_addresses(endpoints: _Objects, row: Row) -> Cell:
    addresses = [ip for endpoint in endpoints or () for ip in items(endpoint, "addresses")]
    return first_three(addresses, UNSET)


def _slice_port(port: JsonObject, row: Row) -> Cell:
    if port.get("port") is not None:
        return str(port["port"])
    name = port.get("name")
    return "*" if name is None else str(name)


def _ingress_hosts(rules: _Objects, row: Row) -> Cell:
    """Rules without a host count among those that are not shown."""
    hosts: list[str] = []
    rules = rules or ()
    for rule in rules:
        if len(hosts) == SHOWN:
            return joined(hosts, total=len(rules))
        if text(rule, "host"):
            hosts.append(text(rule, "host"))
    return joined(hosts) or "*"


def _parent_reference(parent: JsonObject, row: Row) -> Cell:
    resource = str(GroupResource(text(parent, "group"), text(parent, "resource"))).lower()
    return "/".join(filter(None, (resource, text(parent, "namespace")))) + (
        f"/{text(parent, 'name')}"
    )


# Volumes


def _access_modes(modes: Sequence[str] | None, row: Row) -> Cell:
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))


def _storage_class_name(obj: JsonObject, row: Row) -> Cell:
    annotations = metadata.annotations(obj)
    if STORAGE_CLASS in annotations:
        return annotations[STORAGE_CLASS]
    return text(obj, "spec", "storageClassName")


def _default_mark(annotations: Mapping[str, str] | None, row: Row) -> Cell:
    """Return what the name of a storage class ends with if claims without a class get it."""
    return _mark(annotations, DEFAULT_STORAGE_CLASS)


def _default_ingress_mark(annotations: Mapping[str, str] | None, row: Row) -> Cell:
    """The same for the name of an ingress class."""
    return _mark(annotations, (DEFAULT_INGRESS_CLASS,))


def _default_attributes_mark(annotations: Mapping[str, str] | None, row: Row) -> Cell:
    """The same for the name of a volume attributes class."""
    return _mark(annotations, (_DEFAULT_ATTRIBUTES_CLASS,))


def _mark(annotations: Mapping[str, str] | None, names: Iterable[str]) -> Cell:
    is_default = any((annotations or {}).get(name) == "true" for name in names)
    return " (default)" if is_default else ""


# Devices, and the server's own storage


def _claim_state(claim: JsonObject, row: Row) -> Cell:
    is_deleted = bool(metadata.deletion_timestamp(claim))
    states = ["deleted"] if is_deleted else []
    if at(claim, "status", "allocation") is not None:
        states.append("allocated")
        if items(claim, "status", "reservedFor"):
            states.append("reserved")
    elif not is_deleted:
        states.append("pending")
    return ",".join(states)


def _pool_sum(member: str) -> CellFunction:
    def pool_sum(request: JsonObject, row: Row) -> Cell:
        if at(request, "status") is None or is_true(request, "Failed"):
            return "-"
        return str(sum(number(pool, member) for pool in items(request, "status", "pools")))

    return pool_sum


def _pool_errors(pools: _Objects, row: Row) -> Cell:
    return str(sum(bool(text(pool, "validationError")) for pool in pools or ()))


def _pool_state(request: JsonObject, row: Row) -> Cell:
    if is_true(request, "Failed"):
        return "Failed"
    if not is_true(request, "Complete"):
        return "Pending"
    shown, count = len(items(request, "status", "pools")), number(request, "status", "poolCount")
    return f"Complete ({shown}/{count} pools)" if shown < count else "Complete"


def _group_resource(resource: JsonObject | None, row: Row) -> Cell:
    return str(GroupResource(text(resource, "group"), text(resource, "resource")))


def _migration_state(migration: JsonObject, row: Row) -> Cell:
    states = [state for state in _MIGRATION_STATES if is_true(migration, state)]
    return states[-1] if states else "Unknown"


def _pod_group_state(conditions: Sequence[JsonObject] | None, row: Row) -> Cell:
    """The last condition of a type counts; what disrupts a group says why."""
    last = {text(one, "type"): one for one in conditions or ()}
    if "DisruptionTarget" in last:
        return text(last["DisruptionTarget"], "reason")
    if "PodGroupScheduled" not in last:
        return "Pending"
    is_scheduled = text(last["PodGroupScheduled"], "status") == "True"
    return "Scheduled" if is_scheduled else "Unschedulable"


# Who may do what


def _request_condition(request: JsonObject, row: Row) -> Cell:
    known = {text(one, "type") for one in items(request, "status", "conditions")}
    state = next((one for one in ("Denied", "Approved") if one in known), "Pending")
    failed = ",Failed" if "Failed" in known else ""
    issued = ",Issued" if text(request, "status", "certificate") else ""
    return f"{state}{failed}{issued}"


def _certificate_state(request: JsonObject, row: Row) -> Cell:
    known = [text(one, "type") for one in items(request, "status", "conditions")]
    states = [state for state in known if state in _CERTIFICATE_STATES]
    return states[-1] if states else "Pending"


def _availability(condition: JsonObject, row: Row) -> Cell:
    status, reason = text(condition, "status"), text(condition, "reason")
    return f"{status} ({reason})" if reason and status != "True" else status


def _param_ref(ref: JsonObject | None, row: Row) -> Cell:
    name, selector = text(ref, "name"), at(ref, "selector")
    if name:
        return f"{text(ref, 'namespace') or '*'}/{name}"
    return UNSET if selector is None else _debug_text(selector)


def _debug_text(selector: JsonObject) -> str:
    """Go's debug text of a label selector."""
    given = at(selector, "matchLabels") or {}
    labels = "".join(f"{key}: {given[key]}," for key in sorted(given))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{text(one, 'key')},Operator:{text(one, 'operator')},"
        f"Values:[{' '.join(items(one, 'values'))}],}},"
        for one in items(selector, "matchExpressions")
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


CALLS: Final[Mapping[str, CellFunction]] = {
    "accessModes": _access_modes,
    "autoscalerTargets": autoscaler_targets,
    "availability": _availability,
    "certificateState": _certificate_state,
    "claimState": _claim_state,
    "controllerOwner": _controller_owner,
    "defaultAttributesMark": _default_attributes_mark,
    "defaultIngressMark": _default_ingress_mark,
    "defaultMark": _default_mark,
    "endpoints": _endpoints,
    "eventCount": _event_count,
    "eventFirstSeen": _event_first_seen,
    "eventLastSeen": _event_last_seen,
    "eventObject": _event_object,
    "eventSource": _event_source,
    "groupResource": _group_resource,
    "health": _health,
    "ingressHosts": _ingress_hosts,
    "jobCompletions": _job_completions,
    "jobDuration": _job_duration,
    "jobStatus": _job_status,
    "loadBalancerAddresses": lambda entries, row: _addresses(entries or ()),
    "migrationState": _migration_state,
    "nodeRoles": _node_roles,
    "nodeStatus": _node_status,
    "paramRef": _param_ref,
    "parentReference": _parent_reference,
    "podGroupState": _pod_group_state,
    "podReadinessGates": pod_readiness_gates,
    "podReady": pod_ready,
    "podRestarts": pod_restarts,
    "podStatus": pod_status,
    "poolAllocated": _pool_sum("allocatedDevices"),
    "poolAvailable": _pool_sum("availableDevices"),
    "poolErrors": _pool_errors,
    "poolState": _pool_state,
    "poolTotal": _pool_sum("totalDevices"),
    "poolUnavailable": _pool_sum("unavailableDevices"),
    "quotaLimits": lambda status, row: _quota(status, limits=True),
    "quotaRequests": lambda status, row: _quota(status, limits=False),
    "requestCondition": _request_condition,
    "serviceExternalIP": _service_external_ip,
    "servicePort": _service_port,
    "sliceAddresses": _slice_addresses,
    "slicePort": _slice_port,
    "storageClassName": _storage_class_name,
}
"""By the names in the data."""
