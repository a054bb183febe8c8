"""Rules of Kyverno that demand a level of the Pod Security Standards (`validate.podSecurity`).

Each check of the level becomes a validation. Kyverno judges `restricted` by the checks of
`baseline`, too, also where those of `restricted` are stricter. What is excluded by images becomes a
variable with the containers that are left.

As Kyverno `pkg/pss/evaluate.go`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission.plugins.pod_security_expressions import (
    CONTAINERS,
    OLDEST,
    check_expressions,
)
from celadon.admission.plugins.pod_security_standards import (
    BASELINE,
    LATEST,
    NEWEST,
    RESTRICTED,
    minor_of,
    version_error,
)
from celadon.kube import GroupVersionKind, JsonObject
from celadon.migrate.cel_text import disjunction, negation
from celadon.migrate.kyverno.pattern_translation import globbed
from celadon.migrate.kyverno.policies import TEMPLATES
from celadon.migrate.translations import NotTranslated

_OF_PODS: Final[Mapping[str, tuple[str, ...]]] = {
    "Host Namespaces": ("hostNamespaces",),
    "HostPath Volumes": ("hostPathVolumes",),
    "Sysctls": ("sysctls",),
    "Volume Types": ("restrictedVolumes",),
}
"""Controls of fields that only pods have, and their checks: they are excluded without images."""

_OF_CONTAINERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Capabilities": ("capabilities_baseline", "capabilities_restricted"),
    "Privileged Containers": ("privileged",),
    "Host Ports": ("hostPorts",),
    "/proc Mount Type": ("procMount",),
    "Privilege Escalation": ("allowPrivilegeEscalation",),
}
"""Controls of fields that only containers have: they are excluded by images."""

_OF_BOTH: Final[Mapping[str, tuple[str, ...]]] = {
    "AppArmor": ("appArmorProfile",),
    "HostProcess": ("windowsHostProcess",),
    "Running as Non-root": ("runAsNonRoot",),
    "Running as Non-root user": ("runAsUser",),
    "SELinux": ("seLinuxOptions",),
    "Seccomp": ("seccompProfile_baseline", "seccompProfile_restricted"),
}
"""Controls of both. An exclusion without images is of the pod's own fields."""

_CHECKS: Final = {**_OF_PODS, **_OF_CONTAINERS, **_OF_BOTH}

_ROOTS: Final = {
    **{kind: ".".join(("object", *path)) for kind, path in TEMPLATES.items()},
    "Pod": "object",
}
"""Where the pod of a kind stands; of no others does Kyverno judge the pods."""


@dataclass(frozen=True, slots=True)
class Standard:
    """A rule demands this of pods."""

    variables: tuple[Mapping[str, str], ...]
    validations: tuple[Mapping[str, str], ...]


def standard(
    given: JsonObject, message: Mapping[str, str], kinds: Sequence[GroupVersionKind]
) -> Standard:
    """Return what `podSecurity` demands of objects of some kinds. A fixed message is followed by
    the name of the check. Raises NotTranslated."""
    # An expression has one place where the pod stands: kinds that have it elsewhere need rules of
    # their own.
    roots = {_ROOTS.get(one.kind) for one in kinds} or {None}
    root = roots.pop()
    if root is None or roots:
        raise NotTranslated("`podSecurity` for kinds without a template of Pods")
    # Containers of all three lists are judged as one list, so that an exclusion by images is a
    # filter.
    variables = {"containers": CONTAINERS}
    validations = []
    excluded = _exclusions(given.get("exclude") or ())
    for name, expression in _expressions(given).items():
        control = next((one for one, checks in _CHECKS.items() if name in checks), "")
        images = excluded.get(control)
        if images is not None:
            if not images:
                continue
            variable = f"containersFor{''.join(re.findall('[A-Za-z]+', control.title()))}"
            meant = negation(disjunction(globbed("c.?image.orValue('')", one) for one in images))
            variables[variable] = f"variables.containers.filter(c, {meant})"
            expression = expression.replace("variables.containers", f"variables.{variable}")
        own = {key: f"{text} ({name})" for key, text in message.items() if key == "message"}
        validations.append({"expression": _moved(expression, root), **message, **own})
    return Standard(
        tuple({"name": key, "expression": _moved(one, root)} for key, one in variables.items()),
        tuple(validations),
    )


def _expressions(given: JsonObject) -> dict[str, str]:
    version = str(given.get("version") or LATEST)
    minor = NEWEST if version == LATEST else minor_of(version)
    if version_error(version) or minor is None or minor < OLDEST:
        raise NotTranslated(f"the version {version} of the Pod Security Standards")
    level = given.get("level")
    if level not in (BASELINE, RESTRICTED):
        raise NotTranslated(f"the level {level} of the Pod Security Standards")
    # `evaluatePSS` runs the checks of both levels for `restricted`, where the API server leaves out
    # those of `baseline` that a stricter one overrides.
    baseline = check_expressions(BASELINE, minor)
    return {**baseline, **check_expressions(level, minor)}


def _exclusions(entries: Sequence[JsonObject]) -> dict[str, tuple[str, ...]]:
    """Return the images whose containers are excluded, by control. There are none where the whole
    control is excluded."""
    found: dict[str, tuple[str, ...]] = {}
    for control in dict.fromkeys(str(one.get("controlName")) for one in entries):
        of_pod, images = False, list[str]()
        for entry in _of_control(entries, control):
            of_pod |= not entry.get("images")
            images += entry.get("images") or ()
        if control in _OF_PODS and not images:
            found[control] = ()
        elif control in _OF_BOTH and of_pod:
            if "*" not in images:
                raise NotTranslated(f"an exclusion of `{control}` of pods, but not of containers")
            found[control] = ()
        elif control not in _OF_PODS and not of_pod:
            found[control] = () if "*" in images and control in _OF_CONTAINERS else tuple(images)
        else:
            raise NotTranslated(f"an exclusion of `{control}` that Kyverno does not take")
    return found


def _of_control(entries: Sequence[JsonObject], control: str) -> Iterator[JsonObject]:
    for entry in entries:
        if str(entry.get("controlName")) == control:
            for name in ("restrictedField", "values"):
                if entry.get(name):
                    raise NotTranslated(f"`{name}` of an exclusion of `podSecurity`")
            yield entry


def _moved(expression: str, root: str) -> str:
    """Return an expression about a pod as one about the template of pods that stands there."""
    if root == "object":
        return expression
    # An object always has metadata, a template need not.
    optional = expression.replace("object.metadata.?", f"{root}.?metadata.?")
    return re.sub(r"\bobject\.(?=spec\.\?|metadata\.annotations)", f"{root}.", optional)
