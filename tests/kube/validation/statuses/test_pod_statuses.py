"""What is said against the status of a pod."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.statuses.pod_statuses import pod_status

Json = dict[str, Any]
DONE = {"terminated": {"exitCode": 0}}
BROKEN = {"terminated": {"exitCode": 1}}


def ended(state: Json, name: str = "c") -> list[Json]:
    return [{"name": name, "state": state}]


@pytest.mark.parametrize(
    ("spec", "new", "old", "expected"),
    [
        ({}, {"conditions": [{"type": "Ready"}], "podIPs": [{"ip": "10.0.0.1"}]}, {}, []),
        (
            {},
            {"conditions": [{"type": "a b"}]},
            {},
            [
                'metadata.conditions[0].Type: Invalid value: "a b": name part must consist of '
                "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
                "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ],
        ),
        (
            {"restartPolicy": "Always"},
            {"containerStatuses": ended({})},
            {"containerStatuses": ended(DONE)},
            [],
        ),
        (
            {"restartPolicy": "OnFailure"},
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
                'status.podIPs[1]: Duplicate value: {"IP":"10.0.0.1"}',
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
    assert list(map(str, found)) == expected


def test_nominated_nodes() -> None:
    (found,) = pod_status({"status": {"nominatedNodeName": "A_"}}, {})
    assert str(found).startswith('status.nominatedNodeName: Invalid value: "A_": a lowercase RFC')
