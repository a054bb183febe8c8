"""What Kyverno says of a pod and what is excluded from a level, error by error: the oracle of the
translation of `podSecurity`.

As Kyverno `pkg/pss/evaluate.go` and its fork of `k8s.io/pod-security-admission`, of some checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from celadon.kube import JsonObject
from celadon.kube.well_known_values import CONTAINER_LISTS
from celadon.migrate.kyverno.patterns import wildcard_match

CHECKS = {
    "Capabilities": ("capabilities_baseline", "capabilities_restricted"),
    "HostPath Volumes": ("hostPathVolumes",),
    "Host Namespaces": ("hostNamespaces",),
    "Host Ports": ("hostPorts",),
    "Privilege Escalation": ("allowPrivilegeEscalation",),
    "Running as Non-root": ("runAsNonRoot",),
    "SELinux": ("seLinuxOptions",),
    "Seccomp": ("seccompProfile_baseline", "seccompProfile_restricted"),
    "Volume Types": ("restrictedVolumes",),
}
"""The checks of controls that are judged here."""

_BASELINE = frozenset({"CHOWN", "NET_BIND_SERVICE"})
"""Of the capabilities that the level allows, those that tests add."""
_PROFILES = ("RuntimeDefault", "Localhost")


@dataclass(frozen=True)
class Error:
    field: str
    container: str
    values: tuple[str, ...] = ()


def allowed(spec: JsonObject, excludes: Sequence[JsonObject]) -> bool:
    """Whether a pod has no errors of the level `restricted` but those that are excluded."""
    left = {check: found for check, found in _errors(spec).items() if found}
    for entry in excludes:
        images, path = entry.get("images") or (), entry.get("restrictedField")
        matching = _errors(_matching(spec, images))
        for check in CHECKS[entry["controlName"]]:
            for error in matching[check]:
                if path not in (None, error.field):
                    continue
                patterns = entry.get("values") or ["*"]
                if not all(any(wildcard_match(p, v) for p in patterns) for v in error.values):
                    continue
                for other in left.get(check, ()):
                    same = not images or other.container == error.container
                    if other.field == error.field and same:
                        left[check].remove(other)
                        break
                if check in left and not left[check]:
                    del left[check]
    return not left


def _matching(spec: JsonObject, images: Sequence[str]) -> JsonObject:
    """What is judged in place of a pod: the containers with images, or all but the containers."""
    if not images:
        return {**dict.fromkeys(CONTAINER_LISTS, ()), **_without_containers(spec)}
    return {
        name: [
            one
            for one in spec.get(name) or ()
            if any(wildcard_match(image, one["image"]) for image in images)
        ]
        for name in CONTAINER_LISTS
    }


def _without_containers(spec: JsonObject) -> dict[str, Any]:
    own = {key: one for key, one in spec.items() if key not in CONTAINER_LISTS}
    return {**own, "containers": [{"name": "fake", "image": ""}]}


def _errors(spec: JsonObject) -> dict[str, list[Error]]:
    context = spec.get("securityContext") or {}
    found: dict[str, list[Error]] = {check: [] for checks in CHECKS.values() for check in checks}
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(name):
            found["hostNamespaces"].append(Error(f"spec.{name}", "", ("true",)))
    for volume in spec.get("volumes") or ():
        if "hostPath" in volume:
            path = volume["hostPath"]["path"]
            found["hostPathVolumes"].append(Error("spec.volumes[*].hostPath", "", (path,)))
        for kind in {"hostPath", "nfs", "rbd"} & set(volume):
            found["restrictedVolumes"].append(Error(f"spec.volumes[*].{kind}", ""))
    found["seLinuxOptions"] += _selinux("spec", "", context)
    if context.get("runAsNonRoot") is False:
        found["runAsNonRoot"].append(Error("spec.securityContext.runAsNonRoot", "", ("false",)))
    for name in CONTAINER_LISTS:
        for container in spec.get(name) or ():
            for check, error in _of_container(f"spec.{name}[*]", container, context):
                found[check].append(error)
    bad, missing = _profiles(spec)
    found["seccompProfile_baseline"] = bad
    found["seccompProfile_restricted"] = list(bad) or missing
    return found


def _of_container(at: str, container: JsonObject, pod: JsonObject) -> Iterator[tuple[str, Error]]:
    name, context = container["name"], container.get("securityContext")
    for port in container.get("ports") or ():
        if port.get("hostPort"):
            value = str(port["hostPort"])
            yield "hostPorts", Error(f"{at}.ports[*].hostPort", name, (value,))
    at = f"{at}.securityContext"
    field = f"{at}.allowPrivilegeEscalation"
    if context is None:
        yield "allowPrivilegeEscalation", Error(field, name)
    elif context.get("allowPrivilegeEscalation") is not False:
        value = "true" if "allowPrivilegeEscalation" in context else "nil"
        yield "allowPrivilegeEscalation", Error(field, name, (value,))
    context = context or {}
    if context.get("runAsNonRoot") is False:
        yield "runAsNonRoot", Error(f"{at}.runAsNonRoot", name, ("false",))
    elif "runAsNonRoot" not in context and not pod.get("runAsNonRoot"):
        yield "runAsNonRoot", Error(f"{at}.runAsNonRoot", name)
    capabilities = context.get("capabilities") or {}
    dropped, added = capabilities.get("drop") or (), capabilities.get("add") or ()
    if "ALL" not in dropped:
        field = f"{at}.capabilities.drop"
        yield "capabilities_restricted", Error(field, name, tuple(dropped))
    for check, good in (
        ("capabilities_baseline", _BASELINE), ("capabilities_restricted", {"NET_BIND_SERVICE"})
    ):  # fmt: skip
        bad = tuple(one for one in added if one not in good)
        if bad:
            yield check, Error(f"{at}.capabilities.add", name, bad)
    for error in _selinux(at.removesuffix(".securityContext"), name, context):
        yield "seLinuxOptions", error


def _selinux(at: str, name: str, context: JsonObject) -> Iterator[Error]:
    options = context.get("seLinuxOptions") or {}
    for field in ("type", "user", "role"):
        value = options.get(field)
        if value and (field, value) != ("type", "container_t"):
            yield Error(f"{at}.securityContext.seLinuxOptions.{field}", name, (value,))


def _profiles(spec: JsonObject) -> tuple[list[Error], list[Error]]:
    """The profiles of seccomp that are bad, and those that are missing."""
    field = "securityContext.seccompProfile.type"
    bad, missing = [], []
    given = ((spec.get("securityContext") or {}).get("seccompProfile") or {}).get("type")
    if given and given not in _PROFILES:
        bad.append(Error(f"spec.{field}", "", (given,)))
    for name in CONTAINER_LISTS:
        for container in spec.get(name) or ():
            own = ((container.get("securityContext") or {}).get("seccompProfile") or {}).get("type")
            at = f"spec.{name}[*].{field}"
            if own and own not in _PROFILES:
                bad.append(Error(at, container["name"], (own,)))
            elif not own and given not in _PROFILES:
                missing.append(Error(at, container["name"]))
    return bad, missing
