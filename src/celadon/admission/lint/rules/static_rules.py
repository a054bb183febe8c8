"""CEL090: policies and webhooks for the files of an API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.admission.lint.model.findings import Severity, Spot
from celadon.admission.lint.model.lint_rule import Rule
from celadon.admission.lint.model.rule_reports import Report
from celadon.admission.lint.model.subjects import Bundle
from celadon.admission.registration.registration_types import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    WebhookConfiguration,
)
from celadon.admission.static.static_loading import VERSION
from celadon.admission.static.static_manifests import is_static, static_errors
from celadon.kube import FieldPath

_TYPES: Final = (
    (ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding),
    (MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding),
    (WebhookConfiguration,),
)
_REFUSED: Final = "a server that finds this in its files does not start"


def _not_loadable(bundle: Bundle) -> Iterator[Report]:
    for types in _TYPES:
        given = [
            (one, one.value)
            for one in bundle.registered
            if isinstance(one.value, types) and is_static(one.value)
        ]
        for one, _ in given:
            if one.kind.version != VERSION:
                text = f"unsupported resource type *{one.kind.version}.{one.kind.kind}"
                yield Report(Spot(one.document, FieldPath("apiVersion")), text, _REFUSED)
        for error in static_errors([value for _, value in given]):
            spot = Spot(given[error.number][0].document, error.path)
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

RULES: Final = (
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
