"""Empty lists and maps that a client wrote: validation shows them, and nobody else sees them.

Go keeps an empty list apart from none while it validates an object, and forgets about it when it
encodes the object for anybody else. Here objects are as they are encoded, so what was forgotten is
put back where a complaint could show it, or where a kind takes an empty list for a given one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.schemas.typed_objects import SPECIAL, codec_for, struct_codec

MINDS_EMPTIES: Final = frozenset(
    {
        GroupKind("resource.k8s.io", "ResourceClaimTemplate"),
        GroupKind("resource.k8s.io", "ResourceSlice"),
    }
)
"""The kinds in which an empty list can be wrong where none is fine."""
GATED: Final = frozenset({"bools", "ints", "strings", "versions"})
"""Lists of a device's attribute: while their gate is off, as it is by default, they are dropped
before anybody looks."""


def with_empties(made: JsonObject, sent: JsonObject, kind: GroupVersionKind) -> JsonObject:
    """The object with the empty lists and maps of the document it was made of; itself where there
    are none. What was dropped with all that is in it stays so."""
    codec = codec_for(kind)
    return made if codec is None else _struct(made, sent, codec.field_nodes)


def _struct(made: JsonObject, sent: JsonObject, nodes: Mapping[str, Any]) -> JsonObject:
    found: dict[str, Any] = {}
    for key, value in sent.items():
        node = nodes.get(key)
        if not isinstance(node, dict):
            continue
        if value in ([], {}):
            is_kept = key not in GATED and ("items" in node or "values" in node)
            if made.get(key) is None and is_kept:
                found[key] = value.copy()
            continue
        inner = _value(made.get(key), value, node)
        if inner is not made.get(key):
            found[key] = inner
    return {**made, **found} if found else made


def _value(made: Any, sent: Any, node: Any) -> Any:
    """Lists of another length, and values of another sort, are no longer what was sent."""
    if made.__class__ is not sent.__class__ or not isinstance(node, dict):
        return made
    if isinstance(made, list) and "items" in node and len(made) == len(sent):
        items = [_value(one, was, node["items"]) for one, was in zip(made, sent, strict=True)]
        same = all(one is was for one, was in zip(items, made, strict=True))
        return made if same else items
    if not isinstance(made, dict):
        return made
    if "values" in node:
        members = {key: _value(made[key], sent.get(key), node["values"]) for key in made}
        return made if all(members[key] is made[key] for key in made) else members
    if "ref" in node and node["ref"] not in SPECIAL:
        return _struct(made, sent, struct_codec(node["ref"]).field_nodes)
    return made
