"""Which gates are on, and which complaints count with them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import fieldpath, metadata
from celadon.kube.fieldpath import FieldPath
from celadon.kube.releases import answering_as
from celadon.kube.validation.built_in_validations import validate_create, validate_update
from celadon.kube.validation.field_checks import (
    COMPARED_TAINTS,
    CONSUMABLE_CAPACITY,
    HOST_NETWORK_OF_OWN_USERS,
    MUTABLE_AFFINITY,
    MUTABLE_ALLOCATABLE,
    RELAXED_SERVICE_NAMES,
    RESTART_ALL,
    SCALED_TO_ZERO,
    SELINUX_DRIVERS,
    SELINUX_MOUNT,
    STRICT_ADDRESSES,
    default_gates,
    gates_on,
    holding,
    only_with,
)
from tests.kube.validation.objects import admitted, container, obj, pod

Json = dict[str, Any]


def test_gates_follow_the_release_and_what_is_said() -> None:
    latest = default_gates()
    assert gates_on({STRICT_ADDRESSES: False}) == latest - {STRICT_ADDRESSES}
    with answering_as("1.35"):
        before = default_gates()
        assert MUTABLE_ALLOCATABLE in before
        assert gates_on({SELINUX_MOUNT: True}) == {SELINUX_MOUNT, *before}
    assert latest - before == {
        *(CONSUMABLE_CAPACITY, RELAXED_SERVICE_NAMES, RESTART_ALL, STRICT_ADDRESSES)
    }
    with answering_as("1.30"):
        assert default_gates() == {SELINUX_DRIVERS}
        on = gates_on({STRICT_ADDRESSES: True, "WatchList": True})
        assert on == {STRICT_ADDRESSES, SELINUX_DRIVERS}


def test_complaints_hang_on_a_gate_or_on_its_absence() -> None:
    always, on, off = (fieldpath.required(FieldPath(name)) for name in ("always", "on", "off"))
    errors = [always, *only_with("Gate", [on]), *only_with("!Gate", [off])]
    assert [one.field for one in holding(errors, frozenset({"Gate"}))] == ["always", "on"]
    assert [one.field for one in holding(errors, frozenset())] == ["always", "off"]


def test_a_complaint_may_hang_on_several_gates() -> None:
    inner = only_with("!Inner", [fieldpath.required(FieldPath("a"))])
    errors = list(only_with("Outer", inner))
    assert holding(errors, frozenset({"Outer"})) == errors
    assert not holding(errors, frozenset({"Outer", "Inner"}))
    assert not holding(errors, frozenset())


def test_drivers_say_what_they_mount_while_the_gate_is_on() -> None:
    spec = {"attachRequired": True, "podInfoOnMount": False, "storageCapacity": False}
    driver = obj("storage.k8s.io/v1", "CSIDriver", spec=spec)
    for gates, fields in ((frozenset({SELINUX_DRIVERS}), ["spec.seLinuxMount"]), (frozenset(), [])):
        errors = validate_create(driver, metadata.gvk(driver), gates)
        assert [error.field for error in errors] == fields


def tolerating(operator: str, value: str) -> Json:
    return pod(tolerations=[{"key": "k", "operator": operator, "value": value}])


def scaled(least: int) -> Json:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": 5}
    return obj("autoscaling/v2", "HorizontalPodAutoscaler", spec=spec)


OPERATORS = '"Equal", "Exists", "Lt", "Gt"'
AT = "spec.tolerations[0]"


@pytest.mark.parametrize(
    ("gate", "value", "on", "off"),
    [
        (COMPARED_TAINTS, tolerating("Gt", "-5"), [], [
            f'{AT}.operator: Unsupported value: "Gt": supported values: {OPERATORS}',
        ]),
        (COMPARED_TAINTS, tolerating("Lt", "007"), [
            f'{AT}.value: Invalid value: "007": must be a valid decimal integer in canonical form',
        ], [
            f'{AT}.operator: Unsupported value: "Lt": supported values: {OPERATORS}',
        ]),
        (COMPARED_TAINTS, tolerating("Lt", ""), [
            f'{AT}.value: Invalid value: "": must be non-empty',
            f'{AT}.value: Invalid value: "": strconv.ParseInt: parsing "": invalid syntax',
        ], [
            f'{AT}.operator: Unsupported value: "Lt": supported values: {OPERATORS}',
        ]),
        (HOST_NETWORK_OF_OWN_USERS, pod(container(), hostNetwork=True, hostUsers=False), [], [
            "spec.hostNetwork: Forbidden: when `hostUsers` is false",
        ]),
        (SCALED_TO_ZERO, scaled(-1), [
            "spec.minReplicas: Invalid value: -1: must be greater than or equal to 0",
        ], [
            "spec.minReplicas: Invalid value: -1: must be greater than or equal to 1",
        ]),
    ],
)  # fmt: skip
def test_what_gates_let_in(gate: str, value: Json, on: list[str], off: list[str]) -> None:
    made, kind = admitted(value), metadata.gvk(value)
    for gates, expected in ((frozenset({gate}), on), (frozenset[str](), off)):
        assert list(map(str, validate_create(made, kind, gates))) == expected


def test_where_a_volume_can_be_used_may_change_with_a_gate() -> None:
    def volume(host: str) -> Json:
        term = {"matchExpressions": [{"key": "h", "operator": "In", "values": [host]}]}
        spec = {
            "capacity": {"storage": "1"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/a"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        }
        return admitted(obj("v1", "PersistentVolume", spec=spec))

    new, old, kind = volume("b"), volume("a"), metadata.gvk(volume("a"))
    assert validate_update(new, old, kind, frozenset({MUTABLE_AFFINITY})) == []
    assert [one.field for one in validate_update(new, old, kind, frozenset())] == ["nodeAffinity"]
