"""What is said when a strategic merge makes an object whose values do not fit its kind.

Such a result never was text: it is put into its Go struct value by value, with words of their own.
As k8s.io/apimachinery `pkg/runtime/converter.go`.
"""

from __future__ import annotations

from celadon.kube.go.go_types import go_type
from celadon.kube.schemas.typed_values import DecodeError, Mismatch


def restore_error(error: DecodeError) -> str:
    """The text for an error of decoding; that of the error itself where the value has a reader of
    its own (quantities, times)."""
    mismatch = error.__cause__
    if not isinstance(mismatch, Mismatch):
        return str(error)
    found, wanted = _go_kind(mismatch.value), mismatch.node
    if isinstance(wanted, dict) and "items" in wanted:
        return f"cannot restore slice from {found}"
    if isinstance(wanted, dict) and "values" in wanted:
        return f"cannot restore map from {found}"
    if isinstance(wanted, dict) and "ref" in wanted:
        return f"cannot restore struct from: {found}"
    named = go_type(wanted, mismatch.owner, mismatch.field).removeprefix("*")
    shown = "map[string]interface {}" if found == "map" else found
    return f"cannot convert {'[]interface {}' if found == 'slice' else shown} to {named}"


def _go_kind(value: object) -> str:
    kinds = {str: "string", bool: "bool", int: "int64", dict: "map", list: "slice"}
    return kinds.get(value.__class__, "float64")
