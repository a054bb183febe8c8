"""The documents of a folder, played on two servers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fuzz.documents import Comparison, Extent, documents, played
from tests.fuzz.servers import SENT_JSON, InProcess, Reply

DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gizmos, kind: Gizmo}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, required: [size], properties: {size: {type: integer, maximum: 3}}}
          status: {type: object, properties: {size: {type: integer}}}
---
# a comment
apiVersion: example.com/v1
kind: Gizmo
metadata: {name: a}
spec: {size: 2}
---
{{- if .Values.template }}
"""
CASES = """\
tests:
- initial: |
    apiVersion: example.com/v1
    kind: Gizmo
    spec: {size: 1}
  updated: |
    apiVersion: example.com/v1
    kind: Gizmo
    spec: {size: 4}
"""
MANIFESTS = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: s, namespace: other}
  spec: {selector: {a: b}, ports: [{port: 80}]}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: d}
  spec:
    selector: {matchLabels: {a: b}}
    template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
"""
POLICIES = """\
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations: [{expression: object.spec.replicas < 1}]
---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Warn]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {
        "a/crd.yaml": DEFINITION,
        "cases.yml": CASES,
        "all.json": MANIFESTS,
        "vap.yaml": POLICIES,
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_what_is_found(folder: Path) -> None:
    found = documents(folder)
    assert [one.obj["kind"] for one in found] == [
        *("CustomResourceDefinition", "Gizmo", "Service", "Deployment", "Gizmo", "Gizmo", "Gizmo"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    ]
    assert b"# a comment" in found[1].text
    assert [one["spec"]["size"] for one in found[4].updated] == [4]


class Forgetful(InProcess):
    """A server that finds no custom resource by its name."""

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        reply = super().call(method, path, body, headers)
        return Reply(404, {}) if "/gizmos/" in path else reply


@pytest.mark.parametrize("policies", [False, True])
def test_two_servers_that_answer_alike(folder: Path, *, policies: bool) -> None:
    both = Comparison(InProcess(), InProcess())
    try:
        played(both, documents(folder), Extent(twists=1, policies=policies))
    finally:
        both.ours.close()
        both.real.close()
    assert both.requests.total() > (10 if policies else 100)
    assert both.classes == {}


def test_a_server_that_answers_otherwise(folder: Path) -> None:
    both = Comparison(InProcess(), Forgetful())
    try:
        played(both, documents(folder / "a"), Extent(twists=1))
    finally:
        both.ours.close()
        both.real.close()
    assert {name.partition(" ")[0] for name in both.classes} == {"DELETE", "GET", "PATCH", "PUT"}
