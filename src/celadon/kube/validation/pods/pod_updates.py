"""What may change in a pod: images, tolerations, gates, and how long it may run."""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.field_checks import SPEC, Errors, in_range, items
from celadon.kube.validation.pod_annotations import annotation_changes
from celadon.kube.validation.pods.internal_pod_types import internal_pod_spec, internal_value
from celadon.kube.validation.pods.pod_containers import trimmed_image
from celadon.kube.validation.pods.pod_spec_diffs import pod_spec_diff
from celadon.kube.validation.pods.pod_specs import pod_in_general
from celadon.kube.validation.pods.scheduling import tolerations
from celadon.kube.well_known_values import REQUIRED_TERMS

CHANGEABLE: Final = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
FREE_FIELDS: Final = ("activeDeadlineSeconds", "tolerations", "schedulingGates")
ADDED_TERMS: Final = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
CONTAINER_LISTS: Final = ("containers", "initContainers")


def pod_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What is wrong with a changed pod; the last text ends with what has changed."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from pod_in_general(obj, old)
    yield from annotation_changes(obj, old)
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
    if spec == before:
        return
    fixed = _with_old_fields(spec, before)
    if before.get("schedulingGates"):
        yield from _chosen_nodes(fixed, before)
        fixed = _with_old_nodes(fixed, before)
    if internal_pod_spec(fixed) != internal_pod_spec(before):
        named = ",".join(CHANGEABLE)
        difference = pod_spec_diff(before, fixed)
        detail = f"pod updates may not change fields other than {named}\n{difference}"
        yield fieldpath.forbidden(SPEC, detail)


def _deadline(spec: JsonObject, before: JsonObject) -> Errors:
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


def _tolerations(spec: JsonObject, before: JsonObject) -> Errors:
    """Only the time of a toleration may change."""

    def lasting(toleration: JsonObject) -> dict[str, Any]:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}

    kept = [lasting(one) for one in spec.get("tolerations") or ()]
    if any(lasting(one) not in kept for one in before.get("tolerations") or ()):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield fieldpath.forbidden(SPEC.child("tolerations"), detail)
    else:
        yield from tolerations(SPEC, spec)


def _gates(spec: JsonObject, before: JsonObject) -> Errors:
    known = {one.get("name") for one in before.get("schedulingGates") or ()}
    for at, gate in items(spec, "schedulingGates", SPEC):
        name = gate.get("name")
        if name not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield fieldpath.forbidden(at.child("name"), detail)


def _with_old_fields(spec: JsonObject, before: JsonObject) -> dict[str, Any]:
    """The new spec with the old one's values where they may change."""
    kept = {key: value for key, value in spec.items() if key not in FREE_FIELDS}
    kept.update((field, before[field]) for field in FREE_FIELDS if field in before)
    for field in CONTAINER_LISTS:
        if spec.get(field):
            pairs = zip(spec[field], before[field], strict=True)
            kept[field] = [{**one, "image": other.get("image")} for one, other in pairs]
    grace = before.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        kept["terminationGracePeriodSeconds"] = grace
    return kept


def _with_old_nodes(spec: JsonObject, before: JsonObject) -> dict[str, Any]:
    """The same for where a pod may run: what waits for a gate can still become choosier."""
    kept = {key: value for key, value in spec.items() if key != "nodeSelector"}
    if before.get("nodeSelector"):
        kept["nodeSelector"] = before["nodeSelector"]
    nodes = (before.get("affinity") or {}).get("nodeAffinity")
    affinity = dict(spec.get("affinity") or {})
    affinity.pop("nodeAffinity", None)
    if nodes is not None:
        affinity["nodeAffinity"] = nodes
    if affinity or before.get("affinity") is not None:
        kept["affinity"] = affinity
    else:
        kept.pop("affinity", None)
    return kept


def _chosen_nodes(spec: JsonObject, before: JsonObject) -> Errors:
    """Selectors may get more terms, and lose none."""
    chosen, was = spec.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(chosen.get(key) != value for key, value in was.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield fieldpath.invalid(SPEC.child("nodeSelector"), dict(chosen), detail)
    terms, old_terms = _required_terms(spec), _required_terms(before)
    at = SPEC.child("affinity", "nodeAffinity", REQUIRED_TERMS, "nodeSelectorTerms")
    if not old_terms:
        return
    if len(terms) != len(old_terms):
        yield fieldpath.invalid(
            at, [internal_value(one, "core.v1.NodeSelectorTerm") for one in terms], ADDED_TERMS
        )
        return
    for index, (term, old) in enumerate(zip(terms, old_terms, strict=True)):
        if not _only_adds(term, old):
            detail = "only additions are allowed (no mutations or deletions)"
            yield fieldpath.invalid(
                at.index(index), internal_value(term, "core.v1.NodeSelectorTerm"), detail
            )


def _required_terms(spec: JsonObject) -> list[JsonObject]:
    nodes = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return list((nodes.get(REQUIRED_TERMS) or {}).get("nodeSelectorTerms") or ())


def _only_adds(term: JsonObject, old: JsonObject) -> bool:
    """Whether the requirements begin with the old ones; what required nothing stays so."""
    fields = ("matchExpressions", "matchFields")
    if not any(old.get(field) for field in fields) and any(term.get(field) for field in fields):
        return False
    pairs = ((term.get(field) or [], old.get(field) or []) for field in fields)
    return all(new[: len(was)] == was for new, was in pairs)
