"""The outline of a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from celadon.cli.language_server.hovers import OutlinePart, document_outline
from celadon.cli.language_server.workspace_files import Span, edited_file

POLICIES = """\
# what is decided
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConditions:
  - name: not-system
    expression: "!request.namespace.startsWith('kube-')"
  validations:
  - expression: variables.most >= object.spec.replicas
    message: too many
  - expression: >-
      object.spec.replicas
      > 0
  variables:
  - {name: most, expression: "5"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: limit-everywhere
spec:
  policyName: limit
  paramRef: {name: p, parameterNotFoundAction: Deny}
  validationActions: [Deny, Audit]
---
kind: ConfigMap
apiVersion: v1
metadata: {}
"""
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations:
        - {rule: has(self.spec)}
        properties:
          spec:
            properties:
              bulbs:
                items:
                  x-kubernetes-validations:
                  - rule: self.watts <= 60
                    message: too bright
                    messageExpression: "'too bright'"
"""
WEBHOOKS = """\
{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
 "metadata": {"name": "hooks"},
 "webhooks": [{"name": "a.example.com"},
              {"name": "b.example.com",
               "matchConditions": [{"name": "many", "expression": "1 > 2"}]}]}
"""


def shown(parts: list[OutlinePart] | tuple[OutlinePart, ...], depth: int = 0) -> Iterator[str]:
    for one in parts:
        detail = f" | {one.detail}" if one.detail else ""
        yield f"{'  ' * depth}{one.span.start.line + 1}-{one.span.end.line + 1} {one.name}{detail}"
        yield from shown(one.parts, depth + 1)


def lines(text: str) -> list[str]:
    return list(shown(document_outline(edited_file("f.yaml", text))))


def test_policies_and_bindings() -> None:
    assert lines(POLICIES) == [
        "2-16 limit | ValidatingAdmissionPolicy",
        "  6-8 matchConditions",
        "    7-8 not-system | !request.namespace.startsWith('kube-')",
        "  9-14 validations",
        "    10-11 too many | variables.most >= object.spec.replicas",
        "    12-14 object.spec.replicas > 0",
        "  15-16 variables",
        "    16-16 most | 5",
        "18-25 limit-everywhere | ValidatingAdmissionPolicyBinding",
        "  23-23 policyName | limit",
        "  24-24 paramRef | p",
        "  25-25 validationActions | Deny, Audit",
        "27-29 ConfigMap | ConfigMap",
    ]


def test_rules_of_a_definition() -> None:
    assert lines(DEFINITION) == [
        "1-20 lamps.example.com | CustomResourceDefinition",
        "  6-20 v1",
        "    8-20 self",
        "      11-11 has(self.spec)",
        "    16-20 spec.bulbs[]",
        "      18-20 too bright | self.watts <= 60",
    ]


def test_webhooks_in_json() -> None:
    assert lines(WEBHOOKS) == [
        "1-5 hooks | MutatingWebhookConfiguration",
        "  3-5 webhooks",
        "    3-3 a.example.com",
        "    4-5 b.example.com",
        "      5-5 matchConditions",
        "        5-5 many | 1 > 2",
    ]


def test_items_of_a_list_are_objects_of_their_own() -> None:
    indented = "".join(f"    {line}\n" for line in DEFINITION.splitlines())
    text = f"apiVersion: v1\nkind: List\nitems:\n  -\n{indented}"
    first, second, *_ = lines(text)
    assert (first, second) == ("5-24 lamps.example.com | CustomResourceDefinition", "  10-24 v1")


@pytest.mark.parametrize("text", [POLICIES, DEFINITION, WEBHOOKS])
def test_parts_lie_in_what_they_are_parts_of(text: str) -> None:
    def check(part: OutlinePart) -> None:
        assert _within(part.chosen, part.span)
        for one, other in pairwise(part.parts):
            assert one.span.start <= other.span.start
        for one in part.parts:
            assert _within(one.span, part.span)
            check(one)

    for part in document_outline(edited_file("f.yaml", text)):
        check(part)


def _within(one: Span, other: Span) -> bool:
    return other.start <= one.start <= one.end <= other.end


def written(kind: str, rest: str, group: str = "admissionregistration.k8s.io") -> str:
    return f"apiVersion: {group}/v1\nkind: {kind}\n{rest}\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: [",
        "{{ .Values.x }}\n" + POLICIES,
        written("ValidatingAdmissionPolicyBinding", "spec: 1"),
        written("MutatingWebhookConfiguration", "webhooks: 7"),
        written("ValidatingAdmissionPolicy", "spec: {validations: {a: 1}}"),
        written("ValidatingAdmissionPolicy", "metadata: 3"),
        written("ValidatingAdmissionPolicy", "metadata: {name: 3}"),
        written("CustomResourceDefinition", "spec: {versions: [1]}", "apiextensions.k8s.io"),
    ],
)
def test_what_is_half_written_breaks_nothing(text: str) -> None:
    assert all(one.parts == () for one in document_outline(edited_file("f.yaml", text)))


def test_an_alias_is_shown_where_it_is_used() -> None:
    """Its anchor stands elsewhere, outside of what the alias is a part of."""
    text = written(
        "ValidatingAdmissionPolicy",
        'metadata: {name: a, annotations: {x: &x "1 > 2"}}\n'
        "spec:\n  validations: &all\n  - expression: *x\n  variables: *all",
    )
    (found,) = document_outline(edited_file("f.yaml", text))
    assert all(_within(part.span, found.span) for part in found.parts)
    assert all(_within(one.span, part.span) for part in found.parts for one in part.parts)
