"""The structure of every API type, and what passing through a Go struct does to an object.

Read `schema_packs` first: the one form that all schemas have, and those of the built-in kinds. Then
`definition_schemas`: those of CustomResourceDefinitions, and schemas as CEL types.
`struct_decoding` decodes and encodes objects by their schema.
"""

from celadon.kube.schemas.definition_schemas import (
    SchemaType,
    View,
    custom_schemas,
    decode_schema,
    schema_type,
)
from celadon.kube.schemas.schema_packs import (
    ABSENT,
    META_PREFIX,
    REFERENCE_PREFIX,
    Schema,
    SchemaPack,
    ValidationRule,
    ValueLimits,
    built_in,
    component,
    component_name,
    escape,
    keep_raw_of,
    may_have_raw,
    resolved,
    schema_for,
)
from celadon.kube.schemas.schema_packs import pack as pack_schemas
from celadon.kube.schemas.struct_decoding import (
    EmptyValue,
    StrayField,
    codec_for,
    decode_kind,
    decode_list,
    round_trip,
    strict_field_errors,
)
from celadon.kube.schemas.value_decoding import DecodeError, json_kind

__all__ = [
    "ABSENT",
    "META_PREFIX",
    "REFERENCE_PREFIX",
    "DecodeError",
    "EmptyValue",
    "Schema",
    "SchemaPack",
    "SchemaType",
    "StrayField",
    "ValidationRule",
    "ValueLimits",
    "View",
    "built_in",
    "codec_for",
    "component",
    "component_name",
    "custom_schemas",
    "decode_kind",
    "decode_list",
    "decode_schema",
    "escape",
    "json_kind",
    "keep_raw_of",
    "may_have_raw",
    "pack_schemas",
    "resolved",
    "round_trip",
    "schema_for",
    "schema_type",
    "strict_field_errors",
]
