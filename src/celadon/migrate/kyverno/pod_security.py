"""Rules of Kyverno that demand a level of the Pod Security Standards (`validate.podSecurity`).

Each check of the level becomes a validation. Kyverno judges `restricted` by the checks of
`baseline`, too, also where those of `restricted` are stricter.

As Kyverno `pkg/pss/evaluate.go`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.admission.plugins import pod_security_expressions, pod_security_standards
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import CONTAINER_LISTS
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Binding,
    Condition,
    conjunction,
    constant,
    disjunction,
    every,
    truth,
)
from celadon.migrate.kyverno.pattern_translation import globbed
from celadon.migrate.kyverno.patterns import wildcard_match
from celadon.migrate.kyverno.policies import TEMPLATES
from celadon.migrate.translations import NotTranslated

_ROOTS: Final = {
    **{kind: ".".join(("object", *path)) for kind, path in TEMPLATES.items()},
    "Pod": "object",
}
"""Where the pod of a kind stands; of no others does Kyverno judge the pods."""

_NEWEST_OF_KYVERNO: Final = 34
"""The minor release whose checks Kyverno calls the latest. It does not know those of 1.35, which
allow more to pods with users of their own."""


@dataclass(frozen=True, slots=True)
class Standard:
    """A rule demands this of pods."""

    variables: tuple[Mapping[str, str], ...]
    validations: tuple[Mapping[str, str], ...]

    def before(self) -> Before:
        """Return the same demand on the object that was before, beside one that is now, as one
        condition whose variables have names of their own."""
        texts = [
            _OF_VARIABLE.sub(r"\g<0>Before", validation["expression"])
            for validation in self.validations
        ]
        variables = [
            {
                "name": f"{variable['name']}Before",
                "expression": _OF_VARIABLE.sub(r"\g<0>Before", variable["expression"]),
            }
            for variable in self.variables
        ]
        return Before(tuple(variables), conjunction(truth(f"({text})") for text in texts))


_OF_VARIABLE: Final = re.compile(r"\bvariables\.\w+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Before:
    """A condition: the object was as demanded."""

    variables: tuple[Mapping[str, str], ...]
    fine: Condition


def standard(
    value: JsonObject,
    message: Mapping[str, str],
    kinds: Sequence[GroupVersionKind],
    excepted: Sequence[tuple[Condition, Sequence[JsonObject]]] = (),
    obj: str = "object",
) -> Standard:
    """Return what `podSecurity` demands of objects of some kinds. A fixed message is followed by
    the name of the check. Exceptions exclude more from objects that fulfil their conditions. Raises
    NotTranslated."""
    # An expression has one place where the pod stands: kinds that have it elsewhere need rules of
    # their own.
    roots = {_ROOTS.get(kind.kind) for kind in kinds} or {None}
    root = roots.pop()
    if root is None or roots:
        raise NotTranslated("`podSecurity` for kinds without a template of Pods")
    root = root.replace("object", obj, 1)
    variables = {"containers": pod_security_expressions.all_containers(root)}
    excluding = [(ALWAYS, value.get("exclude") or ())]
    for number, (when, entries) in enumerate(excepted, 1):
        # The condition is about the object, whatever has the pod.
        variables[f"isExcepted{number}"] = when.text
        excluding.append((truth(f"variables.isExcepted{number}"), entries))
    validations = []
    excluded = exclusions(excluding)
    for name, whole in _checks(value, root).items():
        left, needed = without_excluded(name, whole, excluded, root)
        if not left.parts:
            continue
        variables |= needed
        control_message = {
            key: f"{text} ({name})" for key, text in message.items() if key == "message"
        }
        validations.append({"expression": left.expression, **message, **control_message})
    return Standard(
        tuple({"name": key, "expression": variable} for key, variable in variables.items()),
        tuple(validations),
    )


def _checks(value: JsonObject, root: str) -> dict[str, pod_security_expressions.Check]:
    version = str(value.get("version") or pod_security_standards.LATEST)
    minor = (
        pod_security_standards.NEWEST
        if version == pod_security_standards.LATEST
        else pod_security_standards.minor_of(version)
    )
    if (
        pod_security_standards.version_error(version)
        or minor is None
        or minor < pod_security_expressions.OLDEST
    ):
        raise NotTranslated(f"the version {version} of the Pod Security Standards")
    level = value.get("level")
    if level not in (pod_security_standards.BASELINE, pod_security_standards.RESTRICTED):
        raise NotTranslated(f"the level {level} of the Pod Security Standards")
    # `evaluatePSS` runs the checks of both levels for `restricted`, where the API server leaves out
    # those of `baseline` that a stricter one overrides.
    checked_minor = min(minor, _NEWEST_OF_KYVERNO)
    checks = {
        **pod_security_expressions.checks_of(pod_security_standards.BASELINE, checked_minor, root),
        **pod_security_expressions.checks_of(level, checked_minor, root),
    }
    if is_since(_IMAGE_VOLUMES_SINCE):
        return checks
    return {name: _without_image_volumes(check) for name, check in checks.items()}


_IMAGE_VOLUMES_SINCE: Final = "1.31"


def _without_image_volumes(check: pod_security_expressions.Check) -> pod_security_expressions.Check:
    """Return a check that does not ask for a field that older releases do not have: they would warn
    of it, and no object has it."""
    parts = (
        replace(part, alternatives=tuple(x for x in part.alternatives if x != "has(volume.image)"))
        for part in check.parts
    )
    return replace(check, parts=tuple(parts))


# --- Exclusions --------------------------------------------------------------
#
# What rules of Kyverno, and exceptions to them, exclude from the Pod Security Standards.
#
# Kyverno collects the errors of each check, by field, and takes away those of containers or of
# the pod that an exclusion names: all of a control, or those of one field (`restrictedField`)
# whose bad values are among `values`. A check that has no errors left is passed. Here the parts
# of a check get what is forgiven as alternatives, field by field.
#
# As Kyverno `pkg/pss/evaluate.go`, and the errors of its fork of `k8s.io/pod-security-
# admission`.

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

_CAN_MISS: Final = ("Running as Non-root", "Seccomp")
"""Controls whose fields a container must not leave out. Where one is excluded without images,
Kyverno also takes away an error of some container."""

_CONTROLS: Final = {
    check: control
    for control, checks in {**_OF_PODS, **_OF_CONTAINERS, **_OF_BOTH}.items()
    for check in checks
}

_POD: Final = "spec"
"""The place of an exclusion that is about the pod itself."""


@dataclass(frozen=True, slots=True)
class _Values:
    """The values that an exclusion forgives."""

    patterns: Sequence[str]

    def are(self, text: str) -> Condition:
        """Return whether the value of an expression is one of them."""
        return disjunction(globbed(text, pattern) for pattern in self.patterns)

    def have(self, value: str) -> Condition:
        """Return whether a value that is known is one of them."""
        return constant(any(wildcard_match(pattern, value) for pattern in self.patterns))


@dataclass(frozen=True, slots=True)
class _Exclusion:
    """An entry of `exclude`."""

    images: tuple[str, ...]
    """The images of the containers that it is about; without them it is about the pod."""
    place: str
    """The list of containers with the field, or the pod; nothing for all of the control."""
    field: str
    values: _Values
    when: Condition
    """An exception excludes nothing from objects that it is not for."""

    def image(self) -> Condition:
        """Return whether a container has such an image."""
        return disjunction(globbed("c.?image.orValue('')", image) for image in self.images)


# --- Fields ------------------------------------------------------------------
#
# What forgives the errors of a part, of the pod's spec or of a container.

_Forgiving = Callable[[str, _Exclusion], Condition]


@dataclass(frozen=True, slots=True)
class _Field:
    """A field that exclusions name."""

    forgiving: _Forgiving
    """Of the expression of the pod's spec or of a container; of one item where a part has items."""
    has_many: bool = False
    """One place can have several errors of the field. Kyverno takes away as many as exclusions
    forgive, whichever they are: with one exclusion these are those that it forgives."""


def _fixed(value: str) -> _Forgiving:
    return lambda _place, exclusion: exclusion.values.have(value)


def _one(path: str) -> _Forgiving:
    return lambda place, exclusion: exclusion.values.are(
        f"{place}.?securityContext.{path}.orValue('')"
    )


def _item(value: str) -> _Forgiving:
    return lambda _place, exclusion: exclusion.values.are(value)


def _of_kind(kind: str) -> _Forgiving:
    # The error of a volume has no bad value.
    return lambda _place, _given: truth(f"has(volume.{kind})")


def _dropped(place: str, exclusion: _Exclusion) -> Condition:
    # Of a container that drops nothing there is no bad value.
    items = f"{place}.?securityContext.?capabilities.?drop.orValue([])"
    return every(items, "capability", exclusion.values.are("capability"))


def _unset(place: str, field: str = "") -> Condition:
    return truth(f"!{place}.?securityContext{field}.hasValue()", Binding.UNARY)


def _escalation(place: str, exclusion: _Exclusion) -> Condition:
    field = ".?allowPrivilegeEscalation"
    is_set = truth(f"{place}.?securityContext{field}.orValue(false)")
    return disjunction(
        [
            _unset(place),
            conjunction([exclusion.values.have("nil"), _unset(place, field)]),
            conjunction([exclusion.values.have("true"), is_set]),
        ]
    )


def _non_root(place: str, exclusion: _Exclusion) -> Condition:
    unset = _unset(place, ".?runAsNonRoot") if place == _CONTAINER else NEVER
    return disjunction([exclusion.values.have("false"), unset])


def _seccomp(place: str, exclusion: _Exclusion) -> Condition:
    unset = _unset(place, ".?seccompProfile") if place == _CONTAINER else NEVER
    return disjunction([unset, _one("?seccompProfile.?type")(place, exclusion)])


_CONTAINER: Final = "c"

_FIELDS: Final[Mapping[tuple[str, str], _Field]] = {
    ("AppArmor", "securityContext.appArmorProfile.type"): _Field(_one("?appArmorProfile.?type")),
    ("Capabilities", "securityContext.capabilities.add"): _Field(_item("capability")),
    ("Capabilities", "securityContext.capabilities.drop"): _Field(_dropped),
    **{
        ("Host Namespaces", item): _Field(_fixed("true"))
        for item in ("hostNetwork", "hostPID", "hostIPC")
    },
    ("HostPath Volumes", "volumes[*].hostPath"): _Field(
        _item("volume.hostPath.path"), has_many=True
    ),
    ("Host Ports", "ports[*].hostPort"): _Field(_item("string(port.hostPort)"), has_many=True),
    ("HostProcess", "securityContext.windowsOptions.hostProcess"): _Field(_fixed("true")),
    ("Privilege Escalation", "securityContext.allowPrivilegeEscalation"): _Field(_escalation),
    ("Privileged Containers", "securityContext.privileged"): _Field(_fixed("true")),
    ("/proc Mount Type", "securityContext.procMount"): _Field(_one("?procMount")),
    ("Running as Non-root", "securityContext.runAsNonRoot"): _Field(_non_root),
    ("Running as Non-root user", "securityContext.runAsUser"): _Field(_fixed("0")),
    **{
        ("SELinux", f"securityContext.seLinuxOptions.{item}"): _Field(
            _one(f"?seLinuxOptions.?{item}")
        )
        for item in ("type", "user", "role")
    },
    ("Seccomp", "securityContext.seccompProfile.type"): _Field(_seccomp),
    ("Sysctls", "securityContext.sysctls[*].name"): _Field(_item("sysctl.name"), has_many=True),
    **{
        ("Volume Types", f"volumes[*].{volume}"): _Field(_of_kind(volume), has_many=True)
        for volume in pod_security_standards.OTHER_VOLUMES
    },
}
"""By the control and the field's path below a container or the pod's spec."""

_PATH: Final = re.compile(rf"spec\.(?:({'|'.join(CONTAINER_LISTS)})\[\*\]\.)?(.+)")


# --- Exclusions --------------------------------------------------------------


def exclusions(
    exceptions: Sequence[tuple[Condition, Sequence[JsonObject]]],
) -> dict[str, list[_Exclusion]]:
    """Return what is excluded, by control, of entries and when they are heeded. Raises
    NotTranslated."""
    result: dict[str, list[_Exclusion]] = {}
    for when, entries in exceptions:
        for entry in entries:
            control = str(entry.get("controlName"))
            result.setdefault(control, []).append(_exclusion(entry, control, when))
    for control, excluded in result.items():
        fields = [(item.place, item.field) for item in excluded if item.field]
        for place, name in fields:
            if _FIELDS[control, name].has_many and fields.count((place, name)) > 1:
                raise NotTranslated(f"several exclusions of `{name}` in `podSecurity`")
        for exclusion in excluded:
            is_open = control in _CAN_MISS and not exclusion.images and not exclusion.field
            if is_open and not _is_whole(control, excluded, exclusion.when):
                raise NotTranslated(f"an exclusion of `{control}` of pods, but not of containers")
    return result


def _exclusion(entry: JsonObject, control: str, when: Condition) -> _Exclusion:
    images, values = tuple(entry.get("images") or ()), tuple(entry.get("values") or ())
    path = str(entry.get("restrictedField") or "")
    controls = {**_OF_BOTH, **(_OF_CONTAINERS if images else _OF_PODS)}
    if control not in controls or bool(path) is not bool(values):
        raise NotTranslated(f"an exclusion of `{control}` that Kyverno does not take")
    if not path:
        return _Exclusion(images, "", "", _Values(()), when)
    named = _PATH.fullmatch(path)
    place, field = (named[1] or _POD, named[2]) if named else ("", "")
    # Without images a container of Kyverno's own is judged in place of the pod's.
    if (control, field) not in _FIELDS or bool(images) is (place == _POD):
        raise NotTranslated(f"the `restrictedField` {path} in an exclusion of `{control}`")
    return _Exclusion(images, place, field, _Values(values), when)


def _is_whole(control: str, exclusions: Iterable[_Exclusion], when: Condition) -> bool:
    """Return whether nothing is left of a control, of objects that fulfil a condition."""
    whole = [
        exclusion
        for exclusion in exclusions
        if not exclusion.field and exclusion.when in (ALWAYS, when)
    ]
    of_pod = any(not exclusion.images for exclusion in whole)
    of_all = any("*" in exclusion.images for exclusion in whole)
    if control in _OF_BOTH:
        return of_pod and of_all
    return of_pod or of_all


def without_excluded(
    name: str,
    check: pod_security_expressions.Check,
    excluded: Mapping[str, list[_Exclusion]],
    root: str,
) -> tuple[pod_security_expressions.Check, Mapping[str, str]]:
    """Return a check of a pod that stands somewhere without what is excluded, and the variables
    that it needs."""
    control = _CONTROLS.get(name, "")
    control_exclusions = excluded.get(control)
    if control_exclusions is None:
        return check, {}
    if _is_whole(control, control_exclusions, ALWAYS):
        return pod_security_expressions.Check(()), {}
    parts = [_with_errors_of_both(part, root) if part.unless else part for part in check.parts]
    if any(
        exclusion.field or not exclusion.images or exclusion.when != ALWAYS
        for exclusion in control_exclusions
    ):
        left = [
            each
            for part in parts
            for each in _field_by_field(control, part, control_exclusions, root)
        ]
        return replace(check, parts=tuple(left)), {}
    variable = f"containersFor{''.join(re.findall('[A-Za-z]+', control.title()))}"
    opposite = disjunction(exclusion.image() for exclusion in control_exclusions).opposite
    left = [
        replace(part, containers=f"variables.{variable}") if part.containers else part
        for part in parts
    ]
    return replace(check, parts=tuple(left)), {
        variable: f"{pod_security_expressions.CONTAINERS}.filter(c, {opposite})"
    }


def _with_errors_of_both(
    part: pod_security_expressions.Part, root: str
) -> pod_security_expressions.Part:
    """Return what is demanded where a profile of seccomp is missing. Kyverno does not collect the
    error of that where another is bad."""
    profile = "?securityContext.?seccompProfile"
    good = ", ".join(repr(profile) for profile in sorted(pod_security_standards.PROFILES))
    kind = f"c.{profile}.?type.orValue('Localhost')"
    bad = f"{pod_security_expressions.CONTAINERS}.exists(c, !({kind} in [{good}]))"
    return replace(part, unless=(f"{root}.spec.{profile}.hasValue()", bad))


def _field_by_field(
    control: str, part: pod_security_expressions.Part, exclusions: Sequence[_Exclusion], root: str
) -> Iterator[pod_security_expressions.Part]:
    """Yield a part with what is forgiven as alternatives, of containers for each list of them."""
    if not part.containers:
        of_pod = [exclusion for exclusion in exclusions if not exclusion.images]
        yield from _forgiven(control, part, f"{root}.spec", of_pod)
        return
    lists: dict[pod_security_expressions.Part, list[str]] = {}
    for name in CONTAINER_LISTS:
        container_exclusions = [
            exclusion
            for exclusion in exclusions
            if exclusion.images and exclusion.place in ("", name)
        ]
        for left in _forgiven(control, part, _CONTAINER, container_exclusions):
            lists.setdefault(left, []).append(f"{root}.spec.?{name}.orValue([])")
    for left, names in lists.items():
        if len(names) == len(CONTAINER_LISTS):
            yield left
        else:
            text = names[0] if len(names) == 1 else f"({' + '.join(names)})"
            yield replace(left, containers=text)


def _forgiven(
    control: str, part: pod_security_expressions.Part, place: str, exclusions: Sequence[_Exclusion]
) -> Iterator[pod_security_expressions.Part]:
    """Yield a part with what forgives its errors, unless that is always so."""
    left = part
    ways: list[Condition] = []
    for exclusion in exclusions:
        if exclusion.field and not (part.path and exclusion.field.startswith(part.path)):
            continue
        field = _FIELDS[control, exclusion.field] if exclusion.field else None
        forgiven = field.forgiving(place, exclusion) if field else ALWAYS
        if field and part.items:
            # All items that are bad are among the values.
            also = _operands([conjunction([exclusion.when, forgiven])])
            wider = replace(left, alternatives=(*left.alternatives, *also))
            if not exclusion.images:
                left = wider
                continue
            forgiven = truth(replace(wider, otherwise=()).text)
        image = exclusion.image() if exclusion.images else ALWAYS
        ways.append(conjunction([exclusion.when, image, forgiven]))
    if ALWAYS not in ways:
        yield left.with_others(_operands(ways))


def _operands(ways: Sequence[Condition]) -> tuple[str, ...]:
    """Return conditions as operands of `||`; what never holds is none."""
    return tuple(dict.fromkeys(way.inside(Binding.OR) for way in ways if way != NEVER))
