"""Functions of the defaulting rules that are about pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.quantities.qos_classes import QOS_RESOURCES, qos_class
from celadon.kube.quantities.resource_amounts import pod_total
from celadon.kube.well_known_values import APPARMOR_OF_CONTAINER, CONTAINER_LISTS, HUGE_PAGES


def requests_from_limits(resources: Any, _: Run) -> None:
    """What is limited is requested, if nothing else is said."""
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
                "lastTransitionTime": run.context.now,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    run.root["status"] = made


def _affinity_terms(spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
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


def apparmor_from_annotations(spec: Any, run: Run) -> None:
    annotations = run.root["metadata"].get("annotations") or {}
    if (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container in (one for name in CONTAINER_LISTS for one in spec.get(name) or ()):
        text = annotations.get(APPARMOR_OF_CONTAINER + container.get("name", ""))
        context = container.get("securityContext") or {}
        if text is None or context.get("appArmorProfile"):
            continue
        profile = _apparmor_profile(text)
        if profile is not None and profile != of_pod:
            container["securityContext"] = {**context, "appArmorProfile": profile}
