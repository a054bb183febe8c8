"""The policy of a first project, its binding and its test, with what they look at.

The rule is one that everybody understands, in a form to copy: a guarded field, a message that says
what was found, a namespace that is left out.
"""

from __future__ import annotations

from typing import Final

POLICY: Final = """\
# Who keeps a Deployment running is written on it.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: owner-label
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
  variables:
  - name: owner
    expression: object.metadata.?labels.?owner.orValue('')
  validations:
  - expression: variables.owner != ''
    message: a label `owner` is required
  - expression: variables.owner.matches('^([a-z][a-z0-9-]*)?$')
    messageExpression: "'`' + variables.owner + '` is not the name of a team'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: owner-label
spec:
  policyName: owner-label
  validationActions: [Deny]
  matchResources:
    namespaceSelector:
      matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}
"""

TEST: Final = """\
apiVersion: celadon.dev/v1
kind: PolicyTest
resources: [../cluster]
objects:
  web:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop, labels: {owner: storefront}}
    spec:
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: web, image: registry.example.com/web:1}]}
defaults: {object: web}
cases:
- name: a team owns it
  expect: admit
- name: nobody owns it
  patch: {metadata: {labels: null}}
  expect: {deny: a label `owner` is required}
- name: an owner is not a person
  patch: {metadata: {labels: {owner: Ann}}}
  expect: {deny: "`Ann` is not the name of a team"}
- name: an update loses the owner
  operation: UPDATE
  patch: {metadata: {labels: {owner: null}}}
  expect: {deny: a label `owner` is required}
- name: the cluster's own are left alone
  patch: {metadata: {namespace: kube-system, labels: null}}
  expect: noMatch
"""

MANIFEST: Final = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {owner: storefront}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: registry.example.com/web:1}
"""

NAMESPACES: Final = """\
# What policies look up besides the objects: namespaces with their labels, params, definitions.
apiVersion: v1
kind: Namespace
metadata:
  name: shop
---
apiVersion: v1
kind: Namespace
metadata:
  name: kube-system
"""
