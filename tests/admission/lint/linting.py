"""Short forms for tests of lint rules."""

from __future__ import annotations

from typing import Any

import yaml

from celadon.admission.lint.findings import Finding
from celadon.admission.lint.lint_context import Rule, Settings
from celadon.admission.lint.linter import RULES, lint

GROUP = "admissionregistration.k8s.io/v1"
SETTINGS = Settings(version="1.36")
BY_CODE = {rule.code: rule for rule in RULES}
DEPLOYMENTS = {
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["deployments"],
}


def documents(text: str) -> list[dict[str, Any]]:
    """Whole documents, or the spec of a policy about Deployments."""
    found = list(yaml.safe_load_all(text))
    if "kind" in found[0]:
        return [{"apiVersion": GROUP, **one} for one in found]
    return [policy(**found[0])]


def policy(name: str = "p", **spec: Any) -> dict[str, Any]:
    spec.setdefault("matchConstraints", {"resourceRules": [DEPLOYMENTS]})
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


def binding(name: str = "b", policy_name: str = "p", *actions: str, **spec: Any) -> dict[str, Any]:
    spec = {"policyName": policy_name, "validationActions": list(actions or ("Deny",)), **spec}
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": spec,
    }


def found(code: str, *given: dict[str, Any], settings: Settings = SETTINGS) -> list[Finding]:
    """What one rule says."""
    return lint(given, settings, [BY_CODE[code]])


def about(code: str, *expressions: str, **spec: Any) -> list[tuple[str, int | None]]:
    """Where one rule speaks about a policy with these validations: field and offset."""
    spec["validations"] = [{"expression": text} for text in expressions]
    return [(one.spot.field, one.spot.offset) for one in found(code, policy(**spec))]


def rule_of(code: str) -> Rule:
    return BY_CODE[code]


def definition(*rules: str | dict[str, Any], **schema: Any) -> dict[str, Any]:
    """A definition whose `spec` has these rules and this schema; a text is a rule without more."""
    given = [{"rule": one} if isinstance(one, str) else one for one in rules]
    spec = {"type": "object", **schema, "x-kubernetes-validations": given}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [version],
        },
    }


def about_rules(
    code: str, *rules: str | dict[str, Any], **schema: Any
) -> list[tuple[int | str | None, ...]]:
    """Where one linting rule speaks about these rules of a definition: number, field and offset."""
    return [
        (*one.spot.path.steps[-2:], one.spot.offset)
        for one in found(code, definition(*rules, **schema))
    ]
