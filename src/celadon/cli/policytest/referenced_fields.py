"""The places of an object that the expressions of a policy read, and the values that they compare
with.

A place is the name of a variable (one of `ROOTS`) and steps into it; what a loop
reads of its items is read of the first one. Values are the literals in the expressions, and their
neighbours: one more and one less, a text with something in front of it or behind it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.cel import syntax
from celadon.cli.reading.json_text import Path, value_at
from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.schemas import Schema, decode_schema, schema_for
from celadon.records import dataclass

ROOTS: Final = frozenset({"object", "oldObject", "params", "namespaceObject"})
PATCH: Final = "JSONPatch"
CONFIGURATION: Final = "Object"
"""The types that mutations are of."""
_MOST_VALUES: Final = 40
_OTHERS: Final[tuple[Json, ...]] = (True, False, "x", 0, 1, 2, "1", [], {})
"""Values that are tried wherever something is read."""


@dataclass(frozen=True, slots=True)
class ReadPlaces:
    """Places without repetition, in the order of the expressions; values likewise."""

    places: tuple[Path, ...]
    values: tuple[Any, ...]


def read_places(
    expressions: Iterable[syntax.Expr], variables: Mapping[str, syntax.Expr]
) -> ReadPlaces:
    """Return the places that some expressions read, and the variables that they may use."""
    reader = _Reader(variables)
    for expression in (*variables.values(), *expressions):
        reader.read(expression, {})
    values = list(_neighbours(reader.literals))
    distinct = {(type(value), str(value)): value for value in (*values[:_MOST_VALUES], *_OTHERS)}
    return ReadPlaces(tuple(dict.fromkeys(reader.places)), tuple(distinct.values()))


def _neighbours(literals: Iterable[object]) -> Iterator[Any]:
    for literal in literals:
        yield literal
        if isinstance(literal, int) and not isinstance(literal, bool):
            neighbours = (int(literal), int(literal) + 1, int(literal) - 1)
            yield from (*neighbours[1:], *map(str, neighbours))
        elif isinstance(literal, str):
            yield from (f"{literal}x", f"x{literal}", f"x{literal}x")


def _constant_map(entries: Iterable[syntax.MapEntry]) -> list[JsonDict]:
    """Return a map of texts that is written out, if it is one."""
    result = {}
    for entry in entries:
        if not (isinstance(entry.key, syntax.Literal) and isinstance(entry.value, syntax.Literal)):
            return []
        if not (isinstance(entry.key.value, str) and isinstance(entry.value.value, str)):
            return []
        result[entry.key.value] = entry.value.value
    return [result]


def pointer_steps(text: str) -> Iterator[str | int]:
    """Yield the steps of a JSON pointer; every item of a list is the first one."""
    for step in text.split("/")[1:]:
        plain = step.replace("~1", "/").replace("~0", "~")
        yield 0 if plain == "-" or plain.isdecimal() else plain


def written_places(node: syntax.Expr, place: Path) -> Iterator[Path]:
    """Yield where a configuration writes values that are no objects."""
    match node:
        case syntax.Struct(_, _, fields):
            for field in fields:
                yield from written_places(field.value, (*place, field.name))
        case syntax.MapLiteral(_, entries):
            for entry in entries:
                if isinstance(entry.key, syntax.Literal) and isinstance(entry.key.value, str):
                    yield from written_places(entry.value, (*place, entry.key.value))
        case _:
            yield place


def place_of(
    node: syntax.Expr, bound: Mapping[str, Path], variables: Mapping[str, syntax.Expr]
) -> Path | None:
    """Return where a value stands that is read as it is; None for what is made of others. `bound`
    are the items of loops."""
    match node:
        case syntax.Ident(_, name):
            if name in bound:
                return bound[name]
            return (name,) if name in ROOTS else None
        case syntax.Select(_, syntax.Ident(_, "variables"), name):
            variable = variables.get(name)
            return None if variable is None else place_of(variable, {}, variables)
        case syntax.Select(_, operand, name):
            place = place_of(operand, bound, variables)
            return None if place is None else (*place, name)
        case syntax.Call(_, "_[_]" | "_?._" | "_[?_]", None, (operand, syntax.Literal(_, key))):
            place = place_of(operand, bound, variables)
            is_step = isinstance(key, str | int) and not isinstance(key, bool)
            return (*place, key) if place is not None and is_step else None  # type: ignore[arg-type]  # known
        case syntax.Call(_, "orValue" | "value", syntax.Call() as inner):
            return place_of(inner, bound, variables)
        case syntax.Call(_, "_?_:_", None, (_, first, _)):
            return place_of(first, bound, variables)
        case _:
            return None


class _Reader:
    def __init__(self, variables: Mapping[str, syntax.Expr]) -> None:
        self._variables = variables
        self.places: list[Path] = []
        self.literals: list[Any] = []

    def read(self, node: syntax.Expr, bound: Mapping[str, Path]) -> None:
        """Take in a node and all below it; `bound` are the items of loops."""
        place = place_of(node, bound, self._variables)
        if place is not None and len(place) > 1:
            self.places.append(place)
        match node:
            case syntax.Literal(_, value) if isinstance(value, bool | int | str):
                self.literals.append(value)
            case syntax.Select(_, operand):
                self.read(operand, bound)
            case syntax.Call(_, _, target, args):
                for argument in (*args, *(() if target is None else (target,))):
                    self.read(argument, bound)
                self._keys(node, bound)
            case syntax.ListLiteral() | syntax.MapLiteral() | syntax.Struct():
                for argument in syntax.children(node):
                    self.read(argument, bound)
                self._made(node)
            case syntax.Comprehension():
                self._loop(node, bound)
            case _:
                return

    def _keys(self, node: syntax.Call, bound: Mapping[str, Path]) -> None:
        """`'key' in object.metadata.labels` reads that label."""
        if node.function == "@in" and len(node.args) == 2:
            key, place = node.args[0], place_of(node.args[1], bound, self._variables)
            if isinstance(key, syntax.Literal) and isinstance(key.value, str) and place:
                self.places.append((*place, key.value))

    def _made(self, node: syntax.Expr) -> None:
        """Note what a mutation writes: it is what it would find if it had nothing to do."""
        match node:
            case syntax.MapLiteral(_, entries):
                self.literals += _constant_map(entries)
            case syntax.Struct(_, name, fields) if name == PATCH:
                for path in (field.value for field in fields if field.name == "path"):
                    if isinstance(path, syntax.Literal) and isinstance(path.value, str):
                        self.places.append(("object", *pointer_steps(path.value)))
            case syntax.Struct(_, name) if name == CONFIGURATION:
                self.places += written_places(node, ("object",))
            case _:
                return

    def _loop(self, node: syntax.Comprehension, bound: Mapping[str, Path]) -> None:
        self.read(node.iter_range, bound)
        place = place_of(node.iter_range, bound, self._variables)
        inner = dict(bound)
        if place is not None:
            inner[node.iter_var] = (*place, 0)
            self.places.append((*place, 0))
        for child in (node.accu_init, node.condition, node.step, node.result):
            self.read(child, inner)


# --- Changed values ----------------------------------------------------------
#
# Objects with one value changed, wherever it stands and whatever is missing on the way to it.


def with_value_at(data: JsonObject, steps: Sequence[str | int], value: object) -> JsonDict | None:
    """Return a copy with the value there, without what is there for None; None where nothing can be
    changed. Of a list the first item stands for all."""
    changed: dict[str, object] = copy.deepcopy(dict(data))
    return changed if _put(changed, steps, value) else None


def with_second_item(
    data: JsonObject, steps: Sequence[str | int], value: Json
) -> dict[str, Json] | None:
    """Return a copy in which the first list on the way has one more item: the first one with the
    value there. None where there is no such list, or nothing in it."""
    length = next((i for i, step in enumerate(steps) if isinstance(step, int)), 0)
    changed = with_value_at(data, steps, value)
    result: JsonDict = copy.deepcopy(dict(data))
    items, changed_items = value_at(result, steps[:length]), value_at(changed, steps[:length])
    if not length or not isinstance(items, list) or not items or not changed_items:
        return None
    other = changed_items[0]
    if isinstance(other, dict) and isinstance(other.get("name"), str):
        other = {**other, "name": f"{other['name']}-2"}
    items.append(other)
    return result


def _put(holder: Any, steps: Sequence[str | int], value: object) -> bool:  # noqa: ANN401 - any JSON
    """Change a value deep inside, with what is missing on the way to it; None takes it away."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if following is None:
            return _set(holder, step, value)
        empty: Json = [] if isinstance(following, int) else {}
        if isinstance(holder, dict) and isinstance(step, str):
            if not isinstance(holder.get(step), dict | list):
                holder[step] = empty
            holder = holder[step]
        elif isinstance(holder, list) and isinstance(step, int):
            if not holder:
                holder.append(empty)
            holder = holder[0]
        else:
            return False
    return False


def _set(holder: object, step: str | int, value: object) -> bool:
    if isinstance(holder, dict) and isinstance(step, str):
        if value is None:
            return holder.pop(step, None) is not None
        holder[step] = value
        return True
    if isinstance(holder, list) and step == 0:
        if value is None:
            holder.clear()
        else:
            holder[:] = [value]
        return True
    return False


# --- Seed objects ------------------------------------------------------------
#
# Objects to begin a search with: small, and such as an API server takes.

_NAME: Final = "example"
_ANYTHING: Final = Schema(preserve_unknown=True)
_POD: Final = {"containers": [{"name": "main", "image": "example.com/app:1"}]}
_LABELS: Final = {"app": _NAME}
_TEMPLATE: Final = {"metadata": {"labels": _LABELS}, "spec": _POD}
_WORKLOAD: Final = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_JOB: Final = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}

_REST: Final[dict[str, JsonObject]] = {
    "Pod": {"spec": _POD},
    "PodTemplate": {"template": _TEMPLATE},
    "ReplicationController": {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    "ReplicaSet": {"spec": _WORKLOAD},
    "Deployment": {"spec": _WORKLOAD},
    "DaemonSet": {"spec": _WORKLOAD},
    "StatefulSet": {"spec": {**_WORKLOAD, "serviceName": _NAME}},
    "Job": {"spec": _JOB},
    "CronJob": {"spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": _JOB}}},
    "Service": {"spec": {"ports": [{"port": 80}]}},
    "Ingress": {"spec": {"defaultBackend": {"service": {"name": _NAME, "port": {"number": 80}}}}},
    "PersistentVolumeClaim": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
    },
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "HorizontalPodAutoscaler": {
        "spec": {
            "maxReplicas": 2,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": _NAME},
        }
    },
    "PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": {}}},
    "RoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": _NAME}
    },
    "ClusterRoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _NAME}
    },
    "StorageClass": {"provisioner": "example.com/disk"},
    "PriorityClass": {"value": 1},
    "RuntimeClass": {"handler": _NAME},
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]},
    "PersistentVolume": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/mnt"},
        }
    },
    "CustomResourceDefinition": {
        "spec": {
            "group": "example.com",
            "names": {"kind": "Example", "plural": "examples"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        }
    },
}
"""What objects of a kind need besides a name."""


def seed_object(kind: GroupVersionKind, labels: Mapping[str, str]) -> dict[str, object]:
    """Return an object of a built-in kind, with these labels."""
    return {**_head(kind, labels), **_REST.get(kind.kind, {})}


def with_own_name(obj: JsonDict) -> dict[str, object]:
    """Return a CustomResourceDefinition with the name that its group and its plural ask for; other
    objects as they are."""
    match obj:
        case {
            "kind": "CustomResourceDefinition",
            "metadata": {"name": str(name)},
            "spec": {"group": str(group), "names": {"plural": str(plural)}},
        } if name != f"{plural}.{group}":
            return {**obj, "metadata": {**obj["metadata"], "name": f"{plural}.{group}"}}
    return obj


_NAMES: Final = {"CustomResourceDefinition": "examples.example.com"}
"""Of kinds whose names follow from what is in them."""


def _head(kind: GroupVersionKind, labels: Mapping[str, str]) -> dict[str, Json]:
    about: dict[str, Json] = {"name": _NAMES.get(kind.kind, _NAME)}
    if labels:
        about["labels"] = dict(labels)
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": about}


class SeedObjects:
    """Makes them; kinds that `definitions` define are made of what their schemas require."""

    def __init__(self, definitions: Iterable[JsonObject]) -> None:
        self._schemas = {
            GroupVersionKind(spec["group"], version["name"], spec["names"]["kind"]): (
                version.get("schema") or {}
            ).get("openAPIV3Schema", {})
            for spec in (definition["spec"] for definition in definitions)
            for version in spec["versions"]
        }

    def schema(self, kind: GroupVersionKind) -> Schema | None:
        """Return the schema of a kind, where one is known."""
        schema = self._schemas.get(kind)
        if schema is None:
            return schema_for(kind)
        decoded = decode_schema(schema)
        about = dict.fromkeys(("apiVersion", "kind", "metadata"), _ANYTHING)
        return replace(decoded, properties={**about, **decoded.properties})

    def of(self, kind: GroupVersionKind, labels: Mapping[str, str]) -> JsonDict:
        """Return an object of a kind, with these labels."""
        schema = self._schemas.get(kind)
        if schema is None:
            return seed_object(kind, labels)
        return {**_required(schema), **_head(kind, labels)}


def _required(schema: JsonObject) -> JsonObject:
    """Return the fields that a schema requires, and whole objects below it: they may require
    more."""
    properties: JsonObject = schema.get("properties") or {}
    required = set(schema.get("required") or ())
    return {
        name: _value(property_schema)
        for name, property_schema in properties.items()
        if name in required or (name == "spec" and property_schema.get("type") == "object")
    }


def _value(schema: JsonObject) -> Any:  # noqa: ANN401 - any JSON
    """Return something small of a type."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return _required(schema)
        case "array":
            item = schema.get("items") or {}
            return [_value(item) for _ in range(schema.get("minItems", 0))]
        case "integer" | "number":
            return schema.get("minimum", schema.get("maximum", 1))
        case "boolean":
            return False
        case _:
            return "x" * max(1, schema.get("minLength", 1))
