"""Validation of PriorityClasses, and of Workloads and PodGroups: pods that are scheduled together.

As k8s.io/kubernetes `pkg/apis/scheduling/validation`, and since 1.36 the rules that stand with the
types (`pkg/apis/scheduling/v1alpha2/zz_generated.validations.go`). There a field that an update did
not change is not looked at, and one that may not change is said to be immutable, without its value,
and nothing else is said of it. In 1.35 a workload had the groups themselves, and its rules were
those of other kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.protobuf.message_table import ordered_message
from celadon.kube.releases import is_since
from celadon.kube.validation import field_checks
from celadon.kube.validation.field_checks import METADATA, Errors, required_choice
from celadon.kube.validation.field_checks import immutable as unchanged
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.well_known_values import (
    PREEMPTION_POLICIES,
    SYSTEM_PRIORITIES,
    WORKLOAD_PREEMPTION,
)

MAX_GROUPS: Final = 8
MAX_CLAIMS: Final = 4
MAX_TOPOLOGIES: Final = 1
HIGHEST_USER_PRIORITY: Final = 1_000_000_000
DISRUPTION_MODES: Final = ("Pod", "PodGroup")
POLICIES: Final = ("basic", "gang")
_TWO_SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")

_STATUS: Final = FieldPath("status")
_GROUPS: Final = field_checks.SPEC.child("podGroups")
_TEMPLATES: Final = field_checks.SPEC.child("podGroupTemplates")
_CONTROLLER: Final = field_checks.SPEC.child("controllerRef")


# --- Workloads ---------------------------------------------------------------


def workload(obj: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a new Workload, besides its metadata."""
    # As `ValidateWorkload` of `pkg/apis/scheduling/validation`.
    spec = obj.get("spec") or {}
    if not is_since("1.36"):
        yield from _workload_of_groups(spec)
        return
    if spec.get("controllerRef") is not None:
        yield from _controller(spec["controllerRef"])
    templates = spec.get("podGroupTemplates") or ()
    if not templates:
        yield fieldpath.required(_TEMPLATES)
    elif len(templates) > MAX_GROUPS:
        yield fieldpath.too_many(_TEMPLATES, len(templates), MAX_GROUPS)
    else:
        yield from _names_are_unique(_TEMPLATES, templates, "PodGroupTemplate")
        for index, template in enumerate(templates):
            yield from _template(_TEMPLATES.index(index), template)


def workload_update(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a changed Workload: nothing of its spec may change."""
    # As `ValidateWorkloadUpdate` of `pkg/apis/scheduling/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    if is_since("1.36"):
        yield from _immutable(spec, before, field_checks.SPEC, "controllerRef", "podGroupTemplates")
        templates = spec.get("podGroupTemplates") or ()
        if templates != (before.get("podGroupTemplates") or ()):
            yield from field_checks.at_most(_TEMPLATES, templates, MAX_GROUPS)
            if not templates:
                yield fieldpath.required(_TEMPLATES)
        return
    yield from _workload_of_groups(spec)
    if before.get("controllerRef") is not None:
        controllers = [_internal_controller(item.get("controllerRef")) for item in (spec, before)]
        yield from unchanged(FieldPath("controllerRef"), *controllers)
    groups = [_internal_groups(item.get("podGroups")) for item in (spec, before)]
    yield from unchanged(FieldPath("podGroups"), *groups)


def _controller(reference: JsonObject) -> field_checks.Errors:
    group, kind, name = (reference.get(field) or "" for field in ("apiGroup", "kind", "name"))
    if group:
        check = field_checks.long_name if is_since("1.36") else field_checks.dns_subdomain
        yield from check(_CONTROLLER.child("apiGroup"), group)
    yield from field_checks.required_name(
        _CONTROLLER.child("kind"), kind, name_rules.path_segment_name
    )
    yield from field_checks.required_name(
        _CONTROLLER.child("name"), name, name_rules.path_segment_name
    )


def _template(path: FieldPath, template: JsonObject) -> field_checks.Errors:
    yield from field_checks.required_name(
        path.child("name"), template.get("name") or "", name_rules.short_name
    )
    yield from _policy(path.child("schedulingPolicy"), template.get("schedulingPolicy") or {})
    yield from _gated_fields(path, template)


# --- Pod groups --------------------------------------------------------------


def pod_group(obj: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a new PodGroup, besides its metadata."""
    # As `ValidatePodGroup` of `pkg/apis/scheduling/validation`.
    spec = obj.get("spec") or {}
    origin = spec.get("podGroupTemplateRef")
    if origin is not None:
        path, reference = field_checks.SPEC.child("podGroupTemplateRef"), origin.get("workload")
        yield from _one_of(path, origin, ("workload",))
        if reference is not None:
            path = path.child("workload")
            name, template = (
                reference.get(field) or "" for field in ("workloadName", "podGroupTemplateName")
            )
            yield from field_checks.required_name(
                path.child("workloadName"), name, name_rules.long_name
            )
            path = path.child("podGroupTemplateName")
            yield from field_checks.required_name(path, template, name_rules.short_name)
    yield from _policy(
        field_checks.SPEC.child("schedulingPolicy"), spec.get("schedulingPolicy") or {}
    )
    yield from _gated_fields(field_checks.SPEC, spec, mode_is_required=True)


def pod_group_update(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a changed PodGroup: nothing of its spec may change. Where a gate is
    off its fields are forbidden rather than immutable, unless they are taken away."""
    # As `ValidatePodGroupUpdate` of `pkg/apis/scheduling/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _immutable(
        spec, before, field_checks.SPEC, "podGroupTemplateRef", "schedulingPolicy"
    )
    yield from _immutable_with(
        field_checks.TOPOLOGY_OF_GROUPS, spec, before, "schedulingConstraints"
    )
    yield from _immutable(spec, before, field_checks.SPEC, "resourceClaims")
    claims = spec.get("resourceClaims") or ()
    if claims != (before.get("resourceClaims") or ()):
        yield from field_checks.at_most(
            field_checks.SPEC.child("resourceClaims"), claims, MAX_CLAIMS
        )
    for field in ("disruptionMode", "priorityClassName", "priority"):
        yield from _immutable_with(WORKLOAD_PREEMPTION, spec, before, field)


def pod_group_status(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a PodGroup whose status was changed."""
    # As `ValidatePodGroupStatusUpdate` of `pkg/apis/scheduling/validation`.
    status, before = obj.get("status") or {}, old.get("status") or {}
    claims = {
        resource_claim.get("name")
        for resource_claim in (obj.get("spec") or {}).get("resourceClaims") or ()
    }
    yield from field_checks.conditions(_STATUS, status)
    for path, resource_claim_status in field_checks.items(status, "resourceClaimStatuses", _STATUS):
        name = resource_claim_status.get("name") or ""
        if name not in claims:
            detail = "must match the name of an entry in `spec.resourceClaims`"
            yield fieldpath.invalid(path.child("name"), name, detail)
    resource_claim_statuses = before.get("resourceClaimStatuses") or ()
    listed = status.get("resourceClaimStatuses") or ()
    if listed != resource_claim_statuses:
        yield from _claim_statuses(
            _STATUS.child("resourceClaimStatuses"), listed, resource_claim_statuses
        )


def _claim_statuses(
    path: FieldPath, listed: Sequence[JsonObject], old_statuses: Sequence[JsonObject]
) -> field_checks.Errors:
    # As `validatePodGroupResourceClaimStatuses` of `pkg/apis/scheduling/validation`.
    if len(listed) > MAX_CLAIMS:
        yield fieldpath.too_many(path, len(listed), MAX_CLAIMS)
        return
    yield from _names_are_unique(path, listed, "PodGroupResourceClaimStatus")
    for index, item in enumerate(listed):
        name = item.get("resourceClaimName")
        if name is not None and item not in old_statuses:
            yield from field_checks.long_name(path.index(index).child("resourceClaimName"), name)


# --- What both have ----------------------------------------------------------


def _policy(path: FieldPath, policy: JsonObject) -> field_checks.Errors:
    yield from _one_of(path, policy, POLICIES)
    gang = policy.get("gang")
    if gang is not None:
        min_count_path, count = path.child("gang", "minCount"), gang.get("minCount") or 0
        if not count:
            yield fieldpath.required(min_count_path)
        elif count < 1:
            yield fieldpath.invalid(min_count_path, count, "must be greater than or equal to 1")


def _gated_fields(
    path: FieldPath, spec: JsonObject, *, mode_is_required: bool = False
) -> field_checks.Errors:
    """Check the fields that templates and groups have while gates are on. A server has dropped the
    others before: what is forbidden comes from webhooks and policies."""
    constraints = spec.get("schedulingConstraints")
    if constraints is not None:
        scheduling_constraints_path = path.child("schedulingConstraints")
        yield from field_checks.by_gate(
            field_checks.TOPOLOGY_OF_GROUPS,
            _topologies(scheduling_constraints_path, constraints),
            _forbidden(scheduling_constraints_path),
        )
    yield from _claims(path.child("resourceClaims"), spec.get("resourceClaims") or ())
    mode, scheduling_constraints_path = spec.get("disruptionMode"), path.child("disruptionMode")
    if mode is not None:
        faults = (
            () if mode in DISRUPTION_MODES else (_unknown_mode(scheduling_constraints_path, mode),)
        )
        yield from field_checks.by_gate(
            WORKLOAD_PREEMPTION, faults, _forbidden(scheduling_constraints_path)
        )
    elif mode_is_required:
        yield from field_checks.by_gate(
            WORKLOAD_PREEMPTION, (fieldpath.required(scheduling_constraints_path),), ()
        )
    class_name, scheduling_constraints_path = (
        spec.get("priorityClassName"),
        path.child("priorityClassName"),
    )
    if class_name:
        yield from field_checks.by_gate(
            WORKLOAD_PREEMPTION,
            field_checks.long_name(scheduling_constraints_path, class_name),
            _forbidden(scheduling_constraints_path),
        )
    priority, scheduling_constraints_path = spec.get("priority"), path.child("priority")
    if priority is not None:
        detail = f"must be less than or equal to {HIGHEST_USER_PRIORITY}"
        too_high = field_checks.each(
            scheduling_constraints_path,
            priority,
            (detail,) if priority > HIGHEST_USER_PRIORITY else (),
        )
        yield from field_checks.by_gate(
            WORKLOAD_PREEMPTION, too_high, _forbidden(scheduling_constraints_path)
        )


def _unknown_mode(path: FieldPath, mode: str) -> FieldError:
    return fieldpath.not_supported(path, NamedText(mode), DISRUPTION_MODES)


def _forbidden(path: FieldPath) -> tuple[FieldError]:
    return (fieldpath.forbidden(path, ""),)


def _topologies(path: FieldPath, constraints: JsonObject) -> field_checks.Errors:
    topology_path = path.child("topology")
    topologies = constraints.get("topology") or ()
    yield from field_checks.at_most(topology_path, topologies, MAX_TOPOLOGIES)
    if len(topologies) <= MAX_TOPOLOGIES:
        for where, topology in field_checks.items(constraints, "topology", path):
            key = topology.get("key") or ""
            if key:
                yield from field_checks.qualified_name(where.child("key"), key)
            else:
                yield fieldpath.required(where.child("key"))


def _claims(path: FieldPath, claims: Sequence[JsonObject]) -> field_checks.Errors:
    if len(claims) > MAX_CLAIMS:
        yield fieldpath.too_many(path, len(claims), MAX_CLAIMS)
        return
    yield from _names_are_unique(path, claims, "PodGroupResourceClaim")
    for index, claim in enumerate(claims):
        field_path = path.index(index)
        yield from _one_of(field_path, claim, _TWO_SOURCES)
        yield from field_checks.required_name(
            field_path.child("name"), claim.get("name") or "", name_rules.short_name
        )
        for source in _TWO_SOURCES:
            if claim.get(source) is not None:
                yield from field_checks.long_name(field_path.child(source), claim[source])


def _one_of(path: FieldPath, obj: JsonObject, members: Sequence[str]) -> field_checks.Errors:
    present = [member for member in members if obj.get(member) is not None]
    listed = ", ".join(f"`{member}`" for member in members)
    if not present:
        yield fieldpath.invalid(path, "", f"must specify one of: {listed}")
    elif len(present) > 1:
        text = "{" + ", ".join(present) + "}"
        yield fieldpath.invalid(path, text, f"must specify exactly one of: {listed}")


def _names_are_unique(
    path: FieldPath, listed: Sequence[JsonObject], type_: str
) -> field_checks.Errors:
    """Yield an error for each later one of the same name, which is shown whole, its fields as Go
    writes them."""
    seen: set[str] = set()
    for index, item in enumerate(listed):
        name = item.get("name") or ""
        if name in seen:
            printed = ordered_message(item, f"scheduling.v1alpha2.{type_}")
            yield fieldpath.duplicate(path.index(index), printed)
        seen.add(name)


def _immutable(
    spec: JsonObject, before: JsonObject, path: FieldPath, *fields: str
) -> field_checks.Errors:
    for field in fields:
        if spec.get(field) != before.get(field):
            yield fieldpath.invalid(path.child(field), None, field_checks.IMMUTABLE)


def _immutable_with(
    gate: str, spec: JsonObject, before: JsonObject, field: str
) -> field_checks.Errors:
    if spec.get(field) != before.get(field):
        path = field_checks.SPEC.child(field)
        is_removed = spec.get(field) is None
        changed = fieldpath.invalid(path, None, field_checks.IMMUTABLE)
        needed = (fieldpath.required(path),) if is_removed and field == "disruptionMode" else ()
        yield from field_checks.by_gate(
            gate, (*needed, changed), () if is_removed else _forbidden(path)
        )


# --- Release 1.35 ------------------------------------------------------------

_EXACTLY_ONE: Final = "exactly one of `basic`, `gang` is required"


def _workload_of_groups(spec: JsonObject) -> field_checks.Errors:
    if spec.get("controllerRef") is not None:
        yield from _controller(spec["controllerRef"])
    groups: Sequence[JsonObject] = spec.get("podGroups") or ()
    if not groups:
        yield fieldpath.required(_GROUPS, "must have at least one item")
    elif len(groups) > MAX_GROUPS:
        yield fieldpath.too_many(_GROUPS, len(groups), MAX_GROUPS)
    else:
        seen: set[str] = set()
        for index, group in enumerate(groups):
            path, name = _GROUPS.index(index), group.get("name") or ""
            yield from field_checks.dns_label(path.child("name"), name)
            if name in seen:
                yield fieldpath.duplicate(path.child("name"), name)
            seen.add(name)
            yield from _policy_of_group(path.child("policy"), group.get("policy") or {})


def _policy_of_group(path: FieldPath, policy: JsonObject) -> field_checks.Errors:
    policies = [f"`{member}`" for member in POLICIES if policy.get(member) is not None]
    gang = policy.get("gang")
    if not policies:
        yield fieldpath.required(path, _EXACTLY_ONE)
    elif len(policies) > 1:
        text = "{" + ", ".join(policies) + "}"
        detail = f"{_EXACTLY_ONE}, but multiple fields are set"
        yield fieldpath.invalid(path, text, detail)
    elif gang is not None and (gang.get("minCount") or 0) <= 0:
        min_count_path = path.child("gang", "minCount")
        yield fieldpath.invalid(
            min_count_path, gang.get("minCount") or 0, field_checks.NOT_POSITIVE
        )


def _internal_controller(reference: JsonObject | None) -> JsonDict | None:
    if reference is None:
        return None
    return internal_value(reference, "scheduling.v1alpha1.TypedLocalObjectReference")


def _internal_groups(groups: Iterable[JsonObject] | None) -> list[JsonDict]:
    return [internal_value(group, "scheduling.v1alpha1.PodGroup") for group in groups or ()]


SYSTEM_PREFIX: Final = "system-"


def priority_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a PriorityClass, besides its metadata."""
    # As `ValidatePriorityClass` of `pkg/apis/scheduling/validation`.
    name, value = (obj.get("metadata") or {}).get("name") or "", obj.get("value") or 0
    if name.startswith(SYSTEM_PREFIX):
        fault = _system_fault(name, value, is_default=bool(obj.get("globalDefault")))
        if fault:
            detail = (
                "priority class names with 'system-' prefix are reserved for system use only. "
                f"error: {fault}"
            )
            yield fieldpath.forbidden(METADATA.child("name"), detail)
    elif value > HIGHEST_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        yield fieldpath.forbidden(FieldPath("value"), detail)
    policy = obj.get("preemptionPolicy")
    if policy is not None:
        yield from required_choice(FieldPath("preemptionPolicy"), policy, PREEMPTION_POLICIES)


def _system_fault(name: str, value: int, *, is_default: bool) -> str:
    """Return why a class is not one of those that a server makes itself; empty if it is."""
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if SYSTEM_PRIORITIES[name] != value:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def priority_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update: neither the value nor the preemption policy may change."""
    # As `ValidatePriorityClassUpdate` of `pkg/apis/scheduling/validation`.
    if (obj.get("value") or 0) != (old.get("value") or 0):
        yield fieldpath.forbidden(FieldPath("value"), "may not be changed in an update.")
    if obj.get("preemptionPolicy") != old.get("preemptionPolicy"):
        path, policy = FieldPath("preemptionPolicy"), NamedText(obj.get("preemptionPolicy") or "")
        yield fieldpath.invalid(path, policy, "field is immutable")
