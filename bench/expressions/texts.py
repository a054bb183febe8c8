"""Strings: messages that are built, names that are taken apart."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from bench.case import Case, JsonObject


def replicas_message(deployment: JsonObject, params: JsonObject) -> str:
    most, replicas = params["spec"]["maxReplicas"], deployment["spec"]["replicas"]
    return f"replicas must be at most {most}, not {replicas}"


def limits_message(pod: JsonObject) -> str:
    names = ", ".join(
        container["name"]
        for container in pod["spec"]["containers"]
        if "limits" not in container.get("resources", {})
    )
    return f"containers without limits: {names}"


def owner_message(pod: JsonObject) -> str:
    metadata = pod["metadata"]
    return f"{pod['kind']} {metadata['namespace']}/{metadata['name']} needs an owner"


def formatted_message(deployment: JsonObject) -> str:
    return "%s has %d replicas" % (  # noqa: UP031  # what the expression does
        deployment["metadata"]["name"],
        deployment["spec"]["replicas"],
    )


def lower_case_name(pod: JsonObject) -> bool:
    name = pod["metadata"]["name"]
    return name == name.lower()


def unavailable(deployment: JsonObject) -> bool:
    share = deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"]
    return int(share.replace("%", "")) <= 50


def name_has_team(deployment: JsonObject) -> bool:
    metadata = deployment["metadata"]
    return metadata["name"].startswith(metadata["namespace"] + "-")


CASES: Final = (
    Case(
        replicas_message,
        "'replicas must be at most ' + string(params.spec.maxReplicas)"
        " + ', not ' + string(object.spec.replicas)",
        "Deployment",
        ("object", "params"),
    ),
    Case(
        limits_message,
        "'containers without limits: ' + object.spec.containers"
        ".filter(c, !has(c.resources) || !has(c.resources.limits)).map(c, c.name).join(', ')",
        "Pod",
    ),
    Case(
        owner_message,
        "object.kind + ' ' + object.metadata.namespace + '/' + object.metadata.name"
        " + ' needs an owner'",
        "Pod",
    ),
    Case(
        formatted_message,
        "'%s has %d replicas'.format([object.metadata.name, object.spec.replicas])",
        "Deployment",
    ),
    Case(lower_case_name, "object.metadata.name == object.metadata.name.lowerAscii()", "Pod"),
    Case(
        unavailable,
        "int(object.spec.strategy.rollingUpdate.maxUnavailable.replace('%', '')) <= 50",
        "Deployment",
    ),
    Case(
        name_has_team,
        "object.metadata.name.startsWith(object.metadata.namespace + '-')",
        "Deployment",
    ),
)
