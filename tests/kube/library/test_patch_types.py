"""The types of mutating policies, as the checker sees them."""

from __future__ import annotations

import pytest

from celadon.cel.errors import EvaluationError
from celadon.kube.library.environments import environment
from celadon.kube.library.json_patches import PatchOperation

TYPES = [
    ("Object{}", "Object"),
    ("Object{metadata: 1}", "Object"),
    ("Object{spec: Object.spec{x: 1}}.spec", "dyn"),
    ("Object.spec.containers{x: 1}", "Object.spec.containers"),
    ("Object", "type(Object)"),
    ("JSONPatch{op: 'add', path: '/a', value: {'b': 1}}", "JSONPatch"),
    ("JSONPatch{op: 'add'}.op", "string"),
    ("[JSONPatch{nope: dyn(1)}]", "list(JSONPatch)"),
]


@pytest.mark.parametrize(("text", "type_"), TYPES)
def test_types(text: str, type_: str) -> None:
    checked = environment(has_patch_types=True).compile(text).checked()
    assert str(checked.type) == type_


PROBLEMS = [
    ("JSONPatch{op: 1}", "expected type of field 'op' is 'string' but provided type is 'int'"),
    ("JSONPatch{nope: 1}", "expected type of field 'nope' is '' but provided type is 'int'"),
    ("Objects{}", "undeclared reference to 'Objects'"),
]


@pytest.mark.parametrize(("text", "message"), PROBLEMS)
def test_problems(text: str, message: str) -> None:
    assert message in environment(has_patch_types=True).compile(text).issues.display()


def test_only_in_mutations() -> None:
    issues = environment().compile("Object{}").issues
    assert "undeclared reference to 'Object'" in issues.display()


@pytest.mark.parametrize(
    ("fields", "present"),
    [
        ({}, []),
        ({"op": "add", "path": "/a", "from": ""}, ["op", "path"]),
        ({"value": None, "from": "/b"}, ["from", "value"]),
    ],
)
def test_which_fields_an_operation_has(fields: dict[str, object], present: list[str]) -> None:
    operation = PatchOperation(fields)
    assert [name for name in ("op", "path", "from", "value") if operation.has(name)] == present
    assert operation.has_value is ("value" in fields)
    assert operation.equals(PatchOperation({**fields}))
    assert not operation.equals(PatchOperation({**fields, "value": "other"}))
    with pytest.raises(EvaluationError, match=r"^unsupported field: nope$"):
        operation.has("nope")
