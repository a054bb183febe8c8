"""Objects with the values in them that a way asks for (`value_ways`).

What a value is to be follows from the schema of its kind: a way that is about a field which the
kind does not have is none for it. Items of lists that a way makes get what an API server asks of
them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Final

from celadon.cli.policy_tests.first_tests.changed_values import value_at, with_value_at
from celadon.cli.policy_tests.first_tests.value_ways import (
    ANY_VALUE,
    GONE,
    KEY,
    THERE,
    Length,
)
from celadon.cli.reading.json_places import Path
from celadon.kube.schemas import Schema, resolved

_CONTAINER: Final = {"name": "second", "image": "example.com/app:1"}
_NEEDED: Final[dict[str, dict[str, Any]]] = {
    "containers": {"name": "main", "image": "example.com/app:1"},
    "initContainers": _CONTAINER,
    "ephemeralContainers": _CONTAINER,
    "env": {"name": "NAME"},
    "volumes": {"name": "volume"},
    "volumeMounts": {"name": "volume", "mountPath": "/mnt"},
    "ports": {"containerPort": 8080},
    "hostPath": {"path": "/mnt"},
    "imagePullSecrets": {"name": "example"},
    "subjects": {
        "kind": "User",
        "name": "alice",
        "apiGroup": "rbac.authorization.k8s.io",
    },
    "tolerations": {"operator": "Exists"},
    "ownerReferences": {"apiVersion": "v1", "kind": "Pod", "name": "owner", "uid": "1"},
}
"""What an item of a list, or an object, needs besides what is asked of it, by the field."""
_RULE: Final = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def with_way(
    given: Mapping[str, Any], way: Iterable[tuple[Path, Any]], schema: Schema | None
) -> dict[str, Any] | None:
    """A copy of an object with the values at their places (steps into the object); None where its
    kind has no such place."""
    made: dict[str, Any] = copy.deepcopy(dict(given))
    wanted = sorted(way, key=lambda one: len(one[0]))
    for place, value in wanted:
        steps, known = _steps(place), schema_at(schema, place)
        if schema is not None and known is None:
            return None
        if value is GONE:
            made = with_value_at(made, steps, None) or made
            continue
        below = any(len(other) > len(place) and other[: len(place)] == place for other, _ in wanted)
        if value is THERE and (below or value_at(made, steps) is not None):
            continue
        changed = with_value_at(made, steps, _value(value, known, str(place[-1])))
        if changed is None:
            return None
        made = changed
    for place, value in wanted:
        if value is not GONE:
            _complete(made, place)
    return made


def _steps(place: Path) -> Path:
    if place and place[-1] in (KEY, ANY_VALUE):
        return place[:-1]
    return place


def schema_at(schema: Schema | None, place: Path) -> Schema | None:
    """That of a place; None where there is none. What may be anything is `_ANYTHING`."""
    for step in place:
        if schema is None:
            return None
        schema = resolved(schema)
        if isinstance(step, int):
            schema = schema.items or (_ANYTHING if _is_open(schema) else None)
        elif step in schema.properties:
            schema = schema.properties[step]
        elif step in (KEY, ANY_VALUE):
            schema = schema.additional_properties or _ANYTHING
        else:
            schema = schema.additional_properties or (_ANYTHING if _is_open(schema) else None)
    return None if schema is None else resolved(schema)


_ANYTHING: Final = Schema(preserve_unknown=True)


def _is_open(schema: Schema) -> bool:
    return schema.preserve_unknown or schema.open_values


def _value(value: Any, schema: Schema | None, last: str) -> Any:  # noqa: ANN401 - any JSON
    """As the schema has it."""
    types = () if schema is None else schema.types
    if last == KEY:
        return {str(value) if isinstance(value, str) else "key": "x"}
    if value is THERE:
        return _something(schema)
    if isinstance(value, Length):
        if "array" in types or (not types and schema is _ANYTHING):
            items = None if schema is None else schema.items
            return [_something(items) for _ in range(min(value.count, 100))]
        if "object" in types:
            return {f"key{i}": "x" for i in range(min(value.count, 100))}
        return "x" * min(value.count, 1000)
    if last == ANY_VALUE:
        return {"key": value}
    if types == ("string",) and not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if types == ("integer",) and isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)
    if types == ("array",) and not isinstance(value, list):
        return [value]
    return value


def _something(schema: Schema | None) -> Any:  # noqa: ANN401 - any JSON
    """A value of a type."""
    if schema is None:
        return {}
    schema = resolved(schema)
    if schema.enum:
        return schema.enum[0]
    match schema.types:
        case ("boolean",):
            return True
        case ("integer", *_) | ("number", *_):
            return int(schema.limits.minimum or 1)
        case ("array",):
            return [_something(schema.items)] if schema.items is not None else []
        case ("object",):
            required = {name: schema.properties.get(name) for name in schema.required}
            return {name: _something(below) for name, below in required.items()}
        case ("string",):
            return "x" * max(1, schema.limits.min_length or 1)
        case _:
            return "1" if schema.name.endswith(".Quantity") else {}


def _complete(made: dict[str, Any], place: Path) -> None:
    """Gives what stands on the way to a place what it needs."""
    for length in range(1, len(place) + 1):
        holder = value_at(made, place[:length])
        step = place[length - 1]
        field = str(place[length - 2]) if isinstance(step, int) and length > 1 else str(step)
        if not isinstance(holder, dict):
            continue
        needed = _NEEDED.get(field, {})
        if field == "rules" and isinstance(step, int):
            needed = {} if "nonResourceURLs" in holder else _RULE
        if field == "ports" and made.get("kind") == "Service":
            needed = {"port": 80}
        for name, value in needed.items():
            holder.setdefault(name, copy.deepcopy(value))
        if field == "volumeMounts" and isinstance(step, int):
            _with_volume(made, place[: length - 4], str(holder["name"]))


def _with_volume(made: dict[str, Any], pod: Path, name: str) -> None:
    """A volume for a mount, in the same pod."""
    spec = value_at(made, pod)
    if isinstance(spec, dict):
        volumes = spec.setdefault("volumes", [])
        if not any(one.get("name") == name for one in volumes if isinstance(one, dict)):
            volumes.append({"name": name})
