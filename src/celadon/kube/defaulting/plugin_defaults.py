"""Fills in what the mutating admission plugins set: LimitRanger, ServiceAccount, Priority,
DefaultTolerationSeconds, TaintNodesByCondition, RuntimeClass, PodTopologyLabels,
DefaultStorageClass and DefaultIngressClass.

What the same plugins refuse stands in `celadon.admission.plugins`, since it needs the request;
these functions need none, so that manifests without one are filled in, too. Each is a function on
an object; the rules say for which kinds it runs (`defaulting_rules`, and phase `plugins` of the
data pack). What a plugin would look up in the cluster comes from the context; a plugin that finds
nothing there does what it does in an empty cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.kube import metadata, well_known_values
from celadon.kube.defaulting.defaulting_context import Apply, DefaultingContext, Run
from celadon.kube.defaulting.field_functions import FieldFunction, Rule, merged
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionResource
from celadon.kube.resources.api_resources import DEFAULT_NAMESPACE, Lookups

LIMIT_RANGES: Final = GroupVersionResource("", "v1", "limitranges")
"""Also looked at by those who refuse what exceeds them."""
PRIORITY_CLASSES: Final = GroupVersionResource("scheduling.k8s.io", "v1", "priorityclasses")
"""Names for numbers: which pods go first."""
RUNTIME_CLASSES: Final = GroupVersionResource("node.k8s.io", "v1", "runtimeclasses")
"""Kinds of container runtimes, and what they cost and need."""
STORAGE_CLASSES: Final = GroupVersionResource("storage.k8s.io", "v1", "storageclasses")
"""Kinds of storage that claims ask for."""
INGRESS_CLASSES: Final = GroupVersionResource("networking.k8s.io", "v1", "ingressclasses")
LOOKED_UP: Final = frozenset(
    {
        LIMIT_RANGES,
        well_known_values.SERVICE_ACCOUNTS,
        well_known_values.NODES,
        PRIORITY_CLASSES,
        RUNTIME_CLASSES,
        STORAGE_CLASSES,
        INGRESS_CLASSES,
    }
)
"""The resources whose objects the plugins look at."""

LIMIT_RANGER_ANNOTATION: Final = "kubernetes.io/limit-ranger"
TOKEN_MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN_VOLUME_PREFIX: Final = "kube-api-access-"
TOKEN_SECONDS: Final = 3607
TOLERATION_SECONDS: Final = 300
TOPOLOGY_LABELS: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
"""Labels of a node that its pods take over."""


def limit_ranger(pod: Any, run: Run) -> None:
    """Containers that say nothing about a resource get what the namespace's LimitRanges say."""
    for limit_range in run.context.cluster.list(LIMIT_RANGES, _namespace(run)):
        limits, requests = _container_defaults(limit_range)
        notes = []
        for field, word in (("containers", "container"), ("initContainers", "init container")):
            for container in pod["spec"].get(field) or ():
                name = container.get("name", "")
                for part, amounts in (("requests", requests), ("limits", limits)):
                    added = _fill_resources(container, part, amounts)
                    if added:
                        subject = f"{', '.join(added)} {part.removesuffix('s')}"
                        notes.append(f"{subject} for {word} {name}")
        if notes:
            annotations = pod["metadata"].setdefault("annotations", {})
            annotations[LIMIT_RANGER_ANNOTATION] = f"LimitRanger plugin set: {'; '.join(notes)}"


def _container_defaults(limit_range: JsonObject) -> tuple[dict[str, str], dict[str, str]]:
    limits: dict[str, str] = {}
    requests: dict[str, str] = {}
    for limit in limit_range.get("spec", {}).get("limits") or ():
        if limit.get("type") == "Container":
            limits.update(limit.get("default") or {})
            requests.update(limit.get("defaultRequest") or {})
    return limits, requests


def _fill_resources(container: Any, part: str, amounts: Mapping[str, str]) -> list[str]:
    resources = container.setdefault("resources", {})
    have = resources.get(part) or {}
    missing = {name: amount for name, amount in amounts.items() if name not in have}
    if missing:
        resources[part] = {**have, **missing}
    return sorted(missing)


def _namespace(run: Run) -> str:
    return metadata.namespace(run.root) or DEFAULT_NAMESPACE


def _cluster_wide(run: Run, resource: GroupVersionResource, name: str | None) -> JsonObject | None:
    return run.context.cluster.get(resource, "", name) if name else None


def _newest(objects: Iterable[JsonObject]) -> JsonObject | None:
    """Return the newest object; the first by name among those of the same time."""
    ordered = sorted(objects, key=metadata.name)
    return max(ordered, key=metadata.creation_timestamp, default=None)


def service_account_admission(spec: Any, run: Run) -> None:
    """Set the account `default`, its image pull secrets, and a token in every container."""
    if well_known_values.MIRROR_POD in (run.root["metadata"].get("annotations") or {}):
        return
    name = spec.get("serviceAccountName") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    account = (
        run.context.cluster.get(well_known_values.SERVICE_ACCOUNTS, _namespace(run), name) or {}
    )
    automount = spec.get("automountServiceAccountToken")
    if automount is None:
        automount = account.get("automountServiceAccountToken")
    if automount is not False:
        _mount_token(spec, run.context)
    secrets = account.get("imagePullSecrets")
    if secrets and not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [dict(secret) for secret in secrets]


def _mount_token(spec: Any, context: DefaultingContext) -> None:
    volumes = spec.get("volumes") or []
    names = [volume.get("name", "") for volume in volumes]
    existing = next((name for name in names if name.startswith(TOKEN_VOLUME_PREFIX)), None)
    name = existing or TOKEN_VOLUME_PREFIX + context.suffix
    mounted = False
    for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
        mounts = container.get("volumeMounts") or []
        if any(mount.get("mountPath") == TOKEN_MOUNT_PATH for mount in mounts):
            continue
        mount = {"name": name, "readOnly": True, "mountPath": TOKEN_MOUNT_PATH}
        container["volumeMounts"] = [*mounts, mount]
        mounted = True
    if mounted and existing is None:
        spec["volumes"] = [*volumes, _token_volume(name, context.extra_token_sources)]


def _token_volume(name: str, extra: Sequence[JsonObject]) -> dict[str, object]:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {
            "configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }
        },
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
        *(copy.deepcopy(source) for source in extra),
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}


def append_not_ready_taint(spec: Any, key: str, _: Run, __: Rule) -> None:
    """Taint a new Node until its controller says that it is ready (TaintNodesByCondition)."""
    taints = spec.get(key) or []
    if not any(
        taint.get("key") == well_known_values.NOT_READY and taint.get("effect") == "NoSchedule"
        for taint in taints
    ):
        spec[key] = [*taints, {"key": well_known_values.NOT_READY, "effect": "NoSchedule"}]


def default_toleration_seconds(spec: Any, field: str, _: Run, __: Rule) -> None:
    """Pods tolerate a node that is not ready or unreachable for 300 seconds
    (DefaultTolerationSeconds)."""
    tolerations = spec.get(field) or []
    missing = [
        {
            "key": key,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": TOLERATION_SECONDS,
        }
        for key in (well_known_values.NOT_READY, well_known_values.UNREACHABLE)
        if not any(_tolerates(toleration, key) for toleration in tolerations)
    ]
    if missing:
        spec[field] = [*tolerations, *missing]


def _tolerates(toleration: JsonObject, key: str) -> bool:
    keys, effects = {"", key}, {"", "NoExecute"}
    return toleration.get("key", "") in keys and toleration.get("effect", "") in effects


def priority(spec: Any, run: Run) -> None:
    """Set the number that a priority class stands for. Unknown classes are left alone."""
    name = spec.get("priorityClassName")
    if name in well_known_values.SYSTEM_PRIORITIES:
        spec["priority"] = well_known_values.SYSTEM_PRIORITIES[name]
        return
    if name:
        chosen = _cluster_wide(run, PRIORITY_CLASSES, name)
    else:
        chosen = default_priority_class(run.context.cluster)
    if chosen is not None:
        spec["priorityClassName"] = metadata.name(chosen)
        spec["priority"] = chosen.get("value", 0)
        spec["preemptionPolicy"] = chosen.get("preemptionPolicy") or "PreemptLowerPriority"


def group_priority(spec: Any, run: Run) -> None:
    """Set the priority of a group of pods, while it has one of its own: 0 without any class."""
    if well_known_values.WORKLOAD_PREEMPTION in run.gates:
        spec.setdefault("priority", 0)
        priority(spec, run)
        spec.pop("preemptionPolicy", None)


def default_priority_class(cluster: Lookups) -> JsonObject | None:
    """Return the class of pods that name none; if there are several, that of the lowest value."""
    defaults = [
        priority_class
        for priority_class in cluster.list(PRIORITY_CLASSES, "")
        if priority_class.get("globalDefault")
    ]
    return min(defaults, key=lambda value: int(value.get("value", 0)), default=None)


def runtime_class(spec: Any, run: Run) -> None:
    """Overhead, node selector and tolerations of the pod's runtime class."""
    chosen = _cluster_wide(run, RUNTIME_CLASSES, spec.get("runtimeClassName"))
    if chosen is None:
        return
    overhead = (chosen.get("overhead") or {}).get("podFixed")
    if overhead:
        spec["overhead"] = dict(overhead)
    scheduling = chosen.get("scheduling")
    if scheduling is None:
        return
    if scheduling.get("nodeSelector"):
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **scheduling["nodeSelector"]}
    both = (*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ()))
    if both:
        spec["tolerations"] = merged(both)


def pod_topology_labels(pod: Any, run: Run) -> None:
    """Take over the zone and region of the node that a pod is created on."""
    node = _cluster_wide(run, well_known_values.NODES, pod["spec"].get("nodeName"))
    labels = metadata.labels(node)
    copied = {key: labels[key] for key in TOPOLOGY_LABELS if key in labels}
    if copied:
        pod["metadata"]["labels"] = {**(pod["metadata"].get("labels") or {}), **copied}


def default_storage_class(claim: Any, run: Run) -> None:
    """Give a claim without a class the newest default one (DefaultStorageClass)."""
    if claim["spec"].get("storageClassName") is not None:
        return
    if well_known_values.STORAGE_CLASS in metadata.annotations(claim):
        return
    chosen = _newest(
        storage_class
        for storage_class in run.context.cluster.list(STORAGE_CLASSES, "")
        if any(
            metadata.annotations(storage_class).get(key) == "true"
            for key in well_known_values.DEFAULT_STORAGE_CLASS
        )
    )
    if chosen is not None:
        claim["spec"]["storageClassName"] = metadata.name(chosen)


def default_ingress_class(ingress: Any, run: Run) -> None:
    """Give an Ingress without a class the default one (DefaultIngressClass)."""
    if ingress["spec"].get("ingressClassName") is not None:
        return
    if well_known_values.INGRESS_CLASS in metadata.annotations(ingress):
        return
    chosen = _newest(
        ingress_class
        for ingress_class in run.context.cluster.list(INGRESS_CLASSES, "")
        if metadata.annotations(ingress_class).get(well_known_values.DEFAULT_INGRESS_CLASS)
        == "true"
    )
    if chosen is not None:
        ingress["spec"]["ingressClassName"] = metadata.name(chosen)


PLUGIN_FIELD_FUNCTIONS: Final[Mapping[str, FieldFunction]] = {
    "appendNotReadyTaint": append_not_ready_taint,
    "defaultTolerationSeconds": default_toleration_seconds,
}

PLUGIN_FUNCTIONS: Final[Mapping[str, Apply]] = {
    "defaultIngressClass": default_ingress_class,
    "defaultStorageClass": default_storage_class,
    "groupPriority": group_priority,
    "limitRanger": limit_ranger,
    "podTopologyLabels": pod_topology_labels,
    "priority": priority,
    "runtimeClass": runtime_class,
    "serviceAccountAdmission": service_account_admission,
}
