"""Pods for Windows and for Linux."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, container, pod

CONTEXT = "spec.securityContext"
OPTIONS = f"{CONTEXT}.windowsOptions"
OF_C = "spec.containers[0].securityContext"
FORBIDDEN = "Forbidden: cannot be set for a windows pod"


def user(name: str) -> dict[str, Any]:
    return {"securityContext": {"windowsOptions": {"runAsUserName": name}}}


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("a", []),
        ("D\\a", []),
        ("example.com\\a", []),
        ("", [" cannot be an empty string"]),
        ("a\tb", [" cannot contain control characters"]),
        ("a\\b\\c", [" cannot contain more than one backslash"]),
        (
            ".d\\",
            ["'s Domain doesn't match the NetBios nor the DNS format", "'s User cannot be empty"],
        ),
        ("u" * 105, ["'s User length must not be longer than 104 characters"]),
        (". ", ["'s User cannot contain only periods or spaces"]),
        ("a@", ["'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"]),
    ],
)
def test_users(name: str, faults: list[str]) -> None:
    found = complaints(pod(**user(name)))
    assert [one.partition("runAsUserName")[2].partition(": runAsUserName")[2] for one in found] == (
        faults
    )


CASES: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"securityContext": {"windowsOptions": {"gmsaCredentialSpec": ""}}},
        [
            f'{OPTIONS}.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an '
            "empty string"
        ],
    ),
    (
        {"securityContext": {"windowsOptions": {"hostProcess": True}}},
        [
            "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
            "hostProcess containers"
        ],
    ),
    (
        {
            "hostNetwork": True,
            "securityContext": {"windowsOptions": {"hostProcess": True}},
            "containers": [
                container(),
                container(name="d", securityContext={"windowsOptions": {"hostProcess": False}}),
            ],
        },
        [
            f"{OF_C.replace('0', '1')}.windowsOptions.hostProcess: Invalid value: false: pod "
            "hostProcess value must be identical if both are specified, was true",
            'spec: Invalid value: "": If pod contains any hostProcess containers then all '
            "containers must be HostProcess containers",
        ],
    ),
    (
        {
            "os": {"name": "linux"},
            "securityContext": {"windowsOptions": {}},
            "containers": [container(securityContext={"windowsOptions": {}})],
        },
        [
            f"{at}.windowsOptions: Forbidden: windows options cannot be set for a linux pod"
            for at in (CONTEXT, OF_C)
        ],
    ),
    (
        {
            "os": {"name": "windows"},
            "hostIPC": True,
            "hostPID": False,
            "securityContext": {"runAsUser": 1, "sysctls": [{"name": "net.a"}]},
            "containers": [container(securityContext={"privileged": False})],
            "resources": {"limits": {"cpu": "1"}},
        },
        [
            "spec.resources: Forbidden: may not be set for a windows pod",
            f"spec.hostIPC: {FORBIDDEN}",
            f"{CONTEXT}.sysctls: {FORBIDDEN}",
            f"{CONTEXT}.runAsUser: {FORBIDDEN}",
            f"{OF_C}.privileged: {FORBIDDEN}",
        ],
    ),
]


@pytest.mark.parametrize(("fields", "messages"), CASES)
def test_specs(fields: dict[str, Any], messages: list[str]) -> None:
    assert complaints(pod(**fields)) == messages
