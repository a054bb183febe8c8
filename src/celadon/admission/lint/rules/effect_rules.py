"""CEL060 to CEL069: policies that hold less, or more, than they should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.admission.lint.model.access_facts import ITEM
from celadon.admission.lint.model.findings import Severity, Spot
from celadon.admission.lint.model.lint_rule import Rule
from celadon.admission.lint.model.matched_kinds import ALL, covers
from celadon.admission.lint.model.rule_reports import Report
from celadon.admission.lint.model.subjects import Bundle, PolicyCase
from celadon.admission.registration.registration_types import DENY, FAIL, IGNORE, MatchResources
from celadon.admission.registration.registration_types import Rule as ResourceRule
from celadon.kube import FieldPath

_SECURITY_FIELDS: Final = frozenset(
    {
        "allowPrivilegeEscalation",
        "automountServiceAccountToken",
        "capabilities",
        "hostIPC",
        "hostNetwork",
        "hostPID",
        "hostPath",
        "hostPort",
        "hostUsers",
        "image",
        "privileged",
        "procMount",
        "readOnlyRootFilesystem",
        "runAsNonRoot",
        "runAsUser",
        "seLinuxOptions",
        "seccompProfile",
        "securityContext",
        "serviceAccountName",
        "sysctls",
    }
)
_SECURITY_GROUPS: Final = frozenset(
    {"admissionregistration.k8s.io", "certificates.k8s.io", "rbac.authorization.k8s.io"}
)
_VITAL: Final = (
    ("coordination.k8s.io", "leases", "leases, by which nodes and controllers stay alive"),
    ("", "nodes", "nodes"),
)
"""Group, resource, and what they are: without these a cluster falls apart."""
_CHANGING: Final = frozenset({"CREATE", "UPDATE"})


def _ignored_failures(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        if case.spec.failure_policy != IGNORE:
            continue
        bindings = bundle.bound.get(case.name, [])
        if bindings and not any(DENY in one.spec.validation_actions for one in bindings):
            continue
        about = _security_subject(case)
        if about:
            yield Report(
                Spot(case.document, FieldPath("spec", "failurePolicy")),
                f"the policy is about {about}, and an error in it lets the request pass",
                "use `failurePolicy: Fail`: objects that make the expression fail get around it",
            )


def _security_subject(case: PolicyCase) -> str:
    groups = {kind.group for kind in case.kinds} & _SECURITY_GROUPS
    if groups and len({kind.group for kind in case.kinds}) == len(groups):
        return ", ".join(sorted(groups))
    read = {step for access in case.accesses for step in access.path if step != ITEM}
    fields = sorted(read & _SECURITY_FIELDS)
    return f"`{fields[0]}`" if fields else ""


def _lock_out(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        match = case.spec.match_constraints
        if match is None or case.spec.failure_policy != FAIL or case.spec.match_conditions:
            continue
        if _is_narrowed(match) or _bindings_narrow(bundle, case):
            continue
        for i, rule in enumerate(match.resource_rules):
            threatened = _threatened(rule, match)
            if threatened:
                at = FieldPath("spec", "matchConstraints", "resourceRules", i)
                yield Report(
                    Spot(case.document, at),
                    f"this rule matches {threatened}, in every namespace, kube-system included",
                    "leave kube-system out with a namespaceSelector, and vital resources with "
                    "excludeResourceRules or match conditions: a mistake in the policy, or an "
                    "error, stops the cluster",
                )
                break


def _is_narrowed(match: MatchResources) -> bool:
    """Whether labels decide, or a namespace is left out."""
    return _selects(match.namespace_selector) or _selects(match.object_selector)


def _selects(selector: Mapping[str, Any] | None) -> bool:
    return bool(selector) and any((selector or {}).values())


def _bindings_narrow(bundle: Bundle, case: PolicyCase) -> bool:
    """Every binding that denies is narrow. Without any known binding, none is."""
    bindings = bundle.bound.get(case.name, [])
    denying = [one.spec for one in bindings if DENY in one.spec.validation_actions]
    if not bindings:
        return False
    return all(
        spec.match_resources is not None
        and (_is_narrowed(spec.match_resources) or bool(spec.match_resources.resource_rules))
        for spec in denying
    )


def _threatened(rule: ResourceRule, match: MatchResources) -> str:
    if rule.resource_names or (not _CHANGING & set(rule.operations) and ALL not in rule.operations):
        return ""
    if not covers(rule.api_groups, "coordination.k8s.io") and ALL not in rule.resources:
        return ""
    hit = [
        (group, resource, words)
        for group, resource, words in _VITAL
        if covers(rule.api_groups, group) and covers(rule.resources, resource)
    ]
    left = [
        words
        for group, resource, words in hit
        if not any(
            covers(one.api_groups, group) and covers(one.resources, resource)
            for one in match.exclude_resource_rules
        )
    ]
    if not left:
        return ""
    everything = ALL in rule.api_groups and ALL in rule.resources
    return "everything" if everything else left[0]


RULES: Final = (
    Rule(
        "CEL060",
        "ignored-failures",
        Severity.WARNING,
        "Under `failurePolicy: Ignore` an expression that fails lets the request pass. That is a "
        "way around a policy that protects something: leave out a field that it reads unguarded.",
        'failurePolicy: Ignore\nvalidations:\n- expression: "object.spec.template.spec.containers'
        ".all(c, c.image.startsWith('registry.example.com/'))\"\n",
        'failurePolicy: Fail\nvalidations:\n- expression: "object.spec.template.spec.containers'
        ".all(c, c.image.startsWith('registry.example.com/'))\"\n",
        _ignored_failures,
    ),
    Rule(
        "CEL061",
        "lock-out",
        Severity.WARNING,
        "A policy that denies, fails closed and matches everything in every namespace also judges "
        "what keeps the cluster alive: leases, nodes, the objects of kube-system. A mistake in it, "
        "or an error, stops controllers and nodes, and may keep you from repairing it.",
        "matchConstraints:\n  resourceRules:\n  - {apiGroups: ['*'], apiVersions: ['*'], "
        "operations: ['*'], resources: ['*']}\n"
        "validations:\n- expression: request.userInfo.username != 'eve'\n",
        "matchConstraints:\n  namespaceSelector:\n    matchExpressions:\n"
        "    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}\n"
        "  resourceRules:\n  - {apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], "
        "resources: ['*']}\nvalidations:\n- expression: request.userInfo.username != 'eve'\n",
        _lock_out,
    ),
)
