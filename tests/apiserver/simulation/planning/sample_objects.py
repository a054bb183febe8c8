"""Objects as a simulated controller sees them, and plans as a test reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from celadon.apiserver.simulation.planning.plans import Plan, Verb
from celadon.kube import JsonObject, metadata

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def at(seconds: float = 0.0) -> datetime:
    """So long after the beginning."""
    return START + timedelta(seconds=seconds)


def text_at(seconds: float = 0.0) -> str:
    """As above, as objects have it."""
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def stored(
    kind: str, name: str, spec: JsonObject, api_version: str = "apps/v1", **meta: object
) -> dict[str, Any]:
    """An object of the namespace `default`, whose uid is `uid-NAME`."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "generation": 1,
            "creationTimestamp": text_at(),
            **meta,
        },
        "spec": spec,
    }


def owned_by(owner: JsonObject) -> list[dict[str, Any]]:
    """The reference of something that an owner manages."""
    fields = {key: owner[key] for key in ("apiVersion", "kind")}
    meta = {"name": metadata.name(owner), "uid": metadata.uid(owner)}
    return [{**fields, **meta, "controller": True, "blockOwnerDeletion": True}]


def pod(
    name: str,
    owner: JsonObject | None = None,
    *,
    phase: str = "Running",
    ready: bool = True,
    since: float = 0.0,
    spec: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    **meta: object,
) -> dict[str, Any]:
    """One on the node `node-1`, unless its spec says otherwise, ready since a time."""
    if owner is not None:
        meta["ownerReferences"] = owned_by(owner)
    given = {"nodeName": "node-1", "containers": [{"name": "main", "image": "i"}], **(spec or {})}
    condition = {
        "type": "Ready",
        "status": "True" if ready and phase == "Running" else "False",
        "lastTransitionTime": text_at(since),
    }
    made = stored("Pod", name, given, "v1", **meta)
    return {**made, "status": {"phase": phase, "conditions": [condition], **(status or {})}}


def going(obj: JsonObject) -> dict[str, Any]:
    """The object, being deleted."""
    return {**obj, "metadata": {**obj["metadata"], "deletionTimestamp": text_at()}}


def shown(plan: Plan) -> list[str]:
    """The steps but for statuses, such as `create Pod web-0`."""
    return [line for line in map(_line, _steps(plan)) if not line.startswith("status")]


def _steps(plan: Plan) -> Iterable[tuple[Verb, JsonObject, str]]:
    for step in plan.steps:
        yield step.verb, step.object, step.done.reason if step.done is not None else ""


def _line(step: tuple[Verb, JsonObject, str]) -> str:
    verb, obj, reason = step
    if verb is Verb.TELL:
        return f"tell {reason}"
    name = metadata.name(obj) or metadata.generate_name(obj)
    return f"{verb.value} {obj['kind']} {name}"


def told(plan: Plan) -> list[str]:
    """The texts of what is told of itself."""
    return [
        step.done.message for step in plan.steps if step.verb is Verb.TELL and step.done is not None
    ]


def status_of_plan(plan: Plan) -> dict[str, Any]:
    """The status that is written; empty if none is."""
    for step in plan.steps:
        if step.verb is Verb.STATUS:
            found: dict[str, Any] = step.object["status"]
            return found
    return {}


def made(plan: Plan, kind: str) -> list[JsonObject]:
    """The objects of a kind that are created."""
    return [
        step.object
        for step in plan.steps
        if step.verb is Verb.CREATE and step.object["kind"] == kind
    ]


def of_condition(conditions: Iterable[JsonObject], kind: str) -> str:
    """`status reason: message` of a condition; empty if there is none."""
    for one in conditions:
        if one["type"] == kind:
            return f"{one['status']} {one['reason']}: {one['message']}"
    return ""
