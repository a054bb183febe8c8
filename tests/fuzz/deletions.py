"""Random deletions: of one object or of what a list selects, with options in the query and in the
body, to our server and to a real one; and what is left afterwards.

Each scenario stores a few objects of one kind, some of them held by finalizers, deletes, and looks
at what is there then. Options are mostly right, sometimes hostile. `lives` are longer: one object
that is deleted, changed, given and losing finalizers again and again, with options that are right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final
from urllib.parse import quote

from tests.fuzz.applies import DEFINITION
from tests.fuzz.servers import Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference, plain

Json = Any

TEMPLATE: Final[dict[str, Any]] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
OWN_UID: Final = "OWN-UID"
OWN_VERSION: Final = "OWN-VERSION"
"""Stand for what a server has given to the first object."""
KINDS: Final[Mapping[str, Json]] = {
    "/api/v1/namespaces/{}/configmaps": {"data": {"a": "b"}},
    "/api/v1/namespaces/{}/services": {"spec": {"ports": [{"port": 80}]}},
    "/api/v1/namespaces/{}/podtemplates": {"template": TEMPLATE},
    "/api/v1/namespaces/{}/persistentvolumeclaims": {
        "spec": {
            "storageClassName": "c",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
    },
    "/api/v1/namespaces/{}/events": {
        "involvedObject": {"kind": "Pod", "namespace": "{}", "name": "x"}
    },
    "/api/v1/namespaces/{}/pods": {
        "spec": {**TEMPLATE["spec"], "automountServiceAccountToken": False}
    },
    "/api/v1/namespaces/{}/pods ": {
        "spec": {**TEMPLATE["spec"], "automountServiceAccountToken": False, "nodeName": "n"}
    },
    "/api/v1/namespaces/{}/replicationcontrollers": {
        "spec": {"selector": {"a": "b"}, "template": TEMPLATE}
    },
    "/apis/apps/v1/namespaces/{}/deployments": {
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
    },
    "/apis/batch/v1/namespaces/{}/jobs": {
        "spec": {
            "template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}},
        }
    },
    "/apis/coordination.k8s.io/v1/namespaces/{}/leases": {"spec": {"holderIdentity": "h"}},
    "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles": {"rules": []},
    "/apis/fuzz.example.com/v1/namespaces/{}/things": {
        "apiVersion": "fuzz.example.com/v1",
        "kind": "Thing",
        "spec": {"replicas": 1},
    },
}
FINALIZERS: Final = (
    *((), (), (), ("e.com/a",), ("foregroundDeletion",), ("orphan",)),
    *(("e.com/a", "orphan"), ("foregroundDeletion", "orphan")),
)
POLICIES: Final = ("Foreground", "Background", "Orphan", "Foo", "", "orphan")
MEMBERS: Final[Mapping[str, tuple[Json, ...]]] = {
    "gracePeriodSeconds": (None, 0, 0, 1, 5, -1, -5, "5", 1.5, 1.0, 1 << 40, 1 << 63, True, []),
    "orphanDependents": (None, True, False, "true", 1),
    "propagationPolicy": (None, *POLICIES, 5, []),
    "dryRun": (None, [], ["All"], ["All", "All"], ["Foo"], "All", ["All", "Foo"], [5]),
    "preconditions": (
        *(None, {}, {"uid": OWN_UID}, {"uid": "x"}, {"uid": ""}, {"uid": None}, "x", []),
        *({"resourceVersion": OWN_VERSION}, {"resourceVersion": "1"}, {"resourceVersion": ""}),
        *({"uid": OWN_UID, "resourceVersion": "1"}, {"uid": "x", "resourceVersion": "1"}),
        *({"resourceVersion": 5}, {"foo": 1}, {"resourceVersion": "x"}),
    ),
    "ignoreStoreReadErrorWithClusterBreakingPotential": (None, True, False, "x"),
    "apiVersion": (
        *("v1", "v1", "policy/v1", "meta.k8s.io/v1", "apps/v1", "foo/v1", "v2", "", "a/b/c", 5),
        *(None, "batch/v1", "fuzz.example.com/v1"),
    ),
    "kind": ("DeleteOptions", "DeleteOptions", "Foo", "", "Pod", "ListOptions", None, "Status"),
    "foo": (1, None),
    "metadata": ({}, {"name": "x"}),
}
QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "gracePeriodSeconds": ("0", "0", "1", "5", "-1", "abc", "", "1.5", "9223372036854775808"),
    "orphanDependents": ("true", "false", "", "abc", "1", "0"),
    "propagationPolicy": POLICIES,
    "dryRun": ("All", "Foo", "", "all"),
    "uid": (OWN_UID, "x", ""),
    "resourceVersion": (OWN_VERSION, "0", "1", "x", ""),
    "preconditions": ("x", '{"uid":"x"}'),
    "ignoreStoreReadErrorWithClusterBreakingPotential": ("true", "false", "x"),
    "pretty": ("true",),
    "timeout": ("5s", "abc", "-1s", "0"),
    "fieldValidation": ("Strict", "Foo"),
    "labelSelector": ("a=b", "n=1", "n in (0,1)", "a in (", "!n", "n=5"),
    "fieldSelector": ("metadata.name=o0", "metadata.name!=o0", "foo=bar", "metadata.namespace=x"),
    "limit": ("1", "0", "-1", "abc"),
    "continue": ("abc", ""),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "Foo"),
    "timeoutSeconds": ("1", "abc"),
    "watch": ("true", "false"),
    "sendInitialEvents": ("true",),
    "allowWatchBookmarks": ("true",),
}
OF_LISTS: Final = frozenset(
    {
        *("labelSelector", "fieldSelector", "limit", "continue", "resourceVersionMatch"),
        *("timeoutSeconds", "watch", "sendInitialEvents", "allowWatchBookmarks"),
    }
)
TYPES: Final = (
    *("application/json",) * 8,
    *("application/yaml", "", "application/vnd.kubernetes.protobuf", "text/plain", "a", "*/*"),
    *("application/json; charset=utf-8", "application/cbor", "application/merge-patch+json"),
)
RAW: Final = (
    *(b"null", b"[]", b"{", b"{}", b"5", b'"x"', b" ", b"k8s\0", b"\n", b"a: b", b"kind: x\n"),
    b'{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"],"dryRun":[]}',
    b'{"KIND":"DeleteOptions","apiVersion":"v1","DryRun":["All"]}',
    b"apiVersion: v1\nkind: DeleteOptions\ngracePeriodSeconds: 0\n",
)
ACCEPTED: Final = (
    *("application/json",) * 6,
    *("application/yaml", "application/vnd.kubernetes.protobuf", "text/html"),
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
)
MERGE: Final = {"content-type": "application/merge-patch+json", "accept": "application/json"}


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many deletions, with what they leave."""
    for server in (ours, real):
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        server.call("POST", definitions, DEFINITION)
        server.settle()
    for number in range(count):
        yield from _Deletion(ours, real, f"deletions-{seed}-{number}", Random(seed + number)).told()


class _Deletion:
    """One namespace with a few objects, what is deleted there, and what is left."""

    def __init__(self, ours: Server, real: Server, namespace: str, chance: Random) -> None:
        self.servers = (ours, real)
        self.chance = chance
        self.namespace = namespace
        kind = chance.choice(sorted(KINDS))
        self.path = kind.strip().format(namespace)
        self.body: Json = json.loads(json.dumps(KINDS[kind]).replace('"{}"', f'"{namespace}"'))

    def told(self) -> Iterator[Difference | None]:
        """What is deleted, twice, and what the kind's collection holds then."""
        for server in self.servers:
            server.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
            account = {"metadata": {"name": "default"}}
            server.call("POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts", account)
        for number in range(3):
            self._store(number)
        for _ in range(2):
            found = self._deleted() or self._left()
            yield found
            if found:
                break
        self._clean()

    def _store(self, number: int) -> None:
        meta = {
            "name": f"o{number}",
            "labels": {"a": "b", "n": str(number)},
            "finalizers": list(self.chance.choice(FINALIZERS)),
        }
        for server in self.servers:
            server.call("POST", self.path, {**self.body, "metadata": meta})

    def _deleted(self) -> Difference | None:
        chance = self.chance
        of_many = chance.random() < 0.45
        path = self.path if of_many else f"{self.path}/o0"
        query = self._query(of_many=of_many)
        body = self._body()
        headers = {"accept": chance.choice(ACCEPTED)}
        if body or chance.random() < 0.2:
            headers["content-type"] = chance.choice(TYPES)
        if not headers.get("content-type", "x"):
            del headers["content-type"]
        shown, sent = [], ("", b"")
        for server in self.servers:
            sent = self._own(server, f"{path}?{query}", body)
            shown.append(told(server.ask("DELETE", *sent, headers)))
        if shown[0] == shown[1]:
            return None
        return Difference("DELETE", sent[0], f"{headers} {sent[1]!r}", *shown)

    def _own(self, server: Server, target: str, body: bytes) -> tuple[str, bytes]:
        """What is sent, with what the server has given to the object."""
        meta = (server.call("GET", f"{self.path}/o0").body or {}).get("metadata", {})
        own = {OWN_UID: meta.get("uid", "u"), OWN_VERSION: meta.get("resourceVersion", "1")}
        text = body
        for name, value in own.items():
            target = target.replace(name, value)
            text = text.replace(name.encode(), value.encode())
        return target, text

    def _query(self, *, of_many: bool) -> str:
        chance = self.chance
        known = [name for name in QUERIES if of_many or name not in OF_LISTS]
        pairs = [
            (name, chance.choice(QUERIES[name]))
            for name in chance.sample(known, chance.choice((0, 0, 1, 1, 2, 3)))
        ]
        if pairs and chance.random() < 0.1:
            pairs.append((pairs[0][0], chance.choice(QUERIES[pairs[0][0]])))
        return "&".join(f"{name}={quote(value)}" for name, value in pairs)

    def _body(self) -> bytes:
        chance = self.chance
        draw = chance.random()
        if draw < 0.35:
            return b""
        if draw < 0.42:
            return chance.choice(RAW)
        members = chance.sample(sorted(MEMBERS), chance.choice((0, 1, 1, 2, 3)))
        made: Json = {"apiVersion": "v1", "kind": "DeleteOptions"} if draw < 0.9 else {}
        made |= {name: chance.choice(MEMBERS[name]) for name in members}
        return json.dumps(made).encode()

    def _left(self) -> Difference | None:
        shown = [
            told(server.ask("GET", self.path, b"", {"accept": "application/json"}))
            for server in self.servers
        ]
        return (
            None if shown[0] == shown[1] else Difference("GET", self.path, "what is left", *shown)
        )

    def _clean(self) -> None:
        for server in self.servers:
            for number in range(3):
                one = f"{self.path}/o{number}"
                server.call("PATCH", one, {"metadata": {"finalizers": None}}, MERGE)
                server.call("DELETE", f"{one}?gracePeriodSeconds=0")


# --- Lives -------------------------------------------------------------------


_HOLDERS: Final = ("e.com/a", "e.com/b", "orphan", "foregroundDeletion")
_CHOICES: Final[tuple[Json, ...]] = (
    *({}, {}, {"propagationPolicy": "Orphan"}, {"propagationPolicy": "Foreground"}),
    *({"propagationPolicy": "Background"}, {"orphanDependents": True}, {"orphanDependents": False}),
)
_EXPECTED: Final[tuple[Json, ...]] = (
    *({}, {}, {}, {"preconditions": {"uid": OWN_UID}}, {"preconditions": {"uid": "x"}}),
    *({"preconditions": {"resourceVersion": one}} for one in (OWN_VERSION, "1")),
    {"preconditions": {"uid": OWN_UID, "resourceVersion": OWN_VERSION}},
)
_METADATA: Final[tuple[Json, ...]] = (
    *({"deletionTimestamp": None}, {"deletionTimestamp": "2020-01-01T00:00:00Z"}),
    *({"deletionGracePeriodSeconds": 5}, {"generation": 7}, {"labels": {"x": "y"}}),
)
_VERSIONS: Final = re.compile(r"(in record|in object meta:) \(?\d+\)?")


def lives(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many objects, request by request."""
    namespace = f"lives-{seed}"
    for server in (ours, real):
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        server.call("POST", definitions, DEFINITION)
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        account = {"metadata": {"name": "default"}}
        server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", account)
        server.settle()
    for number in range(seed, seed + count):
        life = _Life((ours, real), namespace, f"o{number}", Random(number))
        yield from life.told()


class _Life:
    """What is done to one object, until its answers differ."""

    def __init__(
        self, servers: tuple[Server, Server], namespace: str, name: str, chance: Random
    ) -> None:
        self.servers = servers
        self.chance = chance
        kind = chance.choice(sorted(KINDS))
        self.collection = kind.strip().format(namespace)
        self.path = f"{self.collection}/{name}"
        body: Json = json.loads(json.dumps(KINDS[kind]).replace('"{}"', f'"{namespace}"'))
        meta = {"name": name, "labels": {"n": name}, "finalizers": self._finalizers()}
        self.object = {**body, "metadata": meta}
        self.log: list[str] = []

    def told(self) -> Iterator[Difference | None]:
        found = self._asked("POST", self.collection, self.object, "application/json")
        for _ in range(8):
            yield found
            if found:
                break
            found = self._asked(*self._step())
        for server in self.servers:
            server.call("PATCH", self.path, {"metadata": {"finalizers": None}}, MERGE)
            server.call("DELETE", f"{self.path}?gracePeriodSeconds=0&propagationPolicy=Background")

    def _finalizers(self) -> list[str]:
        return self.chance.sample(_HOLDERS, self.chance.choice((0, 0, 1, 1, 2, 3)))

    def _step(self) -> tuple[str, str, Json, str]:
        chance, patch = self.chance, "application/json-patch+json"
        dry = chance.choice(("", "", "", "?dryRun=All"))
        options = {**chance.choice(_CHOICES), **chance.choice(_EXPECTED)}
        if chance.random() < 0.5:
            options["gracePeriodSeconds"] = chance.choice((0, 0, 1, 3, 30, 60, -1))
        match chance.randrange(12):
            case 0 | 1 | 2 | 3 | 4:
                return "DELETE", self.path + dry, options, "application/json"
            case 5:
                selected = f"{self.collection}?labelSelector=n%3D{self.path.rpartition('/')[2]}"
                return "DELETE", selected, chance.choice(_CHOICES), "application/json"
            case 6 | 7:
                change: Json = {"metadata": {"finalizers": self._finalizers() or None}}
                return "PATCH", self.path + dry, change, MERGE["content-type"]
            case 8:
                place = "/metadata/finalizers" + chance.choice(("", "/0"))
                return "PATCH", self.path + dry, [{"op": "remove", "path": place}], patch
            case 9:
                return "POST", self.collection + dry, self.object, "application/json"
            case 10:
                change = {"metadata": chance.choice(_METADATA)}
                return "PATCH", self.path + dry, change, MERGE["content-type"]
            case _:
                return "GET", self.path, None, "application/json"

    def _asked(self, method: str, path: str, body: Json, type_: str) -> Difference | None:
        shown = []
        for server in self.servers:
            meta = (server.call("GET", self.path).body or {}).get("metadata", {})
            text = json.dumps(body).replace(OWN_UID, meta.get("uid", "u"))
            sent = json.loads(text.replace(OWN_VERSION, meta.get("resourceVersion", "1")))
            answer = plain(server.call(method, path, sent, {"content-type": type_}))
            shown.append(_VERSIONS.sub(r"\1 N", answer))
        self.log.append(f"{method} {path} {json.dumps(body)} -> {shown[1][1:4]}")
        if shown[0] == shown[1]:
            return None
        return Difference(method, path, "\n      ".join(self.log), *shown)
