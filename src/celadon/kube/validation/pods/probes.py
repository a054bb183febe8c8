"""What a kubelet does with a running container: probes and lifecycle handlers."""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.field_checks import Errors, each, port_number, supported
from celadon.kube.validation.field_rules import broken_rules
from celadon.kube.well_known_values import PROBE_HANDLERS, PROBES

SCHEMES: Final = ("HTTP", "HTTPS")
LIFECYCLE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")


def port_or_name(path: FieldPath, value: int | str) -> Errors:
    """A port number, or the name of a port."""
    if isinstance(value, str):
        return each(path, value, text_rules.port_name(value))
    return each(path, value, name_rules.port_number(value))


def lifecycle_and_probes(path: FieldPath, container: JsonObject, grace_period: int) -> Errors:
    lifecycle = container.get("lifecycle") or {}
    for event in ("postStart", "preStop"):
        if lifecycle.get(event) is not None:
            at = path.child("lifecycle", event)
            yield from _handler(at, lifecycle[event], LIFECYCLE_HANDLERS, grace_period)
    for name in PROBES:
        if container.get(name) is not None:
            yield from _probe(path.child(name), container[name], name)


def _probe(path: FieldPath, probe: JsonObject, name: str) -> Errors:
    yield from _handler(path, probe, PROBE_HANDLERS, 0)
    yield from broken_rules("core.v1.Probe", probe, path)
    seconds = probe.get("terminationGracePeriodSeconds")
    at = path.child("terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        yield fieldpath.invalid(at, seconds, "must be greater than 0")
    if name == "readinessProbe":
        if seconds is not None:
            yield fieldpath.invalid(at, seconds, "must not be set for readinessProbes")
    elif probe.get("successThreshold", 0) != 1:
        threshold = probe.get("successThreshold", 0)
        yield fieldpath.invalid(path.child("successThreshold"), threshold, "must be 1")


def _handler(
    path: FieldPath, handler: JsonObject, kinds: tuple[str, ...], grace_period: int
) -> Errors:
    """The first kind that is given counts; others are too many."""
    given = [kind for kind in kinds if handler.get(kind) is not None]
    if not given:
        yield fieldpath.required(path, "must specify a handler type")
        return
    yield from _action(path.child(given[0]), handler[given[0]], given[0], grace_period)
    for kind in given[1:]:
        yield fieldpath.forbidden(path.child(kind), "may not specify more than 1 handler type")


def _action(path: FieldPath, action: JsonObject, kind: str, grace_period: int) -> Errors:
    if kind == "exec":
        if not action.get("command"):
            yield fieldpath.required(path.child("command"))
    elif kind == "httpGet":
        yield from _http(path, action)
    elif kind == "tcpSocket":
        yield from port_or_name(path.child("port"), action.get("port", 0))
    elif kind == "grpc":
        yield from port_number(path.child("port"), action.get("port", 0))
    else:
        seconds = action.get("seconds", 0)
        if not 0 <= seconds <= grace_period:
            detail = (
                f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
            )
            yield fieldpath.invalid(path, seconds, detail)


def _http(path: FieldPath, action: JsonObject) -> Errors:
    if not action.get("path"):
        yield fieldpath.required(path.child("path"))
    yield from port_or_name(path.child("port"), action.get("port", 0))
    yield from supported(path.child("scheme"), action.get("scheme") or "", SCHEMES)
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        yield from each(path.child("httpHeaders"), name, text_rules.http_header(name))
