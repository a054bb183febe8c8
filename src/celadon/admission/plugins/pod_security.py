"""PodSecurity: pods keep to what the labels of their namespace ask for.

Pods are refused, or warned of and noted in the audit log; of objects that make pods the template is
warned of and noted. A namespace that becomes stricter is told which of its pods would no longer be
let in. As k8s.io/pod-security-admission `admission` and k8s.io/kubernetes
`plugin/pkg/admission/security/podsecurity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

from celadon.admission.cluster_lookups import World
from celadon.admission.plugins import pod_security_standards
from celadon.admission.plugins.plugin_interface import (
    FINE,
    PODS,
    Behaviour,
    Opinion,
    core,
    forbidden,
)
from celadon.admission.request import Operation, Request
from celadon.kube import FieldError, GroupResource, JsonObject, fieldpath, metadata, status
from celadon.kube.go import quote
from celadon.kube.well_known_values import POD_TEMPLATES
from celadon.kube.well_known_values import PODS as POD_RESOURCE
from celadon.records import dataclass

# --- Security settings -------------------------------------------------------
#
# What an operator tells PodSecurity; untold, nothing is exempt and a namespace is privileged.


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """Holds what namespaces without labels choose, and whom PodSecurity leaves alone."""

    defaults: pod_security_standards.SecurityPolicy = pod_security_standards.UNLABELLED
    usernames: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def exemption(self, request: Request) -> str:
        """Return by what a request is exempt; empty if it is not."""
        if request.namespace in self.namespaces:
            return "namespace"
        return "user" if request.user.name in self.usernames else ""

    def exempts(self, pod_spec: JsonObject) -> bool:
        """Return whether the pod is exempt by the way in which it is run."""
        return pod_spec.get("runtimeClassName") in self.runtime_classes

    def remark(self, namespace: str, policy: pod_security_standards.SecurityPolicy) -> str:
        """Return what to say about the labels of an exempt namespace; empty if they ask for
        nothing."""
        modes = {"enforce": policy.enforce, "audit": policy.audit, "warn": policy.warn}
        levels = [
            f"{mode}={version}"
            for mode, version in modes.items()
            if version.level != pod_security_standards.PRIVILEGED
        ]
        if not levels or policy == self.defaults:
            return ""
        return (
            f"namespace {quote(namespace)} is exempt from Pod Security, "
            f"and the policy ({', '.join(levels)}) will be ignored"
        )


def exempt_note(exemption: str) -> dict[str, str]:
    """Return what the audit event says of an exemption."""
    return {pod_security_standards.PREFIX + "exempt": exemption}


UNTOLD: Final = SecuritySettings()

MAX_PODS: Final = 3000
"""How many pods of a namespace are looked at when it becomes stricter."""

IGNORED: Final = frozenset(
    {"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"}
)
"""Subresources of pods that change nothing in the spec."""
_TEMPLATES: Final = {
    GroupResource(kind.group, f"{kind.kind.lower()}s"): path for kind, path in POD_TEMPLATES.items()
}
"""Where the resources that make pods say what they look like."""

_ANYTHING_GOES: Final = Opinion(
    audit_annotations={
        pod_security_standards.PREFIX + "enforce-policy": str(
            pod_security_standards.UNLABELLED.enforce
        )
    }
)


@dataclass(frozen=True, slots=True)
class _Rules:
    """Holds what pods are judged by. `newest` is the latest minor version of the standards that the
    server knows."""

    newest: int
    settings: SecuritySettings


def _exempt(exemption: str) -> Opinion:
    return Opinion(audit_annotations=exempt_note(exemption))


def _advise_pod(request: Request, world: World, rules: _Rules) -> Opinion:
    if request.subresource in IGNORED:
        return FINE
    exempt = rules.settings.exemption(request)
    if exempt:
        return _exempt(exempt)
    policy, errors = pod_security_standards.policy_of(
        _labels(request, world), rules.settings.defaults
    )
    if not errors and _allows_everything(policy):
        return _ANYTHING_GOES
    pod, old = request.object, request.old_object
    if pod is None or (old is not None and not _matters(pod, old)):
        return FINE
    return _judged(policy, errors, pod, request, rules, enforced=True)


def _advise_template(request: Request, world: World, rules: _Rules) -> Opinion:
    exempt = rules.settings.exemption(request)
    if exempt:
        return _exempt(exempt)
    policy, errors = pod_security_standards.policy_of(
        _labels(request, world), rules.settings.defaults
    )
    if not errors and policy.warn.level == policy.audit.level == pod_security_standards.PRIVILEGED:
        return FINE
    template: Any = request.object
    for field in _TEMPLATES[request.resource.group_resource]:
        template = (template or {}).get(field)
    if template is None:
        return FINE
    return _judged(policy, errors, template, request, rules, enforced=False)


def _labels(request: Request, world: World) -> dict[str, str]:
    labels = metadata.metadata(world.namespace(request.namespace)).get("labels")
    return labels if isinstance(labels, dict) else {}


def _allows_everything(policy: pod_security_standards.SecurityPolicy) -> bool:
    return all(
        version.level == pod_security_standards.PRIVILEGED
        for version in (policy.enforce, policy.audit, policy.warn)
    )


def _judged(
    policy: pod_security_standards.SecurityPolicy,
    errors: Sequence[FieldError],
    pod: JsonObject,
    request: Request,
    rules: _Rules,
    *,
    enforced: bool,
) -> Opinion:
    meta, spec, newest = pod.get("metadata") or {}, pod.get("spec") or {}, rules.newest
    if rules.settings.exempts(spec):
        return _exempt("runtimeClass")
    notes: dict[str, str] = {}
    refusal = None
    if errors:
        notes["error"] = f"Failed to parse policy: {fieldpath.aggregate(errors)}"
    if enforced:
        notes["enforce-policy"] = str(policy.enforce)
        violations = pod_security_standards.violations(policy.enforce, meta, spec, newest)
        if violations:
            refusal = forbidden(
                request, f"violates PodSecurity {_text(policy.enforce, violations)}"
            )
    violations = pod_security_standards.violations(policy.audit, meta, spec, newest)
    if violations:
        notes["audit-violations"] = f"would violate PodSecurity {_text(policy.audit, violations)}"
    warnings: tuple[str, ...] = ()
    violations = (
        []
        if refusal is not None
        else pod_security_standards.violations(policy.warn, meta, spec, newest)
    )
    if violations:
        warnings = (f"would violate PodSecurity {_text(policy.warn, violations)}",)
    return Opinion(
        refusal,
        warnings,
        {pod_security_standards.PREFIX + key: text for key, text in notes.items()},
    )


def _text(
    chosen: pod_security_standards.LevelVersion,
    violations: Iterable[pod_security_standards.Violation],
) -> str:
    return f"{quote(str(chosen))}: {', '.join(map(str, violations))}"


def _matters(pod: JsonObject, old: JsonObject) -> bool:
    """Return whether an update changes an image, or brings a container."""
    spec, old_spec = pod.get("spec") or {}, old.get("spec") or {}
    pairs = []
    for field in ("containers", "initContainers"):
        new_ones, old_ones = spec.get(field) or (), old_spec.get(field) or ()
        if len(new_ones) != len(old_ones):
            return True
        pairs += list(zip(new_ones, old_ones, strict=True))
    old_containers = {
        ephemeral_container.get("name"): ephemeral_container
        for ephemeral_container in old_spec.get("ephemeralContainers") or ()
    }
    for container in spec.get("ephemeralContainers") or ():
        if container.get("name") not in old_containers:
            return True
        pairs.append((container, old_containers[container.get("name")]))
    return any(new.get("image", "") != former.get("image", "") for new, former in pairs)


# --- namespaces ---


def _advise_namespace(request: Request, world: World, rules: _Rules) -> Opinion:
    settings = rules.settings
    policy, errors = pod_security_standards.policy_of(
        metadata.labels(request.object), settings.defaults
    )
    is_exempt = request.name in settings.namespaces
    remark = settings.remark(request.name, policy) if is_exempt else ""
    if request.operation is Operation.CREATE:
        if errors:
            return _invalid(request, errors)
        return Opinion(warnings=(remark,)) if remark else FINE
    old, old_errors = pod_security_standards.policy_of(
        metadata.labels(request.old_object), settings.defaults
    )
    if errors and list(map(str, errors)) != list(map(str, old_errors)):
        return _invalid(request, errors)
    new = policy.enforce
    if new == old.enforce or new.level == pod_security_standards.PRIVILEGED:
        return FINE
    if new.minor == old.enforce.minor and not pod_security_standards.is_stricter(
        new.level, old.enforce.level
    ):
        return FINE
    if is_exempt:
        return Opinion(None, (remark,) if remark else (), exempt_note("namespace"))
    return Opinion(warnings=tuple(_pod_warnings(request.name, new, world, rules.newest)))


def _invalid(request: Request, errors: Sequence[FieldError]) -> Opinion:
    return Opinion(status.invalid(request.kind.group_kind, request.name, list(errors)))


def _pod_warnings(
    namespace: str, enforced: pod_security_standards.LevelVersion, world: World, newest: int
) -> list[str]:
    pods = _ordered(world.list(POD_RESOURCE, namespace))
    names: dict[str, list[str]] = {}
    for pod in pods[:MAX_PODS]:
        violations = pod_security_standards.violations(
            enforced, metadata.metadata(pod), pod.get("spec") or {}, newest
        )
        if violations:
            reasons = ", ".join(violation.reason for violation in violations)
            names.setdefault(reasons, []).append(metadata.name(pod))
    warnings = []
    if len(pods) > MAX_PODS:
        warnings.append(
            "new PodSecurity enforce level only checked against the first "
            f"{MAX_PODS} of {len(pods)} existing pods"
        )
    if names:
        warnings.append(
            f"existing pods in namespace {quote(namespace)} violate the new PodSecurity enforce "
            f"level {quote(str(enforced))}"
        )
    lines = (f"{_with_others(name)}: {reasons}" for reasons, name in names.items())
    return [*warnings, *sorted(lines)]


def _ordered(pods: Sequence[JsonObject]) -> list[JsonObject]:
    """Put one pod of each controller first: the others are most likely like it."""
    seen: set[str] = set()
    first, later = [], []
    for pod in pods:
        owners = metadata.metadata(pod).get("ownerReferences") or ()
        uid = next((owner.get("uid", "") for owner in owners if owner.get("controller")), None)
        if uid is None or uid not in seen:
            first.append(pod)
        else:
            later.append(pod)
        if uid is not None:
            seen.add(uid)
    return first + later


def _with_others(names: list[str]) -> str:
    first, other_count = min(names), len(names) - 1
    if not other_count:
        return first
    return f"{first} (and {other_count} other {'pod' if other_count == 1 else 'pods'})"


def pod_security(minor: int, settings: SecuritySettings = UNTOLD) -> tuple[Behaviour, ...]:
    """Return the plugin of a server of this minor release: it knows no later version of the
    standards."""
    rules = _Rules(min(minor, pod_security_standards.NEWEST), settings)
    return (
        Behaviour(advise=partial(_advise_pod, rules=rules), resources=PODS, subresources=None),
        Behaviour(advise=partial(_advise_template, rules=rules), resources=frozenset(_TEMPLATES)),
        Behaviour(advise=partial(_advise_namespace, rules=rules), resources=core("namespaces")),
    )
