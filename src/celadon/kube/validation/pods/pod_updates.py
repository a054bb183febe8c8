"""What may change in a pod: images, tolerations, gates, and how long it may run."""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.validation import text_rules
from celadon.kube.validation.field_checks import SPEC, Errors, Object, in_range, items
from celadon.kube.validation.pods.pod_containers import trimmed_image
from celadon.kube.validation.pods.pod_specs import pod_in_general

CHANGEABLE: Final = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
FREE_FIELDS: Final = ("activeDeadlineSeconds", "tolerations", "schedulingGates")
CONTAINER_LISTS: Final = ("containers", "initContainers")


def pod_update(obj: Object, old: Object) -> Errors:
    """The difference that upstream prints after the last text is not reproduced."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from pod_in_general(obj)
    for field in CONTAINER_LISTS:
        if len(spec.get(field) or ()) != len(before.get(field) or ()):
            detail = "pod updates may not add or remove containers"
            yield fieldpath.forbidden(SPEC.child(field), detail)
            return
        for at, container in items(spec, field, SPEC):
            if not container.get("image"):
                yield fieldpath.required(at.child("image"))
            yield from trimmed_image(at, container)
    found = list(_deadline(spec, before))
    yield from found
    if found and spec.get("activeDeadlineSeconds") is not None:
        return
    yield from _tolerations(spec, before)
    yield from _gates(spec, before)
    if _fixed_part(spec) != _fixed_part(before):
        named = ",".join(CHANGEABLE)
        detail = f"pod updates may not change fields other than {named}\n"
        yield fieldpath.forbidden(SPEC, detail)


def _deadline(spec: Object, before: Object) -> Errors:
    at = SPEC.child("activeDeadlineSeconds")
    new, old = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            detail = "must not update from a positive integer to nil value"
            yield fieldpath.invalid(at, None, detail)
    elif not 0 <= new <= text_rules.MAX_ID:
        yield from in_range(at, new, 0, text_rules.MAX_ID)
    elif old is not None and old < new:
        yield fieldpath.invalid(at, new, "must be less than or equal to previous value")


def _tolerations(spec: Object, before: Object) -> Errors:
    """Only the time of a toleration may change."""

    def lasting(toleration: Object) -> dict[str, Any]:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}

    kept = [lasting(one) for one in spec.get("tolerations") or ()]
    if any(lasting(one) not in kept for one in before.get("tolerations") or ()):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield fieldpath.forbidden(SPEC.child("tolerations"), detail)


def _gates(spec: Object, before: Object) -> Errors:
    known = {one.get("name") for one in before.get("schedulingGates") or ()}
    for at, gate in items(spec, "schedulingGates", SPEC):
        name = gate.get("name")
        if name not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield fieldpath.forbidden(at.child("name"), detail)


def _fixed_part(spec: Object) -> dict[str, Any]:
    kept = {key: value for key, value in spec.items() if key not in FREE_FIELDS}
    for field in CONTAINER_LISTS:
        if spec.get(field):
            kept[field] = [
                {key: value for key, value in one.items() if key != "image"} for one in spec[field]
            ]
    return kept
