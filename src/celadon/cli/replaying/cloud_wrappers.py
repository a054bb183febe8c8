"""Audit events, however they are packed.

A server writes `Event`s (audit.k8s.io/v1), or an `EventList`. EKS sends them to CloudWatch, whose
exports have each as the text of a `message`; AKS writes diagnostics with the text in
`properties.log`. GKE writes entries of Cloud Logging with an `AuditLog` (`protoPayload`), which is
another form of the same: it has no groups of users, and names the resource in a path. What is in it
becomes an Event, and what is not is missing.

The forms are those that the clouds document: Amazon EKS "control plane logging" and CloudWatch Logs
(`filter-log-events`, subscriptions, exports, Insights), Azure "monitor AKS" (`kube-audit`), Google
Cloud "audit logs for GKE" and `google.cloud.audit.AuditLog`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.cli.reading.json_text import read_written
from celadon.goyaml import UnreadableError
from celadon.records import dataclass

_LISTS: Final = ("items", "events", "logEvents", "records", "entries", "value")
"""Members of what packs several."""
_TEXTS: Final = ("message", "@message", "log", "log_s", "Log")
"""Members that have an event as a text."""
_AUDIT_LOG: Final = "type.googleapis.com/google.cloud.audit.AuditLog"
_DEPTH: Final = 6
"""Packings within packings."""


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
    payload = value.get("protoPayload")
    if isinstance(payload, dict):
        found = _from_audit_log(value, payload)
        if found is not None:
            yield LoggedEvent(found, knows_groups=False)
        return
    for name in (*_LISTS, "results"):
        inner = value.get(name)
        if isinstance(inner, list):
            yield from events_in(inner, depth - 1)
            return
    properties = value.get("properties")
    if isinstance(properties, str):
        properties = _parsed(properties)
    for holder in (value, properties):
        for name in _TEXTS:
            text = holder.get(name) if isinstance(holder, dict) else None
            inner = _parsed(text) if isinstance(text, str) else text
            if isinstance(inner, dict | list):
                yield from events_in(inner, depth - 1)
                return


def _parsed(text: str) -> Any:  # noqa: ANN401 - any JSON
    """None for what is no JSON: other lines of the same log."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return read_written(text)
    except UnreadableError:
        return None


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
    """The answer's own Status where there is one: Google's codes are those of gRPC."""
    if response is not None and response.get("kind") == "Status":
        return dict(response)
    code = status.get("code") or 0
    return {"code": 500 if code else 200, "message": status.get("message") or ""}


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
