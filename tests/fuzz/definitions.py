"""Random lives of custom resources: definitions that are refused, taken and changed, and objects of
them that are created, defaulted, pruned, ratcheted, converted, printed, scaled and selected; on our
server and on a real one.

A definition is a rich one with a few twists, most of which are wrong. Dry runs tell of refusals;
what both servers take is stored, and objects are asked of it in every version.
"""

from __future__ import annotations

import copy
import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.fuzz.servers import SENT_JSON, Reply, Server
from tests.fuzz.writes import Difference, masked

Json = Any
PATH: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TABLE: Final = "application/json;as=Table;v=v1;g=meta.k8s.io"
MERGE: Final = "application/merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
_TEXT: Final = {"type": "string"}
_POOLS: Final = json.loads(Path(__file__).with_name("pools.json").read_text())["definitions"]
"""Rules with their other members, values, schemas; keywords of schemas with values (`twists`), and
paths elsewhere in a definition with theirs; members of the objects of a definition."""


def definition(group: str, *, columns: bool = True) -> Json:
    """A rich definition of Things with two versions."""
    return _apart(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [
                    {
                        "name": name,
                        "served": True,
                        "storage": name == "v1",
                        "schema": {"openAPIV3Schema": _ROOT},
                        "subresources": {"status": {}, "scale": _SCALE},
                        "selectableFields": [{"jsonPath": ".spec.text"}, {"jsonPath": ".spec.int"}],
                        "additionalPrinterColumns": list(_COLUMNS) if columns else [],
                    }
                    for name in ("v1", "v2")
                ],
            },
        }
    )


_SCALE: Final = {
    "specReplicasPath": ".spec.int",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}
_COLUMNS: Final = (
    {"name": "Text", "type": "string", "jsonPath": ".spec.text"},
    {"name": "Int", "type": "integer", "jsonPath": ".spec.int", "priority": 1},
    {"name": "List", "type": "string", "jsonPath": ".spec.list[*].name", "description": "d"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {"name": "Number", "type": "number", "format": "float", "jsonPath": ".spec.number"},
    {"name": "Flag", "type": "boolean", "jsonPath": ".spec.flag"},
    {"name": "Map", "type": "string", "jsonPath": ".spec.map"},
)
_ROOT: Final = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "int": {"type": "integer"},
                "number": {"type": "number"},
                "flag": {"type": "boolean"},
                "map": {"type": "object", "additionalProperties": _TEXT},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
                "list": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": _TEXT, "port": {"type": "integer", "default": 80}},
                    },
                },
                "either": {"x-kubernetes-int-or-string": True},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "deep": {
                    "type": "object",
                    "default": {},
                    "properties": {
                        "a": {"type": "string", "default": "d"},
                        "n": {"type": "string", "nullable": True, "default": "e"},
                        "o": {"type": "object", "properties": {"b": _TEXT}},
                    },
                },
                "embedded": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "phase": _TEXT,
                "replicas": {"type": "integer"},
                "selector": _TEXT,
            },
        },
    },
}


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many definitions, request by request."""
    for server in (ours, real):
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "definitions"}})
    for number in range(seed, seed + count):
        yield from _Life((ours, real), Random(f"definitions-{number}"), f"d{number}.dev").steps()


class _Life:
    """What is asked about one definition."""

    def __init__(self, servers: tuple[Server, Server], chance: Random, group: str) -> None:
        self.servers = servers
        self.chance = chance
        self.group = group
        self.log: list[str] = []

    def steps(self) -> Iterator[Difference | None]:
        """Dry runs, then the life of the first definition that is taken."""
        for _ in range(12):
            yield self._asked("POST", f"{PATH}?dryRun=All", self._twisted(definition(self.group)))
        for _ in range(12):
            kept = self._twisted(definition(self.group), count=self.chance.choice((0, 1, 2, 3)))
            answers = [server.call("POST", PATH, kept) for server in self.servers]
            codes = [answer.code for answer in answers]
            if codes == [201, 201]:
                break
            if codes[0] != codes[1]:
                yield self._difference("POST", PATH, kept, answers)
                return
        else:
            return
        try:
            self.log.append("; ".join(self.twists))
            yield from self._lived(kept)
        finally:
            for server in self.servers:
                server.call("DELETE", f"{PATH}/{kept['metadata']['name']}")

    def _lived(self, kept: Json) -> Iterator[Difference | None]:
        name = kept["metadata"]["name"]
        for server in self.servers:
            wait_until_served(server, kept)
        yield self._asked("GET", f"{PATH}/{name}")
        names = kept["spec"]["names"]
        space = "/namespaces/definitions" if kept["spec"]["scope"] == "Namespaced" else ""
        self.versions = [one["name"] for one in kept["spec"]["versions"]]
        self.base = f"/apis/{kept['spec']['group']}/{{}}{space}/{names['plural']}"
        self.kind = names["kind"]
        for number in range(26):
            found = self._step()
            yield found
            if number % 9 == 8:
                changed = self._twisted(kept, count=self.chance.choice((1, 1, 2)))
                changed["metadata"] = {"name": name}
                found = self._asked("PUT", f"{PATH}/{name}", changed)
                yield found
                if found:
                    return
                for server in self.servers:
                    server.settle()

    def _step(self) -> Difference | None:
        chance = self.chance
        version = chance.choice(self.versions)
        path = self.base.format(version)
        one = f"{path}/{chance.choice('abc')}"
        query = chance.choice(
            ("", "", "", "?fieldValidation=Strict", "?fieldValidation=Ignore", "?dryRun=All")
        )
        draw = chance.randrange(12)
        body = self._object(version, one.rpartition("/")[2])
        if draw < 3:
            return self._asked("POST", path + query, body)
        if draw == 3:
            return self._asked("PUT", one + query, body)
        if draw in (4, 5):
            part = chance.choice(("", "", "/status", "/scale"))
            patch = {key: body[key] for key in body if key in ("spec", "status")}
            if part == "/scale":
                patch = {"spec": {"replicas": chance.choice((0, 3, -1, "x", None))}}
            return self._asked("PATCH", one + part + query, patch, {"content-type": MERGE})
        if draw == 6:
            return self._asked(
                "PATCH", f"{one}?fieldManager=m&force=true", body, {"content-type": APPLY}
            )
        if draw == 7:
            return self._asked("GET", one + chance.choice(("", "/scale", "/status")))
        if draw == 8:
            return self._asked("GET", path, None, {"accept": TABLE})
        if draw == 9:
            field = chance.choice(
                (
                    "spec.text=x",
                    "spec.int=1",
                    "spec.int!=1",
                    "spec.number=1",
                    "status.phase=a",
                    "metadata.name=a",
                )
            )
            return self._asked("GET", f"{path}?fieldSelector={field}")
        if draw == 10:
            return self._asked("PUT", f"{one}/status", body)
        return self._asked("DELETE", one)

    def _object(self, version: str, name: str) -> Json:
        chance = self.chance
        names = chance.sample(sorted(_POOLS["members"]), chance.choice((0, 1, 2, 3, 4)))
        spec: Json = {one: chance.choice(_POOLS["members"][one]) for one in names}
        if spec and chance.random() < 0.15:
            spec[chance.choice(sorted(spec))] = chance.choice(_POOLS["values"])
        made: Json = {
            "apiVersion": f"{self.group}/{version}",
            "kind": self.kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        if chance.random() < 0.3:
            made["status"] = chance.choice(
                (
                    {"phase": "a"},
                    {"replicas": 2, "selector": "a=b"},
                    {"zz": 1},
                    None,
                    {"replicas": -1},
                )
            )
        return made

    # --- definitions ---

    def _twisted(self, kept: Json, count: int | None = None) -> Json:
        chance = self.chance
        made = _apart(kept)
        self.twists: list[str] = []
        for _ in range(chance.choice((1, 1, 2, 2, 3)) if count is None else count):
            try:
                if chance.random() < 0.35:
                    self._twist_elsewhere(made)
                else:
                    self._twist_schema(made)
            except (LookupError, TypeError, AttributeError):
                continue
        return made

    def _twist_elsewhere(self, made: Json) -> None:
        path, values = self.chance.choice(sorted(_POOLS["elsewhere"].items()))
        *way, last = path.split(".")
        holder = made
        for step in way:
            holder = holder[int(step) if step.isdigit() else step]
        value = copy.deepcopy(self.chance.choice(values))
        holder[int(last) if last.isdigit() else last] = value
        self.twists.append(f"{path} = {json.dumps(value)}")

    def _twist_schema(self, made: Json) -> None:
        chance = self.chance
        version = chance.choice(made["spec"]["versions"])
        path, node = chance.choice(list(_nodes(version["schema"]["openAPIV3Schema"])))
        before = {**node}
        draw = chance.random()
        if draw < 0.2:
            rule: Json = {"rule": chance.choice(_POOLS["rules"])}
            for key, values in _POOLS["rule_parts"].items():
                if chance.random() < 0.2:
                    rule[key] = chance.choice(values)
            node.setdefault("x-kubernetes-validations", []).append(rule)
        elif draw < 0.3 and "properties" in node:
            node["properties"]["new"] = copy.deepcopy(chance.choice(_POOLS["schemas"]))
        elif draw < 0.4 and len(node) > 1:
            node.pop(chance.choice(sorted(node)))
        else:
            key = chance.choice(sorted(_POOLS["twists"]))
            node[key] = copy.deepcopy(chance.choice(_POOLS["twists"][key]))
        gone = sorted(before.keys() - node.keys())
        made_new = {k: v for k, v in node.items() if k not in before or before[k] is not v}
        if "properties" in node and "new" in node["properties"]:
            made_new = {"new": node["properties"]["new"]}
        if "x-kubernetes-validations" in node:
            made_new["x-kubernetes-validations"] = node["x-kubernetes-validations"]
        self.twists.append(
            f"{version['name']} {path or 'root'}: {json.dumps(made_new)} without {gone}"
        )

    # --- asking ---

    def _asked(
        self,
        method: str,
        path: str,
        body: Json = None,
        headers: Mapping[str, str] = SENT_JSON,
    ) -> Difference | None:
        answers = []
        for server in self.servers:
            sent = body
            if method == "PUT":
                stored = server.call("GET", path.partition("?")[0]).body
                meta = stored.get("metadata") or {} if isinstance(stored, dict) else {}
                version = {k: meta[k] for k in ("resourceVersion",) if k in meta}
                sent = {**body, "metadata": {**body["metadata"], **version}}
            answers.append(server.call(method, path, sent, headers))
        return self._difference(method, path, body, answers)

    def _difference(
        self, method: str, path: str, body: Json, answers: list[Reply]
    ) -> Difference | None:
        told = [answer_text(answer) for answer in answers]
        shown = "; ".join(self.twists) if path.startswith(PATH) else json.dumps(body)
        if told[0] == told[1] or answers[1].body == {"message": "no answer"}:
            if "dryRun=All" not in path:
                self.log.append(f"{method} {path} {shown} -> {answers[1].code}")
            return None
        what = shown + "\n    after " + "\n      ".join(self.log)
        return Difference(method, path, what, *told)


_UNKNOWN: Final = "field not declared in schema"
"""Go reads the members of a map in any order, and stops at the first that is not declared."""
_TYPE: Final = re.compile(r"selfType\d+")


def _apart(value: Json) -> Json:
    """A copy whose parts share nothing."""
    return json.loads(json.dumps(value))


def _nodes(schema: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """All schemas below, and itself, with where they are."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from _nodes(inner, f"{path}.{name}")
    for key in ("items", "additionalProperties", "not"):
        yield from _nodes(schema.get(key), f"{path}.{key}")
    for key in ("allOf", "anyOf", "oneOf"):
        for inner in schema.get(key) or ():
            yield from _nodes(inner, f"{path}.{key}")


def wait_until_served(server: Server, kept: Json) -> None:
    server.settle()
    spec = kept["spec"]
    served = [one["name"] for one in spec["versions"] if one.get("served")]
    for _ in range(30):
        codes = {
            server.call("GET", f"/apis/{spec['group']}/{one}/{spec['names']['plural']}").code
            for one in served
        }
        if 404 not in codes and served:
            return
        time.sleep(0.1)


def answer_text(reply: Reply) -> str:
    """An answer without what is a server's own; causes are in an order of their own, as Go walks
    the properties of schemas in any order."""
    body = copy.deepcopy(reply.body)
    if isinstance(body, dict):
        for item in (body, *(body.get("items") or ())):
            managers = (item.get("metadata") or {}).get("managedFields", [])
            managers.sort(key=lambda one: json.dumps({**one, "time": ""}, sort_keys=True))
        for row in body.get("rows") or ():
            ((row["object"] or {}).get("metadata") or {}).pop("managedFields", None)
            row["cells"] = [
                "AGE" if isinstance(c, str) and c.endswith("s") and c[:-1].isdigit() else c
                for c in row["cells"]
            ]
        causes = (body.get("details") or {}).get("causes")
        if causes and len(causes) > 1:
            body["details"]["causes"] = sorted(
                causes, key=lambda one: json.dumps(one, sort_keys=True)
            )
            body["message"] = ""
        if reply.code == 500 and _UNKNOWN in body["message"]:
            body["message"] = _UNKNOWN
    told = masked(json.dumps([reply.code, body, sorted(reply.warnings)], sort_keys=True))
    return _TYPE.sub("selfType", told)
