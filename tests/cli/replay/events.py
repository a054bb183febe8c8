"""Audit events, and how clouds pack them."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

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


def gzip64(text: str) -> str:
    """As subscriptions of CloudWatch hand texts on."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _subscription(all: Sequence[Json]) -> str:
    return json.dumps(
        {
            "messageType": "DATA_MESSAGE",
            "owner": "123456789012",
            "logGroup": "/aws/eks/prod/cluster",
            "logStream": "kube-apiserver-audit-0123456789abcdef0123456789abcdef",
            "subscriptionFilters": ["audit"],
            "logEvents": [*map(_message, all)],
        }
    )


_CONTROL: Final = json.dumps({"messageType": "CONTROL_MESSAGE", "logEvents": [{"message": "ok"}]})


def as_columns(one: Json, *, texts: bool = False) -> Json:
    """As a row of the table AKSAudit; a query prints objects as texts."""
    row = {
        "AuditId": one["auditID"],
        "Verb": one["verb"],
        "Level": one["level"],
        "Stage": one["stage"],
        "RequestUri": one["requestURI"],
        "RequestReceivedTime": one["requestReceivedTimestamp"],
        "StageReceivedTime": one["stageTimestamp"],
        "User": one["user"],
        "ObjectRef": one["objectRef"],
        "ResponseStatus": one["responseStatus"],
        "RequestObject": one["requestObject"],
        "ResponseObject": one["responseObject"],
        "Annotations": "",
        "PodName": "kube-apiserver-x",
        "TableName": "PrimaryResult",
    }
    return {name: json.dumps(v) if texts and isinstance(v, dict) else v for name, v in row.items()}


def _query(all: Sequence[Json]) -> str:
    rows = [as_columns(one, texts=True) for one in all]
    columns = [{"name": name, "type": "string"} for name in rows[0]]
    values = [list(row.values()) for row in rows]
    return json.dumps(
        {"tables": [{"name": "PrimaryResult", "columns": columns, "rows": values}]}, indent=2
    )


def _message(one: Json) -> Json:
    return {"timestamp": 1, "message": json.dumps(one), "ingestionTime": 2, "eventId": "3"}


def _aks(one: Json) -> Json:
    log = {"log": json.dumps(one) + "\n", "stream": "stdout", "pod": "kube-apiserver-x"}
    return {
        "category": "kube-audit",
        "operationName": "Microsoft.ContainerService/managedClusters/diagnosticLogs/Read",
        "resourceId": "/SUBSCRIPTIONS/0/RESOURCEGROUPS/R/PROVIDERS/MICROSOFT.CONTAINERSERVICE",
        "serviceBuild": "na",
        "time": "2026-03-01T10:00:00.1Z",
        "properties": log,
    }


_OTHER = {"message": "I0301 10:00:00 kube-apiserver said something"}

PACKED: dict[str, Callable[[Sequence[Json]], str]] = {
    "lines": lines,
    "a list of events": lambda all: json.dumps(
        {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": all}, indent=2
    ),
    "aws logs": lambda all: json.dumps({"events": [*map(_message, all), _OTHER]}, indent=4),
    "a subscription": lambda all: _subscription(all) + "\n",
    "Firehose, without line ends": lambda all: (
        _CONTROL + "".join(_subscription([one]) for one in all)
    ),
    "documents in a row": lambda all: "".join(json.dumps(one, indent=2) for one in all),
    "Lambda": lambda all: json.dumps({"awslogs": {"data": gzip64(_subscription(all))}}, indent=2),
    "Kinesis": lambda all: json.dumps(
        {"Records": [{"kinesis": {"data": gzip64(_subscription([one]))}} for one in all]}
    ),
    "insights": lambda all: json.dumps(
        {"results": [[{"field": "@message", "value": json.dumps(one)}] for one in all]}
    ),
    "an export": lambda all: "".join(
        f"2026-03-01T10:00:00.000Z {json.dumps(one)}\n" for one in all
    ),
    "AKS": lambda all: lines([_aks(one) for one in all]),
    "AKS in records": lambda all: json.dumps({"records": [_aks(one) for one in all]}),
    "AKS in Log Analytics": lambda all: json.dumps(
        [{"log_s": json.dumps(one), "Category": "kube-audit"} for one in all], indent=2
    ),
    "AKSAudit": lambda all: json.dumps([as_columns(one) for one in all]),
    "AKSAudit with texts": lambda all: json.dumps([as_columns(one, texts=True) for one in all]),
    "AKSAudit, a query": _query,
    "AKS with texts": lambda all: lines(
        [_aks(one) | {"properties": json.dumps(_aks(one)["properties"])} for one in all]
    ),
    "GKE": lambda all: lines([as_gke(one) for one in all]),
    "gcloud": lambda all: json.dumps([as_gke(one) for one in all], indent=2),
}
