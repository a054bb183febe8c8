"""The small language in which the data say what a cell shows, made into functions.

The `cell` of a column (`data/resources`) is a text or a list:

    ".spec.type"                        the text at a path, empty where there is none; "." is the
                                        value itself
    "<none>"                            that text
    ["text", TEXT]                      a text that begins with a dot
    ["number", PATH]                    an integer, 0 where there is none
    ["bool", PATH, DEFAULT]             true or false; DEFAULT (false) where nothing is set
    ["value", PATH, CELL]               any scalar as text; CELL where nothing is set
    ["len", PATH, ...]                  how many members or elements there are, in all
    ["or", CELL, CELL]                  the first; the second where the first is empty
    ["if", PATH, CELL, CELL]            the first where something is set there and no empty text
    ["concat", CELL, ...]               one after the other
    ["join", SEPARATOR, LIST, CELL]     CELL of each item (".", where it is left out), joined
    ["three", LIST, CELL, CELL]         CELL of the first three items and the number of the others;
                                        the second CELL for an empty list
    ["first", LIST, CELL, CELL]         CELL of the first item; the second CELL for an empty list
    ["age", PATH, CELL]                 how long ago; CELL (`<unknown>`) where no time is set
    ["duration", PATH, CELL]            a number of seconds for human eyes; CELL where none is set
    ["labels", PATH]                    `a=b,c=d`, or `<none>`
    ["selector", PATH, TEXT, TEXT]      a label selector; the texts are for one that is empty
                                        (`<none>`), and for one that cannot be read (`<error>`)
    ["quantity", PATH]                  an amount in its canonical form
    ["trim", PATH]                      a text without white space around it
    ["condition", TYPE, CELL, CELL]     CELL of the condition of that type; the second without one
    ["call", NAME, PATH]                what a function of `CALLS` makes of the value at PATH (".")

A LIST is a path or `["where", PATH, MEMBER, TEXT]`, the objects whose member is that text.
`CALLS` has the few cells that are too hard for this. A cell is compiled once for each resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.admission import convert
from celadon.apiserver.printers import cell_texts
from celadon.apiserver.printers.cell_texts import (
    NONE,
    SHOWN,
    UNKNOWN,
    UNSET,
    Cell,
    Row,
    at,
    condition,
    elapsed,
    first_three,
    is_true,
    items,
    joined,
    labels_text,
    number,
    pointed_time,
    quantity_text,
    seconds,
    selector_text,
    since,
    size,
    text,
    texts,
)
from celadon.kube import (
    GroupResource,
    GroupVersionKind,
    Json,
    JsonObject,
    metadata,
    parse_api_version,
)
from celadon.kube.go import trim_space
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import (
    DEFAULT_INGRESS_CLASS,
    DEFAULT_STORAGE_CLASS,
    STORAGE_CLASS,
)

# --- Functions of cells ------------------------------------------------------
#
# The cells that are too hard for the language: one function for each.
#
# Every function takes the value at the path that the data name (most often the object) and the
# row. As k8s.io/kubernetes `pkg/printers/internalversion/printers.go`.

# --- Autoscaler cells --------------------------------------------------------

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
    """Return the targets of an autoscaler of any version: what v1 keeps in annotations counts,
    too."""
    scaler = convert(obj, AUTOSCALER)
    metrics = items(scaler, "spec", "metrics")
    if not metrics:
        return NONE
    current = items(scaler, "status", "currentMetrics")
    targets = [
        _metric(metric, current[index] if index < len(current) else None)
        for index, metric in enumerate(metrics[:SHOWN_METRICS])
    ]
    return joined(targets, separator=", ", total=len(metrics))


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
    current = None if at(now, "averageValue") is None else now
    return f"{_amount(current, 'averageValue')}/{quantity_text(average)} (avg)"


def _used(target: object, now: JsonObject | None) -> str:
    """Return what is used of a resource, and its target: as amounts, or in percent of what was
    requested."""
    average = at(target, "averageValue")
    if average is not None:
        return f"{_amount(now, 'averageValue')}/{quantity_text(average)}"
    used, average_utilization = at(now, "averageUtilization"), at(target, "averageUtilization")
    message = UNKNOWN if used is None else f"{used}%"
    return f"{message}/{'<auto>' if average_utilization is None else f'{average_utilization}%'}"


def _amount(now: JsonObject | None, member: str) -> str:
    return UNKNOWN if now is None else _pointed(now.get(member))


def _pointed(amount: object) -> str:
    """Print an amount that Go holds by a pointer."""
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
    owner = next((owner for owner in owners or () if owner.get("controller")), None)
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
    start, end = (pointed_time(job, "status", name) for name in ("startTime", "completionTime"))
    if start is None:
        return ""
    return elapsed((row.now if end is None else seconds(end)) - seconds(start))


# Nodes, and what is kept in and said about them


def _node_status(node: JsonObject, row: Row) -> Cell:
    """Return the status of a node by the last condition `Ready` that it has."""
    ready = [item for item in items(node, "status", "conditions") if item.get("type") == "Ready"]
    status = "Unknown"
    if ready:
        status = "Ready" if text(ready[-1], "status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if at(node, "spec", "unschedulable") else status


def _node_roles(labels: Mapping[str, str] | None, row: Row) -> Cell:
    node_labels = labels or {}
    named = {key.removeprefix(ROLE_PREFIX) for key in node_labels if key.startswith(ROLE_PREFIX)}
    roles = {role for role in (*named, node_labels.get(ROLE_LABEL, "")) if role}
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
    """Convert an Event of either group to that of the core group."""
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
    """Return the addresses of a load balancer, sorted and without repetition."""
    addresses = {text(entry, "ip") or text(entry, "hostname") for entry in entries}
    return ",".join(sorted(filter(None, addresses)))


def _service_port(port: JsonObject, row: Row) -> Cell:
    node_port = number(port, "nodePort")
    ports = f"{port.get('port')}:{node_port}" if node_port else port.get("port")
    return f"{ports}/{text(port, 'protocol')}"


def _endpoints(subsets: _Objects, row: Row) -> Cell:
    """Show every address with every port, or alone where its subset has no ports."""
    if not subsets:
        return NONE
    endpoints: list[str] = []
    for subset in subsets:
        addresses = texts(items(subset, "addresses"), "ip")
        ports = items(subset, "ports")
        endpoints += (
            [_host_port(ip, number(port, "port")) for port in ports for ip in addresses]
            if ports
            else addresses
        )
    return first_three(endpoints, "")


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
    """Show the hosts of rules. Rules without a host count among those that are not shown."""
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
    """Return the mark of a default behind the name of an ingress class."""
    return _mark(annotations, (DEFAULT_INGRESS_CLASS,))


def _default_attributes_mark(annotations: Mapping[str, str] | None, row: Row) -> Cell:
    """Return the mark of a default behind the name of a volume attributes class."""
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
        elif not is_since("1.32") and (is_deleted or at(claim, "status", "deallocationRequested")):
            states.append("deallocating")
    elif not is_deleted:
        states.append("pending")
    return ",".join(states)


def _pool_end(request: JsonObject) -> JsonObject:
    """Return the first condition that ends a request for pools; empty while it goes on."""
    for ended in items(request, "status", "conditions"):
        if ended.get("type") in ("Complete", "Failed") and ended.get("status") == "True":
            end: JsonObject = ended
            return end
    return {}


def _has_no_pools(request: JsonObject) -> bool:
    return at(request, "status") is None or _pool_end(request).get("type") == "Failed"


def _pool_sum(member: str) -> CellFunction:
    def pool_sum(request: JsonObject, row: Row) -> Cell:
        if _has_no_pools(request):
            return "-"
        return str(sum(number(pool, member) for pool in items(request, "status", "pools")))

    return pool_sum


def _pool_errors(request: JsonObject, row: Row) -> Cell:
    if _has_no_pools(request):
        return "-"
    pools = items(request, "status", "pools")
    return str(sum(at(pool, "validationError") is not None for pool in pools))


def _pool_state(request: JsonObject, row: Row) -> Cell:
    state = text(_pool_end(request), "type") or "Pending"
    if state != "Complete":
        return state
    pools, count = len(items(request, "status", "pools")), number(request, "status", "poolCount")
    return f"Complete ({pools}/{count} pools)" if pools < count else state


def _pool_completed(request: JsonObject, row: Row) -> Cell:
    end = _pool_end(request)
    return (
        since(text(end, "lastTransitionTime"), row.now) if text(end, "type") == "Complete" else NONE
    )


def _group_resource(resource: JsonObject | None, row: Row) -> Cell:
    return str(GroupResource(text(resource, "group"), text(resource, "resource")))


def _migration_state(migration: JsonObject, row: Row) -> Cell:
    states = [state for state in _MIGRATION_STATES if is_true(migration, state)]
    return states[-1] if states else "Unknown"


def _pod_group_state(conditions: Sequence[JsonObject] | None, row: Row) -> Cell:
    """Return the state of a group of pods. The last condition of a type counts; what disrupts a
    group says why."""
    last = {text(condition, "type"): condition for condition in conditions or ()}
    if "DisruptionTarget" in last:
        return text(last["DisruptionTarget"], "reason")
    if "PodGroupScheduled" not in last:
        return "Pending"
    is_scheduled = text(last["PodGroupScheduled"], "status") == "True"
    return "Scheduled" if is_scheduled else "Unschedulable"


# Who may do what


def _request_condition(request: JsonObject, row: Row) -> Cell:
    status = {text(item, "type") for item in items(request, "status", "conditions")}
    state = next((item for item in ("Denied", "Approved") if item in status), "Pending")
    failed = ",Failed" if "Failed" in status else ""
    issued = ",Issued" if text(request, "status", "certificate") else ""
    return f"{state}{failed}{issued}"


def _certificate_state(request: JsonObject, row: Row) -> Cell:
    status = [text(item, "type") for item in items(request, "status", "conditions")]
    states = [state for state in status if state in _CERTIFICATE_STATES]
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
    match_labels = at(selector, "matchLabels") or {}
    labels = "".join(f"{key}: {match_labels[key]}," for key in sorted(match_labels))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{text(item, 'key')},Operator:{text(item, 'operator')},"
        f"Values:[{' '.join(items(item, 'values'))}],}},"
        for item in items(selector, "matchExpressions")
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
    "podReadinessGates": cell_texts.pod_readiness_gates,
    "podReady": cell_texts.pod_ready,
    "podRestarts": cell_texts.pod_restarts,
    "podStatus": cell_texts.pod_status,
    "poolAllocated": _pool_sum("allocatedDevices"),
    "poolAvailable": _pool_sum("availableDevices"),
    "poolCompleted": _pool_completed,
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

ReadCell: TypeAlias = Callable[[Any, Row], Cell]
"""The cell of a value, which is the object of the row or a part of it."""
ReadList: TypeAlias = Callable[[Any], Sequence[Any]]


def compiled(cell: Json) -> ReadCell:
    """Return the function for a cell of the data. Raises ValueError for a form that does not
    exist."""
    if isinstance(cell, str):
        return _path_text(_steps(cell)) if cell.startswith(".") else lambda value, row: cell
    if not isinstance(cell, list) or not cell or cell[0] not in _FORMS:
        raise ValueError(f"not the form of a cell: {cell!r}")
    return _FORMS[cell[0]](*cell[1:])


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path[1:].split(".")) if path != "." else ()


def _path_text(steps: tuple[str, ...]) -> ReadCell:
    return lambda value, row: text(value, *steps)


def _printed(cell: Cell) -> str:
    return cell if isinstance(cell, str) else str(cell)


def _number(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: number(value, *steps)


def _bool(path: str, *default: Json) -> ReadCell:
    steps = _steps(path)

    def read(value: object, row: Row) -> Cell:
        member = at(value, *steps)
        return bool(default and default[0] if member is None else member)

    return read


def _value(path: str, unset: Json) -> ReadCell:
    steps, read_unset = _steps(path), compiled(unset)

    def read(value: object, row: Row) -> Cell:
        member = at(value, *steps)
        return read_unset(value, row) if member is None else str(member)

    return read


def _len(*paths: str) -> ReadCell:
    each = [_steps(path) for path in paths]
    return lambda value, row: sum(size(value, *steps) for steps in each)


def _or(first: Json, second: Json) -> ReadCell:
    read, read_otherwise = compiled(first), compiled(second)
    return lambda value, row: read(value, row) or read_otherwise(value, row)


def _if(path: str, consequent: Json, otherwise: Json) -> ReadCell:
    steps, read, read_otherwise = _steps(path), compiled(consequent), compiled(otherwise)

    def read_branch(value: object, row: Row) -> Cell:
        is_set = at(value, *steps) not in (None, "")
        return read(value, row) if is_set else read_otherwise(value, row)

    return read_branch


def _concat(*cells: Json) -> ReadCell:
    readers = [compiled(cell) for cell in cells]
    return lambda value, row: "".join([_printed(read(value, row)) for read in readers])


def _list(source: Json) -> ReadList:
    if isinstance(source, str):
        steps = _steps(source)
        return lambda value: items(value, *steps)
    if not isinstance(source, list) or source[:1] != ["where"]:
        raise ValueError(f"not a list for a cell: {source!r}")
    _, path, member, expected = source
    steps = _steps(str(path))
    return lambda value: [
        item for item in items(value, *steps) if at(item, str(member)) == expected
    ]


def _join(separator: str, source: Json, cell: Json = ".") -> ReadCell:
    read_list, read = _list(source), compiled(cell)

    def joined_items(value: object, row: Row) -> Cell:
        return separator.join([_printed(read(item, row)) for item in read_list(value)])

    return joined_items


def _three(source: Json, cell: Json, empty: str) -> ReadCell:
    read_list, read = _list(source), compiled(cell)

    def three_items(value: object, row: Row) -> Cell:
        return first_three([_printed(read(item, row)) for item in read_list(value)], empty)

    return three_items


def _first(source: Json, cell: Json, empty: Json) -> ReadCell:
    read_list, read, read_empty = _list(source), compiled(cell), compiled(empty)

    def first_item(value: object, row: Row) -> Cell:
        elements = read_list(value)
        return read(elements[0], row) if elements else read_empty(value, row)

    return first_item


def _age(path: str, unset: Json = None) -> ReadCell:
    steps, read_unset = _steps(path), None if unset is None else compiled(unset)

    def read_age(value: object, row: Row) -> Cell:
        timestamp = pointed_time(value, *steps)
        if timestamp is None and read_unset is not None:
            return read_unset(value, row)
        return since(timestamp or "", row.now)

    return read_age


def _duration(path: str, unset: Json) -> ReadCell:
    steps, read_unset = _steps(path), compiled(unset)

    def read_duration(value: object, row: Row) -> Cell:
        duration = at(value, *steps)
        return read_unset(value, row) if duration is None else elapsed(duration)

    return read_duration


def _labels(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: labels_text(at(value, *steps))


def _selector(path: str, *texts: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: selector_text(at(value, *steps), *texts)


def _quantity(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: quantity_text(at(value, *steps))


def _trim(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: trim_space(text(value, *steps))


def _condition(kind: str, cell: Json, missing: Json) -> ReadCell:
    read, read_missing = compiled(cell), compiled(missing)

    def read_condition(value: object, row: Row) -> Cell:
        result = condition(value, kind)
        return read_missing(value, row) if result is None else read(result, row)

    return read_condition


def _call(name: str, path: str = ".") -> ReadCell:
    steps, function = _steps(path), CALLS[name]
    return lambda value, row: function(at(value, *steps), row)


_FORMS: Final[Mapping[str, Callable[..., ReadCell]]] = {
    "age": _age,
    "bool": _bool,
    "call": _call,
    "concat": _concat,
    "condition": _condition,
    "duration": _duration,
    "first": _first,
    "if": _if,
    "join": _join,
    "labels": _labels,
    "len": _len,
    "number": _number,
    "or": _or,
    "quantity": _quantity,
    "selector": _selector,
    "text": lambda literal: lambda value, row: literal,
    "three": _three,
    "trim": _trim,
    "value": _value,
}
