"""Random reads: gets, lists and watches of all kinds, to our server and to a real one.

A few objects of each kind that recorded servers took are stored in both. What is asked of them has
options, selectors, continue tokens and `Accept` headers, mostly right, sometimes hostile. Answers
are compared as they are written, but for what is a server's own.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final
from urllib.parse import quote

from tests.fuzz.applies import DEFINITION
from tests.fuzz.servers import Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference, seeds

Json = Any

LABEL: Final = "fuzz-reads"
THINGS: Final = "/apis/fuzz.example.com/v1/namespaces/{}/things"
THING: Final = {"apiVersion": "fuzz.example.com/v1", "kind": "Thing", "metadata": {}}
SELECTORS: Final = (
    *("a", "!a", "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b)", "a in ()", "a,b", ",", "a="),
    *("=b", "a in (b", "a>1", "n>1", "n<2", "n>x", "a in b", "!a=b", "a,,b", " a = b ", "a b", "é"),
    *("x/y/z", "a=" + "x" * 64, "a=b c", "-a", "a in (b,,c)", "a in (,)", "a notin ()", "(a)", "!"),
    *("a=b,c", "a in (b),n>0", "A", "a=B", '"a"', "a in(b)", "in", "notin in (in)", "a!b", "a=!b"),
)
FIELDS: Final = (
    *("metadata.name", "metadata.namespace", "spec.nodeName", "status.phase", "type", "reason"),
    *("involvedObject.name", "involvedObject.kind", "spec.unschedulable", "spec.signerName"),
    *("spec.type", "spec.clusterIP", "status.successful", "status.replicas", "reportingComponent"),
    *("spec.restartPolicy", "spec.serviceAccountName", "status.podIP", "metadata.uid", "Name", ""),
    *("metadata.labels", "source", "spec.hostNetwork", "spec.driver", "spec.schedulerName"),
)
VALUES: Final = (
    *("", "x", "m", "Running", "default", "true", "false", "False", "1", "Opaque", "a\\,b", "a\\"),
    *("a\\=b", "ClusterIP", "None", "a=b", "é", "a b", "../x"),
)
NUMBERS: Final = (
    *("", "0", "1", "-1", "2", "abc", "1.0", "01", " 1", "+1", "9223372036854775807"),
    *("9223372036854775808", "18446744073709551615", "18446744073709551616", "1e3", "0x1"),
)
TRUTHS: Final = ("true", "false", "1", "0", "", "True", "abc", "FALSE", "t")
MATCHES: Final = ("Exact", "NotOlderThan", "", "exact", "Foo")
TABLES: Final = (
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io,application/json;q=0.5",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/yaml;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
)
TYPES: Final = (
    *("application/json", "application/yaml", "application/vnd.kubernetes.protobuf"),
    *("application/cbor", "text/html", "*/*", "application/*", "text/*", "", "*", "application"),
    *("application/json;pretty=1", "application/json;stream=watch", "application/json;foo=bar"),
    *("application/json;stream=foo", "application/json;q=0,application/yaml", "a/b,*/*;q=0.1"),
    *("application/json;charset=utf-8", "application/vnd.kubernetes.protobuf;stream=watch"),
    *("application/cbor-seq", "application/cbor,application/json", "application/apply-patch+yaml"),
    *(
        "application/json;as=Foo;v=v1;g=meta.k8s.io",
        "APPLICATION/JSON",
        "application/yaml;pretty=1",
    ),
)
AGENTS: Final = ("curl/8", "Mozilla/5.0 x", "Wget", "kubectl/v1.36", "x", "")


def campaign(
    ours: Server,
    real: Server,
    seed: int,
    count: int,
    given: Mapping[str, Sequence[Json]] | None = None,
) -> Iterator[Difference | None]:
    """Of so many reads of what was recorded, or `given`, one by one."""
    reads = _Reads(ours, real, f"reads-{seed}", Random(seed))
    reads.prepare(seeds() if given is None else given)
    for _ in range(count):
        yield reads.asked()


class _Reads:
    """What is asked of objects that both servers have."""

    def __init__(self, ours: Server, real: Server, namespace: str, chance: Random) -> None:
        self.servers = (ours, real)
        self.namespace = namespace
        self.chance = chance
        self.names: dict[str, list[str]] = {}
        self.tokens: list[tuple[str, str]] = []
        self.versions: dict[str, tuple[str, str]] = {}

    def prepare(self, recorded: Mapping[str, Sequence[Json]]) -> None:
        """Store up to three objects of each kind that both take."""
        for server in self.servers:
            server.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
            account = {"metadata": {"name": "default"}}
            server.call("POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts", account)
            definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            server.call("POST", definitions, DEFINITION)
            server.settle()
        given = {**recorded, THINGS: [{**THING, "spec": {"replicas": one}} for one in (1, None)]}
        for collection, objects in sorted(given.items()):
            path = collection.format(self.namespace)
            kept = self.names.setdefault(path, [])
            for number, obj in enumerate(objects[:6]):
                if len(kept) < 3 and self._stored(path, obj, number):
                    kept.append(self.last)
            if not kept:
                del self.names[path]

    def _stored(self, path: str, obj: Json, number: int) -> bool:
        meta = {**obj["metadata"]}
        for field in ("namespace", "generateName", "finalizers"):
            meta.pop(field, None)
        meta.setdefault("name", f"{self.namespace}-{number}")
        meta["labels"] = {**(meta.get("labels") or {}), "a": "bc"[number % 2], LABEL: "x"}
        meta["labels"]["n"] = str(number)
        made = {**obj, "metadata": meta}
        if obj["kind"] == "Pod":  # the name of the token's volume is random
            made["spec"] = {**obj["spec"], "automountServiceAccountToken": False}
        self.last = meta["name"]
        codes = [server.call("POST", path, made).code for server in self.servers]
        if codes == [201, 201]:
            return True
        for server, code in zip(self.servers, codes, strict=True):
            if code == 201:
                server.call("DELETE", f"{path}/{meta['name']}?gracePeriodSeconds=0")
        return False

    def asked(self) -> Difference | None:
        """What the two say of one read, if that differs."""
        chance = self.chance
        path = chance.choice(sorted(self.names))
        is_one = chance.random() < 0.25
        names = self.names[path]
        if not is_one and chance.random() < 0.1:
            path = path.replace(f"/namespaces/{self.namespace}", "")
        pairs = self._options(path, is_one=is_one)
        if is_one:
            path = f"{path}/{chance.choice([*names, 'absent', 'A_b'])}"
            path += chance.choice(("", "", "", "/status", "/scale", "/x"))
        headers = self._headers()
        targets = [
            path + "?" + "&".join(f"{key}={quote(pair[at], safe='')}" for key, pair in pairs)
            for at in (0, 1)
        ]
        replies = [
            server.ask("GET", target, b"", headers)
            for server, target in zip(self.servers, targets, strict=True)
        ]
        shown = [told(reply) for reply in replies]
        if not is_one and "json" in replies[0].type and replies[0].code == 200:
            self._remember(path, [reply.data for reply in replies])
        if shown[0] == shown[1]:
            return None
        return Difference("GET", targets[1], json.dumps(dict(headers)), *shown)

    def _remember(self, path: str, bodies: Sequence[bytes]) -> None:
        """The version of a list, and its continue token."""
        try:
            metas = [json.loads(body).get("metadata", {}) for body in bodies]
        except ValueError:
            return
        self.versions[path] = tuple(meta.get("resourceVersion", "") for meta in metas)
        tokens = [meta.get("continue", "") for meta in metas]
        if all(tokens):
            self.tokens.append((tokens[0], tokens[1]))

    def _headers(self) -> Mapping[str, str]:
        chance = self.chance
        headers = {}
        draw = chance.random()
        if draw < 0.35:
            headers["accept"] = chance.choice(TABLES)
        elif draw < 0.6:
            headers["accept"] = chance.choice(TYPES)
        else:
            headers["accept"] = "application/json"
        if chance.random() < 0.1:
            headers["user-agent"] = chance.choice(AGENTS)
        return headers

    # --- options ---

    def _options(self, path: str, *, is_one: bool) -> list[tuple[str, tuple[str, str]]]:
        """Names with their values for the two servers."""
        chance = self.chance
        found: dict[str, tuple[str, str]] = {}
        pools = self._pools(path)
        for name in chance.sample(sorted(pools), chance.choice((0, 1, 1, 2, 2, 3, 4))):
            found[name] = pools[name]()
        watches = "watch" in found and found["watch"][0] not in ("false", "0", "FALSE")
        if watches:
            found["timeoutSeconds"] = ("1", "1")
        if not is_one and f"/namespaces/{self.namespace}/" not in path:  # others have some there
            given = found.get("labelSelector", ("", ""))[0]
            value = ",".join(one for one in (LABEL, given) if one)
            found["labelSelector"] = (value, value)
        return sorted(found.items())

    def _pools(self, path: str) -> Mapping[str, Any]:
        chance = self.chance

        def of(*values: str) -> Any:
            def drawn() -> tuple[str, str]:
                value = chance.choice(values)
                return value, value

            return drawn

        return {
            "limit": of(*NUMBERS, "1", "1", "2"),
            "resourceVersion": lambda: self._version(path),
            "resourceVersionMatch": of(*MATCHES),
            "continue": self._token,
            "labelSelector": self._labels,
            "fieldSelector": lambda: self._fields(path),
            "watch": of(*TRUTHS),
            "timeoutSeconds": of(*NUMBERS),
            "allowWatchBookmarks": of(*TRUTHS),
            "sendInitialEvents": of(*TRUTHS),
            "pretty": of(*TRUTHS),
            "includeObject": of("None", "Metadata", "Object", "", "Foo", "none"),
            "timeout": of("1s", "10s", "abc", "0", "-1s", "1", "1h", ""),
            "fieldValidation": of("Strict", "Foo", ""),
            "dryRun": of("All", "Foo", ""),
            "foo": of("bar"),
        }

    def _version(self, path: str) -> tuple[str, str]:
        chance = self.chance
        if chance.random() < 0.4:
            value = chance.choice(("0", "0", "", "1", "abc", "-1", "1.0", "01", "99999999"))
            return value, value
        return self.versions.get(path, ("0", "0"))

    def _token(self) -> tuple[str, str]:
        chance = self.chance
        if self.tokens and chance.random() < 0.5:
            ours, real = chance.choice(self.tokens)
            if chance.random() < 0.3:
                return ours[:-2], real[:-2]
            return ours, real
        value = chance.choice(
            (
                *("abc", "", "é", "e30", "bnVsbA", "W10", "eyJ2IjoxfQ", "{}", "Zm9v", "e30="),
                _coded({"v": "meta.k8s.io/v1", "rv": 0, "start": "x"}),
                _coded({"v": "meta.k8s.io/v1", "rv": -1, "start": "x\u0000"}),
                _coded({"v": "meta.k8s.io/v1", "rv": -1, "start": ""}),
                _coded({"v": "meta.k8s.io/v1", "rv": 1, "start": "x"}),
                _coded({"v": "meta.k8s.io/v1", "rv": -1, "start": "../x"}),
                _coded({"v": "meta.k8s.io/v1", "rv": -1, "start": "/x"}),
                _coded({"v": "meta.k8s.io/v1", "rv": "1", "start": "x"}),
                _coded({"v": "meta.k8s.io/v1", "rv": 99999999, "start": "x"}),
                _coded({"v": "meta.k8s.io/v2", "rv": 1, "start": "x"}),
                _coded({"V": "meta.k8s.io/v1", "RV": -1, "Start": "a/b"}),
            )
        )
        return value, value

    def _labels(self) -> tuple[str, str]:
        count = self.chance.choice((1, 1, 2))
        value = ",".join(self.chance.choice(SELECTORS) for _ in range(count))
        return value, value

    def _fields(self, path: str) -> tuple[str, str]:
        chance = self.chance
        terms = []
        for _ in range(chance.choice((1, 1, 1, 2))):
            name = chance.choice((*FIELDS, "metadata.name", "metadata.name"))
            sign = chance.choice(("=", "=", "==", "!=", "", ">"))
            names = self.names.get(path, [""])
            terms.append(name + sign + chance.choice((*VALUES, *names, *names)))
        value = ",".join(terms)
        return value, value


def _coded(token: Json) -> str:
    text = json.dumps(token, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")
