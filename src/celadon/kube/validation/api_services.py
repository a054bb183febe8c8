"""Validation of APIServices, which say who serves a version of a group.

As k8s.io/kube-aggregator `pkg/apis/apiregistration/validation`.
"""

from __future__ import annotations

import base64
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import (
    SPEC,
    Errors,
    dns_subdomain,
    each,
    items,
    supported,
)
from celadon.kube.validation.object_meta import Naming

MAX_GROUP_PRIORITY: Final = 20_000
MAX_VERSION_PRIORITY: Final = 1000
STATUSES: Final = ("True", "False", "Unknown")
LEGACY: Final = "only v1 may have an empty group and it better be legacy kube"


def api_service_naming(obj: JsonObject) -> Naming:
    """Return the rule for the name of an APIService, which its version and group make."""
    spec = obj.get("spec") or {}
    expected = f"{spec.get('version') or ''}.{spec.get('group') or ''}"

    def rule(name: str) -> list[str]:
        messages = name_rules.path_segment_name(name)
        if messages or name == expected:
            return messages
        return [f'must be `spec.version+"."+spec.group`: {quote(expected)}']

    return Naming(rule, namespaced=False, prefix_rule=rule, any_finalizers=True)


def api_service(obj: JsonObject) -> Errors:
    """Yield what is wrong with an APIService, besides its metadata."""
    spec = obj.get("spec") or {}
    group, version = spec.get("group") or "", spec.get("version") or ""
    if not group and version != "v1":
        yield fieldpath.required(SPEC.child("group"), LEGACY)
    if group:
        yield from dns_subdomain(SPEC.child("group"), group)
    yield from each(SPEC.child("version"), version, name_rules.dns1035_label(version))
    limits = {"groupPriorityMinimum": MAX_GROUP_PRIORITY, "versionPriority": MAX_VERSION_PRIORITY}
    for field, limit in limits.items():
        value = spec.get(field) or 0
        if not 0 < value <= limit:
            detail = f"must be positive and less than {limit}"
            yield fieldpath.invalid(SPEC.child(field), value, detail)
    bundle, insecure = spec.get("caBundle") or "", spec.get("insecureSkipTLSVerify")
    if spec.get("service") is None:
        yield from _local(bundle, insecure=bool(insecure))
        return
    yield from _reference(SPEC.child("service"), spec["service"])
    if insecure and bundle:
        path = SPEC.child("insecureSkipTLSVerify")
        yield fieldpath.invalid(path, insecure, "may not be true if caBundle is present")


def _local(bundle: str, *, insecure: bool) -> Errors:
    """Yield what is wrong with an APIService that the server serves itself."""
    if bundle:
        text = f"{len(base64.b64decode(bundle))} bytes"
        detail = "local APIServices may not have a caBundle"
        yield fieldpath.invalid(SPEC.child("caBundle"), text, detail)
    if insecure:
        detail = "local APIServices may not have insecureSkipTLSVerify"
        yield fieldpath.invalid(SPEC.child("insecureSkipTLSVerify"), insecure, detail)


def _reference(path: FieldPath, service: JsonObject) -> Errors:
    for field in ("namespace", "name"):
        if not service.get(field):
            yield fieldpath.required(path.child(field))
    port = service.get("port") or 0
    messages = name_rules.port_number(port)
    if messages:
        detail = f"port is not valid: {', '.join(messages)}"
        yield fieldpath.invalid(path.child("port"), port, detail)


def api_service_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Yield an error for each condition whose status is none of the three."""
    for path, condition in items(obj.get("status") or {}, "conditions", FieldPath("status")):
        yield from supported(path.child("status"), condition.get("status") or "", STATUSES)
