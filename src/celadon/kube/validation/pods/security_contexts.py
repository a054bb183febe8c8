"""Security contexts of pods and containers, and what pods of one operating system may not have.

As k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.validation import field_checks, format_checks
from celadon.kube.validation.pods.env_vars import descending_path
from celadon.kube.well_known_values import CONTAINER_LISTS
from celadon.late_patterns import late_pattern

# --- Pods of one operating system --------------------------------------------
#
# Pods of one operating system: what only Windows knows, and what it does not know.
#
# As k8s.io/kubernetes `pkg/apis/core/validation`.

NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"
NOT_ON_LINUX: Final = "windows options cannot be set for a linux pod"
MAX_CREDENTIAL_KIB: Final = 64
MAX_DOMAIN: Final = 256
MAX_USER: Final = 104
_ON_POD_CONTEXT: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    *("/hostUsers", "/hostPID", "/hostIPC"),
    *("seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"),
    "/shareProcessNamespace",
    *("runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy"),
    "seLinuxChangePolicy",
)
"""In upstream's order; those with a slash are fields of the pod's spec."""
_ON_CONTAINER_CONTEXT: Final = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities"),
    *("readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount"),
    *("runAsUser", "runAsGroup"),
)
_COUNTS_IF_TRUE: Final = frozenset({"hostPID", "hostIPC"})
_CONTROL: Final = late_pattern(r"[\x00-\x1f\x7f]+")
_NET_BIOS: Final = late_pattern(r'[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}')
_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN: Final = late_pattern(rf"{_LABEL}(?:\.{_LABEL})*+")
_ONLY_DOTS: Final = late_pattern(r"[\. ]+")
_FORBIDDEN: Final = late_pattern(r'["/\\:;|=,\+\*\?<>@\[\]]')


def windows_options(path: FieldPath, options: JsonObject | None) -> field_checks.Errors:
    """Validate `windowsOptions` of a security context."""
    # As `validateWindowsSecurityContextOptions` of `pkg/apis/core/validation`.
    if options is None:
        return
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        yield from field_checks.dns_subdomain(path.child("gmsaCredentialSpecName"), name)
    credentials, gmsa_credential_spec_path = (
        options.get("gmsaCredentialSpec"),
        path.child("gmsaCredentialSpec"),
    )
    if credentials == "":
        yield fieldpath.invalid(
            gmsa_credential_spec_path, "", "gmsaCredentialSpec cannot be an empty string"
        )
    elif credentials is not None and len(credentials.encode()) > MAX_CREDENTIAL_KIB * 1024:
        detail = f"gmsaCredentialSpec size must be under {MAX_CREDENTIAL_KIB} KiB"
        yield fieldpath.invalid(gmsa_credential_spec_path, credentials, detail)
    user = options.get("runAsUserName")
    if user is not None:
        for detail in _user_faults(user):
            yield fieldpath.invalid(path.child("runAsUserName"), user, f"runAsUserName{detail}")


def _user_faults(name: str) -> Iterator[str]:
    r"""Yield what is wrong with `DOMAIN\user`, as it follows the name of the field."""
    domain, backslash, user = name.rpartition("\\")
    if not name:
        yield " cannot be an empty string"
        return
    if _CONTROL.search(name):
        yield " cannot contain control characters"
        return
    if "\\" in domain:
        yield " cannot contain more than one backslash"
        return
    if len(domain.encode()) >= MAX_DOMAIN:
        yield f"'s Domain length must be under {MAX_DOMAIN} characters"
    if backslash and not (_NET_BIOS.fullmatch(domain) or _DOMAIN.fullmatch(domain)):
        yield "'s Domain doesn't match the NetBios nor the DNS format"
    if not user:
        yield "'s User cannot be empty"
    elif len(user.encode()) > MAX_USER:
        yield f"'s User length must not be longer than {MAX_USER} characters"
    if _ONLY_DOTS.fullmatch(user):
        yield "'s User cannot contain only periods or spaces"
    if _FORBIDDEN.search(user):
        yield "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def host_processes(path: FieldPath, spec: JsonObject) -> field_checks.Errors:
    """Validate containers that run as processes of the host: all of a pod or none, on its
    network."""
    # As `validateWindowsHostProcessPod` of `pkg/apis/core/validation`.
    of_pod = _is_host_process(spec)
    every = (container for field in CONTAINER_LISTS for container in spec.get(field) or ())
    if of_pod is None and all(_is_host_process(container) is None for container in every):
        return
    flags = [
        (path, _is_host_process(container))
        for path, container in field_checks.containers_of(path, spec)
    ]
    for flag_path, of_container in flags:
        if None not in (of_pod, of_container) and of_pod is not of_container:
            text = "true" if of_pod else "false"
            detail = f"pod hostProcess value must be identical if both are specified, was {text}"
            host_process_path = flag_path.child("securityContext", "windowsOptions", "hostProcess")
            yield fieldpath.invalid(host_process_path, of_container, detail)
    running = [flag or (flag is None and bool(of_pod)) for _, flag in flags]
    if not any(running):
        return
    if not all(running):
        detail = (
            "If pod contains any hostProcess containers then all containers must be HostProcess "
            "containers"
        )
        yield fieldpath.invalid(path, "", detail)
    if not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        yield fieldpath.invalid(path.child("hostNetwork"), value=False, detail=detail)


def _is_host_process(obj: JsonObject) -> bool | None:
    context = obj.get("securityContext")
    host_process: bool | None = ((context or {}).get("windowsOptions") or {}).get("hostProcess")
    return host_process


def for_linux(path: FieldPath, spec: JsonObject) -> field_checks.Errors:
    """Yield errors for what a pod may not say if it says that it is for Linux."""
    # As `validateLinux` of `pkg/apis/core/validation`.
    for context_path, holder in ((path, spec), *field_checks.containers_of(path, spec)):
        if (holder.get("securityContext") or {}).get("windowsOptions") is not None:
            yield fieldpath.forbidden(
                context_path.child("securityContext", "windowsOptions"), NOT_ON_LINUX
            )


def for_windows(path: FieldPath, spec: JsonObject) -> field_checks.Errors:
    """Yield errors for what a pod may not say if it says that it is for Windows."""
    # As `validateWindows` of `pkg/apis/core/validation`.
    context = spec.get("securityContext") or {}
    for field in _ON_POD_CONTEXT:
        name, in_spec = field.removeprefix("/"), field.startswith("/")
        if _is_set(spec if in_spec else context, name):
            field_path = path.child(name) if in_spec else path.child("securityContext", name)
            yield fieldpath.forbidden(field_path, NOT_ON_WINDOWS)
    for field_path, container in field_checks.containers_of(path, spec):
        for field in _ON_CONTAINER_CONTEXT:
            if (container.get("securityContext") or {}).get(field) is not None:
                yield fieldpath.forbidden(
                    field_path.child("securityContext", field), NOT_ON_WINDOWS
                )


def _is_set(obj: JsonObject, field: str) -> bool:
    value = obj.get(field)
    if field in _COUNTS_IF_TRUE or field == "sysctls":
        return bool(value)
    return value is not None


PROFILE_TYPES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
PROC_MOUNTS: Final = ("Default", "Unmasked")
GROUP_CHANGE_POLICIES: Final = ("Always", "OnRootMismatch")
SUPPLEMENTAL_GROUPS_POLICIES: Final = ("Merge", "Strict")
SELINUX_CHANGE_POLICIES: Final = ("MountOption", "Recursive")
SYSCTL_MAX_BYTES: Final = 253
_SEGMENT: Final = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL: Final = late_pattern(rf"^({_SEGMENT}[\./])*{_SEGMENT}$")
LOCAL_PROFILE_MAX_BYTES: Final = 4095
_OF_HOST: Final = {
    "hostNetwork": ("net.",),
    "hostIPC": ("kernel.shm", "kernel.msg", "fs.mqueue.", "kernel.sem"),
}
"""What sysctls begin with that belong to a namespace of the host, by how a pod asks to be in it."""
_SWAPPED: Final = str.maketrans("./", "/.")

CONTEXT_FIELDS: Final = {
    "capabilities": "Capabilities",
    "privileged": "Privileged",
    "seLinuxOptions": "SELinuxOptions",
    "windowsOptions": "WindowsOptions",
    "runAsUser": "RunAsUser",
    "runAsGroup": "RunAsGroup",
    "runAsNonRoot": "RunAsNonRoot",
    "readOnlyRootFilesystem": "ReadOnlyRootFilesystem",
    "allowPrivilegeEscalation": "AllowPrivilegeEscalation",
    "procMount": "ProcMount",
    "seccompProfile": "SeccompProfile",
    "appArmorProfile": "AppArmorProfile",
}
"""The fields of a container's security context in the form that errors print."""


def pod_security_context(
    path: FieldPath, spec: JsonObject, stored: JsonObject | None = None
) -> field_checks.Errors:
    """Validate the security context of a pod. `stored` is the spec that is changed."""
    # As `validatePodSpecSecurityContext` of `pkg/apis/core/validation`.
    context = spec.get("securityContext")
    if context is None:
        return
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        yield from _id(path, context, field)
    for supplemental_group_path, group in field_checks.items(context, "supplementalGroups", path):
        yield from field_checks.each(
            supplemental_group_path, group, format_checks.user_or_group_id(group)
        )
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield fieldpath.invalid(path.child("shareProcessNamespace"), value=True, detail=detail)
    yield from _sysctls(path, context, spec)
    yield from _choice(path, context, "fsGroupChangePolicy", GROUP_CHANGE_POLICIES)
    yield from _seccomp(path.child("seccompProfile"), context.get("seccompProfile"))
    yield from windows_options(path.child("windowsOptions"), context.get("windowsOptions"))
    yield from _app_armor(path.child("appArmorProfile"), context.get("appArmorProfile"))
    yield from _choice(path, context, "supplementalGroupsPolicy", SUPPLEMENTAL_GROUPS_POLICIES)
    yield from _selinux_change(path, context, stored or {})


def _selinux_change(
    path: FieldPath, context: JsonObject, stored: JsonObject
) -> field_checks.Errors:
    """Labels of volumes are changed file by file, unless mounting with them is allowed, or the
    pod has had a policy before."""
    # As `validateSELinuxChangePolicy` of `pkg/apis/core/validation`.
    before = (stored.get("securityContext") or {}).get("seLinuxChangePolicy")
    free = [*_choice(path, context, "seLinuxChangePolicy", SELINUX_CHANGE_POLICIES)]
    if before is not None:
        yield from free
        return
    yield from field_checks.only_with(field_checks.SELINUX_MOUNT, free)
    only = _choice(path, context, "seLinuxChangePolicy", SELINUX_CHANGE_POLICIES[1:])
    yield from field_checks.only_with(f"!{field_checks.SELINUX_MOUNT}", only)


@field_checks.once_sound
def container_security_context(
    path: FieldPath, context: JsonObject, *, host_users: bool
) -> field_checks.Errors:
    """Validate the security context of a container. `host_users`: the pod is in the host's user
    namespace."""
    # As `ValidateSecurityContext` of `pkg/apis/core/validation`.
    for field in ("runAsUser", "runAsGroup"):
        yield from _id(path, context, field)
    yield from _choice(path, context, "procMount", PROC_MOUNTS)
    if host_users and context.get("procMount") == "Unmasked":
        detail = "`hostUsers` must be false to use `Unmasked`"
        proc_mount_path = path.child("procMount")
        yield fieldpath.invalid(proc_mount_path, fieldpath.NamedText("Unmasked"), detail)
    yield from _seccomp(path.child("seccompProfile"), context.get("seccompProfile"))
    if context.get("allowPrivilegeEscalation") is False:
        yield from _escalation(path, context)
    yield from windows_options(path.child("windowsOptions"), context.get("windowsOptions"))
    yield from _app_armor(path.child("appArmorProfile"), context.get("appArmorProfile"))


def _escalation(path: FieldPath, context: JsonObject) -> field_checks.Errors:
    detail = "cannot set `allowPrivilegeEscalation` to false and "
    if context.get("privileged"):
        yield fieldpath.invalid(path, _shown(context), f"{detail}`privileged` to true")
    for capability in (context.get("capabilities") or {}).get("add") or ():
        if capability == "CAP_SYS_ADMIN":
            more = "`capabilities.Add` CAP_SYS_ADMIN"
            yield fieldpath.invalid(path, _shown(context), detail + more)


def _shown(context: JsonObject) -> GoValue:
    return GoValue(_printed(context), "core.SecurityContext")


def _printed(context: JsonObject) -> JsonDict:
    """Return what Go prints of the struct, whose fields have no JSON names."""
    printed = {name: context.get(field) for field, name in CONTEXT_FIELDS.items()}
    capabilities = context.get("capabilities")
    if capabilities is not None:
        added, dropped = capabilities.get("add"), capabilities.get("drop")
        printed["Capabilities"] = {"Add": added, "Drop": dropped}
    for field, members in _NESTED.items():
        value = context.get(field)
        if value is not None:
            printed[CONTEXT_FIELDS[field]] = {
                name: value.get(member, absent) for member, (name, absent) in members.items()
            }
    return printed


_PROFILE: Final[dict[str, tuple[str, str | None]]] = {
    "type": ("Type", ""),
    "localhostProfile": ("LocalhostProfile", None),
}
_NESTED: Final[dict[str, dict[str, tuple[str, str | None]]]] = {
    "seLinuxOptions": {
        "user": ("User", ""),
        "role": ("Role", ""),
        "type": ("Type", ""),
        "level": ("Level", ""),
    },
    "windowsOptions": {
        "gmsaCredentialSpecName": ("GMSACredentialSpecName", None),
        "gmsaCredentialSpec": ("GMSACredentialSpec", None),
        "runAsUserName": ("RunAsUserName", None),
        "hostProcess": ("HostProcess", None),
    },
    "seccompProfile": _PROFILE,
    "appArmorProfile": _PROFILE,
}


def _id(path: FieldPath, context: JsonObject, field: str) -> field_checks.Errors:
    value = context.get(field)
    if value is not None:
        yield from field_checks.each(
            path.child(field), value, format_checks.user_or_group_id(value)
        )


def _choice(
    path: FieldPath, context: JsonObject, field: str, choices: tuple[str, ...]
) -> field_checks.Errors:
    value = context.get(field)
    if value is not None:
        yield from field_checks.supported(path.child(field), value, choices)


def _seccomp(path: FieldPath, profile: JsonObject | None) -> field_checks.Errors:
    # As `validateSeccompProfileField` of `pkg/apis/core/validation`.
    if profile is None:
        return
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    if kind:
        yield from field_checks.supported(path.child("type"), kind, PROFILE_TYPES)
    else:
        detail = "type is required when seccompProfile is set"
        yield fieldpath.required(path.child("type"), detail)
    localhost_profile_path = path.child("localhostProfile")
    if kind != "Localhost":
        if local is not None:
            printed = GoValue({"Type": kind, "LocalhostProfile": local}, "core.SeccompProfile")
            yield fieldpath.invalid(
                localhost_profile_path, printed, "can only be set when seccomp type is Localhost"
            )
    elif local is None:
        yield fieldpath.required(
            localhost_profile_path, "must be set when seccomp type is Localhost"
        )
    else:
        yield from descending_path(localhost_profile_path, local)


def _app_armor(path: FieldPath, profile: JsonObject | None) -> field_checks.Errors:
    # As `ValidateAppArmorProfileField` of `pkg/apis/core/validation`.
    if profile is None:
        return
    kind, local = profile.get("type") or "", profile.get("localhostProfile")
    localhost_profile_path = path.child("localhostProfile")
    if kind == "Localhost":
        if local is not None and local != local.strip():
            yield fieldpath.invalid(
                localhost_profile_path, local, "must not be padded with whitespace"
            )
        elif not local:
            yield fieldpath.required(
                localhost_profile_path, "must be set when AppArmor type is Localhost"
            )
        if local is not None and len(local) > LOCAL_PROFILE_MAX_BYTES:
            yield fieldpath.too_long(localhost_profile_path, LOCAL_PROFILE_MAX_BYTES)
    elif kind not in PROFILE_TYPES:
        if kind:
            yield from field_checks.supported(path.child("type"), kind, PROFILE_TYPES)
        else:
            detail = "type is required when appArmorProfile is set"
            yield fieldpath.required(path.child("type"), detail)
    elif local is not None:
        yield fieldpath.invalid(
            localhost_profile_path, local, "can only be set when AppArmor type is Localhost"
        )


def normal_name(sysctl: str) -> str:
    """Return the name with dots between its parts, and slashes in them, as it may be written the
    other way."""
    first = next((text for text in sysctl if text in "./"), ".")
    return sysctl if first == "." else sysctl.translate(_SWAPPED)


def _sysctls(path: FieldPath, context: JsonObject, spec: JsonObject) -> field_checks.Errors:
    # As `validateSysctls` of `pkg/apis/core/validation`.
    taken: set[str] = set()
    for sysctl_path, sysctl in field_checks.items(context, "sysctls", path):
        name, name_path = sysctl.get("name") or "", sysctl_path.child("name")
        if not name:
            yield fieldpath.required(name_path)
        elif len(name) > SYSCTL_MAX_BYTES or _SYSCTL.fullmatch(name) is None:
            pattern = _SYSCTL.pattern
            detail = f"must have at most {SYSCTL_MAX_BYTES} characters and match regex {pattern}"
            yield fieldpath.invalid(name_path, name, detail)
        elif name in taken:
            yield fieldpath.duplicate(name_path, name)
        for field in ("hostNetwork", "hostIPC"):
            if spec.get(field) and normal_name(name).startswith(_OF_HOST[field]):
                detail = f"may not be specified when '{field}' is true"
                yield fieldpath.invalid(name_path, name, detail)
        taken.add(name)
