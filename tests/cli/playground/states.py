"""States of the playground for its tests."""

from __future__ import annotations

import json
from typing import Any, Final

from celadon.cli.playground.panes import FORMAT, State, state_of

POLICY: Final = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations:
  - expression: object.spec.replicas <= 5
    message: at most five replicas
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec: {policyName: limit, validationActions: [Deny]}
"""
DENIAL: Final = (
    "ValidatingAdmissionPolicy 'limit' with binding 'limit' denied request: at most five replicas"
)

WEBHOOK: Final = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: hook.example.com
  clientConfig: {url: "https://hook.example.com/"}
  sideEffects: None
  admissionReviewVersions: [v1]
  rules:
  - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  matchConditions:
  - name: many
    expression: object.spec.replicas > 2
"""

DEFINITION: Final = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: lamps, singular: lamp, kind: Lamp, listKind: LampList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              watts: {type: integer, maximum: 1000}
            x-kubernetes-validations:
            - rule: self.watts <= 60
              message: too bright
"""


def with_expression(text: str) -> str:
    """The policy with another expression."""
    return POLICY.replace("object.spec.replicas <= 5", json.dumps(text, ensure_ascii=False))


def deployment(replicas: int) -> str:
    """A Deployment that a server takes."""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: web}}]}}
"""


def lamp(watts: int) -> str:
    """A custom resource."""
    return (
        f"apiVersion: example.com/v1\nkind: Lamp\nmetadata: {{name: one}}\nspec: {{watts: {watts}}}"
    )


PROPERTIES: Final = """\
apiVersion: celadon.dev/v1
kind: PolicyProperties
match: {resources: [deployments.apps], operations: [CREATE]}
properties:
- {name: few, that: object.spec.replicas <= 5}
- {name: fewer, that: object.spec.replicas <= 4}
"""


def given(mode: str = "validating", *, panes: dict[str, str], **members: Any) -> dict[str, Any]:
    """A state as JSON."""
    return {"version": FORMAT, "mode": mode, "panes": panes, **members}


def state(mode: str = "validating", *, panes: dict[str, str], **members: Any) -> State:
    """The same, read."""
    return state_of(given(mode, panes=panes, **members))
