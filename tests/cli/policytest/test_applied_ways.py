"""Values at their places, in objects of a kind."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.policytest.case_search import with_way
from celadon.cli.policytest.referenced_fields import SeedObjects
from celadon.cli.policytest.value_search import GONE, KEY, THERE, Length
from celadon.kube import GroupVersionKind

POD = GroupVersionKind("", "v1", "Pod")
SEEDS = SeedObjects([])
MAIN = {"name": "main", "image": "example.com/app:1"}
SECOND = {"name": "second", "image": "example.com/app:1"}


def spec(**values: Any) -> Any:
    """Of the Pod with values at places below its spec."""
    way = {
        ("spec", *(int(one) if one.isdecimal() else one for one in place.split("."))): value
        for place, value in values.items()
    }
    made = with_way(SEEDS.of(POD, {}), way.items(), SEEDS.schema(POD))
    return None if made is None else made["spec"]


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("hostNetwork", True, {"hostNetwork": True}),
        ("hostNetwork", THERE, {"hostNetwork": True}),
        ("nodeName", 7, {"nodeName": "7"}),
        ("priority", "7", {"priority": 7}),
        ("nodeName", Length(3), {"nodeName": "xxx"}),
        ("containers.0.securityContext.privileged", True, {"containers": [
            {**MAIN, "securityContext": {"privileged": True}}
        ]}),
        ("initContainers.0.image", "a", {"initContainers": [{**SECOND, "image": "a"}]}),
        ("volumes.0.hostPath.path", "/x", {"volumes": [
            {"name": "volume", "hostPath": {"path": "/x"}}
        ]}),
        ("nodeSelector." + KEY, "a", {"nodeSelector": {"a": "x"}}),
        ("containers.0.volumeMounts.0.readOnly", True, {
            "containers": [
                {
                    **MAIN,
                    "volumeMounts": [{"readOnly": True, "name": "volume", "mountPath": "/mnt"}],
                }
            ],
            "volumes": [{"name": "volume"}],
        }),
        ("containers", THERE, {}),
        ("hostNetwork", GONE, {}),
    ],
)  # fmt: skip
def test_values(place: str, value: Any, expected: Any) -> None:
    assert spec(**{place: value}) == {"containers": [MAIN], **expected}


@pytest.mark.parametrize("place", ["replicas", "template.spec.hostNetwork", "hostNetwork.a"])
def test_what_a_kind_does_not_have(place: str) -> None:
    assert spec(**{place: 1}) is None


def test_custom_kinds() -> None:
    definition = {
        "spec": {
            "group": "example.com",
            "names": {"kind": "Shop"},
            "versions": [
                {
                    "name": "v1",
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
                                    "type": "object",
                                    "properties": {"size": {"type": "integer"}},
                                }
                            },
                        }
                    },
                }
            ],
        }
    }
    kind = GroupVersionKind("example.com", "v1", "Shop")
    seeds = SeedObjects([definition])
    given, schema = seeds.of(kind, {}), seeds.schema(kind)
    made = with_way(given, [(("spec", "size"), 5), (("metadata", "labels", "a"), "b")], schema)
    assert made is not None
    assert (made["spec"], made["metadata"]["labels"]) == ({"size": 5}, {"a": "b"})
    assert with_way(given, [(("spec", "other"), 5)], schema) is None
