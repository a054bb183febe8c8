"""The rules of definitions: where they are, and what they may name."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.lint.findings import Role
from celadon.admission.lint.lint_context import RuleCase
from celadon.admission.lint.linter import rule_cases
from tests.admission.lint.linting import definition

RULE = [{"rule": "self == self"}]


def cases(schema: Any) -> dict[str, RuleCase]:
    """By their places in the schema."""
    given = definition()
    given["spec"]["versions"][0]["schema"] = schema
    found = rule_cases(3, given, "1.36")
    return {".".join(map(str, one.expressions[0].path.steps[5:-2])): one for one in found}


def test_places() -> None:
    text = {"type": "string", "x-kubernetes-validations": RULE}
    properties = {
        "in.name": text,
        "list": {"type": "array", "items": text},
        "map": {"type": "object", "additionalProperties": text},
        "other": {"type": "string"},
        "without-type": {"x-kubernetes-validations": RULE},
    }
    whole = {"type": "object", "properties": properties, "x-kubernetes-validations": RULE}
    found = cases({"openAPIV3Schema": whole})
    assert {place: one.is_root for place, one in found.items()} == {
        "x-kubernetes-validations": True,
        "properties.in.name.x-kubernetes-validations": False,
        "properties.list.items.x-kubernetes-validations": False,
        "properties.map.additionalProperties.x-kubernetes-validations": False,
    }
    assert {one.document for one in found.values()} == {3}


@pytest.mark.parametrize("schema", [None, [], {}, {"openAPIV3Schema": None}])
def test_versions_without_a_schema(schema: Any) -> None:
    assert cases(schema) == {}


@pytest.mark.parametrize(
    ("rule", "compiles"),
    [
        ({"rule": "self == oldSelf"}, [True]),
        ({"rule": "self == oldSelf", "optionalOldSelf": True}, [False]),
        ({"rule": "oldSelf.hasValue()", "optionalOldSelf": True}, [True]),
        ({"rule": "self ==", "messageExpression": "self"}, [False, True]),
        ({"rule": "object == 1"}, [False]),
    ],
)
def test_expressions(rule: dict[str, Any], compiles: list[bool]) -> None:
    schema = {"type": "string", "x-kubernetes-validations": [rule]}
    (case,) = cases({"openAPIV3Schema": {"type": "object", "properties": {"x": schema}}}).values()
    assert [one.checked is not None for one in case.expressions] == compiles
    assert [one.role for one in case.expressions] == [Role.RULE, Role.MESSAGE][: len(compiles)]
    assert case.sources[0].rule == rule["rule"]
