"""The strategies of the six kinds of registration objects: what is special about their writes.

The write path of `celadon.kube.registry` treats them like any other kind, with the rules of
`policy_validation` and `webhook_configurations` and, once those found nothing, the question whether
the writer may read the params. As k8s.io/kubernetes
`pkg/registry/admissionregistration/*/strategy.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from celadon.admission.compiled_expressions import BOOL_RESULT, base_environment, compile_expression
from celadon.admission.registration import policy_validation, registration_types
from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.decoding import BY_KIND, KINDS
from celadon.kube import (
    MASTERS,
    Answer,
    ApiVersionError,
    Attributes,
    FieldError,
    FieldPath,
    GroupKind,
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    Ruling,
    User,
    fieldpath,
    metadata,
    name_rules,
    parse_api_version,
)
from celadon.kube.go import quote, trim_space
from celadon.kube.library import previous_minor
from celadon.kube.registry import Strategy, Surroundings
from celadon.kube.releases import current_release, is_since
from celadon.kube.resources import Catalog
from celadon.kube.validation import conditions, webhook_service_errors, webhook_url_errors
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass, replace

# --- Configurations of webhooks ----------------------------------------------
#
# API validation of webhook configurations.
#
# A few rules are younger than the API: on update, an object that broke one of them before may go
# on breaking it. `_Demands` says which of them a write has to keep. As k8s.io/kubernetes
# `pkg/apis/admissionregistration/validation` (`ValidateValidatingWebhookConfigurationUpdate`, …).

# --- Client config -----------------------------------------------------------
#
# Validation of where a webhook is: a URL or a service.


def validate_client_config(
    config: registration_types.WebhookClientConfig, path: FieldPath
) -> list[FieldError]:
    if (config.url is None) == (config.service is None):
        return [fieldpath.required(path, "exactly one of url or service is required")]
    if config.url is not None:
        return webhook_url_errors(config.url, path.child("url"))
    assert config.service is not None
    return webhook_service_errors(_as_json(config.service), path.child("service"))


def _as_json(service: registration_types.ServiceReference) -> dict[str, str | int | None]:
    return {
        "name": service.name,
        "namespace": service.namespace,
        "path": service.path,
        "port": service.port,
    }


SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
OLD_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun", "Some", "Unknown")
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
TIMEOUT_SECONDS: Final = range(1, 31)
NAME_SEGMENTS: Final = 3

_WEBHOOKS: Final = FieldPath("webhooks")


@dataclass(frozen=True, slots=True)
class _Demands:
    """Holds what is asked of a new object, less what the old one did not keep either."""

    no_side_effects: bool = True
    known_review_version: bool = True
    unique_names: bool = True
    label_values: bool = True
    match_conditions: bool = True
    stored_expressions: frozenset[str] = frozenset()


def _demands(
    new: Sequence[registration_types.Webhook], old: Sequence[registration_types.Webhook]
) -> _Demands:
    conditions = tuple(hook.match_conditions for hook in old)
    return _Demands(
        no_side_effects=all(hook.side_effects in SIDE_EFFECTS for hook in old),
        known_review_version=all(
            _has_known_version(hook) for hook in old if hook.admission_review_versions
        ),
        unique_names=len({hook.name for hook in old}) == len(old),
        label_values=not any(_selector_errors(hook, FieldPath(), strict=True) for hook in old),
        match_conditions=tuple(hook.match_conditions for hook in new) != conditions,
        stored_expressions=frozenset(c.expression for hook in conditions for c in hook),
    )


def validate_webhooks(
    configuration: registration_types.WebhookConfiguration,
    old: registration_types.WebhookConfiguration | None = None,
    version: str | None = None,
) -> list[FieldError]:
    """Validate a defaulted configuration; `old` is the stored object on update."""
    hooks, version = configuration.webhooks, version or current_release()
    demands = _Demands() if old is None else _demands(hooks, old.webhooks)
    errors = policy_validation.validate_object_meta(configuration.metadata)
    seen: set[str] = set()
    for i, hook in enumerate(hooks):
        path = _WEBHOOKS.index(i)
        errors += _webhook(hook, path, demands, version, mutating=configuration.mutating)
        versions = path.child("admissionReviewVersions")
        errors += _review_versions(hook, versions, known=demands.known_review_version)
        if demands.unique_names and hook.name:
            if hook.name in seen:
                errors.append(fieldpath.duplicate(path.child("name"), hook.name))
            seen.add(hook.name)
    return errors


def _webhook(
    hook: registration_types.Webhook,
    path: FieldPath,
    demands: _Demands,
    version: str,
    *,
    mutating: bool,
) -> list[FieldError]:
    errors = _name(hook.name, path.child("name"))
    for i, rule in enumerate(hook.rules):
        errors += policy_validation.validate_rule(rule, path.child("rules").index(i))
    errors += _choice(
        hook.failure_policy, policy_validation.FAILURE_POLICIES, path.child("failurePolicy")
    )
    errors += _choice(
        hook.match_policy, policy_validation.MATCH_POLICIES, path.child("matchPolicy")
    )
    allowed = SIDE_EFFECTS if demands.no_side_effects else OLD_SIDE_EFFECTS
    if hook.side_effects is None:
        detail = f"must specify one of {', '.join(allowed)}"
        errors.append(fieldpath.required(path.child("sideEffects"), detail))
    errors += _choice(hook.side_effects, allowed, path.child("sideEffects"))
    if hook.timeout_seconds is not None and hook.timeout_seconds not in TIMEOUT_SECONDS:
        detail = "the timeout value must be between 1 and 30 seconds"
        timeout_seconds_path = path.child("timeoutSeconds")
        errors.append(fieldpath.invalid(timeout_seconds_path, hook.timeout_seconds, detail))
    errors += _selector_errors(hook, path, strict=demands.label_values)
    if mutating:
        timeout_seconds_path = path.child("reinvocationPolicy")
        errors += _choice(
            hook.reinvocation_policy, policy_validation.REINVOCATION_POLICIES, timeout_seconds_path
        )
    errors += validate_client_config(hook.client_config, path.child("clientConfig"))
    if demands.match_conditions:
        errors += _match_conditions(hook, path.child("matchConditions"), demands, version)
    return errors


def _name(name: str, path: FieldPath) -> list[FieldError]:
    """Check a fully qualified name; return the first rule that it breaks."""
    if not name:
        return [fieldpath.required(path)]
    if messages := name_rules.dns1123_subdomain(name):
        return [fieldpath.invalid(path, name, ",".join(messages))]
    if len(name.split(".")) < NAME_SEGMENTS:
        detail = "should be a domain with at least three segments separated by dots"
        return [fieldpath.invalid(path, name, detail)]
    return []


def _choice(value: str | None, choices: Iterable[str], path: FieldPath) -> list[FieldError]:
    if value is None or value in choices:
        return []
    return [fieldpath.not_supported(path, fieldpath.NamedText(value), choices)]


def _selector_errors(
    hook: registration_types.Webhook, path: FieldPath, *, strict: bool
) -> list[FieldError]:
    errors: list[FieldError] = []
    if hook.namespace_selector is not None:
        namespace_selector_path = path.child("namespaceSelector")
        errors += policy_validation.validate_label_selector(
            hook.namespace_selector, namespace_selector_path, strict=strict
        )
    if hook.object_selector is not None:
        namespace_selector_path = path.child("objectSelector")
        errors += policy_validation.validate_label_selector(
            hook.object_selector, namespace_selector_path, strict=strict
        )
    return errors


def _match_conditions(
    hook: registration_types.Webhook, path: FieldPath, demands: _Demands, version: str
) -> list[FieldError]:
    versions = {False: previous_minor(version), True: version}
    return policy_validation.validate_match_conditions(
        hook.match_conditions,
        path,
        lambda text: compile_expression(
            base_environment(
                versions[text in demands.stored_expressions], has_params=False, authorizer=True
            ),
            text,
            BOOL_RESULT,
        ),
    )


def _has_known_version(hook: registration_types.Webhook) -> bool:
    return any(version in REVIEW_VERSIONS for version in hook.admission_review_versions)


def _review_versions(
    hook: registration_types.Webhook, path: FieldPath, *, known: bool
) -> list[FieldError]:
    listed = ", ".join(REVIEW_VERSIONS)
    versions = hook.admission_review_versions
    if not versions:
        return [fieldpath.required(path, f"must specify one of {listed}")]
    errors: list[FieldError] = []
    seen = set[str]()
    for i, version in enumerate(versions):
        if version in seen:
            errors.append(fieldpath.invalid(path.index(i), version, "duplicate version"))
            continue
        seen.add(version)
        messages = name_rules.dns1035_label(version)
        errors += [fieldpath.invalid(path.index(i), version, message) for message in messages]
    if known and not _has_known_version(hook):
        detail = f"must include at least one of {listed}"
        errors.append(fieldpath.invalid(path, list(versions), detail))
    return errors


# --- Kind validation ---------------------------------------------------------
#
# API validation of registration objects: which function answers for which kind, and when.
#
# `validate_create` and `validate_update` give every complaint about an object but its metadata
# as a server checks it for all kinds (`object_meta.validate_meta_update`). Read
# `policy_validation` first, with its parts and rules; then mutating policies,
# `bindings`, `webhooks`. As k8s.io/kubernetes `pkg/apis/admissionregistration/validation`.


def validate_create(
    obj: registration_types.RegistrationObject, version: str | None = None
) -> list[FieldError]:
    """Validate a defaulted object that is created; `version` is the release for which its
    expressions are compiled, if that is not the current one."""
    return _validate(obj, None, version or current_release())


def validate_update(
    obj: registration_types.RegistrationObject,
    old: registration_types.RegistrationObject,
    version: str | None = None,
) -> list[FieldError]:
    """Validate an object that is updated; `old` is the stored object, of the same kind."""
    return _validate(obj, old, version or current_release())


def _validate(
    obj: registration_types.RegistrationObject,
    old: registration_types.RegistrationObject | None,
    version: str,
) -> list[FieldError]:
    if isinstance(obj, registration_types.ValidatingAdmissionPolicy):
        assert old is None or isinstance(old, registration_types.ValidatingAdmissionPolicy)
        return policy_validation.validate_policy(obj, old, version)
    if isinstance(obj, registration_types.MutatingAdmissionPolicy):
        assert old is None or isinstance(old, registration_types.MutatingAdmissionPolicy)
        return policy_validation.validate_mutating_policy(obj, old, version)
    if isinstance(obj, registration_types.WebhookConfiguration):
        assert old is None or isinstance(old, registration_types.WebhookConfiguration)
        return validate_webhooks(obj, old, version)
    return policy_validation.validate_binding(obj)


# --- Param access ------------------------------------------------------------
#
# May whoever writes a policy or binding read the params it refers to?
#
# Asked on create and update, when ordinary validation found nothing. A refusal is a field
# error, so the client sees 422, not 403. As k8s.io/kubernetes
# `pkg/registry/admissionregistration/{validatingadmissionpolicy,validatingadmissionpolicybinding}`.

ALL: Final = "*"
_PARAM_KIND: Final = FieldPath("spec", "paramKind")
_PARAM_REF: Final = FieldPath("spec", "paramRef")
_EVERYTHING: Final = "permission for all groups, versions and resources"

Authorize = Callable[[Attributes], Answer]


@dataclass(frozen=True, slots=True)
class _Resolved:
    """Holds what to ask about; `*` for what is unknown, and why it is."""

    group: str = ALL
    version: str = ALL
    resource: str = ALL
    parsed: bool = False
    is_known: bool = False


def _resolve(kind: registration_types.ParamKind, catalog: Catalog) -> _Resolved:
    try:
        group, version = parse_api_version(kind.api_version)
    except ApiVersionError:
        return _Resolved()
    resource = catalog.by_gvk(GroupVersionKind(group, version, kind.kind))
    if resource is None or not resource.served:
        return _Resolved(group, version, parsed=True)
    return _Resolved(group, version, resource.gvr.resource, parsed=True, is_known=True)


def check_policy(
    policy: registration_types.Policy,
    old: registration_types.Policy | None,
    user: User,
    catalog: Catalog,
    authorize: Authorize,
) -> list[FieldError]:
    """Check a policy against what exists. An update is checked only when it changes `paramKind`."""
    kind = policy.spec.param_kind
    if kind is None or MASTERS in user.groups:
        return []
    if old is not None and old.spec.param_kind == kind:
        return []
    target = _resolve(kind, catalog)
    if _allowed(user, "get", target, ALL, ALL, authorize):
        return []
    detail = (
        f'user {user_text(user)} must have "get" permission on all objects of the referenced '
        f"paramKind (kind={kind.kind}, apiVersion={kind.api_version})"
    )
    return [fieldpath.forbidden(_PARAM_KIND, detail)]


def check_binding(
    binding: registration_types.Binding,
    policy: registration_types.Policy | None,
    user: User,
    catalog: Catalog,
    authorize: Authorize,
) -> list[FieldError]:
    """`policy` is the one the binding names, if it exists. Every update is checked again: upstream
    compares pointers to tell whether `paramRef` changed."""
    ref = binding.spec.param_ref
    if ref is None or MASTERS in user.groups:
        return []
    kind = None if policy is None else policy.spec.param_kind
    target = _Resolved() if kind is None else _resolve(kind, catalog)
    verb = "get" if ref.name else "list"
    if _allowed(user, verb, target, ref.namespace, ref.name, authorize):
        return []
    lacks = f'user {user_text(user)} does not have "{verb}"'
    lacks_object = lacks
    swapped = isinstance(
        binding, registration_types.MutatingAdmissionPolicyBinding
    ) or not is_since("1.31")
    if swapped:  # upstream swaps the two, and did so for all bindings before 1.31
        lacks_object = f'user {verb} does not have "{user_text(user)}"'
    detail = _refusal(binding.spec.policy_name, policy, kind, target, lacks)
    detail = detail or f"{lacks_object} permission on the object referenced by paramRef"
    return [fieldpath.forbidden(_PARAM_REF, detail)]


def _allowed(
    user: User, verb: str, target: _Resolved, namespace: str, name: str, authorize: Authorize
) -> bool:
    attributes = Attributes(
        user,
        verb,
        resource_request=True,
        group=target.group,
        version=target.version,
        resource=target.resource,
        namespace=namespace,
        name=name,
    )
    return authorize(attributes)[0] is Ruling.ALLOW


def user_text(user: User) -> str:
    """Go's `%v` of a user: `&{alice  [system:authenticated] map[]}`."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"


def _refusal(
    name: str,
    policy: registration_types.Policy | None,
    kind: registration_types.ParamKind | None,
    target: _Resolved,
    lacks: str,
) -> str:
    """Return why everything had to be asked about; empty when it had not."""
    if not is_since("1.32"):
        return ""
    printed_kind = "" if kind is None else f"&{{{kind.api_version} {kind.kind}}}"
    if policy is None:
        return (
            f"unable to get policy {name} to determine minimum required permissions and {lacks} "
            f"{_EVERYTHING}"
        )
    if kind is not None and not target.parsed:
        return (
            f"unable to parse paramKind {printed_kind} to determine minimum required permissions "
            f"and {lacks} {_EVERYTHING}"
        )
    if kind is not None and not target.is_known:
        return (
            f"unable to resolve paramKind {printed_kind} to determine minimum required permissions "
            f"and {lacks} {_EVERYTHING}"
        )
    return ""


# --- Policy status -----------------------------------------------------------
#
# Validation of the status of a validating policy, the only part that its `/status` can change.

_PATH: Final = FieldPath("status")


def validate_status(policy_status: JsonObject) -> list[FieldError]:
    """Validate the status: the warnings of the type check, then conditions."""
    errors: list[FieldError] = []
    warnings = (policy_status.get("typeChecking") or {}).get("expressionWarnings", ())
    for i, warning in enumerate(warnings):
        path = _PATH.child("typeChecking", "expressionWarnings").index(i)
        errors += _expression_warning(warning, path)
    return [*errors, *conditions(_PATH, policy_status)]


def _expression_warning(warning: JsonObject, path: FieldPath) -> list[FieldError]:
    errors = []
    if not warning["warning"]:
        errors.append(fieldpath.required(path.child("warning")))
    reference = warning["fieldRef"]
    if not trim_space(reference):
        errors.append(fieldpath.required(path.child("fieldRef")))
        return errors
    # late: only a status refers to fields.
    from celadon.kube.jsonpath import JSONPathError, parse_jsonpath

    try:
        parse_jsonpath(f"{{{reference}}}")
    except JSONPathError as error:
        detail = f"invalid JSONPath: {error}"
        errors.append(fieldpath.invalid(path.child("fieldRef"), reference, detail))
    return errors


# --- Reserved names ----------------------------------------------------------
#
# Names that the API does not give away: those of policies and webhooks from files of the
# server.
#
# What may be in such files is in `celadon.admission.static_manifests`. As k8s.io/kubernetes
# `pkg/apis/admissionregistration/validation/static_suffix.go`.

GATE: Final = "ManifestBasedAdmissionControlConfig"
"""The feature gate, alpha in 1.36: with it there can be files, and the names are refused."""

STATIC_SUFFIX: Final = ".static.k8s.io"
"""How names of policies and webhooks end that a server has from its own files."""

RESERVED: Final = (
    f"names ending with {quote(STATIC_SUFFIX)} are reserved for static manifest-based "
    "configurations and cannot be managed via the API"
)
"""What a client is told who gives such a name to an object."""

_NAME: Final = FieldPath("metadata", "name")


def typed(document: JsonObject) -> registration.RegistrationObject:
    """Return the typed form of a document that has been decoded."""
    return BY_KIND[document["kind"]].typed(document)


def create_errors(document: JsonObject, surroundings: Surroundings) -> list[FieldError]:
    """Return what is wrong with a new object as validating admission sees it."""
    errors = validate_create(typed(document))
    name = metadata.name(document)
    if surroundings.gates.get(GATE) and name.endswith(STATIC_SUFFIX):
        errors.append(fieldpath.invalid(_NAME, name, RESERVED))
    return errors or _access_errors(document, None, surroundings)


def update_errors(
    document: JsonObject, old: JsonObject, surroundings: Surroundings
) -> list[FieldError]:
    """Return what is wrong with a changed object, metadata first; `old` is the stored one."""
    errors = policy_validation.validate_meta_update(document["metadata"], old["metadata"])
    errors += validate_update(typed(document), typed(old))
    return errors or _access_errors(document, old, surroundings)


def status_errors(document: JsonObject, old: JsonObject, _: Surroundings) -> list[FieldError]:
    """Return what is wrong with a write to the status of a validating policy: its spec is not
    looked at."""
    errors = policy_validation.validate_meta_update(document["metadata"], old["metadata"])
    return errors + validate_status(document.get("status") or {})


def _access_errors(
    document: JsonObject, old: JsonObject | None, surroundings: Surroundings
) -> list[FieldError]:
    """Return whether the writer may read the params that the object refers to."""
    authorize = surroundings.authorize
    if authorize is None:
        return []
    value, before = typed(document), None if old is None else typed(old)
    user, catalog = surroundings.user, surroundings.resources
    if isinstance(value, registration.WebhookConfiguration):
        return []
    if isinstance(value, registration.Policy):
        assert before is None or isinstance(before, registration.Policy)
        return check_policy(value, before, user, catalog, authorize)
    kind = BY_KIND[document["kind"].removesuffix("Binding")]
    group, version, _ = metadata.gvk(document)
    resource = GroupVersionResource(group, version, kind.resource)
    stored = surroundings.lookups.get(resource, "", value.spec.policy_name)
    policy = None if stored is None else kind.typed(stored)
    assert policy is None or isinstance(policy, registration.Policy)
    return check_binding(value, policy, user, catalog, authorize)


def _warnings(document: JsonObject) -> list[str]:
    if not is_since("1.36") or not metadata.name(document).endswith(STATIC_SUFFIX):
        return []
    return [f"{_NAME}: {RESERVED}"]


_STRATEGY: Final = Strategy(
    create_errors, update_errors, status_errors, warnings=_warnings, needs_version=True
)
STRATEGIES: Final[Mapping[GroupKind, Strategy]] = {
    GroupKind(ADMISSION_REGISTRATION, registered.kind): replace(
        _STRATEGY, created_by_status=registered.kind == "ValidatingAdmissionPolicy"
    )
    for registered in KINDS
}
"""For the write path, by kind."""
