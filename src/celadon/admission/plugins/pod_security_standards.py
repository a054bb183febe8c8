"""The Pod Security Standards: levels, versions, and which checks each consists of, since which
release.

As k8s.io/pod-security-admission `policy/registry.go`: the checks of a version are, for each
identifier, those of the latest release that is not later; `restricted` has those of `baseline`,
too, except where it has stricter ones in their place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from celadon.admission.plugins.pod_plugins import containers
from celadon.kube import FieldError, FieldPath, JsonObject, fieldpath, well_known_values
from celadon.kube.go import quote
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Levels ------------------------------------------------------------------
#
# Levels and versions of the Pod Security Standards, and what the labels of a namespace choose.
#
# As k8s.io/pod-security-admission `api`.

PRIVILEGED: Final = "privileged"
BASELINE: Final = "baseline"
RESTRICTED: Final = "restricted"
LEVELS: Final = (PRIVILEGED, BASELINE, RESTRICTED)
"""From the one that allows everything to the strictest."""

PREFIX: Final = "pod-security.kubernetes.io/"
"""Of the labels of namespaces, and of audit annotations."""
MODES: Final = ("enforce", "audit", "warn")

LATEST: Final = "latest"
_VERSION: Final = late_pattern(r"v1\.(0|[1-9][0-9]{0,17})")
_LABELS: Final = FieldPath("metadata", "labels")


@dataclass(frozen=True, slots=True)
class LevelVersion:
    """Names a level and a version of the Pod Security Standards. `minor` is that of the release
    whose checks are meant; None is the latest."""

    level: str = PRIVILEGED
    minor: int | None = None

    def __str__(self) -> str:
        version = "latest" if self.minor is None else f"v1.{self.minor}"
        return f"{self.level}:{version}"


@dataclass(frozen=True, slots=True)
class SecurityPolicy:
    """Holds what is refused, what is noted in the audit log, and what is warned of."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()


UNLABELLED: Final = SecurityPolicy()


def policy_of(
    labels: Mapping[str, str], defaults: SecurityPolicy = UNLABELLED
) -> tuple[SecurityPolicy, list[FieldError]]:
    """Return what the labels of a namespace choose, and what is wrong with them; `defaults` hold
    for what they do not say, but a stricter level that is enforced is warned of, too. A wrong level
    stands for the strictest where it is enforced, and for none elsewhere; a wrong version for the
    latest."""
    if not any(label.startswith(PREFIX) for label in labels):
        return defaults, []
    errors: list[FieldError] = []
    result = {}
    untold = {"enforce": defaults.enforce, "audit": defaults.audit, "warn": defaults.warn}
    for mode in MODES:
        wrong = RESTRICTED if mode == "enforce" else PRIVILEGED
        level = _level(labels, mode, (untold[mode].level, wrong), errors)
        result[mode] = LevelVersion(level, _minor(labels, mode, untold[mode].minor, errors))
    enforce, warn = result["enforce"], result["warn"]
    is_enforced = not level_error(labels.get(f"{PREFIX}enforce", ""))
    if is_enforced and f"{PREFIX}warn" not in labels and is_stricter(enforce.level, warn.level):
        has_version = f"{PREFIX}warn-version" in labels
        warn = LevelVersion(enforce.level, warn.minor if has_version else enforce.minor)
    return SecurityPolicy(enforce, result["audit"], warn), errors


def _level(
    labels: Mapping[str, str], mode: str, otherwise: tuple[str, str], errors: list[FieldError]
) -> str:
    """`otherwise` are the levels that stand for none and for a wrong one."""
    label, (untold, wrong) = PREFIX + mode, otherwise
    text = labels.get(label, untold)
    reason = level_error(text)
    if reason:
        errors.append(fieldpath.invalid(_LABELS.key(label), text, reason))
        return wrong
    return text


def _minor(
    labels: Mapping[str, str], mode: str, untold: int | None, errors: list[FieldError]
) -> int | None:
    label = f"{PREFIX}{mode}-version"
    if label not in labels:
        return untold
    text = labels[label]
    reason = version_error(text)
    if reason:
        errors.append(fieldpath.invalid(_LABELS.key(label), text, reason))
    return minor_of(text)


def level_error(text: str) -> str:
    """Return what is wrong with the name of a level; empty if nothing."""
    return "" if text in LEVELS else f"must be one of {', '.join(LEVELS)}"


def version_error(text: str) -> str:
    """Return what is wrong with a version; empty if nothing."""
    is_version = text == LATEST or _VERSION.fullmatch(text)
    return "" if is_version else 'must be "latest" or "v1.x"'


def minor_of(text: str) -> int | None:
    """Return the minor number of a version; None for the latest, which a wrong one stands for,
    too."""
    match = _VERSION.fullmatch(text)
    return int(match[1]) if match else None


def is_stricter(a: str, b: str) -> bool:
    """Return whether level `a` allows less than `b`."""
    return LEVELS.index(a) > LEVELS.index(b)


# --- Violation texts ---------------------------------------------------------
#
# What a check of the Pod Security Standards finds, and the words that all of them share.


@dataclass(frozen=True, slots=True)
class Violation:
    """Says what a check of the Pod Security Standards has against a pod. `reason` is the same for
    every pod, `detail` says where in this one; it may be empty."""

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Check = Callable[[JsonObject, JsonObject], Violation | None]
"""Of the metadata and the spec of a pod."""


def one_or_more(word: str, count: int) -> str:
    """Return the word in its number: `container` or `containers`."""
    return word if count == 1 else f"{word}s"


def quoted(items: Iterable[str]) -> str:
    """Quote items and join them by commas (`"a", "b"`): they stay as they are, nothing in them is
    escaped."""
    return ", ".join(f'"{item}"' for item in items)


def named(names: Sequence[str], word: str = "container") -> str:
    """Return names with the word before them: `containers "a", "b"`."""
    return f"{one_or_more(word, len(names))} {quoted(names)}"


def setters(names: Sequence[str], *, pod: bool) -> str:
    """`pod and container "a"`: who has set something; empty if nobody has."""
    subjects = ["pod"] if pod else []
    if names:
        subjects.append(named(names))
    return " and ".join(subjects)


def context_of(owner: JsonObject) -> JsonObject:
    """Return the security context of a pod or a container; empty if it has none."""
    return owner.get("securityContext") or {}


# --- Baseline checks ---------------------------------------------------------
#
# The checks of level `baseline`: known ways out of a container are closed.
#
# As k8s.io/pod-security-admission `policy/check_*.go`.

BASELINE_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
"""What a container may add: what it has anyway."""

SYSCTLS_1_0: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_syncookies",
    }
)
SYSCTLS_1_27: Final = SYSCTLS_1_0 | {"net.ipv4.ip_local_reserved_ports"}
SYSCTLS_1_29: Final = SYSCTLS_1_27 | {
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
}
SYSCTLS_1_32: Final = SYSCTLS_1_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}

SELINUX_1_0: Final = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
SELINUX_1_31: Final = SELINUX_1_0 | {"container_engine_t"}

PROFILES: Final = frozenset({"RuntimeDefault", "Localhost"})
"""Types of profiles, of AppArmor and of seccomp, that do not open anything."""
_HOST: Final = ("hostNetwork", "hostPID", "hostIPC")
_HOOKS: Final = ("postStart", "preStop")


def app_armor(meta: JsonObject, spec: JsonObject) -> Violation | None:
    """Profiles of AppArmor, by field or by annotation, are the default one or a local one."""
    pod, names, values = _with_profile(spec, "appArmorProfile")
    bad = sorted(values)
    notes = sorted(
        f"{key}={quote(value)}"
        for key, value in (meta.get("annotations") or {}).items()
        if key.startswith(well_known_values.APPARMOR_OF_CONTAINER) and not _is_safe_apparmor(value)
    )
    subject = setters(names, pod=pod)
    if notes:
        bad += notes
        subject = " and ".join(filter(None, (subject, one_or_more("annotation", len(notes)))))
    if not subject:
        return None
    reason = one_or_more("forbidden AppArmor profile", len(bad))
    return Violation(reason, f"{subject} must not set AppArmor profile type to {quoted(bad)}")


def _is_safe_apparmor(value: str) -> bool:
    return value in ("", "runtime/default") or value.startswith("localhost/")


def _with_profile(spec: JsonObject, field: str) -> tuple[bool, list[str], set[str]]:
    """Return whether the pod sets an unsafe profile, which containers do, and the types they
    set."""
    values = set()

    def is_bad(owner: JsonObject) -> bool:
        profile = context_of(owner).get(field)
        kind = "" if profile is None else profile.get("type", "")
        if profile is None or kind in PROFILES:
            return False
        values.add(kind)
        return True

    pod = is_bad(spec)
    names = [container.get("name", "") for container in containers(spec) if is_bad(container)]
    return pod, names, values


def added_capabilities(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that nothing is added to what a container may do anyway."""
    names, bad = [], set()
    for container in containers(spec):
        added = (context_of(container).get("capabilities") or {}).get("add") or ()
        strange = set(added) - BASELINE_CAPABILITIES
        if strange:
            names.append(container.get("name", ""))
            bad |= strange
    if not names:
        return None
    detail = (
        f"{named(names)} must not include {quoted(sorted(bad))} in securityContext.capabilities.add"
    )
    return Violation("non-default capabilities", detail)


def host_namespaces(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Require that the pod does not live among the processes and addresses of its node."""
    host = [f"{field}=true" for field in _HOST if spec.get(field)]
    return Violation("host namespaces", ", ".join(host)) if host else None


def host_paths(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that no directory of the node is a volume."""
    volumes = spec.get("volumes") or ()
    result = [volume.get("name", "") for volume in volumes if volume.get("hostPath") is not None]
    return Violation("hostPath volumes", named(result, "volume")) if result else None


def host_ports(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that no port of the node is taken."""
    names, ports = [], set()
    for container in containers(spec):
        result = {
            str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")
        }
        if result:
            names.append(container.get("name", ""))
            ports |= result
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    subject = f"{one_or_more('hostPort', len(ports))} {', '.join(sorted(ports))}"
    return Violation("hostPort", f"{named(names)} {uses} {subject}")


def host_probes(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Probes and hooks speak to the pod, to no other host."""
    names, hosts = set(), set()
    for container in containers(spec):
        probed_hosts = set(_probed_hosts(container))
        if probed_hosts:
            names.add(container.get("name", ""))
            hosts |= probed_hosts
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    subject = f"{one_or_more('probe or lifecycle host', len(hosts))} {quoted(sorted(hosts))}"
    return Violation("probe or lifecycle host", f"{named(sorted(names))} {uses} {subject}")


def _probed_hosts(container: JsonObject) -> Iterator[str]:
    hooks = container.get("lifecycle") or {}
    handlers = [container.get(name) for name in well_known_values.PROBES] + [
        hooks.get(name) for name in _HOOKS
    ]
    for handler in handlers:
        for action in ("httpGet", "tcpSocket"):
            host = ((handler or {}).get(action) or {}).get("host")
            if host:
                yield host


def privileged(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that no container is root on its node."""
    names = [
        container.get("name", "")
        for container in containers(spec)
        if context_of(container).get("privileged")
    ]
    detail = f"{named(names)} must not set securityContext.privileged=true"
    return Violation("privileged", detail) if names else None


def proc_mount(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Return what `/proc` hides stays hidden."""
    names, types = [], set()
    for container in containers(spec):
        result = context_of(container).get("procMount")
        if result is not None and result != "Default":
            names.append(container.get("name", ""))
            types.add(result)
    detail = f"{named(names)} must not set securityContext.procMount to {quoted(sorted(types))}"
    return Violation("procMount", detail) if names else None


def has_own_users(spec: JsonObject) -> bool:
    """Return whether the users in the pod are not those of its node."""
    return spec.get("hostUsers") is False


def unless_own_users(check: Check) -> Check:
    """Return a check that does not matter for pods in a user namespace."""

    def relaxed(meta: JsonObject, spec: JsonObject) -> Violation | None:
        return None if has_own_users(spec) else check(meta, spec)

    return relaxed


def selinux_with(types: frozenset[str]) -> Check:
    """Make the check that allows only these types, and neither user nor role."""

    def check(_: JsonObject, spec: JsonObject) -> Violation | None:
        bad: set[str] = set()
        fields: set[str] = set()

        def is_bad(owner: JsonObject) -> bool:
            options = context_of(owner).get("seLinuxOptions") or {}
            wrong = {options.get("type", "")} - types
            filled = {field for field in ("user", "role") if options.get(field)}
            bad.update(wrong)
            fields.update(filled)
            return bool(wrong or filled)

        pod = is_bad(spec)
        names = [container.get("name", "") for container in containers(spec) if is_bad(container)]
        subject = setters(names, pod=pod)
        if not subject:
            return None
        complaints = [f"{one_or_more('type', len(bad))} {quoted(sorted(bad))}"] if bad else []
        complaints += [f"{field} may not be set" for field in ("user", "role") if field in fields]
        detail = f"{subject} set forbidden securityContext.seLinuxOptions: {'; '.join(complaints)}"
        return Violation("seLinuxOptions", detail)

    return check


def seccomp_annotations(meta: JsonObject, spec: JsonObject) -> Violation | None:
    """Check the annotations that there were before the field: no container may call all of the
    kernel."""
    notes = meta.get("annotations") or {}
    keys = (
        well_known_values.SECCOMP_OF_POD,
        *(
            well_known_values.SECCOMP_OF_CONTAINER + container.get("name", "")
            for container in containers(spec)
        ),
    )
    bad = sorted(
        {f"{key}={quote(notes[key])}" for key in keys if key in notes and _is_unsafe(notes[key])}
    )
    detail = f"forbidden {one_or_more('annotation', len(bad))} {', '.join(bad)}"
    return Violation("seccompProfile", detail) if bad else None


def _is_unsafe(value: str) -> bool:
    return value not in ("runtime/default", "docker/default") and not value.startswith("localhost/")


def seccomp_profiles(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Profiles of seccomp, where they are named, are the default one or a local one."""
    pod, names, values = _with_profile(spec, "seccompProfile")
    subject = setters(names, pod=pod)
    detail = (
        f"{subject} must not set securityContext.seccompProfile.type to {quoted(sorted(values))}"
    )
    return Violation("seccompProfile", detail) if subject else None


def sysctls_within(safe: frozenset[str]) -> Check:
    """Make the check that allows only these kernel parameters."""

    def check(_: JsonObject, spec: JsonObject) -> Violation | None:
        sysctls = context_of(spec).get("sysctls") or ()
        result = [
            sysctl.get("name", "") for sysctl in sysctls if sysctl.get("name", "") not in safe
        ]
        return Violation("forbidden sysctls", ", ".join(result)) if result else None

    return check


def host_process(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that no container of Windows runs beside those of its node."""
    names = [
        container.get("name", "") for container in containers(spec) if _runs_on_host(container)
    ]
    subject = setters(names, pod=_runs_on_host(spec))
    detail = f"{subject} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail) if subject else None


def _runs_on_host(owner: JsonObject) -> bool:
    return bool((context_of(owner).get("windowsOptions") or {}).get("hostProcess"))


# --- Restricted checks -------------------------------------------------------
#
# The checks of level `restricted`: what a hardened pod must say.
#
# As k8s.io/pod-security-admission `policy/check_*.go`.

VOLUMES: Final = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
)
"""Kinds of volumes that a pod may have."""
OTHER_VOLUMES: Final = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
)
"""Those it may not have, by name."""


def unless_windows(check: Check) -> Check:
    """Return a check of what only Linux knows."""

    def linux(meta: JsonObject, spec: JsonObject) -> Violation | None:
        if (spec.get("os") or {}).get("name") == "windows":
            return None
        return check(meta, spec)

    return linux


def privilege_escalation(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that every container says that nobody in it can become more than they are."""
    names = [
        container.get("name", "")
        for container in containers(spec)
        if context_of(container).get("allowPrivilegeEscalation") is not False
    ]
    detail = f"{named(names)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail) if names else None


def dropped_capabilities(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that every container drops all capabilities, and takes back one at most."""
    keeping, adding, added = [], [], set()
    for container in containers(spec):
        name = container.get("name", "")
        capabilities = context_of(container).get("capabilities") or {}
        if "ALL" not in (capabilities.get("drop") or ()):
            keeping.append(name)
        bad = set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}
        if bad:
            adding.append(name)
            added |= bad
    details = []
    if keeping:
        details.append(f'{named(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        details.append(
            f"{named(adding)} must not include {quoted(sorted(added))} in "
            "securityContext.capabilities.add"
        )
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def restricted_volumes(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Volumes are of kinds that hold nothing of the node and name no server."""
    names, kinds = [], set()
    for volume in spec.get("volumes") or ():
        if any(volume.get(kind) is not None for kind in VOLUMES):
            continue
        names.append(volume.get("name", ""))
        other_volumes = (kind for kind in OTHER_VOLUMES if volume.get(kind) is not None)
        kinds.add(next(other_volumes, "unknown"))
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    subject = f"{one_or_more('restricted volume type', len(kinds))} {quoted(sorted(kinds))}"
    return Violation("restricted volume types", f"{named(names, 'volume')} {uses} {subject}")


def non_root(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that every container says, or the pod for all of them, that it does not run as root."""
    run_as_non_root = context_of(spec).get("runAsNonRoot")
    settings = [
        (container.get("name", ""), context_of(container).get("runAsNonRoot"))
        for container in containers(spec)
    ]
    subject = setters(
        [name for name, value in settings if value is False], pod=run_as_non_root is False
    )
    reason = "runAsNonRoot != true"
    if subject:
        return Violation(reason, f"{subject} must not set securityContext.runAsNonRoot=false")
    names = [] if run_as_non_root else [name for name, value in settings if value is None]
    detail = f"pod or {named(names)} must set securityContext.runAsNonRoot=true"
    return Violation(reason, detail) if names else None


def not_user_zero(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that nobody runs as user 0, whatever else is said."""
    names = [container.get("name", "") for container in containers(spec) if _is_root(container)]
    subject = setters(names, pod=_is_root(spec))
    return Violation("runAsUser=0", f"{subject} must not set runAsUser=0") if subject else None


def _is_root(owner: JsonObject) -> bool:
    return context_of(owner).get("runAsUser") == 0


def required_seccomp(meta: JsonObject, spec: JsonObject) -> Violation | None:
    """Check that every container has a profile of seccomp, its own or that of the pod."""
    bad = seccomp_profiles(meta, spec)
    if bad is not None:
        return bad
    if (context_of(spec).get("seccompProfile") or {}).get("type") in PROFILES:
        return None
    names = [
        container.get("name", "")
        for container in containers(spec)
        if context_of(container).get("seccompProfile") is None
    ]
    detail = (
        f"pod or {named(names)} must set securityContext.seccompProfile.type to "
        '"RuntimeDefault" or "Localhost"'
    )
    return Violation("seccompProfile", detail) if names else None


PROC_MOUNT: Final = "procMount"
CAPABILITIES: Final = "capabilities_baseline"
HOST_PATHS: Final = "hostPathVolumes"
SECCOMP: Final = "seccompProfile_baseline"


@dataclass(frozen=True, slots=True)
class StandardCheck:
    """Holds one check of the Pod Security Standards. `since` is the minor release from which on the
    function is the one to ask; `instead` names a check of `baseline` that this one stands for."""

    name: str
    level: str
    since: int
    check: Check
    instead: str = ""


CHECKS: Final = (
    StandardCheck("appArmorProfile", BASELINE, 0, app_armor),
    StandardCheck(CAPABILITIES, BASELINE, 0, added_capabilities),
    StandardCheck("hostNamespaces", BASELINE, 0, host_namespaces),
    StandardCheck(HOST_PATHS, BASELINE, 0, host_paths),
    StandardCheck("hostPorts", BASELINE, 0, host_ports),
    StandardCheck("hostProbesAndHostLifecycle", BASELINE, 34, host_probes),
    StandardCheck("privileged", BASELINE, 0, privileged),
    StandardCheck(PROC_MOUNT, BASELINE, 0, proc_mount),
    StandardCheck(PROC_MOUNT, BASELINE, 35, unless_own_users(proc_mount)),
    StandardCheck("seLinuxOptions", BASELINE, 0, selinux_with(SELINUX_1_0)),
    StandardCheck("seLinuxOptions", BASELINE, 31, selinux_with(SELINUX_1_31)),
    StandardCheck(SECCOMP, BASELINE, 0, seccomp_annotations),
    StandardCheck(SECCOMP, BASELINE, 19, seccomp_profiles),
    StandardCheck("sysctls", BASELINE, 0, sysctls_within(SYSCTLS_1_0)),
    StandardCheck("sysctls", BASELINE, 27, sysctls_within(SYSCTLS_1_27)),
    StandardCheck("sysctls", BASELINE, 29, sysctls_within(SYSCTLS_1_29)),
    StandardCheck("sysctls", BASELINE, 32, sysctls_within(SYSCTLS_1_32)),
    StandardCheck("windowsHostProcess", BASELINE, 0, host_process),
    StandardCheck("allowPrivilegeEscalation", RESTRICTED, 8, privilege_escalation),
    StandardCheck("allowPrivilegeEscalation", RESTRICTED, 25, unless_windows(privilege_escalation)),
    StandardCheck("capabilities_restricted", RESTRICTED, 22, dropped_capabilities, CAPABILITIES),
    StandardCheck(
        "capabilities_restricted",
        RESTRICTED,
        25,
        unless_windows(dropped_capabilities),
        CAPABILITIES,
    ),
    StandardCheck("procMount_restricted", RESTRICTED, 35, proc_mount, PROC_MOUNT),
    StandardCheck("restrictedVolumes", RESTRICTED, 0, restricted_volumes, HOST_PATHS),
    StandardCheck("runAsNonRoot", RESTRICTED, 0, non_root),
    StandardCheck("runAsNonRoot", RESTRICTED, 35, unless_own_users(non_root)),
    StandardCheck("runAsUser", RESTRICTED, 23, not_user_zero),
    StandardCheck("runAsUser", RESTRICTED, 35, unless_own_users(not_user_zero)),
    StandardCheck("seccompProfile_restricted", RESTRICTED, 19, required_seccomp, SECCOMP),
    StandardCheck(
        "seccompProfile_restricted", RESTRICTED, 25, unless_windows(required_seccomp), SECCOMP
    ),
)
"""In the order of messages: by level, then by name. Of one name the later release comes last."""

NEWEST: Final = max(check.since for check in CHECKS)
"""What `latest` means, and every release after it, unless the server is an older one."""


def violations(
    chosen: LevelVersion, meta: JsonObject, spec: JsonObject, newest: int = NEWEST
) -> list[Violation]:
    """Return what a pod does that a level does not allow; `newest` is the latest version that the
    server knows."""
    if chosen.level == PRIVILEGED:
        return []
    minor = newest if chosen.minor is None else min(chosen.minor, newest)
    checks = checks_of(chosen.level, minor)
    return [violation for check in checks if (violation := check.check(meta, spec)) is not None]


@functools.lru_cache(maxsize=128)
def checks_of(level: str, minor: int) -> tuple[StandardCheck, ...]:
    """Return what a level checks, in the version of a minor release."""
    current = {check.name: check for check in CHECKS if check.since <= minor}
    if level == BASELINE:
        return tuple(check for check in current.values() if check.level == BASELINE)
    replaced = {check.instead for check in current.values()}
    return tuple(check for check in current.values() if check.name not in replaced)
