"""The cells of what makes pods: deployments, sets, jobs, templates, budgets, revisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import JsonObject, metadata, parse_api_version
from celadon.kube.selection import SelectorError, label_selector
from celadon.serve.tables.cell_texts import (
    INVALID,
    NONE,
    Cell,
    CellsOf,
    age,
    at,
    container_cells,
    elapsed,
    is_true,
    items,
    labels_text,
    number,
    seconds,
    selector_text,
    since,
    size,
    text,
)

_JOB_STATES: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")
"""Conditions that are a job's status while it has not ended, the first that holds."""


def _template(obj: JsonObject) -> Any:  # noqa: ANN401 - any JSON
    return at(obj, "spec", "template", "spec")


def _deployment(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        f"{number(obj, 'status', 'readyReplicas')}/{number(obj, 'spec', 'replicas')}",
        number(obj, "status", "updatedReplicas"),
        number(obj, "status", "availableReplicas"),
        age(obj, now),
        *container_cells(_template(obj)),
        _deployment_selector(obj),
    ]


def _deployment_selector(obj: JsonObject) -> str:
    try:
        return str(label_selector(at(obj, "spec", "selector")))
    except SelectorError:
        return INVALID


def _replicas(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        number(obj, "spec", "replicas"),
        number(obj, "status", "replicas"),
        number(obj, "status", "readyReplicas"),
        age(obj, now),
        *container_cells(_template(obj)),
    ]


def _replica_set(obj: JsonObject, now: float) -> list[Cell]:
    return [*_replicas(obj, now), selector_text(at(obj, "spec", "selector"))]


def _replication_controller(obj: JsonObject, now: float) -> list[Cell]:
    return [*_replicas(obj, now), labels_text(at(obj, "spec", "selector"))]


def _stateful_set(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        f"{number(obj, 'status', 'readyReplicas')}/{number(obj, 'spec', 'replicas')}",
        age(obj, now),
        *container_cells(_template(obj)),
    ]


def _daemon_set(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        number(obj, "status", "desiredNumberScheduled"),
        number(obj, "status", "currentNumberScheduled"),
        number(obj, "status", "numberReady"),
        number(obj, "status", "updatedNumberScheduled"),
        number(obj, "status", "numberAvailable"),
        labels_text(at(_template(obj), "nodeSelector")),
        age(obj, now),
        *container_cells(_template(obj)),
        selector_text(at(obj, "spec", "selector")),
    ]


def _job(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        _job_status(obj),
        _completions(obj),
        _job_duration(obj, now),
        age(obj, now),
        *container_cells(_template(obj)),
        selector_text(at(obj, "spec", "selector")),
    ]


def _job_status(obj: JsonObject) -> str:
    if is_true(obj, "Complete"):
        return "Complete"
    if is_true(obj, "Failed"):
        return "Failed"
    if metadata.deletion_timestamp(obj):
        return "Terminating"
    return next((state for state in _JOB_STATES if is_true(obj, state)), "Running")


def _completions(obj: JsonObject) -> str:
    succeeded = number(obj, "status", "succeeded")
    wanted = at(obj, "spec", "completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = number(obj, "spec", "parallelism")
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(obj: JsonObject, now: float) -> str:
    start, end = text(obj, "status", "startTime"), text(obj, "status", "completionTime")
    if not start:
        return ""
    return elapsed((seconds(end) if end else now) - seconds(start))


def _cron_job(obj: JsonObject, now: float) -> list[Cell]:
    suspend = at(obj, "spec", "suspend")
    last = text(obj, "status", "lastScheduleTime")
    return [
        metadata.name(obj),
        text(obj, "spec", "schedule"),
        text(obj, "spec", "timeZone") or NONE,
        "<unset>" if suspend is None else str(suspend),
        size(obj, "status", "active"),
        since(last, now) if last else NONE,
        age(obj, now),
        *container_cells(at(obj, "spec", "jobTemplate", "spec", "template", "spec")),
        selector_text(at(obj, "spec", "jobTemplate", "spec", "selector")),
    ]


def _pod_template(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        *container_cells(at(obj, "template", "spec")),
        labels_text(at(obj, "template", "metadata", "labels")),
    ]


def _disruption_budget(obj: JsonObject, now: float) -> list[Cell]:
    least, most = at(obj, "spec", "minAvailable"), at(obj, "spec", "maxUnavailable")
    return [
        metadata.name(obj),
        "N/A" if least is None else str(least),
        "N/A" if most is None else str(most),
        number(obj, "status", "disruptionsAllowed"),
        age(obj, now),
    ]


def _controller_revision(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), _controller(obj), number(obj, "revision"), age(obj, now)]


def _controller(obj: JsonObject) -> str:
    owners = items(metadata.metadata(obj), "ownerReferences")
    owner = next((one for one in owners if one.get("controller")), None)
    if owner is None:
        return NONE
    group, _ = parse_api_version(text(owner, "apiVersion"))
    kind = text(owner, "kind")
    return f"{f'{kind}.{group}' if group else kind}".lower() + f"/{text(owner, 'name')}"


WORKLOADS: Final[Mapping[str, CellsOf]] = {
    "controllerrevisions.apps": _controller_revision,
    "cronjobs.batch": _cron_job,
    "daemonsets.apps": _daemon_set,
    "deployments.apps": _deployment,
    "jobs.batch": _job,
    "poddisruptionbudgets.policy": _disruption_budget,
    "podtemplates": _pod_template,
    "replicasets.apps": _replica_set,
    "replicationcontrollers": _replication_controller,
    "statefulsets.apps": _stateful_set,
}
"""By the resource's name with its group."""
