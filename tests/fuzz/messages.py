"""Random objects of all kinds in protobuf, sent and asked for: creates, updates, patches, gets and
lists; to our server and to a real one.

Answers are compared after they were decoded. Besides, what a real server has written is decoded
and encoded again, and must be the same bytes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from celadon.kube.protobuf import MEDIA_TYPE, ProtobufError, decode, encode
from tests.fuzz.servers import Sent, Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference, random_changes, seeds

Json = Any
KINDS: Final = Path(__file__).with_name("kinds.json")
JSON: Final = "application/json"
ACCEPTED: Final = (
    *(MEDIA_TYPE,) * 5,
    JSON,
    f"{MEDIA_TYPE};as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    f"{MEDIA_TYPE};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,{MEDIA_TYPE}",
    f"{MEDIA_TYPE};as=Table;v=v1;g=meta.k8s.io,{JSON}",
    f"{MEDIA_TYPE};as=Table;v=v1;g=meta.k8s.io",
)
PATCHES: Final = ("application/merge-patch+json", "application/strategic-merge-patch+json")


def campaign(
    ours: Server,
    real: Server,
    seed: int,
    count: int,
    given: Mapping[str, Sequence[Json]] | None = None,
) -> Iterator[Difference | None]:
    """Of so many requests, one by one."""
    recorded = {**seeds(), **json.loads(KINDS.read_text())} if given is None else given
    chance, namespace = Random(seed), f"messages-{seed}"
    for server in (ours, real):
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        account = {"metadata": {"name": "default"}}
        server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", account)
    for number in range(count):
        collection = chance.choice(sorted(recorded))
        obj = copy.deepcopy(chance.choice(recorded[collection]))
        meta = {"name": f"m{number}", "labels": {namespace: "x"}}
        obj["metadata"] = {**obj["metadata"], **meta}
        for field in ("namespace", "generateName"):
            obj["metadata"].pop(field, None)
        if obj["kind"] == "Pod":  # the name of the token's volume is random
            obj["spec"]["automountServiceAccountToken"] = False
        path = collection.format(namespace)
        yield from _asked((ours, real), path, obj, namespace, chance)


def _asked(
    servers: tuple[Server, Server], path: str, obj: Json, namespace: str, chance: Random
) -> Iterator[Difference | None]:
    """Create an object, change it, and look at it."""
    one = f"{path}/{obj['metadata']['name']}"
    kept = [server.call("POST", path, obj).code for server in servers] == [201, 201]
    changed = copy.deepcopy(obj)
    for change in random_changes(obj, chance):
        change.made(changed)
    data = _encoded(changed)
    if data is not None:
        yield _compared(servers, "POST", f"{path}?dryRun=All", [data] * 2, MEDIA_TYPE, chance)
    if not kept:
        return
    bodies = []
    for server in servers:
        stored = server.call("GET", one).body
        merged = {**stored, **{k: v for k, v in changed.items() if k != "metadata"}}
        bodies.append(_encoded(merged))
    if all(bodies):
        yield _compared(servers, "PUT", f"{one}?dryRun=All", bodies, MEDIA_TYPE, chance)
    patch = json.dumps({"metadata": {"labels": {"a": "b"}}}).encode()
    yield _compared(servers, "PATCH", one, [patch] * 2, chance.choice(PATCHES), chance)
    yield _compared(servers, "GET", one, [b""] * 2, JSON, chance)
    yield _compared(servers, "GET", f"{path}?labelSelector={namespace}", [b""] * 2, JSON, chance)
    yield _compared(servers, "DELETE", f"{one}?gracePeriodSeconds=0", [b""] * 2, JSON, chance)


def _encoded(obj: Json) -> bytes | None:
    try:
        return encode(obj)
    except (ProtobufError, ValueError, TypeError, AttributeError, KeyError):
        return None


def _compared(
    servers: tuple[Server, Server],
    method: str,
    target: str,
    bodies: Sequence[bytes | None],
    media_type: str,
    chance: Random,
) -> Difference | None:
    headers = {"accept": chance.choice(ACCEPTED), "content-type": media_type}
    replies = [
        server.ask(method, target, body or b"", headers)
        for server, body in zip(servers, bodies, strict=True)
    ]
    shown = [told(reply) for reply in replies]
    if shown[0] == shown[1]:
        again = _again(replies[1])
        if again == replies[1].data:
            return None
        shown = [again.hex(), replies[1].data.hex()]
    return Difference(method, target, f"{headers} {bodies[1]!r}", *shown)


def _again(reply: Sent) -> bytes:
    """A body in protobuf, decoded and encoded; others as they are."""
    if reply.type != MEDIA_TYPE:
        return reply.data
    try:
        return encode(decode(reply.data))
    except ProtobufError as error:
        return str(error).encode()
