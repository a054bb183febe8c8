"""What level `restricted` finds, in the words of the server."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins import pod_security_standards as checks
from celadon.admission.plugins.pod_security_standards import Check
from celadon.kube.schemas import component
from tests.admission.plugins.pod_security.test_baseline_checks import spec

DROPPED = {"capabilities": {"drop": ["ALL"]}}
DEFAULT = {"seccompProfile": {"type": "RuntimeDefault"}}

ROWS: list[tuple[Check, dict[str, Any], str]] = [
    (
        checks.privilege_escalation,
        spec({}, {"allowPrivilegeEscalation": True}, {"allowPrivilegeEscalation": False}),
        'allowPrivilegeEscalation != false (containers "a", "b" must set '
        "securityContext.allowPrivilegeEscalation=false)",
    ),
    (
        checks.dropped_capabilities,
        spec({}, {"capabilities": {"drop": ["ALL"], "add": ["CHOWN", "NET_BIND_SERVICE"]}}),
        'unrestricted capabilities (container "a" must set '
        'securityContext.capabilities.drop=["ALL"]; container "b" must not include "CHOWN" in '
        "securityContext.capabilities.add)",
    ),
    (checks.dropped_capabilities, spec(DROPPED), ""),
    (
        checks.restricted_volumes,
        {
            "volumes": [
                {"name": "a", "hostPath": {}},
                {"name": "b", "nfs": {}},
                {"name": "c", "image": {}},
                {"name": "d"},
            ]
        },
        'restricted volume types (volumes "a", "b", "d" use restricted volume types "hostPath", '
        '"nfs", "unknown")',
    ),
    (
        checks.restricted_volumes,
        {"volumes": [{"name": "a", "nfs": {}}]},
        'restricted volume types (volume "a" uses restricted volume type "nfs")',
    ),
    (
        checks.non_root,
        spec({"runAsNonRoot": False}, {}, securityContext={"runAsNonRoot": False}),
        'runAsNonRoot != true (pod and container "a" must not set '
        "securityContext.runAsNonRoot=false)",
    ),
    (
        checks.non_root,
        spec({"runAsNonRoot": True}, {}),
        'runAsNonRoot != true (pod or container "b" must set securityContext.runAsNonRoot=true)',
    ),
    (checks.non_root, spec({}, securityContext={"runAsNonRoot": True}), ""),
    (
        checks.not_user_zero,
        spec({"runAsUser": 0}, {"runAsUser": 1}, securityContext={"runAsUser": 0}),
        'runAsUser=0 (pod and container "a" must not set runAsUser=0)',
    ),
    (checks.not_user_zero, spec({}), ""),
    (
        checks.required_seccomp,
        spec(DEFAULT, {}),
        'seccompProfile (pod or container "b" must set securityContext.seccompProfile.type to '
        '"RuntimeDefault" or "Localhost")',
    ),
    (
        checks.required_seccomp,
        spec({}, securityContext={"seccompProfile": {"type": "Unconfined"}}),
        'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ),
    (checks.required_seccomp, spec({}, securityContext=DEFAULT), ""),
]


@pytest.mark.parametrize(("check", "pod", "text"), ROWS)
def test_specs(check: Check, pod: dict[str, Any], text: str) -> None:
    assert str(check({}, pod) or "") == text


def test_windows_knows_other_things() -> None:
    check = checks.unless_windows(checks.privilege_escalation)
    assert check({}, spec({})) is not None
    assert check({}, spec({}, os={"name": "linux"})) is not None
    assert check({}, spec({}, os={"name": "windows"})) is None


VOLUMES = component("io.k8s.api.core.v1.Volume").properties.keys() - {"name"}
ALLOWED = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"}
ALLOWED |= {"persistentVolumeClaim", "projected", "secret"}


@pytest.mark.parametrize("kind", sorted(VOLUMES))
def test_every_kind_of_volume(kind: str) -> None:
    found = checks.restricted_volumes({}, {"volumes": [{"name": "v", kind: {}}]})
    text = f'restricted volume types (volume "v" uses restricted volume type "{kind}")'
    assert str(found or "") == ("" if kind in ALLOWED else text)
