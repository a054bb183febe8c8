"""The FlowSchemas and priority levels that every cluster has.

As k8s.io/apiserver `pkg/apis/flowcontrol/bootstrap/default.go`. A server keeps them: what somebody
deletes comes back, and what somebody changes is set right unless an annotation says otherwise; the
mandatory ones are set right in any case. Requests are not queued by them here: the limits of
`operation.request_limits` are the server's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.kube.well_known_values import (
    AUTHENTICATED,
    NODE_GROUP,
    UNAUTHENTICATED,
)

GROUP_VERSION: Final = "flowcontrol.apiserver.k8s.io/v1"
AUTO_UPDATE: Final = "apf.kubernetes.io/autoupdate-spec"
"""The annotation: whether the server looks after the object's spec."""

MANDATORY: Final = frozenset(
    {("FlowSchema", "exempt"), ("FlowSchema", "catch-all")}
    | {("PriorityLevelConfiguration", "catch-all")}
)
"""By kind and name: those that cannot be otherwise."""

_Rules = dict[str, Any]

_LEVELS: Final[Mapping[str, tuple[int, int, tuple[int, int] | None]]] = {
    "catch-all": (5, 0, None),
    "global-default": (20, 50, (128, 6)),
    "leader-election": (10, 0, (16, 4)),
    "node-high": (40, 25, (64, 6)),
    "system": (30, 33, (64, 6)),
    "workload-high": (40, 50, (128, 6)),
    "workload-low": (100, 90, (128, 6)),
}
"""Shares of what is served at once, percents that may be lent, and queues with the hands dealt from
them; without queues what is too much is rejected."""

_QUEUE_LENGTH: Final = 50


def _groups(*names: str) -> list[dict[str, Any]]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


def _users(*names: str) -> list[dict[str, Any]]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


def _everything(subjects: Sequence[dict[str, Any]]) -> _Rules:
    every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    return {
        "subjects": subjects,
        "resourceRules": [{**every, "clusterScope": True, "namespaces": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }


def _leases(*verbs: str) -> dict[str, Any]:
    group = "coordination.k8s.io"
    named = {"verbs": list(verbs), "apiGroups": [group], "resources": ["leases"]}
    return {**named, "namespaces": ["*"]}


_ACCOUNTS: Final = {"name": "*", "namespace": "kube-system"}
_SYSTEM_ACCOUNTS: Final = [{"kind": "ServiceAccount", "serviceAccount": _ACCOUNTS}]
_EVERYBODY: Final = _groups(UNAUTHENTICATED, AUTHENTICATED)
_MANAGER: Final = "system:kube-controller-manager"
_SCHEDULER: Final = "system:kube-scheduler"

_SCHEMAS: Final[Sequence[tuple[str, str, int, str, _Rules]]] = (
    ("exempt", "exempt", 1, "", _everything(_groups("system:masters"))),
    (
        "probes",
        "exempt",
        2,
        "",
        {
            "subjects": _EVERYBODY,
            "nonResourceRules": [
                {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
            ],
        },
    ),
    (
        "system-leader-election",
        "leader-election",
        100,
        "ByUser",
        {
            "subjects": [*_users(_MANAGER, _SCHEDULER), *_SYSTEM_ACCOUNTS],
            "resourceRules": [_leases("get", "create", "update")],
        },
    ),
    (
        "system-node-high",
        "node-high",
        400,
        "ByUser",
        {
            "subjects": _groups(NODE_GROUP),
            "resourceRules": [
                {
                    "verbs": ["*"],
                    "apiGroups": [""],
                    "resources": ["nodes", "nodes/status"],
                    "clusterScope": True,
                    "namespaces": ["*"],
                },
                _leases("*"),
            ],
        },
    ),
    ("system-nodes", "system", 500, "ByUser", _everything(_groups(NODE_GROUP))),
    (
        "kube-controller-manager",
        "workload-high",
        800,
        "ByNamespace",
        _everything(_users(_MANAGER)),
    ),
    ("kube-scheduler", "workload-high", 800, "ByNamespace", _everything(_users(_SCHEDULER))),
    (
        "kube-system-service-accounts",
        "workload-high",
        900,
        "ByNamespace",
        _everything(_SYSTEM_ACCOUNTS),
    ),
    (
        "service-accounts",
        "workload-low",
        9000,
        "ByUser",
        _everything(_groups("system:serviceaccounts")),
    ),
    ("global-default", "global-default", 9900, "ByUser", _everything(_EVERYBODY)),
    ("catch-all", "catch-all", 10000, "ByUser", _everything(_EVERYBODY)),
)
"""Names, levels, precedences, by what flows are told apart, and rules."""


def priority_levels() -> Iterator[dict[str, Any]]:
    """All of them, the one that nothing limits first."""
    free = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    yield _object("PriorityLevelConfiguration", "exempt", {"type": "Exempt", "exempt": free})
    for name, (shares, lendable, queues) in _LEVELS.items():
        limited: dict[str, Any] = {
            "nominalConcurrencyShares": shares,
            "lendablePercent": lendable,
            "limitResponse": {"type": "Reject"} if queues is None else _queuing(*queues),
        }
        spec = {"type": "Limited", "limited": limited}
        yield _object("PriorityLevelConfiguration", name, spec)


def flow_schemas() -> Iterator[dict[str, Any]]:
    """All of them, in the order of their precedence; their levels exist."""
    for name, level, precedence, distinguisher, rules in _SCHEMAS:
        spec: dict[str, Any] = {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": precedence,
        }
        if distinguisher:
            spec["distinguisherMethod"] = {"type": distinguisher}
        made = _object("FlowSchema", name, {**spec, "rules": [rules]})
        yield {**made, "status": {"conditions": [level_condition(level, exists=True)]}}


def level_condition(level: str, *, exists: bool) -> dict[str, Any]:
    """What the status of a FlowSchema says about its level, without a time."""
    names = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    return {
        "type": "Dangling",
        "status": "False" if exists else "True",
        "reason": "Found" if exists else "NotFound",
        "message": f"{names} and it exists" if exists else f"{names} but there is no such object",
    }


def _queuing(queues: int, hand: int) -> dict[str, Any]:
    sizes = {"queues": queues, "handSize": hand, "queueLengthLimit": _QUEUE_LENGTH}
    return {"type": "Queue", "queuing": sizes}


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    meta = {"name": name, "annotations": {AUTO_UPDATE: "true"}}
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": meta, "spec": spec}
