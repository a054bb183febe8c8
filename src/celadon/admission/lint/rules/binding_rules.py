"""CEL050 to CEL059: policies, bindings and params that do not find each other.

Each of these looks only at what was given: a policy linted alone is not reproached for bindings
that may be elsewhere.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Final

from celadon.admission.lint.findings import Removal, Severity, Spot
from celadon.admission.lint.lint_rule import Report, Rule
from celadon.admission.lint.subjects import BindingCase, Bundle
from celadon.admission.registration.registration_types import DENY, WARN, ParamKind, ParamRef
from celadon.kube import FieldPath, JsonObject, metadata
from celadon.kube.selectors import SelectorError, label_selector


def _unbound(bundle: Bundle) -> Iterator[Report]:
    if not bundle.bindings:
        return
    for case in bundle.policies:
        if case.name and case.name not in bundle.bound:
            message = f"no binding names policy `{case.name}`, so it does nothing"
            yield Report(Spot(case.document, FieldPath("metadata", "name")), message)


def _no_policy(bundle: Bundle) -> Iterator[Report]:
    if not bundle.policies:
        return
    for case in bundle.bindings:
        wanted = case.spec.policy_name
        if wanted and wanted not in bundle.policy_names:
            close = difflib.get_close_matches(wanted, bundle.policy_names, n=1)
            yield Report(
                Spot(case.document, FieldPath("spec", "policyName")),
                f"there is no policy `{wanted}`",
                f"did you mean `{close[0]}`?" if close else "",
            )


def _no_params(bundle: Bundle) -> Iterator[Report]:
    for case, kind, ref in _referring(bundle):
        given = [one for one in bundle.others if _is_of(one, kind)]
        if given and not any(_selects(ref, one) for one in given):
            what = f"`{ref.name}`" if ref.name else "with these labels"
            yield Report(
                Spot(case.document, FieldPath("spec", "paramRef")),
                f"there is no {kind.kind} {what}",
                "with `parameterNotFoundAction: Deny` everything is refused, with `Allow` nothing "
                "is checked",
            )


def _referring(bundle: Bundle) -> Iterator[tuple[BindingCase, ParamKind, ParamRef]]:
    for case in bundle.bindings:
        policy = bundle.policy_names.get(case.spec.policy_name)
        kind = None if policy is None else policy.spec.param_kind
        ref = case.spec.param_ref
        if kind is not None and ref is not None:
            yield case, kind, ref


def _is_of(obj: JsonObject, kind: ParamKind) -> bool:
    return obj.get("apiVersion") == kind.api_version and obj.get("kind") == kind.kind


def _selects(ref: ParamRef, obj: JsonObject) -> bool:
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
        yield Report(Spot(case.document, FieldPath("spec", "paramRef")), message)


def _deny_and_warn(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.bindings:
        actions = case.spec.validation_actions
        if DENY in actions and WARN in actions:
            spot = Spot(case.document, FieldPath("spec", "validationActions", actions.index(WARN)))
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

RULES: Final = (
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
