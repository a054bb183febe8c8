"""Audit events, however they are packed.

A server writes `Event`s (audit.k8s.io/v1), or an `EventList`. EKS sends them to CloudWatch, whose
exports have each as the text of a `message`, and whose subscriptions hand on such texts packed with
gzip in base64. AKS writes diagnostics with the text in `properties.log`, or a table whose columns
are the members of events. GKE writes entries of Cloud Logging with an `AuditLog` (`protoPayload`),
which is another form of the same: it has no groups of users, no HTTP code, and names the resource
in a path. What is in it becomes an Event, and what is not is missing.

The forms are those that the clouds document: Amazon EKS "control plane logging" and CloudWatch Logs
(`filter-log-events`, subscriptions to Lambda, Kinesis and Firehose, exports, Insights), Azure
"monitor AKS" (`kube-audit` in storage accounts, event hubs and Log Analytics; the tables AKSAudit
and AKSAuditAdmin), Google Cloud "audit logs for GKE" and `google.cloud.audit.AuditLog`.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.cli.reading.input_limits import MAX_LIST_CHARACTERS
from celadon.cli.reading.json_text import read_written
from celadon.goyaml import UnreadableError
from celadon.records import dataclass

_LISTS: Final = (
    *("items", "events", "logEvents", "records", "Records", "entries", "value", "results"),
)
"""Members of what packs several."""
_HOLDERS: Final = ("awslogs", "kinesis")
"""Members of what packs one."""
_TEXTS: Final = ("message", "@message", "log", "log_s", "Log", "data")
"""Members that have an event as a text."""
_PACKED: Final = "H4sI"
"""How gzip in base64 begins."""
_AUDIT_LOG: Final = "type.googleapis.com/google.cloud.audit.AuditLog"
_DEPTH: Final = 8
"""Packings within packings."""
_COLUMNS: Final = {
    "AuditId": "auditID",
    "Verb": "verb",
    "Level": "level",
    "Stage": "stage",
    "RequestUri": "requestURI",
    "RequestReceivedTime": "requestReceivedTimestamp",
    "StageReceivedTime": "stageTimestamp",
    "UserAgent": "userAgent",
    "User": "user",
    "ObjectRef": "objectRef",
    "ResponseStatus": "responseStatus",
    "RequestObject": "requestObject",
    "ResponseObject": "responseObject",
    "Annotations": "annotations",
}
"""Of the tables of AKS. What a query prints has objects as texts."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An Event, as audit.k8s.io/v1 has it; `knows_groups` is whether the user's groups are all."""

    value: Mapping[str, Any]
    knows_groups: bool = True


def events_in(value: Any, depth: int = _DEPTH) -> Iterator[LoggedEvent]:  # noqa: ANN401 - any JSON
    """The events in what a line, or a file, says."""
    if depth == 0:
        return
    if isinstance(value, list):
        fields = {
            one["field"]: one.get("value")
            for one in value
            if isinstance(one, dict) and isinstance(one.get("field"), str)
        }
        if "@message" in fields:  # a row of CloudWatch Logs Insights
            yield from events_in(fields, depth - 1)
            return
        for one in value:
            yield from events_in(one, depth - 1)
    elif isinstance(value, dict):
        yield from _in_object(value, depth)


def _in_object(value: dict[str, Any], depth: int) -> Iterator[LoggedEvent]:
    if "auditID" in value and "verb" in value:
        yield LoggedEvent(value)
        return
    if "AuditId" in value and "Verb" in value:
        yield LoggedEvent(_from_columns(value))
        return
    payload = value.get("protoPayload")
    if isinstance(payload, dict):
        found = _from_audit_log(value, payload)
        if found is not None:
            yield LoggedEvent(found, knows_groups=False)
        return
    for inner in _packings(value):
        if isinstance(inner, dict | list):
            yield from events_in(inner, depth - 1)
            return


def _packings(value: Mapping[str, Any]) -> Iterator[Any]:
    """Everything in which an object may have events; the first that is one has them."""
    for name in _LISTS:
        if isinstance(value.get(name), list):
            yield value[name]
    if isinstance(value.get("tables"), list):  # of a query's answer
        yield [row for table in value["tables"] for row in _rows(table)]
    properties = value.get("properties")
    if isinstance(properties, str):
        properties = _parsed(properties)
    for holder in (value, properties):
        if isinstance(holder, dict):
            yield from (holder.get(name) for name in _HOLDERS)
            for name in _TEXTS:
                text = holder.get(name)
                yield _parsed(text) if isinstance(text, str) else text


def _rows(table: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any JSON
    """Rows of a table by the names of its columns."""
    if isinstance(table, dict) and isinstance(table.get("columns"), list):
        names = [str(_mapping(column).get("name")) for column in table["columns"]]
        for row in table.get("rows") or ():
            if isinstance(row, list):
                yield dict(zip(names, row, strict=False))


def _from_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    given = ((ours, row.get(name)) for name, ours in _COLUMNS.items())
    return {
        name: _parsed(value, value) if isinstance(value, str) else value
        for name, value in given
        if value not in (None, "")
    }


def _parsed(text: str, otherwise: Any = None) -> Any:  # noqa: ANN401 - any JSON
    """What a text holds, packed or not; other texts of the same log hold nothing."""
    if text.startswith(_PACKED):
        text = _unpacked(text)
    if not text.lstrip().startswith(("{", "[")):
        return otherwise
    try:
        return read_written(text)
    except UnreadableError:
        return otherwise


def _unpacked(text: str) -> str:
    """Of gzip in base64; empty for what is none, or would be larger than any input may be."""
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        found = unpacking.decompress(base64.b64decode(text), MAX_LIST_CHARACTERS)
        return "" if unpacking.unconsumed_tail else found.decode()
    except (binascii.Error, zlib.error, ValueError):
        return ""


def _from_audit_log(entry: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """The Event that an AuditLog of Google's tells of; None for other services' logs."""
    if payload.get("serviceName") != "k8s.io" or payload.get("@type", _AUDIT_LOG) != _AUDIT_LOG:
        return None
    method = str(payload.get("methodName") or "")
    request, response = _typed(payload.get("request")), _typed(payload.get("response"))
    told = _mapping(payload.get("requestMetadata"))
    identity = _mapping(payload.get("authenticationInfo"))
    reference = _reference(str(payload.get("resourceName") or ""))
    level = "Metadata" if request is None and response is None else "RequestResponse"
    at = entry.get("timestamp")
    event: dict[str, Any] = {
        "level": level,
        "auditID": entry.get("insertId") or "",
        "stage": "ResponseComplete",
        "verb": method.rpartition(".")[2],
        "user": {"username": identity.get("principalEmail") or ""},
        "userAgent": told.get("callerSuppliedUserAgent") or "",
        "objectRef": reference,
        "requestReceivedTimestamp": at,
        "stageTimestamp": at,
        "annotations": _mapping(entry.get("labels")),
        "responseStatus": _status(_mapping(payload.get("status")), response),
    }
    if request is not None:
        event["requestObject"] = request
    if response is not None:
        event["responseObject"] = response
    return event


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _typed(value: object) -> dict[str, Any] | None:
    """Without the name of the type that Google adds."""
    if not isinstance(value, dict) or not value:
        return None
    return {key: one for key, one in value.items() if key != "@type"}


def _status(status: Mapping[str, Any], response: Mapping[str, Any] | None) -> dict[str, Any]:
    """The answer's own Status where there is one: Google's codes are those of gRPC, so of a success
    it is not known which one it was."""
    if response is not None and response.get("kind") == "Status":
        return dict(response)
    return {"code": 500 if status.get("code") else 0, "message": status.get("message") or ""}


def _reference(path: str) -> dict[str, Any]:
    """`apps/v1/namespaces/shop/deployments/web/status`; the core group is `core`."""
    group, _, rest = path.partition("/")
    version, _, rest = rest.partition("/")
    steps = [step for step in rest.split("/") if step]
    found = {"apiGroup": "" if group == "core" else group, "apiVersion": version}
    if len(steps) > 2 and steps[0] == "namespaces" and steps[2] not in _OF_NAMESPACES:
        found["namespace"] = steps[1]
        steps = steps[2:]
    return found | dict(_named(steps))


def _named(steps: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from zip(("resource", "name", "subresource"), steps, strict=False)


_OF_NAMESPACES: Final = ("finalize", "status")
"""Subresources of namespaces themselves."""
