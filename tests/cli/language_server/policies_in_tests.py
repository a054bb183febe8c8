"""The file of policies that is edited at random."""

from __future__ import annotations

from typing import Final

POLICIES: Final = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  variables:
  - name: containers
    expression: object.spec.template.spec.containers
  validations:
  - expression: variables.containers.all(c, c.image.startsWith('x') && c.name != '😀')
    messageExpression: "'bad: ' + object.metadata.name"
  - expression: >-
      object.spec.replicas <= 5 ||
      has(object.metadata.labels)
    message: too many
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: |
        // a comment
        Object{metadata: Object.metadata{labels: {"a": "b"}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
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
            x-kubernetes-validations: [{rule: self.size > 0}]
            properties: {size: {type: integer, default: 1}}
"""
