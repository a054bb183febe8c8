"""What rules of Kyverno, and exceptions to them, exclude from the Pod Security Standards.

Kyverno collects the errors of each check, by field, and takes away those of containers or of the
pod that an exclusion names: all of a control, or those of one field (`restrictedField`) whose bad
values are among `values`. A check that has no errors left is passed. Here the expression of a check
gets what is forgiven as an alternative, field by field.

As Kyverno `pkg/pss/evaluate.go`, and the errors of its fork of `k8s.io/pod-security-admission`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission.plugins.pod_security_standards import OTHER_VOLUMES, PROFILES
from celadon.kube import JsonObject
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

_CAN_MISS: Final = ("Running as Non-root", "Seccomp")
"""Controls whose fields a container must not leave out. Where one is excluded without images,
Kyverno also takes away an error of some container."""

_CONTROLS: Final = {
    check: control
    for control, checks in {**_OF_PODS, **_OF_CONTAINERS, **_OF_BOTH}.items()
    for check in checks
}

_POD: Final = "object.spec"


@dataclass(frozen=True, slots=True)
class _Values:
    """The values that an exclusion forgives."""

    patterns: Sequence[str]

    def are(self, text: str) -> Condition:
        """Return whether the value of an expression is one of them."""
        return disjunction(globbed(text, one) for one in self.patterns)

    def have(self, value: str) -> Condition:
        """Return whether a value that is known is one of them."""
        return constant(any(wildcard_match(one, value) for one in self.patterns))


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
        return disjunction(globbed("c.?image.orValue('')", one) for one in self.images)


# --- Fields ------------------------------------------------------------------
#
# A rule of a check is a conjunction, each part about one field. A part becomes what forgives its
# errors at a place (a container `c`, or the pod's spec).

_Forgiving = Callable[[str, str, _Exclusion], Condition]


@dataclass(frozen=True, slots=True)
class _Field:
    """A field that exclusions name, and the text by which a part of a rule is known as its own."""

    known_by: str
    forgiving: _Forgiving
    has_many: bool = False
    """One place can have several errors of the field. Kyverno takes away as many as exclusions
    forgive, whichever they are: with one exclusion these are those that it forgives."""


def _fixed(value: str) -> _Forgiving:
    return lambda _part, _place, given: given.values.have(value)


def _one(path: str) -> _Forgiving:
    return lambda _part, place, given: given.values.are(
        f"{place}.?securityContext.{path}.orValue('')"
    )


def _items(item: str) -> _Forgiving:
    """All items that are bad are among the values."""
    return lambda part, _place, given: _widened(part, given, given.values.are(item))


def _of_kind(kind: str) -> _Forgiving:
    # The error of a volume has no bad value.
    return lambda part, _place, given: _widened(part, given, truth(f"has(one.{kind})"))


def _widened(part: str, given: _Exclusion, also: Condition) -> Condition:
    return truth(f"{part.removesuffix(')')} || {conjunction([given.when, also])})")


def _dropped(_part: str, place: str, given: _Exclusion) -> Condition:
    # Of a container that drops nothing there is no bad value.
    items = f"{place}.?securityContext.?capabilities.?drop.orValue([])"
    return every(items, "one", given.values.are("one"))


def _escalation(_part: str, place: str, given: _Exclusion) -> Condition:
    context = f"{place}.?securityContext"
    field = f"{context}.?allowPrivilegeEscalation"
    return disjunction(
        [
            truth(f"!{context}.hasValue()"),
            conjunction([given.values.have("nil"), truth(f"!{field}.hasValue()")]),
            conjunction([given.values.have("true"), truth(f"{field}.orValue(false)")]),
        ]
    )


def _non_root(_part: str, place: str, given: _Exclusion) -> Condition:
    unset = truth(f"!{place}.?securityContext.?runAsNonRoot.hasValue()")
    return disjunction([given.values.have("false"), NEVER if place == _POD else unset])


def _seccomp(part: str, place: str, given: _Exclusion) -> Condition:
    unset = truth(f"!{place}.?securityContext.?seccompProfile.hasValue()")
    value = _one("?seccompProfile.?type")(part, place, given)
    return disjunction([NEVER if place == _POD else unset, value])


_FIELDS: Final[Mapping[tuple[str, str], _Field]] = {
    ("AppArmor", "securityContext.appArmorProfile.type"): _Field(
        ".?appArmorProfile", _one("?appArmorProfile.?type")
    ),
    ("Capabilities", "securityContext.capabilities.add"): _Field(".?add.", _items("one")),
    ("Capabilities", "securityContext.capabilities.drop"): _Field(".?drop.", _dropped),
    **{
        ("Host Namespaces", one): _Field(f".?{one}.", _fixed("true"))
        for one in ("hostNetwork", "hostPID", "hostIPC")
    },
    ("HostPath Volumes", "volumes[*].hostPath"): _Field(
        ".?volumes.", _items("one.hostPath.path"), has_many=True
    ),
    ("Host Ports", "ports[*].hostPort"): _Field(
        ".?ports.", _items("string(port.hostPort)"), has_many=True
    ),
    ("HostProcess", "securityContext.windowsOptions.hostProcess"): _Field(
        ".?hostProcess.", _fixed("true")
    ),
    ("Privilege Escalation", "securityContext.allowPrivilegeEscalation"): _Field(
        ".?allowPrivilegeEscalation.", _escalation
    ),
    ("Privileged Containers", "securityContext.privileged"): _Field(
        ".?privileged.", _fixed("true")
    ),
    ("/proc Mount Type", "securityContext.procMount"): _Field(".?procMount.", _one("?procMount")),
    ("Running as Non-root", "securityContext.runAsNonRoot"): _Field(".?runAsNonRoot.", _non_root),
    ("Running as Non-root user", "securityContext.runAsUser"): _Field(".?runAsUser.", _fixed("0")),
    **{
        ("SELinux", f"securityContext.seLinuxOptions.{one}"): _Field(
            f".?seLinuxOptions.?{one}.", _one(f"?seLinuxOptions.?{one}")
        )
        for one in ("type", "user", "role")
    },
    ("Seccomp", "securityContext.seccompProfile.type"): _Field(".?seccompProfile", _seccomp),
    ("Sysctls", "securityContext.sysctls[*].name"): _Field(
        ".?sysctls.", _items("one.name"), has_many=True
    ),
    **{
        ("Volume Types", f"volumes[*].{one}"): _Field(".?volumes.", _of_kind(one), has_many=True)
        for one in OTHER_VOLUMES
    },
}
"""By the control and the field's path below a container or the pod's spec."""

_PATH: Final = re.compile(rf"spec\.(?:({'|'.join(CONTAINER_LISTS)})\[\*\]\.)?(.+)")


# --- Exclusions --------------------------------------------------------------


def exclusions(
    given: Sequence[tuple[Condition, Sequence[JsonObject]]],
) -> dict[str, list[_Exclusion]]:
    """Return what is excluded, by control, of entries and when they are heeded. Raises
    NotTranslated."""
    found: dict[str, list[_Exclusion]] = {}
    for when, entries in given:
        for entry in entries:
            control = str(entry.get("controlName"))
            found.setdefault(control, []).append(_exclusion(entry, control, when))
    for control, excluded in found.items():
        fields = [(one.place, one.field) for one in excluded if one.field]
        for place, name in fields:
            if _FIELDS[control, name].has_many and fields.count((place, name)) > 1:
                raise NotTranslated(f"several exclusions of `{name}` in `podSecurity`")
        for one in excluded:
            is_open = control in _CAN_MISS and not one.images and not one.field
            if is_open and not _is_whole(control, excluded, one.when):
                raise NotTranslated(f"an exclusion of `{control}` of pods, but not of containers")
    return found


def _exclusion(entry: JsonObject, control: str, when: Condition) -> _Exclusion:
    images, values = tuple(entry.get("images") or ()), tuple(entry.get("values") or ())
    path = str(entry.get("restrictedField") or "")
    taken = {**_OF_BOTH, **(_OF_CONTAINERS if images else _OF_PODS)}
    if control not in taken or bool(path) is not bool(values):
        raise NotTranslated(f"an exclusion of `{control}` that Kyverno does not take")
    if not path:
        return _Exclusion(images, "", "", _Values(()), when)
    named = _PATH.fullmatch(path)
    place, field = (named[1] or _POD, named[2]) if named else ("", "")
    # Without images a container of Kyverno's own is judged in place of the pod's.
    if (control, field) not in _FIELDS or bool(images) is (place == _POD):
        raise NotTranslated(f"the `restrictedField` {path} in an exclusion of `{control}`")
    return _Exclusion(images, place, field, _Values(values), when)


def _is_whole(control: str, given: Iterable[_Exclusion], when: Condition) -> bool:
    """Whether nothing is left of a control, of objects that fulfil a condition."""
    whole = [one for one in given if not one.field and one.when in (ALWAYS, when)]
    of_pod = any(not one.images for one in whole)
    of_all = any("*" in one.images for one in whole)
    if control in _OF_BOTH:
        return of_pod and of_all
    return of_pod or of_all


def without_excluded(
    check: str, expression: str, excluded: Mapping[str, list[_Exclusion]]
) -> tuple[str, Mapping[str, str]]:
    """Return an expression of a check without what is excluded, which is nothing if all of it is,
    and the variables that it needs."""
    control = _CONTROLS.get(check, "")
    given = excluded.get(control)
    if given is None:
        return expression, {}
    if _is_whole(control, given, ALWAYS):
        return "", {}
    if check == "seccompProfile_restricted":
        expression = _with_errors_of_both(expression)
    if any(one.field or not one.images or one.when != ALWAYS for one in given):
        return _field_by_field(control, expression, given), {}
    variable = f"containersFor{''.join(re.findall('[A-Za-z]+', control.title()))}"
    meant = disjunction(one.image() for one in given).opposite
    replaced = expression.replace(_ALL, _ALL.replace("containers", variable))
    return replaced, {variable: f"variables.containers.filter(c, {meant})"}


def _with_errors_of_both(expression: str) -> str:
    """Return what is demanded of a profile of seccomp. Kyverno does not collect the error that one
    is missing where another is bad."""
    before, joined, rest = expression.rpartition(" && (")
    profile = "?securityContext.?seccompProfile"
    good = ", ".join(repr(one) for one in sorted(PROFILES))
    bad = f"variables.containers.exists(c, !(c.{profile}.?type.orValue('Localhost') in [{good}]))"
    missing = rest.partition(" || ")[2]
    return f"{before}{joined}{_POD}.{profile}.hasValue() || {bad} || {missing}"


_ALL: Final = "variables.containers.all(c, "


def _field_by_field(control: str, expression: str, given: Sequence[_Exclusion]) -> str:
    """Return an expression with what is forgiven field by field."""
    windows, also, rest = expression.rpartition("== 'windows' || ")
    terms = []
    for term in _terms(rest):
        if term.startswith(_ALL):
            terms.append(_of_lists(control, term, given))
        elif _ALL in term:
            either, _, last = term.removeprefix("(").removesuffix(")").partition(_ALL)
            lists = _of_lists(control, f"{_ALL}{last}", given)
            terms.append(disjunction([truth(either.removesuffix(" || ")), lists]))
        else:
            of_pod = [one for one in given if not one.images]
            terms.append(_of_parts(control, term, _POD, of_pod))
    left = conjunction(terms)
    if left == ALWAYS:
        return ""
    # A value alone has no type; with an operator it is a bool.
    is_value = left.binding is Binding.MEMBER and left.text.endswith(".orValue(true)")
    return f"{windows}{also}{left}{' == true' if is_value else ''}"


def _terms(text: str) -> Iterator[str]:
    """Yield the operands of `&&` that are in no parentheses."""
    start = depth = 0
    for found in re.finditer(r"[(\[]|[)\]]| && ", text):
        if found[0] != " && ":
            depth += 1 if found[0] in "([" else -1
        elif not depth:
            yield text[start : found.start()]
            start = found.end()
    yield text[start:]


def _of_lists(control: str, term: str, given: Sequence[_Exclusion]) -> Condition:
    """Return what is left of a rule for all containers, for each list of them."""
    rule = term.removeprefix(_ALL).removesuffix(")")
    by_rule: dict[Condition, list[str]] = {}
    for name in CONTAINER_LISTS:
        here = [one for one in given if one.images and one.place in ("", name)]
        left = _of_parts(control, rule, "c", here)
        by_rule.setdefault(left, []).append(f"object.spec.?{name}.orValue([])")
    return conjunction(
        every(lists[0] if len(lists) == 1 else f"({' + '.join(lists)})", "c", left)
        for left, lists in by_rule.items()
    )


def _of_parts(control: str, rule: str, place: str, given: Sequence[_Exclusion]) -> Condition:
    """Return a rule with what forgives the errors of its parts."""
    parts = []
    for part in _terms(rule):
        left, ways = part, []
        for one in given:
            field = _FIELDS[control, one.field] if one.field else None
            if field is not None and field.known_by not in part:
                continue
            forgiven = field.forgiving(left, place, one) if field else ALWAYS
            if field and field.has_many and not one.images:
                left = forgiven.text
            else:
                image = one.image() if one.images else ALWAYS
                ways.append(conjunction([one.when, image, forgiven]))
        parts.append(disjunction([truth(left), *ways]))
    return conjunction(parts)
