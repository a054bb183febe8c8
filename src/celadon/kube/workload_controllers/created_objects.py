"""Which controller creates what: `created_objects`, for one workload the next objects of its chain.

A Deployment becomes a ReplicaSet, a ReplicaSet a Pod; a CronJob a Job, a Job a Pod; a StatefulSet
claims and, if it gets them all, a Pod. Names that
upstream makes of a hash or of the time are made by rules that always give the same: see
`template_hashes` and `SCHEDULED`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.authorization import User
from celadon.kube.json_copies import fresh
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind
from celadon.kube.well_known_values import AUTHENTICATED, SERVICE_ACCOUNT_PREFIX
from celadon.kube.workload_controllers.claims_of_templates import CLAIM, claims
from celadon.kube.workload_controllers.pods_of_templates import (
    daemon_pod,
    job_pod,
    owner_reference,
    plain_pod,
    stateful_pod,
)
from celadon.kube.workload_controllers.template_hashes import template_hash
from celadon.records import dataclass

SCHEDULED: Final = "2026-01-01T00:00:00Z"
"""The time for which a CronJob makes its Job; a fixed one, so that names stay what they are."""
SCHEDULED_MINUTES: Final = 29453760
"""The same in minutes, as names of such Jobs have it."""

TEMPLATE_HASH: Final = "pod-template-hash"
JOB_CONTROLLER: Final = "kubernetes.io/job-controller"
_DEPLOYMENT: Final = "deployment.kubernetes.io/"
_NOT_COPIED: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        *(
            f"{_DEPLOYMENT}{name}"
            for name in ("revision", "revision-history", "desired-replicas", "max-replicas")
        ),
    }
)
"""Annotations of a Deployment that its ReplicaSets do not take over."""
_LONGEST_NAME: Final = 253
_POD_TEMPLATE: Final = ("spec", "template")
_CLAIM_TEMPLATES: Final = ("spec", "volumeClaimTemplates")
_STATEFUL_SET: Final = GroupKind("apps", "StatefulSet")


@dataclass(frozen=True, slots=True)
class CreatedObject:
    """What a controller creates, and as whom. `template` is the path in the workload that stands
    for the root of the object; `count` is how many equal ones are wanted at once, as far as that is
    known."""

    value: dict[str, Any]
    user: User
    template: tuple[str | int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class _Controller:
    """`account` is its ServiceAccount in kube-system."""

    account: str
    create: Callable[[JsonObject], dict[str, Any]]
    count: Callable[[Mapping[str, Any]], int]
    template: tuple[str, ...] = _POD_TEMPLATE

    @property
    def user(self) -> User:
        """Whom the API server takes it for."""
        groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system", AUTHENTICATED)
        return User(f"{SERVICE_ACCOUNT_PREFIX}kube-system:{self.account}", groups)


def created_kinds(kind: GroupKind) -> tuple[str, ...]:
    """What becomes of a workload of a kind, one after the other; nothing of other kinds."""
    found = _CREATED.get(kind, ())
    then = (created_kinds(_BETWEEN[one]) for one in found if one in _BETWEEN)
    return (*found, *itertools.chain.from_iterable(then))


def created_objects(workload: JsonObject) -> tuple[CreatedObject, ...]:
    """What becomes of a workload as the API server has stored it, in the order in which its
    controller asks for it: the last needs all before it. Nothing of what no controller makes
    anything of, and of Jobs that somebody else manages."""
    kind = metadata.gvk(workload).group_kind
    controller = _CONTROLLERS.get(kind)
    if controller is None:
        return ()
    spec: Mapping[str, Any] = workload.get("spec") or {}
    if spec.get("managedBy") not in (None, JOB_CONTROLLER):
        return ()
    user, count = controller.user, controller.count(spec)
    made = CreatedObject(controller.create(workload), user, controller.template, count)
    if kind != _STATEFUL_SET:
        return (made,)
    before = (
        CreatedObject(one, user, (*_CLAIM_TEMPLATES, number), count)
        for number, one in enumerate(claims(workload))
    )
    return (*before, made)


def _replica_set(deployment: JsonObject) -> dict[str, Any]:
    spec = deployment.get("spec") or {}
    template: dict[str, Any] = fresh(spec.get("template") or {})
    found = template_hash(template)
    template.setdefault("metadata", {}).setdefault("labels", {})[TEMPLATE_HASH] = found
    selector: dict[str, Any] = fresh(spec.get("selector") or {})
    selector.setdefault("matchLabels", {})[TEMPLATE_HASH] = found
    replicas = _replicas(spec)
    annotations = {
        key: value
        for key, value in metadata.annotations(deployment).items()
        if key not in _NOT_COPIED
    }
    annotations[f"{_DEPLOYMENT}revision"] = "1"
    annotations[f"{_DEPLOYMENT}desired-replicas"] = str(replicas)
    annotations[f"{_DEPLOYMENT}max-replicas"] = str(replicas + _surge(spec, replicas))
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata.name(deployment)[: _LONGEST_NAME - 1 - len(found)]}-{found}",
            "namespace": metadata.namespace(deployment),
            "labels": dict(template["metadata"]["labels"]),
            "annotations": annotations,
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": spec.get("minReadySeconds") or 0,
            "selector": selector,
            "template": template,
        },
    }


def _surge(spec: Mapping[str, Any], replicas: int) -> int:
    """How many pods there may be beyond the wanted ones while the template changes."""
    strategy = spec.get("strategy") or {}
    if strategy.get("type") != "RollingUpdate":
        return 0
    wanted = (strategy.get("rollingUpdate") or {}).get("maxSurge") or 0
    if isinstance(wanted, str):
        return math.ceil(replicas * int(wanted.removesuffix("%")) / 100)
    return int(wanted)


def _job(cron_job: JsonObject) -> dict[str, Any]:
    template = (cron_job.get("spec") or {}).get("jobTemplate") or {}
    told = metadata.metadata(template)
    annotations = dict(told.get("annotations") or {})
    annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = SCHEDULED
    meta: dict[str, Any] = {
        "name": f"{metadata.name(cron_job)}-{SCHEDULED_MINUTES}",
        "namespace": metadata.namespace(cron_job),
        "annotations": annotations,
        "ownerReferences": [owner_reference(cron_job)],
    }
    if told.get("labels"):
        meta["labels"] = dict(told["labels"])
    spec = fresh(template.get("spec") or {})
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def _one(_: Mapping[str, Any]) -> int:
    return 1


def _replicas(spec: Mapping[str, Any]) -> int:
    found = spec.get("replicas")
    return found if isinstance(found, int) else 1


def _parallel(spec: Mapping[str, Any]) -> int:
    """The pods of a Job that run side by side."""
    if spec.get("suspend"):
        return 0
    found, most = spec.get("parallelism"), spec.get("completions")
    wanted = found if isinstance(found, int) else 1
    return min(wanted, most) if isinstance(most, int) else wanted


_CONTROLLERS: Final[Mapping[GroupKind, _Controller]] = {
    GroupKind("", "ReplicationController"): _Controller(
        "replication-controller", plain_pod, _replicas
    ),
    GroupKind("apps", "DaemonSet"): _Controller("daemon-set-controller", daemon_pod, _one),
    GroupKind("apps", "Deployment"): _Controller("deployment-controller", _replica_set, _one, ()),
    GroupKind("apps", "ReplicaSet"): _Controller("replicaset-controller", plain_pod, _replicas),
    _STATEFUL_SET: _Controller("statefulset-controller", stateful_pod, _replicas),
    GroupKind("batch", "CronJob"): _Controller(
        "cronjob-controller", _job, _one, ("spec", "jobTemplate")
    ),
    GroupKind("batch", "Job"): _Controller("job-controller", job_pod, _parallel),
}

_CREATED: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    **dict.fromkeys(_CONTROLLERS, ("Pod",)),
    GroupKind("apps", "Deployment"): ("ReplicaSet",),
    _STATEFUL_SET: (CLAIM, "Pod"),
    GroupKind("batch", "CronJob"): ("Job",),
}
_BETWEEN: Final[Mapping[str, GroupKind]] = {
    "Job": GroupKind("batch", "Job"),
    "ReplicaSet": GroupKind("apps", "ReplicaSet"),
}
