"""The objects that the controllers of workloads create: the Pod of a ReplicaSet, the Job of a
CronJob.

The last part names the controllers, and what each of them makes of a workload; before it stand the
pods that templates give, and the claims of a StatefulSet. As k8s.io/kubernetes `pkg/controller`;
the hashes in names are in `template_hashes`. Controllers ask the API server like anybody else, so
what they create may be refused where the workload was not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from celadon.kube import metadata, well_known_values
from celadon.kube.authorization import User
from celadon.kube.go.go_text import int_or
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh
from celadon.kube.names import GroupKind
from celadon.kube.template_hashes import safe_digits, template_hash
from celadon.records import dataclass

__all__ = [
    "CLAIM",
    "COMPLETION_INDEX",
    "DESIRED_REPLICAS",
    "FAILURE_COUNT",
    "JOB_CONTROLLER",
    "JOB_TRACKING",
    "MAX_REPLICAS",
    "NOT_COPIED",
    "POD_TEMPLATE_GENERATION",
    "REVISION",
    "REVISION_HASH",
    "REVISION_HISTORY",
    "TEMPLATE_HASH",
    "CreatedObject",
    "claim_name",
    "claims",
    "created_kinds",
    "created_objects",
    "daemon_pod",
    "first_ordinal",
    "job_pod",
    "owner_reference",
    "plain_pod",
    "replica_set_of",
    "revision_name",
    "safe_digits",
    "scheduled_job",
    "stateful_pod",
    "template_hash",
    "tolerate_node_problems",
]


# --- Claims of templates -----------------------------------------------------
#
# The PersistentVolumeClaims that a StatefulSet has for its first pod, one for each template.
#
# As k8s.io/kubernetes `pkg/controller/statefulset` (`getPersistentVolumeClaims`). They are
# created before the pod, without an owner: whose they are by
# `persistentVolumeClaimRetentionPolicy` is written into them later.

CLAIM: Final = "PersistentVolumeClaim"
"""The kind."""


def first_ordinal(stateful_set: JsonObject) -> int:
    """Return the number of the first pod."""
    start: int = ((stateful_set.get("spec") or {}).get("ordinals") or {}).get("start") or 0
    return start


def claim_name(template: JsonObject, pod: str) -> str:
    """Return the name of the claim that a pod has of a template."""
    return f"{metadata.name(template)}-{pod}"


def claims(stateful_set: JsonObject, ordinal: int) -> Iterable[JsonDict]:
    """Yield the claims of the pod with a number, in the order of their templates; upstream's order
    is none in particular."""
    spec = stateful_set.get("spec") or {}
    pod = f"{metadata.name(stateful_set)}-{ordinal}"
    chosen = (spec.get("selector") or {}).get("matchLabels") or {}
    for template in spec.get("volumeClaimTemplates") or ():
        claim: dict[str, object] = {"apiVersion": "v1", "kind": CLAIM, **fresh(template)}
        meta = claim["metadata"] = dict(metadata.metadata(claim))
        meta["name"] = claim_name(template, pod)
        meta["namespace"] = metadata.namespace(stateful_set)
        labels = {**(meta.get("labels") or {}), **chosen}
        if labels:
            meta["labels"] = labels
        yield claim


# --- Pods of templates -------------------------------------------------------
#
# The Pod that a controller makes of a template: what it adds, by the kind of the workload.
#
# As k8s.io/kubernetes `pkg/controller` (`GetPodFromTemplate`), `pkg/controller/daemon`,
# `statefulset` and `job`. Of several equal pods it is the first one. A pod of a DaemonSet is
# for a node; since nobody knows the nodes, its name is `NODE_NAME`.

NODE_NAME: Final = "node"
"""Stands for the name of the node that a pod of a DaemonSet is made for."""

REVISION_HASH: Final = "controller-revision-hash"
"""The label of pods with the hash, or the name, of the revision that they are of."""
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""The label and annotation of a Job's pod with its number."""
POD_TEMPLATE_GENERATION: Final = "pod-template-generation"
"""The label of a DaemonSet's pod that counts templates."""
FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-failure-count"
"""The annotation of a Job's pod that counts how often its index has failed."""
JOB_TRACKING: Final = "batch.kubernetes.io/job-tracking"
"""The finalizer of a Job's pod that is not counted yet."""
INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
_LONGEST_NAME: Final = 253
_LONGEST_BASE: Final = 58
"""Of names that are generated with five characters behind it."""
_LONGEST_REVISION: Final = 223
"""What is left of a name before the hash of a revision."""


def owner_reference(owner: JsonObject) -> JsonDict:
    """Return how a controller says whose object it is."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata.name(owner),
        "uid": metadata.uid(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_of(template: JsonObject, owner: JsonObject) -> JsonDict:
    """Return what all controllers do: the template with an owner and a generated name."""
    of_template = metadata.metadata(template)
    name = metadata.name(owner)
    meta: dict[str, object] = {
        "generateName": f"{name}-" if len(name) < _LONGEST_NAME else name,
        "namespace": metadata.namespace(owner),
        "ownerReferences": [owner_reference(owner)],
    }
    for field in ("labels", "annotations", "finalizers"):
        if of_template.get(field):
            meta[field] = fresh(of_template[field])
    spec = fresh(template.get("spec") or {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def plain_pod(owner: JsonObject) -> dict[str, Json]:
    """Return the pod of a ReplicaSet or a ReplicationController."""
    return pod_of(_template(owner), owner)


def daemon_pod(owner: JsonObject, node: str = NODE_NAME, revision: str = "") -> JsonDict:
    """Return the pod of a DaemonSet for a node: it tolerates what is wrong with a node, and goes to
    this one only. The hash of its template is the `revision`, unless there is another one
    already."""
    template = _template(owner)
    pod = pod_of(template, owner)
    labels, spec = pod["metadata"].setdefault("labels", {}), pod["spec"]
    generation = metadata.annotations(owner).get(well_known_values.TEMPLATE_GENERATION)
    if generation:
        labels[POD_TEMPLATE_GENERATION] = generation
    labels[REVISION_HASH] = revision or template_hash(template)
    tolerate_node_problems(spec)
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    affinity = _member(_member(spec, "affinity"), "nodeAffinity")
    _member(affinity, "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"] = terms
    return pod


def tolerate_node_problems(spec: JsonDict) -> None:
    """Add the tolerations that all pods of DaemonSets have to the spec of one (k8s.io/kubernetes
    `pkg/controller/daemon/util/daemonset_util.go`, `AddOrUpdateDaemonPodTolerations`)."""
    _tolerate(spec, "not-ready", "NoExecute")
    _tolerate(spec, "unreachable", "NoExecute")
    for pressure in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"):
        _tolerate(spec, pressure, "NoSchedule")
    if spec.get("hostNetwork"):
        _tolerate(spec, "network-unavailable", "NoSchedule")


def _member(parent: dict[str, Json], field: str) -> JsonDict:
    """Return what is there, or a new object in its place."""
    member = parent.get(field)
    if not isinstance(member, dict):
        member = parent[field] = {}
    return member


def _tolerate(spec: JsonDict, condition: str, effect: str) -> None:
    """Tolerate a condition. A toleration that says the same but for its seconds is replaced where
    it stands."""
    toleration = {"key": f"node.kubernetes.io/{condition}", "operator": "Exists", "effect": effect}
    existing = spec.get("tolerations") or ()
    tolerations = [toleration if _is_like(other, toleration) else other for other in existing]
    spec["tolerations"] = tolerations if toleration in tolerations else [*tolerations, toleration]


def _is_like(toleration: JsonObject, other: JsonObject) -> bool:
    fields = ("key", "effect", "operator", "value")
    return all(toleration.get(field, "") == other.get(field, "") for field in fields)


def first_stateful_pod(owner: JsonObject) -> JsonDict:
    """Return the first pod of a StatefulSet that has no revisions yet."""
    revision = revision_name(owner, template_hash(_template(owner)))
    return stateful_pod(owner, first_ordinal(owner), revision)


def revision_name(owner: JsonObject, digest: str) -> str:
    """Return the name of the ControllerRevision with a hash, which pods of a StatefulSet have in a
    label."""
    return f"{metadata.name(owner)[:_LONGEST_REVISION]}-{digest}"


def stateful_pod(owner: JsonObject, ordinal: int, revision: str) -> JsonDict:
    """Return the pod with a number: it has a name, a host name, and claims of its own."""
    spec = owner.get("spec") or {}
    template, name = _template(owner), metadata.name(owner)
    pod = pod_of(template, owner)
    pod_name = f"{name}-{ordinal}"
    pod["metadata"]["name"] = pod_name
    pod["metadata"].setdefault("labels", {}).update(
        {
            "statefulset.kubernetes.io/pod-name": pod_name,
            "apps.kubernetes.io/pod-index": str(ordinal),
            REVISION_HASH: revision,
        }
    )
    pod["spec"]["hostname"] = pod_name
    if spec.get("serviceName"):
        pod["spec"]["subdomain"] = spec["serviceName"]
    claims = {
        metadata.name(volume_claim_template): claim_name(volume_claim_template, pod_name)
        for volume_claim_template in spec.get("volumeClaimTemplates") or ()
    }
    volumes: list[dict[str, object]] = [
        {"name": name, "persistentVolumeClaim": {"claimName": claim}}
        for name, claim in claims.items()
    ]
    others = (
        volume for volume in pod["spec"].get("volumes") or () if volume.get("name") not in claims
    )
    volumes += others
    if volumes:
        pod["spec"]["volumes"] = volumes
    return pod


def job_pod(
    owner: JsonObject, index: int = 0, failures: Mapping[str, str] | None = None
) -> JsonDict:
    """Return the pod of a Job: it is counted once it has ended, and may have an index. The
    annotations that count `failures` of the index are those of a first pod, unless there are
    others."""
    spec, name = owner.get("spec") or {}, metadata.name(owner)
    pod = pod_of(_template(owner), owner)
    meta = pod["metadata"]
    if JOB_TRACKING not in meta.get("finalizers", ()):
        meta["finalizers"] = [*meta.get("finalizers", ()), JOB_TRACKING]
    if spec.get("completionMode") != "Indexed":
        return pod
    for field in ("initContainers", "containers"):
        for container in pod["spec"].get(field) or ():
            _tell_index(container)
    end = f"-{index}-"
    meta["generateName"] = f"{name[: _LONGEST_BASE - len(end)]}{end}"
    meta.setdefault("annotations", {})[COMPLETION_INDEX] = str(index)
    meta.setdefault("labels", {})[COMPLETION_INDEX] = str(index)
    pod["spec"]["hostname"] = f"{name}-{index}"
    if spec.get("backoffLimitPerIndex") is not None:
        meta["annotations"] |= {FAILURE_COUNT: "0"} if failures is None else failures
    return pod


def _tell_index(container: JsonDict) -> None:
    variables = container.get("env") or []
    if any(variable.get("name") == INDEX_VARIABLE for variable in variables):
        return
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    container["env"] = [*variables, {"name": INDEX_VARIABLE, "valueFrom": source}]


def _template(owner: JsonObject) -> JsonObject:
    template: JsonObject = (owner.get("spec") or {}).get("template") or {}
    return template


# --- Created objects ---------------------------------------------------------
#
# Which controller creates what: `created_objects`, for one workload the next objects of its
# chain.
#
# A Deployment becomes a ReplicaSet, a ReplicaSet a Pod; a CronJob a Job, a Job a Pod; a
# StatefulSet claims and, if it gets them all, a Pod. Names that upstream makes of a hash or of
# the time are made by rules that always give the same: see the hashes of templates and `SCHEDULED`.

SCHEDULED: Final = "2026-01-01T00:00:00Z"
"""The time for which a CronJob makes its Job; a fixed one, so that names stay what they are."""
SCHEDULED_MINUTES: Final = 29453760
"""The same in minutes, as names of such Jobs have it."""

TEMPLATE_HASH: Final = "pod-template-hash"
"""The label by which the pods of a Deployment's ReplicaSets differ."""
JOB_CONTROLLER: Final = "kubernetes.io/job-controller"
"""Who manages a Job unless it names somebody else."""
_DEPLOYMENT: Final = "deployment.kubernetes.io/"
REVISION: Final = f"{_DEPLOYMENT}revision"
"""The annotation that says which of a Deployment's ReplicaSets this is."""
REVISION_HISTORY: Final = f"{_DEPLOYMENT}revision-history"
"""The annotation with those it has been before, with commas."""
DESIRED_REPLICAS: Final = f"{_DEPLOYMENT}desired-replicas"
"""The annotation with the size that the Deployment had when this was scaled."""
MAX_REPLICAS: Final = f"{_DEPLOYMENT}max-replicas"
"""The annotation with the pods that the Deployment could have then."""
NOT_COPIED: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        REVISION,
        REVISION_HISTORY,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
    }
)
"""Annotations of a Deployment that its ReplicaSets do not take over."""
_CLAIM_TEMPLATES: Final = ("spec", "volumeClaimTemplates")
_STATEFUL_SET: Final = GroupKind("apps", "StatefulSet")


@dataclass(frozen=True, slots=True)
class CreatedObject:
    """Holds what a controller creates, and as whom. `template` is the path in the workload that
    stands for the root of the object; `count` is how many equal ones are wanted at once, as far as
    that is known."""

    value: JsonDict
    user: User
    template: tuple[str | int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class _Controller:
    """Describes a controller that makes objects of a kind. `account` is its ServiceAccount in
    kube-system. `template` is the path of what it makes an object of; None: of the template of a
    pod."""

    account: str
    create: Callable[[JsonObject], JsonDict]
    count: Callable[[JsonObject], int]
    template: tuple[str, ...] | None = None

    @property
    def user(self) -> User:
        """Return the user as whom the API server sees the controller."""
        groups = (
            "system:serviceaccounts",
            "system:serviceaccounts:kube-system",
            well_known_values.AUTHENTICATED,
        )
        return User(f"{well_known_values.SERVICE_ACCOUNT_PREFIX}kube-system:{self.account}", groups)


def created_kinds(kind: GroupKind) -> tuple[str, ...]:
    """Return what becomes of a workload of a kind, one after the other; nothing of other kinds."""
    kinds = _CREATED.get(kind, ())
    further = (created_kinds(_BETWEEN[kind]) for kind in kinds if kind in _BETWEEN)
    return (*kinds, *itertools.chain.from_iterable(further))


def created_objects(workload: JsonObject) -> tuple[CreatedObject, ...]:
    """Return what becomes of a workload as the API server has stored it, in the order in which its
    controller asks for it: the last needs all before it. Nothing of what no controller makes
    anything of, and of Jobs that somebody else manages."""
    kind = metadata.gvk(workload).group_kind
    controller = _CONTROLLERS.get(kind)
    if controller is None:
        return ()
    spec: JsonObject = workload.get("spec") or {}
    if spec.get("managedBy") not in (None, JOB_CONTROLLER):
        return ()
    user, count = controller.user, controller.count(spec)
    template = (
        well_known_values.POD_TEMPLATES[kind]
        if controller.template is None
        else controller.template
    )
    created = CreatedObject(controller.create(workload), user, template, count)
    if kind != _STATEFUL_SET:
        return (created,)
    claims_before = (
        CreatedObject(claim, user, (*_CLAIM_TEMPLATES, number), count)
        for number, claim in enumerate(claims(workload, first_ordinal(workload)))
    )
    return (*claims_before, created)


def _replica_set(deployment: JsonObject) -> JsonDict:
    """Return the first ReplicaSet of a Deployment."""
    spec = deployment.get("spec") or {}
    replicas = _replicas(spec)
    annotations = {
        key: value
        for key, value in metadata.annotations(deployment).items()
        if key not in NOT_COPIED
    }
    annotations[REVISION] = "1"
    annotations[DESIRED_REPLICAS] = str(replicas)
    annotations[MAX_REPLICAS] = str(replicas + _surge(spec, replicas))
    return replica_set_of(deployment, replicas, annotations)


def replica_set_of(
    deployment: JsonObject, replicas: int, annotations: Mapping[str, str]
) -> JsonDict:
    """Return a ReplicaSet with the template that the Deployment has now."""
    spec = deployment.get("spec") or {}
    template: JsonDict = fresh(spec.get("template") or {})
    collisions = (deployment.get("status") or {}).get("collisionCount")
    digits = template_hash(template, collisions)
    template.setdefault("metadata", {}).setdefault("labels", {})[TEMPLATE_HASH] = digits
    selector: JsonDict = fresh(spec.get("selector") or {})
    selector.setdefault("matchLabels", {})[TEMPLATE_HASH] = digits
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata.name(deployment)[: _LONGEST_NAME - 1 - len(digits)]}-{digits}",
            "namespace": metadata.namespace(deployment),
            "labels": dict(template["metadata"]["labels"]),
            "annotations": dict(annotations),
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": spec.get("minReadySeconds") or 0,
            "selector": selector,
            "template": template,
        },
    }


def _surge(spec: JsonObject, replicas: int) -> int:
    """Return how many pods there may be beyond the wanted ones while the template changes."""
    strategy = spec.get("strategy") or {}
    if strategy.get("type") != "RollingUpdate":
        return 0
    surge = (strategy.get("rollingUpdate") or {}).get("maxSurge") or 0
    if isinstance(surge, str):
        return -(-replicas * int_or(surge.removesuffix("%"), 0) // 100)
    return int(surge)


def _job(cron_job: JsonObject) -> JsonDict:
    name = f"{metadata.name(cron_job)}-{SCHEDULED_MINUTES}"
    return scheduled_job(cron_job, name, SCHEDULED)


def scheduled_job(cron_job: JsonObject, name: str, scheduled: str) -> JsonDict:
    """Return the Job of a CronJob for a time."""
    template = (cron_job.get("spec") or {}).get("jobTemplate") or {}
    of_template = metadata.metadata(template)
    annotations = dict(of_template.get("annotations") or {})
    annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = scheduled
    meta: JsonDict = {
        "name": name,
        "namespace": metadata.namespace(cron_job),
        "annotations": annotations,
        "ownerReferences": [owner_reference(cron_job)],
    }
    if of_template.get("labels"):
        meta["labels"] = dict(of_template["labels"])
    spec = fresh(template.get("spec") or {})
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def _one(_: JsonObject) -> int:
    return 1


def _replicas(spec: JsonObject) -> int:
    replicas = spec.get("replicas")
    return replicas if isinstance(replicas, int) else 1


def _parallel(spec: JsonObject) -> int:
    """Count the pods of a Job that run side by side."""
    if spec.get("suspend"):
        return 0
    value, completions = spec.get("parallelism"), spec.get("completions")
    parallelism = value if isinstance(value, int) else 1
    return min(parallelism, completions) if isinstance(completions, int) else parallelism


_CONTROLLERS: Final[Mapping[GroupKind, _Controller]] = {
    GroupKind("", "ReplicationController"): _Controller(
        "replication-controller", plain_pod, _replicas
    ),
    GroupKind("apps", "DaemonSet"): _Controller("daemon-set-controller", daemon_pod, _one),
    GroupKind("apps", "Deployment"): _Controller("deployment-controller", _replica_set, _one, ()),
    GroupKind("apps", "ReplicaSet"): _Controller("replicaset-controller", plain_pod, _replicas),
    _STATEFUL_SET: _Controller("statefulset-controller", first_stateful_pod, _replicas),
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
