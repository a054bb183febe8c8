"""The cells of nodes, namespaces, and what is kept in and said about them: data, quotas, events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.admission import convert
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.go import trim_space
from celadon.serve.tables.cell_texts import (
    NONE,
    UNKNOWN,
    Cell,
    CellsOf,
    age,
    at,
    items,
    number,
    quantity_text,
    since,
    size,
    text,
)

ROLE_PREFIX: Final = "node-role.kubernetes.io/"
ROLE_LABEL: Final = "kubernetes.io/role"
CORE_EVENT: Final = GroupVersionKind("", "v1", "Event")


def _node(obj: JsonObject, now: float) -> list[Cell]:
    info = at(obj, "status", "nodeInfo")
    return [
        metadata.name(obj),
        _node_status(obj),
        ",".join(sorted(_roles(obj))) or NONE,
        age(obj, now),
        text(info, "kubeletVersion"),
        _address(obj, "InternalIP"),
        _address(obj, "ExternalIP"),
        text(info, "osImage") or UNKNOWN,
        _kernel(info),
        text(info, "containerRuntimeVersion") or UNKNOWN,
    ]


def _node_status(obj: JsonObject) -> str:
    """By the last condition of the type."""
    found = [one for one in items(obj, "status", "conditions") if one.get("type") == "Ready"]
    status = "Unknown"
    if found:
        status = "Ready" if text(found[-1], "status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if at(obj, "spec", "unschedulable") else status


def _roles(obj: JsonObject) -> set[str]:
    labels = metadata.labels(obj)
    named = {key.removeprefix(ROLE_PREFIX) for key in labels if key.startswith(ROLE_PREFIX)}
    return {role for role in (*named, labels.get(ROLE_LABEL, "")) if role}


def _address(obj: JsonObject, kind: str) -> str:
    addresses = items(obj, "status", "addresses")
    return next((text(one, "address") for one in addresses if one.get("type") == kind), NONE)


def _kernel(info: JsonObject | None) -> str:
    version, architecture = text(info, "kernelVersion") or UNKNOWN, text(info, "architecture")
    return f"{version} ({architecture})" if architecture else version


def _namespace(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "status", "phase"), age(obj, now)]


def _config_map(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), size(obj, "data") + size(obj, "binaryData"), age(obj, now)]


def _secret(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "type"), size(obj, "data"), age(obj, now)]


def _quota(obj: JsonObject, now: float) -> list[Cell]:
    hard, used = at(obj, "status", "hard") or {}, at(obj, "status", "used") or {}
    shown: dict[bool, list[str]] = {False: [], True: []}
    for name in sorted(hard):
        amounts = f"{quantity_text(used.get(name))}/{quantity_text(hard[name])}"
        shown[name.startswith("limits.")].append(f"{name}: {amounts}")
    return [metadata.name(obj), ", ".join(shown[False]), ", ".join(shown[True]), age(obj, now)]


def _component(obj: JsonObject, now: float) -> list[Cell]:
    found = [one for one in items(obj, "conditions") if one.get("type") == "Healthy"]
    if not found:
        return [metadata.name(obj), "Unknown", "", ""]
    status = "Healthy" if text(found[0], "status") == "True" else "Unhealthy"
    return [metadata.name(obj), status, text(found[0], "message"), text(found[0], "error")]


def _lease(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "spec", "holderIdentity"), age(obj, now)]


def _lease_candidate(obj: JsonObject, now: float) -> list[Cell]:
    spec = at(obj, "spec")
    return [
        metadata.name(obj),
        text(spec, "leaseName"),
        text(spec, "binaryVersion"),
        text(spec, "emulationVersion"),
        age(obj, now),
    ]


def _priority_class(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        number(obj, "value"),
        bool(obj.get("globalDefault")),
        age(obj, now),
        text(obj, "preemptionPolicy"),
    ]


def _runtime_class(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "handler"), age(obj, now)]


def _event(obj: JsonObject, now: float) -> list[Cell]:
    """Of both groups: the newer names are turned into those of the core group first."""
    event = convert(obj, CORE_EVENT)
    first = since(text(event, "firstTimestamp") or text(event, "eventTime"), now)
    last, count = text(event, "lastTimestamp"), number(event, "count") or 1
    seen = since(last, now) if last else first
    if at(event, "series") is not None:
        seen = since(text(event, "series", "lastObservedTime"), now)
        count = number(event, "series", "count")
    return [
        seen,
        text(event, "type"),
        text(event, "reason"),
        _involved(event),
        text(event, "involvedObject", "fieldPath"),
        _event_source(event),
        trim_space(text(event, "message")),
        first,
        count,
        metadata.name(event),
    ]


def _involved(event: JsonObject) -> str:
    kind, name = text(event, "involvedObject", "kind"), text(event, "involvedObject", "name")
    return f"{kind.lower()}/{name}" if name else kind.lower()


def _event_source(event: JsonObject) -> str:
    component = text(event, "source", "component") or text(event, "reportingComponent")
    instance = text(event, "source", "host") or text(event, "reportingInstance")
    return f"{component}, {instance}" if instance else component


CLUSTER: Final[Mapping[str, CellsOf]] = {
    "componentstatuses": _component,
    "configmaps": _config_map,
    "events": _event,
    "events.events.k8s.io": _event,
    "leasecandidates.coordination.k8s.io": _lease_candidate,
    "leases.coordination.k8s.io": _lease,
    "namespaces": _namespace,
    "nodes": _node,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    "resourcequotas": _quota,
    "runtimeclasses.node.k8s.io": _runtime_class,
    "secrets": _secret,
}
"""By the resource's name with its group."""
