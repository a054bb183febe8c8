"""Patches of registration objects, as the patch handler applies and refuses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.kube import FieldPath, GroupKind, StatusError, fieldpath, status
from celadon.kube.catalogue import Resource
from celadon.kube.go import Document, JsonSyntaxError, json_text, read_json
from celadon.kube.schemas import Schema, resolved, schema_for
from celadon.kube.schemas.typed_values import json_kind
from celadon.kube.status import Status, StatusDetails
from celadon.kube.writes import JsonPatchError, apply_json_patch, apply_merge_patch
from tests.recorded.calls import Call
from tests.recorded.objects import strategically
from tests.recorded.unsupported import Unsupported

MAX_OPERATIONS = 10_000
OPERATION_MEMBERS = {"op", "path", "from", "value"}
JSON = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def patched(call: Call, current: Mapping[str, Any], resource: Resource) -> tuple[Any, list[str]]:
    """The patched document, and what strict decoding says about the patch itself."""
    if call.content_type not in {JSON, MERGE, STRATEGIC}:
        raise Unsupported(f"patches of type {call.content_type}")
    patch = _read(call)
    if call.content_type == STRATEGIC:
        if patch.value is None:
            return dict(current), []
        if not isinstance(patch.value, dict):
            kind = json_kind(patch.value)
            raise status.bad_request(
                f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
            )
        if '"$' in json_text(patch.value):
            raise Unsupported("directives in strategic merge patches")
        schema = schema_for(resource.gvk)
        _check_lists(patch.value, current, schema)
        return strategically(current, patch.value, schema), []
    complaints = _repeated(patch, patch.value, "")
    try:
        if call.content_type == JSON:
            if len(patch.value) > MAX_OPERATIONS:
                raise status.request_entity_too_large(
                    "The allowed maximum operations in a JSON patch is "
                    f"{MAX_OPERATIONS}, got {len(patch.value)}"
                )
            complaints = _unknown_members(patch.value)
            return apply_json_patch(dict(current), patch.value), complaints
        return apply_merge_patch(dict(current), patch.value), complaints
    except JsonPatchError:
        message = "the server rejected our request due to an error in our request"
        failed = Status(message=message, reason="Invalid", details=StatusDetails(), code=422)
        raise StatusError(failed) from None


def _check_lists(patch: Any, current: Any, schema: Schema | None) -> None:
    """Items of lists that are merged by a key have to have it, and have to be there already: where
    new ones would stand is not known here."""
    if not isinstance(patch, dict) or schema is None:
        return
    current = current if isinstance(current, dict) else {}
    for key, value in patch.items():
        member = schema.properties.get(key)
        if member is None or value is None:
            continue
        if (member.items is not None) != isinstance(value, list):
            raise Unsupported("malformed strategic merge patches")
        if member.items is None:
            _check_lists(value, current.get(key), resolved(member))
        elif member.merge_key:
            _check_items(value, current.get(key) or [], member.merge_key, resolved(member.items))
        elif member.patch_strategy == "merge":
            raise Unsupported("strategic merges of lists of scalars")


def _check_items(patch: list[Any], current: list[Any], key: str, schema: Schema | None) -> None:
    found = {item.get(key): item for item in current}
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            raise Unsupported("malformed strategic merge patches")
        if item[key] not in found and current:
            raise Unsupported("strategic merges that add to lists")
        _check_lists(item, found.get(item[key]), schema)


def _read(call: Call) -> Document:
    try:
        return read_json(call.text)
    except JsonSyntaxError as error:
        prefix = "" if call.content_type == STRATEGIC else "error decoding patch: "
        raise status.bad_request(f"{prefix}{error}") from None


def _unknown_members(operations: list[Any]) -> list[str]:
    return [
        f'json patch unknown field "[{i}].{key}"'
        for i, operation in enumerate(operations)
        for key in operation
        if key not in OPERATION_MEMBERS
    ]


def _repeated(document: Document, value: Any, path: str) -> list[str]:
    found = []
    if isinstance(value, dict):
        seen = set()
        for key, item in document.members(value):
            where = f"{path}.{key}" if path else key
            if key in seen:
                found.append(f'duplicate field "{where}"')
            seen.add(key)
            found += _repeated(document, item, where)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += _repeated(document, item, f"{path}[{i}]")
    return found


def refusal(shown: str, why: str) -> StatusError:
    """The patched document is not what it has to be."""
    error = fieldpath.invalid(FieldPath("patch"), shown, why)
    return status.invalid(GroupKind("", ""), "", [error])


def shown(call: Call, document: Any) -> str:
    """What a refusal shows: the patch for strategic merge patches, else the result."""
    if call.content_type == STRATEGIC:
        return _go_map(read_json(call.text).value)
    return json_text(document)


def _go_map(value: Any) -> str:
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_go_map(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_go_map, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)
