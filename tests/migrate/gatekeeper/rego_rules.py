"""The rules of known templates, said once more and in another way: whether an object is refused.

They are the oracle of what is translated, and used for nothing else. Each was compared with the
template's own Rego, which is not part of this repository.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

Rule = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
"""Of an object and parameters."""

_Container = Mapping[str, Any]
_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")


def _at(value: Any, path: str) -> Any:
    """What stands at a path; None if it is absent."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _fits(text: str, pattern: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def _unexempted(rule: Rule) -> Rule:
    """The rule of an older text, which exempts nothing."""
    return lambda obj, parameters: rule(
        obj, {name: one for name, one in parameters.items() if name != "exemptImages"}
    )


def _containers(
    obj: Mapping[str, Any], parameters: Mapping[str, Any], lists: tuple[str, ...] = _LISTS
) -> Iterator[_Container]:
    """Those that no parameter exempts by their image."""
    for name in lists:
        for one in _at(obj, f"spec.{name}") or ():
            if not any(_fits(one["image"], each) for each in parameters.get("exemptImages", ())):
                yield one


def _some(
    wrong: Callable[[_Container, Mapping[str, Any], Mapping[str, Any]], bool],
    *,
    lists: tuple[str, ...] = _LISTS,
    needs: str = "",
) -> Rule:
    """Refuse objects with a container that is wrong; none without a parameter that is needed."""

    def rule(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
        if needs and needs not in parameters:
            return False
        return any(wrong(one, obj, parameters) for one in _containers(obj, parameters, lists))

    return rule


def _user(container: _Container, obj: Mapping[str, Any], field: str) -> Any:
    own = _at(container, f"securityContext.{field}")
    return _at(obj, f"spec.securityContext.{field}") if own is None else own


def _in_ranges(number: int, parameters: Any) -> bool:
    return any(one["min"] <= number <= one["max"] for one in (parameters or {}).get("ranges", ()))


def _disallowed_user(container: _Container, obj: Mapping[str, Any], given: Any) -> bool:
    user = _user(container, obj, "runAsUser")
    match _at(given, "runAsUser.rule"):
        case "MustRunAs":
            return user is None or not _in_ranges(user, given["runAsUser"])
        case "MustRunAsNonRoot":
            return user == 0 or (user is None and not _user(container, obj, "runAsNonRoot"))
    return False


def _disallowed_identity(container: _Container, obj: Mapping[str, Any], given: Any) -> bool:
    if _disallowed_user(container, obj, given):
        return True
    of_pod = _at(obj, "spec.securityContext") or {}
    found = {
        "runAsGroup": [_user(container, obj, "runAsGroup")],
        "fsGroup": [of_pod.get("fsGroup")],
        # A server leaves out an empty list before it asks.
        "supplementalGroups": of_pod.get("supplementalGroups") or [None],
    }
    for field, numbers in found.items():
        rule = _at(given, f"{field}.rule")
        for number in numbers if rule in ("MustRunAs", "MayRunAs") else ():
            # Without ranges, an undefined value, Rego refuses no number.
            is_outside = (
                number is not None
                and "ranges" in given[field]
                and not _in_ranges(number, given[field])
            )
            if rule == "MustRunAs" if number is None else is_outside:
                return True
    return False


def _selinux(given: Any, parameters: Mapping[str, Any]) -> bool:
    """Whether options are none that is allowed."""
    return given is not None and not any(
        all(given.get(name) in (None, one.get(name)) for name in ("level", "role", "type", "user"))
        for one in parameters["allowedSELinuxOptions"]
    )


def _refused_selinux(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    if "allowedSELinuxOptions" not in parameters:
        return False
    options = [_at(obj, "spec.securityContext.seLinuxOptions")]
    options += [_at(one, "securityContext.seLinuxOptions") for one in _containers(obj, parameters)]
    return any(_selinux(one, parameters) for one in options)


def _lacks_capabilities(container: _Container, _: Any, parameters: Mapping[str, Any]) -> bool:
    def lower(values: Any) -> set[str]:
        return {one.lower() for one in values or ()}

    added = lower(_at(container, "securityContext.capabilities.add"))
    dropped = lower(_at(container, "securityContext.capabilities.drop"))
    allowed = lower(parameters.get("allowedCapabilities"))
    required = lower(parameters.get("requiredDropCapabilities"))
    return ("*" not in allowed and bool(added - allowed)) or (
        bool(required - dropped) and "all" not in dropped
    )


# --- Pods ---------------------------------------------------------------------


def _refused_ports(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    if _at(obj, "spec.hostNetwork") and not parameters.get("hostNetwork"):
        return True
    return any(
        not parameters.get("min", port) <= port <= parameters.get("max", port)
        for one in _containers(obj, parameters)
        for each in one.get("ports", ())
        if (port := each.get("hostPort")) is not None
    )


def _refused_group(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    group = _at(obj, "spec.securityContext.fsGroup")
    match parameters.get("rule"):
        case "RunAsAny":
            return False
        case "MayRunAs" if group is None:
            return False
        case "MustRunAs" | "MayRunAs":
            return group is None or not _in_ranges(group, parameters)
    return True


def _parts(path: str) -> list[str]:
    return [] if path == "/" else path.strip("/").split("/")


def _refused_paths(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    written = {
        mount["name"]
        for name in _LISTS
        for one in _at(obj, f"spec.{name}") or ()
        for mount in one.get("volumeMounts", ())
        if not mount.get("readOnly")
    }
    for volume in _at(obj, "spec.volumes") or ():
        path = _at(volume, "hostPath.path")
        if path is not None and not any(
            _parts(path)[: len(prefix := _parts(one["pathPrefix"]))] == prefix
            and not (one.get("readOnly") and volume["name"] in written)
            for one in parameters.get("allowedHostPaths", ())
        ):
            return True
    return False


def _refused_sysctls(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    names = [one["name"] for one in _at(obj, "spec.securityContext.sysctls") or ()]
    forbidden = parameters.get("forbiddenSysctls", ())
    allowed = parameters.get("allowedSysctls", ["*"])
    return any(
        any(_fits(name, one) for one in forbidden) or not any(_fits(name, one) for one in allowed)
        for name in names
    )


def _mounts_token(obj: Mapping[str, Any], _: Any) -> bool:
    wanted = _at(obj, "spec.automountServiceAccountToken")
    if wanted is not None:
        return bool(wanted)
    place = "/var/run/secrets/kubernetes.io/serviceaccount"
    return any(
        mount["mountPath"] == place
        for one in _containers(obj, {}, _LISTS[:2])
        for mount in one.get("volumeMounts", ())
    )


def _refused_volumes(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    allowed = parameters.get("volumes")
    kinds = {name for one in _at(obj, "spec.volumes") or () for name in set(one) - {"name"}}
    return allowed is not None and "*" not in allowed and bool(kinds - set(allowed))


def _refused_drivers(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    if "allowedFlexVolumes" not in parameters:
        return False
    allowed = [one["driver"] for one in parameters["allowedFlexVolumes"]]
    return any(
        "flexVolume" in one and one["flexVolume"]["driver"] not in allowed
        for one in _at(obj, "spec.volumes") or ()
    )


# --- Quantities ---------------------------------------------------------------

_POWERS: Final = {"": 0, "m": -1, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def _amount(text: str | None, name: str) -> Fraction | None:
    """A quantity as the templates read it; None if they cannot."""
    units = "m?" if name == "cpu" else "(?:[mkMGTPE]|[KMGTPE]i)?"
    found = re.fullmatch(rf"([0-9]+(?:\.[0-9]+)?)({units})", text or "", re.ASCII)
    if found is None:
        return None
    unit = found[2]
    base = 1024 if unit.endswith("i") else 1000
    return Fraction(found[1]) * Fraction(base) ** _POWERS[unit.removesuffix("i")]


def _wrong_amount(container: _Container, field: str, name: str, most: str | None) -> bool:
    found = _amount(_at(container, f"resources.{field}.{name}"), name)
    bound = _amount(most, name)
    return found is None or (bound is not None and found > bound)


def _bounded(field: str, *names: str, switch: str = "") -> Rule:
    def wrong(container: _Container, _: Any, parameters: Mapping[str, Any]) -> bool:
        meant = [one for one in names if one != switch or parameters.get(one, "-1") != "-1"]
        return any(_wrong_amount(container, field, one, parameters.get(one)) for one in meant)

    return _some(wrong, lists=_LISTS[:2])


def _wrong_ratio(container: _Container, _: Any, parameters: Mapping[str, Any]) -> bool:
    for name in ("cpu", "memory"):
        limit, request = (
            _amount(_at(container, f"resources.{field}.{name}"), name)
            for field in ("limits", "requests")
        )
        if limit is None or request is None:
            return True
        ratio = parameters.get("ratio")
        if ratio and name == "cpu":
            ratio = parameters.get("cpuRatio", ratio)
        if ratio and limit > Fraction(ratio) * request:
            return True
    return False


def _lacks_resources(container: _Container, _: Any, parameters: Mapping[str, Any]) -> bool:
    return any(
        name not in (_at(container, f"resources.{field}") or {})
        for field in ("limits", "requests")
        for name in parameters.get(field, ())
    )


def _unprobed(container: _Container, _: Any, parameters: Mapping[str, Any]) -> bool:
    types = set(parameters.get("probeTypes", ()))
    return any(not types & set(container.get(one, {})) for one in parameters["probes"])


# --- Images -------------------------------------------------------------------


def _has_no_digest(container: _Container, *_: Any) -> bool:
    form = r"^.*@[a-z0-9]+([+._-][a-z0-9]+)*:[a-zA-Z0-9=_-]+"
    return re.match(form, container["image"], re.ASCII) is None


def _wrong_tag(*, port_is_tag: bool) -> Callable[[_Container, Any, Any], bool]:
    def wrong(container: _Container, _: Any, parameters: Mapping[str, Any]) -> bool:
        image = container["image"]
        name = image if port_is_tag else image.rpartition("/")[2]
        return ":" not in name or any(
            image.endswith(f":{tag}") for tag in parameters.get("tags", ())
        )

    return wrong


# --- Other objects ------------------------------------------------------------


def _lacks(field: str) -> Rule:
    def rule(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
        there = _at(obj, f"metadata.{field}") or {}
        return any(
            one["key"] not in there
            or re.search(one.get("allowedRegex", ""), there[one["key"]]) is None
            for one in parameters.get(field, ())
        )

    return rule


def _plain_ingress(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    annotations = _at(obj, "metadata.annotations") or {}
    is_safe = annotations.get("kubernetes.io/ingress.allow-http") == "false" and (
        bool(parameters.get("tlsOptional")) or bool(_at(obj, "spec.tls"))
    )
    return obj["kind"] == "Ingress" and not is_safe


def _wild_ingress(obj: Mapping[str, Any], _: Any) -> bool:
    hosts = [one.get("host", "") for one in _at(obj, "spec.rules") or ()]
    return obj["kind"] == "Ingress" and any(one == "" or "*" in one for one in hosts)


def _binds(*, others: bool, needs: str = "") -> Rule:
    def rule(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
        if needs and needs not in parameters:
            return False
        nobody = {"system:unauthenticated", "system:anonymous"}
        if others and parameters.get("disallowAuthenticated"):
            nobody.add("system:authenticated")
        is_allowed = obj["roleRef"]["name"] in parameters.get("allowedRoles", ())
        return not is_allowed and any(one["name"] in nobody for one in obj.get("subjects", ()))

    return rule


def _outside(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    replicas = _at(obj, "spec.replicas")
    return replicas is None or not any(
        one["min_replicas"] <= replicas <= one["max_replicas"]
        for one in parameters.get("ranges", ())
    )


def _of_type(kind: str) -> Rule:
    return lambda obj, _: obj["kind"] == "Service" and _at(obj, "spec.type") == kind


def _external(obj: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    given = set(_at(obj, "spec.externalIPs") or ())
    return obj["kind"] == "Service" and bool(given - set(parameters.get("allowedIPs", ())))


def _unlike(field: str, is_fine: Callable[[str, str], bool], *, is_allowed: bool = True) -> Rule:
    def wrong(container: _Container, _: Any, parameters: Mapping[str, Any]) -> bool:
        return any(is_fine(container["image"], one) for one in parameters[field]) is not is_allowed

    return _some(wrong, needs=field)


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "K8sAllowedRepos": (_unlike("repos", str.startswith),),
    "K8sAllowedReposv2": (_unlike("allowedImages", _fits),),
    "K8sBlockLoadBalancer": (_of_type("LoadBalancer"),),
    "K8sBlockNodePort": (_of_type("NodePort"),),
    "K8sBlockWildcardIngress": (_wild_ingress,),
    "K8sContainerEphemeralStorageLimit": (_bounded("limits", "ephemeral-storage"),),
    "K8sContainerLimits": (
        _bounded("limits", "cpu", "memory", switch="cpu"),
        _bounded("limits", "cpu", "memory"),
        _unexempted(_bounded("limits", "cpu", "memory")),
    ),
    "K8sContainerRatios": (
        _some(_wrong_ratio, lists=_LISTS[:2]),
        _unexempted(_some(_wrong_ratio, lists=_LISTS[:2])),
    ),
    "K8sContainerRequests": (_bounded("requests", "cpu", "memory"),),
    "K8sDisallowAnonymous": (
        _binds(others=True),
        _binds(others=False),
        _binds(others=False, needs="allowedRoles"),
    ),
    "K8sDisallowInteractiveTTY": (_some(lambda one, *_: bool(one.get("stdin") or one.get("tty"))),),
    "K8sDisallowedRepos": (_unlike("repos", str.startswith, is_allowed=False),),
    "K8sDisallowedTags": (
        _some(_wrong_tag(port_is_tag=False)),
        _some(_wrong_tag(port_is_tag=True)),
        _some(_wrong_tag(port_is_tag=True), lists=_LISTS[:2]),
    ),
    "K8sExternalIPs": (_external,),
    "K8sHttpsOnly": (_plain_ingress, lambda obj, _: _plain_ingress(obj, {})),
    "K8sImageDigests": (_some(_has_no_digest),),
    "K8sPSPAllowPrivilegeEscalationContainer": (
        _some(lambda one, *_: _at(one, "securityContext.allowPrivilegeEscalation") is not False),
    ),
    "K8sPSPAllowedUsers": (_some(_disallowed_identity),),
    "K8sPSPAppArmor": (
        _some(
            lambda one, obj, parameters: (
                (_at(obj, "metadata.annotations") or {}).get(
                    f"container.apparmor.security.beta.kubernetes.io/{one['name']}",
                    "runtime/default",
                )
                not in parameters["allowedProfiles"]
            ),
            needs="allowedProfiles",
        ),
    ),
    "K8sPSPAutomountServiceAccountTokenPod": (_mounts_token,),
    "K8sPSPCapabilities": (_some(_lacks_capabilities),),
    "K8sPSPFSGroup": (_refused_group,),
    "K8sPSPFlexVolumes": (_refused_drivers,),
    "K8sPSPForbiddenSysctls": (_refused_sysctls,),
    "K8sPSPHostFilesystem": (_refused_paths,),
    "K8sPSPHostNamespace": (
        lambda obj, _: bool(_at(obj, "spec.hostPID") or _at(obj, "spec.hostIPC")),
    ),
    "K8sPSPHostNetworkingPorts": (_refused_ports,),
    "K8sPSPPrivilegedContainer": (
        _some(lambda one, *_: bool(_at(one, "securityContext.privileged"))),
    ),
    "K8sPSPProcMount": (
        _some(
            lambda one, _, parameters: (
                parameters.get("procMount", "").lower() != "unmasked"
                and (_at(one, "securityContext.procMount") or "Default").lower() != "default"
            )
        ),
    ),
    "K8sPSPReadOnlyRootFilesystem": (
        _some(lambda one, *_: _at(one, "securityContext.readOnlyRootFilesystem") is not True),
    ),
    "K8sPSPSELinuxV2": (_refused_selinux,),
    "K8sPSPVolumeTypes": (_refused_volumes,),
    "K8sReplicaLimits": (_outside,),
    "K8sRequiredAnnotations": (_lacks("annotations"),),
    "K8sRequiredLabels": (_lacks("labels"),),
    "K8sRequiredProbes": (_some(_unprobed, lists=_LISTS[:1], needs="probes"),),
    "K8sRequiredResources": (_some(_lacks_resources, lists=_LISTS[:2]),),
}
"""Those of each kind of templates, in the order in which its texts are known."""
