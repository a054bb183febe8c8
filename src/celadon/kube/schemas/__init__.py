"""The structure of every API type, and what passing through a Go struct does to an object.

Read `schema_model`, then `packs` and `schema_packing` for where the built-in ones come from,
`structural_schema` for those of CustomResourceDefinitions, `schema_types` for schemas as CEL types,
`typed_objects` for objects decoded and encoded by their schema.
"""

from celadon.kube.schemas.escaping import escape
from celadon.kube.schemas.schema_model import (
    Schema,
    SchemaPack,
    built_in,
    component,
    component_name,
    schema_for,
)
from celadon.kube.schemas.schema_packing import pack as pack_schemas
from celadon.kube.schemas.schema_types import SchemaType, View, schema_type
from celadon.kube.schemas.strict_fields import strict_field_errors
from celadon.kube.schemas.structural_schema import custom_schemas
from celadon.kube.schemas.typed_objects import StructCodec, codec_for, round_trip, unknown_fields
from celadon.kube.schemas.typed_values import DecodeError

__all__ = [
    "DecodeError",
    "Schema",
    "SchemaPack",
    "SchemaType",
    "StructCodec",
    "View",
    "built_in",
    "codec_for",
    "component",
    "component_name",
    "custom_schemas",
    "escape",
    "pack_schemas",
    "round_trip",
    "schema_for",
    "schema_type",
    "strict_field_errors",
    "unknown_fields",
]
