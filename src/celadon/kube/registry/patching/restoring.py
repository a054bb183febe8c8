"""What is said when a strategic merge makes an object whose values do not fit its kind.

Such a result never was text: it is put into its Go struct value by value, with words of their own.
As k8s.io/apimachinery `pkg/runtime/converter.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.go.go_types import go_type
from celadon.kube.schemas.typed_values import DecodeError, Mismatch, ReadMismatch

_KINDS: Final = {
    "s": "string",
    "i": "int32",
    "l": "int64",
    "b": "bool",
    "d": "float64",
    "byte": "uint8",
}
_INTEGERS: Final = frozenset({"int32", "int64"})


def restore_error(error: DecodeError) -> str:
    """The text for an error of decoding; that of the value alone where it has a reader of its own
    (quantities, times)."""
    mismatch = error.__cause__
    if not isinstance(mismatch, Mismatch):
        return error.alone
    if isinstance(mismatch, ReadMismatch):
        return mismatch.message_alone()
    found, wanted = _go_kind(mismatch.value), mismatch.node
    if wanted == "y" or (isinstance(wanted, dict) and "items" in wanted):
        return f"cannot restore slice from {found}"
    if isinstance(wanted, dict) and "values" in wanted:
        return f"cannot restore map from {found}"
    if isinstance(wanted, dict) and "ref" in wanted:
        return f"cannot restore struct from: {found}"
    kind = _KINDS.get(wanted.get("type", "") if isinstance(wanted, dict) else str(wanted), "")
    if (found, kind) != ("int64", "string") and not (found == "float64" and kind in _INTEGERS):
        return f"unrecognized type: {kind}"
    named = go_type(wanted, mismatch.owner, mismatch.field).removeprefix("*")
    return f"cannot convert {found} to {named}"


def _go_kind(value: object) -> str:
    kinds = {str: "string", bool: "bool", int: "int64", dict: "map", list: "slice"}
    return kinds.get(value.__class__, "float64")
