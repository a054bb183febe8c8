"""The cells of who may do what: bindings of roles, certificates, priorities of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube import JsonObject, metadata
from celadon.serve.tables.cell_texts import (
    NONE,
    Cell,
    CellsOf,
    age,
    at,
    condition,
    elapsed,
    items,
    labels_text,
    number,
    text,
)

FLOW_SCHEMAS: Final = "flowschemas.flowcontrol.apiserver.k8s.io"
_REQUEST_STATES: Final = frozenset({"Issued", "Denied", "Failed"})


def _role_binding(obj: JsonObject, now: float) -> list[Cell]:
    role = at(obj, "roleRef")
    return [
        metadata.name(obj),
        f"{text(role, 'kind')}/{text(role, 'name')}",
        age(obj, now),
        _subjects(obj, "User"),
        _subjects(obj, "Group"),
        _subjects(obj, "ServiceAccount"),
    ]


def _subjects(obj: JsonObject, kind: str) -> str:
    """Service accounts with their namespace, if it is given."""
    chosen = [one for one in items(obj, "subjects") if one.get("kind") == kind]
    named = (
        "/".join(filter(None, (text(one, "namespace"), text(one, "name"))))
        if kind == "ServiceAccount"
        else text(one, "name")
        for one in chosen
    )
    return ", ".join(named)


def _certificate_request(obj: JsonObject, now: float) -> list[Cell]:
    duration = at(obj, "spec", "expirationSeconds")
    return [
        metadata.name(obj),
        age(obj, now),
        text(obj, "spec", "signerName") or NONE,
        text(obj, "spec", "username"),
        NONE if duration is None else elapsed(duration),
        _request_condition(obj),
    ]


def _request_condition(obj: JsonObject) -> str:
    known = {text(one, "type") for one in items(obj, "status", "conditions")}
    state = next((one for one in ("Denied", "Approved") if one in known), "Pending")
    failed = ",Failed" if "Failed" in known else ""
    issued = ",Issued" if text(obj, "status", "certificate") else ""
    return f"{state}{failed}{issued}"


def _trust_bundle(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "spec", "signerName") or NONE]


def _pod_certificate_request(obj: JsonObject, now: float) -> list[Cell]:
    spec, conditions = at(obj, "spec"), items(obj, "status", "conditions")
    states = [text(one, "type") for one in conditions if one.get("type") in _REQUEST_STATES]
    return [
        metadata.name(obj),
        text(spec, "podName"),
        text(spec, "serviceAccountName"),
        text(spec, "nodeName"),
        text(spec, "signerName"),
        states[-1] if states else "Pending",
        labels_text(at(spec, "unverifiedUserAnnotations")),
    ]


def _flow_schema(obj: JsonObject, now: float) -> list[Cell]:
    method, dangling = at(obj, "spec", "distinguisherMethod"), condition(obj, "Dangling")
    return [
        metadata.name(obj),
        text(obj, "spec", "priorityLevelConfiguration", "name"),
        number(obj, "spec", "matchingPrecedence"),
        NONE if method is None else text(method, "type"),
        age(obj, now),
        "?" if dangling is None else text(dangling, "status"),
    ]


def flow_schema_order(obj: JsonObject) -> tuple[int, str]:
    """Lists of flow schemas show first what is matched first."""
    return number(obj, "spec", "matchingPrecedence"), metadata.name(obj)


def _priority_level(obj: JsonObject, now: float) -> list[Cell]:
    limited = at(obj, "spec", "limited")
    queuing = at(limited, "limitResponse", "queuing")
    return [
        metadata.name(obj),
        text(obj, "spec", "type"),
        NONE if limited is None else number(limited, "nominalConcurrencyShares"),
        NONE if queuing is None else number(queuing, "queues"),
        NONE if queuing is None else number(queuing, "handSize"),
        NONE if queuing is None else number(queuing, "queueLengthLimit"),
        age(obj, now),
    ]


def _api_service(obj: JsonObject, now: float) -> list[Cell]:
    service = at(obj, "spec", "service")
    return [
        metadata.name(obj),
        "Local" if service is None else f"{text(service, 'namespace')}/{text(service, 'name')}",
        _available(obj),
        age(obj, now),
    ]


def _available(obj: JsonObject) -> str:
    found = condition(obj, "Available")
    if found is None:
        return "Unknown"
    status, reason = text(found, "status"), text(found, "reason")
    return f"{status} ({reason})" if reason and status != "True" else status


ACCESS: Final[Mapping[str, CellsOf]] = {
    "apiservices.apiregistration.k8s.io": _api_service,
    "certificatesigningrequests.certificates.k8s.io": _certificate_request,
    "clusterrolebindings.rbac.authorization.k8s.io": _role_binding,
    "clustertrustbundles.certificates.k8s.io": _trust_bundle,
    FLOW_SCHEMAS: _flow_schema,
    "podcertificaterequests.certificates.k8s.io": _pod_certificate_request,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": _priority_level,
    "rolebindings.rbac.authorization.k8s.io": _role_binding,
}
"""By the resource's name with its group."""
