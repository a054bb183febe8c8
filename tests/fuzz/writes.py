"""Random writes: creates, updates and statuses of built-in kinds, to our server and to a real one.

A seed is an object that a recorded server took, or (`of_every_kind`) one of `kinds.json`, which are
written by hand. It is stored in both, one or two of its fields are
changed, and both are asked for a dry run of that. What is a server's own (times, uids, versions,
addresses) is masked, and causes have no order.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from celadon.kube import metadata
from celadon.kube.schemas.struct_decoding import StructCodec, codec_for, struct_codec
from tests.fuzz.servers import Reply, Server
from tests.recorded.scenarios import scenarios

Json = Any
Way = tuple[str | int, ...]

TEXTS: Final = (
    *("", "a", "A_b", "-x", "x" * 64, "x" * 254, "a.b", "a/b", "a b", "a:b", "é", "*", "../x"),
    *("0", "1", "-1", "0.5", "1Gi", "5m", "10.0.0.1", "::1", "10.0.0.0/8", "http://x", "$(A)"),
    *("2020-01-01T00:00:00Z", "example.com/x", "kubernetes.io/x"),
)
NUMBERS: Final = (0, -1, 1, 2, 80, 101, 65535, 65536, 1 << 31, -(1 << 31) - 1, 10**18, 86400)
KEYS: Final = ("a", "a b", "", "x" * 64, "a/b/c", "-a", "cpu", "memory", "example.com/foo")
_LATER: Final = re.compile(r" is deprecated in v1\.(3[7-9]|[4-9]\d)\+")
"""What a server warns of that was built without its version."""
_MODIFIED: Final = "the object has been modified"
"""What a real server answers when one of its controllers wrote in between."""
_AGAIN: Final = 4
_GENERATED: Final = re.compile(r'"generateName": ("(?:[^"\\]|\\.){1,58}")')
_MERGED: Final = {"content-type": "application/merge-patch+json"}
_KINDS: Final = Path(__file__).with_name("kinds.json")
_SERVERS_OWN: Final = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)
_NAMED: Final = frozenset({"name", "namespace", "generateName"})
_NOT_STORED: Final = re.compile(r"(reviews?|bindings?|tokens?|eviction|scale|events)$")
_MASKS: Final = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r'(resourceVersion\\*": ?\\*)"\d+'), r'\1"N'),
    (re.compile(r"\bkube-api-access-\w{5}\b"), "kube-api-access"),
    (re.compile(r"\b10\.0\.0\.\d+\b"), "ADDRESS"),
    (re.compile(r"\b3[0-2]\d{3}\b"), "30000"),
    (re.compile(r"\(0x[0-9a-f]+\)"), "(ADDRESS)"),
    (re.compile(r'(?<=in scheme \\")k8s.io/kubernetes/(?=pkg/)'), ""),  # if it was built so
    (re.compile(r"(\\u00a0|\u00a0| )+"), " "),  # go-cmp has one or the other, by chance
    (re.compile(r"\bkube-apiserver-1\.\d+"), "kube-apiserver"),  # as the binary is called
)


@dataclass(frozen=True, slots=True)
class Change:
    """What stands at a path afterwards; a field that is `gone` does not."""

    path: Way
    value: Json
    gone: bool = False

    def __str__(self) -> str:
        return f"{self.path} = {self.value!r}"

    def made(self, obj: Json) -> None:
        """Change an object. Raises LookupError and TypeError where the path leads nowhere."""
        *way, last = self.path
        for step in way:
            obj = obj[step]
        if self.gone:
            del obj[last]
        else:
            obj[last] = copy.deepcopy(self.value)


@dataclass(frozen=True, slots=True)
class Difference:
    """A write that is answered otherwise."""

    method: str
    path: str
    what: str
    ours: str
    real: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}\n    {self.what}\n  ours {self.ours}\n  real {self.real}"


Campaign: TypeAlias = Callable[[Server, Server, int, int], Iterator[Difference | None]]
"""Ours and a real server, the first seed, and how many."""


def seeds() -> dict[str, list[Json]]:
    """By collection, with `{}` for the namespace: what recorded servers took of it."""
    found: dict[str, dict[str, Json]] = {}
    for scenario in scenarios():
        for step in json.loads(scenario.path.read_text()).get("steps", ()):
            path = step.get("path", "").partition("?")[0]
            body, answer = step.get("body"), step.get("want") or {}
            if step.get("method") != "POST" or answer.get("code") != 201:
                continue
            if not isinstance(body, dict) or _NOT_STORED.search(path):
                continue
            if "metadata" not in body or codec_for(metadata.gvk(body)) is None:
                continue
            collection = re.sub(r"/namespaces/[^/]+/", "/namespaces/{}/", path)
            content = {key: value for key, value in body.items() if key != "metadata"}
            found.setdefault(collection, {}).setdefault(json.dumps(content, sort_keys=True), body)
    return {name: list(objects.values()) for name, objects in sorted(found.items())}


def of_every_kind(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many writes of objects that fill nearly every field of their kinds, one by one."""
    given = json.loads(_KINDS.read_text())
    yield from campaign(ours, real, seed, count, given)


def campaign(
    ours: Server,
    real: Server,
    seed: int,
    count: int,
    given: Mapping[str, Sequence[Json]] | None = None,
) -> Iterator[Difference | None]:
    """Of so many writes of what was recorded, or `given`, one by one."""
    given = seeds() if given is None else given
    chance, namespace = random.Random(seed), f"fuzz-{seed}"
    _prepared((ours, real), namespace)
    served = sorted(one for one in given if _is_served(real, one.format(namespace)))
    done = 0
    while done < count:
        collection = chance.choice(served)
        obj = copy.deepcopy(chance.choice(given[collection]))
        for field in ("namespace", "generateName"):
            obj["metadata"].pop(field, None)
        obj["metadata"].setdefault("name", f"fuzz-{done}")
        if obj["kind"] == "Pod":  # the name of the token's volume is random
            obj["spec"]["automountServiceAccountToken"] = False
        for found in _writes(ours, real, collection.format(namespace), obj, chance):
            done += 1
            yield found


def kind_objects(ours: Server, real: Server, namespace: str) -> dict[str, list[Json]]:
    """Objects of every kind that the real server has, by their collections in a new namespace."""
    _prepared((ours, real), namespace)
    given: dict[str, list[Json]] = json.loads(_KINDS.read_text())
    placed = {collection.format(namespace): objects for collection, objects in given.items()}
    return {one: objects for one, objects in placed.items() if _is_served(real, one)}


def _prepared(servers: Sequence[Server], namespace: str) -> None:
    for server in servers:
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        account = {"metadata": {"name": "default"}}
        server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", account)


def _is_served(server: Server, collection: str) -> bool:
    """Whether its release has such a collection."""
    return server.call("GET", f"{collection}?limit=1").code == 200


def _writes(
    ours: Server, real: Server, collection: str, obj: Json, chance: random.Random
) -> Iterator[Difference | None]:
    yield _compared(ours, real, "POST", collection, [obj, obj], random_changes(obj, chance), chance)
    stored = [server.call("POST", collection, obj) for server in (ours, real)]
    if not all(reply.code == 201 for reply in stored):
        return
    name = obj["metadata"]["name"]
    path = f"{collection}/{name}"
    if obj.get("status"):
        for server in (ours, real):
            kept = server.call("GET", path).body
            server.call("PUT", f"{path}/status", {**kept, "status": obj["status"]})
    for part in ("", "", "", "/status"):
        found: Difference | None = None
        for _ in range(_AGAIN):
            kept = [server.call("GET", path).body for server in (ours, real)]
            changes = random_changes(kept[1], chance, "status" if part else "")
            found = _compared(ours, real, "PUT", path + part, kept, changes, chance)
            if found is None or _MODIFIED not in found.real:
                break
        yield found
    for server in (ours, real):
        server.call("DELETE", f"{path}?gracePeriodSeconds=0&propagationPolicy=Background")
        server.call("PATCH", path, {"metadata": {"finalizers": None}}, _MERGED)


def _compared(
    ours: Server,
    real: Server,
    method: str,
    path: str,
    objects: list[Json],
    changes: tuple[Change, ...],
    chance: random.Random,
) -> Difference | None:
    checked = chance.choice(("Strict", "Warn", "Ignore"))
    changed = copy.deepcopy(objects)
    try:
        for obj in changed:
            for change in changes:
                change.made(obj)
    except (LookupError, TypeError):
        return None
    asked = f"{path}?dryRun=All&fieldValidation={checked}"
    found = compared(ours, real, method, asked, changed)
    return found and replace(found, what="; ".join(map(str, changes)))


def compared(
    ours: Server,
    real: Server,
    method: str,
    path: str,
    objects: Sequence[Json],
    *,
    exact: bool = False,
    managed: bool = False,
) -> Difference | None:
    """What the two say of an object each, if that differs; `exact`, if the order of causes does;
    `managed`, if who owns its fields does."""
    told = [
        plain(server.call(method, path, obj), exact=exact, managed=managed)
        for server, obj in zip((ours, real), objects, strict=True)
    ]
    prefixes = {*_GENERATED.findall(json.dumps(objects))}
    for prefix in prefixes:
        told = [_named_alike(text, json.loads(prefix)) for text in told]
    return None if told[0] == told[1] else Difference(method, path, json.dumps(objects[1]), *told)


def _named_alike(answer: str, prefix: str) -> str:
    """An answer without the random ends of generated names."""
    for shown in (json.dumps(prefix)[1:-1], json.dumps(json.dumps(prefix)[1:-1])[1:-1]):
        answer = re.sub(re.escape(shown) + "[a-z0-9]{5}", lambda _: f"{prefix}GENERATED", answer)
    return answer


def plain(reply: Reply, *, exact: bool = False, managed: bool = False) -> str:
    """An answer without what is a server's own; causes are in an order of their own unless it is
    to be `exact`, and nobody owns fields unless they are `managed`."""
    body = json.loads(masked(json.dumps(reply.body)))
    if isinstance(body, dict):
        if not managed:
            (body.get("metadata") or {}).pop("managedFields", None)
        causes = (body.get("details") or {}).get("causes")
        if not exact and body.get("kind") == "Status" and causes:
            body["details"]["causes"] = sorted(
                causes, key=lambda one: sorted(map(str, one.items()))
            )
            body["message"] = "" if len(causes) > 1 else body["message"]
    warnings = sorted(one for one in reply.warnings if not _LATER.search(one))
    return json.dumps([reply.code, body, warnings], sort_keys=True)


def masked(text: str) -> str:
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


# --- What is changed ---------------------------------------------------------


def random_changes(obj: Json, chance: random.Random, below: str = "") -> tuple[Change, ...]:
    """One or two changes of an object whose kind has a schema, or of what is below one field."""
    changed, codec = copy.deepcopy(obj), codec_for(metadata.gvk(obj))
    made: list[Change] = []
    for _ in range(chance.choice((1, 1, 1, 2))):
        places = [
            place for place in _places(changed, codec) if not below or place[0][:1] == (below,)
        ]
        if not places:
            break
        change = _change(*chance.choice(places), chance)
        change.made(changed)
        made.append(change)
    return tuple(made)


def _places(value: Json, node: Any, path: Way = ()) -> Iterator[tuple[Way, Json, Any]]:
    """Each value below, with its path and its type; and each field that is not there, with None."""
    if path:
        yield path, value, node
    codec = _codec(node)
    if isinstance(value, dict):
        nodes = {} if codec is None else codec.field_nodes
        inner = node.get("values") if isinstance(node, dict) else None
        for key in sorted({*value, *nodes}):
            if not path and key in ("apiVersion", "kind"):
                continue
            if path == ("metadata",) and key in _SERVERS_OWN | _NAMED:
                continue
            if key in value:
                yield from _places(value[key], nodes.get(key, inner), (*path, key))
            else:
                yield (*path, key), None, nodes[key]
    elif isinstance(value, list):
        inner = node.get("items") if isinstance(node, dict) else None
        for index, item in enumerate(value):
            yield from _places(item, inner, (*path, index))


def _codec(node: Any) -> StructCodec | None:
    if isinstance(node, StructCodec):
        return node
    if not isinstance(node, dict) or "ref" not in node:
        return None
    try:
        return struct_codec(node["ref"])
    except KeyError:
        return None


def _change(path: Way, value: Json, node: Any, chance: random.Random) -> Change:
    draw = chance.random()
    if value is not None and draw < 0.25:
        return Change(path, None, gone=True)
    if draw < 0.3:
        return Change(path, None)
    if isinstance(value, list) and value and draw < 0.6:
        return Change(path, [*value, value[0]])
    if isinstance(value, dict) and _codec(node) is None and draw < 0.8:
        return Change((*path, chance.choice(KEYS)), chance.choice(TEXTS))
    if isinstance(value, bool):
        return Change(path, not value)
    return Change(path, _random(node, chance))


def _random(node: Any, chance: random.Random, depth: int = 0) -> Json:
    """A value of a type; of one that is not known, anything."""
    codec = _codec(node)
    if codec is not None:
        fields = codec.field_nodes.items() if depth < 4 else ()
        return {
            key: _random(inner, chance, depth + 1)
            for key, inner in fields
            if chance.random() < 0.25
        }
    if isinstance(node, dict) and "items" in node:
        return [_random(node["items"], chance, depth + 1) for _ in range(chance.randrange(3))]
    if isinstance(node, dict) and "values" in node:
        return {chance.choice(KEYS): _random(node["values"], chance, depth + 1)}
    if isinstance(node, dict) and "enum" in node and chance.random() < 0.6:
        return chance.choice(node["enum"])
    kind = node.get("type") if isinstance(node, dict) else node
    if kind in ("int32", "int64", "double"):
        return chance.choice(NUMBERS)
    if kind == "boolean":
        return chance.random() < 0.5
    if kind is None or chance.random() < 0.03:
        return chance.choice((1, "x", [], {}, True, 1.5))
    return chance.choice(TEXTS)
