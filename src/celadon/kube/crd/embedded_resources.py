"""Resources inside custom resources, where the schema says `x-kubernetes-embedded-resource`.

Each says what it is, and its metadata has the type of all metadata. As k8s.io/apiextensions-
apiserver `pkg/apiserver/schema/objectmeta`: what cannot be read is refused, unknown fields of the
metadata are dropped, and what is left is validated, on updates as if it were new. Its name may be
missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from celadon.kube import name_rules
from celadon.kube.fieldpath import ROOT, FieldError, FieldPath, invalid, required
from celadon.kube.go.go_text import json_value
from celadon.kube.json_types import Json, JsonDict
from celadon.kube.names import ApiVersionError, parse_api_version
from celadon.kube.schemas.schema_packs import OBJECT_META, Schema
from celadon.kube.schemas.struct_decoding import (
    StrayField,
    decode,
    struct_codec,
    struct_field_errors,
)
from celadon.kube.schemas.value_decoding import DecodeError, json_kind
from celadon.kube.validation.field_checks import NOT_EMPTY
from celadon.kube.validation.object_meta import IN_PATHS, validate_object_meta
from celadon.kube.well_known_values import TYPE_FIELDS

_UNNAMED: Final = "fakename"
"""Stands for the name of an embedded resource that has none."""
_TYPE_FIELDS: Final = tuple(sorted(TYPE_FIELDS))


def has_embedded_resources(schema: Schema) -> bool:
    """Return whether there can be any below the root."""
    below = [*schema.properties.values(), schema.items, schema.additional_properties]
    return any(
        schema is not None and (schema.embedded_resource or has_embedded_resources(schema))
        for schema in below
    )


def drop_unknown_metadata(obj: JsonDict, schema: Schema) -> list[StrayField]:
    """Give each embedded resource the metadata that its type makes of it, and return what that
    loses. Metadata that cannot be read stays. The object is changed."""
    dropped = []
    for path, item in list(_embedded(obj, schema, ROOT)):
        if "metadata" not in item:
            continue
        try:
            read = _read(item["metadata"])
        except DecodeError:
            continue
        strays = struct_field_errors(item, "metadata", OBJECT_META)
        dropped += [stray._replace(steps=(*path.steps, *stray.steps)) for stray in strays]
        item["metadata"] = read
    return sorted(dropped, key=lambda stray: stray.path)


def drop_unreadable(obj: JsonDict, schema: Schema) -> None:
    """Drop what cannot be read of the types and the metadata of embedded resources, which were
    stored before anybody looked at them. The object is changed."""
    for _, item in list(_embedded(obj, schema, ROOT)):
        for name in _TYPE_FIELDS:
            if name in item and not isinstance(item[name], str):
                del item[name]
        meta = item.get("metadata") or {}
        if not isinstance(meta, dict):
            del item["metadata"]
        elif not _is_readable(meta):
            item["metadata"] = {
                key: value for key, value in meta.items() if _is_readable({key: value})
            }


def _is_readable(meta: object) -> bool:
    try:
        _read(meta)
    except DecodeError:
        return False
    return True


def unreadable_resource(obj: Json, schema: Schema) -> FieldError | None:
    """Return why the embedded resources of a request cannot be read, if they cannot."""
    for path, item in _embedded(obj, schema, ROOT):
        for name in _TYPE_FIELDS:
            if name in item and not isinstance(item[name], str):
                return invalid(path.child(name), json_value(item[name]), "must be a string")
        trouble = _unreadable_metadata(item, path)
        if trouble is not None:
            return trouble
    return None


def embedded_resource_errors(obj: Json, schema: Schema) -> Iterable[FieldError]:
    """Yield what is wrong with the types and the metadata of embedded resources."""
    for path, item in _embedded(obj, schema, ROOT):
        missing = [name for name in _TYPE_FIELDS if name not in item]
        yield from (required(path.child(name), NOT_EMPTY.text) for name in missing)
        for name in _TYPE_FIELDS:
            if name in item:
                yield from _type_errors(item[name], path.child(name))
        trouble = _unreadable_metadata(item, path)
        if trouble is not None:
            yield trouble
        elif "metadata" in item:
            yield from _metadata_errors(_read(item["metadata"]), path)


def _type_errors(value: object, path: FieldPath) -> Iterable[FieldError]:
    """Yield what is wrong with an `apiVersion` or a `kind`; the end of the path says which of both
    it is."""
    if not isinstance(value, str):
        yield invalid(path, json_value(value), "must be a string")
    elif not value:
        yield invalid(path, value, "must not be empty")
    elif path.steps[-1] == "kind":
        messages = name_rules.dns1035_label(value.lower())
        if messages:
            detail = "may have mixed case, but should otherwise match: " + ",".join(messages)
            yield invalid(path, value, detail)
    else:
        try:
            parse_api_version(value)
        except ApiVersionError as error:
            yield invalid(path, value, str(error))


def _metadata_errors(meta: JsonDict, path: FieldPath) -> Iterable[FieldError]:
    named = {**meta, "name": meta.get("name") or _UNNAMED}
    naming = replace(IN_PATHS, namespaced=bool(meta.get("namespace")))
    for error in validate_object_meta(named, naming):
        yield replace(error, path=path.join(error.path))


def _unreadable_metadata(obj: JsonDict, path: FieldPath) -> FieldError | None:
    try:
        _read(obj.get("metadata"))
    except DecodeError as error:
        return invalid(path.child("metadata"), json_value(obj["metadata"]), str(error))
    return None


def _read(meta: object) -> JsonDict:
    """DecodeError for what is no metadata; null is empty."""
    if meta is not None and not isinstance(meta, dict):
        raise DecodeError(
            f"json: cannot unmarshal {json_kind(meta)} into Go value of type v1.ObjectMeta"
        )
    codec = struct_codec(OBJECT_META)
    result = decode(codec, meta or {})
    codec.complete(result)
    if result.get("creationTimestamp") is None:
        result.pop("creationTimestamp", None)
    return result


def _embedded(
    value: object, schema: Schema | None, path: FieldPath
) -> Iterator[tuple[FieldPath, JsonDict]]:
    """Yield every embedded resource with its place, what is around another one first."""
    if schema is None:
        return
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _embedded(item, schema.items, path.index(i))
    elif isinstance(value, dict):
        if schema.embedded_resource:
            yield path, value
        for key, item in value.items():
            if key in schema.properties:
                yield from _embedded(item, schema.properties[key], path.child(key))
            else:
                yield from _embedded(item, schema.additional_properties, path.key(key))
