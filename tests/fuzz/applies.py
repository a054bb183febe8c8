"""Random sequences of applies, patches and updates by several managers, to our server and to a
real one.

Each sequence writes one object: parts of a template are applied, merged, patched or put, mostly
right, sometimes with a value of a wrong type. Whole answers are compared, with what is managed by
whom; after the first difference a sequence ends, since the objects may be different from then on.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from tests.fuzz.servers import Reply, Server
from tests.fuzz.writes import Difference, masked

Json = Any
TEMPLATE: Final = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {
        "containers": [
            {
                "name": "a",
                "image": "i",
                "command": ["x", "y"],
                "ports": [
                    {"containerPort": 80, "protocol": "TCP"},
                    {"containerPort": 80, "protocol": "UDP", "name": "b"},
                    {"containerPort": 81},
                ],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "0.5"}},
                "volumeMounts": [
                    {"name": "v", "mountPath": "/v"},
                    {"name": "v", "mountPath": "/w"},
                ],
            },
            {"name": "b", "image": "j"},
        ],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "c"}}],
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "nodeSelector": {"a": "b"},
        "imagePullSecrets": [{"name": "s"}],
        "hostAliases": [{"ip": "1.2.3.4", "hostnames": ["h", "i"]}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "t", "whenUnsatisfiable": "DoNotSchedule"}
        ],
        "automountServiceAccountToken": False,
    },
}
METADATA: Final = {
    "labels": {"a": "b", "app": "a"},
    "annotations": {"x": "1", "y/z": "2"},
    "finalizers": ["e.com/a", "e.com/b"],
    "ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u1"},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "uid": "u2"},
    ],
}
CONDITION: Final = {
    "type": "A",
    "status": "True",
    "reason": "R",
    "message": "m",
    "lastTransitionTime": "2020-01-01T00:00:00Z",
}
KINDS: Final[dict[str, Json]] = {
    "/api/v1 configmaps ConfigMap": {
        "data": {"a": "1", "b": "2"},
        "binaryData": {"c": "YQ=="},
        "immutable": False,
    },
    "/api/v1 pods Pod": {
        "spec": TEMPLATE["spec"],
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "B", "status": "False"}],
            "podIPs": [{"ip": "1.2.3.4"}],
        },
    },
    "/api/v1 services Service": {
        "spec": {
            "selector": {"a": "b"},
            "type": "ClusterIP",
            "clusterIP": "None",
            "ports": [
                {"port": 80, "name": "a", "targetPort": 8080},
                {"port": 80, "protocol": "UDP", "name": "b", "targetPort": "x"},
                {"port": 81, "protocol": "TCP", "name": "c"},
            ],
            "externalIPs": ["1.2.3.4"],
            "sessionAffinity": "ClientIP",
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}, "conditions": [CONDITION]},
    },
    "/apis/apps/v1 deployments Deployment": {
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "a"}},
            "template": TEMPLATE,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
        },
        "status": {
            "replicas": 1,
            "conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "False"}],
        },
    },
    "/apis/networking.k8s.io/v1 ingresses Ingress": {
        "spec": {
            "ingressClassName": "c",
            "tls": [{"hosts": ["a", "b"], "secretName": "s"}],
            "rules": [
                {
                    "host": "a.b",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "s", "port": {"number": 80}}},
                            }
                        ]
                    },
                }
            ],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4", "ports": []}]}},
    },
    "/apis/networking.k8s.io/v1 networkpolicies NetworkPolicy": {
        "spec": {
            "podSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 80}, {"port": "x"}]}],
        }
    },
    "/apis/autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler": {
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 50},
                    },
                }
            ],
        },
        "status": {
            "currentReplicas": 1,
            "desiredReplicas": 1,
            "conditions": [{"type": "A", "status": "True"}],
        },
    },
    "/apis/fuzz.example.com/v1 things Thing": {
        "spec": {
            "replicas": 1,
            "items": [
                {"name": "a", "port": 1, "value": "x", "tags": ["p", "q"]},
                {"name": "b", "port": 2, "value": 3, "inner": [{"id": 1, "t": "t"}]},
                {"name": "c", "value": "5%"},
            ],
            "set": ["a", "b", "c"],
            "numbers": [1, 2],
            "atomic": ["a", "b"],
            "whole": {"a": "1", "b": "2"},
            "open": {"x": {"y": 1, "z": [1, {"a": None}]}, "w": "s"},
            "nested": {"a": {"b": {"c": "x", "d": 1}, "m": {"k": "v", "l": "w"}}},
            "number": 1.5,
            "nothing": None,
            "embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "q": 1},
        },
        "status": {"replicas": 1, "conditions": [CONDITION], "labels": "a=b"},
    },
}
_TEXT: Final = {"type": "string"}
_OPEN: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_EITHER: Final = {"x-kubernetes-int-or-string": True}
_ITEM: Final = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": _TEXT,
        "port": {"type": "integer", "default": 7},
        "value": _EITHER,
        "mode": {"type": "string", "default": "m"},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
        "inner": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id"],
            "items": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "integer"}, "t": _TEXT},
            },
        },
    },
}
_DEEP: Final = {
    "type": "object",
    "properties": {
        "a": {
            "type": "object",
            "properties": {
                "b": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {"c": _TEXT, "d": {"type": "integer"}},
                },
                "m": {"type": "object", "additionalProperties": _TEXT},
                "e": {"type": "string", "default": "e"},
            },
        }
    },
}
_SPEC: Final = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "items": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "port"],
            "items": _ITEM,
        },
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
        "numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        "atomic": {"type": "array", "items": _TEXT},
        "whole": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "additionalProperties": _TEXT,
        },
        "open": _OPEN,
        "nested": _DEEP,
        "number": {"type": "number"},
        "nothing": {"type": "string", "nullable": True},
        "embedded": {**_OPEN, "x-kubernetes-embedded-resource": True},
    },
}
_STATUS: Final = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "labels": _TEXT,
        "conditions": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": dict.fromkeys(CONDITION, _TEXT),
            },
        },
    },
}
DEFINITION: Final = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.fuzz.example.com"},
    "spec": {
        "group": "fuzz.example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.labels",
                    },
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": _SPEC, "status": _STATUS},
                    }
                },
            }
        ],
    },
}
WRONG: Final[tuple[Json, ...]] = (
    None,
    1,
    "x",
    [],
    {},
    True,
    1.5,
    -1,
    ["a", "a"],
    {"a": None},
    [None],
    [{}],
    "",
)
TYPES: Final = {
    "apply": "application/apply-patch+yaml",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
}


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many sequences, request by request."""
    namespace = f"applies-{seed}"
    for server in (ours, real):
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        account = {"metadata": {"name": "default"}}
        server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", account)
        server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        server.settle()
    for number in range(seed, seed + count):
        yield from _Sequence(ours, real, namespace, number).steps()


class _Sequence:
    """What is asked about one object."""

    def __init__(self, ours: Server, real: Server, namespace: str, number: int) -> None:
        self.servers = (ours, real)
        self.random = Random(number)
        where, self.template = self.random.choice(sorted(KINDS.items(), key=lambda kv: kv[0]))
        group, resource, kind = where.split()
        self.kind = kind
        version = group.removeprefix("/api/").removeprefix("/apis/")
        self.type = {"apiVersion": version, "kind": kind}
        self.name = f"n{number}"
        self.path = f"{group}/namespaces/{namespace}/{resource}/{self.name}"
        self.parts = ["", "", "", "", "", ""]
        self.parts += ["/status"] if "status" in self.template else []
        self.parts += ["/scale"] if kind in ("Deployment", "Thing") else []
        self.log: list[str] = []

    def steps(self) -> Iterator[Difference | None]:
        """Ask until an answer differs."""
        try:
            yield self._asked("PATCH", "", "apply", self._object("", 0.8), "manager-a", "")
            for _ in range(14):
                found = self._step()
                yield found
                if found:
                    return
        finally:
            for server in self.servers:
                off = [{"op": "remove", "path": "/metadata/finalizers"}]
                server.call("PATCH", self.path, off, {"content-type": TYPES["json"]})
                server.call("DELETE", f"{self.path}?gracePeriodSeconds=0")

    def _step(self) -> Difference | None:
        random = self.random
        part = random.choice(self.parts)
        manner = random.choice(("apply", "apply", "apply", "merge", "strategic", "json", "put"))
        manager = f"manager-{random.choice('abc')}"
        query = "&dryRun=All" if random.random() < 0.2 else ""
        if random.random() < 0.15:
            query += "&fieldValidation=" + random.choice(("Strict", "Ignore"))
        if manner == "apply":
            query += random.choice(("", "&force=true", "&force=true"))
            return self._asked("PATCH", part, manner, self._object(part, 0.6), manager, query)
        if manner == "put":
            return self._put(part, manager, query)
        if manner == "json":
            return self._asked("PATCH", part, manner, self._operations(part), manager, query)
        body = self._object(part, 0.35)
        body.pop("apiVersion", None)
        body.pop("kind", None)
        if manner == "strategic":
            self._directed(body)
        elif random.random() < 0.4:
            self._damaged(body)
        return self._asked("PATCH", part, manner, body, manager, query)

    def _put(self, part: str, manager: str, query: str) -> Difference | None:
        bodies = [server.call("GET", self.path + part).body for server in self.servers]
        change = self._object(part, 0.4)
        drops = self.random.random() < 0.2
        for body in bodies:
            for key in ("spec", "status", "data"):
                if key in change and isinstance(body.get(key), dict):
                    put = change[key]
                    body[key] = {**body[key], **put} if isinstance(put, dict) else put
            if drops and "metadata" in body:
                body["metadata"].pop("managedFields", None)
        return self._asked("PUT", part, "", bodies, manager, query)

    def _asked(
        self, method: str, part: str, manner: str, body: Json, manager: str, query: str
    ) -> Difference | None:
        path = f"{self.path}{part}?fieldManager={manager}{query}"
        headers = {"content-type": TYPES.get(manner, "application/json")}
        bodies = body if method == "PUT" else (body, body)
        told = [
            _told(server.call(method, path, one, headers))
            for server, one in zip(self.servers, bodies, strict=True)
        ]
        shown = json.dumps(bodies[1])
        if told[0] == told[1] or _PANIC in told[1]:
            self.log.append(f"{method} {manner} {path} {shown} -> {told[1][:400]}")
            return None
        before = "\n      ".join(self.log)
        return Difference(method, f"{manner} {path}", f"{shown}\n    after {before}", *told)

    # --- What is sent ---

    def _object(self, part: str, kept: float) -> Json:
        random = self.random
        if part == "/scale":
            return {
                "apiVersion": "autoscaling/v1",
                "kind": "Scale",
                "metadata": {"name": self.name},
                "spec": {"replicas": random.choice((0, 1, 2, 3))},
            }
        below = "status" if part else random.choice(("all", "all", "all", "all", "all", "status"))
        content = {k: v for k, v in self.template.items() if below == "status" or k != "status"}
        made = self._thinned(content, kept)
        metadata = self._thinned(METADATA, 0.3) if random.random() < 0.3 else {}
        made = {**self.type, "metadata": {"name": self.name, **metadata}, **made}
        if self.kind == "Pod" and not part:  # the volumes of tokens are a build's own
            made["spec"] = {**made.get("spec", {}), "automountServiceAccountToken": False}
        if random.random() < 0.12:
            self._damaged(made)
        return made

    def _thinned(self, value: Json, kept: float) -> Json:
        random = self.random
        if isinstance(value, dict):
            needed = {"name", "image", "type", "status", "selector", "ip", "id", "containerPort"}
            needed |= {"port", "template", "containers", "key", "operator", "spec", "maxReplicas"}
            return {
                key: self._thinned(inner, kept)
                for key, inner in value.items()
                if random.random() < (0.95 if key in needed else kept)
            }
        if isinstance(value, list):
            items = [self._thinned(one, kept) for one in value if random.random() < kept + 0.15]
            if len(items) > 1 and random.random() < 0.3:
                random.shuffle(items)
            if items and random.random() < 0.04:
                items.append(copy.deepcopy(random.choice(items)))
            return items
        if isinstance(value, str) and random.random() < 0.12:
            return value + "x"
        if isinstance(value, int) and not isinstance(value, bool) and random.random() < 0.2:
            return value + 1
        return value

    def _damaged(self, body: Json) -> None:
        """Something somewhere is of another type, or a field that nobody knows."""
        places = [
            (holder, key) for holder, key in _places(body) if key not in ("apiVersion", "kind")
        ]
        holder, key = self.random.choice(places)
        if self.random.random() < 0.2 and isinstance(holder, dict):
            holder["unknown"] = 1
        else:
            holder[key] = copy.deepcopy(self.random.choice(WRONG))

    def _directed(self, body: Json) -> None:
        """Directives of a strategic merge patch are put somewhere."""
        random = self.random
        for _ in range(random.choice((0, 1, 1, 2))):
            holder, key = random.choice(list(_places(body)))
            value = holder[key]
            if isinstance(value, dict):
                draw = random.random()
                if draw < 0.5:
                    value["$patch"] = random.choice(("replace", "delete", "merge", "x", 1))
                else:
                    keys = [k for k in value if random.random() < 0.7]
                    value["$retainKeys"] = random.choice((keys, keys, ["a"], "a", [1], []))
            elif isinstance(value, list) and isinstance(holder, dict):
                order = [
                    {k: v for k, v in one.items() if isinstance(v, (str, int))}
                    if isinstance(one, dict)
                    else one
                    for one in value
                ]
                random.shuffle(order)
                draw = random.random()
                if draw < 0.4:
                    order = order if random.random() < 0.7 else [*order, random.choice(WRONG)]
                    holder[f"$setElementOrder/{key}"] = order
                elif draw < 0.6:
                    holder[f"$deleteFromPrimitiveList/{key}"] = order
                elif draw < 0.9:
                    value.append({"$patch": random.choice(("replace", "delete", "merge", "x"))})
                else:
                    value.append(random.choice(WRONG))
            else:
                holder[key] = copy.deepcopy(random.choice(WRONG))

    def _operations(self, part: str) -> Json:
        random = self.random
        if random.random() < 0.03:
            return random.choice((None, {}, [1], "x", [{}], [None], [{"op": 1}], []))
        obj = self.servers[1].call("GET", self.path + part).body
        for field in ("managedFields", "uid", "creationTimestamp", "resourceVersion", "generation"):
            obj.get("metadata", {}).pop(field, None)
        made: list[Json] = []
        for _ in range(random.choice((1, 1, 2))):
            keys = random.choice(list(_ways(obj)))
            way = "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)
            value: Json = obj
            for key in keys:
                value = value[key]
            if random.random() < 0.1:
                way += random.choice(("/-", "/0", "/x", "x", "/", "/-1", "/99", "/01"))
            value = self._thinned(value, 0.7) if random.random() < 0.7 else random.choice(WRONG)
            op = random.choice(("add", "replace", "replace", "remove", "test", "copy", "move"))
            one = {"op": op, "path": way}
            if op in ("copy", "move"):
                one["from"] = random.choice((way, "/metadata/labels", "/spec/replicas", "/spec"))
            elif op != "remove":
                one["value"] = value
            if random.random() < 0.03:
                one.pop(random.choice(list(one)))
            made.append(one)
        return made


_PANIC: Final = '"no answer"'
"""What a real server says to directives of a strategic merge patch where it has no list of
structs with a key."""
_QUOTED: Final = re.compile(r',\\+"managedFields\\+":\[[^\]]*\]')
"""The managers in a text: their order depends on seconds, and those of a scale are upstream's."""
_SCHEME: Final = re.compile(r"[\w./-]+(?=/pkg/api/legacyscheme)")
"""Where a build has its source."""


def _places(value: Json) -> Iterator[tuple[Json, Any]]:
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)


def _ways(value: Json, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        yield (*way, key)
        yield from _ways(inner, (*way, key))


def _told(reply: Reply) -> str:
    """An answer without what is a server's own, nor what has no order upstream: conflicts of
    several managers, several errors of a schema or of a body that does not fit its type; the order
    of managers depends on seconds."""
    body = copy.deepcopy(reply.body)
    if not isinstance(body, dict):
        return masked(json.dumps([reply.code, body]))
    managers = (body.get("metadata") or {}).get("managedFields", [])
    managers.sort(key=lambda one: (one["operation"], one["manager"], one.get("subresource", "")))
    causes = (body.get("details") or {}).get("causes")
    if reply.code in (409, 422) and causes:
        body["details"]["causes"] = sorted(causes, key=lambda one: json.dumps(one, sort_keys=True))
    if reply.code == 422 and causes and len(causes) > 1:
        body["message"] = ""
    if reply.code == 500 and "message" in body:
        body["message"] = sorted(body["message"].replace("errors:", "").split("\n"))
    told = masked(json.dumps([reply.code, body, sorted(reply.warnings)], sort_keys=True))
    return _SCHEME.sub("", _QUOTED.sub("", told))
