"""Tests of single fields."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from bench.case import Case, JsonObject


def replicas_limit(deployment: JsonObject) -> bool:
    return deployment["spec"]["replicas"] <= 5


def replicas_range(deployment: JsonObject, params: JsonObject) -> bool:
    limits = params["spec"]
    return limits["minReplicas"] <= deployment["spec"]["replicas"] <= limits["maxReplicas"]


def strategy(deployment: JsonObject) -> bool:
    strategy = deployment["spec"].get("strategy")
    return strategy is None or strategy["type"] == "RollingUpdate"


def selector_unchanged(deployment: JsonObject, old: JsonObject) -> bool:
    return deployment["spec"]["selector"] == old["spec"]["selector"]


def host_namespaces(pod: JsonObject) -> bool:
    spec = pod["spec"]
    return not (spec.get("hostNetwork") or spec.get("hostPID") or spec.get("hostIPC"))


def service_account(pod: JsonObject) -> bool:
    return pod["spec"].get("serviceAccountName", "default") != "default"


def no_token(pod: JsonObject) -> bool:
    return pod["spec"].get("automountServiceAccountToken") is False


def name_length(pod: JsonObject) -> bool:
    return len(pod["metadata"]["name"]) <= 63


def namespace_allowed(pod: JsonObject) -> bool:
    return pod["metadata"]["namespace"] not in ("default", "kube-system", "kube-public")


def retention(database: JsonObject) -> bool:
    spec = database["spec"]
    return "backup" in spec and 7 <= spec["backup"]["retentionDays"] <= 90


CASES: Final = (
    Case(replicas_limit, "object.spec.replicas <= 5", "Deployment"),
    Case(
        replicas_range,
        "object.spec.replicas >= params.spec.minReplicas"
        " && object.spec.replicas <= params.spec.maxReplicas",
        "Deployment",
        ("object", "params"),
    ),
    Case(
        strategy,
        "!has(object.spec.strategy) || object.spec.strategy.type == 'RollingUpdate'",
        "Deployment",
    ),
    Case(
        selector_unchanged,
        "object.spec.selector == oldObject.spec.selector",
        "Deployment",
        ("object", "oldObject"),
    ),
    Case(
        host_namespaces,
        "!(has(object.spec.hostNetwork) && object.spec.hostNetwork)"
        " && !(has(object.spec.hostPID) && object.spec.hostPID)"
        " && !(has(object.spec.hostIPC) && object.spec.hostIPC)",
        "Pod",
    ),
    Case(
        service_account,
        "has(object.spec.serviceAccountName) && object.spec.serviceAccountName != 'default'",
        "Pod",
    ),
    Case(
        no_token,
        "has(object.spec.automountServiceAccountToken)"
        " && object.spec.automountServiceAccountToken == false",
        "Pod",
    ),
    Case(name_length, "size(object.metadata.name) <= 63", "Pod"),
    Case(
        namespace_allowed,
        "!(object.metadata.namespace in ['default', 'kube-system', 'kube-public'])",
        "Pod",
    ),
    Case(
        retention,
        "has(object.spec.backup) && object.spec.backup.retentionDays >= 7"
        " && object.spec.backup.retentionDays <= 90",
        "PostgresCluster",
    ),
)
