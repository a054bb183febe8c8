"""Numbers of an applied object on their way into Go's integers.

An object that was merged is not read from text but converted: a whole floating-point number becomes
an integer, and an integer that is too large loses its upper bits. As k8s.io/apimachinery
`pkg/runtime/converter.go` (`fromUnstructured`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import schema_model
from celadon.kube.schemas.typed_objects import codec_for, struct_codec
from celadon.kube.schemas.typed_values import DecodeError

_BITS: Final = {"i": 32, "l": 64}


def with_go_numbers(obj: Mapping[str, Any], gvk: GroupVersionKind) -> dict[str, Any]:
    """A new object of a built-in kind, else the same. DecodeError for a number with a fraction
    where Go has an integer."""
    codec = codec_for(gvk)
    return dict(obj) if codec is None else _struct(obj, codec.name)


def _struct(obj: Mapping[str, Any], name: str) -> dict[str, Any]:
    nodes = struct_codec(name).field_nodes
    return {
        key: with_go_number(value, nodes[key]) if key in nodes else value
        for key, value in obj.items()
    }


def with_go_number(value: Any, node: Any) -> Any:
    """The value of a field that the schema pack describes as `node`. DecodeError."""
    if isinstance(node, str):
        return _number(value, _BITS[node]) if _is_number(value) and node in _BITS else value
    name = node.get("ref", "")
    if isinstance(value, dict):
        if name:
            is_struct = name not in schema_model.SPECIAL_COMPONENTS
            return _struct(value, name) if is_struct else value
        inner = node.get("values")
        return value if inner is None else {key: with_go_number(value[key], inner) for key in value}
    if isinstance(value, list) and "items" in node:
        return [with_go_number(item, node["items"]) for item in value]
    letter = node.get("type")
    return _number(value, _BITS[letter]) if _is_number(value) and letter in _BITS else value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: Any, bits: int) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise DecodeError(f"cannot convert float64 to int{bits}")
    half = 1 << (bits - 1)
    return (int(value) + half) % (2 * half) - half
