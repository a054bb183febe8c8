"""What an expression may go on with, in every kind of pane that holds one."""

from __future__ import annotations

import pytest

from celadon.cli.playground.browser_api import expression_completions
from celadon.cli.playground.panes import Pane
from tests.cli.playground.states import DEFINITION, POLICY, WEBHOOK, state

MUTATING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: replicas}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: "Object{spec: Object.spec{replicas: 1}}"
"""
MATCHED = POLICY.replace("apps", "example.com").replace("deployments", "lamps")


@pytest.mark.parametrize(
    ("panes", "pane", "behind", "label", "detail"),
    [
        ({"policy": POLICY}, "policy", "object.spec.re", "replicas", "int"),
        ({"policy": POLICY}, "policy", "expression: ob", "object", "Deployment"),
        ({"policy": POLICY}, "policy", "expression: ob", "request", "kubernetes.AdmissionRequest"),
        ({"policy": MUTATING}, "policy", "Object.", "spec", "Object.spec"),
        ({"policy": MUTATING}, "policy", "Object.spec{", "replicas", "int"),
        ({"policy": WEBHOOK}, "policy", "object.spec.re", "replicas", "int"),
        ({"policy": DEFINITION}, "policy", "self.", "watts", "int"),
        ({"policy": MATCHED, "cluster": DEFINITION}, "policy", "object.spec.", "watts", "int"),
        ({"expression": "te", "variables": "team: a"}, "expression", "te", "team", "dyn"),
        ({"expression": "'a'.lo"}, "expression", ".lo", "lowerAscii", "<string>.lowerAscii()"),
        ({"expression": "[1].a"}, "expression", "[1].a", "all", "<range>.all(x, predicate)"),
    ],
)
def test_offers(panes: dict[str, str], pane: str, behind: str, label: str, detail: str) -> None:
    text = panes[pane]
    if "expression: ob" in behind:
        text = text.replace("object.spec.replicas <= 5", "ob")
    before = text[: text.index(behind) + len(behind)]
    line, character = before.count("\n"), len(before.rpartition("\n")[2])
    mode = "expression" if "expression" in panes else "validating"
    given = state(mode=mode, panes={**panes, pane: text})
    found = expression_completions(given, Pane(pane), line, character)
    assert found is not None
    (offer,) = [one for one in found["completions"] if one["label"] == label]
    assert offer["detail"].startswith(detail)
    assert before.endswith(behind[len(behind) - found["typed"] :])


def test_a_literal_offers_nothing_and_yaml_is_no_expression() -> None:
    given = state(mode="expression", panes={"expression": "'abc'", "policy": POLICY})
    found = expression_completions(given, Pane.EXPRESSION, 0, 3)
    assert found == {"typed": 0, "completions": []}
    assert expression_completions(given, Pane.POLICY, 1, 4) is None
    assert expression_completions(given, Pane.OBJECT, 0, 0) is None


def test_variables_that_cannot_be_read_are_none() -> None:
    given = state(mode="expression", panes={"expression": "a", "variables": "a: ["})
    found = expression_completions(given, Pane.EXPRESSION, 0, 1)
    assert found is not None
    assert "a" not in [one["label"] for one in found["completions"]]
