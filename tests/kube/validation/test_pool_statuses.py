"""What is said against questions about the pools of a driver, and against answers."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import metadata
from celadon.kube.name_rules import dns1123_subdomain
from celadon.kube.validation.built_in_validations import validate_update
from celadon.kube.validation.resource_slices import pool_status
from celadon.kube.validation.scheduling import pod_group, pod_group_update, workload_update
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
TIME = "2024-01-01T00:00:00Z"


def request(**spec: Any) -> Json:
    found = {"driver": "d", **spec}
    return obj("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest", spec=found)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (request(), []),
        (request(driver="D." + "x" * 63 + ".y", poolName="a/b", limit=1000), []),
        (request(driver="", poolName="", limit=0), [
            "spec.driver: Required value",
            'spec.poolName: Invalid value: "": segment 0: must not be empty',
            "spec.limit: Invalid value: 0: must be greater than or equal to 1",
        ]),
        (request(driver="a_b", poolName="a//B", limit=1001), [
            'spec.driver: Invalid value: "a_b": an RFC 1123 subdomain must consist of alphanumeric '
            "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'Example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            'spec.poolName: Invalid value: "a//B": segment 1: must not be empty',
            f'spec.poolName: Invalid value: "B": segment 2: {dns1123_subdomain("B")[0]}',
            "spec.limit: Invalid value: 1001: must be less than or equal to 1000",
        ]),
    ],
)  # fmt: skip
def test_questions(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_what_is_said_of_metadata_is_said_once() -> None:
    owners = [{"apiVersion": "v1", "kind": kind, "name": "n", "uid": ""} for kind in "ab"]
    value = request()
    value["metadata"]["ownerReferences"] = owners
    why = 'metadata.ownerReferences.uid: Invalid value: "": must not be empty'
    assert complaints(value) == [why]
    changed = validate_update(value, request(), metadata.gvk(value))
    assert [str(error) for error in changed].count(why) == 5  # all kinds' rules say it, too


def test_a_question_stays() -> None:
    found = update_complaints(request(limit=5), request())
    assert found == ["spec: Invalid value: null: field is immutable"]


def condition(kind: str = "Complete") -> Json:
    return {
        "type": kind, "status": "True", "lastTransitionTime": TIME, "reason": "R", "message": "",
    }  # fmt: skip


SHOWN = (
    f'{{"type":"Complete","status":"True","lastTransitionTime":"{TIME}","reason":"R","message":""}}'
)


def pool(**fields: Any) -> Json:
    return {"driver": "d", "poolName": "p", "generation": 1, **fields}


def answer(*pools: Json, **fields: Any) -> Json:
    return {"status": {"poolCount": 1, "pools": list(pools), **fields}}


@pytest.mark.parametrize(
    ("value", "old", "expected"),
    [
        ({}, {}, []),
        (answer(pool(), conditions=[condition()]), {}, []),
        (answer(pool()), answer(pool()), []),
        ({}, answer(), ["status: Invalid value: null: field is immutable"]),
        (answer(pool(nodeName="n"), poolCount=-1), answer(), [
            'status: Invalid value: {"PoolCount":-1,"Pools":[{"Driver":"d","PoolName":"p",'
            '"Generation":1,"ResourceSliceCount":null,"TotalDevices":null,"AllocatedDevices":null,'
            '"AvailableDevices":null,"UnavailableDevices":null,"NodeName":"n",'
            '"ValidationError":null}],"Conditions":null}: field is immutable',
            "status.poolCount: Invalid value: -1: must be greater than or equal to 0",
        ]),
        (answer(poolCount=2, conditions=[]), answer(), [
            'status: Invalid value: {"PoolCount":2,"Pools":[],"Conditions":[]}: field is immutable',
        ]),
        ({"status": {}}, {}, ["status.poolCount: Required value"]),
        (answer(pool(driver="", poolName="", generation=0)), {}, [
            "status.pools[0].driver: Required value",
            "status.pools[0].poolName: Required value",
            "status.pools[0].generation: Required value",
        ]),
        (answer(pool(generation=-1, resourceSliceCount=0, totalDevices=-1, nodeName="",
                     validationError="é" * 129)), {}, [
            "status.pools[0].generation: Invalid value: -1: must be greater than or equal to 0",
            "status.pools[0].resourceSliceCount: Invalid value: 0: must be greater than or equal "
            "to 1",
            "status.pools[0].totalDevices: Invalid value: -1: must be greater than or equal to 0",
            f'status.pools[0].nodeName: Invalid value: "": {dns1123_subdomain("")[0]}',
            "status.pools[0].validationError: Too long: may not be more than 256 bytes",
        ]),
        (answer(*[pool()] * 1001), {}, [
            "status.pools: Too many: 1001: must have at most 1000 items",
        ]),
        (answer(conditions=[condition(), condition()]), {}, [
            'status.conditions[1].type: Duplicate value: "Complete"',
            f"status.conditions[1]: Duplicate value: {SHOWN}",
        ]),
        (answer(conditions=[condition(f"A{number}") for number in range(11)]), {}, [
            "status.conditions: Too many: 11: must have at most 10 items",
        ]),
    ],
)  # fmt: skip
def test_answers(value: Json, old: Json, expected: list[str]) -> None:
    assert list(map(str, pool_status(value, old))) == expected


def test_names_are_counted_in_bytes() -> None:
    """As the rules say that are declared with the types."""
    long = "x" * 254
    why = "must be no more than 253 bytes"
    assert complaints(request(driver=long, poolName="a")) == [
        f'spec.driver: Invalid value: "{long}": {why}'
    ]
    pool = {"driver": "d", "poolName": "p", "generation": 1, "nodeName": long}
    answered = {**request(), "status": {"poolCount": 1, "pools": [pool]}}
    assert f'"{long}": {why}' in str([*pool_status(answered, request())][-1])
    group = {
        "schedulingPolicy": {"basic": {}},
        "resourceClaims": [{"name": "x" * 64, "resourceClaimName": long}],
    }
    assert [str(error) for error in pod_group({"spec": group})][:2] == [
        f'spec.resourceClaims[0].name: Invalid value: "{"x" * 64}": must be no more than 63 bytes',
        f'spec.resourceClaims[0].resourceClaimName: Invalid value: "{long}": {why}',
    ]


def test_what_may_not_change_is_counted_all_the_same() -> None:
    claims = [{"name": f"c{index}", "resourceClaimName": "c"} for index in range(5)]
    assert [str(error) for error in pod_group_update({"spec": {"resourceClaims": claims}}, {})] == [
        "spec.resourceClaims: Invalid value: null: field is immutable",
        "spec.resourceClaims: Too many: 5: must have at most 4 items",
    ]
    templates = [{"name": f"t{index}"} for index in range(9)]
    changed = {"spec": {"podGroupTemplates": templates}}
    assert [str(error) for error in workload_update(changed, {})] == [
        "spec.podGroupTemplates: Invalid value: null: field is immutable",
        "spec.podGroupTemplates: Too many: 9: must have at most 8 items",
    ]
