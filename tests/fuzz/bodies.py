"""Random bodies: objects of all kinds as JSON, YAML, protobuf and what is none of these, with
content types, `Accept` headers and parameters that fit or do not; to our server and a real one.

Nothing is kept: what is asked is a dry run, unless a parameter says otherwise.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final
from urllib.parse import quote

from celadon.goyaml import yaml_text
from celadon.kube.protobuf import ProtobufError, encode
from tests.fuzz.applies import DEFINITION
from tests.fuzz.reads import AGENTS, TABLES, TYPES
from tests.fuzz.servers import Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference, random_changes, seeds

Json = Any
JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
THINGS: Final = "/apis/fuzz.example.com/v1/namespaces/{}/things"
SENT_TYPES: Final = (
    *(JSON, YAML, PROTOBUF, "", "application/cbor", "text/plain", "application/json;charset=utf-8"),
    *("APPLICATION/JSON", "application/json;x", "application/yaml, application/json", "*/*", "x"),
    *("application/apply-patch+yaml", "application/merge-patch+json", "application/x-yaml"),
    "application/json;as=Table;v=v1;g=meta.k8s.io",
)
PARAMETERS: Final = {
    "dryRun": ("All", "All", "", "Foo", "all"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "", "Foo", "strict"),
    "fieldManager": ("m", "", "x" * 128, "x" * 129, "a\u0001", "é", "a/b"),
    "pretty": ("true", "false", "1", "", "x"),
    "timeout": ("5s", "0", "abc", "-1s", "100h"),
    "force": ("true", "false", "x"),
    "propagationPolicy": ("Foo",),
    "gracePeriodSeconds": ("x",),
    "resourceVersion": ("x",),
    "foo": ("bar",),
}
VERSIONS: Final = (
    "v1",
    "v2",
    "apps/v1",
    "",
    "a/b/c",
    "foo/v1",
    "/v1",
    "v1/",
    "autoscaling/v1",
    5,
    None,
)
NAMES: Final = (
    "List",
    "Pod",
    "PodList",
    "Status",
    "",
    "configmap",
    "Foo",
    "Thing",
    5,
    None,
    "Scale",
)
META: Final[dict[str, tuple[Json, ...]]] = {
    "name": ("", "x", "A", "x" * 254, "a/b", "..", "a%b", 5, None),
    "generateName": ("", "g-", "G_", "x" * 300, "a.", 5, None),
    "namespace": ("", "other", "default", 5, None),
    "uid": ("x", "", 5),
    "resourceVersion": ("1", "", "x", "0", 5),
    "creationTimestamp": (None, "2026-01-01T00:00:00Z", "x", 5, ""),
    "deletionTimestamp": ("2026-01-01T00:00:00Z", None, "x"),
    "deletionGracePeriodSeconds": (5, -1, "x"),
    "generation": (5, -1, 1.5, "x"),
    "selfLink": ("/x", 5),
    "managedFields": ([], [{}], None, "x", [{"manager": "m", "operation": "Update"}]),
    "labels": ({"a": 1}, {"a": None}, {"-": "x"}, [], {"a": "b c"}, None),
    "annotations": ({"a": "x" * 20}, {"a": {}}, {"A B": "x"}, None),
    "finalizers": (["a"], ["e.com/a", "e.com/a"], [""], "x", [None]),
    "foo": (1,),
}


def campaign(
    ours: Server,
    real: Server,
    seed: int,
    count: int,
    recorded: Mapping[str, Sequence[Json]] | None = None,
) -> Iterator[Difference | None]:
    """Of so many bodies, made of what was recorded, one by one."""
    chance, namespace = Random(seed), f"bodies-{seed}"
    given = {**(seeds() if recorded is None else recorded)}
    thing = {"apiVersion": "fuzz.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
    given[THINGS] = [{**thing, "spec": {"replicas": 1, "open": {"a": [1, 1.5, None]}}}]
    for server in (ours, real):
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        account = {"metadata": {"name": "default"}}
        server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", account)
        server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        server.settle()
    for _ in range(count):
        collection = chance.choice(sorted(given))
        obj = _changed(chance.choice(given[collection]), chance)
        yield _compared(ours, real, collection.format(namespace), obj, chance)


def _compared(
    ours: Server, real: Server, path: str, obj: Json, chance: Random
) -> Difference | None:
    media_type = chance.choice((JSON, JSON, YAML, PROTOBUF))
    data = _written(obj, media_type, chance)
    sent = media_type if chance.random() < 0.85 else chance.choice(SENT_TYPES)
    draw = chance.random()
    accept = JSON if draw < 0.5 else chance.choice(TABLES if draw < 0.7 else TYPES)
    headers = {"accept": accept, "content-type": sent}
    if not sent:
        del headers["content-type"]
    if chance.random() < 0.1:
        headers["user-agent"] = chance.choice(AGENTS)
    pairs = [("dryRun", "All")]
    for name in chance.sample(sorted(PARAMETERS), chance.choice((0, 0, 1, 1, 2, 3))):
        pairs.append((name, chance.choice(PARAMETERS[name])))
    chance.shuffle(pairs)
    target = f"{path}?" + "&".join(f"{name}={quote(value)}" for name, value in pairs)
    method = "POST"
    if chance.random() < 0.2:
        method = "PUT"
        target = target.replace("?", "/absent?", 1)
    shown = [told(server.ask(method, target, data, headers)) for server in (ours, real)]
    if shown[0] == shown[1]:
        return None
    return Difference(method, target, f"{headers} {data!r}", *shown)


def _changed(obj: Json, chance: Random) -> Json:
    """The object with a few strange values in what all objects have, or in a field of its kind."""
    made = copy.deepcopy(obj)
    made["metadata"].pop("namespace", None)
    if made["kind"] == "Pod":
        made["spec"]["automountServiceAccountToken"] = False
    draw = chance.random()
    if draw < 0.3:
        return made
    if draw < 0.6:
        for name in chance.sample(sorted(META), chance.choice((1, 1, 2))):
            made["metadata"][name] = chance.choice(META[name])
    elif draw < 0.7:
        made["apiVersion"] = chance.choice(VERSIONS)
    elif draw < 0.8:
        made["kind"] = chance.choice(NAMES)
    elif draw < 0.85:
        made.pop(chance.choice(("apiVersion", "kind", "metadata")))
    elif draw < 0.9:
        made[chance.choice(("foo", "Metadata", "Kind", "status", "spec"))] = chance.choice(
            (1, "x", {}, [], None, {"foo": 1})
        )
    else:
        for change in random_changes(made, chance):
            change.made(made)
    return made


def _written(obj: Json, media_type: str, chance: Random) -> bytes:
    if media_type == PROTOBUF:
        try:
            data = encode(obj)
        except (ProtobufError, ValueError, TypeError, AttributeError, KeyError):
            data = json.dumps(obj).encode()
    elif media_type == YAML:
        data = yaml_text(obj).encode()
    else:
        data = json.dumps(obj).encode()
    if chance.random() < 0.3:
        data = chance.choice(DAMAGES[media_type])(data, chance)
    return data


def _cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _twisted(data: bytes, chance: Random) -> bytes:
    made = bytearray(data)
    made[chance.randrange(len(made))] = chance.choice(b'{}[]":,\x00\xff 0a\n\t-#&')
    return bytes(made)


def _twice(data: bytes, chance: Random) -> bytes:
    """One member of the outermost object, or what is between two commas, twice."""
    parts = data.split(b",")
    at = chance.randrange(len(parts))
    return b",".join([*parts[:at], parts[at], *parts[at:]])


def _behind(data: bytes, chance: Random) -> bytes:
    return data + chance.choice(
        (
            b" ",
            b"x",
            b"{}",
            b"\n---\n",
            b"\n---\na: b\n",
            b"\x00",
            b"// a",
            b"\n...\n",
            b"# c",
            b"]",
        )
    )


def _before(data: bytes, chance: Random) -> bytes:
    return chance.choice(
        (b"\xef\xbb\xbf", b" ", b"\n", b"---\n", b"# c\n", b"%YAML 1.1\n---\n", b"\t", b"[")
    ) + data  # fmt: skip


Damage = Callable[[bytes, Random], bytes]
DAMAGES: Final[dict[str, tuple[Damage, ...]]] = {
    JSON: (_cut, _twisted, _twisted, _twice, _twice, _behind, _before),
    YAML: (_cut, _twisted, _twisted, _behind, _before),
    PROTOBUF: (_cut, _twisted, _twisted, _twisted, _behind, _before),
}
