"""Validation of APIServices, which say who serves a version of a group; of StorageVersions, in
which servers report the versions they store; and of StorageVersionMigrations, which move objects
from one version to another.

As k8s.io/kubernetes `pkg/apis/{apiserverinternal,storagemigration}/validation`, and
k8s.io/kube-aggregator `pkg/apis/apiregistration/validation`.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue, parse_int, quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.name_rules import qualified_name
from celadon.kube.releases import is_since, wording
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    NEGATIVE,
    SPEC,
    Errors,
    condition_is_true,
    conditions,
    dns_subdomain,
    each,
    immutable,
    items,
    printed_condition,
    supported,
)
from celadon.kube.validation.object_meta import Naming

_STATUS: Final = FieldPath("status")
_AT_CONDITIONS: Final = _STATUS.child("conditions")
_AT_VERSION: Final = _STATUS.child("resourceVersion")
BOTH_ENDS: Final = "Both success and failed conditions cannot be true at the same time"
ENDED: Final = {"Succeeded": "success", "Failed": "failed"}
"""How a migration can end, and what that is called in complaints."""


def storage_version_name(name: str) -> list[str]:
    """Return what is wrong with the name of a StorageVersion, which is a group and a resource."""
    # As `ValidateStorageVersionName` of `pkg/apis/apiserverinternal/validation`.
    group, dot, resource = name.rpartition(".")
    if not dot:
        return ["name must be in the form of <group>.<resource>"]
    return [
        *(f"the group segment {detail}" for detail in name_rules.dns1123_subdomain(group)),
        *(f"the resource segment {detail}" for detail in name_rules.dns1035_label(resource)),
    ]


def storage_version_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Yield what is wrong with what servers report of the versions they store."""
    # As `ValidateStorageVersionStatusUpdate` of `pkg/apis/apiserverinternal/validation`.
    status = obj.get("status") or {}
    seen: set[str] = set()
    for path, server in items(status, "storageVersions", _STATUS):
        identity = server.get("apiServerID") or ""
        if identity in seen:
            yield fieldpath.duplicate(path.child("apiServerID"), identity)
        seen.add(identity)
        yield from _server_version(path, server)
    yield from _common_version(status)
    types: dict[str, int] = {}
    for index, condition in enumerate(status.get("conditions") or ()):
        yield from _version_condition(_STATUS.index(index), index, condition, types)


def _server_version(path: FieldPath, server: JsonObject) -> Errors:
    # As `validateServerStorageVersion` of `pkg/apis/apiserverinternal/validation`.
    yield from dns_subdomain(path.child("apiServerID"), server.get("apiServerID") or "")
    encoding = server.get("encodingVersion") or ""
    yield from _joined(path.child("encodingVersion"), encoding, _version_faults(encoding))
    decodable = server.get("decodableVersions")
    for decodable_version_path, version in items(server, "decodableVersions", path):
        yield from _joined(decodable_version_path, version, _version_faults(version))
    if encoding not in (decodable or ()):
        detail = f"decodableVersions must include encodingVersion {encoding}"
        printed = GoValue(decodable, "[]string")
        yield fieldpath.invalid(path.child("decodableVersions"), printed, detail)
    for decodable_version_path, version in items(server, "servedVersions", path):
        yield from _joined(decodable_version_path, version, _version_faults(version))
        if version not in (decodable or ()):
            detail = (
                f"individual served version : {version} must be included in decodableVersions : "
                f"[{' '.join(decodable or ())}]"
            )
            yield fieldpath.invalid(decodable_version_path, version, detail)


def _version_faults(version: str) -> list[str]:
    """Return what is wrong with `version` or `group/version`."""
    # As `isValidAPIVersion` of `pkg/apis/apiserverinternal/validation`.
    parts = version.split("/")
    if len(parts) > 2:
        return [_NO_API_VERSION]
    rules = [name_rules.dns1123_subdomain, name_rules.dns1035_label][-len(parts) :]
    return [
        f"{text} part: {detail}"
        for text, part, rule in zip(("group", "version")[-len(parts) :], parts, rules, strict=True)
        for detail in (rule(part) if part else ["must be non-empty"])
    ]


_NO_API_VERSION: Final = (
    "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters "
    "or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. "
    "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an "
    "optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"
)


def _common_version(status: JsonObject) -> Errors:
    # As `validateCommonVersion` of `pkg/apis/apiserverinternal/validation`.
    used = {
        storage_version.get("encodingVersion") or ""
        for storage_version in status.get("storageVersions") or ()
    }
    common_encoding_version = status.get("commonEncodingVersion")
    common = next(iter(used)) if len(used) == 1 else None
    detail = ""
    if common is None and common_encoding_version is not None:
        detail = (
            "should be nil if servers do not agree on the same encoding version, or if there is "
            "no server reporting the supported versions yet"
        )
    elif common != common_encoding_version:
        actual = "actual common" if common_encoding_version is not None else "common"
        detail = f"the {actual} encoding version is {common}"
    if detail:
        yield fieldpath.invalid(
            _STATUS.child("commonEncodingVersion"), common_encoding_version, detail
        )


def _version_condition(
    path: FieldPath, index: int, condition: JsonObject, types: dict[str, int]
) -> Errors:
    # As `validateStorageVersionCondition`, which leaves `conditions` out of its paths.
    kind = condition.get("type") or ""
    if kind in types:
        detail = (
            f"the type of the condition is not unique, it also appears in conditions[{types[kind]}]"
        )
        yield fieldpath.invalid(path.child("type"), kind, detail)
    types[kind] = index
    yield from each(path.child("type"), kind, qualified_name(kind))
    state = condition.get("status") or ""
    yield from each(path.child("status"), state, qualified_name(state))
    for field in ("reason", "message"):
        if not condition.get(field):
            detail = "" if is_since("1.34") else f"{field} cannot be empty"
            yield fieldpath.required(path.child(field), detail)


def migration(obj: JsonObject) -> Errors:
    """Yield what is wrong with a StorageVersionMigration, besides its metadata."""
    # As `ValidateStorageVersionMigration` of `pkg/apis/storagemigration/validation`.
    resource, path = _moved(obj), SPEC.child("resource")
    if not is_since("1.35"):
        for field in ("resource", "version"):
            if not resource.get(field):
                yield fieldpath.required(path.child(field), f"{field} is required")
        return
    name, group = resource.get("resource") or "", resource.get("group") or ""
    if name:
        yield from _joined(path.child("resource"), name, name_rules.dns1035_label(name))
    else:
        yield fieldpath.required(path.child("resource"), "resource is required to be set")
    if group:
        yield from _joined(path.child("group"), group, name_rules.dns1123_subdomain(group))


def _moved(obj: JsonObject) -> JsonObject:
    """Return the resource whose objects are stored anew."""
    resource: JsonObject = (obj.get("spec") or {}).get("resource") or {}
    return resource


def _joined(path: FieldPath, value: str, messages: Sequence[str]) -> Errors:
    return each(path, value, [",".join(messages)] if messages else [])


def migration_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if a StorageVersionMigration moves something else than before."""
    # As `ValidateStorageVersionMigrationUpdate` of `pkg/apis/storagemigration/validation`.
    new, before = (
        {field: item.get(field) or "" for field in ("group", "version", "resource")}
        for item in map(_moved, (obj, old))
    )
    if is_since("1.35"):
        if new != before:
            printed = {"Resource": {field: new[field] for field in ("group", "resource")}}
            yield fieldpath.invalid(SPEC, printed, IMMUTABLE)
        return
    for field, value in new.items():
        yield from immutable(FieldPath(field), value, before[field])


def migration_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with the status of a StorageVersionMigration: what is over stays so, and
    cannot be over in two ways."""
    # As `ValidateStorageVersionMigrationStatusUpdate` of `pkg/apis/storagemigration/validation`.
    status, before = obj.get("status") or {}, old.get("status") or {}
    yield from _stored_versions_version(status.get("resourceVersion") or "")
    yield from conditions(_STATUS, status if is_since("1.35") else _with_usual_times(status))
    was = before.get("resourceVersion")
    if was and was != status.get("resourceVersion"):
        version = status.get("resourceVersion") or ""
        yield fieldpath.invalid(_AT_VERSION, version, _VERSION_STAYS.text)
    shown_conditions = _printed(status)
    ended = [kind for kind in ENDED if condition_is_true(status, kind)]
    if len(ended) > 1:
        yield fieldpath.invalid(_AT_CONDITIONS, shown_conditions, BOTH_ENDS)
    for kind in ended:
        if condition_is_true(status, "Running") and not is_since("1.36"):
            detail = f"Running condition cannot be true when {ENDED[kind]} condition is true"
            yield fieldpath.invalid(_AT_CONDITIONS, shown_conditions, detail)
    for kind, name in ENDED.items():
        if condition_is_true(before, kind) and kind not in ended:
            detail = f"{name.capitalize()} condition cannot be set to false once it is true"
            yield fieldpath.invalid(_AT_CONDITIONS, shown_conditions, detail)


_VERSION_STAYS: Final = wording(IMMUTABLE, v1_34="resourceVersion cannot be updated")


def _with_usual_times(status: JsonObject) -> JsonObject:
    """Return the status of a release in which conditions had times of updates, which are checked as
    those of transitions are."""
    of_old = [
        {**condition, "lastTransitionTime": condition.get("lastUpdateTime")}
        for condition in status.get("conditions") or ()
    ]
    return {**status, "conditions": of_old}


def _printed(status: JsonObject) -> list[JsonDict]:
    """Return the conditions with their members in Go's order."""
    if not is_since("1.35"):
        names = ("type", "status", "lastUpdateTime", "reason", "message")
        return [
            {name[0].upper() + name[1:]: condition.get(name) or "" for name in names}
            for condition in status.get("conditions") or ()
        ]
    return list(map(printed_condition, status.get("conditions") or ()))


def _stored_versions_version(text: str) -> Errors:
    if is_since("1.35"):
        is_number = text.isascii() and text.isdigit() and not text.startswith("0")
        if not is_number and (text or not is_since("1.36")):
            detail = f"resource version is not well formed: {text}"
            yield fieldpath.invalid(_AT_VERSION, text, detail)
        return
    try:
        number = parse_int(text or "0")
    except ValueError as error:
        detail = f"failed to parse resource version {quote(text)}: {error}"
        yield fieldpath.invalid(_AT_VERSION, text, detail)
        return
    if number < 0:
        yield fieldpath.invalid(_AT_VERSION, number, NEGATIVE)


# --- API services ------------------------------------------------------------

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
