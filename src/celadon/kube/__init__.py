"""The words of Kubernetes: names, metadata, selectors, Status, resources, schemas, defaulting.

Pure data and rules over plain JSON objects: nothing here talks to a server, reads a clock or
changes an object it was given. Read `names` first, then `resources` (what a server knows), then
`defaulting` (what an object looks like when admission sees it). Modules whose functions read best
with the module's name in front (`metadata.labels(obj)`, `status.not_found(...)`,
`fieldpath.required(...)`, `name_rules.dns1123_label(...)`) are exported as modules.
"""

from celadon.kube import (
    bodies,
    fieldpath,
    metadata,
    name_rules,
    request_options,
    status,
    warning_texts,
)
from celadon.kube.ages import UNKNOWN as UNKNOWN_AGE
from celadon.kube.ages import human_duration
from celadon.kube.authorization import Attributes, Ruling, User
from celadon.kube.columns import Column, columns_of
from celadon.kube.custom.definition_validation import definition_errors
from celadon.kube.custom.definitions import rule_errors
from celadon.kube.custom.kinds import CustomKind, custom_kinds
from celadon.kube.custom.published import structural_of
from celadon.kube.custom.rule_validation import RuleOutcome
from celadon.kube.custom.structural import Structural
from celadon.kube.custom.structural import decode as decode_schema
from celadon.kube.custom.typed import typed as typed_value
from celadon.kube.defaulting.context import (
    DEFAULT_PLUGINS,
    ClusterObjects,
    DefaultingContext,
    Requester,
    ServiceNetwork,
)
from celadon.kube.defaulting.stages import (
    CREATE,
    DEFAULT,
    PLUGINS,
    admit_form,
    defaulted,
    stored_form,
    updated_form,
)
from celadon.kube.escaping import escape
from celadon.kube.field_labels import resolve_fields
from celadon.kube.field_selectors import FieldSelector, FieldTerm, parse_field_selector
from celadon.kube.fieldpath import ErrorType, FieldError, FieldPath, NamedText
from celadon.kube.go_json_scanner import JsonSyntaxError
from celadon.kube.go_text import json_text, quote
from celadon.kube.json_reader import Document, read_json
from celadon.kube.jsonpath import JSONPathError, parse_jsonpath
from celadon.kube.library.authz import Authorizer
from celadon.kube.library.value_types import AUTHORIZER, RESOURCE_CHECK
from celadon.kube.names import (
    ApiVersionError,
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    parse_api_version,
)
from celadon.kube.patch import (
    JsonPatchError,
    JsonPatchTestFailed,
    apply_json_patch,
    apply_merge_patch,
)
from celadon.kube.quantity import Quantity, QuantityError
from celadon.kube.quantity import parse as parse_quantity
from celadon.kube.resources import (
    ApiGroup,
    Catalog,
    Resource,
    Subresource,
    api_groups,
    custom_resources,
    guess_resource,
    known_resources,
)
from celadon.kube.schema import (
    Schema,
    SchemaPack,
    built_in,
    component,
    component_name,
    schema_for,
)
from celadon.kube.schema_packing import pack as pack_schemas
from celadon.kube.schema_types import SchemaType, View, schema_type
from celadon.kube.selector_text import parse_label_selector
from celadon.kube.selectors import LabelSelector, Requirement, SelectorError, label_selector
from celadon.kube.status import Status, StatusCause, StatusDetails, StatusError
from celadon.kube.strict_fields import strict_field_errors
from celadon.kube.structural_schema import custom_schemas
from celadon.kube.typed_objects import StructCodec, codec_for, round_trip, unknown_fields
from celadon.kube.typed_values import DecodeError
from celadon.kube.url import URLError
from celadon.kube.url import parse as parse_url
from celadon.kube.validation.kinds import validate_create, validate_update
from celadon.kube.validation.limit_ranges import exceeded_limits
from celadon.kube.validation.object_meta import (
    Naming,
    validate_meta_of_update,
    validate_object_meta,
)
from celadon.kube.versions import DEFAULT as DEFAULT_VERSION
from celadon.kube.versions import environment, previous_minor

__all__ = [
    "AUTHORIZER",
    "CREATE",
    "DEFAULT",
    "DEFAULT_PLUGINS",
    "DEFAULT_VERSION",
    "PLUGINS",
    "RESOURCE_CHECK",
    "UNKNOWN_AGE",
    "ApiGroup",
    "ApiVersionError",
    "Attributes",
    "Authorizer",
    "Catalog",
    "ClusterObjects",
    "Column",
    "CustomKind",
    "DecodeError",
    "DefaultingContext",
    "Document",
    "ErrorType",
    "FieldError",
    "FieldPath",
    "FieldSelector",
    "FieldTerm",
    "GroupKind",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "JSONPathError",
    "JsonPatchError",
    "JsonPatchTestFailed",
    "JsonSyntaxError",
    "LabelSelector",
    "NamedText",
    "Naming",
    "Quantity",
    "QuantityError",
    "Requester",
    "Requirement",
    "Resource",
    "RuleOutcome",
    "Ruling",
    "Schema",
    "SchemaPack",
    "SchemaType",
    "SelectorError",
    "ServiceNetwork",
    "Status",
    "StatusCause",
    "StatusDetails",
    "StatusError",
    "StructCodec",
    "Structural",
    "Subresource",
    "URLError",
    "User",
    "View",
    "admit_form",
    "api_groups",
    "apply_json_patch",
    "apply_merge_patch",
    "bodies",
    "built_in",
    "codec_for",
    "columns_of",
    "component",
    "component_name",
    "custom_kinds",
    "custom_resources",
    "custom_schemas",
    "decode_schema",
    "defaulted",
    "definition_errors",
    "environment",
    "escape",
    "exceeded_limits",
    "fieldpath",
    "guess_resource",
    "human_duration",
    "json_text",
    "known_resources",
    "label_selector",
    "metadata",
    "name_rules",
    "pack_schemas",
    "parse_api_version",
    "parse_field_selector",
    "parse_jsonpath",
    "parse_label_selector",
    "parse_quantity",
    "parse_url",
    "previous_minor",
    "quote",
    "read_json",
    "request_options",
    "resolve_fields",
    "round_trip",
    "rule_errors",
    "schema_for",
    "schema_type",
    "status",
    "stored_form",
    "strict_field_errors",
    "structural_of",
    "typed_value",
    "unknown_fields",
    "updated_form",
    "validate_create",
    "validate_meta_of_update",
    "validate_object_meta",
    "validate_update",
    "warning_texts",
]
