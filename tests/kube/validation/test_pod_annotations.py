"""What is said against annotations of pods."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, container, pod, update_complaints, workload

Json = dict[str, Any]
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/c"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/c"
COST = "controller.kubernetes.io/pod-deletion-cost"
MIRROR = "kubernetes.io/config.mirror"
NOTES = "metadata.annotations"


def noted(notes: Json, *containers: Json, **spec: Any) -> Json:
    made = pod(*containers, **spec)
    made["metadata"]["annotations"] = notes
    return made


def secured(field: str, kind: str, local: str | None = None) -> Json:
    profile = {"type": kind, **({} if local is None else {"localhostProfile": local})}
    return {"securityContext": {field: profile}}


@pytest.mark.parametrize(
    "notes",
    [
        {COST: "-100"},
        {COST: "0"},
        {SECCOMP_POD: "docker/default", SECCOMP: "localhost/a/b"},
        {APPARMOR: "runtime/default"},
    ],
)
def test_good_annotations(notes: Json) -> None:
    assert complaints(noted(notes)) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(
            (noted({COST: text}), [
                f'{NOTES}[{COST}]: Invalid value: "{text}": must be a 32bit integer'])
            for text in ("x", "+1", "01", "2147483648", "")
        ),
        (
            noted({SECCOMP_POD: "x", SECCOMP: "localhost//../a"}),
            [
                f'{NOTES}.{SECCOMP_POD}: Invalid value: "x": must be a valid seccomp profile',
                f'{NOTES}.{SECCOMP}: Invalid value: "/../a": must be a relative path',
                f"{NOTES}.{SECCOMP}: Invalid value: \"/../a\": must not contain '..'",
            ],
        ),
        (
            noted({APPARMOR: "x", APPARMOR[:-1] + "d": "unconfined"}),
            [
                f'{NOTES}[{APPARMOR}]: Invalid value: "x": invalid AppArmor profile name: "x"',
                f'{NOTES}[{APPARMOR[:-1]}d]: Invalid value: "d": container not found',
            ],
        ),
        (
            noted({MIRROR: "x"}),
            [
                f'{NOTES}[{MIRROR}]: Invalid value: "x": must set spec.nodeName if mirror pod '
                "annotation is set"
            ],
        ),
        (
            noted({SECCOMP_POD: "unconfined"}, **secured("seccompProfile", "RuntimeDefault")),
            [
                "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation "
                "and field must match"
            ],
        ),
        (
            noted(
                {SECCOMP: "localhost/a", APPARMOR: "unconfined"},
                container(
                    securityContext={
                        "seccompProfile": {"type": "Localhost", "localhostProfile": "b"},
                        "appArmorProfile": {"type": "Localhost", "localhostProfile": "b"},
                    }
                ),
            ),
            [
                "spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: "
                "seccomp profile in annotation and field must match",
                "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type "
                "in annotation and field must match",
            ],
        ),
        (
            noted({APPARMOR: "unconfined"}, **secured("appArmorProfile", "Unconfined")),
            [],
        ),
    ],
)  # fmt: skip
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_templates() -> None:
    value = workload("Deployment")
    value["spec"]["template"]["metadata"]["annotations"] = {COST: "x"}
    assert complaints(value) == [
        f'spec.template.annotations[{COST}]: Invalid value: "x": must be a 32bit integer'
    ]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({COST: "1"}, {}, []),
        (
            {APPARMOR: "unconfined"},
            {},
            [f"{NOTES}[{APPARMOR}]: Forbidden: may not add AppArmor annotations"],
        ),
        (
            {},
            {APPARMOR: "unconfined", MIRROR: "x"},
            [
                f"{NOTES}[{APPARMOR}]: Forbidden: may not remove or update AppArmor annotations",
                f"{NOTES}[{MIRROR}]: Forbidden: may not remove or update mirror pod annotation",
            ],
        ),
    ],
)
def test_changes(new: Json, old: Json, expected: list[str]) -> None:
    spec = {"nodeName": "n"}
    found = update_complaints(noted(new, **spec), noted(old, **spec))
    assert [one for one in found if one.startswith(NOTES)] == expected
