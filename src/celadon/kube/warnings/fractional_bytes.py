"""Amounts of memory and storage that are no whole number of bytes.

As k8s.io/kubernetes `pkg/api/{pod/warnings,persistentvolumeclaim/util}.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.quantities.quantity import Quantity, QuantityError, parse
from celadon.patterns import late_pattern

_WHOLE: Final = late_pattern(r"[0-9]{1,12}(?:[KMGTPE]i|[kMGTPE])?")
"""Most amounts, which are seen to be whole without being read."""


def fractional_bytes(amounts: JsonObject | None, name: str, path: FieldPath) -> Iterator[str]:
    """Of one resource in a list of them; `path` is that of the list."""
    text = (amounts or {}).get(name)
    if text is None or _WHOLE.fullmatch(str(text)):
        return
    try:
        found = parse(str(text))
    except QuantityError:
        return
    if _thousandths(found) % 1000:
        yield (
            f"{path.key(name)}: fractional byte value {quote(str(found))} is invalid, must be an "
            "integer"
        )


def _thousandths(found: Quantity) -> int:
    return int(found.round_up(-3).as_decimal() * 1000)


def claim_spec_warnings(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    """Of the spec of a PersistentVolumeClaim, wherever there is one."""
    resources, at = spec.get("resources") or {}, path.child("resources")
    for field in ("requests", "limits"):
        yield from fractional_bytes(resources.get(field), "storage", at.child(field))
