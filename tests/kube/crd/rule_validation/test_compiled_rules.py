"""Estimates from schemas: the examples of the reference."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.rule_validation import compile_rules
from celadon.kube.library.environments import environment
from celadon.kube.schemas.definition_schemas import decode_schema

ALL = "self.all(x, true)"


def text(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def array(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def mapping(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **more}


ESTIMATES = [
    (array({"type": "number"}), ALL, 4718591),
    (array({"type": "number"}, maxItems=10), ALL, 32),
    (array({"type": "string"}), ALL, 3145727),
    (array({"type": "string"}, maxItems=20), ALL, 62),
    (array({"type": "boolean"}), ALL, 1887437),
    (array({"type": "boolean"}, maxItems=5), ALL, 17),
    (mapping({"type": "number"}), ALL, 1348169),
    (mapping({"type": "number"}, maxProperties=10), ALL, 32),
    (mapping({"type": "string"}), ALL, 1179647),
    (mapping({"type": "string"}, maxProperties=3), ALL, 11),
    (text(), "self.contains('test')", 314574),
    (text(maxLength=10), "self.contains('test')", 5),
    (text(), "self.startsWith('test')", 2),
    (text(), "size(self + 'hello') > size('hello')", 314578),
    (text(maxLength=4), "size(self + 'hello') > size('hello')", 7),
    (array({"type": "string"}), "self[1] == self[1]", 314577),
    (
        array(array({"type": "number"}, maxItems=10), maxItems=10),
        "self.all(x, x.all(y, true))",
        352,
    ),
    (text(), "self.matches('x')", 314574),
    (text(maxLength=50), "self.matches('x')", 22),
    (mapping({"type": "string"}), "self.all(x, x.contains(self[x]))", None),
    (array({"type": "string", "format": "date"}), ALL, 725936),
    (array({"type": "string", "format": "date"}, maxItems=15), ALL, 47),
    (array({"type": "string", "format": "date-time"}), ALL, 428963),
    (array({"type": "string", "format": "date-time"}, maxItems=25), ALL, 77),
    (array({"type": "string", "format": "duration"}), ALL, 2359295),
    (array({"type": "string", "format": "duration"}, maxItems=5), ALL, 17),
    (array({"type": "string"}), "self.join(' ') == 'aa bb'", 329853068905),
    (array({"type": "string"}), "self.isSorted() == true", 329854432052),
    (text(enum=["A", "B", "C", "LongValue"]), "self.contains('A')", 2),
    (text(enum=["A", "B", "C", "LongValue"], maxLength=1000), "self.contains('A')", 401),
    ({"x-kubernetes-int-or-string": True}, "isQuantity(self)", 314574),
    ({"x-kubernetes-int-or-string": True, "maxLength": 20}, "isQuantity(self)", 9),
]


@pytest.mark.parametrize(("schema", "rule", "cost"), ESTIMATES)
def test_estimates(schema: dict[str, Any], rule: str, cost: int | None) -> None:
    given = {**schema, "x-kubernetes-validations": [{"rule": rule}]}
    [compiled] = compile_rules(decode_schema(given), environment("1.36"), is_root=False).rules
    assert compiled.rule is not None, compiled.error
    if cost is not None:
        assert compiled.rule.max_cost == cost
