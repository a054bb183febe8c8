"""ControllerRevisions: the templates that a StatefulSet or a DaemonSet has had.

As k8s.io/kubernetes `pkg/controller/history/controller_history.go`. The data is a patch that puts
the template back. Revisions of StatefulSets are named after a hash of its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.apiserver.simulation.planning.plans import Step, Verb
from celadon.kube import JsonObject, metadata
from celadon.kube.go import sorted_members
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.workload_controllers import owner_reference, safe_digits

_NO_TIMES_SINCE: Final = "1.34"
_FNV_PRIME: Final = 0x01000193
_FNV_START: Final = 0x811C9DC5


def template_patch(workload: JsonObject) -> JsonDict:
    """Return the patch that a revision of the workload holds, as Go writes a map. Releases before
    1.34 write a time in it that is not set."""
    template = facts.spec_of(workload).get("template") or {}
    if not is_since(_NO_TIMES_SINCE):
        meta = {"creationTimestamp": None, **metadata.metadata(template)}
        template = {**template, "metadata": meta}
    result: JsonDict = sorted_members({"spec": {"template": {**template, "$patch": "replace"}}})
    return result


def with_template(workload: JsonObject, revision: JsonObject) -> JsonObject:
    """Return the workload with the template that the revision holds."""
    recorded = ((revision.get("data") or {}).get("spec") or {}).get("template") or {}
    template = {key: value for key, value in recorded.items() if key != "$patch"}
    return {**workload, "spec": {**facts.spec_of(workload), "template": template}}


def patch_hash(patch: JsonObject, collisions: int) -> str:
    """Return the FNV hash of the patch as Go writes it: keys in order, and signs of HTML
    escaped."""
    text = json.dumps(patch, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    digest = _FNV_START
    for byte in (text + str(collisions)).encode():
        digest = digest * _FNV_PRIME % 2**32 ^ byte
    return safe_digits(digest)


def number_of(revision: JsonObject) -> int:
    """Return the number of a revision, which counts the changes of the workload."""
    number: int = revision.get("revision") or 0
    return number


def in_order(revisions: Iterable[JsonObject]) -> list[JsonObject]:
    """Return revisions by their numbers; the last is the latest."""

    def key(value: JsonObject) -> tuple[Any, ...]:
        return number_of(value), metadata.creation_timestamp(value), metadata.name(value)

    return sorted(revisions, key=key)


def claimed_revisions(
    workload: JsonObject, revisions: Iterable[JsonObject]
) -> tuple[list[JsonObject], list[Step]]:
    """Return a workload's own in their order, and the steps by which it takes those that nobody has
    and that it selects. One that is being deleted looks at these, too, and takes none."""
    selector = facts.selector_of(workload)
    result: list[JsonObject] = []
    steps: list[Step] = []
    for revision in revisions:
        if facts.is_controlled_by(revision, workload):
            result.append(revision)
        elif not facts.controller_of(revision) and selector.matches(metadata.labels(revision)):
            if not facts.is_going(workload):
                meta = metadata.metadata(revision)
                owners = [*meta.get("ownerReferences", ()), owner_reference(workload)]
                revision = {**revision, "metadata": {**meta, "ownerReferences": owners}}
                steps.append(Step(Verb.UPDATE, revision))
            result.append(revision)
    return in_order(result), steps


def new_revision(
    workload: JsonObject, name: str, hash_label: Mapping[str, str], number: int
) -> JsonDict:
    """Return a revision with the template that the workload has."""
    labels = metadata.metadata(facts.spec_of(workload).get("template") or {}).get("labels") or {}
    meta: JsonDict = {
        "name": name,
        "namespace": metadata.namespace(workload),
        "labels": {**labels, **hash_label},
        "ownerReferences": [owner_reference(workload)],
    }
    annotations = metadata.annotations(workload)
    if annotations:
        meta["annotations"] = annotations
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": meta,
        "data": template_patch(workload),
        "revision": number,
    }


def beyond_limit(
    history: Sequence[JsonObject], live: Iterable[str], limit: int
) -> Sequence[JsonObject]:
    """Return the oldest revisions of a history beyond the limit. Those whose names are `live` are
    kept and do not count."""
    result = set(live)
    past = [revision for revision in history if metadata.name(revision) not in result]
    return past[: max(len(past) - limit, 0)] if limit >= 0 else ()
