"""What is said against the status of a pod."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as, previous_minor
from celadon.kube.validation.field_checks import holding
from celadon.kube.validation.pods.pod_statuses import pod_status

Json = dict[str, Any]
DONE = {"terminated": {"exitCode": 0}}
BROKEN = {"terminated": {"exitCode": 1}}


def ended(state: Json, name: str = "c") -> list[Json]:
    return [{"name": name, "state": state}]


NAMED = [{"name": "c"}, {"name": "d"}]


@pytest.mark.parametrize(
    ("spec", "new", "old", "expected"),
    [
        ({}, {"conditions": [{"type": "Ready"}], "podIPs": [{"ip": "10.0.0.1"}]}, {}, []),
        (
            {},
            {"conditions": [{"type": "a b"}]},
            {},
            [
                'status.conditions[0].Type: Invalid value: "a b": name part must consist of '
                "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
                "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ],
        ),
        (
            {"restartPolicy": "Always", "containers": NAMED},
            {"containerStatuses": ended({})},
            {"containerStatuses": ended(DONE)},
            [],
        ),
        (
            {"restartPolicy": "OnFailure", "containers": NAMED},
            {"containerStatuses": ended({}) + ended({}, "d")},
            {"containerStatuses": ended(BROKEN) + ended(DONE, "d")},
            [
                "status.containerStatuses[1].state: Forbidden: may not be transitioned to "
                "non-terminated state"
            ],
        ),
        (
            {"restartPolicy": "Never", "initContainers": [
                {"name": "c", "restartPolicy": "Always"}]},
            {"initContainerStatuses": ended({}), "ephemeralContainerStatuses": ended({}, "e")},
            {"initContainerStatuses": ended(DONE), "ephemeralContainerStatuses": ended(DONE, "e")},
            [
                "status.ephemeralContainerStatuses[0].state: Forbidden: may not be transitioned to "
                "non-terminated state"
            ],
        ),
        (
            {"resourceClaims": [{"name": "a"}]},
            {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "x"}] * 2
             + [{"name": "b"}]},
            {},
            [
                'status.resourceClaimStatuses[1].name: Duplicate value: "a"',
                'status.resourceClaimStatuses[2].name: Invalid value: "b": must match the name of '
                "an entry in `spec.resourceClaims`",
            ],
        ),
        (
            {},
            {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]},
            {},
            [
                'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.1"}]: may specify '
                "no more than one IP for each IP family",
            ],
        ),
        (
            {},
            {"hostIP": "10.0.0.1", "hostIPs": [{"ip": "x"}]},
            {},
            [
                'status.hostIPs[0].ip: Invalid value: "x": must be equal to `hostIP`',
                'status.hostIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 '
                "or 2001:db8::ffff)",
            ],
        ),
    ],
)  # fmt: skip
def test_statuses(spec: Json, new: Json, old: Json, expected: list[str]) -> None:
    found = pod_status({"spec": spec, "status": new}, {"spec": spec, "status": old})
    assert list(map(str, holding(found, None))) == expected


Told = list[str]


def said(spec: Json, new: Json, old: Json) -> Told:
    obj, before = {"spec": spec, "status": new}, {"spec": spec, "status": old}
    return [str(one) for one in holding(pod_status(obj, before), None)]


MOVED = (
    "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"
)
TWICE: Json = {"podIPs": [{"ip": "10.0.0.1"}] * 2}
CHANGES: list[tuple[str, Json, Json, Told, Told]] = [
    (
        "1.32",
        {},
        {"qosClass": "Guaranteed"},
        [],
        ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ),
    (
        "1.33",
        {},
        {"conditions": [{"type": "a b"}]},
        ["metadata.conditions[0].Type: Invalid value"],
        ["status.conditions[0].Type: Invalid value"],
    ),
    (
        "1.33",
        {},
        TWICE,
        ['status.podIPs[1]: Duplicate value: core.PodIP{IP:"10.0.0.1"}'],
        [],
    ),
    (
        "1.33",
        {},
        {"containerStatuses": [{"name": "c", "user": {"linux": {"uid": -1}}}]},
        ["status.containerStatuses[0].linux.uid: Invalid value: -1"],
        ["status.containerStatuses[0].user.linux.uid: Invalid value: -1"],
    ),
    ("1.35", {"nodeName": "n"}, {"nominatedNodeName": "m"}, [], [MOVED]),
    (
        "1.36",
        {"resourceClaims": [{"name": "a"}]},
        {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "A"}]},
        ['status.resourceClaimStatuses[0].name: Invalid value: "A"'],
        ['status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "A"'],
    ),
]


@pytest.mark.parametrize(("since", "spec", "status", "before", "after"), CHANGES)
def test_the_release_decides(
    since: str, spec: Json, status: Json, before: Told, after: Told
) -> None:
    with answering_as(previous_minor(since)):
        old = said(spec, status, {})
    with answering_as(since):
        new = said(spec, status, {})
    for found, expected in (
        ([text for text in old if text not in new], before),
        ([text for text in new if text not in old], after),
    ):
        assert [text.startswith(one) for text, one in zip(found, expected, strict=True)] == [
            True for _ in expected
        ]


def test_nominated_nodes() -> None:
    (found,) = pod_status({"status": {"nominatedNodeName": "A_"}}, {})
    assert str(found).startswith('status.nominatedNodeName: Invalid value: "A_": a lowercase RFC')


CONTAINER = {
    "name": "c",
    "resources": {"requests": {"example.com/gpu": "1"}, "claims": [{"name": "x", "request": "r"}]},
}
RUNS = {"initContainers": [{"name": "i"}], "containers": [CONTAINER]}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ({"observedGeneration": 1, "conditions": [{"type": "a", "observedGeneration": 2}]}, []),
        (
            {"observedGeneration": -1, "conditions": [{"type": "a", "observedGeneration": -2}]},
            [
                "status.conditions[0].observedGeneration: Invalid value: -2: must be a "
                "non-negative integer",
                "status.observedGeneration: Invalid value: -1: must be a non-negative integer",
            ],
        ),
        (
            {"qosClass": "Guaranteed"},
            ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
        ),
        (
            {"nominatedNodeName": "n"},
            [
                "status.nominatedNodeName: Forbidden: may not be set on pods that are already "
                "bound to a node"
            ],
        ),
        (
            {"extendedResourceClaimStatus": {"resourceClaimName": "A"}},
            [
                "status.extendedResourceClaimStatus.requestMappings: Required value: at least one "
                "request mapping is required",
                'status.extendedResourceClaimStatus.resourceClaimName: Invalid value: "A": a '
                "lowercase RFC 1123 subdomain",
            ],
        ),
        (
            {"extendedResourceClaimStatus": {"requestMappings": [
                {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"},
                {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"},
                {"containerName": "i", "resourceName": "example.com/gpu", "requestName": "q"},
                {"containerName": "z", "resourceName": "a.b/c", "requestName": "q"},
            ]}},
            [
                "status.extendedResourceClaimStatus.requestMappings[1].containerName: Duplicate "
                'value: "c"',
                "status.extendedResourceClaimStatus.requestMappings[1].resourceName: Duplicate "
                'value: "example.com/gpu"',
                "status.extendedResourceClaimStatus.requestMappings[1].requestName: Duplicate "
                'value: "r"',
                "status.extendedResourceClaimStatus.requestMappings[2].resourceName: Invalid "
                'value: "example.com/gpu": must match the extended resource name of an entry in '
                "spec.initContainers.resources.requests or spec.containers.resources.requests",
                "status.extendedResourceClaimStatus.requestMappings[3].containerName: Invalid "
                'value: "z": must match the name of an entry in spec.initContainers.name or '
                "spec.containers.name",
                "status.extendedResourceClaimStatus.resourceClaimName: Required value",
            ],
        ),
        (
            {"containerStatuses": [{"name": "c", "user": {"linux": {
                "uid": -1, "gid": 2147483648, "supplementalGroups": [1, -1]}}}]},
            [
                "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 "
                "and 2147483647, inclusive",
                "status.containerStatuses[0].user.linux.gid: Invalid value: 2147483648: must be "
                "between 0 and 2147483647, inclusive",
                "status.containerStatuses[0].user.linux.supplementalGroups[1]: Invalid value: -1: "
                "must be between 0 and 2147483647, inclusive",
            ],
        ),
        (
            {"containerStatuses": [{"name": "c", "allocatedResourcesStatus": [
                {"name": "example.com/gpu", "resources": [
                    {"resourceID": "a", "health": "Healthy", "message": "fine"},
                    {"resourceID": "a", "health": "Ill", "message": ""}]},
                {"name": "claim:x/r"}, {"name": "claim:x"}, {"name": "cpu"}]},
                {"name": "unknown", "allocatedResourcesStatus": [{"name": "cpu"}]}],
             "ephemeralContainerStatuses": [{"name": "e", "allocatedResourcesStatus": [
                {"name": "cpu"}]}]},
            [
                "status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].health: "
                'Unsupported value: "Ill": supported values: "Healthy", "Unhealthy", "Unknown"',
                "status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].message: "
                "Required value: must be non-empty if specified",
                "status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID: "
                'Duplicate value: "a"',
                "status.containerStatuses[0].allocatedResourcesStatus[2].name: Invalid value: "
                '"claim:x": must match one of the container\'s resource claims in a format '
                "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
                "status.containerStatuses[0].allocatedResourcesStatus[3].name: Invalid value: "
                '"cpu": must match one of the container\'s resource requests',
                "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must "
                "not be specified in container status",
            ],
        ),
    ],
)  # fmt: skip
def test_what_kubelets_report(new: Json, expected: list[str]) -> None:
    spec = {**RUNS, "nodeName": "n"}
    found = [*map(str, pod_status({"spec": spec, "status": new}, {"spec": spec}))]
    assert [one[: len(text)] for one, text in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("release", "detail"),
    [
        ("1.31", "must match one of the container's resource requirements"),
        ("1.32", ""),
    ],
)
def test_devices_of_claims_are_known_since_1_32(release: str, detail: str) -> None:
    resources = {"claims": [{"name": "x"}]}
    spec = {"containers": [{"name": "c", "resources": resources}]}
    new = {"containerStatuses": [{"name": "c", "allocatedResourcesStatus": [{"name": "claim:x"}]}]}
    with answering_as(release):
        found = [str(one) for one in pod_status({"spec": spec, "status": new}, {"spec": spec})]
    at = "status.containerStatuses[0].allocatedResourcesStatus[0].name"
    assert found == ([f"{at}: Invalid value: claim:x: {detail}"] if detail else [])


def test_users_of_windows() -> None:
    new = {"initContainerStatuses": [{"name": "c", "user": {"linux": {"uid": -1}}}]}
    (found,) = pod_status({"spec": {"os": {"name": "windows"}}, "status": new}, {})
    why = "status.initContainerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod"
    assert str(found) == why


def rule(operator: str, *values: int, action: str = "Restart") -> Json:
    return {"action": action, "exitCodes": {"operator": operator, "values": list(values)}}


RESTARTS: list[tuple[Json, int, bool]] = [
    # a container of a pod that is never restarted, its exit code, and whether it starts again
    ({}, 0, False),
    ({"restartPolicy": "Always"}, 0, True),
    ({"restartPolicy": "OnFailure"}, 0, False),
    ({"restartPolicy": "OnFailure"}, 1, True),
    ({"restartPolicy": "Never", "restartPolicyRules": [rule("In", 3)]}, 3, True),
    ({"restartPolicy": "Never", "restartPolicyRules": [rule("In", 3)]}, 4, False),
    ({"restartPolicy": "Never", "restartPolicyRules": [rule("NotIn", 3)]}, 4, True),
    ({"restartPolicyRules": [rule("NotIn", 3)]}, 4, False),
]


@pytest.mark.parametrize(("container", "code", "again"), RESTARTS)
def test_containers_have_rules_for_restarts(container: Json, code: int, *, again: bool) -> None:
    for part in ("container", "initContainer"):
        spec = {"restartPolicy": "Never", f"{part}s": [{"name": "c", **container}]}
        old = {f"{part}Statuses": ended({"terminated": {"exitCode": code}})}
        new = {f"{part}Statuses": ended({})}
        for release, judged in (("1.33", False), ("1.35", True), ("1.36", True)):
            with answering_as(release):
                found = holding(pod_status({"status": new}, {"status": old, "spec": spec}), None)
            sidecar = part == "initContainer" and container.get("restartPolicy") == "Always"
            assert (not found) == ((again and judged) or sidecar), (part, release)


@pytest.mark.parametrize("part", ["container", "initContainer", "ephemeralContainer"])
def test_a_container_that_has_ended_may_end_otherwise(part: str) -> None:
    spec = {"restartPolicy": "Never", f"{part}s": [{"name": "c"}]}
    old, new = ({f"{part}Statuses": ended(state)} for state in (DONE, BROKEN))
    assert holding(pod_status({"status": new}, {"status": old, "spec": spec}), None) == []


def test_a_rule_may_start_all_containers_again() -> None:
    all_too = rule("In", 1, action="RestartAllContainers")
    spec = {
        "restartPolicy": "Never",
        "containers": [{"name": "c"}, {"name": "d", "restartPolicyRules": [all_too]}],
    }
    old = {"status": {"containerStatuses": ended(DONE)}, "spec": spec}
    for release, again in (("1.35", False), ("1.36", True)):
        with answering_as(release):
            errors = [*pod_status({"status": {"containerStatuses": ended({})}}, old)]
            assert (not holding(errors, None)) == again
