"""The protobuf messages of the sources in `data/`: the pack `messages` is made of what stands here.

A type is a message where its fields have a `number`. Fields of a struct that Go embeds have the
number of the embedded message before their own (`"2.1"`), and the type says in `embeds` what that
struct is called. `message` is the type on the wire where it does not follow from the field's type.

On the wire a field is optional where Go holds it by pointer: then it is there only when it is set.
That follows from `ptr` and `always`, but for a few fields, which say `byValue`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pack_sources import Sources

Json = Any

_PACKAGES: Final = {
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.": "apiextensions.",
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.": "apiregistration.",
    "io.k8s.apimachinery.pkg.apis.": "",
    "io.k8s.apimachinery.pkg.api.": "",
    "io.k8s.apimachinery.pkg.util.": "",
    "io.k8s.apimachinery.pkg.": "",
    "io.k8s.api.": "",
}
"""What the names of packages begin with in OpenAPI, and in protobuf."""

_SCALARS: Final = {
    "boolean": "bool",
    **{name: name for name in ("string", "bytes", "int32", "int64", "double")},
}
"""Scalar types, and what protobuf calls them."""
_TIMES: Final = ("meta.v1.Time", "meta.v1.MicroTime")


def message_name(openapi_name: str) -> str:
    """`core.v1.Pod` of `io.k8s.api.core.v1.Pod`."""
    for prefix, short in _PACKAGES.items():
        if openapi_name.startswith(prefix):
            return short + openapi_name.removeprefix(prefix)
    raise ValueError(f"no package of protobuf is known for {openapi_name}")


def message_pack(sources: Sources) -> Json:
    """The pack: `kinds` from `GROUP/VERSION/KIND` to messages, and the lines of each message, one
    for each field in the order of the Go struct: number, name in JSON, type."""
    types = {
        f"{package}.{name}": entry
        for folder in ("schemas", "messages")
        for package, entries in sources[folder].items()
        for name, entry in entries.items()
        if folder == "messages" or _is_message(entry)
    }
    messages: dict[str, str] = {}
    for name, entry in sorted(types.items()):
        messages.update(messages_of(message_name(name), entry))
    kinds = {
        "/".join(entry["gvk"]): message_name(name)
        for name, entry in sorted(types.items())
        if "gvk" in entry
    }
    return {"kinds": kinds, "messages": dict(sorted(messages.items()))}


def _is_message(entry: Mapping[str, Json]) -> bool:
    fields = entry.get("fields", {}).values()
    return any("number" in field for field in fields if isinstance(field, dict))


def messages_of(name: str, entry: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """The message of a type, and those of the structs that it embeds."""
    names = {"": name}
    lines: dict[str, dict[str, str]] = {"": {}}
    for key, field in entry.get("fields", {}).items():
        if not isinstance(field, dict) or "number" not in field:
            continue
        path = str(field["number"])
        _open_embedded(path.rpartition(".")[0], entry.get("embeds", {}), names, lines)
        above, _, number = path.rpartition(".")
        lines[above][number] = f"{number} {key} {_wire_type(name, entry, key, field)}"
    for path, found in lines.items():
        yield names[path], "\n".join(found.values())


def _open_embedded(
    path: str,
    embeds: Mapping[str, str],
    names: dict[str, str],
    lines: dict[str, dict[str, str]],
) -> None:
    """Adds the message of an embedded struct, and the line for it in the struct that holds it."""
    if path in names:
        return
    above, _, number = path.rpartition(".")
    _open_embedded(above, embeds, names, lines)
    names[path] = f"{names[above]}.{embeds[path]}"
    lines[above][number] = f"{number} (inline) {names[path]}"
    lines[path] = {}


def _wire_type(name: str, entry: Mapping[str, Json], key: str, field: Mapping[str, Json]) -> str:
    """The type with its mark; the package is left out where it is that of the message."""
    package = name.rpartition(".")[0] + "."
    type_ = _type(field)
    mark = "?" if _is_optional(entry, key, field, type_) else ""
    return field.get("message", type_).replace(package, "") + mark


def _type(field: Json) -> str:
    if isinstance(field, str):
        return _SCALARS[field]
    if "items" in field:
        return _type(field["items"]) + "[]"
    if "values" in field:
        return f"map<string,{_type(field['values'])}>"
    return message_name(field["ref"]) if "ref" in field else _SCALARS[field["type"]]


def _is_optional(
    entry: Mapping[str, Json], key: str, field: Mapping[str, Json], type_: str
) -> bool:
    """Whether Go leaves the field out when it is not set."""
    if "values" in field or field.get("byValue"):
        return False
    if "items" in field:
        return "message" in field  # a list of texts that is a message of its own
    if key in entry.get("ptr", ()):
        return True
    if "ref" not in field:
        return type_ == "bytes"
    always = entry.get("always", {})
    return key not in always or (always[key] is None and type_ not in _TIMES)
