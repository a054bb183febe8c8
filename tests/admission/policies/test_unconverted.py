"""Policies that would need the answer of a conversion webhook, where nobody calls it."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Cause, ObjectWorld, Outcome
from celadon.admission.partial_decisions import judged_partly
from celadon.admission.policies.validating import Engine
from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.admission.building import binding, config_map, policy, request

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "boxes.x.io"},
    "spec": {
        "group": "x.io",
        "names": {"kind": "Box", "plural": "boxes"},
        "scope": "Namespaced",
        "conversion": {"strategy": "Webhook"},
        "versions": [
            {"name": "v1", "served": True, "storage": True},
            {"name": "v2", "served": True, "storage": False},
        ],
    },
}
BOX = {
    "apiVersion": "x.io/v2",
    "kind": "Box",
    "metadata": {"name": "b", "namespace": "ns"},
    "spec": {"new": 1},
}
RULE = {
    "apiGroups": ["x.io"],
    "apiVersions": ["v1"],
    "operations": ["*"],
    "resources": ["boxes"],
}
WORLD = ObjectWorld([CRD, BOX], implicit_namespaces=True)
ABOUT_BOXES = {
    "matchConstraints": {"resourceRules": [RULE]},
    "validations": [{"expression": "!has(object.spec.old)"}],
}
BY_BOXES = {
    "paramKind": {"apiVersion": "x.io/v1", "kind": "Box"},
    "validations": [{"expression": "!has(params.spec.old)"}],
}
WHY = (
    "failed to configure binding: failed to convert object version: the conversion webhook for "
    "x.io/v2, Kind=Box is not called, so the object is not known as x.io/v1"
)
BOUND = binding(paramRef={"name": "b", "parameterNotFoundAction": "Allow"})
ASKED = request(
    BOX,
    kind=GroupVersionKind("x.io", "v2", "Box"),
    resource=GroupVersionResource("x.io", "v2", "boxes"),
    name="b",
)
CASES = [(ABOUT_BOXES, binding(), ASKED), (BY_BOXES, BOUND, request(config_map()))]


@pytest.mark.parametrize(("spec", "bound", "asked"), CASES)
def test_whoever_has_to_decide_fails(spec: dict[str, Any], bound: Any, asked: Any) -> None:
    verdict = Engine([policy(**spec)], [bound]).review(asked, WORLD)
    assert verdict.message.endswith(WHY)
    assert [one.cause for one in verdict.decisions] == [Cause.CONFIGURATION]
    ignores = Engine([policy(**spec, failurePolicy="Ignore")], [bound])
    assert ignores.review(asked, WORLD).allowed


@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
@pytest.mark.parametrize(("spec", "bound", "asked"), CASES)
def test_whoever_tells_what_policies_say_leaves_it_open(
    spec: dict[str, Any], bound: Any, asked: Any, failure_policy: str
) -> None:
    engine = Engine([policy(**spec, failurePolicy=failure_policy)], [bound])
    verdict = engine.noted(asked, WORLD)
    assert verdict.allowed
    (note,) = verdict.notes
    assert (note.outcome, note.binding, note.detail) == (Outcome.UNDECIDED, "b", WHY)
    partial = judged_partly(engine, asked, WORLD, ())
    assert (partial.undecided, partial.decisions) == ({"p"}, [])


def test_the_version_that_is_there_is_judged() -> None:
    rule = {**RULE, "apiVersions": ["v2"]}
    spec: dict[str, Any] = {**ABOUT_BOXES, "matchConstraints": {"resourceRules": [rule]}}
    (note,) = Engine([policy(**spec)], [binding()]).noted(ASKED, WORLD).notes
    assert note.outcome is Outcome.EVALUATED
