"""CEL040 to CEL049: variables, messages, names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.admission.lint.findings import FieldPosition, Role, Severity
from celadon.admission.lint.lint_context import Bundle, PolicyCase, Report, Rule
from celadon.admission.lint.rules.value_rules import nodes_of
from celadon.admission.registration import registration_types
from celadon.admission.static_manifests import VERSION, is_static, static_errors
from celadon.cel.syntax import Ident, Select
from celadon.kube import FieldPath
from celadon.late_patterns import late_pattern

_LONG: Final = 80
"""Characters of an expression from which on its text is no message for people."""
_ESCAPE: Final = late_pattern(r"__[^_]+__")


def _unused_variables(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        if any(expression.checked is None for expression in case.expressions):
            continue
        used = _used(case)
        for i, variable in enumerate(case.spec.variables):
            if variable.name not in used:
                spot = FieldPosition(case.document, FieldPath("spec", "variables", i, "name"))
                yield Report(spot, f"variable `{variable.name}` is never used")


def _used(case: PolicyCase) -> set[str]:
    """Return the variables that an expression uses which is itself evaluated."""
    direct: dict[str, set[str]] = {}
    for expression in case.expressions:
        name = expression.name if expression.role is Role.VARIABLE else ""
        direct.setdefault(name, set()).update(
            node.field
            for node in nodes_of(expression)
            if node.__class__ is Select
            and node.operand.__class__ is Ident
            and node.operand.name == "variables"
        )
    used: set[str] = set()
    waiting = list(direct.get("", ()))
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += direct.get(name, ())
    return used


def _missing_messages(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.cases:
        for expression in case.expressions:
            if expression.role not in (Role.VALIDATION, Role.RULE):
                continue
            source = case.sources[expression.index]
            if source.message.strip() or source.message_expression.strip():
                continue
            text = expression.text.strip()
            if "\n" in text or len(text) > _LONG:
                subject = "several lines" if "\n" in text else f"{len(text)} characters"
                spot = FieldPosition(case.document, expression.path)
                message = f"without a message the user is shown this expression of {subject}"
                yield Report(spot, message, "add `message` or `messageExpression`")


def _escaped_variables(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        for i, variable in enumerate(case.spec.variables):
            if _ESCAPE.search(variable.name):
                spot = FieldPosition(case.document, FieldPath("spec", "variables", i, "name"))
                message = f"variable `{variable.name}` compiles, but is never found at run time"
                yield Report(spot, message, "leave out the double underscores")


RULES: Final = (
    Rule(
        "CEL040",
        "unused-variable",
        Severity.WARNING,
        "No expression that is evaluated uses the variable, directly or through other variables. "
        "Variables are computed when they are read, so this one never is.",
        "variables:\n- {name: replicas, expression: object.spec.replicas}\n"
        "validations:\n- expression: object.spec.replicas <= 5\n",
        "variables:\n- {name: replicas, expression: object.spec.replicas}\n"
        "validations:\n- expression: variables.replicas <= 5\n",
        _unused_variables,
    ),
    Rule(
        "CEL041",
        "missing-message",
        Severity.WARNING,
        "A validation without a message shows its expression to whoever is refused. That is no "
        "help if the expression is long or has several lines.",
        "validations:\n- expression: |-\n    object.spec.replicas <= 5 ||\n"
        "    object.metadata.name == 'big'\n",
        "validations:\n- expression: |-\n    object.spec.replicas <= 5 ||\n"
        "    object.metadata.name == 'big'\n  message: at most 5 replicas\n",
        _missing_messages,
    ),
    Rule(
        "CEL042",
        "escaped-variable",
        Severity.ERROR,
        "The name of a variable holds something that looks like an escape (`__dot__`). It is "
        "declared as written and looked up unescaped, so reading it always fails.",
        "variables:\n- {name: a__dot__b, expression: '1'}\n"
        "validations:\n- expression: variables.a__dot__b == 1\n",
        "variables:\n- {name: a_b, expression: '1'}\n"
        "validations:\n- expression: variables.a_b == 1\n",
        _escaped_variables,
    ),
)


# --- Static rules ------------------------------------------------------------
#
# CEL090: policies and webhooks for the files of an API server.

_TYPES: Final = (
    (
        registration_types.ValidatingAdmissionPolicy,
        registration_types.ValidatingAdmissionPolicyBinding,
    ),
    (registration_types.MutatingAdmissionPolicy, registration_types.MutatingAdmissionPolicyBinding),
    (registration_types.WebhookConfiguration,),
)
_REFUSED: Final = "a server that finds this in its files does not start"


def _not_loadable(bundle: Bundle) -> Iterator[Report]:
    for types in _TYPES:
        registered = [
            (element, element.value)
            for element in bundle.registered
            if isinstance(element.value, types) and is_static(element.value)
        ]
        for item, _ in registered:
            if item.kind.version != VERSION:
                text = f"unsupported resource type *{item.kind.version}.{item.kind.kind}"
                yield Report(FieldPosition(item.document, FieldPath("apiVersion")), text, _REFUSED)
        for error in static_errors([value for _, value in registered]):
            spot = FieldPosition(registered[error.number][0].document, error.path)
            yield Report(spot, error.text, _REFUSED)


_POLICY: Final = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [deployments]
  validations:
  - {expression: object.spec.replicas <= 5, message: at most 5 replicas}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas.static.k8s.io}
spec:
  validationActions: [Deny]
"""

STATIC_RULES: Final = (
    Rule(
        "CEL090",
        "static-manifest",
        Severity.ERROR,
        "The name ends with `.static.k8s.io`: the object is for the files of an API server "
        "(`staticManifestsDir`), and could not be loaded from there. Such policies have no "
        "params, their bindings name policies of the same files, webhooks have URLs, and all are "
        "written in v1.",
        _POLICY + "  policyName: replicas\n",
        _POLICY + "  policyName: replicas.static.k8s.io\n",
        _not_loadable,
    ),
)
