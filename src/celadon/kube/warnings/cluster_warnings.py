"""What an API server remarks about nodes, accounts, devices, definitions and custom resources.

As the `strategy.go` of each kind in k8s.io/kubernetes `pkg/registry` and
k8s.io/apiextensions-apiserver `pkg/registry`, and `pkg/api/node/util.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import metadata, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.warnings.deprecated_node_labels import DEPRECATED
from celadon.kube.warnings.warned_addresses import address_warnings, range_warnings
from celadon.kube.well_known_values import FOREGROUND, MOUNTABLE_SECRETS, ORPHAN

_STANDARD_FINALIZERS: Final = frozenset({FOREGROUND, ORPHAN, "kubernetes"})
_STATUS: Final = FieldPath("status")


def node_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a Node."""
    spec = obj.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for index, one in enumerate(spec.get("podCIDRs") or ()):
        yield from range_warnings(FieldPath("spec", "podCIDRs").index(index), one)


def pod_status_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of the status of a Pod."""
    status = obj.get("status") or {}
    for field in ("podIPs", "hostIPs"):
        for index, one in enumerate(status.get(field) or ()):
            at = _STATUS.child(field).index(index).child("ip")
            yield from address_warnings(at, one.get("ip", ""))


def runtime_class_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a RuntimeClass."""
    selector = (obj.get("scheduling") or {}).get("nodeSelector") or {}
    for key in sorted(selector):
        if key in DEPRECATED:
            yield f"scheduling.nodeSelector: {DEPRECATED[key]}"


def service_account_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a ServiceAccount that gets an annotation it did not have."""
    had = old is not None and MOUNTABLE_SECRETS in metadata.annotations(old)
    if MOUNTABLE_SECRETS in metadata.annotations(obj) and not had:
        yield (
            f"metadata.annotations[{MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate "
            "namespaces to isolate access to mounted secrets"
        )


def resource_slice_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a ResourceSlice."""
    driver = (obj.get("spec") or {}).get("driver") or ""
    if driver != driver.lower():
        yield (
            "spec.driver: driver names should be lowercase; "
            f"{quote(driver)} contains uppercase characters"
        )


def definition_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a CustomResourceDefinition: formats that nobody checks, and that it did not have."""
    had = set() if old is None else set(_unknown_formats(old))
    for name in _unknown_formats(obj):
        if name not in had:
            yield f"unrecognized format {quote(name)}"


def _unknown_formats(definition: JsonObject) -> list[str]:
    # late: few objects are definitions.
    from celadon.kube.custom.definitions.internal_definitions import internal_definition
    from celadon.kube.custom.definitions.schema_tree import every_schema
    from celadon.kube.custom.string_formats import known_format

    found: dict[str, None] = {}
    for _, schema in internal_definition(definition.get("spec") or {}).schemas():
        for node in every_schema(schema):
            name = node.get("format") or ""
            if name and not known_format(name, node.get("type") or ""):
                found[name] = None
    return [*found]


def custom_resource_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a custom resource: finalizers that it did not have and that could be anybody's."""
    had = () if old is None else metadata.metadata(old).get("finalizers") or ()
    added = set(metadata.metadata(obj).get("finalizers") or ()) - set(had)
    for finalizer in sorted(added):
        for why in name_rules.qualified_name(finalizer):
            yield f"metadata.finalizers: {quote(finalizer)}: {why}"
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            path = " including a path (/)" if "." in finalizer else ""
            yield (
                f"metadata.finalizers: {quote(finalizer)}: prefer a domain-qualified finalizer "
                f"name{path} to avoid accidental conflicts with other finalizer writers"
            )
