"""The checks of the Pod Security Standards as expressions of CEL.

Which checks a level has in which version the plugin says (`pod_security_standards`); here is what
each of them claims of a pod. Both are held against each other field by field
(`tests/prove/test_pod_standards.py`). Versions before 1.25 are not here: their checks are of
annotations that nobody reads any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from celadon.admission.plugins import pod_security_standards as standards
from celadon.kube.well_known_values import APPARMOR_OF_CONTAINER, PROBES

OLDEST: Final = 25
"""The first minor version that is here."""


def _texts(values: Iterable[str]) -> str:
    return f"[{', '.join(repr(one) for one in sorted(values))}]"


# --- Expressions -------------------------------------------------------------
#
# `{0}` stands for the pod's spec or a container, where both are asked the same.

CONTAINERS: Final = " + ".join(
    f"object.spec.?{one}.orValue([])"
    for one in ("initContainers", "containers", "ephemeralContainers")
)
"""The variable that expressions call `variables.containers`."""

_CONTEXT: Final = "{0}.?securityContext"
_EACH: Final = "variables.containers.all(c, {})"
_OWN_USERS: Final = "object.spec.?hostUsers.orValue(true) == false"
_WINDOWS: Final = "object.spec.?os.?name.orValue('') == 'windows'"


def _everywhere(rule: str) -> str:
    """A rule for the pod, and for each container."""
    return f"{rule.format('object.spec')} && {_EACH.format(rule.format('c'))}"


def _profile(field: str) -> str:
    profile = f"{_CONTEXT}.?{field}"
    return _everywhere(
        f"(!{profile}.hasValue() || {profile}.?type.orValue('') in {_texts(standards.PROFILES)})"
    )


def _added_within(allowed: Iterable[str]) -> str:
    added = f"{_CONTEXT.format('c')}.?capabilities.?add.orValue([])"
    return f"{added}.all(one, one in {_texts(allowed)})"


def _selinux(allowed: Iterable[str]) -> str:
    options = f"{_CONTEXT}.?seLinuxOptions"
    return _everywhere(
        f"{options}.?type.orValue('') in {_texts(allowed)} && {options}.?user.orValue('') == ''"
        f" && {options}.?role.orValue('') == ''"
    )


def _sysctls(safe: Iterable[str]) -> str:
    return f"object.spec.?securityContext.?sysctls.orValue([]).all(one, one.name in {_texts(safe)})"


_HANDLERS: Final = (*PROBES, "lifecycle.?postStart", "lifecycle.?preStop")
_HOSTS: Final = " && ".join(
    f"c.?{handler}.?{action}.?host.orValue('') == ''"
    for handler in _HANDLERS
    for action in ("httpGet", "tcpSocket")
)
_ANNOTATIONS: Final = (
    "(!object.metadata.?annotations.hasValue() || object.metadata.annotations"
    f".all(key, !key.startsWith('{APPARMOR_OF_CONTAINER}')"
    " || object.metadata.annotations[key] in ['', 'runtime/default']"
    " || object.metadata.annotations[key].startsWith('localhost/')))"
)
_PROC_MOUNT: Final = _EACH.format("c.?securityContext.?procMount.orValue('Default') == 'Default'")
_NON_ROOT: Final = (
    "object.spec.?securityContext.?runAsNonRoot.orValue(true)"
    " && variables.containers.all(c, c.?securityContext.?runAsNonRoot"
    ".orValue(object.spec.?securityContext.?runAsNonRoot.orValue(false)))"
)
_NOT_ZERO: Final = _everywhere(f"{_CONTEXT}.?runAsUser.orValue(1) != 0")
_REQUIRED_SECCOMP: Final = (
    f"{_profile('seccompProfile')}"
    " && (object.spec.?securityContext.?seccompProfile.?type.orValue('')"
    f" in {_texts(standards.PROFILES)}"
    " || variables.containers.all(c, c.?securityContext.?seccompProfile.hasValue()))"
)
_DROPPED: Final = _EACH.format(
    "'ALL' in c.?securityContext.?capabilities.?drop.orValue([])"
    f" && {_added_within(['NET_BIND_SERVICE'])}"
)
_NO_ESCALATION: Final = _EACH.format(
    "c.?securityContext.?allowPrivilegeEscalation.orValue(true) == false"
)

_EXPRESSIONS: Final[Mapping[tuple[str, int], str]] = {
    ("appArmorProfile", 0): f"{_profile('appArmorProfile')} && {_ANNOTATIONS}",
    ("capabilities_baseline", 0): _EACH.format(_added_within(standards.BASELINE_CAPABILITIES)),
    ("hostNamespaces", 0): " && ".join(
        f"!object.spec.?{one}.orValue(false)" for one in ("hostNetwork", "hostPID", "hostIPC")
    ),
    ("hostPathVolumes", 0): "object.spec.?volumes.orValue([]).all(one, !has(one.hostPath))",
    ("hostPorts", 0): _EACH.format(
        "c.?ports.orValue([]).all(port, port.?hostPort.orValue(0) == 0)"
    ),
    ("hostProbesAndHostLifecycle", 34): _EACH.format(_HOSTS),
    ("privileged", 0): _EACH.format("!c.?securityContext.?privileged.orValue(false)"),
    ("procMount", 0): _PROC_MOUNT,
    ("procMount", 35): f"{_OWN_USERS} || {_PROC_MOUNT}",
    ("seLinuxOptions", 0): _selinux(standards.SELINUX_1_0),
    ("seLinuxOptions", 31): _selinux(standards.SELINUX_1_31),
    ("seccompProfile_baseline", 19): _profile("seccompProfile"),
    ("sysctls", 0): _sysctls(standards.SYSCTLS_1_0),
    ("sysctls", 27): _sysctls(standards.SYSCTLS_1_27),
    ("sysctls", 29): _sysctls(standards.SYSCTLS_1_29),
    ("sysctls", 32): _sysctls(standards.SYSCTLS_1_32),
    ("windowsHostProcess", 0): _everywhere(
        f"!{_CONTEXT}.?windowsOptions.?hostProcess.orValue(false)"
    ),
    ("allowPrivilegeEscalation", 25): f"{_WINDOWS} || {_NO_ESCALATION}",
    ("capabilities_restricted", 25): f"{_WINDOWS} || {_DROPPED}",
    ("procMount_restricted", 35): _PROC_MOUNT,
    ("restrictedVolumes", 0): "object.spec.?volumes.orValue([]).all(one, "
    + " || ".join(f"has(one.{kind})" for kind in standards.VOLUMES)
    + ")",
    ("runAsNonRoot", 0): _NON_ROOT,
    ("runAsNonRoot", 35): f"{_OWN_USERS} || {_NON_ROOT}",
    ("runAsUser", 23): _NOT_ZERO,
    ("runAsUser", 35): f"{_OWN_USERS} || {_NOT_ZERO}",
    ("seccompProfile_restricted", 25): f"{_WINDOWS} || {_REQUIRED_SECCOMP}",
}
"""By the name of the check and the minor release since when it is so."""


def check_expressions(level: str, minor: int) -> dict[str, str]:
    """Return what a level demands of a pod in the version of a minor release, by the names of the
    checks. The expressions speak of `object` and `variables.containers` (`CONTAINERS`)."""
    return {
        one.name: _EXPRESSIONS[one.name, one.since]
        for one in standards.checks_of(level, min(minor, standards.NEWEST))
    }
