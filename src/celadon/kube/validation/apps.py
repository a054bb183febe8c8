"""Validation of Deployments, ReplicaSets, DaemonSets, StatefulSets, ReplicationControllers and
ControllerRevisions.

As k8s.io/kubernetes `pkg/apis/apps/validation`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_json import unreadable_number
from celadon.kube.go.go_text import GoValue, parse_int
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import is_since, since
from celadon.kube.selectors import LabelSelector
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    NEGATIVE,
    SPEC,
    Errors,
    broken_rules,
    dns_label,
    each,
    holding,
    items,
    not_negative,
    once_sound,
    once_sound_as,
    supported,
    without_images,
)
from celadon.kube.validation.object_meta import Update
from celadon.kube.validation.pods.pod_specs import pod_template, restart_always, template_metadata
from celadon.kube.validation.pods.volumes import claim_spec
from celadon.kube.well_known_values import ROLLBACK_TO

# --- Rollouts ----------------------------------------------------------------
#
# How a controller replaces its pods: strategies with numbers or percentages.

DEPLOYMENT_STRATEGIES: Final = ("Recreate", "RollingUpdate")
DAEMON_SET_STRATEGIES: Final = ("RollingUpdate", "OnDelete")
OVER_100: Final = "must not be greater than 100%"

_LARGEST: Final = 2**63 - 1

IntOrPercent = int | str


def int_or_percent(path: FieldPath, value: IntOrPercent) -> Errors:
    """Validate an integer that is not negative, or `25%`."""
    # As `ValidatePositiveIntOrPercent` of `pkg/apis/apps/validation`.
    if isinstance(value, str):
        yield from each(path, GoValue(value, "intstr.IntOrString"), format_checks.percent(value))
    elif value < 0:
        yield fieldpath.invalid(path, value, NEGATIVE)


def at_most_100_percent(path: FieldPath, value: IntOrPercent) -> Errors:
    """Validate a share, which is at most 100 %; numbers are not looked at."""
    if isinstance(value, str) and not format_checks.percent(value) and amount(value) > 100:
        yield fieldpath.invalid(path, GoValue(value, "intstr.IntOrString"), OVER_100)


def amount(value: IntOrPercent) -> int:
    """Return the number, with or without a percent sign; 0 for what is none, and the largest there
    is for percentages that are too large."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    if digits.isascii() and digits.isdecimal() and len(digits) < 19:
        return int(digits)
    is_percent = not format_checks.percent(value)
    try:
        return parse_int(digits if is_percent else value)
    except ValueError:
        return _LARGEST if is_percent else 0


@once_sound
def deployment_strategy(path: FieldPath, strategy: JsonObject) -> Errors:
    # As `ValidateDeploymentStrategy` of `pkg/apis/apps/validation`.
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    rolling_update_path = path.child("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            yield fieldpath.forbidden(rolling_update_path, detail)
    elif kind != "RollingUpdate":
        printed = printed_strategy(kind, rolling, MaxUnavailable=0, MaxSurge=0)
        of_go = GoValue(printed, "apps.DeploymentStrategy")
        yield fieldpath.not_supported(path, of_go, DEPLOYMENT_STRATEGIES)
    elif rolling is None:
        yield fieldpath.required(rolling_update_path, "this should be defaulted and never be nil")
    else:
        unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        yield from int_or_percent(rolling_update_path.child("maxUnavailable"), unavailable)
        yield from int_or_percent(rolling_update_path.child("maxSurge"), surge)
        if amount(unavailable) == 0 and amount(surge) == 0:
            detail = "may not be 0 when `maxSurge` is 0"
            of_go = GoValue(unavailable, "intstr.IntOrString")
            yield fieldpath.invalid(rolling_update_path.child("maxUnavailable"), of_go, detail)
        yield from at_most_100_percent(rolling_update_path.child("maxUnavailable"), unavailable)


def daemon_set_strategy(path: FieldPath, strategy: JsonObject) -> Errors:
    # As `ValidateDaemonSetUpdateStrategy` of `pkg/apis/apps/validation`.
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    rolling_update_path = path.child("rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        printed = printed_strategy(kind, rolling, MaxUnavailable=0, MaxSurge=0)
        of_go = GoValue(printed, "apps.DaemonSetUpdateStrategy")
        yield fieldpath.not_supported(path, of_go, DAEMON_SET_STRATEGIES)
    elif rolling is None:
        yield fieldpath.required(rolling_update_path)
    else:
        numbers = {field: rolling.get(field, 0) for field in ("maxUnavailable", "maxSurge")}
        for field, value in numbers.items():
            yield from int_or_percent(rolling_update_path.child(field), value)
        for field, value in numbers.items():
            yield from at_most_100_percent(rolling_update_path.child(field), value)
        unavailable, surge = map(amount, numbers.values())
        if unavailable and surge:
            detail = "may not be set when maxUnavailable is non-zero"
            of_go = GoValue(numbers["maxSurge"], "intstr.IntOrString")
            yield fieldpath.invalid(rolling_update_path.child("maxSurge"), of_go, detail)
        elif not unavailable and not surge:
            detail = "cannot be 0 when maxSurge is 0"
            yield fieldpath.required(rolling_update_path.child("maxUnavailable"), detail)


def stateful_set_strategy(path: FieldPath, strategy: JsonObject) -> Errors:
    # As `validateRollingUpdateStatefulSet` of `pkg/apis/apps/validation`.
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    rolling_update_path = path.child("rollingUpdate")
    if not kind:
        yield fieldpath.required(path)
    elif kind == "OnDelete":
        if rolling is not None:
            printed = printed_strategy(kind, rolling, Partition=0, MaxUnavailable=None)
            detail = "only allowed for updateStrategy 'RollingUpdate'"
            of_go = GoValue(printed["RollingUpdate"], "apps.RollingUpdateStatefulSetStrategy")
            yield fieldpath.invalid(rolling_update_path, of_go, detail)
    elif kind != "RollingUpdate":
        printed = printed_strategy(kind, rolling, Partition=0, MaxUnavailable=None)
        of_go = GoValue(printed, "apps.StatefulSetUpdateStrategy")
        yield fieldpath.invalid(path, of_go, "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None:
        yield from not_negative(rolling, rolling_update_path, "partition")
        unavailable = rolling.get("maxUnavailable")
        if unavailable is not None:
            max_unavailable_path = rolling_update_path.child("maxUnavailable")
            yield from int_or_percent(max_unavailable_path, unavailable)
            if amount(unavailable) == 0:
                yield fieldpath.invalid(max_unavailable_path, unavailable, "cannot be 0")
            yield from at_most_100_percent(max_unavailable_path, unavailable)


def printed_strategy(kind: str, rolling: JsonObject | None, **absent: int | None) -> JsonDict:
    """Return what Go prints of the struct, whose fields have no JSON names; `absent` are the
    fields, with what each shows that was not given."""
    printed: JsonDict = {"Type": NamedText(kind), "RollingUpdate": None}
    if rolling is not None:
        printed["RollingUpdate"] = {
            name: rolling.get(name[0].lower() + name[1:], zero) for name, zero in absent.items()
        }
    return printed


MISMATCH: Final = "`selector` does not match template `labels`"
POD_MANAGEMENT: Final = ("OrderedReady", "Parallel")
RETENTION_POLICIES: Final = ("Retain", "Delete")
CHANGEABLE: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
"""What an update of a StatefulSet may change, in the order in which the refusal names them."""


def _strict_selector(spec: JsonObject, kind: str) -> Errors:
    value = spec.get("selector")
    path = SPEC.child("selector")
    if value is None:
        yield fieldpath.required(path)
        return
    yield from format_checks.selector(path, value)
    if format_checks.is_empty(value):
        detail = f"empty selector is invalid for {kind}"
        yield fieldpath.invalid(path, format_checks.shown_selector(value), detail)


def matches_template(path: FieldPath, template: JsonObject, chosen: LabelSelector) -> Errors:
    """Validate that the template's labels are such that its pods are selected."""
    labels = (template.get("metadata") or {}).get("labels")
    if not chosen.matches(labels or {}):
        yield from _mismatch(path, labels)


def _mismatch(path: FieldPath, value: JsonObject | None) -> Errors:
    printed = None if value is None else dict(sorted(value.items()))
    labels = GoValue(printed, "map[string]string")
    yield fieldpath.invalid(path.child("metadata", "labels"), labels, MISMATCH)


def _selected_pods(spec: JsonObject) -> JsonObject:
    template = spec.get("template") or {}
    pods = {**template, "spec": without_images(template.get("spec") or {})}
    return {"selector": spec.get("selector"), "template": pods}


# Few writes change more of these than an image: to look again takes a tenth of a patch.
@once_sound_as(_selected_pods)
def _replicated(_: FieldPath, spec: JsonObject) -> Errors:
    """Validate the selector and the template of a Deployment or ReplicaSet."""
    yield from _strict_selector(spec, "deployment")
    path, template = SPEC.child("template"), spec.get("template") or {}
    chosen = format_checks.understood(spec.get("selector"))
    if chosen is None:
        yield fieldpath.invalid(
            SPEC.child("selector"),
            format_checks.shown_selector(spec["selector"]),
            "invalid label selector",
        )
        return
    if not chosen.is_everything:
        yield from matches_template(path, template, chosen)
    yield from pod_template(path, template)
    yield from restart_always(path, template, "ReplicaSet")


def deployment(obj: JsonObject) -> Errors:
    # As `ValidateDeployment` of `pkg/apis/apps/validation`.
    spec = obj.get("spec") or {}
    yield from not_negative(spec, SPEC, "replicas")
    yield from _replicated(SPEC, spec)
    yield from deployment_strategy(SPEC.child("strategy"), spec.get("strategy") or {})
    yield from not_negative(spec, SPEC, "minReadySeconds", "revisionHistoryLimit")
    notes = (obj.get("metadata") or {}).get("annotations")
    if notes:
        yield from _rollback(notes.get(ROLLBACK_TO))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        yield from not_negative(spec, SPEC, "progressDeadlineSeconds")
        if deadline <= spec.get("minReadySeconds", 0):
            path = SPEC.child("progressDeadlineSeconds")
            yield fieldpath.invalid(path, deadline, "must be greater than minReadySeconds")


def _rollback(revision: str | None) -> Errors:
    """Check the annotation that was a field of older versions; what is no number is refused
    earlier."""
    # As `ValidateRollback` of `pkg/apis/apps/validation`.
    if revision is not None and revision.startswith("-"):
        yield fieldpath.invalid(SPEC.child("rollback", "version"), int(revision), NEGATIVE)


def deployment_update(obj: JsonObject, old: JsonObject) -> Errors:
    # As `ValidateDeploymentUpdate` of `pkg/apis/apps/validation`.
    yield from deployment(obj)
    yield from _same_selector(obj, old)


def _same_selector(obj: JsonObject, old: JsonObject) -> Errors:
    new, before = ((item.get("spec") or {}).get("selector") for item in (obj, old))
    return format_checks.same_selector(SPEC.child("selector"), new, before)


def replica_set(obj: JsonObject) -> Errors:
    # As `ValidateReplicaSet` of `pkg/apis/apps/validation`.
    spec = obj.get("spec") or {}
    yield from not_negative(spec, SPEC, "replicas", "minReadySeconds")
    yield from _replicated(SPEC, spec)


def replica_set_update(obj: JsonObject, old: JsonObject) -> Errors:
    # As `ValidateReplicaSetUpdate` of `pkg/apis/apps/validation`.
    yield from replica_set(obj)
    yield from _same_selector(obj, old)


def daemon_set(obj: JsonObject) -> Errors:
    # As `ValidateDaemonSet` of `pkg/apis/apps/validation`.
    spec = obj.get("spec") or {}
    value, path = spec.get("selector"), SPEC.child("selector")
    template, template_path = spec.get("template") or {}, SPEC.child("template")
    yield from format_checks.selector(path, value)
    chosen = format_checks.understood(value)
    if chosen is not None:
        yield from matches_template(template_path, template, chosen)
    if value is not None and format_checks.is_empty(value):
        detail = "empty selector is invalid for daemonset"
        yield fieldpath.invalid(path, format_checks.shown_selector(value), detail)
    yield from pod_template(template_path, template)
    yield from restart_always(template_path, template, "DaemonSet")
    yield from not_negative(spec, SPEC, "minReadySeconds")
    yield from daemon_set_strategy(SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    yield from not_negative(spec, SPEC, "revisionHistoryLimit")


def daemon_set_update(obj: JsonObject, old: JsonObject) -> Errors:
    # As `ValidateDaemonSetUpdate` of `pkg/apis/apps/validation`.
    if is_since("1.34"):
        yield from _same_selector(obj, old)
        yield from daemon_set(obj)
    else:
        yield from daemon_set(obj)
        yield from _same_selector(obj, old)


def stateful_set(obj: JsonObject) -> Errors:
    """Yield what is wrong with a new StatefulSet."""
    # As `ValidateStatefulSet` of `pkg/apis/apps/validation`.
    spec = obj.get("spec") or {}
    yield from _stateful_head(spec)
    yield from _claim_templates(spec)
    yield from _stateful_numbers(spec)
    yield from _governing_service(spec)
    yield from _stateful_pods(spec, template_too=True)


@since("1.33")
def _governing_service(spec: JsonObject) -> Errors:
    if spec.get("serviceName"):
        yield from dns_label(SPEC.child("serviceName"), spec["serviceName"])


@since("1.34")
def _claim_templates(spec: JsonObject) -> Errors:
    # As `validateVolumeClaimTemplates` of `pkg/apis/apps/validation`.
    for path, claim in items(spec, "volumeClaimTemplates", SPEC):
        yield from claim_spec(path.child("spec"), claim.get("spec") or {})


def _stateful_head(spec: JsonObject) -> Errors:
    management = spec.get("podManagementPolicy") or ""
    if not management:
        yield fieldpath.required(SPEC.child("podManagementPolicy"))
    elif management not in POD_MANAGEMENT:
        path = SPEC.child("podManagementPolicy")
        yield fieldpath.invalid(path, NamedText(management), "must be 'OrderedReady' or 'Parallel'")
    yield from stateful_set_strategy(SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy")
    for field in ("whenDeleted", "whenScaled"):
        if retention is None:
            break
        path = SPEC.child("persistentVolumeClaimRetentionPolicy", field)
        yield from supported(path, retention.get(field) or "", RETENTION_POLICIES)


def _stateful_numbers(spec: JsonObject) -> Errors:
    yield from not_negative(spec, SPEC, "replicas", "minReadySeconds")
    start = (spec.get("ordinals") or {}).get("start", 0)
    yield from not_negative({"ordinals.start": start}, SPEC, "ordinals.start")


def _stateful_pods(spec: JsonObject, *, template_too: bool) -> Errors:
    """Check the selector and what it has to select; `template_too` is whether the template itself
    is looked at."""
    yield from _strict_selector(spec, "statefulset")
    path, template = SPEC.child("template"), spec.get("template") or {}
    chosen = format_checks.understood(spec.get("selector"))
    if chosen is None:
        yield fieldpath.invalid(
            SPEC.child("selector"), format_checks.shown_selector(spec["selector"]), ""
        )
    else:
        if not chosen.is_everything:
            yield from matches_template(path, template, chosen)
        overwritten = _as_for_pods(spec, template)
        if template_too:
            yield from _stateful_template(path, overwritten)
        # Upstream looks at the template's metadata a second time, and a first time if it passes
        # over the template.
        yield from template_metadata(path, overwritten)
    yield from restart_always(path, template, "StatefulSet")


@since("1.34")
def _stateful_template(path: FieldPath, template: JsonObject) -> Errors:
    # As `ValidatePodTemplateSpecForStatefulSet` of `pkg/apis/apps/validation`.
    yield from pod_template(path, template)


def _as_for_pods(spec: JsonObject, template: JsonObject) -> JsonObject:
    """Return the template as its pods get it: their names are the controller's business, and each
    claim is a volume, in place of any of the same name."""
    claims = {
        (claim.get("metadata") or {}).get("name") or "": None
        for claim in spec.get("volumeClaimTemplates") or ()
    }
    pods = dict(template.get("spec") or {})
    named = [pods.pop(field, None) for field in ("subdomain", "hostname")]
    if not claims:
        return {**template, "spec": pods} if any(named) else template
    volumes = [volume for volume in pods.get("volumes") or () if volume.get("name") not in claims]
    result = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return {**template, "spec": {**pods, "volumes": [*result, *volumes]}}


def stateful_set_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update. Claims and the service's name cannot change, so that bad ones of old may
    stay; so may a bad template, as long as it was bad before."""
    # As `ValidateStatefulSetUpdate` of `pkg/apis/apps/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _stateful_head(spec)
    yield from _stateful_numbers(spec)
    was_bad = bool(holding(_stateful_pods(before, template_too=True), None))
    yield from _stateful_pods(spec, template_too=not was_bad)
    free = [item for item in CHANGEABLE if item != "revisionHistoryLimit" or is_since("1.33")]
    new, was = ({key: item[key] for key in item if key not in free} for item in (spec, before))
    if new != was:
        named = ", ".join(f"'{field}'" for field in free[:-1])
        detail = (
            f"updates to statefulset spec for fields other than {named} and '{free[-1]}' "
            "are forbidden"
        )
        yield fieldpath.forbidden(SPEC, detail)


def replication_controller(obj: JsonObject) -> Errors:
    # As `ValidateReplicationController` of `pkg/apis/core/validation`.
    spec = obj.get("spec") or {}
    path, template = SPEC.child("template"), spec.get("template")
    yield from not_negative(spec, SPEC, "minReadySeconds")
    if not spec.get("selector"):
        yield fieldpath.required(SPEC.child("selector"))
    yield from not_negative(spec, SPEC, "replicas")
    if template is None:
        yield fieldpath.required(path)
        return
    chosen: JsonObject = spec.get("selector") or {}
    labels = (template.get("metadata") or {}).get("labels")
    if any((labels or {}).get(key) != value for key, value in chosen.items()):
        # Unlike those of selectors, these labels need not be possible ones.
        yield from _mismatch(path, labels)
    yield from pod_template(path, template)
    yield from restart_always(path, template, "ReplicationController")


# --- Statuses ----------------------------------------------------------------
#
# What controllers count: pods in several states, none of which is more than all.
#
# As k8s.io/kubernetes `pkg/apis/{apps,core}/validation`.

_STATUS: Final = FieldPath("status")
_REPLICAS: Final = "replicas"
_READY: Final = "readyReplicas"
_AVAILABLE: Final = "availableReplicas"
_COLLISIONS: Final = "collisionCount"
_OF_ALL: Final = "status.replicas"


class Counts(NamedTuple):
    """Describes the counts in the status of a kind. `type`: whose numbers are not negative;
    `parts`: what is not more than all replicas; `ready_name`: what complaints call the ready ones;
    `collides`: whether it counts collisions."""

    type: str
    parts: tuple[str, ...] = ()
    ready_name: str = _READY
    collides: bool = False


def _counting(counts: Counts) -> Update:
    def status(obj: JsonObject, old: JsonObject) -> Errors:
        status, before = obj.get("status") or {}, old.get("status") or {}
        yield from broken_rules(counts.type, status, _STATUS)
        for part in counts.parts:
            yield from _not_more(status, part, _REPLICAS, _OF_ALL)
        if counts.parts:
            yield from _not_more(status, _AVAILABLE, _READY, counts.ready_name)
        if counts.collides:
            yield from _not_fewer_collisions(status, before)

    return status


def _not_more(status: JsonObject, part: str, whole: str, name: str) -> Errors:
    number = status.get(part) or 0
    if number > (status.get(whole) or 0):
        yield fieldpath.invalid(_STATUS.child(part), number, f"cannot be greater than {name}")


def _not_fewer_collisions(status: JsonObject, before: JsonObject) -> Errors:
    number, was = status.get(_COLLISIONS), before.get(_COLLISIONS)
    if was is not None and (number is None or number < was):
        detail = "cannot be decremented"
        yield fieldpath.invalid(_STATUS.child(_COLLISIONS), number or 0, detail)


deployment_status: Final = _counting(
    Counts("apps.v1.DeploymentStatus", ("updatedReplicas", _READY, _AVAILABLE), collides=True)
)
replica_set_status: Final = _counting(
    Counts("apps.v1.ReplicaSetStatus", ("fullyLabeledReplicas", _READY, _AVAILABLE))
)
replication_controller_status: Final = _counting(
    Counts("core.v1.ReplicationControllerStatus", ("fullyLabeledReplicas", _READY, _AVAILABLE))
)
stateful_set_counts: Final = _counting(
    Counts(
        "apps.v1.StatefulSetStatus",
        (_READY, "currentReplicas", "updatedReplicas", _AVAILABLE),
        "status.readyReplicas",
    )
)


def stateful_set_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with how the status of a StatefulSet changed, besides its counts."""
    return _not_fewer_collisions(obj.get("status") or {}, old.get("status") or {})


daemon_set_status: Final = _counting(Counts("apps.v1.DaemonSetStatus", collides=True))


def controller_revision(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ControllerRevision, besides its metadata."""
    # As `ValidateControllerRevisionCreate` of `pkg/apis/apps/validation`.
    if not is_since("1.31"):
        yield from _revised(obj)
    yield from not_negative(obj, FieldPath(), "revision")
    if is_since("1.31"):
        yield from _revised(obj)


def _revised(obj: JsonObject) -> Errors:
    """Since 1.31 the data of a revision is an object."""
    if obj.get("data") is None:
        yield fieldpath.required(FieldPath("data"), "data is mandatory")
    elif complaint := unreadable_number(obj["data"]):
        detail = f"error parsing data: {complaint}"
        yield fieldpath.invalid(FieldPath("data"), "<value omitted>", detail)
    elif not isinstance(obj["data"], dict) and is_since("1.31"):
        yield fieldpath.required(FieldPath("data"), "data must be a valid JSON object")


def controller_revision_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a ControllerRevision: its data stays."""
    # As `ValidateControllerRevisionUpdate` of `pkg/apis/apps/validation`.
    if obj.get("data") is None and not is_since("1.31"):
        yield from _revised(obj)
    yield from not_negative(obj, FieldPath(), "revision")
    if obj.get("data") != old.get("data"):
        yield fieldpath.invalid(FieldPath("data"), _shown_data(obj.get("data")), IMMUTABLE)


def _shown_data(data: object) -> GoValue | None:
    if is_since("1.31"):
        return GoValue(data, "runtime.RawExtension")
    return None if data is None else GoValue(data, "runtime.Unknown")
