"""A CRD that is being written: names and versions here, its parts (`definition_parts`), and its
schemas (`structural_schemas`, and `definition_rules`, which walks them).

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`, in its order.
The objects are as validating admission sees them: defaulted, with the status that a server gives
them. Of an update less is demanded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.crd import definition_parts, structural_schemas
from celadon.kube.crd.definition_rules import schema_findings
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import wording
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.validation.field_checks import IMMUTABLE
from celadon.kube.validation.object_meta import (
    Naming,
    validate_meta_of_update,
    validate_object_meta,
)

Errors = Iterator[FieldError]

_NAMES: Final = definition_parts.SPEC.child("names")
_STATUS: Final = FieldPath("status")
_STORED: Final = _STATUS.child("storedVersions")
_SCOPES: Final = ("Cluster", "Namespaced")
_WRONG_NAME: Final = 'must be spec.names.plural+"."+spec.group'
_MIXED_CASE: Final = "may have mixed case, but should otherwise match: "
_ALLOWED_WITH_STATUS: Final = (
    *("Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum"),
    *("ExclusiveMinimum", "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems"),
    *("UniqueItems", "MultipleOf", "Required", "Items", "Properties", "ExternalDocs", "Example"),
    *("XPreserveUnknownFields", "XValidations"),
)
"""What the root of a schema may say beside a status subresource, whose schema is cut out of it."""
_STATUS_ENABLED: Final = "if the status subresource is enabled"


def definition_errors(obj: JsonObject) -> list[FieldError]:
    """Return why an API server refuses to create a CustomResourceDefinition."""
    spec = obj.get("spec") or {}
    return [
        *_metadata(obj, spec),
        *_spec(spec, definition_parts.Demands()),
        *definition_status_errors(obj),
        *_stored_versions(obj, spec),
        *definition_parts.approval_errors(spec.get("group") or "", _annotations(obj)),
        *definition_parts.preserving_errors(spec),
    ]


def definition_update_errors(obj: JsonObject, old: JsonObject) -> list[FieldError]:
    """Return why it refuses to update one."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    established = _is_established(old)
    demands = definition_parts.demands_of_update(spec, before, established=established)
    errors = [
        *validate_meta_of_update(obj.get("metadata") or {}, old.get("metadata") or {}),
        *_spec(spec, demands),
        *_unchanged(spec, before, established=established),
        *definition_status_errors(obj),
        *_stored_versions(obj, spec),
    ]
    approval = definition_parts.approval_state(_annotations(obj))
    if approval != definition_parts.approval_state(_annotations(old)):
        errors += definition_parts.approval_errors(spec.get("group") or "", _annotations(obj))
    if not before.get("preserveUnknownFields"):
        errors += definition_parts.preserving_errors(spec)
    return errors


def definition_status_errors(obj: JsonObject) -> list[FieldError]:
    """Return what is wrong with the status of one."""
    names = (obj.get("status") or {}).get("acceptedNames") or {}
    return [*_names(names, _STATUS.child("acceptedNames"))]


def _annotations(obj: JsonObject) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _is_established(obj: JsonObject) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(
        condition.get("type") == "Established" and condition.get("status") == "True"
        for condition in conditions
    )


def _metadata(obj: JsonObject, spec: JsonObject) -> Errors:
    names = spec.get("names") or {}
    expected = f"{names.get('plural') or ''}.{spec.get('group') or ''}"

    def rule(name: str) -> list[str]:
        dns1123_subdomain = list(name_rules.dns1123_subdomain(name))
        return dns1123_subdomain if name == expected else [*dns1123_subdomain, _WRONG_NAME]

    return validate_object_meta(obj.get("metadata") or {}, Naming(rule, namespaced=False))


def _unchanged(spec: JsonObject, old: JsonObject, *, established: bool) -> Errors:
    """Yield the changes of what objects are stored by: group, plural and, once there may be
    objects, scope and kind must stay."""
    names, before = spec.get("names") or {}, old.get("names") or {}
    rows = [
        (definition_parts.SPEC.child("group"), spec.get("group"), old.get("group")),
        (_NAMES.child("plural"), names.get("plural"), before.get("plural")),
    ]
    if established:
        rows[:0] = [
            (definition_parts.SPEC.child("scope"), spec.get("scope"), old.get("scope")),
            (_NAMES.child("kind"), names.get("kind"), before.get("kind")),
        ]
    for path, value, was in rows:
        if (value or "") != (was or ""):
            yield fieldpath.invalid(path, value or "", IMMUTABLE)


def _spec(spec: JsonObject, demands: definition_parts.Demands) -> Errors:
    whole = definition_parts.internal_definition(spec)
    yield from _group(spec.get("group") or "")
    scope = spec.get("scope") or ""
    if not scope:
        yield fieldpath.required(definition_parts.SPEC.child("scope"))
    elif scope not in _SCOPES:
        yield fieldpath.not_supported(definition_parts.SPEC.child("scope"), scope, _SCOPES)
    keeps_unknown = bool(spec.get("preserveUnknownFields"))
    yield from _missing_schemas(whole, demands, keeps_unknown=keeps_unknown)
    nodes = [
        node for _, schema in whole.schemas() for node in structural_schemas.every_schema(schema)
    ]
    has_defaults = any(node.get("default") is not None for node in nodes)
    if not keeps_unknown or has_defaults or any(map(_has_extensions, nodes)):
        demands = replace(demands, structural=True)
    if has_defaults and keeps_unknown:
        detail = "must be false in order to use defaults in the schema"
        yield fieldpath.invalid(definition_parts.SPEC.child("preserveUnknownFields"), True, detail)
    yield from _versions(whole, demands, is_given=spec.get("versions") is not None)
    names = spec.get("names") or {}
    for member in ("plural", "singular", "kind", "listKind"):
        if not names.get(member):
            yield fieldpath.required(_NAMES.child(member))
    yield from _names(names, _NAMES)
    yield from _shared(whole, demands)
    conversion = spec.get("conversion") or {}
    place = definition_parts.SPEC.child("conversion")
    if conversion and conversion.get("strategy") != "None" and keeps_unknown:
        detail = "must be None if spec.preserveUnknownFields is true"
        yield fieldpath.invalid(place.child("strategy"), conversion.get("strategy") or "", detail)
    if conversion:
        yield from definition_parts.conversion_errors(conversion, place, demands)


def _group(group: str) -> Errors:
    path = definition_parts.SPEC.child("group")
    if not group:
        yield fieldpath.required(path)
    elif wrong := name_rules.dns1123_subdomain(group):
        yield fieldpath.invalid(path, group, ",".join(wrong))
    elif "." not in group:
        yield fieldpath.invalid(path, group, "should be a domain with at least one dot")


_NOT_SERVED: Final = wording(
    "missing from spec.versions; {0} was previously a storage version, and must remain in "
    "spec.versions until a storage migration ensures no data remains persisted in {0} and removes "
    "{0} from status.storedVersions",
    v1_33="must appear in spec.versions",
)
_NO_SCHEMA: Final = wording("", v1_34="schemas are required")
_NO_SCHEMA_FOR_FIELDS: Final = wording(
    "may only be set when `version.schema.openAPIV3Schema` is not included",
    v1_34="selectableFields may only be set when version.schema.openAPIV3Schema is not included",
)
_NO_SHARED_SCHEMA_FOR_FIELDS: Final = wording(
    "may only be set when validations.schema is included",
    v1_34="selectableFields may only be set when validations.schema is included",
)


def _missing_schemas(
    whole: definition_parts.InternalDefinition,
    demands: definition_parts.Demands,
    *,
    keeps_unknown: bool,
) -> Errors:
    if definition_parts.schema_in(whole.shared) is not None:
        return
    for i, version in enumerate(whole.versions):
        path = definition_parts.VERSIONS.index(i).child("schema", "openAPIV3Schema")
        if definition_parts.schema_in(version) is not None:
            continue
        if demands.schemas:
            yield fieldpath.required(path, _NO_SCHEMA.text)
        elif not keeps_unknown and version.get("served"):
            yield fieldpath.required(path, "because otherwise all fields are pruned")


def _has_extensions(node: JsonObject) -> bool:
    return any(
        node.get(f"x-kubernetes-{name}") not in (None, False, [])
        for name in ("embedded-resource", "int-or-string", "list-map-keys", "validations")
    ) or any(
        node.get(f"x-kubernetes-{name}") is not None
        for name in ("preserve-unknown-fields", "list-type")
    )


def _versions(
    whole: definition_parts.InternalDefinition, demands: definition_parts.Demands, *, is_given: bool
) -> Errors:
    versions = whole.versions
    names = [version.get("name") or "" for version in versions]
    for i, version in enumerate(versions):
        path = definition_parts.VERSIONS.index(i)
        if wrong := name_rules.dns1035_label(names[i]):
            yield fieldpath.invalid(path.child("name"), names[i], ",".join(wrong))
        enabled = definition_parts.has_status(version) or definition_parts.has_status(whole.shared)
        yield from definition_parts.deprecation_errors(version, path.child("deprecationWarning"))
        yield from _parts(version, path, names[i], demands, status=enabled)
    values = [definition_parts.version_value(version) for version in versions] if is_given else None
    go_value = GoValue(values, "[]apiextensions.CustomResourceDefinitionVersion")
    if len(set(names)) < len(names):
        yield fieldpath.invalid(
            definition_parts.VERSIONS, go_value, "must contain unique version names"
        )
    if sum(bool(version.get("storage")) for version in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        yield fieldpath.invalid(definition_parts.VERSIONS, go_value, detail)
    first = whole.first_name
    if first and (wrong := name_rules.dns1035_label(first)):
        # Upstream keeps the first name in a field of its own, and looks at that as well.
        yield fieldpath.invalid(definition_parts.SPEC.child("version"), first, ",".join(wrong))


def _parts(
    version: JsonObject,
    path: FieldPath,
    name: str,
    demands: definition_parts.Demands,
    *,
    status: bool,
) -> Errors:
    """Return what a version has of its own."""
    schema = definition_parts.schema_in(version)
    if schema is not None:
        place = path.child("schema", "openAPIV3Schema")
        yield from _schema(schema, place, name, demands, status=status)
    yield from _endpoints_and_columns(version, path)
    fields = version.get("selectableFields")
    if fields:
        detail = _NO_SCHEMA_FOR_FIELDS.text
        yield from _selectable(fields, schema, path, detail, many=name in demands.many_fields)


def _shared(
    whole: definition_parts.InternalDefinition, demands: definition_parts.Demands
) -> Errors:
    """Return what all versions share."""
    shared = whole.shared
    schema = definition_parts.schema_in(shared)
    if schema is not None:
        place = definition_parts.SPEC.child("validation", "openAPIV3Schema")
        enabled = definition_parts.has_status(shared) or any(
            map(definition_parts.has_status, whole.versions)
        )
        yield from _schema(schema, place, whole.first_name, demands, status=enabled)
    yield from _endpoints_and_columns(shared, definition_parts.SPEC)
    fields = shared.get("selectableFields")
    if fields:
        detail = _NO_SHARED_SCHEMA_FOR_FIELDS.text
        has_validation = shared.get("schema") is not None
        known_schema = schema or ({} if has_validation else None)
        yield from _selectable(
            fields, known_schema, definition_parts.SPEC, detail, many="" in demands.many_fields
        )


def _endpoints_and_columns(part: JsonObject, path: FieldPath) -> Errors:
    """Yield what is wrong with the subresources and columns of one version, or of all."""
    if part.get("subresources"):
        yield from definition_parts.subresource_errors(
            part["subresources"], path.child("subresources")
        )
    if part.get("additionalPrinterColumns"):
        columns = part["additionalPrinterColumns"]
        yield from definition_parts.column_errors(columns, path.child("additionalPrinterColumns"))


def _selectable(
    fields: list[Any], schema: JsonObject | None, path: FieldPath, detail: str, *, many: bool
) -> Errors:
    place = path.child("selectableFields")
    if schema is None:
        yield fieldpath.invalid(place, "", detail)
        return
    reason = structural_schemas.unreadable(schema)
    if reason is not None:
        yield fieldpath.invalid(path.child("schema", "openAPIV3Schema"), "", reason)
        fields = [field for field in fields if not field.get("jsonPath")]  # paths lead nowhere
    yield from definition_parts.selectable_errors(fields, schema, place, many=many)


def _schema(
    value: JsonObject,
    path: FieldPath,
    name: str,
    demands: definition_parts.Demands,
    *,
    status: bool,
) -> Errors:
    """Return what is wrong with a schema; `name` is that of its version, the first of several."""
    errors = [*_root_with_status(value, path)] if status else []
    if value.get("nullable"):
        errors.append(
            fieldpath.forbidden(path.child("nullable"), "nullable cannot be true at the root")
        )
    schema = structural_schemas.GivenSchema(path, decode_schema(value), value)
    reason = structural_schemas.unreadable(value) if demands.structural else None
    wrong: list[FieldError] = []
    if demands.structural and reason is None:
        pruned = demands.pruned_defaults
        wrong = structural_schemas.structural_errors(
            value, path
        ) or structural_schemas.default_errors(schema, pruned=pruned)
    errors += wrong
    compiles = demands.structural and reason is None and not wrong
    limits_costs = name not in demands.unchanged_schemas
    findings = schema_findings(schema, demands, compiles=compiles, limits_costs=limits_costs)
    errors += [*findings.keywords, *findings.rules]
    if not errors and reason is not None:
        errors.append(fieldpath.invalid(path, "", reason))
    yield from errors
    yield from findings.costs


def _root_with_status(value: JsonObject, path: FieldPath) -> Errors:
    for name in definition_parts.set_fields(value):
        if name == "Type":
            if value["type"] != "object":
                detail = (
                    'only "object" is allowed as the type at the root of the schema '
                    f"{_STATUS_ENABLED}"
                )
                yield fieldpath.invalid(path.child("type"), value["type"], detail)
                return
        elif name not in _ALLOWED_WITH_STATUS:
            allowed = " ".join(_ALLOWED_WITH_STATUS)
            detail = (
                f"only [{allowed}] fields are allowed at the root of the schema {_STATUS_ENABLED}"
            )
            yield fieldpath.invalid(path, definition_parts.shown_schema(value), detail)
            return


def _names(names: JsonObject, path: FieldPath) -> Errors:
    for member in ("plural", "singular"):
        text = names.get(member) or ""
        if text:
            yield from _label(path.child(member), text)
    for member in ("kind", "listKind"):
        text = names.get(member) or ""
        if text and (wrong := name_rules.dns1035_label(text.lower())):
            yield fieldpath.invalid(path.child(member), text, _MIXED_CASE + ",".join(wrong))
    for i, text in enumerate(names.get("shortNames") or ()):
        yield from _label(path.child("shortNames").index(i), text)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        detail = "kind and listKind may not be the same"
        yield fieldpath.invalid(path.child("listKind"), names["listKind"], detail)
    for i, text in enumerate(names.get("categories") or ()):
        yield from _label(path.child("categories").index(i), text)


def _label(path: FieldPath, text: str) -> Errors:
    if wrong := name_rules.dns1035_label(text):
        yield fieldpath.invalid(path, text, ",".join(wrong))


def _stored_versions(obj: JsonObject, spec: JsonObject) -> Errors:
    stored = (obj.get("status") or {}).get("storedVersions")
    if not stored:
        go_value = GoValue(stored, "[]string")
        yield fieldpath.invalid(_STORED, go_value, "must have at least one stored version")
        return
    left = {name: i for i, name in enumerate(stored)}
    for version in spec.get("versions") or ():
        name = version.get("name") or ""
        if version.get("storage") and name not in left:
            yield fieldpath.invalid(_STORED, stored, f"must have the storage version {name}")
        left.pop(name, None)
    for name, i in left.items():
        yield fieldpath.invalid(_STORED.index(i), name, _NOT_SERVED.text.format(name))
