"""What an API server remarks about the containers of a pod: variables, ports, amounts.

Containers are visited as k8s.io/kubernetes `pkg/apis/core/pods/helpers.go` does: those for
initialization first, then the usual ones, then the ephemeral ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.warnings.fractional_bytes import fractional_bytes
from celadon.kube.well_known_values import CONTAINER_LISTS

Located = tuple[FieldPath, JsonObject]

AMOUNTS: Final = (
    ("limits", "memory"),
    ("requests", "memory"),
    ("limits", "ephemeral-storage"),
    ("requests", "ephemeral-storage"),
)


def containers(spec: JsonObject, path: FieldPath) -> Iterator[Located]:
    """All containers of a pod; `path` is that of its spec."""
    for field in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            yield path.child(field).index(index), container


def amount_warnings(container: JsonObject, path: FieldPath) -> Iterator[str]:
    """Fractions of bytes."""
    resources, at = container.get("resources") or {}, path.child("resources")
    for field, name in AMOUNTS:
        amounts = resources.get(field)
        if amounts and name in amounts:
            yield from fractional_bytes(amounts, name, at.child(field))


def variable_warnings(container: JsonObject, path: FieldPath) -> Iterator[str]:
    """Variables that come twice, unless the later one is made of the earlier."""
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name", ""), variable.get("value") or ""
        if name not in seen:
            seen.add(name)
            continue
        reference = f"$({name})"
        hides = reference not in value or value == reference
        if hides or variable.get("valueFrom") is not None:
            yield (
                f"{path.child('env').index(index)}: hides previous definition of {quote(name)}, "
                "which may be dropped when using apply"
            )


def port_warnings(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    """Ports of all containers that get into each other's way; then their names."""
    ports = list(_ports(spec, path))
    yield from _clashes(ports)
    yield from _repeated_names(ports)


def _clashes(ports: Iterable[Located]) -> Iterator[str]:
    known: dict[tuple[int, str], list[Located]] = {}
    for at, port in ports:
        if port.get("hostIP") and not port.get("hostPort"):
            yield f"{at}: hostIP set without hostPort: {_printed(port)}"
        key = port.get("containerPort", 0), port.get("protocol", "")
        others = known.setdefault(key, [])
        for where, other in others:
            what = _conflict(port, other)
            if what:
                yield f"{at}: {what} port definition with {where}"
        others.append((at, port))


def _repeated_names(ports: Iterable[Located]) -> Iterator[str]:
    """Names of ports that more than one container has."""
    known: dict[str, FieldPath] = {}
    for at, port in ports:
        name = port.get("name")
        if not name:
            continue
        other = known.setdefault(name, at)
        if other is not at:
            yield (
                f"{at}: duplicate port name {quote(name)} with {other}, services and probes that "
                f"select ports by name will use {other}"
            )


def _ports(spec: JsonObject, path: FieldPath) -> Iterator[Located]:
    for at, container in containers(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            yield at.child("ports").index(index), port


def _conflict(port: JsonObject, other: JsonObject) -> str:
    """Of two ports with the same number and protocol; empty where both can be."""
    address, others_address = port.get("hostIP") or "", other.get("hostIP") or ""
    number, others_number = port.get("hostPort") or 0, other.get("hostPort") or 0
    if (address, number) == (others_address, others_number):
        return "duplicate"
    if not number or not others_number:
        return "overlapping"
    if number == others_number and bool(address) != bool(others_address):
        return "dangerously ambiguous"
    return ""


def _printed(port: JsonObject) -> str:
    """As Go's `%+v` prints a port."""
    return (
        f"{{Name:{port.get('name', '')} HostPort:{port.get('hostPort', 0)} "
        f"ContainerPort:{port.get('containerPort', 0)} Protocol:{port.get('protocol', '')} "
        f"HostIP:{port.get('hostIP', '')}}}"
    )
