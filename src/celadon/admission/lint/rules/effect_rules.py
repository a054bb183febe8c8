"""CEL050 to CEL059: policies, bindings and params that do not find each other; CEL060 to CEL069:
policies that hold less, or more, than they should; CEL070 to CEL079: what expressions cost.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Final

from celadon.admission import policy_limits
from celadon.admission.lint.findings import FieldPosition, PolicyExpression, Removal, Role, Severity
from celadon.admission.lint.lint_context import (
    ALL,
    ITEM,
    BindingCase,
    Bundle,
    PolicyCase,
    Report,
    Rule,
    covers,
)
from celadon.admission.registration import registration_types
from celadon.admission.registration.registration_types import Rule as ResourceRule
from celadon.cel import ProgramError, types
from celadon.cel.extend import Range
from celadon.cel.syntax import Comprehension, Expr, walk
from celadon.kube import FieldPath, JsonObject, metadata
from celadon.kube.selectors import SelectorError, label_selector

# --- Bindings ----------------------------------------------------------------
#
# CEL050 to CEL059: policies, bindings and params that do not find each other.
#
# Each of these looks only at what was given: a policy linted alone is not reproached for bindings
# that may be elsewhere.


def _unbound(bundle: Bundle) -> Iterator[Report]:
    if not bundle.bindings:
        return
    for case in bundle.policies:
        if case.name and case.name not in bundle.bound:
            message = f"no binding names policy `{case.name}`, so it does nothing"
            yield Report(FieldPosition(case.document, FieldPath("metadata", "name")), message)


def _no_policy(bundle: Bundle) -> Iterator[Report]:
    if not bundle.policies:
        return
    for case in bundle.bindings:
        policy_name = case.spec.policy_name
        if policy_name and policy_name not in bundle.policy_names:
            close = difflib.get_close_matches(policy_name, bundle.policy_names, n=1)
            yield Report(
                FieldPosition(case.document, FieldPath("spec", "policyName")),
                f"there is no policy `{policy_name}`",
                f"did you mean `{close[0]}`?" if close else "",
            )


def _no_params(bundle: Bundle) -> Iterator[Report]:
    for case, kind, ref in _referring(bundle):
        params = [param for param in bundle.other_objects if _is_of(param, kind)]
        if params and not any(_chooses(ref, param) for param in params):
            subject = f"`{ref.name}`" if ref.name else "with these labels"
            yield Report(
                FieldPosition(case.document, FieldPath("spec", "paramRef")),
                f"there is no {kind.kind} {subject}",
                "with `parameterNotFoundAction: Deny` everything is refused, with `Allow` nothing "
                "is checked",
            )


def _referring(
    bundle: Bundle,
) -> Iterator[tuple[BindingCase, registration_types.ParamKind, registration_types.ParamRef]]:
    for case in bundle.bindings:
        policy = bundle.policy_names.get(case.spec.policy_name)
        kind = None if policy is None else policy.spec.param_kind
        ref = case.spec.param_ref
        if kind is not None and ref is not None:
            yield case, kind, ref


def _is_of(obj: JsonObject, kind: registration_types.ParamKind) -> bool:
    return obj.get("apiVersion") == kind.api_version and obj.get("kind") == kind.kind


def _chooses(ref: registration_types.ParamRef, obj: JsonObject) -> bool:
    if ref.namespace and metadata.namespace(obj) not in ("", ref.namespace):
        return False
    if ref.selector is None:
        return metadata.name(obj) == ref.name
    try:
        return label_selector(ref.selector).matches(metadata.labels(obj))
    except SelectorError:
        return True  # the API has a word to say about it


def _ignored_ref(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.bindings:
        policy = bundle.policy_names.get(case.spec.policy_name)
        if policy is None or case.spec.param_ref is None or policy.spec.param_kind is not None:
            continue
        message = f"policy `{policy.name}` has no paramKind, so paramRef is ignored"
        yield Report(FieldPosition(case.document, FieldPath("spec", "paramRef")), message)


def _deny_and_warn(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.bindings:
        actions = case.spec.validation_actions
        if registration_types.DENY in actions and registration_types.WARN in actions:
            spot = FieldPosition(
                case.document,
                FieldPath("spec", "validationActions", actions.index(registration_types.WARN)),
            )
            yield Report(
                spot,
                "`Deny` and `Warn` exclude each other: the API server refuses the binding",
                "leave `Warn` out: who is denied sees the message anyway",
                Removal(spot),
            )


_POLICY: Final = """\
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: object.spec.replicas <= 5}]
---
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
"""
_WITH_PARAMS: Final = _POLICY.replace(
    "spec:\n", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n", 1
)
_LIMITS: Final = (
    "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: policies}\n"
)
_REF: Final = (
    "spec: {policyName: p, validationActions: [Deny], paramRef: {name: NAME, namespace: policies, "
    "parameterNotFoundAction: Deny}}"
)

BINDING_RULES: Final = (
    Rule(
        "CEL050",
        "policy-without-binding",
        Severity.WARNING,
        "A policy does nothing until a binding names it. Said only when bindings are among the "
        "files.",
        _POLICY + "spec: {policyName: other, validationActions: [Deny]}\n",
        _POLICY + "spec: {policyName: p, validationActions: [Deny]}\n",
        _unbound,
    ),
    Rule(
        "CEL051",
        "binding-without-policy",
        Severity.WARNING,
        "The binding names a policy that is not there. The API server accepts such a binding, and "
        "nothing happens. Said only when policies are among the files.",
        _POLICY + "spec: {policyName: q, validationActions: [Deny]}\n",
        _POLICY + "spec: {policyName: p, validationActions: [Deny]}\n",
        _no_policy,
    ),
    Rule(
        "CEL052",
        "params-not-found",
        Severity.WARNING,
        "The `paramRef` of a binding selects none of the params among the files. Said only when "
        "objects of the param kind are there.",
        _WITH_PARAMS + _REF.replace("NAME", "limit") + _LIMITS,
        _WITH_PARAMS + _REF.replace("NAME", "limits") + _LIMITS,
        _no_params,
    ),
    Rule(
        "CEL053",
        "param-ref-ignored",
        Severity.WARNING,
        "The binding names params, but its policy has no `paramKind`, so nobody looks for them.",
        _POLICY + _REF.replace("NAME", "limits") + "\n",
        _WITH_PARAMS + _REF.replace("NAME", "limits") + "\n",
        _ignored_ref,
    ),
    Rule(
        "CEL054",
        "deny-with-warn",
        Severity.ERROR,
        "The API server refuses a binding that both denies and warns, since a denial already tells "
        "its reason. `Audit` may stand with either. `--fix` leaves `Warn` out.",
        _POLICY + "spec: {policyName: p, validationActions: [Deny, Warn]}\n",
        _POLICY + "spec: {policyName: p, validationActions: [Deny, Audit]}\n",
        _deny_and_warn,
    ),
)

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
        if case.spec.failure_policy != registration_types.IGNORE:
            continue
        bindings = bundle.bound.get(case.name, [])
        if bindings and not any(
            registration_types.DENY in binding.spec.validation_actions for binding in bindings
        ):
            continue
        about = _security_subject(case)
        if about:
            yield Report(
                FieldPosition(case.document, FieldPath("spec", "failurePolicy")),
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
        if (
            match is None
            or case.spec.failure_policy != registration_types.FAIL
            or case.spec.match_conditions
        ):
            continue
        if _is_narrowed(match) or _bindings_narrow(bundle, case):
            continue
        for i, rule in enumerate(match.resource_rules):
            threatened = _threatened(rule, match)
            if threatened:
                path = FieldPath("spec", "matchConstraints", "resourceRules", i)
                yield Report(
                    FieldPosition(case.document, path),
                    f"this rule matches {threatened}, in every namespace, kube-system included",
                    "leave kube-system out with a namespaceSelector, and vital resources with "
                    "excludeResourceRules or match conditions: a mistake in the policy, or an "
                    "error, stops the cluster",
                )
                break


def _is_narrowed(match: registration_types.MatchResources) -> bool:
    """Return whether labels decide, or a namespace is left out."""
    return _selects(match.namespace_selector) or _selects(match.object_selector)


def _selects(selector: JsonObject | None) -> bool:
    return bool(selector) and any((selector or {}).values())


def _bindings_narrow(bundle: Bundle, case: PolicyCase) -> bool:
    """Tell whether every binding that denies is narrow. Without any known binding, none is."""
    bindings = bundle.bound.get(case.name, [])
    denying = [
        binding.spec
        for binding in bindings
        if registration_types.DENY in binding.spec.validation_actions
    ]
    if not bindings:
        return False
    return all(
        spec.match_resources is not None
        and (_is_narrowed(spec.match_resources) or bool(spec.match_resources.resource_rules))
        for spec in denying
    )


def _threatened(rule: ResourceRule, match: registration_types.MatchResources) -> str:
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
            covers(exclude_resource_rule.api_groups, group)
            and covers(exclude_resource_rule.resources, resource)
            for exclude_resource_rule in match.exclude_resource_rules
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


# --- Expense rules -----------------------------------------------------------
#
# CEL070 to CEL079: what expressions cost.
#
# Two bounds are asked, and the lower one counts, since each is loose in its own way. The
# estimate knows the sizes of lists and texts that `LargeObject` gives it, but multiplies nested
# loops even where the inner lists share the size of the object. The bound of a program knows
# the total, but takes every character for a list item.

_ITEM_SIZE: Final = 512
"""Characters of JSON of a list item, on average: containers, rules, endpoints."""
_MOST_TEXT: Final = 1024
"""Characters of one text."""
_MOST_INNER: Final = 20
"""Items of a list inside an item of a list."""
_ENTRIES: Final = frozenset({"@items", "@keys", "@values"})
"""The steps into lists and maps; the entries of what has no type are keys to the estimator."""


class LargeObject:
    """Holds the sizes in an object of so many characters."""

    def __init__(self, size: int) -> None:
        self._items = max(size // _ITEM_SIZE, 1)

    def size(self, path: tuple[str, ...], type_: types.Type) -> Range | None:
        """Return the size of a value that may be a list, a map or a text: nobody has declared what
        it is."""
        if type_.kind is types.Kind.STRING:
            return Range(0, _MOST_TEXT)
        return Range(0, self._items if _ENTRIES.isdisjoint(path) else _MOST_INNER)


def _expensive(bundle: Bundle) -> Iterator[Report]:
    size = bundle.settings.large_object
    for case in bundle.policies:
        for expression in case.expressions:
            if expression.role is Role.MESSAGE:
                continue  # it would only be replaced
            cost = _cost(expression, size)
            if cost > policy_limits.PER_CALL_COST:
                yield Report(
                    FieldPosition(case.document, expression.path),
                    f"for an object of {size // 1024} KiB this may cost {cost:.1g}, more than the "
                    f"{policy_limits.PER_CALL_COST:.0g} at which evaluation stops",
                    "look at fewer elements: filter before nested loops",
                )


def worst_costs(bundle: Bundle) -> list[float]:
    """Return what each policy may cost at most for an object of the size of the settings, by all
    its expressions except for messages. Both bounds are loose; the lower one counts."""
    size = bundle.settings.large_object
    return [
        sum(
            _worst(expression, size)
            for expression in case.expressions
            if expression.role is not Role.MESSAGE
        )
        for case in bundle.policies
    ]


def _worst(expression: PolicyExpression, size: int) -> float:
    """Return the bound of an expression; 0 if it does not run."""
    if expression.checked is None:
        return 0.0
    _, estimated = expression.env.estimate(expression.checked, LargeObject(size))
    try:
        program = expression.env.program(expression.checked)
    except ProgramError:
        return 0.0
    return min(float(estimated), program.cost_bound(size // _ITEM_SIZE))


def _cost(expression: PolicyExpression, size: int) -> float:
    """Return what the expression may cost; 0 if it does not run."""
    if expression.checked is None:
        return 0.0
    least, estimated = expression.env.estimate(expression.checked, LargeObject(size))
    if least > policy_limits.PER_CALL_COST or estimated <= policy_limits.PER_CALL_COST:
        return float(least)
    if not any(map(_is_nested, walk(expression.checked.root))):
        return float(least)  # one loop, whose bounds are known to be loose
    return _worst(expression, size)


def _is_nested(node: Expr) -> bool:
    """Return whether it is a loop with another loop in it."""
    if node.__class__ is not Comprehension:
        return False
    return any(inner.__class__ is Comprehension for inner in walk(node.step))


EXPENSE_RULES: Final = (
    Rule(
        "CEL070",
        "expensive",
        Severity.WARNING,
        "Evaluation stops with an error when an expression costs more than its limit. The cost "
        "grows with the object; this expression may reach the limit for one that is large but not "
        "unusual. Nested loops over lists of the object are the usual reason.",
        'validations:\n- expression: "object.spec.template.spec.containers.all(a, object.spec.'
        "template.spec.containers.all(b, object.spec.template.spec.containers.all(c, "
        'a.name + b.name != c.name)))"\n',
        "validations:\n- expression: object.spec.template.spec.containers.all(c, c.name != 'x')\n",
        _expensive,
    ),
)
