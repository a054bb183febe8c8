"""The Pod that a controller makes of a template: what it adds, by the kind of the workload.

As k8s.io/kubernetes `pkg/controller` (`GetPodFromTemplate`), `pkg/controller/daemon`, `statefulset`
and `job`. Of several equal pods it is the first one. A pod of a DaemonSet is for a node; since
nobody knows the nodes, its name is `NODE_NAME`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.json_copies import fresh
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import TEMPLATE_GENERATION
from celadon.kube.workload_controllers.claims_of_templates import claim_name, first_ordinal
from celadon.kube.workload_controllers.template_hashes import template_hash

NODE_NAME: Final = "node"
"""Stands for the name of the node that a pod of a DaemonSet is made for."""

REVISION_HASH: Final = "controller-revision-hash"
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-failure-count"
JOB_TRACKING: Final = "batch.kubernetes.io/job-tracking"
INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
_LONGEST_NAME: Final = 253
_LONGEST_BASE: Final = 58
"""Of names that are generated with five characters behind it."""
_LONGEST_REVISION: Final = 223
"""What is left of a name before the hash of a revision."""


def owner_reference(owner: JsonObject) -> dict[str, Any]:
    """How a controller says whose object it is."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata.name(owner),
        "uid": metadata.uid(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_of(template: JsonObject, owner: JsonObject) -> dict[str, Any]:
    """What all controllers do: the template with an owner and a generated name."""
    told = metadata.metadata(template)
    name = metadata.name(owner)
    meta: dict[str, Any] = {
        "generateName": f"{name}-" if len(name) < _LONGEST_NAME else name,
        "namespace": metadata.namespace(owner),
        "ownerReferences": [owner_reference(owner)],
    }
    for field in ("labels", "annotations", "finalizers"):
        if told.get(field):
            meta[field] = fresh(told[field])
    spec = fresh(template.get("spec") or {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def plain_pod(owner: JsonObject) -> dict[str, Any]:
    """Of a ReplicaSet or a ReplicationController."""
    return pod_of(_template(owner), owner)


def daemon_pod(owner: JsonObject) -> dict[str, Any]:
    """Of a DaemonSet: it tolerates what is wrong with a node, and goes to this one only."""
    template = _template(owner)
    pod = pod_of(template, owner)
    labels, spec = pod["metadata"].setdefault("labels", {}), pod["spec"]
    generation = metadata.annotations(owner).get(TEMPLATE_GENERATION)
    if generation:
        labels["pod-template-generation"] = generation
    labels[REVISION_HASH] = template_hash(template)
    _tolerate(spec, "not-ready", "NoExecute")
    _tolerate(spec, "unreachable", "NoExecute")
    for pressure in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"):
        _tolerate(spec, pressure, "NoSchedule")
    if spec.get("hostNetwork"):
        _tolerate(spec, "network-unavailable", "NoSchedule")
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [NODE_NAME]}]}]
    wanted = _member(_member(spec, "affinity"), "nodeAffinity")
    _member(wanted, "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"] = terms
    return pod


def _member(parent: dict[str, Any], field: str) -> dict[str, Any]:
    """What is there, or a new object in its place."""
    found = parent.get(field)
    if not isinstance(found, dict):
        found = parent[field] = {}
    return found


def _tolerate(spec: dict[str, Any], condition: str, effect: str) -> None:
    """A toleration that says the same but for its seconds is replaced where it stands."""
    wanted = {"key": f"node.kubernetes.io/{condition}", "operator": "Exists", "effect": effect}
    given = spec.get("tolerations") or ()
    found = [wanted if _is_like(one, wanted) else one for one in given]
    spec["tolerations"] = found if wanted in found else [*found, wanted]


def _is_like(one: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    fields = ("key", "effect", "operator", "value")
    return all(one.get(field, "") == wanted.get(field, "") for field in fields)


def stateful_pod(owner: JsonObject) -> dict[str, Any]:
    """The first of a StatefulSet: it has a name, a host name, and claims of its own."""
    spec = owner.get("spec") or {}
    template, name = _template(owner), metadata.name(owner)
    ordinal = first_ordinal(owner)
    pod = pod_of(template, owner)
    own = f"{name}-{ordinal}"
    pod["metadata"]["name"] = own
    pod["metadata"].setdefault("labels", {}).update(
        {
            "statefulset.kubernetes.io/pod-name": own,
            "apps.kubernetes.io/pod-index": str(ordinal),
            REVISION_HASH: f"{name[:_LONGEST_REVISION]}-{template_hash(template)}",
        }
    )
    pod["spec"]["hostname"] = own
    if spec.get("serviceName"):
        pod["spec"]["subdomain"] = spec["serviceName"]
    claims = {
        metadata.name(one): claim_name(one, own) for one in spec.get("volumeClaimTemplates") or ()
    }
    volumes: list[dict[str, Any]] = [
        {"name": name, "persistentVolumeClaim": {"claimName": claim}}
        for name, claim in claims.items()
    ]
    others = (one for one in pod["spec"].get("volumes") or () if one.get("name") not in claims)
    volumes += others
    if volumes:
        pod["spec"]["volumes"] = volumes
    return pod


def job_pod(owner: JsonObject) -> dict[str, Any]:
    """The first of a Job: it is counted once it has ended, and may have an index."""
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
    meta["generateName"] = f"{name[: _LONGEST_BASE - len('-0-')]}-0-"
    meta.setdefault("annotations", {})[COMPLETION_INDEX] = "0"
    meta.setdefault("labels", {})[COMPLETION_INDEX] = "0"
    pod["spec"]["hostname"] = f"{name}-0"
    if spec.get("backoffLimitPerIndex") is not None:
        meta["annotations"][FAILURE_COUNT] = "0"
    return pod


def _tell_index(container: dict[str, Any]) -> None:
    variables = container.get("env") or []
    if any(one.get("name") == INDEX_VARIABLE for one in variables):
        return
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    container["env"] = [*variables, {"name": INDEX_VARIABLE, "valueFrom": source}]


def _template(owner: JsonObject) -> JsonObject:
    found: JsonObject = (owner.get("spec") or {}).get("template") or {}
    return found
