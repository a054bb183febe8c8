"""Objects that Go puts into its structs value by value, without having been text.

A merged object is not read but converted: a whole floating-point number becomes an integer, an
integer that is too large loses its upper bits, and what does not fit is refused in words of their
own, the first fault in the order of the structs' fields. As k8s.io/apimachinery
`pkg/runtime/converter.go` (`fromUnstructured`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from celadon.kube.go.go_types import go_type
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.struct_decoding import codec_for, first_fault, struct_codec
from celadon.kube.schemas.value_decoding import DecodeError, Mismatch, ReadMismatch

Integer: TypeAlias = Callable[[Any, int], Any]
"""What becomes of a number in an integer field of so many bits."""

_BITS: Final = {"i": 32, "l": 64}
_LARGEST: Final = 1 << 63


def go_integer(value: Any, bits: int) -> int:
    """Return the integer that Go makes of a number. DecodeError for one with a fraction."""
    if isinstance(value, float) and not value.is_integer():
        raise DecodeError(f"cannot convert float64 to int{bits}")
    if not -_LARGEST <= value < _LARGEST:
        value = -_LARGEST  # what processors make of a float that no integer holds
    half = 1 << (bits - 1)
    return (int(value) + half) % (2 * half) - half


def converted(obj: JsonObject, gvk: GroupVersionKind) -> dict[str, object]:
    """Return an object of a built-in kind with Go's integers. DecodeError, for `restore_error`,
    about the first of its values that does not fit, in the order of the object."""
    result, codec = with_go_numbers(obj, gvk, _integer_if_whole), codec_for(gvk)
    fault = None if codec is None else first_fault(codec, result)
    if fault is not None:
        raise fault
    return result


def _integer_if_whole(value: Any, bits: int) -> Any:
    is_whole = isinstance(value, int) or value.is_integer()
    return go_integer(value, bits) if is_whole else value


def with_go_numbers(
    obj: JsonObject, gvk: GroupVersionKind, integer: Integer = go_integer
) -> dict[str, object]:
    """Return a new object of a built-in kind, else the same. DecodeError for a number with a
    fraction where Go has an integer."""
    codec = codec_for(gvk)
    return dict(obj) if codec is None else _struct(obj, codec.name, integer)


def _struct(obj: JsonObject, name: str, integer: Integer) -> dict[str, object]:
    nodes = struct_codec(name).field_nodes
    return {
        key: _converted(value, nodes[key], integer) if key in nodes else value
        for key, value in obj.items()
    }


def _converted(value: Any, node: Any, integer: Integer) -> Any:
    """Return the value of a field that the schema pack describes as `node`. DecodeError."""
    if isinstance(node, str):
        return integer(value, _BITS[node]) if _is_number(value) and node in _BITS else value
    name = node.get("ref", "")
    if isinstance(value, dict):
        if name:
            is_struct = name not in schema_packs.SPECIAL_COMPONENTS
            return _struct(value, name, integer) if is_struct else value
        inner = node.get("values")
        if inner is None:
            return value
        return {key: _converted(value[key], inner, integer) for key in value}
    if isinstance(value, list) and "items" in node:
        return [_converted(item, node["items"], integer) for item in value]
    letter = node.get("type")
    return integer(value, _BITS[letter]) if _is_number(value) and letter in _BITS else value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- values that do not fit ---

_GO_KINDS: Final = {
    "s": "string",
    "i": "int32",
    "l": "int64",
    "b": "bool",
    "d": "float64",
    "byte": "uint8",
}
_INTEGERS: Final = frozenset({"int32", "int64"})


def restore_error(error: DecodeError) -> str:
    """Return what is said of values that do not fit their kind. Of a value that has a reader of its
    own (quantities, times) it is the text of that."""
    mismatch = error.__cause__
    if not isinstance(mismatch, Mismatch):
        return error.alone
    if isinstance(mismatch, ReadMismatch):
        return mismatch.message_alone()
    go_kind, node = _go_kind(mismatch.value), mismatch.node
    if node == "y" or (isinstance(node, dict) and "items" in node):
        return f"cannot restore slice from {go_kind}"
    if isinstance(node, dict) and "values" in node:
        return f"cannot restore map from {go_kind}"
    if isinstance(node, dict) and "ref" in node:
        return f"cannot restore struct from: {go_kind}"
    kind = _GO_KINDS.get(node.get("type", "") if isinstance(node, dict) else str(node), "")
    if (go_kind, kind) != ("int64", "string") and not (go_kind == "float64" and kind in _INTEGERS):
        return f"unrecognized type: {kind}"
    named = go_type(node, mismatch.owner, mismatch.field).removeprefix("*")
    return f"cannot convert {go_kind} to {named}"


def _go_kind(value: object) -> str:
    kinds = {str: "string", bool: "bool", int: "int64", list: "slice"}
    return "map" if isinstance(value, dict) else kinds.get(value.__class__, "float64")
