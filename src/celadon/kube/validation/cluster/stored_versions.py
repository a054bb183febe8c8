"""Versions that objects are stored in, revisions, and moves from one version to another.

As k8s.io/kubernetes `pkg/apis/{apiserverinternal,storagemigration,apps}/validation`.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    NEGATIVE,
    SPEC,
    Errors,
    not_negative,
)
from celadon.kube.validation.field_rules import broken_rules, changed_fields
from celadon.kube.validation.statuses.status_conditions import condition_is_true, conditions

_STATUS: Final = FieldPath("status")
_AT_CONDITIONS: Final = _STATUS.child("conditions")
_AT_VERSION: Final = _STATUS.child("resourceVersion")
BOTH_ENDS: Final = "Both success and failed conditions cannot be true at the same time"
ENDED: Final = {"Succeeded": "success", "Failed": "failed"}
"""How a migration can end, and what that is called in complaints."""


def storage_version_name(name: str) -> list[str]:
    """Of a StorageVersion: a group and a resource."""
    group, dot, resource = name.rpartition(".")
    if not dot:
        return ["name must be in the form of <group>.<resource>"]
    return [
        *(f"the group segment {why}" for why in name_rules.dns1123_subdomain(group)),
        *(f"the resource segment {why}" for why in name_rules.dns1035_label(resource)),
    ]


def controller_revision(obj: JsonObject) -> Errors:
    """What is wrong with a ControllerRevision, besides its metadata."""
    yield from not_negative(obj, FieldPath(), "revision")
    if obj.get("data") is None:
        yield fieldpath.required(FieldPath("data"), "data is mandatory")
    elif not isinstance(obj["data"], dict):
        yield fieldpath.required(FieldPath("data"), "data must be a valid JSON object")


def controller_revision_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Its data stays."""
    yield from not_negative(obj, FieldPath(), "revision")
    if obj.get("data") != old.get("data"):
        yield fieldpath.invalid(FieldPath("data"), obj.get("data"), IMMUTABLE)


def migration(obj: JsonObject) -> Errors:
    """What is wrong with a StorageVersionMigration, besides its metadata."""
    resource = (obj.get("spec") or {}).get("resource") or {}
    yield from broken_rules("meta.v1.GroupResource", resource, SPEC.child("resource"))


def migration_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What is moved stays."""
    yield from migration(obj)
    new, before = ((one.get("spec") or {}).get("resource") or {} for one in (obj, old))
    yield from changed_fields("meta.v1.GroupResource", new, before, FieldPath())


def migration_status(obj: JsonObject, old: JsonObject) -> Errors:
    """What is over stays so, and cannot be over in two ways."""
    status, before = obj.get("status") or {}, old.get("status") or {}
    yield from _version(status.get("resourceVersion") or "")
    yield from conditions(_STATUS, status)
    was = before.get("resourceVersion")
    if was and was != status.get("resourceVersion"):
        shown = status.get("resourceVersion") or ""
        yield fieldpath.invalid(_AT_VERSION, shown, "resourceVersion cannot be updated")
    shown_conditions = _printed(status)
    ended = [kind for kind in ENDED if condition_is_true(status, kind)]
    if len(ended) > 1:
        yield fieldpath.invalid(_AT_CONDITIONS, shown_conditions, BOTH_ENDS)
    for kind in ended:
        if condition_is_true(status, "Running"):
            why = f"Running condition cannot be true when {ENDED[kind]} condition is true"
            yield fieldpath.invalid(_AT_CONDITIONS, shown_conditions, why)
    for kind, name in ENDED.items():
        if condition_is_true(before, kind) and kind not in ended:
            why = f"{name.capitalize()} condition cannot be set to false once it is true"
            yield fieldpath.invalid(_AT_CONDITIONS, shown_conditions, why)


def _printed(status: JsonObject) -> list[dict[str, Any]]:
    """The conditions with their members in Go's order."""
    order = ("type", "status", "observedGeneration", "lastTransitionTime", "reason", "message")
    return [
        {key: one[key] for key in order if key in one} for one in status.get("conditions") or ()
    ]


def _version(text: str) -> Errors:
    try:
        number = int(text or "0")
    except ValueError:
        why = (
            f"failed to parse resource version {quote(text)}: strconv.ParseInt: parsing "
            f"{quote(text)}: invalid syntax"
        )
        yield fieldpath.invalid(_AT_VERSION, text, why)
        return
    if number < 0:
        yield fieldpath.invalid(_AT_VERSION, number, NEGATIVE)
