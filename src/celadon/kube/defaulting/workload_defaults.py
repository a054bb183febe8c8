"""Functions of the defaulting rules for jobs, autoscalers, claims and other kinds than pods."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.kube.defaulting import service_defaults
from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.defaulting.rule_paths import Apply
from celadon.kube.json_types import Json, JsonObject
from celadon.kube.quantity import QOS_RESOURCES, pod_total, qos_class, rounded_to_milli
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import APPARMOR_OF_CONTAINER, CONTAINER_LISTS, HUGE_PAGES

HPA_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
HPA_DROPPED: Final = (
    "current-metrics",
    "conditions",
    "scale-down-tolerance",
    "scale-up-tolerance",
)
DEFAULT_CPU_UTILIZATION: Final = 80
CONTROLLER_UID: Final = "batch.kubernetes.io/controller-uid"


def round_milli(amounts: Any, _: Run) -> None:
    for name, text in amounts.items():
        amounts[name] = rounded_to_milli(text)


def limit_range_item(item: Any, _: Run) -> None:
    """Fill in a limit of containers: defaults from maxima, default requests from defaults, then
    from minima."""
    if item.get("type") != "Container":
        return
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    if limits:
        item["default"] = limits
    if requests:
        item["defaultRequest"] = requests


def secret_string_data(secret: Any, _: Run) -> None:
    """`stringData` is for writing only: it becomes `data`."""
    plain = secret.pop("stringData", None)
    if plain:
        encoded = {
            key: base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
            for key, text in plain.items()
        }
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def job_selector(job: Any, run: Run) -> None:
    """The labels by which a job finds its pods, unless the user picks them.

    The template's labels may be the very map that became the job's own labels; upstream shares it,
    so what is added here shows in both.
    """
    spec, uid = job["spec"], run.context.uid
    if spec.get("manualSelector"):
        return
    name = job["metadata"].get("name", "")
    labels = spec["template"]["metadata"].setdefault("labels", {})
    for key, value in (
        ("job-name", name),
        ("batch.kubernetes.io/job-name", name),
        ("controller-uid", uid),
        (CONTROLLER_UID, uid),
    ):
        labels.setdefault(key, value)
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {}).setdefault(CONTROLLER_UID, uid)


def claim_data_sources(spec: Json, _: Run) -> None:
    """Make the two data sources of a new claim agree."""
    data_sources(spec, any_kind=False)


def data_sources(spec: Any, *, any_kind: bool) -> None:
    """`dataSource` and `dataSourceRef` say the same, where they can. Without `any_kind`, the first
    alone has only the kinds it always had."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    is_dropped = source is not None and not any_kind and not _is_classic_source(source)
    if is_dropped and reference is None:
        source = None
        del spec["dataSource"]
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}


def _is_classic_source(source: JsonObject) -> bool:
    kind = (source.get("apiGroup") or "", source.get("kind"))
    return kind in {
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    }


def request_user(spec: Any, run: Run) -> None:
    """Whoever asks is whom the certificate is for."""
    user = run.context.user
    sent = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    for key, value in sent.items():
        spec.pop(key, None)
        if value:
            spec[key] = value


def local_api_service_available(status: Any, run: Run) -> None:
    if run.root["spec"].get("service") is None:
        status["conditions"] = [
            {
                "type": "Available",
                "status": "True",
                "lastTransitionTime": run.context.now,
                "reason": "Local",
                "message": "Local APIServices are always available",
            }
        ]


def hpa_v1(autoscaler: Any, _: Run) -> None:
    """Put what the newer version has and v1 has no field for into annotations, in which it
    travels."""
    annotations = autoscaler["metadata"].get("annotations") or {}
    for name in HPA_DROPPED:
        annotations.pop(HPA_PREFIX + name, None)
    metrics = _json_annotation(annotations, "metrics", list)
    _json_annotation(annotations, "behavior", dict)
    if not annotations:
        autoscaler["metadata"].pop("annotations", None)
    if not metrics:
        autoscaler["spec"].setdefault("targetCPUUtilizationPercentage", DEFAULT_CPU_UTILIZATION)


def _json_annotation(annotations: dict[str, str], name: str, wanted: type) -> object:
    """The value of an annotation, written compactly again; dropped when it does not parse."""
    text = annotations.pop(HPA_PREFIX + name, None)
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, wanted) or not value:
        return None
    annotations[HPA_PREFIX + name] = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


# --- Pod defaults ------------------------------------------------------------
#
# Functions of the defaulting rules that are about pods.


def requests_from_limits(resources: Any, _: Run) -> None:
    """Request what is limited, if nothing else is said."""
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def pod_level_resources(spec: Any, _: Run) -> None:
    """Requests and limits of the pod as a whole, from each other and from the containers."""
    resources = spec.get("resources")
    if resources is None:
        return
    limits, requests = dict(resources.get("limits") or {}), dict(resources.get("requests") or {})
    if limits or requests:
        for name, amount in pod_total(spec, "limits").items():
            if name.startswith(HUGE_PAGES) and name not in requests:
                limits.setdefault(name, str(amount))
    if limits:
        for name, amount in pod_total(spec, "requests").items():
            if name in QOS_RESOURCES:
                requests.setdefault(name, str(amount))
        for name, text in limits.items():
            if name in QOS_RESOURCES or name.startswith(HUGE_PAGES):
                requests.setdefault(name, text)
    amounts = {"limits": limits, "requests": requests}
    spec["resources"] = {**resources, **{part: one for part, one in amounts.items() if one}}


def pod_ips(status: Any, _: Run) -> None:
    """`podIP` and `podIPs` say the same; the plural decides unless it contradicts the singular."""
    single, plural = status.get("podIP", ""), status.get("podIPs") or []
    first = plural[0].get("ip", "") if plural else ""
    if single and single != first:
        status["podIPs"] = [{"ip": single}]
    elif first:
        status["podIP"] = first


def pod_cidrs(spec: Any, _: Run) -> None:
    single, plural = spec.get("podCIDR", ""), spec.get("podCIDRs") or []
    if single and (not plural or plural[0] != single):
        spec["podCIDRs"] = [single]
    elif plural:
        spec["podCIDR"] = plural[0]


def pod_status(status: Any, run: Run) -> None:
    """A new pod is pending; nothing that a client says about its status stays but the QoS class."""
    spec = run.root["spec"]
    made: dict[str, Any] = {
        "phase": "Pending",
        "qosClass": status.get("qosClass") or qos_class(spec),
    }
    if spec.get("schedulingGates"):
        made["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastTransitionTime": run.context.now if is_since("1.31") else None,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    run.root["status"] = made


def _affinity_terms(spec: JsonObject) -> Iterator[dict[str, object]]:
    affinity = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(side) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted["podAffinityTerm"]


def _merge_keys(term: dict[str, Any], field: str, operator: str, labels: Mapping[str, str]) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for key in term.get(field) or ()
        if key in labels
    ]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


def match_label_keys(spec: Any, run: Run) -> None:
    """`matchLabelKeys` and `mismatchLabelKeys` become expressions on the values the pod has."""
    labels = run.root["metadata"].get("labels") or {}
    for term in _affinity_terms(spec):
        _merge_keys(term, "matchLabelKeys", "In", labels)
        _merge_keys(term, "mismatchLabelKeys", "NotIn", labels)
    if "MatchLabelKeysInPodTopologySpreadSelectorMerge" in run.gates:
        for constraint in spec.get("topologySpreadConstraints") or ():
            _merge_keys(constraint, "matchLabelKeys", "In", labels)


def _apparmor_profile(text: str) -> dict[str, str] | None:
    if text == "unconfined":
        return {"type": "Unconfined"}
    if text == "runtime/default":
        return {"type": "RuntimeDefault"}
    if text.startswith("localhost/") and text != "localhost/":
        return {"type": "Localhost", "localhostProfile": text.removeprefix("localhost/")}
    return None


def _apparmor_text(profile: JsonObject) -> str:
    """The value of the annotation that means the same; empty if there is none."""
    name = profile.get("localhostProfile")
    if profile.get("type") == "Localhost" and name is not None:
        return f"localhost/{name}"
    return {"Unconfined": "unconfined", "RuntimeDefault": "runtime/default"}.get(
        profile.get("type", ""), ""
    )


def _confined(spec: Any) -> Iterator[dict[str, Any]]:
    """The containers that may have a profile of AppArmor."""
    if (spec.get("os") or {}).get("name") != "windows":
        yield from (one for name in CONTAINER_LISTS for one in spec.get(name) or ())


def apparmor_to_annotations(spec: Any, run: Run) -> None:
    """Older kubelets know the annotation of a container alone, so releases before 1.34 write it
    where a field says the profile."""
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    meta = run.root["metadata"]
    for container in _confined(spec):
        key = APPARMOR_OF_CONTAINER + container.get("name", "")
        own = (container.get("securityContext") or {}).get("appArmorProfile")
        text = _apparmor_text(own or of_pod or {})
        if text and key not in (meta.get("annotations") or {}):
            meta["annotations"] = {**(meta.get("annotations") or {}), key: text}


def apparmor_from_annotations(spec: Any, run: Run) -> None:
    """The annotation of a container becomes its field, unless the pod says the same."""
    annotations = run.root["metadata"].get("annotations") or {}
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container in _confined(spec):
        text = annotations.get(APPARMOR_OF_CONTAINER + container.get("name", ""))
        context = container.get("securityContext") or {}
        if text is None or context.get("appArmorProfile"):
            continue
        profile = _apparmor_profile(text)
        if profile is not None and profile != of_pod:
            container["securityContext"] = {**context, "appArmorProfile": profile}


# --- Object functions --------------------------------------------------------
#
# The functions of the defaulting rules that work on a whole object, by their names there.


OBJECT_FUNCTIONS: Final[Mapping[str, Apply]] = {
    "appArmorFromAnnotations": apparmor_from_annotations,
    "appArmorToAnnotations": apparmor_to_annotations,
    "claimDataSources": claim_data_sources,
    "hpaV1": hpa_v1,
    "jobSelector": job_selector,
    "limitRangeItem": limit_range_item,
    "localAPIServiceAvailable": local_api_service_available,
    "matchLabelKeys": match_label_keys,
    "podCIDRs": pod_cidrs,
    "podIPs": pod_ips,
    "podLevelResources": pod_level_resources,
    "podStatus": pod_status,
    "requestUser": request_user,
    "requestsFromLimits": requests_from_limits,
    "roundMilli": round_milli,
    "secretStringData": secret_string_data,
    "serviceAllocate": service_defaults.service_allocate,
}
