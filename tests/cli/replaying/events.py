"""Audit events, and how clouds pack them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from celadon.admission import VALIDATION_FAILURE
from tests.cli.files import config_map

Json = dict[str, Any]


def event(verb: str = "create", name: str = "a", x: str = "no", **members: Any) -> Json:
    """One about a ConfigMap; RequestResponse."""
    obj = config_map(name, x=x)
    made: Json = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": f"id-{name}",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/default/configmaps",
        "verb": verb,
        "user": {"username": "alice", "groups": ["dev", "system:authenticated"]},
        "objectRef": {
            "resource": "configmaps",
            "namespace": "default",
            "name": name,
            "apiVersion": "v1",
        },
        "responseStatus": {"metadata": {}, "code": 201},
        "requestObject": obj,
        "responseObject": {**obj, "metadata": {**obj["metadata"], "uid": "u"}},
        "requestReceivedTimestamp": "2026-03-01T10:00:00.000000Z",
        "stageTimestamp": "2026-03-01T10:00:00.100000Z",
    }
    made |= members
    return {key: value for key, value in made.items() if value is not None}


def failure(*names: str) -> Json:
    """Annotations that say that these policies audited."""
    rows = [
        {"message": "no", "policy": name, "binding": f"{name}-b", "validationActions": ["Audit"]}
        for name in names
    ]
    return {VALIDATION_FAILURE: json.dumps(rows)}


def lines(values: Sequence[Any]) -> str:
    """JSON lines."""
    return "".join(json.dumps(one) + "\n" for one in values)


def as_gke(one: Json) -> Json:
    """The same as an entry of Cloud Logging."""
    reference = one["objectRef"]
    where = f"core/v1/namespaces/{reference['namespace']}/configmaps/{reference['name']}"
    typed = {"@type": "core.k8s.io/v1.ConfigMap"}
    payload = {
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "serviceName": "k8s.io",
        "methodName": f"io.k8s.core.v1.configmaps.{one['verb']}",
        "resourceName": where,
        "authenticationInfo": {"principalEmail": one["user"]["username"]},
        "requestMetadata": {"callerSuppliedUserAgent": "kubectl"},
        "request": {**typed, **one["requestObject"]},
        "response": {**typed, **one["responseObject"]},
        "status": {},
    }
    return {
        "insertId": one["auditID"],
        "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
        "protoPayload": payload,
        "resource": {"type": "k8s_cluster"},
        "timestamp": one["requestReceivedTimestamp"],
    }


def _message(one: Json) -> Json:
    return {"timestamp": 1, "message": json.dumps(one), "ingestionTime": 2, "eventId": "3"}


def _aks(one: Json) -> Json:
    log = {"log": json.dumps(one), "stream": "stdout", "pod": "kube-apiserver-x"}
    return {"category": "kube-audit", "operationName": "log", "properties": log}


_OTHER = {"message": "I0301 10:00:00 kube-apiserver said something"}

PACKED: dict[str, Callable[[Sequence[Json]], str]] = {
    "lines": lines,
    "a list of events": lambda all: json.dumps(
        {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": all}, indent=2
    ),
    "aws logs": lambda all: json.dumps({"events": [*map(_message, all), _OTHER]}, indent=4),
    "a subscription": lambda all: lines(
        [{"messageType": "DATA_MESSAGE", "logEvents": [*map(_message, all)]}]
    ),
    "insights": lambda all: json.dumps(
        {"results": [[{"field": "@message", "value": json.dumps(one)}] for one in all]}
    ),
    "an export": lambda all: "".join(
        f"2026-03-01T10:00:00.000Z {json.dumps(one)}\n" for one in all
    ),
    "AKS": lambda all: lines([_aks(one) for one in all]),
    "AKS in records": lambda all: json.dumps({"records": [_aks(one) for one in all]}),
    "AKS with texts": lambda all: lines(
        [_aks(one) | {"properties": json.dumps(_aks(one)["properties"])} for one in all]
    ),
    "GKE": lambda all: lines([as_gke(one) for one in all]),
    "gcloud": lambda all: json.dumps([as_gke(one) for one in all], indent=2),
}
