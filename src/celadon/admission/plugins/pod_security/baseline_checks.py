"""The checks of level `baseline`: known ways out of a container are closed.

As k8s.io/pod-security-admission `policy/check_*.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.admission.plugins.pod_plugins.pod_references import containers
from celadon.admission.plugins.pod_security.violation_texts import (
    Check,
    Violation,
    context_of,
    named,
    one_or_more,
    quoted,
    setters,
)
from celadon.kube import JsonObject
from celadon.kube.go import quote
from celadon.kube.well_known_values import (
    APPARMOR_OF_CONTAINER,
    PROBES,
    SECCOMP_OF_CONTAINER,
    SECCOMP_OF_POD,
)

CAPABILITIES: Final = frozenset(
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
        if key.startswith(APPARMOR_OF_CONTAINER) and not _is_safe_apparmor(value)
    )
    who = setters(names, pod=pod)
    if notes:
        bad += notes
        who = " and ".join(filter(None, (who, one_or_more("annotation", len(notes)))))
    if not who:
        return None
    reason = one_or_more("forbidden AppArmor profile", len(bad))
    return Violation(reason, f"{who} must not set AppArmor profile type to {quoted(bad)}")


def _is_safe_apparmor(value: str) -> bool:
    return value in ("", "runtime/default") or value.startswith("localhost/")


def _with_profile(spec: JsonObject, field: str) -> tuple[bool, list[str], set[str]]:
    """Whether the pod sets an unsafe profile, which containers do, and the types they set."""
    values = set()

    def is_bad(owner: JsonObject) -> bool:
        profile = context_of(owner).get(field)
        kind = "" if profile is None else profile.get("type", "")
        if profile is None or kind in PROFILES:
            return False
        values.add(kind)
        return True

    pod = is_bad(spec)
    names = [one.get("name", "") for one in containers(spec) if is_bad(one)]
    return pod, names, values


def added_capabilities(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Nothing is added to what a container may do anyway."""
    names, bad = [], set()
    for container in containers(spec):
        added = (context_of(container).get("capabilities") or {}).get("add") or ()
        strange = set(added) - CAPABILITIES
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
    """The pod does not live among the processes and addresses of its node."""
    found = [f"{field}=true" for field in _HOST if spec.get(field)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def host_paths(_: JsonObject, spec: JsonObject) -> Violation | None:
    """No directory of the node is a volume."""
    volumes = spec.get("volumes") or ()
    found = [one.get("name", "") for one in volumes if one.get("hostPath") is not None]
    return Violation("hostPath volumes", named(found, "volume")) if found else None


def host_ports(_: JsonObject, spec: JsonObject) -> Violation | None:
    """No port of the node is taken."""
    names, ports = [], set()
    for container in containers(spec):
        found = {
            str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")
        }
        if found:
            names.append(container.get("name", ""))
            ports |= found
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    what = f"{one_or_more('hostPort', len(ports))} {', '.join(sorted(ports))}"
    return Violation("hostPort", f"{named(names)} {uses} {what}")


def host_probes(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Probes and hooks speak to the pod, to no other host."""
    names, hosts = set(), set()
    for container in containers(spec):
        found = set(_probed_hosts(container))
        if found:
            names.add(container.get("name", ""))
            hosts |= found
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    what = f"{one_or_more('probe or lifecycle host', len(hosts))} {quoted(sorted(hosts))}"
    return Violation("probe or lifecycle host", f"{named(sorted(names))} {uses} {what}")


def _probed_hosts(container: JsonObject) -> Iterator[str]:
    hooks = container.get("lifecycle") or {}
    handlers = [container.get(name) for name in PROBES] + [hooks.get(name) for name in _HOOKS]
    for handler in handlers:
        for action in ("httpGet", "tcpSocket"):
            host = ((handler or {}).get(action) or {}).get("host")
            if host:
                yield host


def privileged(_: JsonObject, spec: JsonObject) -> Violation | None:
    """No container is root on its node."""
    names = [one.get("name", "") for one in containers(spec) if context_of(one).get("privileged")]
    detail = f"{named(names)} must not set securityContext.privileged=true"
    return Violation("privileged", detail) if names else None


def proc_mount(_: JsonObject, spec: JsonObject) -> Violation | None:
    """What `/proc` hides stays hidden."""
    names, types = [], set()
    for container in containers(spec):
        found = context_of(container).get("procMount")
        if found is not None and found != "Default":
            names.append(container.get("name", ""))
            types.add(found)
    detail = f"{named(names)} must not set securityContext.procMount to {quoted(sorted(types))}"
    return Violation("procMount", detail) if names else None


def has_own_users(spec: JsonObject) -> bool:
    """Whether the users in the pod are not those of its node."""
    return spec.get("hostUsers") is False


def unless_own_users(check: Check) -> Check:
    """A check that does not matter for pods in a user namespace."""

    def relaxed(meta: JsonObject, spec: JsonObject) -> Violation | None:
        return None if has_own_users(spec) else check(meta, spec)

    return relaxed


def selinux_with(types: frozenset[str]) -> Check:
    """Only these types, and neither user nor role."""

    def check(_: JsonObject, spec: JsonObject) -> Violation | None:
        bad: set[str] = set()
        fields: set[str] = set()

        def is_bad(owner: JsonObject) -> bool:
            options = context_of(owner).get("seLinuxOptions") or {}
            wrong = {options.get("type", "")} - types
            given = {field for field in ("user", "role") if options.get(field)}
            bad.update(wrong)
            fields.update(given)
            return bool(wrong or given)

        pod = is_bad(spec)
        names = [one.get("name", "") for one in containers(spec) if is_bad(one)]
        who = setters(names, pod=pod)
        if not who:
            return None
        said = [f"{one_or_more('type', len(bad))} {quoted(sorted(bad))}"] if bad else []
        said += [f"{field} may not be set" for field in ("user", "role") if field in fields]
        detail = f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(said)}"
        return Violation("seLinuxOptions", detail)

    return check


def seccomp_annotations(meta: JsonObject, spec: JsonObject) -> Violation | None:
    """Before there was a field: no container may call all of the kernel."""
    notes = meta.get("annotations") or {}
    keys = (
        SECCOMP_OF_POD,
        *(SECCOMP_OF_CONTAINER + one.get("name", "") for one in containers(spec)),
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
    who = setters(names, pod=pod)
    detail = f"{who} must not set securityContext.seccompProfile.type to {quoted(sorted(values))}"
    return Violation("seccompProfile", detail) if who else None


def sysctls_within(safe: frozenset[str]) -> Check:
    """Only these kernel parameters."""

    def check(_: JsonObject, spec: JsonObject) -> Violation | None:
        given = context_of(spec).get("sysctls") or ()
        found = [one.get("name", "") for one in given if one.get("name", "") not in safe]
        return Violation("forbidden sysctls", ", ".join(found)) if found else None

    return check


def host_process(_: JsonObject, spec: JsonObject) -> Violation | None:
    """No container of Windows runs beside those of its node."""
    names = [one.get("name", "") for one in containers(spec) if _runs_on_host(one)]
    who = setters(names, pod=_runs_on_host(spec))
    detail = f"{who} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail) if who else None


def _runs_on_host(owner: JsonObject) -> bool:
    return bool((context_of(owner).get("windowsOptions") or {}).get("hostProcess"))
