"""Quantities and semantic versions."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from bench.case import Case, JsonObject

SUFFIXES: Final = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(1000),
    "M": Decimal(1000**2),
    "G": Decimal(1000**3),
    "T": Decimal(1000**4),
    "P": Decimal(1000**5),
    "E": Decimal(1000**6),
    "Ki": Decimal(1024),
    "Mi": Decimal(1024**2),
    "Gi": Decimal(1024**3),
    "Ti": Decimal(1024**4),
    "Pi": Decimal(1024**5),
    "Ei": Decimal(1024**6),
}
QUANTITY: Final = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)")
SEMVER: Final = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)


def quantity(text: str) -> Decimal:
    """The number a quantity stands for; ValueError when it is none."""
    found = QUANTITY.fullmatch(text)
    if found is None or found[2] not in SUFFIXES:
        raise ValueError(text)
    return Decimal(found[1]) * SUFFIXES[found[2]]


VersionKey = tuple[int, int, int, bool, list[tuple[bool, int, str]]]


def semver(text: str) -> VersionKey:
    """A key that orders versions by precedence; ValueError when the text is no version."""
    found = SEMVER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    major, minor, patch, pre_release = found.groups()
    parts = []
    if pre_release is not None:
        for part in pre_release.split("."):
            parts.append((False, int(part), "") if part.isdigit() else (True, 0, part))
    return int(major), int(minor), int(patch), pre_release is None, parts


LIMIT: Final = quantity("100Gi")
MEMORY: Final = quantity("2Gi")
OLDEST: Final = semver("14.0.0")


def storage_limit(database: JsonObject) -> bool:
    return quantity(database["spec"]["storage"]["size"]) <= LIMIT


def memory_limit(pod: JsonObject) -> bool:
    return all(
        quantity(container["resources"]["limits"]["memory"]) <= MEMORY
        for container in pod["spec"]["containers"]
    )


def request_within_limit(pod: JsonObject) -> bool:
    for container in pod["spec"]["containers"]:
        resources = container["resources"]
        if quantity(resources["requests"]["cpu"]) > quantity(resources["limits"]["cpu"]):
            return False
    return True


def room_to_grow(database: JsonObject) -> bool:
    storage = database["spec"]["storage"]
    return quantity(storage["size"]) + quantity(storage["growth"]) < LIMIT


def oldest_version(database: JsonObject) -> bool:
    return semver(database["spec"]["version"]) >= OLDEST


def major_version(database: JsonObject) -> bool:
    version = database["spec"]["version"]
    return SEMVER.fullmatch(version) is not None and semver(version)[0] == 16


CASES: Final = (
    Case(
        storage_limit,
        "quantity(object.spec.storage.size).compareTo(quantity('100Gi')) <= 0",
        "PostgresCluster",
    ),
    Case(
        memory_limit,
        "object.spec.containers.all(c,"
        " !quantity(c.resources.limits.memory).isGreaterThan(quantity('2Gi')))",
        "Pod",
    ),
    Case(
        request_within_limit,
        "object.spec.containers.all(c, !quantity(c.resources.requests.cpu)"
        ".isGreaterThan(quantity(c.resources.limits.cpu)))",
        "Pod",
    ),
    Case(
        room_to_grow,
        "quantity(object.spec.storage.size).add(quantity(object.spec.storage.growth))"
        ".isLessThan(quantity('100Gi'))",
        "PostgresCluster",
    ),
    Case(
        oldest_version,
        "!semver(object.spec.version).isLessThan(semver('14.0.0'))",
        "PostgresCluster",
    ),
    Case(
        major_version,
        "isSemver(object.spec.version) && semver(object.spec.version).major() == 16",
        "PostgresCluster",
    ),
)
