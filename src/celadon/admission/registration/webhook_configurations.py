"""API validation of webhook configurations.

A few rules are younger than the API: on update, an object that broke one of them before may go on
breaking it. `_Demands` says which of them a write has to keep. As k8s.io/kubernetes
`pkg/apis/admissionregistration/validation` (`ValidateValidatingWebhookConfigurationUpdate`, …).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from celadon.admission.expressions.compiled_expressions import (
    BOOL_RESULT,
    base_environment,
    compile_expression,
)
from celadon.admission.registration.match_rules import (
    MATCH_POLICIES,
    validate_label_selector,
    validate_object_meta,
    validate_rule,
)
from celadon.admission.registration.policy_validation import (
    FAILURE_POLICIES,
    REINVOCATION_POLICIES,
    validate_match_conditions,
)
from celadon.admission.registration.registration_types import (
    ServiceReference,
    Webhook,
    WebhookClientConfig,
    WebhookConfiguration,
)
from celadon.kube import FieldError, FieldPath, fieldpath, name_rules
from celadon.kube.library import previous_minor
from celadon.kube.releases import current_release
from celadon.kube.validation import webhook_service_errors, webhook_url_errors
from celadon.records import dataclass

# --- Client config -----------------------------------------------------------
#
# Validation of where a webhook is: a URL or a service.


def validate_client_config(config: WebhookClientConfig, path: FieldPath) -> list[FieldError]:
    if (config.url is None) == (config.service is None):
        return [fieldpath.required(path, "exactly one of url or service is required")]
    if config.url is not None:
        return webhook_url_errors(config.url, path.child("url"))
    assert config.service is not None
    return webhook_service_errors(_as_json(config.service), path.child("service"))


def _as_json(service: ServiceReference) -> dict[str, str | int | None]:
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
    """What is asked of a new object, less what the old one did not keep either."""

    no_side_effects: bool = True
    known_review_version: bool = True
    unique_names: bool = True
    label_values: bool = True
    match_conditions: bool = True
    stored_expressions: frozenset[str] = frozenset()


def _demands(new: Sequence[Webhook], old: Sequence[Webhook]) -> _Demands:
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
    configuration: WebhookConfiguration,
    old: WebhookConfiguration | None = None,
    version: str | None = None,
) -> list[FieldError]:
    """A defaulted configuration; `old` is the stored object on update."""
    hooks, version = configuration.webhooks, version or current_release()
    demands = _Demands() if old is None else _demands(hooks, old.webhooks)
    errors = validate_object_meta(configuration.metadata)
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
    hook: Webhook, path: FieldPath, demands: _Demands, version: str, *, mutating: bool
) -> list[FieldError]:
    errors = _name(hook.name, path.child("name"))
    for i, rule in enumerate(hook.rules):
        errors += validate_rule(rule, path.child("rules").index(i))
    errors += _choice(hook.failure_policy, FAILURE_POLICIES, path.child("failurePolicy"))
    errors += _choice(hook.match_policy, MATCH_POLICIES, path.child("matchPolicy"))
    allowed = SIDE_EFFECTS if demands.no_side_effects else OLD_SIDE_EFFECTS
    if hook.side_effects is None:
        detail = f"must specify one of {', '.join(allowed)}"
        errors.append(fieldpath.required(path.child("sideEffects"), detail))
    errors += _choice(hook.side_effects, allowed, path.child("sideEffects"))
    if hook.timeout_seconds is not None and hook.timeout_seconds not in TIMEOUT_SECONDS:
        detail = "the timeout value must be between 1 and 30 seconds"
        at = path.child("timeoutSeconds")
        errors.append(fieldpath.invalid(at, hook.timeout_seconds, detail))
    errors += _selector_errors(hook, path, strict=demands.label_values)
    if mutating:
        at = path.child("reinvocationPolicy")
        errors += _choice(hook.reinvocation_policy, REINVOCATION_POLICIES, at)
    errors += validate_client_config(hook.client_config, path.child("clientConfig"))
    if demands.match_conditions:
        errors += _match_conditions(hook, path.child("matchConditions"), demands, version)
    return errors


def _name(name: str, path: FieldPath) -> list[FieldError]:
    """A fully qualified name; the first rule it breaks."""
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


def _selector_errors(hook: Webhook, path: FieldPath, *, strict: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if hook.namespace_selector is not None:
        at = path.child("namespaceSelector")
        errors += validate_label_selector(hook.namespace_selector, at, strict=strict)
    if hook.object_selector is not None:
        at = path.child("objectSelector")
        errors += validate_label_selector(hook.object_selector, at, strict=strict)
    return errors


def _match_conditions(
    hook: Webhook, path: FieldPath, demands: _Demands, version: str
) -> list[FieldError]:
    versions = {False: previous_minor(version), True: version}
    return validate_match_conditions(
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


def _has_known_version(hook: Webhook) -> bool:
    return any(version in REVIEW_VERSIONS for version in hook.admission_review_versions)


def _review_versions(hook: Webhook, path: FieldPath, *, known: bool) -> list[FieldError]:
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
