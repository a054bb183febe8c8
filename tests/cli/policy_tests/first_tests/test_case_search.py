"""The search finds what a policy admits, and what each validation refuses."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.policy_tests.first_tests.case_search import MOST_TRIALS, search
from celadon.cli.policy_tests.policy_test import plain_document
from tests.cli.files import Json, binding, policy

PODS = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["pods"],
    }
]


def found(*documents: Json) -> Any:
    given = [plain_document(one, "p") for one in documents]
    return search(given, documents[0]["metadata"]["name"], "1.36")


SOLVED: dict[str, Json] = {
    "a text": policy(expression="object.data.x == 'ok'"),
    "a number": policy(expression="size(object.data.x) > 3 && object.data.x.endsWith('yes!')"),
    "a label": policy(expression="'team' in object.metadata.?labels.orValue({})"),
    "has": policy(expression="has(object.data) && has(object.data.a)"),
    "items of a list": policy(
        expression="object.spec.containers.all(c, c.image.startsWith('example.org/'))", rules=PODS
    ),
    "a variable": policy(
        variables=[{"name": "images", "expression": "object.spec.containers.map(c, c.image)"}],
        expression="variables.images.all(i, i.contains('@sha256:'))",
        rules=PODS,
    ),
    "two validations": policy(
        validations=[
            {"expression": "object.data.x == 'a' || object.data.x == 'b'"},
            {"expression": "!(object.data.x == 'b')"},
        ]
    ),
    "an update": policy(expression="object.data.x == oldObject.data.x"),
    "params": policy(
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        expression="object.data.x == params.data.x",
    ),
    "a condition on users": policy(
        matchConditions=[
            {"name": "people", "expression": "!('system:masters' in request.userInfo.groups)"}
        ],
        expression="object.data.x == 'ok'",
    ),
    "labels that selectors want": policy(
        expression="namespaceObject.metadata.labels.env == 'prod' && object.data.x == 'ok'"
    ),
}
SOLVED["labels that selectors want"]["spec"]["matchConstraints"] |= {
    "namespaceSelector": {"matchLabels": {"env": "prod"}},
    "objectSelector": {"matchLabels": {"app": "x"}},
}


@pytest.mark.parametrize("name", SOLVED)
def test_solved(name: str) -> None:
    more: Json = {}
    if name == "params":
        more = {"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}}
    result = found(SOLVED[name], binding(**more))
    assert result.is_complete
    assert result.trials <= MOST_TRIALS


def test_unsolved() -> None:
    """What is always true, or always false, is said; and the search ends."""
    always = {"expression": "object.metadata.name != ''"}
    result = found(policy(validations=[always, {"expression": "object.data.x == 'a'"}]), binding())
    assert (result.unsolved, result.admitted is None) == ([0], False)
    result = found(policy(expression="object.metadata.name == ''"), binding())
    assert (result.unsolved, result.admitted) == ([], None)
