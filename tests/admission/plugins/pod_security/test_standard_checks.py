"""The Pod Security Standards: which check belongs to which version."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.pod_security_standards import (
    CHECKS,
    NEWEST,
    LevelVersion,
    violations,
)


def found(level: str, minor: int | None, **spec: Any) -> list[str]:
    spec.setdefault("containers", [{"name": "c"}])
    return [one.reason for one in violations(LevelVersion(level, minor), {}, spec)]


REGISTRY = {
    "baseline": [
        *("appArmorProfile", "capabilities_baseline", "hostNamespaces", "hostPathVolumes"),
        *("hostPorts", "hostProbesAndHostLifecycle", "privileged", "procMount", "seLinuxOptions"),
        *("seccompProfile_baseline", "sysctls", "windowsHostProcess"),
    ],
    "restricted": [
        *("allowPrivilegeEscalation", "capabilities_restricted", "procMount_restricted"),
        *("restrictedVolumes", "runAsNonRoot", "runAsUser", "seccompProfile_restricted"),
    ],
}
"""The identifiers by which upstream knows the checks of a level, and sorts them."""


def test_order() -> None:
    names = [(one.level, one.name, one.since) for one in CHECKS]
    assert names == sorted(names)
    for level, known in REGISTRY.items():
        assert list(dict.fromkeys(one.name for one in CHECKS if one.level == level)) == known
    assert NEWEST == 35


def test_an_empty_pod() -> None:
    assert found("privileged", None, hostPID=True) == []
    assert found("baseline", None) == []
    assert found("restricted", None) == [
        "allowPrivilegeEscalation != false",
        "unrestricted capabilities",
        "runAsNonRoot != true",
        "seccompProfile",
    ]
    assert found("restricted", 7) == ["runAsNonRoot != true"]


SYSCTL = {"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem", "value": "1"}]}}
ENGINE = {"securityContext": {"seLinuxOptions": {"type": "container_engine_t"}}}
UNMASKED = {"containers": [{"name": "c", "securityContext": {"procMount": "Unmasked"}}]}
PROBED = {"containers": [{"name": "c", "livenessProbe": {"httpGet": {"host": "h"}}}]}
HOST_PATH = {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}


@pytest.mark.parametrize(
    ("spec", "level", "minor", "reasons"),
    [
        (SYSCTL, "baseline", 31, ["forbidden sysctls"]),
        (SYSCTL, "baseline", 32, []),
        (ENGINE, "baseline", 30, ["seLinuxOptions"]),
        (ENGINE, "baseline", 31, []),
        (PROBED, "baseline", 33, []),
        (PROBED, "baseline", 34, ["probe or lifecycle host"]),
        (PROBED, "baseline", None, ["probe or lifecycle host"]),
        (PROBED, "baseline", 99, ["probe or lifecycle host"]),
        ({**UNMASKED, "hostUsers": False}, "baseline", 34, ["procMount"]),
        ({**UNMASKED, "hostUsers": False}, "baseline", 35, []),
        (UNMASKED, "baseline", 35, ["procMount"]),
        ({**UNMASKED, "hostUsers": False}, "restricted", 7, ["procMount", "runAsNonRoot != true"]),
        (HOST_PATH, "baseline", None, ["hostPath volumes"]),
        (HOST_PATH, "restricted", 7, ["restricted volume types", "runAsNonRoot != true"]),
        ({"hostUsers": False, "os": {"name": "windows"}}, "restricted", None, []),
        ({"os": {"name": "windows"}}, "restricted", 34, ["runAsNonRoot != true"]),
        (
            {"os": {"name": "windows"}},
            "restricted",
            24,
            [
                "allowPrivilegeEscalation != false",
                "unrestricted capabilities",
                "runAsNonRoot != true",
                "seccompProfile",
            ],
        ),
    ],
)
def test_versions(spec: dict[str, Any], level: str, minor: int | None, reasons: list[str]) -> None:
    assert found(level, minor, **spec) == reasons


def test_stricter_checks_stand_for_others() -> None:
    spec = {**UNMASKED, "hostUsers": False}
    reasons = found("restricted", 35, **spec)
    assert reasons.count("procMount") == 1
    added = {"name": "c", "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}}
    assert "non-default capabilities" not in found("restricted", None, containers=[added])
    assert "non-default capabilities" in found("restricted", 21, containers=[added])


def context(**members: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "securityContext": members}]}


@pytest.mark.parametrize(
    ("level", "spec", "reason", "since"),
    [
        ("baseline", context(appArmorProfile={"type": "x"}), "forbidden AppArmor profile", 0),
        ("baseline", context(capabilities={"add": ["X"]}), "non-default capabilities", 0),
        ("baseline", {"hostPID": True}, "host namespaces", 0),
        ("baseline", HOST_PATH, "hostPath volumes", 0),
        ("baseline", {"containers": [{"ports": [{"hostPort": 1}]}]}, "hostPort", 0),
        ("baseline", PROBED, "probe or lifecycle host", 34),
        ("baseline", context(privileged=True), "privileged", 0),
        ("baseline", UNMASKED, "procMount", 0),
        ("baseline", context(seLinuxOptions={"user": "u"}), "seLinuxOptions", 0),
        ("baseline", context(seccompProfile={"type": "Unconfined"}), "seccompProfile", 19),
        ("baseline", {"securityContext": {"sysctls": [{"name": "x"}]}}, "forbidden sysctls", 0),
        ("baseline", context(windowsOptions={"hostProcess": True}), "hostProcess", 0),
        ("restricted", {}, "allowPrivilegeEscalation != false", 8),
        ("restricted", {}, "unrestricted capabilities", 22),
        ("restricted", HOST_PATH, "restricted volume types", 0),
        ("restricted", {}, "runAsNonRoot != true", 0),
        ("restricted", context(runAsUser=0), "runAsUser=0", 23),
        ("restricted", {}, "seccompProfile", 19),
    ],
)
def test_since(level: str, spec: dict[str, Any], reason: str, since: int) -> None:
    assert reason in found(level, since, **spec)
    assert not since or reason not in found(level, since - 1, **spec)


@pytest.mark.parametrize(
    ("spec", "reason", "until"),
    [
        ({"os": {"name": "windows"}}, "allowPrivilegeEscalation != false", 25),
        ({"os": {"name": "windows"}}, "unrestricted capabilities", 25),
        ({"os": {"name": "windows"}}, "seccompProfile", 25),
        ({"hostUsers": False}, "runAsNonRoot != true", 35),
        ({**context(runAsUser=0), "hostUsers": False}, "runAsUser=0", 35),
    ],
)
def test_what_was_relaxed(spec: dict[str, Any], reason: str, until: int) -> None:
    assert reason in found("restricted", until - 1, **spec)
    assert reason not in found("restricted", until, **spec)


@pytest.mark.parametrize(
    ("name", "since"),
    [
        ("net.ipv4.tcp_syncookies", 0),
        ("net.ipv4.ip_local_reserved_ports", 27),
        ("net.ipv4.tcp_keepalive_time", 29),
        ("net.ipv4.tcp_wmem", 32),
    ],
)
def test_sysctls_that_are_allowed_since(name: str, since: int) -> None:
    context = {"sysctls": [{"name": name, "value": "1"}]}
    assert found("baseline", since, securityContext=context) == []
    if since:
        assert found("baseline", since - 1, securityContext=context) == ["forbidden sysctls"]
