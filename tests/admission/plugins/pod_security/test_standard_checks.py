"""The Pod Security Standards: which check belongs to which version."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.pod_security.security_levels import LevelVersion
from celadon.admission.plugins.pod_security.standard_checks import CHECKS, NEWEST, violations


def found(level: str, minor: int | None, **spec: Any) -> list[str]:
    spec.setdefault("containers", [{"name": "c"}])
    return [one.reason for one in violations(LevelVersion(level, minor), {}, spec)]


def test_order() -> None:
    names = [(one.level, one.name, one.since) for one in CHECKS]
    assert names == sorted(names)
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
