"""What is said against claims to devices, their templates and classes."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.go.go_json import read_json
from celadon.kube.validation.field_checks import CONSUMABLE_CAPACITY
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
GROUP = "resource.k8s.io/v1"
NO_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)


def exactly(name: str = "r", **fields: Any) -> Json:
    return {"name": name, "exactly": {"deviceClassName": "c", **fields}}


def alternatives(*names: str) -> Json:
    found = [{"name": name, "deviceClassName": "c"} for name in names]
    return {"name": "r", "firstAvailable": found}


def claim(*requests: Json, **devices: Any) -> Json:
    return obj(GROUP, "ResourceClaim", spec={"devices": {"requests": list(requests), **devices}})


def opaque(**fields: Any) -> Json:
    return {"opaque": {"driver": "d", "parameters": {"a": 1}, **fields}}


def device_class(**spec: Any) -> Json:
    return obj(GROUP, "DeviceClass", spec=spec)


SELECTOR = {"cel": {"expression": "true"}}
GOOD = [
    claim(exactly(selectors=[SELECTOR])),
    claim(
        alternatives("a", "b"),
        constraints=[{"requests": ["r"], "matchAttribute": "a.b/c"}],
        config=[{"requests": ["r/a"], **opaque()}],
    ),
    claim(exactly(allocationMode="All", tolerations=[{"key": "a", "operator": "Exists"}])),
    obj(GROUP, "ResourceClaimTemplate", spec={"spec": claim(exactly())["spec"]}),
    device_class(selectors=[SELECTOR], config=[opaque()], extendedResourceName="a.b/c"),
]
AT = "spec.devices"


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            claim({"name": "r"}, {**exactly("s"), "firstAvailable": [{"name": "a"}]}),
            [
                f"{AT}.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` "
                "is required",
                f"{AT}.requests[1]: Invalid value: null: exactly one of `exactly` or "
                "`firstAvailable` is required, but multiple fields are set",
            ],
        ),
        (
            claim(exactly(), exactly()),
            [f'{AT}.requests[1]: Duplicate value: "r"'],
        ),
        (
            claim(*(exactly(f"r{number}") for number in range(33))),
            [f"{AT}.requests: Too many: 33: must have at most 32 items"],
        ),
        (
            claim(
                exactly(deviceClassName="", allocationMode="x", selectors=[{}]),
                exactly("s", allocationMode="All", count=1),
                exactly("t", count=-1),
            ),
            [
                f"{AT}.requests[0].exactly.deviceClassName: Required value",
                f"{AT}.requests[0].exactly.selectors[0].cel: Required value",
                f'{AT}.requests[0].exactly.allocationMode: Unsupported value: "x": supported '
                'values: "All", "ExactCount"',
                f"{AT}.requests[1].exactly.count: Invalid value: 1: must not be specified when "
                "allocationMode is 'All'",
                f"{AT}.requests[2].exactly.count: Invalid value: -1: must be greater than zero",
            ],
        ),
        (
            claim(
                exactly(
                    selectors=[{"cel": {"expression": "x" * 10241}}],
                    tolerations=[
                        {"operator": "Exists", "value": "v"},
                        {"operator": "x", "effect": "y"},
                    ],
                )
            ),
            [
                f"{AT}.requests[0].exactly.selectors[0].cel.expression: Too long: may not be more "
                "than 10240 bytes",
                f'{AT}.requests[0].exactly.tolerations[0].value: Invalid value: "v": must be empty '
                "for operator `Exists`",
                f'{AT}.requests[0].exactly.tolerations[1].operator: Unsupported value: "x": '
                'supported values: "Equal", "Exists"',
                f'{AT}.requests[0].exactly.tolerations[1].effect: Unsupported value: "y": '
                'supported values: "NoExecute", "NoSchedule", "None"',
            ],
        ),
        (
            claim(
                alternatives("a"),
                constraints=[{"requests": ["x", "r/b", "r/a/c"]}],
                config=[{"requests": ["r", "r"], "opaque": {"driver": "d"}}, {}],
            ),
            [
                f'{AT}.constraints[0].requests[0]: Invalid value: "x": {NO_REQUEST}',
                f'{AT}.constraints[0].requests[1]: Invalid value: "r/b": {NO_REQUEST}',
                f'{AT}.constraints[0].requests[2]: Invalid value: "r/a/c": {NO_REQUEST}',
                f'{AT}.constraints[0]: Required value: exactly one of "matchAttribute" or '
                '"distinctAttribute" is required, but multiple fields are set',
                f'{AT}.config[0].requests[1]: Duplicate value: "r"',
                f"{AT}.config[0].opaque.parameters: Required value",
                f"{AT}.config[1].opaque: Required value",
            ],
        ),
        (
            claim(
                exactly(),
                constraints=[
                    {"matchAttribute": "plain"},
                    {"distinctAttribute": "/x"},
                    {"matchAttribute": "a.b/"},
                    {"matchAttribute": "a.b/1"},
                ],
            ),
            [
                f'{AT}.constraints[0].matchAttribute: Invalid value: "plain": a fully qualified '
                "name must be a domain and a name separated by a slash",
                f'{AT}.constraints[1].distinctAttribute: Invalid value: "": the domain must not be '
                "empty",
                f'{AT}.constraints[2].matchAttribute: Invalid value: "": the name must not be '
                "empty",
                f'{AT}.constraints[3].matchAttribute: Invalid value: "1": a valid C identifier '
                "must start with alphabetic character or '_', followed by a string of alphanumeric "
                "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
                "validation is '[A-Za-z_][A-Za-z0-9_]*')",
            ],
        ),
        (
            device_class(
                config=[opaque(parameters=[1]), opaque(parameters={"a": "x" * 10240})],
                extendedResourceName="x",
            ),
            [
                'spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a '
                "valid JSON object",
                "spec.config[1].opaque.parameters: Too long: may not be more than 10240 bytes",
                'spec.extendedResourceName: Invalid value: "x": must be a valid extended resource '
                "name",
            ],
        ),
        (
            obj(
                GROUP,
                "ResourceClaimTemplate",
                spec={"metadata": {"labels": {"a": "-"}}, "spec": {"devices": {"requests": [{}]}}},
            ),
            3,
        ),
    ],
)
def test_complaints(value: Json, expected: list[str] | int) -> None:
    found = complaints(value)
    assert found == expected or len(found) == expected


def test_the_flat_form_of_an_old_version() -> None:
    flat = claim({"name": "r", "deviceClassName": "c", "count": -1})
    assert complaints({**flat, "apiVersion": "resource.k8s.io/v1beta1"}) == [
        f"{AT}.requests[0].exactly.count: Invalid value: -1: must be greater than zero"
    ]


def test_what_is_asked_for_stays() -> None:
    (found,) = update_complaints(claim(exactly("s")), claim(exactly("r")))
    assert found.startswith('spec: Invalid value: {"Devices":{"Requests":[{"Name":"s","Exactly":{')
    assert found.endswith(": field is immutable")


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("name", "x", "name"),
        ("generateName", "x", "generateName"),
        ("namespace", "n", "namespace"),
        ("uid", "u", "uID"),
        ("generation", 1, "generation"),
        ("creationTimestamp", "2024-01-01T00:00:00Z", "creationTimestamp"),
        ("deletionGracePeriodSeconds", 30, "deletionGracePeriodSeconds"),
        ("finalizers", ["a/b"], "finalizers"),
    ],
)
def test_templates_have_no_metadata_of_objects(field: str, value: Any, shown: str) -> None:
    template = obj(GROUP, "ResourceClaimTemplate", spec={"metadata": {field: value}, "spec": {}})
    assert complaints(template) == [f"spec.metadata.{shown}: Forbidden: cannot be set"]


def test_attributes_of_constraints_are_required_in_the_words_of_a_gate() -> None:
    value = claim(exactly(), constraints=[{}])
    assert complaints(value)[0].endswith("is required, but multiple fields are set")
    assert complaints(value, CONSUMABLE_CAPACITY) == [
        "spec.devices.constraints[0].matchAttribute: Required value"
    ]


def test_changed_requests_are_shown_as_they_are_inside() -> None:
    asked = {"deviceClassName": "d", "allocationMode": "ExactCount", "count": 2}
    inside = (
        '"Exactly":{"DeviceClassName":"d","Selectors":null,"AllocationMode":"ExactCount",'
        '"Count":2,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null'
    )
    for version, request in (("v1beta1", asked), ("v1", {"exactly": asked})):
        group = f"resource.k8s.io/{version}"
        old = obj(group, "ResourceClaim", spec={})
        requests = [{"name": "r", **request}]
        new = obj(group, "ResourceClaim", spec={"devices": {"requests": requests}})
        (found,) = update_complaints(new, old)
        assert found == (
            f'spec: Invalid value: {{"Devices":{{"Requests":[{{"Name":"r",{inside}}}],'
            '"Constraints":null,"Config":null}}: field is immutable'
        )


def test_the_prefix_of_a_class_is_not_looked_at() -> None:
    named = {**device_class(), "metadata": {"name": "a", "generateName": "X"}}
    assert complaints(named) == []


def test_changed_templates_are_judged_as_new_ones_too() -> None:
    old = obj(GROUP, "ResourceClaimTemplate", spec={"spec": {}})
    new = obj(
        GROUP, "ResourceClaimTemplate", spec={"metadata": {"labels": {"a": "b c"}}, "spec": {}}
    )
    label, spec = update_complaints(new, old)
    assert label.startswith('spec.metadata.labels: Invalid value: "b c": a valid label')
    assert spec == (
        'spec: Invalid value: {"labels":{"a":"b c"},"Spec":{"Devices":{"Requests":null,'
        '"Constraints":null,"Config":null}}}: field is immutable'
    )


@pytest.mark.parametrize("more", [{"adminAccess": False}, {"capacity": {}}, {"tolerations": []}])
def test_what_is_asked_for_may_be_nothing(more: Json) -> None:
    request = {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "c"}], **more}
    spec = {"devices": {"requests": [request]}}
    value = obj("resource.k8s.io/v1beta1", "ResourceClaim", spec=spec)
    (found, *_) = complaints(value)
    assert found.endswith("is required, but multiple fields are set")


def test_a_template_is_shown_without_empty_metadata() -> None:
    spec = {"metadata": {"labels": {}, "annotations": {"a": "b"}, "ownerReferences": []}}
    old = obj(GROUP, "ResourceClaimTemplate", spec={"spec": {}})
    (found,) = update_complaints({**old, "spec": {**spec, "spec": {}}}, old)
    assert found.startswith('spec: Invalid value: {"annotations":{"a":"b"},"Spec":')


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"a": "é" * 5116}, []),
        ({"a": "é" * 5117}, ["Too long: may not be more than 10240 bytes"]),
        (
            {"a": [1, read_json("1e400").value]},
            [
                'Invalid value: "<value omitted>": error parsing data as JSON: json: cannot '
                "unmarshal number 1e400 into Go value of type float64"
            ],
        ),
    ],
)
def test_raw_parameters(parameters: Json, fault: list[str]) -> None:
    at = "spec.config[0].opaque.parameters: "
    assert complaints(device_class(config=[opaque(parameters=parameters)])) == [
        at + one for one in fault
    ]


def test_revisions_hold_no_number_that_go_cannot_read() -> None:
    data = {"a": read_json("-1e400").value}
    told = complaints(obj("apps/v1", "ControllerRevision", data=data, revision=1))
    assert told == [
        'data: Invalid value: "<value omitted>": error parsing data: json: cannot unmarshal number '
        "-1e400 into Go value of type float64"
    ]
