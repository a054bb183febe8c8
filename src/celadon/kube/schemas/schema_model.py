"""The one form in which the structure of an API type is worked with, built-in or custom.

A `Schema` is one node: a struct, a field, an item. `pack_schemas` makes those of the built-in
kinds, `definition_schemas` those of CustomResourceDefinitions; whoever reads one need not know
which it is. What only CRDs can say (`rules`, `limits`, the branches of `allOf` and its like) is
empty in built-in schemas, and what only built-in types have (`ref`, `merge_key`, `patch_strategy`)
in those of CRDs.

How lists and maps are merged by server-side apply and by patches is said where they are mentioned:
`list_type`, `list_map_keys`, `map_type`, `patch_strategy` and `merge_key` of a field stand in the
field's own node, even if that is the mention of a component, which has a `map_type` of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from celadon.cel import RESERVED
from celadon.kube.json_types import Json
from celadon.kube.names import GroupVersionKind
from celadon.patterns import late_pattern
from celadon.records import dataclass, field

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
JSON_SCHEMA: Final = _EXTENSIONS + "JSONSchemaProps"

SCALAR_COMPONENTS: Final = frozenset({QUANTITY, INT_OR_STRING, TIME, MICRO_TIME})
"""Components that are no objects. A quantity may also come as a number."""

OPEN_COMPONENTS: Final = frozenset({FIELDS_V1, RAW_EXTENSION})
"""Objects of any content."""

ANY_COMPONENTS: Final = frozenset({JSON, SCHEMA_OR_BOOL, SCHEMA_OR_LIST, SCHEMA_OR_STRINGS})
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
    """One of `x-kubernetes-validations`."""

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


@dataclass(frozen=True, slots=True)
class Schema:
    """One node of a schema. `type` is empty for what may be of several types, and for the mention
    of a component, which has `ref` set (`pack_schemas.resolved` follows it)."""

    name: str = ""
    """The OpenAPI name of a component (`io.k8s.api.core.v1.Pod`); empty for what has none."""
    ref: str = ""
    """The OpenAPI name of the component that is meant."""
    gvk: GroupVersionKind | None = None
    """The kind whose objects it describes."""

    type: str = ""
    format: str = ""
    nullable: bool = False
    default: Json | Absent = ABSENT
    enum: tuple[Json, ...] = ()
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
        """The JSON types that a value may have; none is any."""
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
    """The CEL field name of a property; None when no expression can select it."""
    if name in RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda found: _REPLACED[found[0]], name)
