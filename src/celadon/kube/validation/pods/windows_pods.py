"""Pods of one operating system: what only Windows knows, and what it does not know.

As k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, dns_subdomain
from celadon.kube.well_known_values import CONTAINER_LISTS
from celadon.patterns import late_pattern

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
_DOMAIN: Final = late_pattern(rf"{_LABEL}(?:\.{_LABEL})*")
_ONLY_DOTS: Final = late_pattern(r"[\. ]+")
_FORBIDDEN: Final = late_pattern(r'["/\\:;|=,\+\*\?<>@\[\]]')


def containers_of(path: FieldPath, spec: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    """All containers of a pod, in the order in which upstream visits them."""
    for field in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            yield path.child(field).index(index), container


def windows_options(path: FieldPath, options: JsonObject | None) -> Errors:
    """`windowsOptions` of a security context."""
    if options is None:
        return
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        yield from dns_subdomain(path.child("gmsaCredentialSpecName"), name)
    credentials, at = options.get("gmsaCredentialSpec"), path.child("gmsaCredentialSpec")
    if credentials == "":
        yield fieldpath.invalid(at, "", "gmsaCredentialSpec cannot be an empty string")
    elif credentials is not None and len(credentials.encode()) > MAX_CREDENTIAL_KIB * 1024:
        detail = f"gmsaCredentialSpec size must be under {MAX_CREDENTIAL_KIB} KiB"
        yield fieldpath.invalid(at, credentials, detail)
    user = options.get("runAsUserName")
    if user is not None:
        for detail in _user_faults(user):
            yield fieldpath.invalid(path.child("runAsUserName"), user, f"runAsUserName{detail}")


def _user_faults(name: str) -> Iterator[str]:
    """What is wrong with `DOMAIN\\user`, as it follows the name of the field."""
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


def host_processes(path: FieldPath, spec: JsonObject) -> Errors:
    """Containers that run as processes of the host: all of a pod or none, on its network."""
    of_pod = _is_host_process(spec)
    every = (one for field in CONTAINER_LISTS for one in spec.get(field) or ())
    if of_pod is None and all(_is_host_process(one) is None for one in every):
        return
    given = [(at, _is_host_process(one)) for at, one in containers_of(path, spec)]
    for at, of_container in given:
        if None not in (of_pod, of_container) and of_pod is not of_container:
            shown = "true" if of_pod else "false"
            detail = f"pod hostProcess value must be identical if both are specified, was {shown}"
            where = at.child("securityContext", "windowsOptions", "hostProcess")
            yield fieldpath.invalid(where, of_container, detail)
    running = [one or (one is None and bool(of_pod)) for _, one in given]
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
    found: bool | None = ((context or {}).get("windowsOptions") or {}).get("hostProcess")
    return found


def for_linux(path: FieldPath, spec: JsonObject) -> Errors:
    """What a pod may not say if it says that it is for Linux."""
    for at, one in ((path, spec), *containers_of(path, spec)):
        if (one.get("securityContext") or {}).get("windowsOptions") is not None:
            yield fieldpath.forbidden(at.child("securityContext", "windowsOptions"), NOT_ON_LINUX)


def for_windows(path: FieldPath, spec: JsonObject) -> Errors:
    """The same for Windows."""
    context = spec.get("securityContext") or {}
    for field in _ON_POD_CONTEXT:
        name, in_spec = field.removeprefix("/"), field.startswith("/")
        if _is_set(spec if in_spec else context, name):
            at = path.child(name) if in_spec else path.child("securityContext", name)
            yield fieldpath.forbidden(at, NOT_ON_WINDOWS)
    for at, container in containers_of(path, spec):
        for field in _ON_CONTAINER_CONTEXT:
            if (container.get("securityContext") or {}).get(field) is not None:
                yield fieldpath.forbidden(at.child("securityContext", field), NOT_ON_WINDOWS)


def _is_set(obj: JsonObject, field: str) -> bool:
    value = obj.get(field)
    if field in _COUNTS_IF_TRUE or field == "sysctls":
        return bool(value)
    return value is not None
