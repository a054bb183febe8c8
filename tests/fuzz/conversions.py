"""Custom resources whose versions a webhook converts, and answers of that webhook that are odd.

A definition has three versions; objects are stored while nothing is converted, then a webhook is
named that changes the whole answer as its URL says. What is asked afterwards needs conversions.
"""

from __future__ import annotations

import base64
import copy
import http.server
import json
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.fuzz.definitions import APPLY, MERGE, PATH, TABLE, answer_text, wait_until_served
from tests.fuzz.servers import Server
from tests.fuzz.writes import Difference
from tests.recorded.hook_server import bundle, hook_server

Json = Any
_TOGETHER: Final = 12
_VERSIONS: Final = ("v1", "v2", "v3")
_ODD: Final[tuple[Json, ...]] = (None, "", "x", 1, True, [], {}, [1], {"a": 1})
_PARTS: Final[dict[str, tuple[Json, ...]]] = {
    "apiVersion": (
        "apiextensions.k8s.io/v1",
        "apiextensions.k8s.io/v1beta1",
        "apiextensions.k8s.io/v2",
        "v1",
        "",
        "a/b/c",
        "apiextensions.k8s.io/__internal",
        "admission.k8s.io/v1",
        None,
        1,
    ),
    "kind": (
        "ConversionReview",
        "Status",
        "",
        "List",
        "ConversionReviewList",
        "CustomResourceDefinition",
        None,
        1,
    ),
    "response": _ODD,
    "response.uid": ("x", "", None, 1, {}),
    "response.result": _ODD,
    "response.result.status": ("Success", "Failed", "Failure", "success", "", None, 1, {}),
    "response.result.message": ('no\n"way" %s', "", None, 1, "é<>&"),
    "response.result.code": (400, "x", 1.5, None),
    "response.result.reason": ("NotFound", 1),
    "response.result.details": (_ODD),
    "response.result.metadata": (_ODD),
    "response.convertedObjects": (*_ODD, [None], [{}], [[]], ["x"], [1], [{"kind": "Thing"}]),
    "request": _ODD,
    "Response": ({}, None),
    "x": (1,),
}
_OBJECT_PARTS: Final[dict[str, tuple[Json, ...]]] = {
    "apiVersion": (
        "{group}/v1",
        "{group}/v2",
        "{group}/v3",
        "{group}/v9",
        "v1",
        "",
        "a/b/c",
        None,
        1,
        "other.dev/v2",
        {},
    ),
    "kind": ("Other", "", None, 1, "ThingList", "List"),
    "metadata": (*_ODD, {"name": "a"}),
    "metadata.name": ("z", "", None, 1, "A B"),
    "metadata.namespace": ("z", "", None, 1),
    "metadata.uid": ("z", "", None, 1),
    "metadata.labels": (
        *_ODD,
        {"a": "b"},
        {"a b": "c"},
        {"a": "-"},
        {"a": None},
        {"": ""},
        {"a": 1, "b": 2},
    ),
    "metadata.annotations": (
        *_ODD,
        {"a": "b"},
        {"a b": "c"},
        {"A/b/c": ""},
        {"a": ["x"]},
        {"b": "y" * 300000},
    ),
    "metadata.finalizers": (["z.dev/a"], 1, None),
    "metadata.ownerReferences": ([{"a": 1}], 1),
    "metadata.generation": (99, "x"),
    "metadata.resourceVersion": ("1", 1, ""),
    "metadata.creationTimestamp": ("x", None, 1, "2020-01-01T00:00:00Z"),
    "metadata.deletionTimestamp": ("2020-01-01T00:00:00Z",),
    "metadata.managedFields": ([], 1, [{"manager": "x"}]),
    "metadata.zz": (1,),
    "spec": (*_ODD, {"text": "t", "int": 7}),
    "spec.text": _ODD,
    "spec.int": (1, "1", 1.5, -3, None, 2**40),
    "spec.unknown": (1,),
    "spec.list": ([{"name": "a"}, {"name": "a"}], [{"port": 1}], [{"name": "q"}]),
    "status": (*_ODD, {"phase": "w"}),
    "status.phase": ("p", 1, None),
    "status.replicas": (3, -1, "x"),
    "items": ([], [{}], [{"apiVersion": "v1", "kind": "Pod"}], 1),
    "zz": _ODD,
}
_RAW: Final = (
    "",
    " ",
    "no",
    "{",
    "[]",
    "null",
    "1",
    '"x"',
    "{}",
    '{"kind":"ConversionReview"}',
    "\x00",
    "a: b",
)
_HTTP: Final = (
    200,
    201,
    202,
    204,
    300,
    301,
    302,
    400,
    401,
    403,
    404,
    409,
    410,
    422,
    429,
    500,
    502,
    503,
    504,
)


def recipe(random: Random) -> Json:
    """What is done to a right answer, in steps."""
    steps: list[Json] = []
    draw = random.random()
    if draw < 0.07:
        steps.append(["raw", random.choice(_RAW)])
    if draw < 0.1 or 0.3 < draw < 0.32:
        steps.append(["http", random.choice(_HTTP)])
    if draw < 0.12 and random.random() < 0.5:
        steps.append(
            [
                "type",
                random.choice(
                    ("text/plain", "application/yaml", "", "application/json; charset=x", "a/b/c")
                ),
            ]
        )
    if 0.12 < draw < 0.2:
        steps.append([random.choice(("drop", "repeat", "reverse", "same"))])
    if 0.2 < draw < 0.45:
        for _ in range(random.choice((1, 1, 2))):
            place, values = random.choice(sorted(_PARTS.items()))
            steps.append(["review", place, random.choice(values)])
            if random.random() < 0.2:
                steps[-1][2] = "-"
    if draw > 0.4:
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            place, values = random.choice(sorted(_OBJECT_PARTS.items()))
            value = "-" if random.random() < 0.15 else random.choice(values)
            steps.append(["object", place, value, random.choice(("", "", "", "v1", "v2", "v3"))])
    return steps


def converted(review: Json, steps: Json) -> tuple[int, str, bytes]:
    """Code, type and body of an answer."""
    request = review["request"]
    objects = copy.deepcopy(request["objects"])
    for one in objects:
        one["apiVersion"] = request["desiredAPIVersion"]
    group, _, version = request["desiredAPIVersion"].partition("/")
    response = {"uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
    answer = {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
    code, media, raw = 200, "application/json", None
    for what, *rest in steps:
        if what == "raw":
            raw = rest[0]
        elif what == "http":
            code = rest[0]
        elif what == "type":
            media = rest[0]
        elif what == "drop":
            del objects[-1:]
        elif what == "repeat":
            objects += objects[-1:]
        elif what == "reverse":
            objects.reverse()
        elif what == "same":
            objects[:] = request["objects"]
        elif what == "review":
            _set(answer, *rest)
        elif rest[2] in ("", version):
            value = rest[1].replace("{group}", group) if isinstance(rest[1], str) else rest[1]
            for one in objects:
                _set(one, rest[0], value)
    return code, media, (json.dumps(answer) if raw is None else raw).encode()


def _set(holder: Json, place: str, value: Json) -> None:
    *way, last = place.split(".")
    for step in way:
        inner = holder.get(step)
        if not isinstance(inner, dict):
            inner = holder[step] = {}
        holder = inner
    if value == "-":
        holder.pop(last, None)
    else:
        holder[last] = value


# The path of the webhook's URL holds the recipe: compressed, for a server refuses long ones.
def _path_of(steps: Json) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(steps).encode())).decode().rstrip("=")


def _recipe_of(path: str) -> Json:
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(path + "==")))


class _Hook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        steps = _recipe_of(self.path.strip("/").partition("?")[0])
        code, media, body = converted(json.loads(data), steps)
        self.send_response(code)
        if media:
            self.send_header("content-type", media)
        if code != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if code != 204:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is told of requests."""


@contextmanager
def conversion_server() -> Iterator[tuple[int, str]]:
    """The port and the authority of a webhook that converts, while it runs."""
    with hook_server() as authority:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hook)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*_certificate(authority.parent))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port, bundle(authority)
        finally:
            server.shutdown()


def _certificate(folder: Path) -> tuple[Path, Path]:
    return folder / "server.pem", folder / "server.pem"


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many definitions, request by request."""
    for server in (ours, real):
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "conversions"}})
    with conversion_server() as (port, trusted):
        for first in range(seed, seed + count, _TOGETHER):
            lives = [
                _Life((ours, real), number, port, trusted)
                for number in range(first, min(first + _TOGETHER, seed + count))
            ]
            for life in lives:
                life.prepare()
            for life in lives:
                life.name_webhook()
            for server in (ours, real):
                server.settle()
            for life in lives:
                yield from life.steps()
            for life in lives:
                life.remove()


class _Life:
    """What is asked about one definition."""

    def __init__(
        self, servers: tuple[Server, Server], number: int, port: int, trusted: str
    ) -> None:
        self.servers = servers
        self.chance = Random(f"conversions-{number}")
        self.group = f"c{number}.conv.dev"
        self.port, self.trusted = port, trusted
        self.recipe = recipe(self.chance)
        self.reviews = self.chance.choice(
            (["v1"], ["v1"], ["v1beta1"], ["v1beta1", "v1"], ["v9", "v1"])
        )
        self.storage = "v1"

    def definition(self, conversion: Json) -> Json:
        props = {
            "spec": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "default": "d"},
                    "int": {"type": "integer", "nullable": True},
                    "list": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "name": {"type": "string"},
                                "port": {"type": "integer", "default": 1},
                            },
                        },
                    },
                },
            },
            "status": {
                "type": "object",
                "properties": {"phase": {"type": "string"}, "replicas": {"type": "integer"}},
            },
        }
        versions = [
            {
                "name": name,
                "served": True,
                "storage": name == self.storage,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": props}},
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.int",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
                "additionalPrinterColumns": [
                    {"name": "Text", "type": "string", "jsonPath": ".spec.text"}
                ],
                "selectableFields": [{"jsonPath": ".spec.text"}],
            }
            for name in _VERSIONS
        ]
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{self.group}"},
            "spec": {
                "group": self.group,
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": versions,
                "conversion": conversion,
            },
        }

    def prepare(self) -> None:
        made = self.definition({"strategy": "None"})
        second = self.chance.random() < 0.5
        for server in self.servers:
            self.storage = "v1"
            server.call("POST", PATH, made)
            wait_until_served(server, made)
            self.put(server, "a", "v1")
            self.put(server, "b", "v2")
            if second:
                self.storage = "v2"
                server.call(
                    "PATCH",
                    f"{PATH}/things.{self.group}",
                    {"spec": self.definition({"strategy": "None"})["spec"]},
                    {"content-type": MERGE},
                )
        if second:
            for server in self.servers:
                server.settle()
                self.put(server, "c", "v3")

    def put(self, server: Server, name: str, version: str) -> None:
        server.call("POST", self.path(version), self.body(name, version))

    def path(self, version: str) -> str:
        return f"/apis/{self.group}/{version}/namespaces/conversions/things"

    def body(self, name: str, version: str) -> Json:
        spec = {"text": f"in {name}", "int": 4, "list": [{"name": "x"}]}
        return {
            "apiVersion": f"{self.group}/{version}",
            "kind": "Thing",
            "metadata": {"name": name, "labels": {"l": "m"}},
            "spec": spec,
        }

    def name_webhook(self) -> None:
        webhook = {
            "clientConfig": {
                "url": f"https://127.0.0.1:{self.port}/{_path_of(self.recipe)}",
                "caBundle": self.trusted,
            },
            "conversionReviewVersions": self.reviews,
        }
        made = self.definition({"strategy": "Webhook", "webhook": webhook})
        for server in self.servers:
            answer = server.call(
                "PATCH",
                f"{PATH}/things.{self.group}",
                {"spec": made["spec"]},
                {"content-type": MERGE},
            )
            assert answer.code == 200, answer

    def steps(self) -> Iterator[Difference | None]:
        chance = self.chance
        for name in "abc":
            for version in chance.sample(_VERSIONS, 2):
                yield self.asked("GET", f"{self.path(version)}/{name}")
        for _ in range(14):
            found = self.step()
            yield found
            if found and found.method != "GET":
                return

    def step(self) -> Difference | None:
        chance = self.chance
        version = chance.choice(_VERSIONS)
        path = self.path(version)
        name = chance.choice("abcd")
        one = f"{path}/{name}"
        draw = chance.randrange(13)
        dry = chance.choice(("", "", "?dryRun=All"))
        if draw == 0:
            return self.asked("POST", path + dry, self.body(chance.choice("de"), version))
        if draw == 1:
            return self.asked(
                "PUT", one + dry, {**self.body(name, version), "spec": {"text": "put"}}
            )
        if draw == 2:
            return self.asked(
                "PATCH", one + dry, {"spec": {"int": chance.choice((4, 5, "x", None))}}, MERGE
            )
        if draw == 3:
            return self.asked(
                "PATCH", f"{one}?fieldManager=m&force=true", self.body(name, version), APPLY
            )
        if draw == 4:
            return self.asked(
                "PATCH",
                f"{one}?fieldManager=n",
                {**self.body(name, version), "spec": {"int": 9}},
                APPLY,
            )
        if draw == 5:
            return self.asked("GET", path)
        if draw == 6:
            return self.asked("GET", path, accept=TABLE)
        if draw == 7:
            return self.asked("GET", f"{path}?fieldSelector=spec.text%3Din a".replace(" ", "%20"))
        if draw == 8:
            return self.asked(
                "PATCH", f"{one}/status", {"status": {"phase": "s", "replicas": 2}}, MERGE
            )
        if draw == 9:
            return self.asked("PATCH", f"{one}/scale", {"spec": {"replicas": 3}}, MERGE)
        if draw == 10:
            return self.asked("GET", f"{one}/scale")
        if draw == 11:
            return self.asked("DELETE", one + dry)
        return self.asked(
            "PATCH",
            one,
            [{"op": "add", "path": "/metadata/labels/p", "value": "q"}],
            "application/json-patch+json",
        )

    def asked(
        self,
        method: str,
        path: str,
        body: Json = None,
        media: str = "application/json",
        accept: str = "",
    ) -> Difference | None:
        headers = {"content-type": media}
        if accept:
            headers = {"accept": accept}
        answers = []
        for server in self.servers:
            sent = body
            if method == "PUT":
                stored = server.call("GET", path.partition("?")[0]).body
                meta = stored.get("metadata") or {} if isinstance(stored, dict) else {}
                sent = {
                    **body,
                    "metadata": {
                        **body["metadata"],
                        **(
                            {"resourceVersion": meta["resourceVersion"]}
                            if "resourceVersion" in meta
                            else {}
                        ),
                    },
                }
            answers.append(server.call(method, path, sent, headers))
        told = [answer_text(answer) for answer in answers]
        if told[0] == told[1]:
            return None
        what = (
            f"{json.dumps(body)} {media}\n    storage {self.storage}, reviews {self.reviews}, "
            f"recipe {json.dumps(self.recipe)}"
        )
        return Difference(method, path, what, *told)

    def remove(self) -> None:
        plain = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
        for server in self.servers:
            server.call("PATCH", f"{PATH}/things.{self.group}", plain, {"content-type": MERGE})
            server.call("DELETE", f"{PATH}/things.{self.group}")
