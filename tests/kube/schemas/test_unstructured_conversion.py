"""Objects that Go converts without having read them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.unstructured_conversion import with_go_numbers
from celadon.kube.schemas.value_decoding import DecodeError

DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
NUMBERS: list[tuple[GroupVersionKind, dict[str, Any], dict[str, Any]]] = [
    (DEPLOYMENT, {"spec": {"replicas": 2.0}}, {"spec": {"replicas": 2}}),
    (DEPLOYMENT, {"spec": {"replicas": 2**33 + 5}}, {"spec": {"replicas": 5}}),
    (DEPLOYMENT, {"spec": {"replicas": 2**31}}, {"spec": {"replicas": -(2**31)}}),
    (DEPLOYMENT, {"spec": {"replicas": 2**31 - 1}}, {"spec": {"replicas": 2**31 - 1}}),
    (DEPLOYMENT, {"metadata": {"generation": 2**64 + 1}}, {"metadata": {"generation": -(2**63)}}),
    (DEPLOYMENT, {"spec": {"replicas": 2**64 + 5}}, {"spec": {"replicas": 0}}),
    (DEPLOYMENT, {"spec": {"replicas": True}}, {"spec": {"replicas": True}}),
    (DEPLOYMENT, {"spec": {"replicas": "x"}}, {"spec": {"replicas": "x"}}),
    (DEPLOYMENT, {"metadata": {"name": 1.0}, "x": 2.0}, {"metadata": {"name": 1.0}, "x": 2.0}),
    (
        GroupVersionKind("", "v1", "Pod"),
        {"spec": {"containers": [{"ports": [{"containerPort": 80.0}]}], "overhead": {"cpu": 1.0}}},
        {"spec": {"containers": [{"ports": [{"containerPort": 80}]}], "overhead": {"cpu": 1.0}}},
    ),
    (
        GroupVersionKind("resource.k8s.io", "v1", "ResourceSlice"),
        {"spec": {"devices": [{"name": "d", "attributes": {"a": {"int": 5.0}, "b": {}}}]}},
        {"spec": {"devices": [{"name": "d", "attributes": {"a": {"int": 5}, "b": {}}}]}},
    ),
    (
        GroupVersionKind("", "v1", "Service"),
        {"spec": {"ports": [{"targetPort": 80.0}]}},
        {"spec": {"ports": [{"targetPort": 80.0}]}},
    ),
]


@pytest.mark.parametrize(("kind", "value", "wanted"), NUMBERS)
def test_numbers_become_integers_of_go(
    kind: GroupVersionKind, value: dict[str, Any], wanted: dict[str, Any]
) -> None:
    found = with_go_numbers(value, kind)
    assert json.dumps(found) == json.dumps(wanted)
    unknown = GroupVersionKind("x.io", "v1", "Box")
    assert with_go_numbers(value, unknown) == value


def test_fractions_do_not_fit_integers() -> None:
    with pytest.raises(DecodeError, match="cannot convert float64 to int32"):
        with_go_numbers({"spec": {"replicas": 1.5}}, DEPLOYMENT)
    with pytest.raises(DecodeError, match="cannot convert float64 to int64"):
        with_go_numbers({"metadata": {"generation": 1.5}}, DEPLOYMENT)
