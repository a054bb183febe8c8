"""Random watches: objects enter selectors and leave them, in the past of a watch and while it is
open; on our server and on a real one.

Objects of a few kinds are written at random, and what their versions were is noted. Then each kind
is watched from one of these versions, with options that fit together or do not, in any form that
events can have. What is compared are whole streams, without the bookmarks that a clock sends.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from random import Random
from typing import Any, Final
from urllib.parse import quote

from celadon.kube.protobuf import MAGIC, ProtobufError, decode
from tests.fuzz.applies import DEFINITION
from tests.fuzz.servers import OverHttps, Sent, Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference

Json = Any
KINDS: Final[Mapping[str, Json]] = {
    "/api/v1/namespaces/{}/configmaps": {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "data": {"a": "b"},
    },
    "/api/v1/namespaces/{}/secrets": {"kind": "Secret", "apiVersion": "v1", "type": "a/b"},
    "/api/v1/namespaces/{}/pods": {
        "kind": "Pod",
        "apiVersion": "v1",
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
        },
    },
    "/apis/fuzz.example.com/v1/namespaces/{}/things": {
        "kind": "Thing",
        "apiVersion": "fuzz.example.com/v1",
        "spec": {"replicas": 1},
    },
    "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers": {
        "kind": "HorizontalPodAutoscaler",
        "apiVersion": "autoscaling/v2",
        "spec": {"scaleTargetRef": {"kind": "D", "name": "d"}, "maxReplicas": 3},
    },
}
FORMS: Final = (
    *("application/json",) * 6,
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/yaml",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf;stream=watch",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
    *("text/html", "*/*", "application/cbor-seq", "application/cbor"),
)
SELECTORS: Final = (
    "a=b",
    "a!=b",
    "a",
    "!a",
    "a in (b,c)",
    "a notin (c)",
    "n>1",
    "x=y,a",
    "a==c",
    "(",
)
FIELDS: Final = (
    *("metadata.name=o0", "metadata.name!=o0", "metadata.namespace=NAMESPACE", "metadata.name=zz"),
    *("status.phase=Running", "status.phase!=Pending", "spec.nodeName=n", "spec.nodeName="),
    "type=a/b",
    *("metadata.name=o0,metadata.name=o1", "spec.x=1", "metadata.namespace=other", "status.phase="),
)  # fmt: skip
MERGE: Final = {"content-type": "application/merge-patch+json"}
STRATEGIC: Final = {"content-type": "application/strategic-merge-patch+json"}


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many watches, one by one; each namespace has twenty."""
    others = (ours, _another(real))
    for server in (ours, real):
        server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        server.settle()
    done = 0
    with ThreadPoolExecutor(2) as threads:
        while done < count:
            watched = _Watched((ours, real), others, f"watches-{seed}-{done}", threads)
            watched.write(30)
            for _ in range(min(20, count - done)):
                done += 1
                yield watched.seen()


def _another(server: Server) -> Server:
    """A server that can be asked while the first one still answers."""
    if not isinstance(server, OverHttps):
        return server
    return OverHttps(server.url, server.token, server.authority, server.certificate)


class _Watched:
    """A namespace with objects, and what was written there."""

    def __init__(
        self,
        servers: tuple[Server, Server],
        writers: tuple[Server, Server],
        namespace: str,
        threads: ThreadPoolExecutor,
    ) -> None:
        self.servers, self.writers = servers, writers
        self.namespace = namespace
        self.chance = Random(namespace)
        self.threads = threads
        self.versions: list[tuple[str, str]] = []
        for server in servers:
            server.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
            account = {"metadata": {"name": "default"}}
            server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", account)

    # --- writes ---

    def write(self, count: int, collection: str = "") -> None:
        """Write at random, to any kind or to one."""
        for _ in range(count):
            self._write(collection or self.chance.choice(list(KINDS)))

    def _write(self, collection: str) -> None:
        chance, path = self.chance, collection.format(self.namespace)
        name = f"o{chance.randrange(3)}"
        one = f"{path}/{name}"
        draw = chance.randrange(11)
        body: Json
        if draw < 4:
            meta = {"name": name, "labels": chance.choice(({}, {"a": "b"}, {"a": "c", "n": "2"}))}
            self._sent("POST", path, {**KINDS[collection], "metadata": meta})
        elif draw < 7:
            labels = chance.choice(({"a": None}, {"a": "b"}, {"a": "c"}, {"x": "y", "n": "1"}, {}))
            body = {"metadata": {"labels": labels, "annotations": {"z": str(chance.randrange(9))}}}
            self._sent("PATCH", one, body, MERGE)
        elif draw == 7 and "pods" in path:
            phase = chance.choice(("Running", "Pending", "Succeeded"))
            self._sent("PATCH", f"{one}/status", {"status": {"phase": phase}}, STRATEGIC)
        elif draw == 7 and "things" in path:
            self._sent(
                "PATCH", f"{one}/status", {"status": {"replicas": chance.randrange(5)}}, MERGE
            )
        elif draw == 8 and "pods" in path:
            target = {"kind": "Node", "name": "n"}
            body = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": name},
                "target": target,
            }
            self._sent("POST", f"{one}/binding", body)
        elif draw == 9:
            finalizers = chance.choice((["e.com/a"], None))
            self._sent("PATCH", one, {"metadata": {"finalizers": finalizers}}, MERGE)
        elif draw == 10 and chance.random() < 0.4:
            self._sent("DELETE", path + chance.choice(("", "?labelSelector=a%3Db")), None)
        else:
            self._sent("DELETE", one, None)

    def _sent(
        self, method: str, path: str, body: Json, headers: Mapping[str, str] | None = None
    ) -> None:
        sent = headers or {"content-type": "application/json"}
        answers = [server.call(method, path, body, sent).body for server in self.writers]
        metas = [
            answer.get("metadata") or {} if isinstance(answer, dict) else {} for answer in answers
        ]
        versions = [str(meta.get("resourceVersion") or "") for meta in metas]
        if all(versions) and answers[0].get("kind") == answers[1].get("kind") != "Status":
            self.versions.append((versions[0], versions[1]))

    # --- watches ---

    def seen(self) -> Difference | None:
        """Return what the two show of one watch, if that differs."""
        chance = self.chance
        collection = chance.choice(list(KINDS))
        path = collection.format(self.namespace)
        headers = {"accept": chance.choice(FORMS)}
        pairs = self._options()
        if "Table" in headers["accept"] and "sendInitialEvents" not in pairs:
            pairs.pop("allowWatchBookmarks", None)  # the first event, of whatever type, has columns
        if chance.random() < 0.1:
            name = f"/o{chance.randrange(3)}" if chance.random() < 0.5 else ""
            prefix, _, rest = path.partition("/namespaces/")
            path = f"{prefix}/watch/namespaces/{rest}{name}"
            pairs.pop("watch")
        targets = [
            path + "?" + "&".join(f"{key}={quote(pair[i], safe='')}" for key, pair in pairs.items())
            for i in (0, 1)
        ]
        writes = chance.choice((0, 0, 3))
        streams: list[Future[Sent]] = [
            self.threads.submit(server.ask, "GET", target, b"", headers)
            for server, target in zip(self.servers, targets, strict=True)
        ]
        if writes:
            _pause()
            self.write(writes, collection)
        shown = [_told(stream.result()) for stream in streams]
        if shown[0] == shown[1]:
            return None
        what = f"{headers} {writes} writes, from {len(self.versions)} versions"
        return Difference("GET", targets[1], what, *shown)

    def _options(self) -> dict[str, tuple[str, str]]:
        chance = self.chance
        found: dict[str, tuple[str, str]] = {"watch": ("true",) * 2, "timeoutSeconds": ("1",) * 2}
        draw = chance.random()
        if draw < 0.6 and self.versions:
            found["resourceVersion"] = chance.choice(self.versions)
        elif draw < 0.8:
            value = chance.choice(("0", "0", "", "1", "99999999999", "x", "-1"))
            found["resourceVersion"] = (value, value)
        for name, chances, values in (
            ("labelSelector", 0.45, SELECTORS),
            ("fieldSelector", 0.35, FIELDS),
            ("sendInitialEvents", 0.3, ("true", "true", "true", "false", "x", "")),
            ("resourceVersionMatch", 0.25, ("NotOlderThan", "NotOlderThan", "Exact", "x", "")),
            ("allowWatchBookmarks", 0.4, ("true", "true", "false", "x")),
            ("limit", 0.05, ("1", "x")),
            ("continue", 0.05, ("x", "")),
            ("includeObject", 0.1, ("None", "Metadata", "Object", "x")),
            ("pretty", 0.05, ("true",)),
        ):
            if chance.random() < chances:
                value = chance.choice(values).replace("NAMESPACE", self.namespace)
                found[name] = (value, value)
        if found.get("sendInitialEvents") == ("true", "true") and chance.random() < 0.8:
            found["resourceVersionMatch"] = ("NotOlderThan", "NotOlderThan")
            found["allowWatchBookmarks"] = ("true", "true")
        return found


def _pause() -> None:
    """Wait until both watches are open."""
    time.sleep(0.3)


_END: Final = "k8s.io/initial-events-end"


def _told(reply: Sent) -> str:
    """A stream without the bookmarks that a clock sends."""
    if "stream=watch" in reply.type or ";stream" in reply.type or reply.type == "application/json":
        lines = reply.data.splitlines(keepends=True)
        if "protobuf" in reply.type:
            lines = [
                json.dumps(one, separators=(",", ":")).encode() + b"\n"
                for one in _frames(reply.data)
            ]
        kept = [line for line in lines if b"BOOKMARK" not in line or _END.encode() in line]
        reply = Sent(reply.code, reply.headers, b"".join(kept), reply.warnings)
        if "protobuf" in reply.type:
            headers = {**reply.headers, "content-type": "decoded protobuf"}
            reply = Sent(reply.code, headers, reply.data, reply.warnings)
    return told(reply)


def _frames(data: bytes) -> Iterator[Json]:
    """The events of a stream in protobuf, each with its length before it."""
    while data:
        size = int.from_bytes(data[:4], "big")
        frame, data = data[4 : 4 + size], data[4 + size :]
        begin = frame.find(MAGIC)
        try:
            yield [frame[2 : 2 + frame[1]].decode(), decode(frame[begin:])]
        except ProtobufError as error:
            yield [str(error), frame.hex()]
