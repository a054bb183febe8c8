"""Which checks the Pod Security Standards consist of, at which level and since which release.

As k8s.io/pod-security-admission `policy/registry.go`: the checks of a version are, for each
identifier, those of the latest release that is not later; `restricted` has those of `baseline`,
too, except where it has stricter ones in their place.
"""

from __future__ import annotations

import functools
from typing import Final

from celadon.admission.plugins.pod_security import baseline_checks as baseline
from celadon.admission.plugins.pod_security import restricted_checks as restricted
from celadon.admission.plugins.pod_security.security_levels import (
    BASELINE,
    PRIVILEGED,
    RESTRICTED,
    LevelVersion,
)
from celadon.admission.plugins.pod_security.violation_texts import Check, Violation
from celadon.kube import JsonObject
from celadon.records import dataclass

PROC_MOUNT: Final = "procMount"
CAPABILITIES: Final = "capabilities_baseline"
HOST_PATHS: Final = "hostPathVolumes"
SECCOMP: Final = "seccompProfile_baseline"


@dataclass(frozen=True, slots=True)
class StandardCheck:
    """`since` is the minor release from which on the function is the one to ask; `instead` names a
    check of `baseline` that this one stands for."""

    name: str
    level: str
    since: int
    check: Check
    instead: str = ""


CHECKS: Final = (
    StandardCheck("appArmorProfile", BASELINE, 0, baseline.app_armor),
    StandardCheck(CAPABILITIES, BASELINE, 0, baseline.added_capabilities),
    StandardCheck("hostNamespaces", BASELINE, 0, baseline.host_namespaces),
    StandardCheck(HOST_PATHS, BASELINE, 0, baseline.host_paths),
    StandardCheck("hostPorts", BASELINE, 0, baseline.host_ports),
    StandardCheck("hostProbesAndHostLifecycle", BASELINE, 34, baseline.host_probes),
    StandardCheck("privileged", BASELINE, 0, baseline.privileged),
    StandardCheck(PROC_MOUNT, BASELINE, 0, baseline.proc_mount),
    StandardCheck(PROC_MOUNT, BASELINE, 35, baseline.unless_own_users(baseline.proc_mount)),
    StandardCheck("seLinuxOptions", BASELINE, 0, baseline.selinux_with(baseline.SELINUX_1_0)),
    StandardCheck("seLinuxOptions", BASELINE, 31, baseline.selinux_with(baseline.SELINUX_1_31)),
    StandardCheck(SECCOMP, BASELINE, 0, baseline.seccomp_annotations),
    StandardCheck(SECCOMP, BASELINE, 19, baseline.seccomp_profiles),
    StandardCheck("sysctls", BASELINE, 0, baseline.sysctls_within(baseline.SYSCTLS_1_0)),
    StandardCheck("sysctls", BASELINE, 27, baseline.sysctls_within(baseline.SYSCTLS_1_27)),
    StandardCheck("sysctls", BASELINE, 29, baseline.sysctls_within(baseline.SYSCTLS_1_29)),
    StandardCheck("sysctls", BASELINE, 32, baseline.sysctls_within(baseline.SYSCTLS_1_32)),
    StandardCheck("windowsHostProcess", BASELINE, 0, baseline.host_process),
    StandardCheck("allowPrivilegeEscalation", RESTRICTED, 8, restricted.privilege_escalation),
    StandardCheck(
        "allowPrivilegeEscalation",
        RESTRICTED,
        25,
        restricted.unless_windows(restricted.privilege_escalation),
    ),
    StandardCheck(
        "capabilities_restricted", RESTRICTED, 22, restricted.dropped_capabilities, CAPABILITIES
    ),
    StandardCheck(
        "capabilities_restricted",
        RESTRICTED,
        25,
        restricted.unless_windows(restricted.dropped_capabilities),
        CAPABILITIES,
    ),
    StandardCheck("procMount_restricted", RESTRICTED, 35, baseline.proc_mount, PROC_MOUNT),
    StandardCheck("restrictedVolumes", RESTRICTED, 0, restricted.restricted_volumes, HOST_PATHS),
    StandardCheck("runAsNonRoot", RESTRICTED, 0, restricted.non_root),
    StandardCheck("runAsNonRoot", RESTRICTED, 35, baseline.unless_own_users(restricted.non_root)),
    StandardCheck("runAsUser", RESTRICTED, 23, restricted.not_user_zero),
    StandardCheck("runAsUser", RESTRICTED, 35, baseline.unless_own_users(restricted.not_user_zero)),
    StandardCheck(
        "seccompProfile_restricted", RESTRICTED, 19, restricted.required_seccomp, SECCOMP
    ),
    StandardCheck(
        "seccompProfile_restricted",
        RESTRICTED,
        25,
        restricted.unless_windows(restricted.required_seccomp),
        SECCOMP,
    ),
)
"""In the order of messages: by level, then by name. Of one name the later release comes last."""

NEWEST: Final = max(one.since for one in CHECKS)
"""What `latest` means, and every release after it, unless the server is an older one."""


def violations(
    chosen: LevelVersion, meta: JsonObject, spec: JsonObject, newest: int = NEWEST
) -> list[Violation]:
    """What a pod does that a level does not allow; `newest` is the latest version that the server
    knows."""
    if chosen.level == PRIVILEGED:
        return []
    minor = newest if chosen.minor is None else min(chosen.minor, newest)
    checks = _checks(chosen.level, minor)
    return [found for check in checks if (found := check(meta, spec)) is not None]


@functools.lru_cache(maxsize=128)
def _checks(level: str, minor: int) -> tuple[Check, ...]:
    current = {one.name: one for one in CHECKS if one.since <= minor}
    if level == BASELINE:
        return tuple(one.check for one in current.values() if one.level == BASELINE)
    replaced = {one.instead for one in current.values()}
    return tuple(one.check for one in current.values() if one.name not in replaced)
