"""Trees, costs and changes of a request."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.playground.judging import Desk
from tests.cli.playground.states import DEFINITION, POLICY, WEBHOOK, deployment, lamp, state
from tests.cli.playground.test_item_trees import walk

MUTATING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: team}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{metadata: Object.metadata{labels: {"team": "web"}}}'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: team}
spec: {policyName: team}
"""


def details(mode: str = "validating", **panes: str) -> Any:
    return Desk().details(state(mode, panes=panes))


def labelled(found: Any, label: str) -> Any:
    (tree,) = found["explanation"]
    (item,) = (one for one in walk(tree) if one["label"] == label)
    return item


def test_costs_against_their_budgets() -> None:
    found = details(policy=POLICY, object=deployment(6))["costs"]
    assert [(one["field"], one.get("expression", False)) for one in found] == [
        ("validations", False),
        ("spec.validations[0].expression", True),
    ]
    assert all(0 < one["spent"] < one["limit"] for one in found)
    assert found[0]["policy"] == found[0]["binding"] == "limit"


def test_what_mutating_policies_make_of_an_object() -> None:
    (change,) = details("mutating", policy=MUTATING, object=deployment(1))["mutations"]
    assert change["object"] == "Deployment default/web"
    assert change["policies"] == ["team"]
    assert "+    team: web" in change["diff"]
    assert details(policy=POLICY, object=deployment(1))["mutations"] == []


@pytest.mark.parametrize(
    ("replicas", "said", "value"),
    [(3, "gets the request", "true"), (2, "does not get the request", "false")],
)
def test_match_conditions_of_webhooks(replicas: int, said: str, value: str) -> None:
    found = labelled(
        details("webhook", policy=WEBHOOK, object=deployment(replicas)),
        "validating webhook hook.example.com",
    )
    assert found["text"] == said
    labels = [one["label"] for one in found["items"]]
    assert labels == ["matches", "matchConditions[0] `many`", "cost of matchConditions"]
    assert found["items"][1]["text"] == value
    assert found["items"][1]["expression"]["pieces"][0]["state"] == value


def test_webhooks_with_errors_in_their_conditions() -> None:
    hook = WEBHOOK.replace("object.spec.replicas", "object.spec.nothing")
    found = details("webhook", policy=hook, object=deployment(1))
    refused = labelled(found, "validating webhook hook.example.com")
    assert refused["text"].startswith("the request is refused: ")
    ignoring = hook.replace("  sideEffects", "  failurePolicy: Ignore\n  sideEffects")
    found = details("webhook", policy=ignoring, object=deployment(1))
    ignored = labelled(found, "validating webhook hook.example.com")
    assert "an error that is ignored: " in ignored["text"]
    other = WEBHOOK.replace("deployments", "daemonsets")
    found = details("webhook", policy=other, object=deployment(1))
    missed = labelled(found, "validating webhook hook.example.com")
    assert (missed["text"], missed["style"]) == ("does not get the request", "idle")


@pytest.mark.parametrize(("watts", "style", "value"), [(60, "good", "true"), (61, "bad", "false")])
def test_rules_of_custom_resources(watts: int, style: str, value: str) -> None:
    found = labelled(details("rules", policy=DEFINITION, object=lamp(watts)), "rules of Lamp")
    rule, budget = found["items"]
    assert (found["style"], rule["style"], rule["label"]) == (style, style, "spec")
    assert rule["text"].startswith(f"{value}, cost ")
    assert rule["expression"]["pieces"][0]["state"] == value
    assert budget["label"] == "cost of x-kubernetes-validations"


def test_only_so_many_rules_are_shown() -> None:
    many = DEFINITION.replace(
        "watts: {type: integer, maximum: 1000}",
        "watts: {type: integer}\n              all: {type: array, items: {type: integer, "
        "x-kubernetes-validations: [{rule: self > 0}]}, maxItems: 500}",
    )
    thing = lamp(1).replace("watts: 1", f"watts: 1, all: {[1] * 300}")
    found = labelled(details("rules", policy=many, object=thing), "rules of Lamp")
    assert found["items"][-2]["text"] == "101 more"
