"""What a schema is, and those of built-in kinds: made from the entries of a schema pack when first
asked for.

`component(name)` gives a type under its OpenAPI name (`io.k8s.api.core.v1.Pod`), `schema_for(gvk)`
the type of a kind. The facts come from the OpenAPI documents of Kubernetes 1.36, without their
texts; the last section describes the entries.
"""

from __future__ import annotations

import functools
import json
import pkgutil
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.cel import RESERVED
from celadon.kube.fieldpath import supported_values
from celadon.kube.go.go_json import RawWays, keep_raw
from celadon.kube.go.go_text import json_text, sorted_members
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.metadata import gvk
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import DEFAULT, DESCRIBED, current_release, emulated_release, per_release
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- The model of schemas ----------------------------------------------------
#
# The one form in which the structure of an API type is worked with, built-in or custom.
#
# A `Schema` is one node: a struct, a field, an item. `pack_schemas` makes those of the built-in
# kinds, `definition_schemas` those of CustomResourceDefinitions; whoever reads one need not know
# which it is. What only CRDs can say (`rules`, `limits`, the branches of `allOf` and its like) is
# empty in built-in schemas, and what only built-in types have (`ref`, `merge_key`,
# `patch_strategy`) in those of CRDs.
#
# How lists and maps are merged by server-side apply and by patches is said where they are
# mentioned: `list_type`, `list_map_keys`, `map_type`, `patch_strategy` and `merge_key` of a field
# stand in the field's own node, even if that is the mention of a component, which has a `map_type`
# of its own.

META_PREFIX: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
"""What the names of the types of metadata begin with."""
_EXTENSIONS: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
TIME: Final = META_PREFIX + "Time"
MICRO_TIME: Final = META_PREFIX + "MicroTime"
FIELDS_V1: Final = META_PREFIX + "FieldsV1"
OBJECT_META: Final = META_PREFIX + "ObjectMeta"
RAW_EXTENSION: Final = "io.k8s.apimachinery.pkg.runtime.RawExtension"
JSON: Final = _EXTENSIONS + "JSON"
SCHEMA_OR_BOOL: Final = _EXTENSIONS + "JSONSchemaPropsOrBool"
SCHEMA_OR_LIST: Final = _EXTENSIONS + "JSONSchemaPropsOrArray"
SCHEMA_OR_STRINGS: Final = _EXTENSIONS + "JSONSchemaPropsOrStringArray"
SCHEMA_OR: Final = (SCHEMA_OR_BOOL, SCHEMA_OR_LIST, SCHEMA_OR_STRINGS)
JSON_SCHEMA: Final = _EXTENSIONS + "JSONSchemaProps"

SCALAR_COMPONENTS: Final = frozenset({QUANTITY, INT_OR_STRING, TIME, MICRO_TIME})
"""Components that are no objects. A quantity may also come as a number."""

OPEN_COMPONENTS: Final = frozenset({FIELDS_V1, RAW_EXTENSION})
"""Objects of any content."""

ANY_COMPONENTS: Final = frozenset({JSON, *SCHEMA_OR})
"""Values of several JSON types."""

SPECIAL_COMPONENTS: Final = SCALAR_COMPONENTS | OPEN_COMPONENTS | ANY_COMPONENTS
"""Components that are not a struct with the listed fields, on the wire or in JSON."""


class Absent:
    """The class of `ABSENT`: no default, which is something else than a default of null."""

    __slots__ = ()


ABSENT: Final = Absent()
"""Of a schema: there is no default."""


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """Holds one rule of `x-kubernetes-validations`."""

    rule: str = ""
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool = False


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """Holds what only validates a value; None is no limit. Numbers keep the kind they are written
    in."""

    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None


NO_LIMITS: Final = ValueLimits()


class Choices(tuple[Json, ...]):
    """The values of an `enum`. There may be ten thousands, and as many values that must be one of
    them: so they are looked up, and their text is made once."""

    def holds(self, value: Json) -> bool:
        """Return whether some choice is equal. Truth values are no numbers."""
        if isinstance(value, bool):
            return value in self._truths
        if isinstance(value, (dict, list)):
            return value in self._parts.get((value.__class__, len(value)), ())
        return value in self._scalars

    def holds_integer(self, value: int) -> bool:
        """Return whether an integer is one of the choices that are integers."""
        return value in self._integers

    @functools.cached_property
    def listed(self) -> str:
        """Return all of them as JSON, texts without quotes of their own, as errors list what is
        supported."""
        return supported_values(
            item if isinstance(item, str) else json_text(sorted_members(item)) for item in self
        )

    @functools.cached_property
    def _truths(self) -> frozenset[bool]:
        return frozenset(item for item in self if isinstance(item, bool))

    @functools.cached_property
    def _scalars(self) -> frozenset[Json]:
        return frozenset(item for item in self if not isinstance(item, (bool, dict, list)))

    @functools.cached_property
    def _integers(self) -> frozenset[int]:
        return frozenset(item for item in self if item.__class__ is int)

    @functools.cached_property
    def _parts(self) -> Mapping[tuple[type, int], Sequence[Json]]:
        result: dict[tuple[type, int], list[Json]] = {}
        for item in self:
            if isinstance(item, (dict, list)):
                result.setdefault((item.__class__, len(item)), []).append(item)
        return result


NO_CHOICES: Final = Choices()


@dataclass(frozen=True, slots=True)
class Schema:
    """Describes one node of a schema. `type` is empty for what may be of several types, and for the
    mention of a component, which has `ref` set (`pack_schemas.resolved` follows it)."""

    name: str = ""
    """The OpenAPI name of a component (`io.k8s.api.core.v1.Pod`); empty for what has none."""
    ref: str = ""
    """The OpenAPI name of the component that is meant."""
    gvk: GroupVersionKind | None = None
    """The kind whose objects it describes."""

    type: str = ""
    format: str = ""
    keeps_format: bool = False
    """The format counts whatever it is, and is not only one that is for the type."""
    nullable: bool = False
    default: Json | Absent = ABSENT
    enum: Choices = NO_CHOICES
    """The values that are allowed; none is any."""
    limits: ValueLimits = NO_LIMITS

    properties: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional_properties: Schema | None = None
    open_values: bool = False
    """`additionalProperties: true`: any further member, of whatever value."""
    items: Schema | None = None

    all_of: tuple[Schema, ...] = ()
    any_of: tuple[Schema, ...] = ()
    one_of: tuple[Schema, ...] = ()
    not_: Schema | None = None
    """These four validate; they say nothing about the structure."""

    embedded_resource: bool = False
    int_or_string: bool = False
    preserve_unknown: bool = False

    list_type: str = ""
    """`atomic`, `set` or `map`; empty is atomic."""
    list_map_keys: tuple[str, ...] = ()
    """The members that identify an item of a `map` list."""
    map_type: str = ""
    """`granular` or `atomic`; empty is granular. Of objects and maps."""
    patch_strategy: str = ""
    """Of strategic merge patches: `merge`, `replace`, `retainKeys`, two of them with a comma."""
    merge_key: str = ""
    """The member that identifies an item for strategic merge patches."""

    rules: tuple[ValidationRule, ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """Return the JSON types that a value may have; none is any."""
        if self.int_or_string:
            return ("integer", "string")
        return (self.type,) if self.type else ()


OPEN: Final = Schema(preserve_unknown=True)
"""Allows everything and keeps it."""


# --- Escaping ----------------------------------------------------------------
#
# How property names become CEL field names.
#
# A property whose name is no CEL identifier is declared under an escaped name, as
# k8s.io/apiserver `pkg/cel/escaping.go`. Only typed data honours this: the objects a policy
# sees are plain JSON, where the raw name counts.

_REPLACED: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}

_NAME: Final = late_pattern(r"[A-Za-z_./-][A-Za-z0-9_./-]*", re.ASCII)
_SPECIAL: Final = late_pattern(r"__|[./-]")


def escape(name: str) -> str | None:
    """Return the CEL field name of a property; None when no expression can select it."""
    if name in RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda match: _REPLACED[match[0]], name)


# --- Packs -------------------------------------------------------------------
#
# The data packs that ship with this room: compressed JSON beside the code, read when first
# needed.
#
# This is the one place of `kube` that reads files, and it reads only what belongs to the
# package itself, through the loader that also found the code. `make packs` builds them from the
# sources in `data/` at the root of the repository. What `load` returns is shared: nobody may
# change it.


def load(name: str) -> Any:
    """Return the JSON of `resources`, `columns`, `texts`, `defaults`, `schemas`, `messages`,
    `internals` or `rules`, of the current release. Raises FileNotFoundError for others."""
    release, emulated = current_release(), emulated_release()
    if emulated != release and name == "resources":
        return _emulated_resources(release, emulated)
    return pack_of(name, release)


def of_type(name: str, type_: str) -> Any:
    """Return what `internals` or `rules` say of a type. A release that does not serve this version
    of a group has what 1.36 says: whatever version objects come in, they are validated in one form.
    Raises KeyError for a type that no release has."""
    pack = load(name)
    return pack[type_] if type_ in pack else pack_of(name, DEFAULT)[type_]


@functools.cache
def _read(name: str) -> Any:
    packed = pkgutil.get_data("celadon.kube", f"data/{name}.json.z")
    if packed is None:
        raise ImportError(f"the data pack {name} of celadon.kube cannot be read")
    return json.loads(zlib.decompress(packed))


# --- Older releases ----------------------------------------------------------
#
# The pack `releases` says how the packs of each older release differ from those of the next newer
# one: patches as RFC 7386 has them, except that the value of a member whose name ends with `!`
# stands in the place of what was there, whole and with the nulls that it has. What a patch does
# not touch is shared.

WHOLE: Final = "!"
"""Ends the names of members that are not merged."""


@functools.cache
def pack_of(name: str, release: str) -> Any:
    """Return the pack of that name as a release (`1.34`) has it. Releases that are newer or older
    than all that the packs know are taken for the nearest."""
    pack, minor = _read(name), _minor(release)
    if minor >= _minor(DESCRIBED):
        return pack
    for older, differences in _read("releases").items():
        if minor <= _minor(older):
            pack = as_of(name, pack, differences["packs"].get(name))
    return pack


def _minor(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def patched(value: Any, patch: Json) -> Any:
    """Return a value with a patch applied; the value itself stays as it is."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for name, change in patch.items():
        if name.endswith(WHOLE):
            result[name[:-1]] = change
        elif change is None:
            result.pop(name, None)
        else:
            result[name] = patched(result.get(name), change)
    return result


def as_of(name: str, newer: Any, patch: Any) -> Any:
    """Return the pack of that name as a release has it, made of that of the next newer one."""
    if not patch:
        return newer
    if name == "schemas":
        return _types_of_release(newer, patch)
    if name != "resources":
        return patched(newer, patch)
    result = patched(resources_by_key(newer), {**patch, "groups": None})
    groups = patch.get("groups", newer["groups"])
    versions = [("", version) for version in result["legacy"]["versions"]]
    versions += [(group["name"], version) for group in groups for version in group["versions"]]
    places = {version: place for place, version in enumerate(versions)}
    resources = sorted(
        result["resources"].values(),
        key=lambda entry: (places[entry["group"], entry["version"]], entry["resource"]),
    )
    return {"legacy": result["legacy"], "groups": groups, "resources": resources}


def _types_of_release(newer: object, patch: Any) -> dict[str, object]:
    """Types and their fields stand sorted by their names in every release."""
    result = patched(newer, patch)
    for name in (key.removesuffix(WHOLE) for key in patch):
        if "fields" in result.get(name, ()):
            result[name] = {**result[name], "fields": dict(sorted(result[name]["fields"].items()))}
    return dict(sorted(result.items()))


_STORED_AS: Final = ("storageVersion", "storageVersionHash")


@functools.cache
def _emulated_resources(release: str, emulated: str) -> Any:
    """Return what a release serves that emulates an older one: of what it has, what that one
    had."""
    newer, older = pack_of("resources", release), pack_of("resources", emulated)
    resources = resources_by_key(older)["resources"]
    served = resources_by_key(newer)["resources"]
    result = [
        {**entry, **{name: resources[key][name] for name in _STORED_AS if name in resources[key]}}
        for key, entry in served.items()
        if key in resources
    ]
    versions = {(entry["group"], entry["version"]) for entry in result}
    preferred = {group["name"]: group["preferred"] for group in older["groups"]}
    groups = []
    for group in newer["groups"]:
        left = [version for version in group["versions"] if (group["name"], version) in versions]
        if left:
            first = group["preferred"] if group["preferred"] in left else ""
            chosen = first or preferred.get(group["name"], left[0])
            groups.append({**group, "versions": left, "preferred": chosen})
    return {"legacy": newer["legacy"], "groups": groups, "resources": result}


def resources_by_key(pack: Any) -> JsonDict:
    """Return the pack `resources` in the form that patches are made for: each resource under
    `group/version/resource`, and no groups, which are replaced as a whole."""
    return {
        "legacy": pack["legacy"],
        "resources": {
            f"{resource['group']}/{resource['version']}/{resource['resource']}": resource
            for resource in pack["resources"]
        },
    }


# --- Schema packing ----------------------------------------------------------
#
# From OpenAPI v3 documents to the compact form of a schema pack, which `schema` reads.
#
# A pack maps the OpenAPI name of a type to what there is to know of it: `fields`, `required`,
# `gvk`, `map`. A field is a scalar's letter, or an object with `ref`, `items`, `values`,
# `fields` (of an object without a name) or `scalar` (type and format), and with what `KEPT`
# names. Texts, limits and patterns are left out. The same documents give the same pack.

REFERENCE_PREFIX: Final = "#/components/schemas/"
"""What a reference from schema to schema begins with."""
MAX_DEPTH: Final = 100
"""Levels of nesting that are kept of one type; anything may be below them."""

_LETTERS: Final = {
    ("string", ""): "s",
    ("string", "byte"): "y",
    ("integer", "int32"): "i",
    ("integer", "int64"): "l",
    ("number", "double"): "d",
    ("boolean", ""): "b",
}
KEPT: Final = {
    "enum": "enum",
    "nullable": "nullable",
    "x-kubernetes-list-type": "list",
    "x-kubernetes-list-map-keys": "keys",
    "x-kubernetes-map-type": "map",
    "x-kubernetes-patch-merge-key": "mergeKey",
    "x-kubernetes-patch-strategy": "patch",
    "x-kubernetes-preserve-unknown-fields": "open",
}
_ZERO_MARKERS: Final[tuple[object, ...]] = ({}, "", 0, False)


def pack(documents: Iterable[object], encodings: JsonObject) -> JsonDict:
    """Return the types of all documents. `encodings` has for some names what more their pack entry
    says (how Go writes the type)."""
    result: dict[str, object] = {}
    for document in documents:
        components = _member(_member(document, "components"), "schemas")
        for name, schema in components.items():
            if isinstance(schema, dict):
                result[name] = packed_component(schema, encodings.get(name, {}))
    return completed(result)


def encodings_of(packed: JsonObject) -> JsonDict:
    """Return what a pack says about the encoding of its types: the second argument of `pack`."""
    structure = {"fields", "required", "gvk", "map", "complete"}
    return {
        name: {key: value for key, value in entry.items() if key not in structure}
        for name, entry in packed.items()
    }


def packed_component(schema: JsonObject, encoding: JsonObject) -> JsonObject:
    """Return the packed form of one named type."""
    result: dict[str, object] = {}
    if "properties" in schema:
        fields = _member(schema, "properties").items()
        result["fields"] = {name: node(field) for name, field in fields}
    if "required" in schema:
        result["required"] = schema["required"]
    kinds: Sequence[JsonObject] = schema.get("x-kubernetes-group-version-kind") or ()
    if len(kinds) == 1:
        result["gvk"] = [kinds[0]["group"], kinds[0]["version"], kinds[0]["kind"]]
    if "x-kubernetes-map-type" in schema:
        result["map"] = schema["x-kubernetes-map-type"]
    return {**result, **encoding}


def node(schema: object, depth: int = 0) -> Any:
    """Return a field: a scalar's letter, or an object with what else there is to know about it."""
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return {}
    shape = _shape(schema, depth)
    for key, short in KEPT.items():
        if schema.get(key):
            shape[short] = schema[key]
    default = schema.get("default")
    if default is not None and default not in _ZERO_MARKERS:
        shape["default"] = default
    return shape["type"] if list(shape) == ["type"] else shape


def _shape(schema: JsonObject, depth: int) -> dict[str, object]:
    parts = schema.get("allOf")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], dict) else {}
    reference = schema.get("$ref") or first.get("$ref")
    if isinstance(reference, str):
        return {"ref": reference.removeprefix(REFERENCE_PREFIX)}
    if schema.get("x-kubernetes-int-or-string"):
        return {"scalar": ["", "int-or-string"]}
    type_, format_ = schema.get("type", ""), schema.get("format", "")
    if type_ == "array":
        return {"items": node(schema.get("items"), depth + 1)}
    if type_ != "object":
        letter = _LETTERS.get((type_, format_))
        return {"type": letter} if letter else {"scalar": [type_, format_]}
    if isinstance(schema.get("additionalProperties"), dict):
        return {"values": node(schema["additionalProperties"], depth + 1)}
    fields = _member(schema, "properties").items()
    result: dict[str, object] = {"fields": {name: node(field, depth + 1) for name, field in fields}}
    if schema.get("required"):
        result["required"] = schema["required"]
    return result


def _member(value: object, key: str) -> JsonDict:
    result = value.get(key) if isinstance(value, dict) else None
    return result if isinstance(result, dict) else {}


def completed(components: JsonObject) -> dict[str, object]:
    """Return the types sorted by name, with what follows from them all: `complete` says that
    encoding must look for fields that are always written, in a type or further below."""
    marked = {
        name
        for name, member in components.items()
        if any(zero != {} for zero in member.get("always", {}).values())
    }
    grown = True
    while grown:
        above = {
            name
            for name, member in components.items()
            if name not in marked and any(map(marked.__contains__, _references(member)))
        }
        marked |= above
        grown = bool(above)
    return {
        name: {**member, "complete": True} if name in marked else member
        for name, member in sorted(components.items())
    }


def _references(obj: JsonObject) -> list[str]:
    """Return the names of the components that the fields of a component hold, directly, in lists
    or in maps."""
    names = []
    for member in obj.get("fields", {}).values():
        while isinstance(member, dict) and ("items" in member or "values" in member):
            member = member.get("items") or member.get("values")
        if isinstance(member, dict) and "ref" in member:
            names.append(member["ref"])
    return names


_NODE_TYPES: Final = {
    "s": ("string", ""),
    "y": ("string", "byte"),
    "i": ("integer", "int32"),
    "l": ("integer", "int64"),
    "d": ("number", "double"),
    "b": ("boolean", ""),
}
_SCALARS: Final = {
    letter: Schema(type=type_, format=format_) for letter, (type_, format_) in _NODE_TYPES.items()
}
_INT_OR_STRING_FORMAT: Final = "int-or-string"
_SCALAR_COMPONENTS: Final = {
    QUANTITY: Schema(name=QUANTITY, type="string", format="quantity"),
    INT_OR_STRING: Schema(name=INT_OR_STRING, int_or_string=True),
    TIME: Schema(name=TIME, type="string", format="date-time"),
    MICRO_TIME: Schema(name=MICRO_TIME, type="string", format="date-time"),
}


def _field(node: Any) -> Schema:
    if isinstance(node, str):
        return _SCALARS[node]
    letter = node.get("type")
    type_, format_ = _NODE_TYPES[letter] if letter else node.get("scalar", ("", ""))
    if "items" in node:
        type_ = "array"
    elif "values" in node or "fields" in node:
        type_ = "object"
    return Schema(
        ref=node.get("ref", ""),
        type=type_,
        format="" if format_ == _INT_OR_STRING_FORMAT else format_,
        int_or_string=format_ == _INT_OR_STRING_FORMAT,
        properties=_fields(node),
        required=tuple(node.get("required", ())),
        items=_field(node["items"]) if "items" in node else None,
        additional_properties=_field(node["values"]) if "values" in node else None,
        enum=Choices(node.get("enum", ())),
        default=node.get("default", ABSENT),
        list_type=node.get("list", ""),
        list_map_keys=tuple(node.get("keys", ())),
        map_type=node.get("map", ""),
        merge_key=node.get("mergeKey", ""),
        patch_strategy=node.get("patch", ""),
        preserve_unknown=bool(node.get("open")),
        nullable=bool(node.get("nullable")),
    )


def _fields(entry: Any) -> dict[str, Schema]:
    return {key: _field(node) for key, node in entry.get("fields", {}).items()}


class SchemaPack:
    """Types under their OpenAPI names, made from the entries of a pack when first asked for."""

    __slots__ = ("_entries", "_names", "_schemas")

    def __init__(self, entries: JsonObject) -> None:
        self._entries = entries
        self._schemas: dict[str, Schema] = {}
        self._names = {
            GroupVersionKind(*entry["gvk"]): name
            for name, entry in entries.items()
            if "gvk" in entry
        }

    @property
    def kinds(self) -> Mapping[GroupVersionKind, str]:
        """Return the kinds, and the names of their types."""
        return self._names

    def __contains__(self, name: object) -> bool:
        """Return whether there is a type of that OpenAPI name."""
        return name in self._entries

    def encodings(self) -> dict[str, object]:
        """Return what it says about how Go writes its types, for a pack made of other documents."""
        return encodings_of(self._entries)

    def encoding(self, name: str) -> JsonObject:
        """Return how Go writes one type: `always` are the fields that are written whatever they
        are, with what is written for an empty one, `ptr` those whose empty values are written,
        too."""
        entries: JsonObject = self._entries[name]
        return entries

    def component(self, name: str) -> Schema:
        """Return the type of that OpenAPI name; KeyError when there is none."""
        schema = self._schemas.get(name)
        if schema is None:
            schema = self._schemas[name] = _component(name, self._entries)
        return schema

    def resolve(self, schema: Schema) -> Schema:
        """Return the component that a mention means; anything else is itself."""
        return self.component(schema.ref) if schema.ref else schema


def _component(name: str, entries: JsonObject) -> Schema:
    if name in _SCALAR_COMPONENTS:
        return _SCALAR_COMPONENTS[name]
    if name in ANY_COMPONENTS:
        return Schema(name=name, preserve_unknown=True)
    entry = entries[name]
    gvk = entry.get("gvk")
    return Schema(
        name=name,
        type="object",
        properties=_fields(entry),
        required=tuple(entry.get("required", ())),
        map_type=entry.get("map", ""),
        preserve_unknown=name in OPEN_COMPONENTS,
        gvk=GroupVersionKind(*gvk) if gvk else None,
    )


@per_release()
def built_in() -> SchemaPack:
    """Return the types of the current release."""
    return SchemaPack(load("schemas"))


def component(name: str) -> Schema:
    """Return the built-in type of that OpenAPI name; KeyError when there is none."""
    return built_in().component(name)


def component_name(gvk: GroupVersionKind) -> str | None:
    """Return the OpenAPI name of a built-in kind's type."""
    return built_in().kinds.get(gvk)


def schema_for(gvk: GroupVersionKind) -> Schema | None:
    """Return the type of a built-in kind; None for kinds that only a CRD can define."""
    name = component_name(gvk)
    return None if name is None else component(name)


def resolved(schema: Schema) -> Schema:
    """Return the built-in component that a mention means; anything else is itself."""
    return component(schema.ref) if schema.ref else schema


# --- Raw JSON ----------------------------------------------------------------


@per_release()
def raw_ways(gvk: GroupVersionKind) -> RawWays:
    """Return where a kind has raw JSON; nowhere, for most and for all that are not built in."""
    name = component_name(gvk)
    return {} if name is None else _raw_ways(name, frozenset())


def may_have_raw(obj: JsonObject) -> bool:
    """Return whether an object, or an item of a list or table, may hold raw JSON."""
    kind = gvk(obj)
    if kind.kind == "Table":
        rows: list[JsonObject] = obj.get("rows") or [{}]
        return may_have_raw(rows[0].get("object") or {})
    return bool(raw_ways(kind._replace(kind=kind.kind.removesuffix("List"))))


def keep_raw_of(kind: GroupVersionKind, obj: JsonDict, text: bytes) -> None:
    """Put the raw JSON of a kind into an object that was read from a text."""
    if ways := raw_ways(kind):
        keep_raw(obj, text.decode("utf-8", "replace"), ways)


def _raw_ways(name: str, above: frozenset[str]) -> RawWays:
    result: dict[str, RawWays] = {}
    for key, node in load("schemas")[name].get("fields", {}).items():
        inner = node.get("items", node) if isinstance(node, dict) else {}
        below = inner.get("ref", "") if isinstance(inner, dict) else ""
        if below == RAW_EXTENSION:
            result[key] = {}
        elif below not in above and below not in _NOT_ENTERED:
            ways = _raw_ways(below, above | {name})
            if ways:
                result[key] = ways
    return result


_NOT_ENTERED: Final = frozenset({"", *SPECIAL_COMPONENTS})
