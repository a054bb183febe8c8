"""Jobs, and CronJobs that make them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import OMITTED, FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, parse_int, quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation.apps import matches_template
from celadon.kube.validation.cron_schedule import TIME_ZONES, ScheduleError, parse_schedule
from celadon.kube.validation.field_checks import (
    IMMUTABLE,
    METADATA,
    SPEC,
    Errors,
    broken_rules,
    immutable,
    items,
    not_negative,
    qualified_name,
    required_choice,
    supported,
)
from celadon.kube.validation.format_checks import (
    same_selector,
    selector,
    shown_selector,
    understood,
)
from celadon.kube.validation.networking import domain_prefixed_path
from celadon.kube.validation.pods.internal_types import (
    internal_pod_spec,
    internal_value,
    shown_template,
)
from celadon.kube.validation.pods.pod_specs import pod_template
from celadon.kube.well_known_values import CONDITION_STATUSES
from celadon.late_patterns import late_pattern

# --- Job policies ------------------------------------------------------------
#
# When a Job has failed or succeeded: `podFailurePolicy` and `successPolicy`.

ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS: Final = ("In", "NotIn")
MAX_RULES: Final = 20
MAX_EXIT_CODES: Final = 255
MAX_INDEXES_BYTES: Final = 64 * 1024


class IndexesError(MalformedText):
    """A list of indexes that cannot be read."""


def failure_policy(path: FieldPath, spec: JsonObject) -> Errors:
    # As `validatePodFailurePolicy` of `pkg/apis/batch/validation`.
    policy, pod = spec["podFailurePolicy"], (spec.get("template") or {}).get("spec") or {}
    rules = policy.get("rules") or ()
    if len(rules) > MAX_RULES:
        yield fieldpath.too_many(path.child("rules"), len(rules), MAX_RULES)
    names = {
        container.get("name")
        for field in ("containers", "initContainers")
        for container in pod.get(field) or ()
    }
    for rule_path, rule in items(policy, "rules", path):
        yield from _action(rule_path.child("action"), rule.get("action") or "", spec)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            yield from _exit_codes(rule_path.child("onExitCodes"), codes, names)
        if conditions:
            yield from _conditions(rule_path, rule)
        if codes is not None and conditions:
            detail = "specifying both OnExitCodes and OnPodConditions is not supported"
            yield fieldpath.invalid(rule_path, OMITTED, detail)
        if codes is None and not conditions:
            detail = "specifying one of OnExitCodes and OnPodConditions is required"
            yield fieldpath.invalid(rule_path, OMITTED, detail)


def _choice(path: FieldPath, value: str, choices: Sequence[str]) -> Errors:
    if value:
        yield from supported(path, value, choices)
    else:
        listed = " ".join(map(quote, choices))
        yield fieldpath.required(path, f"valid values: [{listed}]")


def _action(path: FieldPath, action: str, spec: JsonObject) -> Errors:
    yield from _choice(path, action, ACTIONS)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        detail = "requires the backoffLimitPerIndex to be set"
        yield fieldpath.invalid(path, NamedText(action), detail)


def _conditions(path: FieldPath, rule: JsonObject) -> Errors:
    # As `validatePodFailurePolicyRuleOnPodConditions` of `pkg/apis/batch/validation`.
    patterns = rule["onPodConditions"]
    if len(patterns) > MAX_RULES:
        yield fieldpath.too_many(path.child("onPodConditions"), len(patterns), MAX_RULES)
    for on_pod_condition_path, pattern in items(rule, "onPodConditions", path):
        yield from qualified_name(on_pod_condition_path.child("type"), pattern.get("type") or "")
        yield from _choice(
            on_pod_condition_path.child("status"), pattern.get("status") or "", CONDITION_STATUSES
        )


def _exit_codes(path: FieldPath, data: JsonObject, names: set[str]) -> Errors:
    # As `validatePodFailurePolicyRuleOnExitCodes` of `pkg/apis/batch/validation`.
    operator, values = data.get("operator") or "", data.get("values") or []
    yield from _choice(path.child("operator"), operator, OPERATORS)
    name = data.get("containerName")
    if name is not None and name not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        yield fieldpath.invalid(path.child("containerName"), name, detail)
    values_path = path.child("values")
    if not values:
        go_value = GoValue(data.get("values"), "[]int32")
        yield fieldpath.invalid(values_path, go_value, "at least one value is required")
    elif len(values) > MAX_EXIT_CODES:
        yield fieldpath.too_many(values_path, len(values), MAX_EXIT_CODES)
    seen = set[int]()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            detail = "must not be 0 for the In operator"
            yield fieldpath.invalid(values_path.index(index), value, detail)
        if value in seen:
            yield fieldpath.duplicate(values_path.index(index), value)
        seen.add(value)
    if sorted(values) != list(values):
        yield fieldpath.invalid(values_path, GoValue(list(values), "[]int32"), "must be ordered")


def success_policy(path: FieldPath, spec: JsonObject) -> Errors:
    """Yield what is wrong with the success policy of an indexed Job."""
    # As `validateSuccessPolicy` of `pkg/apis/batch/validation`.
    policy, completions = spec["successPolicy"], spec.get("completions") or 0
    rules, rules_path = policy.get("rules") or (), path.child("rules")
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        yield fieldpath.required(rules_path, detail)
    if len(rules) > MAX_RULES:
        yield fieldpath.too_many(rules_path, len(rules), MAX_RULES)
    for rule_path, rule in items(policy, "rules", path):
        yield from _success_rule(rule_path, rule, completions)


def _success_rule(path: FieldPath, rule: JsonObject, completions: int) -> Errors:
    # As `validateSuccessPolicyRule` of `pkg/apis/batch/validation`.
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        detail = "at least one of succeededCount or succeededIndexes must be specified"
        yield fieldpath.required(path, detail)
    total = 0
    if indexes is not None:
        succeeded_indexes_path = path.child("succeededIndexes")
        if len(indexes) > MAX_INDEXES_BYTES:
            yield fieldpath.too_long(succeeded_indexes_path, MAX_INDEXES_BYTES)
        try:
            total = count_indexes(indexes, completions)
        except IndexesError as error:
            detail = f"error parsing succeededIndexes: {error}"
            yield fieldpath.invalid(succeeded_indexes_path, indexes, detail)
    if count is None:
        return
    succeeded_indexes_path = path.child("succeededCount")
    yield from not_negative(rule, path, "succeededCount")
    limit = "must be less than or equal to"
    if count > completions:
        detail = f"{limit} {completions} (the number of specified completions)"
        yield fieldpath.invalid(succeeded_indexes_path, count, detail)
    if indexes is not None and count > total:
        where = "the number of indexes in the specified succeededIndexes field"
        yield fieldpath.invalid(succeeded_indexes_path, count, f"{limit} {total} ({where})")


def count_indexes(text: str, completions: int) -> int:
    """Return how many indexes `1,3-5` names; they must go up and stay below the completions. Raises
    IndexesError."""
    # As `validateIndexesFormat` of `pkg/apis/batch/validation`.
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        start, end = _interval(interval, completions)
        if start <= last:
            raise IndexesError(f"non-increasing order, previous: {last}, current: {start}")
        total, last = total + end - start + 1, end
    return total


def intervals(text: str, completions: int) -> list[tuple[int, int]]:
    """Return the first and last index of each interval that is one; others are left out."""
    result: list[tuple[int, int]] = []
    for word in text.split(",") if text else ():
        with contextlib.suppress(IndexesError):
            result.append(_interval(word, completions))
    return result


def _interval(text: str, completions: int) -> tuple[int, int]:
    limits = text.split("-")
    if len(limits) > 2:
        raise IndexesError(
            f"the fragment {quote(text)} violates the requirement that an index interval can have "
            "at most two parts separated by '-'"
        )
    start, *rest = (_index(limit) for limit in limits)
    if start >= completions:
        raise IndexesError(f"too large index: {quote(limits[0])}")
    if not rest:
        return start, start
    if rest[0] >= completions:
        raise IndexesError(f"too large index: {quote(limits[1])}")
    if start >= rest[0]:
        raise IndexesError(f"non-increasing order, previous: {start}, current: {rest[0]}")
    return start, rest[0]


def _index(text: str) -> int:
    try:
        return parse_int(text)
    except ValueError:
        detail = f"cannot convert string to integer for index: {quote(text)}"
        raise IndexesError(detail) from None


INDEXED: Final = "Indexed"
COMPLETION_MODES: Final = ("NonIndexed", INDEXED)
REPLACEMENTS: Final = ("Failed", "TerminatingOrFailed")
CONCURRENCY: Final = ("Allow", "Forbid", "Replace")
NEVER_ENDS: Final = 'valid values: "OnFailure", "Never"'
MAX_INDEXED: Final = 100_000
MAX_WHEN_MANY: Final = 10_000
MAX_MANAGER_BYTES: Final = 63
MAX_CRON_JOB_NAME: Final = 52
"""What a CronJob's name leaves for the time that its Jobs' names end with."""

UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
FIXED: Final = (
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_PRINTED: Final = {
    "podFailurePolicy": "batch.v1.PodFailurePolicy",
    "successPolicy": "batch.v1.SuccessPolicy",
}
"""The types of those that are no scalars."""
SCHEDULING: Final = ("nodeSelector", "tolerations", "schedulingGates")
"""What may change of the pods of a suspended Job, besides node affinity and resources."""
_ZONE_PART: Final = late_pattern(r"[A-Za-z.\-_0-9+]{1,14}")


def job(obj: JsonObject) -> Errors:
    # As `ValidateJob` of `pkg/apis/batch/validation`.
    return _job(obj, prefixed=True)


def _job(obj: JsonObject, *, prefixed: bool) -> Errors:
    """`prefixed`: the generated labels that have a domain must be there."""
    spec, meta = obj.get("spec") or {}, obj.get("metadata") or {}
    yield from _generated(obj, prefixed=prefixed)
    yield from _job_with_selector(spec)
    completions = spec.get("completions")
    if spec.get("completionMode") == INDEXED and completions:
        host = f"{meta.get('name', '')}-{completions - 1}"
        if name_rules.dns1123_label(host):
            detail = f"will not able to create pod with invalid DNS label: {host}"
            yield fieldpath.invalid(METADATA.child("name"), meta.get("name", ""), detail)


def job_as_new(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what would be wrong with a changed Job if it were new."""
    before = old.get("spec") or {}
    had = ((before.get("template") or {}).get("metadata") or {}).get("labels") or {}
    yield from _job(obj, prefixed=UID_LABELS[1] in had and NAME_LABELS[1] in had)


def job_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with the changes of a Job, and with its spec once more."""
    # As `ValidateJobUpdate` of `pkg/apis/batch/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _job_with_selector(spec)
    if spec.get("completionMode") != INDEXED:
        path = SPEC.child("completions")
        yield from immutable(path, spec.get("completions"), before.get("completions"))
    elif spec.get("completions") not in {None, before.get("completions"), spec.get("parallelism")}:
        detail = "can only be modified in tandem with spec.parallelism"
        yield fieldpath.invalid(SPEC.child("completions"), spec["completions"], detail)
    yield from same_selector(SPEC.child("selector"), spec.get("selector"), before.get("selector"))
    yield from _template_update(spec, old)
    for field in FIXED:
        value, struct = spec.get(field), _PRINTED.get(field, "")
        if value != before.get(field):
            if struct and value is not None:
                value = GoValue(internal_value(value, struct), struct.replace(".v1.", "."))
            yield fieldpath.invalid(SPEC.child(field), value, IMMUTABLE)


def _template_update(spec: JsonObject, old: JsonObject) -> Errors:
    """Check a changed template. It stays, but for what decides where the pods of a suspended Job
    will run and what they will get; upstream looks at the stored Job only, so the update that
    resumes a Job may change it too."""
    # As `validatePodTemplateUpdate` of `pkg/apis/batch/validation`.
    template, was = (
        (item.get("spec") or {}).get("template") or {} for item in ({"spec": spec}, old)
    )
    if not is_since("1.36"):
        if template != (_rescheduled(was, template) if _waits(old) else was):
            yield fieldpath.invalid(SPEC.child("template"), shown_template(template), IMMUTABLE)
        return
    if not _may_change(old):
        if template != was:
            yield fieldpath.invalid(SPEC.child("template"), shown_template(template), IMMUTABLE)
        return
    pods, before = template.get("spec") or {}, was.get("spec") or {}
    if pods != _with_scheduling(before, pods):
        path = SPEC.child("template.spec")
        yield fieldpath.invalid(path, internal_pod_spec(pods), IMMUTABLE)


def _rescheduled(was: JsonObject, template: JsonObject) -> JsonObject:
    """Return the stored template with the labels, annotations and scheduling of the new one."""
    meta = dict(was.get("metadata") or {})
    for field in ("labels", "annotations"):
        _set(meta, field, (template.get("metadata") or {}).get(field))
    pods = _with_scheduling(was.get("spec") or {}, template.get("spec") or {}, amounts=False)
    fixed = {**was, "spec": pods}
    _set(fixed, "metadata", meta or template.get("metadata"))
    return fixed


def _waits(old: JsonObject) -> bool:
    """Return whether a suspended Job has never started: before 1.36, only such could change."""
    suspended = (old.get("spec") or {}).get("suspend")
    return bool(suspended) and (old.get("status") or {}).get("startTime") is None


def _may_change(old: JsonObject) -> bool:
    """Return whether it may change: a suspended Job without pods that has not started, or says that
    it is suspended."""
    status = old.get("status") or {}
    is_stopped = status.get("startTime") is None or any(
        condition.get("type") == "Suspended" and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )
    suspended = (old.get("spec") or {}).get("suspend")
    return bool(suspended) and is_stopped and not status.get("active")


def _with_scheduling(before: JsonObject, pods: JsonObject, *, amounts: bool = True) -> JsonDict:
    """Return the stored spec of pods, with all that may change as the new one has it; `amounts`:
    what containers ask for, too."""
    fixed = dict(before)
    for field in SCHEDULING:
        _set(fixed, field, pods.get(field))
    affinity = dict(before.get("affinity") or {})
    _set(affinity, "nodeAffinity", (pods.get("affinity") or {}).get("nodeAffinity"))
    # Go compares the pointers: an affinity without anything in it is not the same as none.
    result = affinity or ({} if pods.get("affinity") is not None else None)
    _set(fixed, "affinity", result)
    for field in ("containers", "initContainers") if amounts else ():
        new, stored = pods.get(field) or (), before.get(field) or ()
        if len(new) == len(stored):
            pairs = zip(new, stored, strict=True)
            _set(fixed, field, [_with_resources(pair, was) for pair, was in pairs] or None)
    return fixed


def _with_resources(container: JsonObject, was: JsonObject) -> JsonObject:
    if container.get("name") != was.get("name"):
        return was
    fixed = dict(was)
    _set(fixed, "resources", container.get("resources"))
    return fixed


def _set(obj: JsonDict, field: str, value: object) -> None:
    if value is None:
        obj.pop(field, None)
    else:
        obj[field] = value


def _generated(obj: JsonObject, *, prefixed: bool) -> Errors:
    """Check the selector and the labels that the server itself makes."""
    # As `validateGeneratedSelector` of `pkg/apis/batch/validation`.
    spec, meta = obj.get("spec") or {}, obj.get("metadata") or {}
    chosen = spec.get("selector")
    if spec.get("manualSelector") or chosen is None:
        return
    uid, name = meta.get("uid") or "", meta.get("name") or ""
    if not uid:
        yield fieldpath.required(METADATA.child("uid"))
    template = (spec.get("template") or {}).get("metadata") or {}
    expected = {}
    pairs = list(zip(UID_LABELS, NAME_LABELS, strict=True))
    for pair in pairs if prefixed else pairs[:1]:
        for key, value in zip(pair, (uid, name), strict=True):
            yield from _has_label(template.get("labels") or {}, key, value)
            expected[key] = value
    parsed_selector = understood(chosen)
    if parsed_selector is not None and not parsed_selector.matches(expected):
        detail = "`selector` not auto-generated"
        yield fieldpath.invalid(SPEC.child("selector"), shown_selector(chosen), detail)


def _has_label(data: Mapping[str, str], key: str, value: str) -> Errors:
    path = SPEC.child("template", "metadata", "labels").key(key)
    if key not in data:
        yield fieldpath.required(path, f"must be '{value}'")
    elif data[key] != value:
        yield fieldpath.invalid(path, dict(sorted(data.items())), f"must be '{value}'")


def _job_with_selector(spec: JsonObject) -> Errors:
    yield from job_spec(SPEC, spec)
    chosen = spec.get("selector")
    if chosen is None:
        yield fieldpath.required(SPEC.child("selector"))
    else:
        yield from selector(SPEC.child("selector"), chosen)
    parsed_selector = understood(chosen)
    if parsed_selector is not None:
        yield from matches_template(
            SPEC.child("template"), spec.get("template") or {}, parsed_selector
        )


def job_spec(path: FieldPath, spec: JsonObject) -> Errors:
    """Yield what is wrong with the spec of a Job, or of the template of a CronJob."""
    # As `validateJobSpec` of `pkg/apis/batch/validation`.
    yield from broken_rules("batch.v1.JobSpec", spec, path)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        detail = "when maxFailedIndexes is specified"
        yield fieldpath.required(path.child("backoffLimitPerIndex"), detail)
    if spec.get("managedBy") is not None:
        yield from _manager(path.child("managedBy"), spec["managedBy"])
    yield from _completion(path, spec)
    if spec.get("podFailurePolicy") is not None:
        yield from failure_policy(path.child("podFailurePolicy"), spec)
    if spec.get("successPolicy") is not None:
        yield from _success(path.child("successPolicy"), spec)
    replacement = spec.get("podReplacementPolicy")
    if replacement is not None:
        allowed = REPLACEMENTS[:1] if spec.get("podFailurePolicy") is not None else REPLACEMENTS
        yield from supported(path.child("podReplacementPolicy"), replacement, allowed)
    yield from pod_template(path.child("template"), spec.get("template") or {})
    yield from _restart_policy(path.child("template", "spec", "restartPolicy"), spec)


def _restart_policy(path: FieldPath, spec: JsonObject) -> Errors:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy") or ""
    if policy in {"", "Always"}:
        yield fieldpath.required(path, NEVER_ENDS)
    elif policy not in {"OnFailure", "Never"}:
        yield fieldpath.not_supported(path, NamedText(policy), ["OnFailure", "Never"])
    elif policy != "Never" and spec.get("podFailurePolicy") is not None:
        detail = 'only "Never" is supported when podFailurePolicy is specified'
        yield fieldpath.invalid(path, NamedText(policy), detail)


def _manager(path: FieldPath, value: str) -> Errors:
    if not value:
        yield fieldpath.required(path)
        return
    yield from domain_prefixed_path(path, value)
    if len(value) > MAX_MANAGER_BYTES:
        yield fieldpath.too_long(path, MAX_MANAGER_BYTES)


def _completion(path: FieldPath, spec: JsonObject) -> Errors:
    mode = spec.get("completionMode")
    if mode is not None:
        yield from supported(path.child("completionMode"), mode, COMPLETION_MODES)
    if mode == INDEXED:
        yield from _indexed(path, spec)
    elif mode in {None, COMPLETION_MODES[0]}:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(field) is not None:
                detail = "requires indexed completion mode"
                yield fieldpath.invalid(path.child(field), spec[field], detail)


def _indexed(path: FieldPath, spec: JsonObject) -> Errors:
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
    if completions is None:
        yield fieldpath.required(path.child("completions"), "when completion mode is Indexed")
    limit = f"must be less than or equal to {MAX_INDEXED} when completion mode is Indexed"
    yield from _at_most(path, spec, "parallelism", MAX_INDEXED, limit)
    if completions is not None and failed is not None and failed > completions:
        detail = "must be less than or equal to completions"
        yield fieldpath.invalid(path.child("maxFailedIndexes"), failed, detail)
    limit = f"must be less than or equal to {MAX_INDEXED}"
    yield from _at_most(path, spec, "maxFailedIndexes", MAX_INDEXED, limit)
    if (completions or 0) <= MAX_INDEXED or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        detail = f"must be specified when completions is above {MAX_INDEXED}"
        yield fieldpath.required(path.child("maxFailedIndexes"), detail)
    limit = (
        f"must be less than or equal to {MAX_WHEN_MANY} when completions are above {MAX_INDEXED} "
        "and used with backoff limit per index"
    )
    yield from _at_most(path, spec, "parallelism", MAX_WHEN_MANY, limit)
    yield from _at_most(path, spec, "maxFailedIndexes", MAX_WHEN_MANY, limit)


def _at_most(path: FieldPath, spec: JsonObject, field: str, limit: int, detail: str) -> Errors:
    value = spec.get(field)
    if value is not None and value > limit:
        yield fieldpath.invalid(path.child(field), value, detail)


def _success(path: FieldPath, spec: JsonObject) -> Errors:
    if spec.get("completionMode") == INDEXED:
        yield from success_policy(path, spec)
        return
    printed = internal_value(spec["successPolicy"], "batch.v1.SuccessPolicy")
    policy = GoValue(printed, "batch.SuccessPolicy")
    yield fieldpath.invalid(path, policy, "requires indexed completion mode")


def cron_job(obj: JsonObject) -> Errors:
    # As `ValidateCronJobCreate` of `pkg/apis/batch/validation`.
    yield from _cron_job(obj, None)
    name = (obj.get("metadata") or {}).get("name") or ""
    if len(name) > MAX_CRON_JOB_NAME:
        detail = f"must be no more than {MAX_CRON_JOB_NAME} characters"
        yield fieldpath.invalid(METADATA.child("name"), name, detail)


def cron_job_update(obj: JsonObject, old: JsonObject) -> Errors:
    # As `ValidateCronJobUpdate` of `pkg/apis/batch/validation`.
    return _cron_job(obj, old.get("spec") or {})


def _cron_job(obj: JsonObject, before: JsonObject | None) -> Errors:
    """`before`: the spec of the stored object."""
    # As `validateCronJobSpec` of `pkg/apis/batch/validation`.
    spec = obj.get("spec") or {}
    schedule, zone = spec.get("schedule") or "", spec.get("timeZone")
    if schedule:
        zoned = before is not None and "TZ" in (before.get("schedule") or "")
        yield from _schedule(SPEC.child("schedule"), schedule, zone, zoned=zoned)
    else:
        yield fieldpath.required(SPEC.child("schedule"))
    yield from not_negative(spec, SPEC, "startingDeadlineSeconds")
    if zone is not None and (before is None or before.get("timeZone") != zone):
        yield from _time_zone(SPEC.child("timeZone"), zone)
    path = SPEC.child("concurrencyPolicy")
    yield from required_choice(path, spec.get("concurrencyPolicy"), CONCURRENCY)
    template = (spec.get("jobTemplate") or {}).get("spec") or {}
    yield from _job_template(SPEC.child("jobTemplate", "spec"), template)
    yield from not_negative(spec, SPEC, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def _job_template(path: FieldPath, spec: JsonObject) -> Errors:
    # As `ValidateJobTemplateSpec` of `pkg/apis/batch/validation`.
    yield from job_spec(path, spec)
    if spec.get("selector") is not None:
        detail = "`selector` will be auto-generated"
        go_value = shown_selector(spec["selector"])
        yield fieldpath.invalid(path.child("selector"), go_value, detail)
    if spec.get("manualSelector"):
        yield fieldpath.not_supported(
            path.child("manualSelector"), value=True, supported=["nil", "false"]
        )


def _schedule(path: FieldPath, schedule: str, zone: str | None, *, zoned: bool) -> Errors:
    """`zoned`: the stored schedule names a time zone, so this one may."""
    # As `validateScheduleFormat` of `pkg/apis/batch/validation`.
    try:
        parse_schedule(schedule)
    except ScheduleError as error:
        yield fieldpath.invalid(path, schedule, str(error))
    if "TZ" not in schedule:
        return
    if not zoned:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield fieldpath.invalid(path, schedule, detail)
    elif zone is not None:
        detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        yield fieldpath.invalid(path, schedule, detail)


def _time_zone(path: FieldPath, zone: str) -> Errors:
    # As `validateTimeZone` of `pkg/apis/batch/validation`.
    if not zone:
        yield fieldpath.invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    parts = zone.split("/")
    if any(part in {".", ".."} or part.startswith("-") for part in parts) or not all(
        map(_ZONE_PART.fullmatch, parts)
    ):
        yield fieldpath.invalid(path, zone, f"unknown time zone {zone}")
        return
    if zone.lower() == "local":
        detail = (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
        yield fieldpath.invalid(path, zone, detail)
    if zone not in TIME_ZONES and zone not in {"UTC", "Local"}:
        yield fieldpath.invalid(path, zone, f"unknown time zone {zone}")
