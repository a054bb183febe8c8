"""The small checks that rules are made of: about one value at one path, in Python or in the data.

Where upstream passes a value of a named string type, the error prints it as JSON (`NamedText`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.json_types import JsonDict, JsonObject, compact
from celadon.kube.releases import emulated_release, is_since, per_release, wording
from celadon.kube.resources.feature_gates import is_gate_on
from celadon.kube.schemas import schema_packs
from celadon.kube.well_known_values import CONDITION_STATUSES, CONTAINER_LISTS, WORKLOAD_PREEMPTION

Errors = Iterator[FieldError]
Messages = Callable[[str], list[str]]

NO_ERRORS: Final[Errors] = iter(())
"""Of a value that is fine: most are, and then nothing needs to be made."""

R = ParamSpec("R")
T = TypeVar("T")
_ValueRule: TypeAlias = Callable[Concatenate[FieldPath, JsonObject, R], Iterator[T]]
_MOST_SOUND: Final = 1024
_LONGEST_SOUND: Final = 4096
"""Values that a rule remembers, and their bytes."""

METADATA: Final = FieldPath("metadata")
SPEC: Final = FieldPath("spec")

NEGATIVE: Final = "must be greater than or equal to 0"
"""Of a number that must not be negative."""
NOT_POSITIVE: Final = "must be greater than zero"
IMMUTABLE: Final = "field is immutable"
NOT_EMPTY: Final = wording("", v1_34="must not be empty")

HIDDEN_VALUE: Final = "<value omitted>"
"""Instead of what is too long to be shown."""
DRIVER_NAME_MAX_BYTES: Final = 63


def items(obj: JsonObject, field: str, path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    """Yield the members of a list, each with its path."""
    result = obj.get(field)
    if result:
        field_path = path.child(field)
        for index, item in enumerate(result):
            yield field_path.index(index), item


def containers_of(path: FieldPath, spec: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    """Yield all containers of a pod with their paths, in the order in which upstream visits them
    (`VisitContainers` of k8s.io/kubernetes `pkg/api/pod/util.go`)."""
    for field in CONTAINER_LISTS:
        yield from items(spec, field, path)


def entries(obj: JsonObject, field: str) -> list[tuple[str, Any]]:
    """Return the members of a map by key: the order in which a server meets them is random."""
    return sorted((obj.get(field) or {}).items())


def each(path: FieldPath, value: object, messages: Collection[str]) -> Errors:
    """Yield one error per message about a value."""
    return _each(path, value, messages) if messages else NO_ERRORS


def _each(path: FieldPath, value: object, messages: Iterable[str]) -> Errors:
    for message in messages:
        yield fieldpath.invalid(path, value, message)


def dns_label(path: FieldPath, value: str) -> Errors:
    """Validate a DNS-1123 label."""
    return each(path, value, name_rules.dns1123_label(value))


def dns_subdomain(path: FieldPath, value: str) -> Errors:
    """Validate a DNS-1123 subdomain."""
    return each(path, value, name_rules.dns1123_subdomain(value))


def long_name(path: FieldPath, value: str) -> Errors:
    """Validate a DNS-1123 subdomain by a rule that is declared with its type."""
    return each(path, value, name_rules.long_name(value))


def qualified_name(path: FieldPath, value: str) -> Errors:
    """Validate a name with an optional prefix: `example.com/name`."""
    return each(path, value, name_rules.qualified_name(value))


def driver_name(path: FieldPath, value: str) -> Errors:
    """Yield what is wrong with the name of a CSI or a DRA driver: a subdomain that may have
    capitals. One that is empty is required and, before 1.35, no subdomain either."""
    if not value:
        yield fieldpath.required(path)
        if is_since("1.35"):
            return
    if len(value.encode()) > DRIVER_NAME_MAX_BYTES:
        yield fieldpath.too_long(path, DRIVER_NAME_MAX_BYTES)
    yield from each(path, value, name_rules.dns1123_subdomain(value.lower()))


def port_number(path: FieldPath, value: int) -> Errors:
    """Validate the number of a port: 1 to 65535."""
    return each(path, value, name_rules.port_number(value))


def required_name(path: FieldPath, value: str, messages: Messages) -> Errors:
    """Validate a name that must be there and satisfy the rule."""
    if value:
        yield from each(path, value, messages(value))
    else:
        yield fieldpath.required(path)


def present(obj: JsonObject, path: FieldPath, *fields: str) -> Errors:
    """Validate fields that may not be empty."""
    for field in fields:
        if not obj.get(field):
            yield fieldpath.required(path.child(field))


def not_negative(obj: JsonObject, path: FieldPath, *fields: str) -> Errors:
    """Validate fields that are absent or at least 0."""
    for field in fields:
        value = obj.get(field)
        if value is not None and value < 0:
            yield fieldpath.invalid(path.child(field), value, NEGATIVE)


def at_most(path: FieldPath, sized: Sized | None, limit: int) -> Errors:
    """Validate a list or a map with no more members than that."""
    if sized is not None and len(sized) > limit:
        yield fieldpath.too_many(path, len(sized), limit)


def in_range(path: FieldPath, value: int, low: int, high: int) -> Errors:
    """Validate numbers in a range, to which both ends belong."""
    if not low <= value <= high:
        yield fieldpath.invalid(path, value, f"must be between {low} and {high}, inclusive")


def supported(path: FieldPath, value: str, choices: Sequence[str]) -> Errors:
    """Validate one of the choices; an empty text is none."""
    if value not in choices:
        yield fieldpath.not_supported(path, NamedText(value), choices)


def required_choice(path: FieldPath, value: str | None, choices: Sequence[str]) -> Errors:
    """Validate one of the choices; an empty text or None is required rather than unsupported."""
    if value:
        yield from supported(path, value, choices)
    else:
        yield fieldpath.required(path)


def present_choice(path: FieldPath, value: str | None, choices: Sequence[str]) -> Errors:
    """Validate one of the choices, which must be set; an empty text is set, and unsupported."""
    if value is None:
        yield fieldpath.required(path)
    else:
        yield from supported(path, value, choices)


def choice_in(obj: JsonObject, field: str, choices: Sequence[str], path: FieldPath) -> Errors:
    """Yield an error when a member of an object is none of the choices; `path` is that of the
    object."""
    value = obj.get(field)
    return NO_ERRORS if value in choices else required_choice(path.child(field), value, choices)


def immutable(path: FieldPath, new: object, old: object) -> Errors:
    """Yield an error that shows the new value if an update has changed it."""
    if new != old:
        yield fieldpath.invalid(path, new, IMMUTABLE)


# --- Values seen before ------------------------------------------------------


def once_sound(rule: _ValueRule[R, T]) -> _ValueRule[R, T]:
    """Decorate a rule about a value, perhaps with hashable arguments: values that it found nothing
    wrong with are remembered. A template and its pods have most of their parts in common, and so
    have the manifests of a team."""
    decorate: Callable[[_ValueRule[R, T]], _ValueRule[R, T]] = once_sound_as(lambda value: value)
    return decorate(rule)


def once_sound_as(
    looked_at: Callable[[JsonObject], JsonObject],
) -> Callable[[_ValueRule[R, T]], _ValueRule[R, T]]:
    """Do the same for a rule that does not look at all of a value: what it does `looked_at` is the
    same for values of which it says the same."""

    def decorate(rule: _ValueRule[R, T]) -> _ValueRule[R, T]:
        sound_here: Callable[[], set[object]] = per_release()(set)

        @functools.wraps(rule)
        def wrapped(
            path: FieldPath, value: JsonObject, /, *args: R.args, **kwargs: R.kwargs
        ) -> Iterator[T]:
            try:
                form = compact(looked_at(value))
            except ValueError:
                return rule(path, value, *args, **kwargs)
            if len(form) > _LONGEST_SOUND:
                return rule(path, value, *args, **kwargs)
            key, sound = (form, args, *kwargs.items()), sound_here()
            if key in sound:
                return iter(())
            return _remembered(rule(path, value, *args, **kwargs), key, sound)

        return wrapped

    return decorate


def _remembered(errors: Iterator[T], key: object, sound: set[object]) -> Iterator[T]:
    is_sound = True
    for error in errors:
        is_sound = False
        yield error
    if is_sound:
        if len(sound) >= _MOST_SOUND:
            sound.clear()
        sound.add(key)


def without_images(spec: JsonObject) -> JsonObject:
    """Return what the rules of templates look at of a pod's spec: of images, which change most
    often, only whether there are any."""
    containers = spec.get("containers")
    if not containers:
        return spec
    plain = [{**container, "image": bool(container.get("image"))} for container in containers]
    return {**spec, "containers": plain}


# --- Validation gates --------------------------------------------------------
#
# Feature gates that validation asks for, and what becomes of complaints that hang on one.
#
# A rule says everything that could be wrong and marks what is only wrong while a gate is on (or
# off, with `!`). Whoever asks says which gates are on, and the rest is left out here.

STRICT_ADDRESSES: Final = "StrictIPCIDRValidation"
RELAXED_SERVICE_NAMES: Final = "RelaxedServiceNameValidation"

CONSUMABLE_CAPACITY: Final = "DRAConsumableCapacity"
MUTABLE_ALLOCATABLE: Final = "MutableCSINodeAllocatableCount"
SELINUX_MOUNT: Final = "SELinuxMount"
SELINUX_DRIVERS: Final = "SELinuxMountReadWriteOncePod"
ENV_FILES: Final = "EnvFiles"
MANAGED_JOBS: Final = "JobManagedBy"
COMPARED_TAINTS: Final = "TaintTolerationComparisonOperators"
HOST_NETWORK_OF_OWN_USERS: Final = "UserNamespacesHostNetworkSupport"
MUTABLE_AFFINITY: Final = "MutablePVNodeAffinity"
SCALED_TO_ZERO: Final = "HPAScaleToZero"
MERGED_SPREADING: Final = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
NODES_STAY_NOMINATED: Final = "ClearingNominatedNodeNameAfterBinding"
"""While it is on, a pod that is bound to a node loses the one it was nominated for."""
RECOVERED_CLAIMS: Final = "RecoverVolumeExpansionFailure"
RELAXED_SEARCHES: Final = "RelaxedDNSSearchValidation"
RELAXED_VARIABLES: Final = "RelaxedEnvironmentVariableValidation"
RESTART_ALL: Final = "RestartAllContainersOnContainerExits"
RESTART_RULES: Final = "ContainerRestartRules"
SAME_TRAFFIC: Final = "PreferSameTrafficDistribution"
TOPOLOGY_OF_GROUPS: Final = "TopologyAwareWorkloadScheduling"
ZERO_SLEEP: Final = "PodLifecycleSleepActionAllowZero"

GATES: Final = (
    *(CONSUMABLE_CAPACITY, MUTABLE_ALLOCATABLE, RELAXED_SERVICE_NAMES, SELINUX_MOUNT),
    *(SELINUX_DRIVERS, STRICT_ADDRESSES),
    *(ENV_FILES, MERGED_SPREADING, RELAXED_SEARCHES, RELAXED_VARIABLES),
    *(MANAGED_JOBS, NODES_STAY_NOMINATED, RECOVERED_CLAIMS, RESTART_ALL, RESTART_RULES),
    *(COMPARED_TAINTS, HOST_NETWORK_OF_OWN_USERS, MUTABLE_AFFINITY, SCALED_TO_ZERO),
    *(SAME_TRAFFIC, TOPOLOGY_OF_GROUPS, WORKLOAD_PREEMPTION, ZERO_SLEEP),
)
"""All that validation asks for."""


@per_release()
def default_gates() -> frozenset[str]:
    """Return the feature gates that are on in the current release if nobody says otherwise."""
    return frozenset(gate for gate in GATES if is_gate_on(gate, emulated_release()))


def gates_on(overrides: Mapping[str, bool]) -> frozenset[str]:
    """Return the feature gates that are on, with overrides for single gates."""
    on = default_gates()
    return frozenset(gate for gate in GATES if overrides.get(gate, gate in on)) if overrides else on


def only_with(gate: str, errors: Iterable[FieldError]) -> Iterator[FieldError]:
    """Return complaints that count while a gate is on, too; `!` before it: while it is off."""
    return (replace(error, gate=f"{error.gate} {gate}".lstrip()) for error in errors)


def holding(errors: Iterable[FieldError], gates: frozenset[str] | None) -> list[FieldError]:
    """Return the complaints that count with these gates on, or with those of the current release,
    as far as a refusal shows them."""
    on = default_gates() if gates is None else gates
    return fieldpath.as_many_as_fit(
        error for error in errors if not error.gate or _holds(error.gate, on)
    )


def by_gate(gate: str, on: Iterable[FieldError], off: Iterable[FieldError]) -> Iterator[FieldError]:
    """Yield the first complaints while a gate is on, and the second while it is off."""
    yield from only_with(gate, on)
    yield from only_with(f"!{gate}", off)


def _holds(needed: str, gates: frozenset[str]) -> bool:
    return all(
        gate[1:] not in gates if gate.startswith("!") else gate in gates for gate in needed.split()
    )


# --- Rules in the data -------------------------------------------------------
#
# The simple rules for fields, which stand with the types in `data/schemas`.
#
# `rules` of a type is a list in upstream's order, in which errors come out. A rule is a list of its
# name, the field, and what more it needs; `field?` looks at the field only where it is set, else
# what is absent counts as empty or 0:
#
#     ["required", FIELD, DETAIL]              not empty
#     ["choice", FIELD, [CHOICE, ...]]         required, and one of the choices
#     ["one of", FIELD, [CHOICE, ...]]         one of the choices; an empty text is none of them
#     ["at least", FIELD, NUMBER, DETAIL]      a number; the texts are for one that is too low
#     ["at most", FIELD, NUMBER, DETAIL]       or too high
#     ["range", FIELD, LOW, HIGH]              a number between both
#     ["name", FIELD, RULE]                    required, and a name by one of `NAMES`
#     ["in", FIELD]                            the rules of the field's type
#     ["each", FIELD]                          the same for each item of a list
#
# A DETAIL may be left out where upstream's words are the usual ones. `immutable` of a type are the
# fields that an update may not change. What depends on several fields is written in Python by the
# validator of the kind, which asks for these rules where upstream has them.

RuleErrors = Iterable[FieldError]

NAMES: Final[Mapping[str, Messages]] = {
    "label": name_rules.dns1123_label,
    "path segment": name_rules.path_segment_name,
    "subdomain": name_rules.dns1123_subdomain,
}
"""The rules for names that data may mention."""


def by_rules(type_: str) -> Callable[[JsonObject], Iterator[FieldError]]:
    """Return the validation of a kind for which the rules of its type are all."""
    return lambda obj: iter(broken_rules(type_, obj, FieldPath()))


class FieldRule(NamedTuple):
    """One rule: `errors` is asked only where a value `is_broken`. `zero` stands for what is absent,
    unless the rule is about fields that are set (`if_set`)."""

    field: str
    if_set: bool
    zero: Any
    is_broken: Callable[[Any], bool]
    errors: Callable[[FieldPath, Any], RuleErrors]


def broken_rules(type_: str, obj: JsonObject, path: FieldPath) -> list[FieldError]:
    """Yield the errors of an object of a type (`core.v1.NFSVolumeSource`), which stands at a
    path."""
    errors: list[FieldError] = []
    for rule in rules_of(type_):
        value = obj.get(rule.field)
        if value is None:
            if rule.if_set:
                continue
            value = rule.zero
        if rule.is_broken(value):
            errors.extend(rule.errors(path.child(rule.field), value))
    return errors


def changed_fields(
    type_: str, new: JsonObject, old: JsonObject, path: FieldPath
) -> list[FieldError]:
    """Yield the errors of an update that changes what is immutable; the new values are shown, maps
    by their keys."""
    zeros = schema_packs.of_type("rules", type_)["immutable"]
    changed = {
        field: new.get(field, zero)
        for field, zero in zeros.items()
        if new.get(field, zero) != old.get(field, zero)
    }
    return [
        fieldpath.invalid(
            path.child(field),
            dict(sorted(value.items())) if isinstance(value, dict) else value,
            IMMUTABLE,
        )
        for field, value in changed.items()
    ]


@per_release()
def rules_of(type_: str) -> tuple[FieldRule, ...]:
    """Return the rules of a type, in order. KeyError for a type without any."""
    return tuple(map(_rule, schema_packs.of_type("rules", type_)["rules"]))


def _rule(rule: Sequence[Any]) -> FieldRule:
    name, field, *arguments = rule
    zero, is_broken, errors = _KINDS[name](*arguments)
    return FieldRule(field.removesuffix("?"), field.endswith("?"), zero, is_broken, errors)


_Rule = tuple[Any, Callable[[Any], bool], Callable[[FieldPath, Any], RuleErrors]]


def _required(detail: str = "") -> _Rule:
    return "", lambda value: not value, lambda path, value: (fieldpath.required(path, detail),)


def _choice(choices: Sequence[str]) -> _Rule:
    def errors(path: FieldPath, value: str) -> RuleErrors:
        if not value:
            return (fieldpath.required(path),)
        return (fieldpath.not_supported(path, NamedText(value), choices),)

    return "", lambda value: value not in choices, errors


def _one_of(choices: Sequence[str]) -> _Rule:
    def errors(path: FieldPath, value: str) -> RuleErrors:
        return (fieldpath.not_supported(path, NamedText(value), choices),)

    return "", lambda value: value not in choices, errors


def _at_least(low: int, detail: str = "") -> _Rule:
    text = detail or f"must be greater than or equal to {low}"
    return 0, lambda value: value < low, lambda path, value: (fieldpath.invalid(path, value, text),)


def _at_most(high: int, detail: str = "") -> _Rule:
    text = detail or f"must be less than or equal to {high}"
    return (
        0,
        lambda value: value > high,
        lambda path, value: (fieldpath.invalid(path, value, text),),
    )


def _range(low: int, high: int) -> _Rule:
    text = f"must be between {low} and {high}, inclusive"

    def errors(path: FieldPath, value: int) -> RuleErrors:
        return (fieldpath.invalid(path, value, text),)

    return 0, lambda value: not low <= value <= high, errors


def _name(rule: str) -> _Rule:
    messages = NAMES[rule]

    def errors(path: FieldPath, value: str) -> RuleErrors:
        if not value:
            return (fieldpath.required(path),)
        return [fieldpath.invalid(path, value, message) for message in messages(value)]

    return "", lambda value: not value or bool(messages(value)), errors


def _in(type_: str) -> _Rule:
    return {}, lambda value: True, lambda path, value: broken_rules(type_, value, path)


def _each_item(type_: str) -> _Rule:
    def errors(path: FieldPath, value: Sequence[JsonObject]) -> RuleErrors:
        for index, item in enumerate(value):
            yield from broken_rules(type_, item, path.index(index))

    return (), bool, errors


_KINDS: Final[Mapping[str, Callable[..., _Rule]]] = {
    "at least": _at_least,
    "at most": _at_most,
    "choice": _choice,
    "each": _each_item,
    "in": _in,
    "name": _name,
    "one of": _one_of,
    "range": _range,
    "required": _required,
}


# --- Conditions --------------------------------------------------------------
#
# Conditions in the status of an object, where they are those of all kinds (`metav1.Condition`).
#
# As k8s.io/apimachinery `pkg/apis/meta/v1/validation`, `ValidateConditions`.

REASON_BYTES: Final = 1024
MESSAGE_BYTES: Final = 32 * 1024


def conditions(path: FieldPath, status: JsonObject) -> Errors:
    """Validate conditions. `path` is that of the status; each type of condition is there once."""
    seen: set[str] = set()
    for condition_path, condition in items(status, "conditions", path):
        kind = condition.get("type") or ""
        if kind in seen:
            yield fieldpath.duplicate(condition_path.child("type"), kind)
        seen.add(kind)
        yield from _condition(condition_path, condition)


_TO_BE_SET: Final = wording("", v1_34="must be set")


def _condition(path: FieldPath, condition: JsonObject) -> Errors:
    yield from qualified_name(path.child("type"), condition.get("type") or "")
    yield from supported(path.child("status"), condition.get("status") or "", CONDITION_STATUSES)
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        observed_generation_path = path.child("observedGeneration")
        yield fieldpath.invalid(
            observed_generation_path, generation, "must be greater than or equal to zero"
        )
    if not condition.get("lastTransitionTime"):
        yield fieldpath.required(path.child("lastTransitionTime"), _TO_BE_SET.text)
    reason, observed_generation_path = condition.get("reason") or "", path.child("reason")
    if not reason:
        yield fieldpath.required(observed_generation_path, _TO_BE_SET.text)
    else:
        yield from each(observed_generation_path, reason, name_rules.condition_reason(reason))
        yield from _short(observed_generation_path, reason, REASON_BYTES)
    yield from _short(path.child("message"), condition.get("message") or "", MESSAGE_BYTES)


def _short(path: FieldPath, text: str, limit: int) -> Errors:
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        yield fieldpath.too_long(path, limit)


def printed_condition(condition: JsonObject) -> JsonDict:
    """Return a condition of the usual type, with its members in Go's order."""
    order = ("type", "status", "observedGeneration", "lastTransitionTime", "reason", "message")
    return {key: condition[key] for key in order if key in condition}


def condition_is_true(status: JsonObject, kind: str) -> bool:
    """Return whether the status has a condition of this type that holds."""
    return any(
        condition.get("type") == kind and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )
