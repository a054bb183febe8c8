"""What level `baseline` finds, in the words of the server."""

from __future__ import annotations

import re
from typing import Any

import pytest

from celadon.admission.plugins import pod_security_standards as checks
from celadon.admission.plugins.pod_security_standards import Check


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


def nameless(pod: dict[str, Any]) -> dict[str, Any]:
    """The same without the names of containers and volumes."""
    return {
        field: [{key: found for key, found in one.items() if key != "name"} for one in value]
        if isinstance(value, list)
        else value
        for field, value in pod.items()
    }


@pytest.mark.parametrize(
    ("check", "pod", "text"), [row for row in ROWS if row[2] and "sysctls" not in row[2]]
)
def test_names_may_be_missing(check: Check, pod: dict[str, Any], text: str) -> None:
    assert str(check({}, nameless(pod))) == re.sub('"[abci]"', '""', text)


@pytest.mark.parametrize(
    "name",
    [
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    ],
)
def test_capabilities_that_may_be_added(name: str) -> None:
    assert checks.added_capabilities({}, spec({"capabilities": {"add": [name]}})) is None
    assert checks.added_capabilities({}, spec({"capabilities": {"add": [f"CAP_{name}"]}}))


SYSCTLS_SINCE = {
    0: (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_syncookies",
    ),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: (
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
    ),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
}


@pytest.mark.parametrize("since", SYSCTLS_SINCE)
def test_sysctls_since(since: int) -> None:
    lists = {
        0: checks.SYSCTLS_1_0,
        27: checks.SYSCTLS_1_27,
        29: checks.SYSCTLS_1_29,
        32: checks.SYSCTLS_1_32,
    }
    allowed = {name for known, names in SYSCTLS_SINCE.items() if known <= since for name in names}
    assert lists[since] == allowed


@pytest.mark.parametrize(
    ("type_", "since"),
    [
        *((type_, 0) for type_ in ("", "container_t", "container_init_t", "container_kvm_t")),
        ("container_engine_t", 31),
        ("spc_t", None),
    ],
)
def test_types_of_selinux(type_: str, since: int | None) -> None:
    pod = spec({"seLinuxOptions": {"type": type_}})
    for minor, types in ((0, checks.SELINUX_1_0), (31, checks.SELINUX_1_31)):
        is_allowed = since is not None and since <= minor
        assert (checks.selinux_with(types)({}, pod) is None) is is_allowed


@pytest.mark.parametrize("check", [checks.app_armor, checks.seccomp_profiles])
@pytest.mark.parametrize(
    ("type_", "allowed"),
    [("RuntimeDefault", True), ("Localhost", True), ("Unconfined", False), ("", False)],
)
def test_types_of_profiles(check: Check, type_: str, allowed: bool) -> None:
    for field in ("appArmorProfile", "seccompProfile"):
        other = "seccompProfile" if check is checks.app_armor else "appArmorProfile"
        found = check({}, spec({field: {"type": type_}}))
        assert (found is None) is (allowed or field == other)


@pytest.mark.parametrize("action", ["httpGet", "tcpSocket"])
@pytest.mark.parametrize(
    "path",
    [
        ("livenessProbe",),
        ("readinessProbe",),
        ("startupProbe",),
        ("lifecycle", "postStart"),
        ("lifecycle", "preStop"),
    ],
)
def test_every_probe_is_looked_at(path: tuple[str, ...], action: str) -> None:
    handler: dict[str, Any] = {action: {"host": "h"}}
    for step in reversed(path):
        handler = {step: handler}
    assert str(checks.host_probes({}, {"containers": [{"name": "a", **handler}]})) == (
        'probe or lifecycle host (container "a" uses probe or lifecycle host "h")'
    )


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
