"""The controllers that keep pods running."""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.selection.label_selectors import LabelSelector
from celadon.kube.validation.field_checks import (
    NEGATIVE,
    SPEC,
    Errors,
    dns_label,
    items,
    not_negative,
    supported,
)
from celadon.kube.validation.label_rules import (
    is_empty,
    printed_selector,
    same_selector,
    selector,
    understood,
)
from celadon.kube.validation.pods.claim_specs import claim_spec
from celadon.kube.validation.pods.pod_specs import (
    pod_template,
    restart_always,
    template_metadata,
)
from celadon.kube.validation.workloads.rollouts import (
    daemon_set_strategy,
    deployment_strategy,
    stateful_set_strategy,
)
from celadon.kube.well_known_values import ROLLBACK_TO

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
    given = spec.get("selector")
    at = SPEC.child("selector")
    if given is None:
        yield fieldpath.required(at)
        return
    yield from selector(at, given)
    if is_empty(given):
        why = f"empty selector is invalid for {kind}"
        yield fieldpath.invalid(at, printed_selector(given), why)


def matches_template(path: FieldPath, template: JsonObject, chosen: LabelSelector) -> Errors:
    """The template's labels must be such that its pods are selected."""
    given = (template.get("metadata") or {}).get("labels")
    if not chosen.matches(given or {}):
        yield from _mismatch(path, given)


def _mismatch(path: FieldPath, given: JsonObject | None) -> Errors:
    shown = None if given is None else dict(sorted(given.items()))
    yield fieldpath.invalid(path.child("metadata", "labels"), shown, MISMATCH)


def _replicated(spec: JsonObject, unclear: str) -> Errors:
    """The template of a Deployment or ReplicaSet."""
    at, template = SPEC.child("template"), spec.get("template") or {}
    chosen = understood(spec.get("selector"))
    if chosen is None:
        yield fieldpath.invalid(SPEC.child("selector"), printed_selector(spec["selector"]), unclear)
        return
    if not chosen.is_everything:
        yield from matches_template(at, template, chosen)
    yield from pod_template(at, template)
    yield from restart_always(at, template, "ReplicaSet")


def deployment(obj: JsonObject) -> Errors:
    spec = obj.get("spec") or {}
    yield from not_negative(spec, SPEC, "replicas")
    yield from _strict_selector(spec, "deployment")
    yield from _replicated(spec, "invalid label selector")
    yield from deployment_strategy(SPEC.child("strategy"), spec.get("strategy") or {})
    yield from not_negative(spec, SPEC, "minReadySeconds", "revisionHistoryLimit")
    notes = (obj.get("metadata") or {}).get("annotations")
    if notes:
        yield from _rollback(notes.get(ROLLBACK_TO))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        yield from not_negative(spec, SPEC, "progressDeadlineSeconds")
        if deadline <= spec.get("minReadySeconds", 0):
            at = SPEC.child("progressDeadlineSeconds")
            yield fieldpath.invalid(at, deadline, "must be greater than minReadySeconds")


def _rollback(revision: str | None) -> Errors:
    """The annotation that was a field of older versions; what is no number is refused earlier."""
    if revision is not None and revision.startswith("-"):
        yield fieldpath.invalid(SPEC.child("rollback", "version"), int(revision), NEGATIVE)


def deployment_update(obj: JsonObject, old: JsonObject) -> Errors:
    yield from deployment(obj)
    yield from _same_selector(obj, old)


def _same_selector(obj: JsonObject, old: JsonObject) -> Errors:
    new, before = ((one.get("spec") or {}).get("selector") for one in (obj, old))
    return same_selector(SPEC.child("selector"), new, before)


def replica_set(obj: JsonObject) -> Errors:
    spec = obj.get("spec") or {}
    yield from not_negative(spec, SPEC, "replicas", "minReadySeconds")
    yield from _strict_selector(spec, "deployment")
    yield from _replicated(spec, "invalid label selector")


def replica_set_update(obj: JsonObject, old: JsonObject) -> Errors:
    yield from replica_set(obj)
    yield from _same_selector(obj, old)


def daemon_set(obj: JsonObject) -> Errors:
    spec = obj.get("spec") or {}
    given, at = spec.get("selector"), SPEC.child("selector")
    template, where = spec.get("template") or {}, SPEC.child("template")
    yield from selector(at, given)
    chosen = understood(given)
    if chosen is not None:
        yield from matches_template(where, template, chosen)
    if given is not None and is_empty(given):
        why = "empty selector is invalid for daemonset"
        yield fieldpath.invalid(at, printed_selector(given), why)
    yield from pod_template(where, template)
    yield from restart_always(where, template, "DaemonSet")
    yield from not_negative(spec, SPEC, "minReadySeconds")
    yield from daemon_set_strategy(SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    yield from not_negative(spec, SPEC, "revisionHistoryLimit")


def daemon_set_update(obj: JsonObject, old: JsonObject) -> Errors:
    yield from _same_selector(obj, old)
    yield from daemon_set(obj)


def stateful_set(obj: JsonObject) -> Errors:
    """All that is asked of a new one."""
    spec = obj.get("spec") or {}
    yield from _stateful_head(spec)
    for at, claim in items(spec, "volumeClaimTemplates", SPEC):
        yield from claim_spec(at.child("spec"), claim.get("spec") or {})
    yield from _stateful_numbers(spec)
    if spec.get("serviceName"):
        yield from dns_label(SPEC.child("serviceName"), spec["serviceName"])
    yield from _stateful_pods(spec, template_too=True)


def _stateful_head(spec: JsonObject) -> Errors:
    management = spec.get("podManagementPolicy") or ""
    if not management:
        yield fieldpath.required(SPEC.child("podManagementPolicy"))
    elif management not in POD_MANAGEMENT:
        at = SPEC.child("podManagementPolicy")
        yield fieldpath.invalid(at, NamedText(management), "must be 'OrderedReady' or 'Parallel'")
    yield from stateful_set_strategy(SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy")
    for field in ("whenDeleted", "whenScaled"):
        if retention is None:
            break
        at = SPEC.child("persistentVolumeClaimRetentionPolicy", field)
        yield from supported(at, retention.get(field) or "", RETENTION_POLICIES)


def _stateful_numbers(spec: JsonObject) -> Errors:
    yield from not_negative(spec, SPEC, "replicas", "minReadySeconds")
    start = (spec.get("ordinals") or {}).get("start", 0)
    yield from not_negative({"ordinals.start": start}, SPEC, "ordinals.start")


def _stateful_pods(spec: JsonObject, *, template_too: bool) -> Errors:
    """The selector and what it has to select; `template_too` is whether the template itself is
    looked at."""
    yield from _strict_selector(spec, "statefulset")
    at, template = SPEC.child("template"), spec.get("template") or {}
    chosen = understood(spec.get("selector"))
    if chosen is None:
        yield fieldpath.invalid(SPEC.child("selector"), printed_selector(spec["selector"]), "")
    else:
        if not chosen.is_everything:
            yield from matches_template(at, template, chosen)
        overwritten = _as_for_pods(spec, template)
        if template_too:
            yield from pod_template(at, overwritten)
        # Upstream looks at the template's metadata a second time, and a first time if it passes
        # over the template.
        yield from template_metadata(at, overwritten)
    yield from restart_always(at, template, "StatefulSet")


def _as_for_pods(spec: JsonObject, template: JsonObject) -> JsonObject:
    """The template as its pods get it: their names are the controller's business, and each claim is
    a volume, in place of any of the same name."""
    claims = {
        (claim.get("metadata") or {}).get("name") or "": None
        for claim in spec.get("volumeClaimTemplates") or ()
    }
    pods = dict(template.get("spec") or {})
    named = [pods.pop(field, None) for field in ("subdomain", "hostname")]
    if not claims:
        return {**template, "spec": pods} if any(named) else template
    given = [one for one in pods.get("volumes") or () if one.get("name") not in claims]
    made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return {**template, "spec": {**pods, "volumes": [*made, *given]}}


def stateful_set_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Claims and the service's name cannot change, so that bad ones of old may stay; so may a bad
    template, as long as it was bad before."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _stateful_head(spec)
    yield from _stateful_numbers(spec)
    was_bad = any(True for _ in _stateful_pods(before, template_too=True))
    yield from _stateful_pods(spec, template_too=not was_bad)
    if _fixed_part(spec) != _fixed_part(before):
        named = ", ".join(f"'{field}'" for field in CHANGEABLE[:-1])
        detail = (
            f"updates to statefulset spec for fields other than {named} and '{CHANGEABLE[-1]}' "
            "are forbidden"
        )
        yield fieldpath.forbidden(SPEC, detail)


def _fixed_part(spec: JsonObject) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in CHANGEABLE}


def replication_controller(obj: JsonObject) -> Errors:
    spec = obj.get("spec") or {}
    at, template = SPEC.child("template"), spec.get("template")
    yield from not_negative(spec, SPEC, "minReadySeconds")
    if not spec.get("selector"):
        yield fieldpath.required(SPEC.child("selector"))
    yield from not_negative(spec, SPEC, "replicas")
    if template is None:
        yield fieldpath.required(at)
        return
    chosen: JsonObject = spec.get("selector") or {}
    given = (template.get("metadata") or {}).get("labels")
    if any((given or {}).get(key) != value for key, value in chosen.items()):
        # Unlike those of selectors, these labels need not be possible ones.
        yield from _mismatch(at, given)
    yield from pod_template(at, template)
    yield from restart_always(at, template, "ReplicationController")
