"""The device kinds of release 1.30, which have nothing but names in common with later ones."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as
from celadon.kube.validation.built_in_validations import (
    validate_create,
    validate_status_update,
    validate_update,
)

CLUSTER = ("ResourceClass", "ResourceSlice")
REQUIRED = "Required value: exactly one structured model field must be set"


def made(kind: str, **fields: Any) -> tuple[JsonObject, GroupVersionKind]:
    group, version = "resource.k8s.io", "v1alpha2"
    meta = {"name": "x"} if kind in CLUSTER else {"name": "x", "namespace": "n"}
    head = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": meta}
    return {**head, **fields}, GroupVersionKind(group, version, kind)


def created(kind: str, **fields: Any) -> list[str]:
    with answering_as("1.30"):
        return [str(error) for error in validate_create(*made(kind, **fields))]


def status_errors(new: JsonObject, old: JsonObject, release: str = "1.30") -> list[str]:
    changed, kind = made("ResourceClaim", status=new)
    before, _ = made("ResourceClaim", status=old)
    with answering_as(release):
        return [str(error) for error in validate_status_update(changed, before, kind)]


def places(errors: list[str]) -> list[str]:
    return [error.partition(": ")[0] for error in errors]


def selector(text: str) -> JsonObject:
    return {"namedResources": {"selector": text}}


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        (
            "ResourceClaim",
            {"spec": {"resourceClassName": "A_", "parametersRef": {}, "allocationMode": "X"}},
            [
                "spec.resourceClassName",
                "spec.parametersRef.kind",
                "spec.parametersRef.name",
                "spec.allocationMode",
            ],
        ),
        (
            "ResourceClaimTemplate",
            {"spec": {"metadata": {"uid": "u"}, "spec": {"allocationMode": "Immediate"}}},
            ["spec.metadata.uID", "spec.spec.resourceClassName"],
        ),
        (
            "ResourceClass",
            {"driverName": "d", "suitableNodes": {}, "parametersRef": {"namespace": "A_"}},
            [
                "parametersRef.kind",
                "parametersRef.name",
                "parametersRef.namespace",
                "suitableNodes.nodeSelectorTerms",
            ],
        ),
        (
            "ResourceClaimParameters",
            {
                "driverRequests": [
                    {"driverName": "d", "requests": [{}, selector("")]},
                    {"driverName": "d"},
                ]
            },
            [
                "driverRequests[0].requests[0]",
                "driverRequests[0].requests[1].namedResources.selector",
                "driverRequests[1].driverName",
                "driverRequests[1].requests",
            ],
        ),
        (
            "ResourceClassParameters",
            {
                "filters": [{"driverName": "d"}],
                "vendorParameters": [{"driverName": "d"}, {"driverName": "d"}],
            },
            ["filters[0]", "vendorParameters[1].driverName"],
        ),
        (
            "ResourceSlice",
            {
                "driverName": "d",
                "nodeName": "A_",
                "namedResources": {
                    "instances": [
                        {"name": "a", "attributes": [{"name": "b"}, {"name": "b", "version": "1"}]},
                        {"name": "a"},
                    ]
                },
            },
            [
                "nodeName",
                "namedResources.instances[0].attributes[0]",
                "namedResources.instances[0].attributes[1].name",
                "namedResources.instances[0].attributes[1].version",
                "namedResources.instances[1].name",
            ],
        ),
        (
            "PodSchedulingContext",
            {"spec": {"potentialNodes": ["A_", "A_"]}},
            ["spec.potentialNodes[0]", "spec.potentialNodes[1]"],
        ),
    ],
)
def test_new_objects(kind: str, fields: dict[str, Any], expected: list[str]) -> None:
    assert places(created(kind, **fields)) == expected


def test_a_slice_needs_a_model() -> None:
    assert created("ResourceSlice", driverName="d") == [f"<nil>: {REQUIRED}"]


def test_an_attribute_has_one_value() -> None:
    attribute = {"name": "a", "bool": True, "int": 1}
    instances = [{"name": "i", "attributes": [attribute]}]
    (error,) = created("ResourceSlice", driverName="d", namedResources={"instances": instances})
    assert error.endswith(
        ': Invalid value: []string{"bool", "int"}: exactly one field must be set, not several'
    )


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("attributes.bool['a'] && attributes.stringslice['s'].size() > 0", ""),
        ("attributes.version['v'].isGreaterThan(semver('1.0.0'))", ""),
        ("attributes.quantity['q'].isGreaterThan(quantity('1Gi'))", ""),
        ("attributes.int['a']", "must evaluate to bool"),
        ("cel.bind(x, true, x)", "compilation failed: "),
        ("device.driver == 'd'", "compilation failed: "),
    ],
)
def test_selectors(expression: str, why: str) -> None:
    request = {"driverName": "d", "requests": [selector(expression)]}
    errors = created("ResourceClaimParameters", driverRequests=[request])
    assert bool(errors) == bool(why)
    assert all(f'"{expression}": {why}' in error for error in errors)


def test_what_changed_is_judged_twice() -> None:
    new, kind = made("PodSchedulingContext", spec={"potentialNodes": ["A_"]})
    with answering_as("1.30"):
        errors = validate_update(new, made("PodSchedulingContext")[0], kind)
    assert places([str(error) for error in errors]) == ["spec.potentialNodes[0]"] * 2


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({"allocation": {}}, {}, ["status.driverName"]),
        ({"driverName": "d", "allocation": {}}, {}, []),
        (
            {"driverName": "d", "allocation": {"shareable": True}},
            {"driverName": "d", "allocation": {}},
            ["status.allocation"],
        ),
        (
            {
                "driverName": "d",
                "allocation": {
                    "resourceHandles": [
                        {"driverName": "d", "data": "a", "structuredData": {"results": [{}]}}
                    ]
                },
            },
            {},
            [
                "status.allocation.resourceHandles[0].structuredData.results[0]",
                "status.allocation.resourceHandles[0]",
            ],
        ),
        (
            {
                "driverName": "d",
                "allocation": {},
                "reservedFor": [
                    {"resource": "pods", "name": "a", "uid": "u"},
                    {"resource": "pods", "uid": "u"},
                ],
            },
            {},
            ["status.reservedFor[1].uid", "status.reservedFor"],
        ),
        ({"deallocationRequested": True}, {}, ["status"]),
    ],
)
def test_statuses_of_claims(new: JsonObject, old: JsonObject, expected: list[str]) -> None:
    assert places(status_errors(new, old)) == expected
