"""API validation of policies and bindings: every complaint, in upstream's order and words.

`validate_policy` checks the whole object but its status. Expressions are compiled as for a new
object: at the compatibility version, one minor below. On update, an expression that the old object
already had is compiled with everything this version knows instead (ratcheting), and match
conditions are not looked at when neither they nor `paramKind` changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from celadon.admission import policy_limits
from celadon.admission.compiled_expressions import (
    ANNOTATION_RESULT,
    BOOL_RESULT,
    MESSAGE_RESULT,
    Expression,
    ExpressionError,
    PolicyScope,
)
from celadon.admission.decision_source import Source
from celadon.admission.registration import registration_types
from celadon.admission.registration.registration_types import MatchResources, Rule
from celadon.cel import Issue, types
from celadon.kube import (
    ApiVersionError,
    FieldError,
    FieldPath,
    JsonObject,
    fieldpath,
    name_rules,
    parse_api_version,
)
from celadon.kube import validation as kube_validation
from celadon.kube.go import GoValue, trim_space
from celadon.kube.releases import MESSAGE_BLANK, MESSAGE_BROKEN, current_release, wording
from celadon.kube.validation import Naming
from celadon.records import dataclass, replace

# --- Matching ----------------------------------------------------------------
#
# Validation of what policies, bindings and webhooks share: rules, selectors, match resources.
#
# As k8s.io/kubernetes `pkg/apis/admissionregistration/validation`, in its order and with its
# texts.

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
    """Refuse operations without anything to mutate: deletions. The path has no indices, and
    exclusions are not looked at: both as upstream."""
    operations_path = path.child("resourceRules", "operations")
    return [
        fieldpath.not_supported(
            operations_path, fieldpath.NamedText(operation), MUTATING_OPERATIONS
        )
        for rule in match.resource_rules
        for operation in rule.operations
        if operation not in MUTATING_OPERATIONS
    ]


def _selector(selector: JsonObject | None, path: FieldPath) -> list[FieldError]:
    return (
        [fieldpath.required(path)] if selector is None else validate_label_selector(selector, path)
    )


def validate_named_rule(rule: Rule, path: FieldPath) -> list[FieldError]:
    """Validate a rule that may carry resource names."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, name in enumerate(rule.resource_names):
        field_path = path.child("resourceNames").index(i)
        errors += [
            fieldpath.invalid(field_path, name, message)
            for message in name_rules.path_segment_name(name)
        ]
        if name in seen:
            errors.append(fieldpath.duplicate(field_path, name))
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
    """Require at least one value, and `*` only alone."""
    if not values:
        return [fieldpath.required(path)]
    if len(values) > 1 and ALL in values:
        go_value = GoValue(list(values), type_)
        return [fieldpath.invalid(path, go_value, f"if '*' is present, {demand}")]
    return []


def _resources(resources: Sequence[str], path: FieldPath) -> list[FieldError]:
    """Validate resources of a rule. Only what stands before an entry can make it superfluous, and
    the check for a lone `*` depends on the last entry without a slash: both as upstream."""
    if not resources:
        return [fieldpath.required(path)]
    errors: list[FieldError] = []
    whole: set[str] = set()  # resources given as "r/*"
    everywhere: set[str] = set()  # subresources given as "*/s"
    star = False
    plain_last = False
    for i, pattern in enumerate(resources):
        if not pattern:
            errors.append(fieldpath.required(path.index(i)))
            continue
        resource, slash, subresource = pattern.partition("/")
        star = star or pattern == ALL
        if not slash:
            plain_last = pattern != ALL
            continue
        errors += _covered(pattern, resource, subresource, whole, everywhere, path.index(i))
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
    pattern: str,
    resource: str,
    subresource: str,
    whole: Iterable[str],
    everywhere: Iterable[str],
    path: FieldPath,
) -> list[FieldError]:
    errors = []
    if resource in whole:
        text = f"if '{resource}/*' is present, must not specify {pattern}"
        errors.append(fieldpath.invalid(path, pattern, text))
    if subresource in everywhere:
        text = f"if '*/{subresource}' is present, must not specify {pattern}"
        errors.append(fieldpath.invalid(path, pattern, text))
    return errors


def validate_label_selector(
    selector: JsonObject, path: FieldPath, *, strict: bool = True
) -> list[FieldError]:
    """Validate as k8s.io/apimachinery `pkg/apis/meta/v1/validation`. The values of expressions are
    checked only when `strict`."""
    errors = _match_labels(selector.get("matchLabels", {}), path.child("matchLabels"))
    for i, requirement in enumerate(selector.get("matchExpressions", ())):
        field_path = path.child("matchExpressions").index(i)
        errors += _requirement(requirement, field_path, strict=strict)
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
    values_path = path.child("values")
    if operator in {"In", "NotIn"}:
        if not values:
            errors.append(
                fieldpath.required(
                    values_path, "must be specified when `operator` is 'In' or 'NotIn'"
                )
            )
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(fieldpath.forbidden(values_path, detail))
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
            fieldpath.invalid(values_path.index(i), value, message)
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
    """Validate metadata in upstream's order; the document has been decoded, so its values are of
    the right types."""
    return list(kube_validation.validate_object_meta(meta, NAMING))


def validate_meta_update(meta: JsonObject, old: JsonObject) -> list[FieldError]:
    """Validate the metadata of an update; both are decoded, with the fields of a stored object that
    a client cannot touch carried over. Where objects have no versions, nobody can say which one is
    meant."""
    versioned = bool(old.get("resourceVersion"))
    return list(kube_validation.validate_meta_of_update(meta, old, unconditional=not versioned))


# --- Condition validation ----------------------------------------------------
#
# Validation of match conditions, which policies and webhooks share.
#
# Expression errors of a condition come before those of its name.

Compile = Callable[[str], Expression]
"""A trimmed text to its compiled form, in the environment that suits it."""


def validate_match_conditions(
    conditions: Sequence[registration_types.MatchCondition],
    path: FieldPath,
    compile_condition: Compile,
) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(conditions) > policy_limits.MATCH_CONDITIONS:
        errors.append(fieldpath.too_many(path, len(conditions), policy_limits.MATCH_CONDITIONS))
    seen: set[str] = set()
    for i, condition in enumerate(conditions):
        expression = path.index(i).child("expression")
        text = trim_space(condition.expression)
        if not text:
            errors.append(fieldpath.required(expression))
        else:
            shift = condition.expression.find(text)
            errors += expression_errors(compile_condition(text).error, text, expression, shift)
        name = path.index(i).child("name")
        if not condition.name:
            errors.append(fieldpath.required(name))
            continue
        messages = name_rules.qualified_name(condition.name)
        errors += [fieldpath.invalid(name, condition.name, message) for message in messages]
        if condition.name in seen:
            errors.append(fieldpath.duplicate(name, condition.name))
        seen.add(condition.name)
    return errors


def expression_errors(
    error: ExpressionError | None, text: str, path: FieldPath, shift: int = 0
) -> list[FieldError]:
    """Return what is said about an expression that does not compile; `text` is what is shown of it,
    and `shift` how much white space of the field was left out before it was compiled."""
    if error is None:
        return []
    if error.internal:
        return [fieldpath.internal(path, error.detail)]
    issues = tuple(_moved(issue, shift) for issue in error.issues)
    return [replace(fieldpath.invalid(path, text, error.detail), issues=issues)]


def _moved(issue: Issue, shift: int) -> Issue:
    return issue if issue.offset is None else issue._replace(offset=issue.offset + shift)


# --- Policy parts ------------------------------------------------------------
#
# Validation of what validating and mutating policies share: all but what they do about a
# request.
#
# `validate_policy_parts` gives the complaints in upstream's order: failure policy, param kind,
# match constraints, match conditions, variables. As k8s.io/kubernetes
# `pkg/apis/admissionregistration/validation`.

FAILURE_POLICIES: Final = ("Fail", "Ignore")
SPEC: Final = FieldPath("spec")

AnySpec = registration_types.PolicySpec | registration_types.MutatingPolicySpec
CheckConstraints = Callable[[registration_types.MatchResources, FieldPath], list[FieldError]]


def validate_failure_policy(value: str | None, path: FieldPath) -> list[FieldError]:
    if value is None:
        return [fieldpath.required(path)]
    if value not in FAILURE_POLICIES:
        return [fieldpath.not_supported(path, fieldpath.NamedText(value), FAILURE_POLICIES)]
    return []


def validate_policy_parts(
    spec: AnySpec,
    old: AnySpec | None,
    scope: PolicyScope,
    stored_variables: Collection[str],
    check_constraints: CheckConstraints = lambda constraints, path: [],
) -> list[FieldError]:
    """Validate what policies have in common. Variables are declared in `scope` on the way.
    `stored_variables` are texts that may use what this version has, `check_constraints` adds to
    what is said about the constraints."""
    errors = validate_failure_policy(spec.failure_policy, SPEC.child("failurePolicy"))
    if spec.param_kind is not None:
        errors += _param_kind(spec.param_kind, SPEC.child("paramKind"))
    path = SPEC.child("matchConstraints")
    if spec.match_constraints is None:
        errors.append(fieldpath.required(path))
    else:
        errors += validate_match_resources(spec.match_constraints, path)
        if not spec.match_constraints.resource_rules:
            errors.append(fieldpath.required(path.child("resourceRules")))
        errors += check_constraints(spec.match_constraints, path)
    if old is None or not _same_conditions(spec, old):
        match_conditions = (
            frozenset(c.expression for c in old.match_conditions) if old else frozenset()
        )
        errors += validate_match_conditions(
            spec.match_conditions,
            SPEC.child("matchConditions"),
            lambda text: scope.condition(text, stored=text in match_conditions),
        )
    for i, variable in enumerate(spec.variables):
        stored = variable.expression in stored_variables
        errors += _variable(variable, SPEC.child("variables").index(i), scope, stored=stored)
    return errors


def _same_conditions(spec: AnySpec, old: AnySpec) -> bool:
    return spec.param_kind == old.param_kind and spec.match_conditions == old.match_conditions


def _param_kind(kind: registration_types.ParamKind, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    version_path = path.child("apiVersion")
    if not kind.api_version:
        errors.append(fieldpath.required(version_path))
    else:
        errors += _api_version(kind.api_version, version_path)
    if not kind.kind:
        errors.append(fieldpath.required(path.child("kind")))
    else:
        messages = name_rules.dns1035_label(kind.kind.lower())
        if messages:
            detail = "may have mixed case, but should otherwise match: " + ",".join(messages)
            errors.append(fieldpath.invalid(path.child("kind"), kind.kind, detail))
    return errors


def _api_version(text: str, path: FieldPath) -> list[FieldError]:
    try:
        group, version = parse_api_version(text)
    except ApiVersionError as error:
        return [fieldpath.invalid(path, text, str(error))]
    errors = []
    if group and (messages := name_rules.dns1123_subdomain(group)):
        errors.append(fieldpath.invalid(path, group, ",".join(messages)))
    if not version:
        errors.append(fieldpath.invalid(path, text, "version must be specified"))
    elif messages := name_rules.dns1035_label(version):
        errors.append(fieldpath.invalid(path, version, ",".join(messages)))
    return errors


def _variable(
    variable: registration_types.Variable, path: FieldPath, scope: PolicyScope, *, stored: bool
) -> list[FieldError]:
    errors: list[FieldError] = []
    name = path.child("name")
    if not trim_space(variable.name):
        errors.append(fieldpath.required(name, "name is not specified"))
    elif not name_rules.is_cel_identifier(variable.name):
        errors.append(fieldpath.invalid(name, variable.name, _NO_IDENTIFIER.text))
    expression = path.child("expression")
    if not trim_space(variable.expression):
        errors.append(fieldpath.required(expression, "expression is not specified"))
    else:
        error = scope.declare(variable.name, variable.expression, stored=stored).error
        errors += expression_errors(error, variable.expression, expression)
    return errors


REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")

_EMPTY: Final = registration_types.PolicySpec()


@dataclass(frozen=True, slots=True)
class _StoredExpressions:
    """Expressions of the old object, by kind: they may use whatever this version has."""

    validations: frozenset[str]
    messages: frozenset[str]
    annotations: frozenset[str]

    @staticmethod
    def of(spec: registration_types.PolicySpec) -> _StoredExpressions:
        return _StoredExpressions(
            frozenset(v.expression for v in spec.validations),
            frozenset(v.message_expression for v in spec.validations),
            frozenset(a.value_expression for a in spec.audit_annotations),
        )


def validate_policy(
    policy: registration_types.ValidatingAdmissionPolicy,
    old: registration_types.ValidatingAdmissionPolicy | None = None,
    version: str | None = None,
) -> list[FieldError]:
    """Validate a defaulted policy; `old` is the stored object on update. Old validations are the
    only texts that make a variable an old expression."""
    spec = policy.spec
    old_expressions = _StoredExpressions.of(_EMPTY if old is None else old.spec)
    scope = PolicyScope(
        version or current_release(),
        has_params=spec.param_kind is not None,
        has_variables=bool(spec.variables),
        runs=False,
    )
    errors = validate_object_meta(policy.metadata)
    errors += validate_policy_parts(
        spec, None if old is None else old.spec, scope, old_expressions.validations
    )
    return errors + _outcomes(policy, scope, old_expressions)


def _outcomes(
    policy: registration_types.ValidatingAdmissionPolicy,
    scope: PolicyScope,
    old_expressions: _StoredExpressions,
) -> list[FieldError]:
    """Check validations and audit annotations: at least one of either has to be there."""
    spec = policy.spec
    validations, annotations = SPEC.child("validations"), SPEC.child("auditAnnotations")
    if not spec.validations and not spec.audit_annotations:
        detail = "validations or auditAnnotations must contain at least one item"
        return [fieldpath.required(validations, detail), fieldpath.required(annotations, detail)]
    errors: list[FieldError] = []
    for i, validation in enumerate(spec.validations):
        errors += _validation(validation, validations.index(i), scope, old_expressions)
    if len(spec.audit_annotations) > policy_limits.AUDIT_ANNOTATIONS:
        value = [
            {"Key": a.key, "ValueExpression": a.value_expression} for a in spec.audit_annotations
        ]
        detail = f"must not have more than {policy_limits.AUDIT_ANNOTATIONS} auditAnnotations"
        go_value = GoValue(value, "[]admissionregistration.AuditAnnotation")
        errors.append(fieldpath.invalid(annotations, go_value, detail))
    seen: set[str] = set()
    for i, annotation in enumerate(spec.audit_annotations):
        path = annotations.index(i)
        errors += _audit_annotation(policy.name, annotation, path, scope, old_expressions)
        if annotation.key in seen:
            errors.append(fieldpath.duplicate(path.child("key"), annotation.key))
        seen.add(annotation.key)
    return errors


_NO_IDENTIFIER: Final = wording(
    "must be a valid CEL identifier", v1_34="name is not a valid CEL identifier"
)


def _validation(
    validation: registration_types.Validation,
    path: FieldPath,
    scope: PolicyScope,
    old_expressions: _StoredExpressions,
) -> list[FieldError]:
    errors: list[FieldError] = []
    text, message_text = validation.expression, validation.message_expression
    if not trim_space(text):
        errors.append(fieldpath.required(path.child("expression"), "expression is not specified"))
    else:
        compiled = scope.compile(text, BOOL_RESULT, stored=text in old_expressions.validations)
        errors += expression_errors(compiled.error, text, path.child("expression"))
    blank = "must be non-empty if specified"
    if message_text and not trim_space(message_text):
        errors.append(fieldpath.invalid(path.child("messageExpression"), message_text, blank))
    elif message_text:
        stored = message_text in old_expressions.messages
        compiled = scope.compile(message_text, MESSAGE_RESULT, authorizer=False, stored=stored)
        errors += expression_errors(compiled.error, message_text, path.child("messageExpression"))
    message = trim_space(validation.message)
    if validation.message and not message:
        blank = MESSAGE_BLANK.text
        errors.append(fieldpath.invalid(path.child("message"), validation.message, blank))
    elif "\n" in message or "\r" in message:
        detail = MESSAGE_BROKEN.text
        errors.append(fieldpath.invalid(path.child("message"), validation.message, detail))
    if validation.reason is not None and validation.reason not in REASONS:
        errors.append(
            fieldpath.not_supported(
                path.child("reason"), fieldpath.NamedText(validation.reason), REASONS
            )
        )
    return errors


def _audit_annotation(
    policy_name: str,
    annotation: registration_types.AuditAnnotation,
    path: FieldPath,
    scope: PolicyScope,
    old_expressions: _StoredExpressions,
) -> list[FieldError]:
    errors: list[FieldError] = []
    key = path.child("key")
    if not policy_name:
        errors.append(fieldpath.invalid(key, annotation.key, "requires metadata.name be non-empty"))
    else:
        full = f"{policy_name}/{annotation.key}"
        errors += [
            fieldpath.invalid(key, full, message) for message in name_rules.qualified_name(full)
        ]
    source = annotation.value_expression
    text, value = trim_space(source), path.child("valueExpression")
    if not text:
        errors.append(fieldpath.required(value, "valueExpression is not specified"))
    elif len(text.encode("utf-8", "surrogatepass")) > policy_limits.VALUE_EXPRESSION_BYTES:
        detail = f"must not exceed {policy_limits.VALUE_EXPRESSION_BYTES} bytes in length"
        errors.append(fieldpath.required(value, detail))
    else:
        compiled = scope.compile(
            text, ANNOTATION_RESULT, stored=source in old_expressions.annotations
        )
        errors += expression_errors(compiled.error, source, value, source.find(text))
    return errors


# --- Mutating policy ---------------------------------------------------------
#
# API validation of mutating policies: what they share with validating ones, and their
# mutations.
#
# On update, old texts of apply configurations are what makes an expression an old one, for JSON
# patches too, and no variable is one: both as upstream.

PATCH_TYPES: Final = (registration_types.APPLY_CONFIGURATION, registration_types.JSON_PATCH)
REINVOCATION_POLICIES: Final = ("IfNeeded", "Never")

_RESULTS: Final = {
    registration_types.APPLY_CONFIGURATION: (types.object_type("Object"),),
    registration_types.JSON_PATCH: (types.list_of(types.object_type("JSONPatch")),),
}
_MEMBERS: Final = {
    registration_types.APPLY_CONFIGURATION: "applyConfiguration",
    registration_types.JSON_PATCH: "jsonPatch",
}


def validate_mutating_policy(
    policy: registration_types.MutatingAdmissionPolicy,
    old: registration_types.MutatingAdmissionPolicy | None = None,
    version: str | None = None,
) -> list[FieldError]:
    """Validate a defaulted policy; `old` is the stored object on update."""
    spec = policy.spec
    scope = PolicyScope(
        version or current_release(),
        has_params=spec.param_kind is not None,
        has_variables=True,
        owner=policy.name,
        runs=False,
    )
    errors = validate_object_meta(policy.metadata)
    old_spec = None if old is None else old.spec
    errors += validate_policy_parts(spec, old_spec, scope, (), validate_mutating_operations)
    mutations = SPEC.child("mutations")
    if not spec.mutations:
        errors.append(fieldpath.required(mutations, "mutations must contain at least one item"))
    stored = frozenset(m.apply_configuration for m in old.spec.mutations) if old else frozenset()
    for i, mutation in enumerate(spec.mutations):
        errors += _mutation(mutation, mutations.index(i), scope, stored)
    path = SPEC.child("reinvocationPolicy")
    if not spec.reinvocation_policy:
        errors.append(fieldpath.required(path))
    elif spec.reinvocation_policy not in REINVOCATION_POLICIES:
        value = fieldpath.NamedText(spec.reinvocation_policy)
        errors.append(fieldpath.not_supported(path, value, REINVOCATION_POLICIES))
    return errors


def _mutation(
    mutation: registration_types.Mutation,
    path: FieldPath,
    scope: PolicyScope,
    stored: frozenset[str | None],
) -> list[FieldError]:
    """Check a union: the member that the patch type names is there, and no other."""
    chosen = mutation.patch_type
    if not chosen:
        return [fieldpath.required(path.child("patchType"))]
    if chosen not in PATCH_TYPES:
        value = fieldpath.NamedText(chosen)
        return [fieldpath.not_supported(path.child("patchType"), value, PATCH_TYPES)]
    data = {
        registration_types.APPLY_CONFIGURATION: mutation.apply_configuration,
        registration_types.JSON_PATCH: mutation.json_patch,
    }
    expression = data.pop(chosen)
    member = path.child(_MEMBERS[chosen])
    if expression is None:
        errors = [fieldpath.required(member, f"must be specified when patchType is {chosen}")]
    else:
        errors = _patch(expression, member.child("expression"), chosen, scope, stored)
    for other, source in data.items():
        if source is not None:
            name = _MEMBERS[other]
            detail = f"must not be specified when patchType is {chosen}"
            errors.append(fieldpath.invalid(path.child(name), f"{{{name}}}", detail))
    return errors


def _patch(
    expression: str, path: FieldPath, chosen: str, scope: PolicyScope, stored: frozenset[str | None]
) -> list[FieldError]:
    text = trim_space(expression)
    if not text:
        return [fieldpath.required(path)]
    compiled = scope.mutation(text, _RESULTS[chosen], stored=text in stored, source=Source(path))
    return expression_errors(compiled.error, text, path, expression.find(text))


# --- Binding validation ------------------------------------------------------
#
# API validation of bindings, the same on create and update.
#
# Those of mutating policies have no validation actions and may not match deletions.

VALIDATION_ACTIONS: Final = (
    registration_types.AUDIT,
    registration_types.DENY,
    registration_types.WARN,
)
NOT_FOUND_ACTIONS: Final = (
    registration_types.DENY,
    registration_types.ALLOW,
)  # upstream prints these unsorted


def validate_binding(binding: registration_types.Binding) -> list[FieldError]:
    """Validate a defaulted binding of either kind."""
    spec = binding.spec
    errors = validate_object_meta(binding.metadata)
    name = SPEC.child("policyName")
    if not spec.policy_name:
        errors.append(fieldpath.required(name))
    else:
        messages = name_rules.dns1123_subdomain(spec.policy_name)
        errors += [fieldpath.invalid(name, spec.policy_name, message) for message in messages]
    if spec.param_ref is not None:
        errors += _param_ref(spec.param_ref, SPEC.child("paramRef"))
    mutating = binding.__class__ is registration_types.MutatingAdmissionPolicyBinding
    if spec.match_resources is not None:
        path = SPEC.child("matchResources" if mutating else _MATCH_RESOURCES.text)
        errors += validate_match_resources(spec.match_resources, path)
        if mutating:
            errors += validate_mutating_operations(spec.match_resources, path)
    return errors if mutating else errors + _validation_actions(spec)


_MATCH_RESOURCES: Final = wording("matchResources", v1_32="matchResouces")


def _param_ref(ref: registration_types.ParamRef, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    exclusive = "name and selector are mutually exclusive"
    if ref.name:
        name = path.child("name")
        errors += [
            fieldpath.invalid(name, ref.name, message)
            for message in name_rules.path_segment_name(ref.name)
        ]
        if ref.selector is not None:
            errors.append(fieldpath.forbidden(name, exclusive))
    if ref.selector is not None:
        selector = path.child("selector")
        errors += validate_label_selector(ref.selector, selector)
        if ref.name:
            errors.append(fieldpath.forbidden(selector, exclusive))
    if not ref.name and ref.selector is None:
        errors.append(fieldpath.required(path, "one of name or selector must be specified"))
    action = ref.parameter_not_found_action
    if not action:
        errors.append(fieldpath.required(path.child("parameterNotFoundAction")))
    elif action not in NOT_FOUND_ACTIONS:
        parameter_not_found_action_path = path.child("parameterNotFoundAction")
        errors.append(
            fieldpath.not_supported(
                parameter_not_found_action_path, fieldpath.NamedText(action), NOT_FOUND_ACTIONS
            )
        )
    return errors


def _validation_actions(spec: registration_types.BindingSpec) -> list[FieldError]:
    path = SPEC.child("validationActions")
    actions = spec.validation_actions
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, action in enumerate(actions):
        if action not in VALIDATION_ACTIONS:
            errors.append(
                fieldpath.not_supported(
                    path.index(i), fieldpath.NamedText(action), VALIDATION_ACTIONS
                )
            )
        if action in seen:
            errors.append(fieldpath.duplicate(path.index(i), fieldpath.NamedText(action)))
        seen.add(action)
    if registration_types.DENY in seen and registration_types.WARN in seen:
        detail = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        go_value = GoValue(list(actions), "[]admissionregistration.ValidationAction")
        errors.append(fieldpath.invalid(path, go_value, detail))
    if not actions:
        errors.append(fieldpath.required(path, "at least one validation action is required"))
    return errors
