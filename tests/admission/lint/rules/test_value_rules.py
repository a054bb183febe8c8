"""Comparisons, patterns, names: values that are not what they look like."""

from __future__ import annotations

import pytest

from celadon.admission.lint.findings import Replacement
from tests.admission.lint.linting import about, about_rules, documents, found, policy, rule_of

AT = "spec.validations[0].expression"


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("object.spec.replicas == '1'", 21),
        ("object.spec.replicas != null", 21),
        ("object.spec.strategy.type == 'recreate'", 26),
        ("'recreate' != object.spec.strategy.type", 11),
        ("object.spec.strategy.type in ['recreate']", 26),
        ("request.operation == 'DELETE'", 18),
        ("request.operation in ['DELETE', 'CONNECT']", 18),
        ("request.operation == 'create'", 18),
        ("request.kind.kind == 'Pod'", 18),
        ("5 in ['x']", 2),
    ],
)
def test_constant_comparisons(text: str, offset: int) -> None:
    if text == "5 in ['x']":
        text = "object.spec.replicas in ['x']"
        offset = 21
    assert about("CEL030", text) == [(AT, offset)]


@pytest.mark.parametrize(
    "text",
    [
        "object.spec.replicas == 1",
        "object.spec.replicas in [1, 2]",
        "object.spec.strategy.type == 'Recreate'",
        "object.spec.strategy.type in ['recreate', 'Recreate']",
        "request.operation == 'UPDATE'",
        "request.operation in ['DELETE', 'UPDATE']",
        "request.kind.kind == 'Deployment'",
        "request.kind.kind == object.kind",
        "object.spec.template != null",
        "object.metadata.name == 'x'",
        "object.metadata.labels.x == 'y'",
    ],
)
def test_comparisons_with_two_outcomes(text: str) -> None:
    assert about("CEL030", text) == []


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("object.spec.replicas == object.spec.replicas", True),
        ("object.spec.replicas != object.spec.replicas", True),
        ("object.spec.replicas == oldObject.spec.replicas", False),
        ("object.spec.replicas < object.spec.replicas", False),
        ("size('a') == size('a')", False),
    ],
)
def test_same_operands(text: str, speaks: bool) -> None:
    assert bool(about("CEL031", text)) is speaks


@pytest.mark.parametrize(
    ("pattern", "speaks"),
    [
        ("web", True),
        ("registry[.]example[.]com/", True),
        ("^web", False),
        ("web$", False),
        ("(?i)^web$", False),
        ("\\\\Aweb", False),
    ],
)
def test_patterns(pattern: str, speaks: bool) -> None:
    assert bool(about("CEL032", f"object.metadata.name.matches('{pattern}')")) is speaks
    assert bool(about("CEL032", f"matches(object.metadata.name, '{pattern}')")) is speaks


def test_patterns_that_are_computed() -> None:
    assert about("CEL032", "object.metadata.name.matches(object.metadata.namespace)") == []


def test_a_pattern_of_what_is_denied_may_be_anywhere() -> None:
    assert about("CEL032", "!object.metadata.name.matches('admin')") == []
    assert about("CEL032", "!matches(object.metadata.name, 'admin')") == []
    assert about("CEL032", "!(object.metadata.name.matches('admin') && true)") != []


def test_escapes_are_fixed() -> None:
    (one,) = found("CEL033", *documents(rule_of("CEL033").bad))
    fix = one.fix
    assert isinstance(fix, Replacement)
    assert (fix.old, fix.text, fix.spot.offset) == (".max__dash__size", "['max-size']", 11)


@pytest.mark.parametrize("before", ["", "  ", "true && ", "\n true && "])
def test_escapes_are_fixed_where_they_stand(before: str) -> None:
    definition, given = documents(rule_of("CEL033").bad)
    (validation,) = given["spec"]["validations"]
    validation["expression"] = before + validation["expression"]
    (one,) = found("CEL033", definition, given)
    assert isinstance(one.fix, Replacement)
    at = len(before) + 11
    assert (one.fix.old, one.fix.spot.offset) == (".max__dash__size", at)
    assert validation["expression"][at:].startswith(one.fix.old)


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("namespaceObject.metadata.UID == 'x'", True),
        ("namespaceObject.metadata.creationTimestamp < timestamp('2024-01-01T00:00:00Z')", True),
        ("has(namespaceObject.metadata.deletionTimestamp)", False),
        ("namespaceObject.metadata.deletionTimestamp == null", True),
        ("namespaceObject.metadata.labels.x == 'y'", False),
        ("namespaceObject.metadata == namespaceObject.metadata", False),
        ("namespaceObject.spec.finalizers.size() > 0", False),
        ("object.metadata.creationTimestamp != ''", False),
    ],
)
def test_namespace_metadata(text: str, speaks: bool) -> None:
    assert bool(about("CEL034", text)) is speaks


def test_what_to_write_instead_of_namespace_metadata() -> None:
    text = "namespaceObject.metadata.UID == 'x'"
    (one,) = found("CEL034", policy(validations=[{"expression": text}]))
    assert one.help == "write `dyn(namespaceObject).metadata.uid`"
    text = "namespaceObject.metadata.creationTimestamp < timestamp('2024-01-01T00:00:00Z')"
    (one,) = found("CEL034", policy(validations=[{"expression": text}]))
    assert one.message.startswith("`creationTimestamp` is a text at run time")
    assert one.help == "write `timestamp(dyn(namespaceObject).metadata.creationTimestamp)`"


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("[1, 2].all(x, object.metadata.name != '')", True),
        ("[1, 2].exists(x, y > 1 || true)", False),
        ("[1, 2].all(x, x > 0)", False),
        ("[1, 2].all(x, [3].exists(y, x == y))", False),
        ("[1, 2].map(x, 1) == [1, 1]", True),
        ("{'a': 1}.all(k, v, v > 0)", False),
        ("{'a': 1}.all(k, v, true)", True),
    ],
)
def test_unused_elements(text: str, speaks: bool) -> None:
    assert bool(about("CEL035", text)) is speaks


@pytest.mark.parametrize(
    ("code", "rule", "offset"),
    [
        ("CEL030", "self.mode == 'C'", 10),
        ("CEL030", "self.mode in ['C', 'D']", 10),
        ("CEL030", "self.mode in ['A', 'C']", None),
        ("CEL030", "oldSelf.mode == 'C'", None),  # may have been allowed when it was stored
        ("CEL030", "self.modes.all(key, key == 'C')", None),
        ("CEL031", "self.mode == self.mode", 10),
        ("CEL031", "self.mode == oldSelf.mode", None),
        ("CEL032", "self.mode.matches('a')", 18),
        ("CEL032", "self.mode.matches('^a$')", None),
        ("CEL035", "self.modes.all(key, self.mode == 'A')", 4),
    ],
)
def test_values_in_rules_of_definitions(code: str, rule: str, offset: int | None) -> None:
    mode = {"type": "string", "enum": ["A", "B"], "maxLength": 9}
    modes = {"type": "object", "additionalProperties": mode, "maxProperties": 9}
    spots = about_rules(
        code, rule, required=["mode", "modes"], properties={"mode": mode, "modes": modes}
    )
    assert spots == ([] if offset is None else [(0, "rule", offset)])
