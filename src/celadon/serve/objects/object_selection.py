"""Which objects a request's selectors choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import JsonObject, metadata
from celadon.kube.selection import FieldSelector, LabelSelector
from celadon.records import dataclass

_FALSE_WHEN_ABSENT: Final = frozenset({"spec.unschedulable", "spec.hostNetwork"})
_ZERO_WHEN_ABSENT: Final = frozenset({"status.replicas", "status.successful"})
_SUCCEEDED: Final = "status.successful"


@dataclass(frozen=True, slots=True)
class ObjectSelection:
    """Both selectors must match; without terms they match everything."""

    labels: LabelSelector
    fields: FieldSelector
    selects: bool
    """Whether there is any term."""

    def matches(self, obj: JsonObject) -> bool:
        """Of an object in the version of the request."""
        if not self.selects:
            return True
        if not self.labels.matches(metadata.labels(obj)):
            return False
        return self.fields.matches(
            {term.field: field_text(obj, term.field) for term in self.fields.terms}
        )


def field_text(obj: JsonObject, field: str) -> str:
    """The value of a field as selectors compare it; of a list, its items joined by commas."""
    value: Any = obj
    path = "status.succeeded" if field == _SUCCEEDED else field
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return _absent(field)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):  # only `status.podIPs` is one
        return ",".join(str(one.get("ip", "")) for one in value)
    return str(value)


def _absent(field: str) -> str:
    if field in _FALSE_WHEN_ABSENT:
        return "false"
    return "0" if field in _ZERO_WHEN_ABSENT else ""
