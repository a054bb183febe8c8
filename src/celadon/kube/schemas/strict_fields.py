"""Strict decoding: the fields of a document that its kind does not have, or that come twice.

In the order in which a reader meets them, each text once, no more than `MOST`. As sigs.k8s.io/json
`UnmarshalStrict`: what stands inside an unknown field is not looked at, nor is its repetition
another complaint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.go.go_text import quote
from celadon.kube.go.json_reader import Document
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.typed_objects import SPECIAL, codec_for, struct_codec

MOST: Final = 100
"""Complaints that a decoder collects."""


def unknown_field(path: str) -> str:
    """The text for a field that the kind does not have."""
    return f"unknown field {quote(path)}"


def duplicate_field(path: str) -> str:
    """The text for a field that a document has twice."""
    return f"duplicate field {quote(path)}"


def strict_field_errors(document: Document, gvk: GroupVersionKind) -> list[str]:
    """For documents whose values have the types of the kind; none for kinds not built in."""
    codec = codec_for(gvk)
    if codec is None:
        return []
    found: dict[str, None] = {}
    _walk(document, document.value, {"ref": codec.name}, "", found)
    return list(found)[:MOST]


def struct_field_errors(document: Document, at: tuple[str, ...], component: str) -> list[str]:
    """Of one member alone, whose type is a component: for objects that have no other types.
    Repeated fields are not complained about."""
    found: dict[str, None] = {}
    value = document.value
    for name in at:
        value = value.get(name) if isinstance(value, dict) else None
    _walk(Document(value), value, {"ref": component}, ".".join(at), found)
    return list(found)[:MOST]


def repeated_fields(document: Document) -> list[str]:
    """The members that occur more than once, whatever they are, in the order of the document."""
    found: dict[str, None] = {}
    _find_repeated(document, document.value, "", found)
    return list(found)[:MOST]


def _find_repeated(document: Document, value: object, path: str, found: dict[str, None]) -> None:
    if isinstance(value, dict):
        seen: set[str] = set()
        for key, item in document.members(value):
            where = f"{path}.{key}" if path else key
            if key in seen:
                found[duplicate_field(where)] = None
            seen.add(key)
            _find_repeated(document, item, where, found)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _find_repeated(document, item, f"{path}[{i}]", found)


def _walk(
    document: Document, value: object, node: object, path: str, found: dict[str, None]
) -> None:
    if not isinstance(node, dict):
        return
    if isinstance(value, list) and "items" in node:
        for i, item in enumerate(value):
            _walk(document, item, node["items"], f"{path}[{i}]", found)
    elif isinstance(value, dict) and "values" in node:
        _members(document, value, None, node["values"], path, found)
    elif isinstance(value, dict) and "ref" in node and node["ref"] not in SPECIAL:
        _members(document, value, struct_codec(node["ref"]).field_nodes, None, path, found)


def _members(
    document: Document,
    obj: Mapping[str, Any],
    fields: Mapping[str, Any] | None,
    values: object,
    path: str,
    found: dict[str, None],
) -> None:
    """`fields` of a struct, or None for a map whose values are all of the node `values`."""
    seen: set[str] = set()
    for key, item in document.members(obj):
        where = f"{path}.{key}" if path else key
        if fields is not None and key not in fields:
            found[unknown_field(where)] = None
            continue
        if key in seen:
            found[duplicate_field(where)] = None
        seen.add(key)
        _walk(document, item, values if fields is None else fields[key], where, found)
