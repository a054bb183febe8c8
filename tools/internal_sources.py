"""The internal forms of types in the sources in `data/`: what the pack `internals` is made of.

`internal` of a type in `data/schemas` names the fields that the type has inside of an API server,
in their order there, as k8s.io/kubernetes `pkg/apis/*/types.go` has them: `Name`, where the name in
JSON is the same with its first word in small letters, or `Name=nameInJSON`. A type may follow where
it is not that of the field in JSON.

In the pack a type is `s` (text), `n` (number), `b` (boolean), `q` (quantity), `x` (anything, as it
is), `l` (label selector) or another type of the pack; `*T` may be null, `[]T` and `{}T` are null
when empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from message_sources import message_name
from pack_sources import Sources

Json = Any

_SCALARS: Final = {
    **dict.fromkeys(("string", "bytes"), "s"),
    **dict.fromkeys(("int32", "int64", "double"), "n"),
    "boolean": "b",
}
_REFERENCES: Final = {"resource.Quantity": "q", "meta.v1.LabelSelector": "l"}
_FIRST_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z]|[0-9]|\b)|[A-Z]")


def internal_pack(sources: Sources) -> dict[str, str]:
    """By type, `Name nameInJSON type` for each field, with semicolons between them."""
    types = {
        message_name(f"{package}.{name}"): entry
        for package, entries in sources["schemas"].items()
        for name, entry in entries.items()
        if "internal" in entry
    }
    return {
        name: ";".join(_field(text, entry, types) for text in entry["internal"])
        for name, entry in sorted(types.items())
    }


def json_name(name: str) -> str:
    """`podIPs` of `PodIPs`, `dnsPolicy` of `DNSPolicy`."""
    return _FIRST_WORD.sub(lambda word: word[0].lower(), name, count=1)


def _field(text: str, entry: Mapping[str, Json], types: Mapping[str, Json]) -> str:
    named, _, type_ = text.partition(" ")
    name, _, key = named.partition("=")
    key = key or json_name(name)
    return f"{name} {key} {type_ or internal_type(key, entry, types)}"


def internal_type(key: str, entry: Mapping[str, Json], types: Mapping[str, Json]) -> str:
    """The type that follows from that of the field in JSON."""
    field = entry["fields"][key]
    inner = _type(field, types)
    always = entry.get("always", {})
    held_by_value = key in always and always[key] is not None
    is_reference = isinstance(field, dict) and "ref" in field
    is_pointer = key in entry.get("ptr", ()) or (is_reference and not held_by_value)
    return "*" + inner if is_pointer and inner[0] not in "[{" else inner


def _type(field: Json, types: Mapping[str, Json]) -> str:
    if isinstance(field, str):
        return _SCALARS[field]
    if "items" in field:
        return "[]" + _type(field["items"], types)
    if "values" in field:
        return "{}" + _type(field["values"], types)
    if "ref" not in field:
        return _SCALARS[field["type"]]
    name = message_name(field["ref"])
    return _REFERENCES.get(name) or (name if name in types else "x")
