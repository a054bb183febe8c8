"""What an API server remarks about whatever makes pods from a template.

Of a changed object the template is looked at again only if the object has a new generation. As the
`strategy.go` of each kind in k8s.io/kubernetes `pkg/registry/{apps,batch,core}`, and
`pkg/api/job/warnings.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import metadata, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.warnings.fractional_bytes import claim_spec_warnings
from celadon.kube.warnings.pod_warnings import template_warnings

MANY_COMPLETIONS: Final = 100_000
MUCH_PARALLELISM: Final = 10_000

_SPEC: Final = FieldPath("spec")
_JOB_SPEC: Final = FieldPath("spec", "jobTemplate", "spec")
_TOO_MANY: Final = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
    "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
)
_CLAIMS: Final = _SPEC.child("volumeClaimTemplates")


def _is_new(obj: JsonObject, old: JsonObject | None) -> bool:
    return old is None or metadata.generation(obj) != metadata.generation(old)


def _pod_names(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    why = [] if old is not None else name_rules.dns1123_label(metadata.name(obj))
    if why:
        yield (
            "metadata.name: this is used in Pod names and hostnames, which can result in "
            f"surprising behavior; a DNS label is recommended: [{' '.join(why)}]"
        )


def _spec(obj: JsonObject) -> JsonObject:
    found: JsonObject = obj.get("spec") or {}
    return found


def controller_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a Deployment, ReplicaSet or ReplicationController."""
    yield from _pod_names(obj, old)
    yield from daemon_set_warnings(obj, old)


def daemon_set_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a DaemonSet: just its template."""
    if _is_new(obj, old):
        yield from template_warnings(_spec(obj).get("template"), _SPEC.child("template"))


def stateful_set_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """The claims of a changed one are looked at whatever changed, and their path is upstream's."""
    yield from daemon_set_warnings(obj, old)
    for index, claim in enumerate(_spec(obj).get("volumeClaimTemplates") or ()):
        at = _CLAIMS.index(index)
        where = at if old is None else at.child("Spec")
        yield from claim_spec_warnings(claim.get("spec") or {}, where)
    limit = _spec(obj).get("revisionHistoryLimit")
    if limit is not None and limit < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value "
            ">= 0 is recommended"
        )


def job_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Of a Job."""
    yield from _pod_names(obj, old)
    if _is_new(obj, old):
        yield from _job_spec(_spec(obj), _SPEC)


def cron_job_warnings(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """A time zone in the schedule of a new one is refused; that of an old one is put up with."""
    yield from _pod_names(obj, old)
    if _is_new(obj, old):
        yield from _job_spec((_spec(obj).get("jobTemplate") or {}).get("spec") or {}, _JOB_SPEC)
    if old is not None and "TZ" in (_spec(obj).get("schedule") or ""):
        yield (
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )


def _job_spec(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    many = (spec.get("completions") or 0) > MANY_COMPLETIONS
    much = (spec.get("parallelism") or 0) > MUCH_PARALLELISM
    if spec.get("completionMode") == "Indexed" and many and much:
        yield f"{path}: {_TOO_MANY}"
    yield from template_warnings(spec.get("template"), path.child("template"))


def pod_template_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a PodTemplate."""
    yield from template_warnings(obj.get("template"), FieldPath("template"))
