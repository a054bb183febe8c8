"""Images: by prefix, by tag, by regular expression."""

from __future__ import annotations

import re
from typing import Final

from bench.case import Case, JsonObject

REGISTRIES: Final = ("registry.example.com/", "mirror.example.com/")
VERSIONED: Final = re.compile(r"^registry\.example\.com/[a-z0-9/-]+:v[0-9]+\.[0-9]+\.[0-9]+(@|$)")
DIGEST: Final = re.compile(r"@sha256:[a-f0-9]{64}$")
NAME: Final = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")


def image_prefix(deployment: JsonObject) -> bool:
    return all(
        container["image"].startswith("registry.example.com/")
        for container in deployment["spec"]["template"]["spec"]["containers"]
    )


def image_registries(pod: JsonObject) -> bool:
    return all(container["image"].startswith(REGISTRIES) for container in pod["spec"]["containers"])


def image_not_latest(pod: JsonObject) -> bool:
    for container in pod["spec"]["containers"]:
        image = container["image"]
        if ":" not in image or image.endswith(":latest"):
            return False
    return True


def image_version(pod: JsonObject) -> bool:
    return all(VERSIONED.search(container["image"]) for container in pod["spec"]["containers"])


def image_digest(deployment: JsonObject) -> bool:
    return any(
        DIGEST.search(container["image"])
        for container in deployment["spec"]["template"]["spec"]["containers"]
    )


def image_host(pod: JsonObject) -> bool:
    return all(
        container["image"].split("/")[0] == "registry.example.com"
        for container in pod["spec"]["containers"]
    )


def container_names(pod: JsonObject) -> bool:
    return all(NAME.search(container["name"]) for container in pod["spec"]["containers"])


CASES: Final = (
    Case(
        image_prefix,
        "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
        "Deployment",
    ),
    Case(
        image_registries,
        "object.spec.containers.all(c, ['registry.example.com/', 'mirror.example.com/']"
        ".exists(registry, c.image.startsWith(registry)))",
        "Pod",
    ),
    Case(
        image_not_latest,
        "object.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))",
        "Pod",
    ),
    Case(
        image_version,
        "object.spec.containers.all(c, c.image.matches("
        r"'^registry\\.example\\.com/[a-z0-9/-]+:v[0-9]+\\.[0-9]+\\.[0-9]+(@|$)'))",
        "Pod",
    ),
    Case(
        image_digest,
        "object.spec.template.spec.containers.exists(c, c.image.matches('@sha256:[a-f0-9]{64}$'))",
        "Deployment",
    ),
    Case(
        image_host,
        "object.spec.containers.all(c, c.image.split('/')[0] == 'registry.example.com')",
        "Pod",
    ),
    Case(
        container_names,
        "object.spec.containers.map(c, c.name)"
        ".all(name, name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",
        "Pod",
    ),
)
