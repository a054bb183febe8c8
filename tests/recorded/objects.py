"""Objects on their way through the small server: decoding, defaulting, patches, subresources."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from celadon.admission.world import implicit_namespace
from celadon.kube import GroupVersionKind, metadata, status
from celadon.kube.catalogue import Resource
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.defaulting.write_stages import admit_form, stored_form, updated_form
from celadon.kube.schemas.pack_schemas import resolved, schema_for
from celadon.kube.schemas.schema_model import Schema
from celadon.kube.schemas.typed_objects import unknown_fields
from celadon.kube.schemas.typed_values import DecodeError
from celadon.kube.writes import request_bodies
from tests.recorded import custom
from tests.recorded.calls import Call

BOOTSTRAP: tuple[dict[str, Any], ...] = (
    *(dict(implicit_namespace(name)) for name in ("default", "kube-system", "kube-public")),
)
CREATED_BY_UPDATE = {
    "endpoints",
    "events",
    "leases",
    "leasecandidates",
    "limitranges",
    "services",
    "runtimeclasses",
    "roles",
    "rolebindings",
    "clusterroles",
    "clusterrolebindings",
}
MANAGED_FIELDS = [{"manager": "replay", "operation": "Update", "fieldsType": "FieldsV1"}]
UID = "00000000-0000-4000-8000-000000000001"
NOW = "2025-01-01T00:00:00Z"
CONTEXT = DefaultingContext(now=NOW, uid=UID, suffix="bcdfg")


def creates_on_update(resource: Resource, call: Call) -> bool:
    return call.method == "PUT" and resource.gvr.resource in CREATED_BY_UPDATE


def unknown_field_warnings(body: Any, kind: GroupVersionKind, call: Call, crds: Crds) -> list[str]:
    if call.first("fieldValidation") == "Ignore":
        return []
    unknown = (*unknown_fields(body, kind), *custom.unknown_fields(body, kind, crds))
    found = [f'unknown field "{path}"' for path in unknown]
    if found and call.first("fieldValidation") == "Strict":
        raise request_bodies.undecodable(
            kind, kind.kind, request_bodies.strict_decoding_error(found)
        )
    return found


def on_create(
    body: dict[str, Any], kind: GroupVersionKind, call: Call, resource: Resource, crds: Crds
) -> dict[str, Any]:
    """What validating admission sees of a new object."""
    if resource.custom:
        body = custom.prepared(body, kind, crds)
        if resource.subresource("status"):
            body.pop("status", None)
    body = {"metadata": {}, **body}
    if call.subresource and isinstance(body["metadata"], dict):
        body["metadata"].setdefault("name", call.name)
    try:
        made = admit_form(body, kind, CONTEXT, namespace=call.namespace)
    except DecodeError as error:
        raise cannot_be_handled(kind, error) from error
    if made["metadata"].get("uid"):
        made["metadata"]["managedFields"] = MANAGED_FIELDS
    return made


def on_update(
    body: dict[str, Any],
    old: dict[str, Any],
    kind: GroupVersionKind,
    call: Call,
    resource: Resource,
    crds: Crds,
) -> dict[str, Any]:
    """What validating admission sees of a changed object."""
    if kind.kind == "Scale":
        return {**old, "spec": body.get("spec", {})}
    if resource.custom:
        body = custom.prepared(body, kind, crds)
    if resource.namespaced:
        body = {**body, "metadata": {"namespace": call.namespace, **body.get("metadata", {})}}
    try:
        made = updated_form(body, old, kind, CONTEXT, subresource=call.subresource)
    except DecodeError as error:
        raise cannot_be_handled(kind, error) from error
    made["metadata"].setdefault("resourceVersion", old["metadata"].get("resourceVersion", ""))
    if resource.custom:
        custom.keep(made, old, call.subresource, has_status=bool(resource.subresource("status")))
    return made


def cannot_be_handled(kind: GroupVersionKind, error: DecodeError) -> Exception:
    text = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {error}'
    return status.bad_request(text)


def stored(obj: dict[str, Any], kind: GroupVersionKind) -> dict[str, Any]:
    return {**stored_form(obj, kind, CONTEXT), "apiVersion": kind.api_version, "kind": kind.kind}


def shown_by(subresource: str, obj: Mapping[str, Any]) -> dict[str, Any]:
    """The object as an endpoint shows it: only `scale` has a shape of its own."""
    if subresource != "scale":
        return dict(obj)
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    given = metadata.metadata(obj)
    labels = obj["spec"].get("selector", {}).get("matchLabels", {})
    state: dict[str, Any] = {"replicas": obj.get("status", {}).get("replicas", 0)}
    if labels:
        state["selector"] = ",".join(f"{key}={labels[key]}" for key in sorted(labels))
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: given[key] for key in kept if key in given},
        "spec": {"replicas": obj["spec"]["replicas"]} if obj["spec"].get("replicas") else {},
        "status": state,
    }


def applied(subresource: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The stored object after a write through an endpoint."""
    changed: dict[str, Any] = copy.deepcopy(dict(old if subresource == "scale" else new))
    if subresource == "scale" and new["spec"].get("replicas") != old["spec"].get("replicas"):
        changed["spec"]["replicas"] = new["spec"].get("replicas", 0)
        changed["metadata"]["generation"] = metadata.generation(old) + 1
    if subresource in {"resize", "ephemeralcontainers"} and new["spec"] != old["spec"]:
        changed["metadata"]["generation"] = metadata.generation(old) + 1
    return changed


Crds = custom.Kinds


def options_of(call: Call, options: dict[str, Any] | None) -> dict[str, Any] | None:
    """The options object of a request, from its query and, for a deletion, its body."""
    if options is None:
        return None
    if options["kind"] == "DeleteOptions" and isinstance(call.body, dict):
        given = {k: v for k, v in call.body.items() if k not in {"kind", "apiVersion"}}
        options.update(given)
    for key in ("fieldManager", "fieldValidation", "propagationPolicy"):
        if call.first(key):
            options[key] = call.first(key)
    if call.first("gracePeriodSeconds"):
        options["gracePeriodSeconds"] = int(call.first("gracePeriodSeconds"))
    if call.dry_run:
        options["dryRun"] = ["All"]
    return options


def connect_options(call: Call, kind: GroupVersionKind) -> dict[str, Any]:
    """The options object of a connection: flags that are off are left out."""
    options: dict[str, Any] = {"kind": kind.kind, "apiVersion": kind.api_version}
    for flag in ("stdin", "stdout", "stderr", "tty"):
        if call.first(flag) in {"true", "1"}:
            options[flag] = True
    if call.first("container"):
        options["container"] = call.first("container")
    if "command" in call.query:
        options["command"] = call.query["command"]
    if "ports" in call.query:
        options["ports"] = [int(port) for port in call.query["ports"]]
    if call.rest:
        options["path"] = f"/{call.rest}"
    return options


def merged(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def patched(
    before: dict[str, Any], patch: Any, content_type: str, kind: GroupVersionKind
) -> dict[str, Any]:
    if "strategic-merge-patch" in content_type:
        schema = schema_for(kind)
        result = strategically(before, patch, schema) if schema else merged(before, patch)
    else:
        result = merged(before, patch)
    return dict(result)


def strategically(target: Any, patch: Any, schema: Schema | None) -> Any:
    """A strategic merge patch without directives: lists with a merge key are merged by it."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        member = _member(schema, key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, list) and member is not None and member.merge_key:
            items = resolved(member.items) if member.items else None
            result[key] = _by_key(result.get(key) or [], value, member.merge_key, items)
        else:
            inner = resolved(member) if member else None
            result[key] = strategically(result.get(key), value, inner)
    return result


def _member(schema: Schema | None, key: str) -> Schema | None:
    if schema is None:
        return None
    if key in schema.properties:
        return schema.properties[key]
    return schema.additional_properties


def _by_key(have: list[Any], patch: list[Any], key: str, items: Schema | None) -> list[Any]:
    result = list(have)
    for item in patch:
        same = [i for i, one in enumerate(result) if one.get(key) == item.get(key)]
        if same:
            result[same[0]] = strategically(result[same[0]], item, items)
        else:
            result.append(copy.deepcopy(item))
    return result
