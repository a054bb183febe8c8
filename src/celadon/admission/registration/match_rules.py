"""Validation of what policies, bindings and webhooks share: rules, selectors, match resources.

As k8s.io/kubernetes `pkg/apis/admissionregistration/validation`, in its order and with its texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celadon.admission.registration.registration_types import MatchResources, Rule
from celadon.kube import FieldError, FieldPath, JsonObject, fieldpath, name_rules
from celadon.kube import validation as kube_validation
from celadon.kube.go import GoValue
from celadon.kube.validation import Naming

ALL: Final = "*"
OPERATIONS: Final = (ALL, "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTATING_OPERATIONS: Final = (ALL, "CONNECT", "CREATE", "UPDATE")
SCOPES: Final = (ALL, "Cluster", "Namespaced")
MATCH_POLICIES: Final = ("Equivalent", "Exact")


def validate_match_resources(match: MatchResources, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    if match.match_policy is None:
        errors.append(fieldpath.required(path.child("matchPolicy")))
    elif match.match_policy not in MATCH_POLICIES:
        value = fieldpath.NamedText(match.match_policy)
        errors.append(fieldpath.not_supported(path.child("matchPolicy"), value, MATCH_POLICIES))
    errors += _selector(match.namespace_selector, path.child("namespaceSelector"))
    errors += _selector(match.object_selector, path.child("objectSelector"))
    for i, rule in enumerate(match.resource_rules):
        errors += validate_named_rule(rule, path.child("resourceRules").index(i))
    for i, rule in enumerate(match.exclude_resource_rules):
        errors += validate_named_rule(rule, path.child("excludeResourceRules").index(i))
    return errors


def validate_mutating_operations(match: MatchResources, path: FieldPath) -> list[FieldError]:
    """Nothing to mutate in a deletion. The path has no indices, and exclusions are not looked at:
    both as upstream."""
    at = path.child("resourceRules", "operations")
    return [
        fieldpath.not_supported(at, fieldpath.NamedText(operation), MUTATING_OPERATIONS)
        for rule in match.resource_rules
        for operation in rule.operations
        if operation not in MUTATING_OPERATIONS
    ]


def _selector(selector: JsonObject | None, path: FieldPath) -> list[FieldError]:
    return (
        [fieldpath.required(path)] if selector is None else validate_label_selector(selector, path)
    )


def validate_named_rule(rule: Rule, path: FieldPath) -> list[FieldError]:
    """A rule that may carry resource names."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, name in enumerate(rule.resource_names):
        at = path.child("resourceNames").index(i)
        errors += [
            fieldpath.invalid(at, name, message) for message in name_rules.path_segment_name(name)
        ]
        if name in seen:
            errors.append(fieldpath.duplicate(at, name))
        seen.add(name)
    return errors + validate_rule(rule, path)


def validate_rule(rule: Rule, path: FieldPath) -> list[FieldError]:
    errors = _operations(rule.operations, path.child("operations"))
    errors += _exclusive(
        rule.api_groups, path.child("apiGroups"), "must not specify other API groups"
    )
    versions = path.child("apiVersions")
    errors += _exclusive(rule.api_versions, versions, "must not specify other API versions")
    errors += [
        fieldpath.required(versions.index(i)) for i, v in enumerate(rule.api_versions) if not v
    ]
    errors += _resources(rule.resources, path.child("resources"))
    if rule.scope is not None and rule.scope not in SCOPES:
        errors.append(
            fieldpath.not_supported(path.child("scope"), fieldpath.NamedText(rule.scope), SCOPES)
        )
    return errors


def _operations(operations: Sequence[str], path: FieldPath) -> list[FieldError]:
    type_ = "[]admissionregistration.OperationType"
    errors = _exclusive(operations, path, "must not specify other operations", type_)
    for i, operation in enumerate(operations):
        if operation not in OPERATIONS:
            errors.append(
                fieldpath.not_supported(path.index(i), fieldpath.NamedText(operation), OPERATIONS)
            )
    return errors


def _exclusive(
    values: Sequence[str], path: FieldPath, demand: str, type_: str = "[]string"
) -> list[FieldError]:
    """At least one value, and `*` only alone."""
    if not values:
        return [fieldpath.required(path)]
    if len(values) > 1 and ALL in values:
        shown = GoValue(list(values), type_)
        return [fieldpath.invalid(path, shown, f"if '*' is present, {demand}")]
    return []


def _resources(resources: Sequence[str], path: FieldPath) -> list[FieldError]:
    """Only what stands before an entry can make it superfluous, and the check for a lone `*`
    depends on the last entry without a slash: both as upstream."""
    if not resources:
        return [fieldpath.required(path)]
    errors: list[FieldError] = []
    whole: set[str] = set()  # resources given as "r/*"
    everywhere: set[str] = set()  # subresources given as "*/s"
    star = False
    plain_last = False
    for i, entry in enumerate(resources):
        if not entry:
            errors.append(fieldpath.required(path.index(i)))
            continue
        resource, slash, subresource = entry.partition("/")
        star = star or entry == ALL
        if not slash:
            plain_last = entry != ALL
            continue
        errors += _covered(entry, resource, subresource, whole, everywhere, path.index(i))
        if subresource == ALL:
            whole.add(resource)
        if resource == ALL:
            everywhere.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        text = "if '*/*' is present, must not specify other resources"
        errors.append(fieldpath.invalid(path, list(resources), text))
    if star and plain_last:
        text = "if '*' is present, must not specify other resources without subresources"
        errors.append(fieldpath.invalid(path, list(resources), text))
    return errors


def _covered(
    entry: str,
    resource: str,
    subresource: str,
    whole: Iterable[str],
    everywhere: Iterable[str],
    path: FieldPath,
) -> list[FieldError]:
    errors = []
    if resource in whole:
        text = f"if '{resource}/*' is present, must not specify {entry}"
        errors.append(fieldpath.invalid(path, entry, text))
    if subresource in everywhere:
        text = f"if '*/{subresource}' is present, must not specify {entry}"
        errors.append(fieldpath.invalid(path, entry, text))
    return errors


def validate_label_selector(
    selector: JsonObject, path: FieldPath, *, strict: bool = True
) -> list[FieldError]:
    """Validate as k8s.io/apimachinery `pkg/apis/meta/v1/validation`. The values of expressions are
    checked only when `strict`."""
    errors = _match_labels(selector.get("matchLabels", {}), path.child("matchLabels"))
    for i, requirement in enumerate(selector.get("matchExpressions", ())):
        at = path.child("matchExpressions").index(i)
        errors += _requirement(requirement, at, strict=strict)
    return errors


def _match_labels(labels: Mapping[str, str], path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, value in labels.items():
        errors += [
            fieldpath.invalid(path, key, message) for message in name_rules.qualified_name(key)
        ]
        errors += [
            fieldpath.invalid(path, value, message) for message in name_rules.label_value(value)
        ]
    return errors


def _requirement(requirement: JsonObject, path: FieldPath, *, strict: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    operator, values = requirement["operator"], requirement.get("values", ())
    at = path.child("values")
    if operator in {"In", "NotIn"}:
        if not values:
            errors.append(
                fieldpath.required(at, "must be specified when `operator` is 'In' or 'NotIn'")
            )
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(fieldpath.forbidden(at, detail))
    else:
        value = fieldpath.NamedText(operator)
        errors.append(
            fieldpath.invalid(path.child("operator"), value, "not a valid selector operator")
        )
    key = requirement["key"]
    errors += [
        fieldpath.invalid(path.child("key"), key, message)
        for message in name_rules.qualified_name(key)
    ]
    for i, value in enumerate(values if strict else ()):
        errors += [
            fieldpath.invalid(at.index(i), value, message)
            for message in name_rules.label_value(value)
        ]
    return errors


# --- Registration metadata ---------------------------------------------------
#
# Validation of `metadata` of registration objects: cluster-scoped, named by DNS subdomains.
#
# `validate_object_meta` is what their strategies do first. `validate_meta_update` is what a
# server does before it asks the strategy about an update; these kinds must say which version
# they change. So a bad label is found three times on update. The rules themselves are those of
# all kinds.


NAMING: Final = Naming(namespaced=None)


def validate_object_meta(meta: JsonObject) -> list[FieldError]:
    """In upstream's order; the document has been decoded, so its values are of the right types."""
    return list(kube_validation.validate_object_meta(meta, NAMING))


def validate_meta_update(meta: JsonObject, old: JsonObject) -> list[FieldError]:
    """Both decoded, with the fields of a stored object that a client cannot touch carried over.
    Where objects have no versions, nobody can say which one is meant."""
    versioned = bool(old.get("resourceVersion"))
    return list(kube_validation.validate_meta_of_update(meta, old, unconditional=not versioned))
