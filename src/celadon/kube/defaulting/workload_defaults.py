"""Functions of the defaulting rules for jobs, autoscalers, claims and other kinds than pods."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.quantities.resource_amounts import rounded_to_milli

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
    """Of containers: defaults from maxima, default requests from defaults, then from minima."""
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


def claim_data_sources(spec: Any, _: Run) -> None:
    """Of a new claim."""
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


def _is_classic_source(source: Mapping[str, Any]) -> bool:
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
    """What the newer version has and v1 has no field for travels in annotations."""
    annotations = autoscaler["metadata"].get("annotations") or {}
    for name in HPA_DROPPED:
        annotations.pop(HPA_PREFIX + name, None)
    metrics = _json_annotation(annotations, "metrics", list)
    _json_annotation(annotations, "behavior", dict)
    if not annotations:
        autoscaler["metadata"].pop("annotations", None)
    if not metrics:
        autoscaler["spec"].setdefault("targetCPUUtilizationPercentage", DEFAULT_CPU_UTILIZATION)


def _json_annotation(annotations: dict[str, str], name: str, wanted: type) -> Any:
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
