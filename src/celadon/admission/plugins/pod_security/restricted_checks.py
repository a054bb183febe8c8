"""The checks of level `restricted`: what a hardened pod must say.

As k8s.io/pod-security-admission `policy/check_*.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.pod_plugins.pod_references import containers
from celadon.admission.plugins.pod_security.baseline_checks import PROFILES, seccomp_profiles
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
    """A check of what only Linux knows."""

    def linux(meta: JsonObject, spec: JsonObject) -> Violation | None:
        if (spec.get("os") or {}).get("name") == "windows":
            return None
        return check(meta, spec)

    return linux


def privilege_escalation(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Every container says that nobody in it can become more than they are."""
    names = [
        one.get("name", "")
        for one in containers(spec)
        if context_of(one).get("allowPrivilegeEscalation") is not False
    ]
    detail = f"{named(names)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail) if names else None


def dropped_capabilities(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Every container drops all capabilities, and takes back one at most."""
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
        found = (kind for kind in OTHER_VOLUMES if volume.get(kind) is not None)
        kinds.add(next(found, "unknown"))
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    what = f"{one_or_more('restricted volume type', len(kinds))} {quoted(sorted(kinds))}"
    return Violation("restricted volume types", f"{named(names, 'volume')} {uses} {what}")


def non_root(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Every container says, or the pod for all of them, that it does not run as root."""
    own = context_of(spec).get("runAsNonRoot")
    said = [(one.get("name", ""), context_of(one).get("runAsNonRoot")) for one in containers(spec)]
    who = setters([name for name, value in said if value is False], pod=own is False)
    reason = "runAsNonRoot != true"
    if who:
        return Violation(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    names = [] if own else [name for name, value in said if value is None]
    detail = f"pod or {named(names)} must set securityContext.runAsNonRoot=true"
    return Violation(reason, detail) if names else None


def not_user_zero(_: JsonObject, spec: JsonObject) -> Violation | None:
    """Nobody runs as user 0, whatever else is said."""
    names = [one.get("name", "") for one in containers(spec) if _is_root(one)]
    who = setters(names, pod=_is_root(spec))
    return Violation("runAsUser=0", f"{who} must not set runAsUser=0") if who else None


def _is_root(owner: JsonObject) -> bool:
    return context_of(owner).get("runAsUser") == 0


def required_seccomp(meta: JsonObject, spec: JsonObject) -> Violation | None:
    """Every container has a profile of seccomp, its own or that of the pod."""
    bad = seccomp_profiles(meta, spec)
    if bad is not None:
        return bad
    if (context_of(spec).get("seccompProfile") or {}).get("type") in PROFILES:
        return None
    names = [
        one.get("name", "")
        for one in containers(spec)
        if context_of(one).get("seccompProfile") is None
    ]
    detail = (
        f"pod or {named(names)} must set securityContext.seccompProfile.type to "
        '"RuntimeDefault" or "Localhost"'
    )
    return Violation("seccompProfile", detail) if names else None
