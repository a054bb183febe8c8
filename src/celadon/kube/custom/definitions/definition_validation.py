"""A CRD that is being written: names and versions here, its parts (`definition_parts`), its schemas
(`structural_schemas`, `schema_defaults`, `schema_keywords`), and its rules (`definition_rules`).

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`. The object is
as validating admission sees it: defaulted, with the status of a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.custom.definitions.definition_parts import approval_errors, part_errors
from celadon.kube.custom.definitions.definition_rules import rule_errors
from celadon.kube.custom.definitions.given_schemas import given_schemas
from celadon.kube.custom.definitions.schema_defaults import default_errors
from celadon.kube.custom.definitions.schema_keywords import is_readable, keyword_errors
from celadon.kube.custom.definitions.structural_schemas import structural_errors
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.library.releases import DEFAULT
from celadon.kube.validation.object_meta import Naming, validate_object_meta

Errors = Iterator[FieldError]

_SPEC: Final = FieldPath("spec")
_NAMES: Final = _SPEC.child("names")
_VERSIONS: Final = _SPEC.child("versions")
_STORED: Final = FieldPath("status").child("storedVersions")
_SCOPES: Final = ("Cluster", "Namespaced")
_WRONG_NAME: Final = 'must be spec.names.plural+"."+spec.group'
_MIXED_CASE: Final = "may have mixed case, but should otherwise match: "


def definition_errors(obj: Mapping[str, Any], version: str = DEFAULT) -> list[FieldError]:
    """Why an API server refuses to create a CustomResourceDefinition; `version` is its release."""
    spec = obj.get("spec") or {}
    found = list(_metadata(obj, spec))
    found += _spec(spec)
    if not any(error.path.is_below(_VERSIONS) for error in found):
        found += _schemas(spec, version)
    found += _stored_versions(obj, spec)
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    found += approval_errors(spec.get("group") or "", annotations)
    return found


def _metadata(obj: Mapping[str, Any], spec: Mapping[str, Any]) -> Errors:
    names = spec.get("names") or {}
    wanted = f"{names.get('plural') or ''}.{spec.get('group') or ''}"

    def rule(name: str) -> list[str]:
        found = list(name_rules.dns1123_subdomain(name))
        return found if name == wanted else [*found, _WRONG_NAME]

    return validate_object_meta(obj.get("metadata") or {}, Naming(rule, namespaced=False))


def _spec(spec: Mapping[str, Any]) -> Errors:
    group, scope = spec.get("group") or "", spec.get("scope") or ""
    at = _SPEC.child("group")
    if not group:
        yield fieldpath.required(at)
    elif wrong := name_rules.dns1123_subdomain(group):
        yield fieldpath.invalid(at, group, ",".join(wrong))
    elif "." not in group:
        yield fieldpath.invalid(at, group, "should be a domain with at least one dot")
    if not scope:
        yield fieldpath.required(_SPEC.child("scope"))
    elif scope not in _SCOPES:
        yield fieldpath.not_supported(_SPEC.child("scope"), scope, _SCOPES)
    yield from _versions(spec.get("versions") or [])
    names = spec.get("names") or {}
    for member in ("plural", "singular", "kind", "listKind"):
        if not names.get(member):
            yield fieldpath.required(_NAMES.child(member))
    yield from _names(names)
    yield from part_errors(spec)


def _versions(versions: list[Any]) -> Errors:
    names = [one.get("name") or "" for one in versions]
    for i, name in enumerate(names):
        if wrong := name_rules.dns1035_label(name):
            yield fieldpath.invalid(_VERSIONS.index(i).child("name"), name, ",".join(wrong))
    for i, one in enumerate(versions):
        if (one.get("schema") or {}).get("openAPIV3Schema") is None:
            yield fieldpath.required(_VERSIONS.index(i).child("schema", "openAPIV3Schema"))
    shown = [_version_value(one) for one in versions] or None
    if len(set(names)) < len(names):
        yield fieldpath.invalid(_VERSIONS, shown, "must contain unique version names")
    if sum(bool(one.get("storage")) for one in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        yield fieldpath.invalid(_VERSIONS, shown, detail)
    if names and (wrong := name_rules.dns1035_label(names[0])):
        # Upstream keeps the first name in a field of its own, and looks at that as well.
        yield fieldpath.invalid(_SPEC.child("version"), names[0], ",".join(wrong))


def _version_value(version: Mapping[str, Any]) -> Any:
    """A version as errors show it, when all versions share what is not listed here."""
    return {
        "Name": version.get("name") or "",
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
        "Schema": None,
        "Subresources": None,
        "AdditionalPrinterColumns": None,
        "SelectableFields": None,
    }


def _names(names: Mapping[str, Any]) -> Errors:
    for member in ("plural", "singular"):
        yield from _label(_NAMES.child(member), names.get(member) or "")
    for member in ("kind", "listKind"):
        text = names.get(member) or ""
        if text and (wrong := name_rules.dns1035_label(text.lower())):
            yield fieldpath.invalid(_NAMES.child(member), text, _MIXED_CASE + ",".join(wrong))
    for member in ("shortNames", "categories"):
        for i, text in enumerate(names.get(member) or ()):
            yield from _label(_NAMES.child(member).index(i), text)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        detail = "kind and listKind may not be the same"
        yield fieldpath.invalid(_NAMES.child("listKind"), names["listKind"], detail)


def _label(at: FieldPath, text: str) -> Errors:
    if text and (wrong := name_rules.dns1035_label(text)):
        yield fieldpath.invalid(at, text, ",".join(wrong))


def _schemas(spec: Mapping[str, Any], version: str) -> list[FieldError]:
    schemas = given_schemas(spec)
    found: list[FieldError] = []
    for one in schemas:
        if is_readable(one.given):
            found += structural_errors(one.given, one.path) or default_errors(one)
        found += keyword_errors(one.given, one.path)
    return found or rule_errors(schemas, version)


def _stored_versions(obj: Mapping[str, Any], spec: Mapping[str, Any]) -> Errors:
    stored = (obj.get("status") or {}).get("storedVersions")
    versions = spec.get("versions") or []
    if not stored:
        yield fieldpath.invalid(_STORED, None, "must have at least one stored version")
    for i, name in enumerate(stored or ()):
        if name not in [one.get("name") for one in versions]:
            yield fieldpath.invalid(_STORED.index(i), name, "must appear in spec.versions")
    storage = [one.get("name") for one in versions if one.get("storage")]
    if storage and storage[-1] not in (stored or ()):
        yield fieldpath.invalid(_STORED, stored, f"must have the storage version {storage[-1]}")
