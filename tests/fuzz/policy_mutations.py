"""Random mutating policies about objects of every kind, and creates and updates of those.

Apply configurations are parts of an object that was changed at random, written as expressions of
the types of its kind; JSON patches add, replace, move and test what an object of the kind has. Each
policy is about one name, so that many of them are there at once.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from celadon.cel.library.strings import quote
from celadon.kube import metadata
from celadon.kube.schemas import Schema, schema_for
from celadon.kube.schemas.schema_packs import resolved
from tests.fuzz.policy_writes import GROUP
from tests.fuzz.servers import Server
from tests.fuzz.writes import Change, Difference, compared, kind_objects, random_changes

Json = Any
_TOGETHER: Final = 40
"""Policies that are prepared together, since a real server takes a while to notice them."""
_VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")
"""Of mutating policies, the one that a campaign prefers first."""


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many policies, request by request, in the newest version that the release has."""
    policies, bindings = paths = _paths(real)
    given = kind_objects(ours, real, f"fuzz-{seed}")
    for first in range(seed, seed + count, _TOGETHER):
        made = [
            _Scenario(number, given)
            for number in range(first, min(first + _TOGETHER, seed + count))
        ]
        for scenario in made:
            yield compared(ours, real, "POST", policies, [scenario.policy] * 2)
            for server in (ours, real):
                server.call("POST", bindings, scenario.binding)
        for server in (ours, real):
            _wait(server, paths, made[0].name)
        for scenario in made:
            yield scenario.created(ours, real)
        for server in (ours, real):
            for scenario in made:
                for path in paths:
                    server.call("DELETE", f"{path}/{scenario.name}")


def _paths(server: Server) -> tuple[str, str]:
    """Return the collections of mutating policies and of their bindings."""
    for version in _VERSIONS:
        path = f"{GROUP}/{version}/mutatingadmissionpolic"
        if server.call("GET", f"{path}ies?limit=1").code == 200:
            return f"{path}ies", f"{path}ybindings"
    raise SystemExit("the server has no mutating policies")


def _wait(server: Server, paths: tuple[str, str], name: str) -> None:
    """Make one more policy, and wait until it is in effect: so are those before it then."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
        "resourceNames": [f"{name}-last"],
    }
    members = "op: 'add', path: '/data', value: {'is': 'there'}"
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "reinvocationPolicy": "Never",
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": f"[JSONPatch{{{members}}}]"}}
        ],
    }
    meta = {"metadata": {"name": f"{name}-last"}}
    policies, bindings = paths
    server.call("POST", policies, {**meta, "spec": spec})
    server.call("POST", bindings, {**meta, "spec": {"policyName": f"{name}-last"}})
    for _ in range(100):
        server.settle()
        made = server.call("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", meta)
        if made.body.get("data"):
            break
    for path in paths:
        server.call("DELETE", f"{path}/{name}-last")


class _Scenario:
    def __init__(self, seed: int, given: dict[str, list[Json]]) -> None:
        self._random = random = Random(f"mutations-{seed}")
        self.name = f"mut-{seed}"
        self.collection = random.choice(sorted(given))
        self.object = copy.deepcopy(random.choice(given[self.collection]))
        self.object["metadata"]["name"] = self.name
        gvk = metadata.gvk(self.object)
        rule = {
            "apiGroups": [gvk.group],
            "apiVersions": [gvk.version],
            "operations": ["CREATE", "UPDATE"],
            "resources": [self.collection.rpartition("/")[2]],
            "resourceNames": [self.name],
        }
        mutations = [self._mutation(schema_for(gvk)) for _ in range(random.choice((1, 1, 1, 2)))]
        self.policy: Json = {
            "metadata": {"name": self.name},
            "spec": {
                "matchConstraints": {"resourceRules": [rule]},
                "failurePolicy": random.choice(("Fail", "Fail", "Ignore")),
                "reinvocationPolicy": random.choice(("Never", "IfNeeded")),
                "mutations": mutations,
            },
        }
        self.binding: Json = {
            "metadata": {"name": self.name},
            "spec": {"policyName": self.name},
        }

    def created(self, ours: Server, real: Server) -> Difference | None:
        path, objects = f"{self.collection}?dryRun=All", [self.object] * 2
        found = compared(ours, real, "POST", path, objects, managed=True)
        if found is None or _in_any_order(found.ours) == _in_any_order(found.real):
            return None
        shown = json.dumps([self.policy["spec"]["mutations"], self.object])
        return Difference(found.method, found.path, shown, found.ours, found.real)

    # --- mutations ---

    def _mutation(self, schema: Schema | None) -> Json:
        if schema is not None and self._random.random() < 0.6:
            return {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": self._applied(schema)},
            }
        return {"patchType": "JSONPatch", "jsonPatch": {"expression": self._patch()}}

    def _applied(self, schema: Schema) -> str:
        """A part of an object of the kind, changed a little."""
        changed = copy.deepcopy(self.object)
        for change in random_changes(changed, self._random):
            _made(change, changed)
        for key in ("apiVersion", "kind", "metadata"):
            if self._random.random() < 0.9:
                changed.pop(key, None)
        return self._written(self._part(changed, 0), schema, "Object")

    def _part(self, value: Json, depth: int) -> Json:
        """Fewer members of a value; lists keep their items mostly, which have keys."""
        random = self._random
        if isinstance(value, dict):
            kept = [key for key in value if random.random() < 0.6 or key in ("name", "key")]
            return {key: self._part(value[key], depth + 1) for key in kept}
        if isinstance(value, list):
            items = [self._part(one, depth + 1) for one in value if random.random() < 0.8]
            if items and random.random() < 0.15:
                items.append(copy.deepcopy(random.choice(items)))
            if random.random() < 0.15:
                items.reverse()
            return items
        return value

    def _written(self, value: Json, schema: Schema | None, name: str) -> str:
        """A value as an expression; `name` is that of the type that objects of the schema have."""
        if schema is not None:
            schema = resolved(schema)
        if isinstance(value, dict):
            has_fields = schema is not None and schema.properties
            if has_fields and schema is not None and self._random.random() < 0.97:
                inner = [
                    f"{_field(key)}: "
                    + self._written(one, schema.properties.get(key), f"{name}.{_field(key)}")
                    for key, one in value.items()
                ]
                return f"{name}{{{', '.join(inner)}}}"
            values = None if schema is None else schema.additional_properties
            entries = [
                f"{quote(key)}: {self._open(one, values, f'{name}.@values')}"
                for key, one in value.items()
            ]
            return f"{{{', '.join(entries)}}}"
        if isinstance(value, list):
            items = None if schema is None else schema.items
            return f"[{', '.join(self._open(one, items, name) for one in value)}]"
        if isinstance(value, str):
            return quote(value)
        return json.dumps(value)

    def _open(self, value: Json, schema: Schema | None, name: str) -> str:
        """A value among others; one that has no type may be anything."""
        text = self._written(value, schema, name)
        return text if schema is not None and schema.type else f"dyn({text})"

    def _patch(self) -> str:
        random = self._random
        places = [*_pointers(self.object)]
        changed = copy.deepcopy(self.object)
        for change in random_changes(changed, random):
            _made(change, changed)
        values = dict(_pointers(changed))
        operations = []
        for _ in range(random.choice((1, 1, 2, 3))):
            op = random.choice(
                ("add", "add", "replace", "replace", "remove", "test", "copy", "move")
            )
            pointer, value = random.choice(places)
            if random.random() < 0.5:
                pointer = random.choice(sorted(values))
                value = values[pointer]
            if random.random() < 0.1:
                pointer = random.choice(
                    (pointer + "/zz", pointer + "/0", pointer + "/-", pointer[1:])
                )
            members = [f"op: {quote(op)}", f"path: {quote(pointer)}"]
            if op in ("add", "replace", "test"):
                members.append(f"value: {self._untyped(value)}")
            if op in ("copy", "move"):
                members.append(f"from: {quote(random.choice(places)[0])}")
            operations.append(f"JSONPatch{{{', '.join(members)}}}")
        return f"[{', '.join(operations)}]"

    def _untyped(self, value: Json) -> str:
        if isinstance(value, dict):
            inner = [f"{quote(key)}: dyn({self._untyped(one)})" for key, one in value.items()]
            return f"{{{', '.join(inner)}}}"
        if isinstance(value, list):
            return f"[{', '.join(f'dyn({self._untyped(one)})' for one in value)}]"
        return quote(value) if isinstance(value, str) else json.dumps(value)


_PATHS: Final = re.compile(r"(?<=may not mutate atomic arrays, maps or structs: )[^\"]*")
_LINES: Final = re.compile(r'(?<=errors:)(\\n (?:[^"\\]|\\.)*)')


def _in_any_order(answer: str) -> str:
    """An answer in which what Go finds in the members of maps is sorted."""
    answer = _PATHS.sub(lambda match: ", ".join(sorted(match[0].split(", "))), answer)
    return _LINES.sub(lambda match: "".join(sorted(re.split(r"(?=\\n )", match[0]))), answer)


def _made(change: Change, obj: Json) -> None:
    """Change an object if it has such a place."""
    try:
        change.made(obj)
    except (LookupError, TypeError):
        return


def _field(name: str) -> str:
    """How an expression writes the name of a field."""
    return f"__{name}__" if name in _RESERVED else name


_RESERVED: Final = frozenset({"namespace", "in", "as", "const", "function", "if", "import", "var"})


def _pointers(value: Json, pointer: str = "") -> Iterator[tuple[str, Json]]:
    """Each place below, with what is there."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        place = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
        yield place, one
        if isinstance(one, (dict, list)):
            yield from _pointers(one, place)
