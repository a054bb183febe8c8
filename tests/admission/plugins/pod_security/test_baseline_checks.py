"""What level `baseline` finds, in the words of the server."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.pod_security import baseline_checks as checks
from celadon.admission.plugins.pod_security.violation_texts import Check


def spec(*containers: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Containers named a, b, c; what is given is their security context."""
    named = [{"name": "abc"[i], "securityContext": one} for i, one in enumerate(containers)]
    return {"containers": named, **members}


def ports(*numbers: int) -> dict[str, Any]:
    return {"ports": [{"containerPort": 1, "hostPort": number} for number in numbers]}


UNCONFINED = {"appArmorProfile": {"type": "Unconfined"}}
NO_SECCOMP = {"seccompProfile": {"type": "Unconfined"}}
SELINUX = checks.selinux_with(checks.SELINUX_1_31)
SYSCTLS = checks.sysctls_within(checks.SYSCTLS_1_32)

ROWS: list[tuple[Check, dict[str, Any], str]] = [
    (
        checks.app_armor,
        spec(UNCONFINED, {}, securityContext=UNCONFINED),
        'forbidden AppArmor profile (pod and container "a" must not set AppArmor profile type to '
        '"Unconfined")',
    ),
    (checks.app_armor, spec({"appArmorProfile": {"type": "Localhost"}}), ""),
    (
        checks.added_capabilities,
        spec({"capabilities": {"add": ["NET_RAW", "CHOWN"]}}, {"capabilities": {"add": ["BPF"]}}),
        'non-default capabilities (containers "a", "b" must not include "BPF", "NET_RAW" in '
        "securityContext.capabilities.add)",
    ),
    (checks.added_capabilities, spec({"capabilities": {"add": ["KILL"]}}), ""),
    (
        checks.host_namespaces,
        {"hostNetwork": True, "hostPID": True, "hostIPC": True},
        "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)",
    ),
    (checks.host_namespaces, {"hostNetwork": False}, ""),
    (
        checks.host_paths,
        {"volumes": [{"name": "a", "hostPath": {}}, {"name": "b", "hostPath": {"path": "/"}}]},
        'hostPath volumes (volumes "a", "b")',
    ),
    (checks.host_paths, {"volumes": [{"name": "a", "emptyDir": {}}]}, ""),
    (
        checks.host_ports,
        {"containers": [{"name": "a", **ports(80, 443)}, {"name": "b", **ports(9)}]},
        'hostPort (containers "a", "b" use hostPorts 443, 80, 9)',
    ),
    (
        checks.host_ports,
        {"initContainers": [{"name": "i", **ports(80)}], "containers": [{"name": "a", **ports(0)}]},
        'hostPort (container "i" uses hostPort 80)',
    ),
    (
        checks.host_probes,
        {
            "containers": [
                {
                    "name": "a",
                    "lifecycle": {"preStop": {"tcpSocket": {"host": "y"}}},
                    "readinessProbe": {"httpGet": {"host": "x"}},
                    "startupProbe": {"exec": {}},
                }
            ]
        },
        'probe or lifecycle host (container "a" uses probe or lifecycle hosts "x", "y")',
    ),
    (
        checks.privileged,
        spec({"privileged": True}, {"privileged": False}),
        'privileged (container "a" must not set securityContext.privileged=true)',
    ),
    (checks.privileged, spec({}), ""),
    (
        checks.proc_mount,
        spec({"procMount": "Unmasked"}, {"procMount": "Default"}),
        'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ),
    (
        SELINUX,
        spec(
            {"seLinuxOptions": {"type": "container_t"}},
            {"seLinuxOptions": {"type": "bar"}},
            {"seLinuxOptions": {"role": "r"}},
            securityContext={"seLinuxOptions": {"type": "foo", "user": "u"}},
        ),
        'seLinuxOptions (pod and containers "b", "c" set forbidden securityContext.seLinuxOptions: '
        'types "bar", "foo"; user may not be set; role may not be set)',
    ),
    (
        SELINUX,
        spec(securityContext={"seLinuxOptions": {"user": "u"}}),
        "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: user may not be set)",
    ),
    (SELINUX, spec({"seLinuxOptions": {"level": "s0"}}), ""),
    (
        checks.seccomp_profiles,
        spec(NO_SECCOMP, NO_SECCOMP),
        'seccompProfile (containers "a", "b" must not set securityContext.seccompProfile.type to '
        '"Unconfined")',
    ),
    (checks.seccomp_profiles, spec({"seccompProfile": {"type": "RuntimeDefault"}}), ""),
    (
        SYSCTLS,
        {
            "securityContext": {
                "sysctls": [{"name": "b"}, {"name": "net.ipv4.tcp_wmem"}, {"name": "a"}]
            }
        },
        "forbidden sysctls (b, a)",
    ),
    (
        checks.host_process,
        spec(
            {"windowsOptions": {"hostProcess": True}},
            securityContext={"windowsOptions": {"hostProcess": True}},
        ),
        'hostProcess (pod and container "a" must not set '
        "securityContext.windowsOptions.hostProcess=true)",
    ),
    (checks.host_process, spec({"windowsOptions": {}}), ""),
]


@pytest.mark.parametrize(("check", "pod", "text"), ROWS)
def test_specs(check: Check, pod: dict[str, Any], text: str) -> None:
    assert str(check({}, pod) or "") == text


@pytest.mark.parametrize(
    ("check", "key", "value", "text"),
    [
        (
            checks.app_armor,
            "container.apparmor.security.beta.kubernetes.io/a",
            "unconfined",
            "forbidden AppArmor profile (annotation must not set AppArmor profile type to "
            '"container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
        ),
        *(
            (checks.app_armor, "container.apparmor.security.beta.kubernetes.io/a", value, "")
            for value in ("localhost/x", "runtime/default", "")
        ),
        (
            checks.seccomp_annotations,
            "seccomp.security.alpha.kubernetes.io/pod",
            "unconfined",
            "seccompProfile (forbidden annotation "
            'seccomp.security.alpha.kubernetes.io/pod="unconfined")',
        ),
        (
            checks.seccomp_annotations,
            "container.seccomp.security.alpha.kubernetes.io/a",
            "docker/default",
            "",
        ),
        (
            checks.seccomp_annotations,
            "container.seccomp.security.alpha.kubernetes.io/other",
            "unconfined",
            "",
        ),
    ],
)
def test_annotations(check: Check, key: str, value: str, text: str) -> None:
    assert str(check({"annotations": {key: value}}, spec({})) or "") == text


def test_users_of_their_own() -> None:
    relaxed = checks.unless_own_users(checks.privileged)
    bad = spec({"privileged": True})
    assert relaxed({}, bad) is not None
    assert relaxed({}, {**bad, "hostUsers": True}) is not None
    assert relaxed({}, {**bad, "hostUsers": False}) is None
