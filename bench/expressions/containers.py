"""Quantifiers over containers and volumes."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from bench.case import Case, JsonObject


def run_as_non_root(deployment: JsonObject) -> bool:
    return all(
        container.get("securityContext", {}).get("runAsNonRoot") is True
        for container in deployment["spec"]["template"]["spec"]["containers"]
    )


def privileged(pod: JsonObject) -> bool:
    return not any(
        container.get("securityContext", {}).get("privileged", False)
        for container in pod["spec"]["containers"]
    )


def limits(pod: JsonObject) -> bool:
    for container in pod["spec"]["containers"]:
        limits = container.get("resources", {}).get("limits", {})
        if "cpu" not in limits or "memory" not in limits:
            return False
    return True


def probes(deployment: JsonObject) -> bool:
    return all(
        "livenessProbe" in container and "readinessProbe" in container
        for container in deployment["spec"]["template"]["spec"]["containers"]
    )


def host_ports(pod: JsonObject) -> bool:
    return all(
        port.get("hostPort", 0) == 0
        for container in pod["spec"]["containers"]
        for port in container.get("ports", ())
    )


def host_paths(pod: JsonObject) -> bool:
    return not any("hostPath" in volume for volume in pod["spec"].get("volumes", ()))


def read_only_root(pod: JsonObject) -> bool:
    spec = pod["spec"]
    return all(
        container.get("securityContext", {}).get("readOnlyRootFilesystem") is True
        for container in spec["containers"] + spec.get("initContainers", [])
    )


def one_app(pod: JsonObject) -> bool:
    return sum(container["name"] == "app" for container in pod["spec"]["containers"]) == 1


def few_with_ports(pod: JsonObject) -> bool:
    return len([container for container in pod["spec"]["containers"] if "ports" in container]) <= 3


def plain_secrets(pod: JsonObject) -> bool:
    for container in pod["spec"]["containers"]:
        for variable in container.get("env", ()):
            if "value" in variable and "PASSWORD" in variable["name"]:
                return False
    return True


CASES: Final = (
    Case(
        run_as_non_root,
        "object.spec.template.spec.containers.all(c, has(c.securityContext)"
        " && has(c.securityContext.runAsNonRoot) && c.securityContext.runAsNonRoot == true)",
        "Deployment",
    ),
    Case(
        privileged,
        "!object.spec.containers.exists(c, has(c.securityContext)"
        " && has(c.securityContext.privileged) && c.securityContext.privileged)",
        "Pod",
    ),
    Case(
        limits,
        "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits)"
        " && 'cpu' in c.resources.limits && 'memory' in c.resources.limits)",
        "Pod",
    ),
    Case(
        probes,
        "object.spec.template.spec.containers.all(c,"
        " has(c.livenessProbe) && has(c.readinessProbe))",
        "Deployment",
    ),
    Case(
        host_ports,
        "object.spec.containers.all(c, !has(c.ports)"
        " || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",
        "Pod",
    ),
    Case(
        host_paths,
        "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))",
        "Pod",
    ),
    Case(
        read_only_root,
        "(object.spec.containers"
        " + (has(object.spec.initContainers) ? object.spec.initContainers : []))"
        ".all(c, has(c.securityContext) && has(c.securityContext.readOnlyRootFilesystem)"
        " && c.securityContext.readOnlyRootFilesystem == true)",
        "Pod",
    ),
    Case(one_app, "object.spec.containers.exists_one(c, c.name == 'app')", "Pod"),
    Case(few_with_ports, "object.spec.containers.filter(c, has(c.ports)).size() <= 3", "Pod"),
    Case(
        plain_secrets,
        "object.spec.containers.all(c, !has(c.env)"
        " || c.env.all(e, !has(e.value) || !e.name.contains('PASSWORD')))",
        "Pod",
    ),
)
