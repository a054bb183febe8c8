"""Which webhooks get a request, and why: the reason is there, and it is that of `HookSet`."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.explain import HookExplanation, explain_hooks
from celadon.admission.registration import decode_webhooks
from celadon.admission.webhooks import HookSet, Selected
from celadon.kube import StatusError
from tests.admission.building import RULE, WORLD, request


def hooks(**members: Any) -> HookSet:
    webhook = {
        "name": "hook.example.com",
        "clientConfig": {"url": "https://hook.example.com/"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [RULE],
        **members,
    }
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hooks"},
        "webhooks": [webhook],
    }
    return HookSet([decode_webhooks(document, mutating=False, version="v1").value])


def explained(given: HookSet) -> HookExplanation:
    (found,) = explain_hooks(given, request(), WORLD)
    return found


def condition(expression: str) -> dict[str, Any]:
    return {"matchConditions": [{"name": "one", "expression": expression}]}


@pytest.mark.parametrize(
    ("members", "asked", "missed"),
    [
        ({}, True, ""),
        ({"rules": []}, False, "rules"),
        ({"rules": [{**RULE, "operations": ["DELETE"]}]}, False, "resourceRules"),
        ({"objectSelector": {"matchLabels": {"no": "where"}}}, False, "objectSelector"),
        (condition("1 > 2"), False, ""),
        (condition("object.nothing == 1") | {"failurePolicy": "Ignore"}, False, ""),
    ],
)
def test_the_reason_is_the_hook_set_s(members: dict[str, Any], asked: bool, missed: str) -> None:
    given = hooks(**members)
    found = explained(given)
    selected = [one for one in given.selected(request(), WORLD) if isinstance(one, Selected)]
    assert found.is_asked is bool(selected) is asked
    assert found.match.missed == missed
    assert bool(found.ignored) is ("failurePolicy" in members)


def test_an_error_refuses_the_request() -> None:
    found = explained(hooks(**condition("object.nothing == 1")))
    assert isinstance(found.refusal, StatusError)
    assert not found.is_asked
    with pytest.raises(StatusError, match="no such key: nothing"):
        list(hooks(**condition("object.nothing == 1")).selected(request(), WORLD))


def test_conditions_have_values_and_costs() -> None:
    found = explained(hooks(**condition("object.metadata.name != ''")))
    (part,) = found.conditions
    assert part.run is not None
    assert part.run.value is True
    (budget,) = found.budgets
    assert (budget.spent, budget.limit) == (part.run.cost, 2_500_000)
