"""What is said of a configuration that does not fit its schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.fieldmanager.merge_types import built_in_type, made_type
from celadon.kube.fieldmanager.structured_merge import applied_set, fitting_set, joined, misfits
from celadon.kube.go.go_json import read_json
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import decode_schema
from tests.kube.fieldmanager.field_set_values import TYPE, VALUES

DEPLOYMENT = built_in_type(GroupVersionKind("apps", "v1", "Deployment"))
CONFIG_MAP = built_in_type(GroupVersionKind("", "v1", "ConfigMap"))
STORAGE_VERSION = built_in_type(
    GroupVersionKind("internal.apiserver.k8s.io", "v1alpha1", "StorageVersion")
)
REVISION = built_in_type(GroupVersionKind("apps", "v1", "ControllerRevision"))
BINDING = built_in_type(
    GroupVersionKind("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding")
)


@pytest.mark.parametrize(
    ("kind", "value", "want"),
    [
        (CONFIG_MAP, {"zip": 1}, ".zip: field not declared in schema"),
        (CONFIG_MAP, {"metadata": {"bogus": 1}}, ".metadata.bogus: field not declared in schema"),
        (CONFIG_MAP, {"immutable": "yes"}, ".immutable: expected boolean, got &{yes}"),
        (CONFIG_MAP, {"data": {"a": 5}},
         ".data.a: expected string, got &value.valueUnstructured{Value:5}"),
        (CONFIG_MAP, {"data": {"a": ["x", None]}},
         ".data.a: expected string, got &value.valueUnstructured"
         '{Value:[]interface {}{"x", interface {}(nil)}}'),
        (CONFIG_MAP, {"data": "x"}, ".data: expected map, got &{x}"),
        (CONFIG_MAP, {"data": [1]}, ".data: expected map, got &{[1]}"),
        (DEPLOYMENT, {"spec": {"replicas": "1"}},
         ".spec.replicas: expected numeric (int or float), got string"),
        (DEPLOYMENT, {"spec": {"replicas": {}}},
         ".spec.replicas: expected numeric (int or float), got map[string]interface {}"),
        (DEPLOYMENT, {"spec": {"template": {"spec": {"volumes": {"name": "v"}}}}},
         ".spec.template.spec.volumes: expected list, got &{map[name:v]}"),
        (DEPLOYMENT, {"spec": {"template": {"spec": {"containers": [{"args": [1]}]}}}},
         '.spec.template.spec.containers[name=""].args[0]: expected string, got '
         "&value.valueUnstructured{Value:1}"),
        (DEPLOYMENT, {"spec": {"template": {"spec": {"imagePullSecrets": [{}, {}]}}}},
         '.spec.template.spec.imagePullSecrets: duplicate entries for key [name=""]'),
        (BINDING, {"spec": {"validationActions": ["Deny", "Deny"]}},
         '.spec.validationActions: duplicate entries for key [="Deny"]'),
        (CONFIG_MAP, {"metadata": {"creationTimestamp": [1]}},
         ".metadata.creationTimestamp: expected any scalar, got &{[1]}"),
    ],
)  # fmt: skip
def test_misfits(kind: Any, value: Any, want: str) -> None:
    assert misfits(kind, value) == [want]
    assert fitting_set(kind, value) is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (DEPLOYMENT, {"spec": {"replicas": 2.5, "strategy": None}}),
        (REVISION, {"data": 5}),
        (REVISION, {"data": [{"a": 1}]}),
        (DEPLOYMENT, read_json('{"spec": {"replicas": 2.50}}').value),
        (CONFIG_MAP, {"data": {"a": None}, "metadata": {"creationTimestamp": "x"}}),
        (STORAGE_VERSION, {"spec": {"a": 1}}),  # a struct without fields takes any
    ],
)
def test_what_fits(kind: Any, value: Any) -> None:
    assert misfits(kind, value) == []
    assert fitting_set(kind, value) == applied_set(kind, value)


def test_several_errors_have_a_line_each() -> None:
    assert joined(["a", "b"]) == "errors:\n  a\n  b"
    assert joined(["a"]) == "a"


def test_an_item_without_keys_ends_its_list() -> None:
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    item = {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}
    kind = made_type(decode_schema({"type": "array", "items": item, **keyed}))
    why = (
        'element 0: associative list with keys has an element that omits all key fields ["k"] '
        "(and doesn't have default values for any key fields)"
    )
    assert misfits(kind, [{"v": 1}, {"k": 5}]) == [why]
    assert fitting_set(kind, [{"v": 1}, {"k": 5}]) is None


@given(VALUES)
def test_values_of_a_type_fit_it(value: dict[str, Any]) -> None:
    assert misfits(TYPE, value) == []
    assert fitting_set(TYPE, value) == applied_set(TYPE, value)


_OTHERS: st.SearchStrategy[Any] = st.sampled_from(
    ["x", 1, 2.5, True, None, {}, [], [1, 1], ["x"], {"a": 1}, [{}, {}]]
)


def _spoilt(value: Any, data: st.DataObject) -> Any:
    """The value with something else in one place, or with one item twice."""
    if not isinstance(value, dict | list) or not value or data.draw(st.integers(0, 4)) == 0:
        return data.draw(_OTHERS)
    if isinstance(value, list) and data.draw(st.booleans()):
        return [*value, value[0]]
    place: Any = data.draw(st.sampled_from([*value] if isinstance(value, dict) else [0]))
    changed = value.copy()
    changed[place] = _spoilt(value[place], data)
    return changed


@given(VALUES, st.data())
def test_one_walk_finds_what_two_find(value: dict[str, Any], data: st.DataObject) -> None:
    spoilt = _spoilt(value, data)
    expected = None if misfits(TYPE, spoilt) else applied_set(TYPE, spoilt)
    assert fitting_set(TYPE, spoilt) == expected
