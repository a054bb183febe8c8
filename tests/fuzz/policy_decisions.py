"""Random sets of policies, bindings and params, and requests of every verb to what they match.

Requests go to our server and to a real one in the same order, so that both have the same objects.
Whole answers are compared: code, body, warnings and audit annotations, some of which are all that
expressions are shown. A real server asks policies in an order of its own, so what it denied may be
asked once more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from tests.fuzz.policy_writes import GROUP
from tests.fuzz.servers import Reply, Server
from tests.fuzz.typed_expressions import pools
from tests.fuzz.writes import Difference, plain

Json = Any
_TOGETHER: Final = 12
"""Scenarios that are prepared together, since a real server takes seconds to notice policies."""
_AGAIN: Final = 12

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SHOWN: Final = (
    "{0} == null ? 'null' : '%s'.format([dyn({0}).transformMap(k, v, k == 'metadata' ? "
    "v.transformMap(n, w, n != 'managedFields', w) : v)])"
)
DUMPS: Final = {
    "object": _SHOWN.format("object"),
    "old": _SHOWN.format("oldObject"),
    "request": "'%s'.format([dyn(request)])",
    "options": "'%s'.format([dyn(request.options)])",
    "space": "namespaceObject == null ? 'none' : namespaceObject.metadata.name + "
    "'%s'.format([dyn(namespaceObject).metadata.?labels.orValue({})])",
}
PARAMS: Final = (
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("fuzz.dev/v1", "Limit"),
    ("fuzz.dev/v1", "Wide"),
)
POOLS: Final = pools("policy_decisions")
TESTS: Final = POOLS["tests"]
WITH_PARAMS: Final = POOLS["with_params"]
MESSAGES: Final = POOLS["messages"]
VARIABLES: Final = (
    *(("one", "1"), ("one", "dyn(object).metadata.name"), ("bad", "1 / 0"), ("bad", "object.zz.y")),
    *(
        ("bad2", "variables.bad + 1"),
        ("bad2", "dyn([1])[3]"),
        ("one", "request.userInfo"),
        ("one", "object"),
    ),
    *(
        ("one", "authorizer.path('/').check('get').allowed()"),
        ("bad", "dyn(variables.one) == 1 ? 1 : 2"),
    ),
)
APPLIED: Final = POOLS["applied"]
PATCHES: Final = POOLS["patches"]
RULES: Final = tuple(
    (tuple(groups.split(",")), tuple(resources.split(",")))
    for groups, resources in (
        *(("", "pods"), ("", "configmaps"), ("apps", "deployments"), ("*", "*"), ("*", "*/*")),
        *(("fuzz.dev", "limits"), ("", "pods/*"), ("*", "*/scale"), ("", "services")),
        ("apps,", "deployments,pods,pods/status,pods/eviction"),
        ("", "pods/exec,pods/attach,pods/proxy,services/proxy"),
        ("", "pods/ephemeralcontainers,pods/binding,bindings"),
        ("fuzz.dev", "limits/status,limits/scale,limits"),
        ("", "serviceaccounts/token,pods/resize"),
    )
)
"""Groups and resources."""
USERS: Final[tuple[Mapping[str, str], ...]] = (
    *({}, {}, {}, {}),
    {"impersonate-user": "alice", "impersonate-group": "devs"},
    {"impersonate-user": "zoe", "impersonate-group": "system:masters", "impersonate-extra-k": "v"},
    {"impersonate-user": "system:serviceaccount:default:default"},
)


@dataclass(slots=True)
class Request:
    """What is sent."""

    method: str
    path: str
    body: Json = None
    headers: dict[str, str] = field(default_factory=dict)


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many scenarios, request by request."""
    for server in (ours, real):
        common(server)
    for first in range(seed, seed + count, _TOGETHER):
        made = [Scenario(number) for number in range(first, min(first + _TOGETHER, seed + count))]
        for scenario in made:
            for request in scenario.setup:
                yield sent_to_both(ours, real, request, scenario.setup)
        for server in (ours, real):
            server.settle()
        for scenario in made:
            for request in scenario.requests:
                yield sent_to_both(ours, real, request, scenario.setup)
        for server in (ours, real):
            for scenario in made:
                scenario.removed(server)
            server.settle()


def sent_to_both(
    ours: Server, real: Server, request: Request, setup: Sequence[Request]
) -> Difference | None:
    """Return how the answers differ; `setup` is what was made before, to be told with it."""
    told, body = [], request.body
    for server in (ours, real):
        body = request.body
        if request.method == "PUT" and isinstance(body, dict):
            stored = server.call("GET", request.path).body
            meta = (stored or {}).get("metadata") or {}
            known = {key: meta[key] for key in ("resourceVersion", "uid") if key in meta}
            body = {**body, "metadata": {**body["metadata"], **known}}
        told.append(_plain(server.call(request.method, request.path, body, request.headers)))
    for _ in range(_AGAIN if told[0] != told[1] and json.loads(told[1])[0] >= 400 else 0):
        told[1] = _plain(real.call(request.method, request.path, body, request.headers))
        if told[0] == told[1]:
            break
    what = json.dumps([request.body, request.headers, [one.body for one in setup]])
    if told[0] == told[1] or _are_denied_by_others(*told):
        return None
    return Difference(request.method, request.path, what, *told)


_DENIAL: Final = re.compile(r"(ValidatingAdmissionPolicy '[^']*' with binding '[^']*') denied")


def _are_denied_by_others(*answers: str) -> bool:
    """Return whether both are denied, each by another policy or binding: the real server asks them
    in an order that stays as it is until policies change."""
    denials = [_DENIAL.search(answer) for answer in answers]
    return all(denials) and len({denial[1] for denial in denials if denial}) > 1


_RANDOM: Final = re.compile(
    r"(?<=\bgen-)[a-z0-9]{5}\b|eyJ[\w.-]+|(?<=resourceVersion)[\\\\\":]+\d+"
)

NOT_POLICIES: Final = ("authorization.", "authentication.", "apiserver.latency.")
"""Annotations of audit events that are none of admission's."""


def _plain(reply: Reply) -> str:
    known = sorted((reply.audit or {}).items())
    audit = {key: text for key, text in known if not key.startswith(NOT_POLICIES)}
    shown = json.loads(plain(reply, exact=True))
    for item in (shown[1] or {}).get("items", ()):
        item["metadata"].pop("managedFields", None)
    masked = json.loads(plain(Reply(0, audit), exact=True))
    text = _RANDOM.sub("RANDOM", json.dumps([*shown, masked[1]]))
    return text.replace("admin-uid", "admin")  # a server's own, as its tokens are


def common(server: Server) -> None:
    """Definitions, and who may what: devs less than others."""
    for plural, kind, scope in (("limits", "Limit", "Namespaced"), ("wides", "Wide", "Cluster")):
        items = {
            "type": "object",
            "required": ["k"],
            "properties": {"k": {"type": "string"}, "v": {"type": "integer", "default": 3}},
        }
        spec = {
            "x": {"type": "integer", "default": 1, "maximum": 100},
            "max": {"type": "integer"},
            "s": {"type": "string", "default": "d"},
            "list": {
                "type": "array",
                "items": items,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
            },
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "atomic": {"type": "array", "items": {"type": "integer"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "d": {"x-kubernetes-preserve-unknown-fields": True},
            "io": {"x-kubernetes-int-or-string": True},
            "replicas": {"type": "integer"},
        }
        status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        schema = {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": spec}, "status": status},
        }
        version = {
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas",
                },
            },
        }
        names = {
            "plural": plural,
            "singular": kind.lower(),
            "kind": kind,
            "listKind": f"{kind}List",
        }
        versions = [{**version, "name": "v1"}, {**version, "name": "v2", "storage": False}]
        server.call("POST", DEFINITIONS, {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.fuzz.dev"},
            "spec": {"group": "fuzz.dev", "scope": scope, "names": names, "versions": versions},
        })  # fmt: skip
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rule = {
        "apiGroups": ["*"],
        "resources": ["*"],
        "verbs": ["create", "update", "patch", "get", "delete"],
    }
    server.call(
        "POST", f"{rbac}/clusterroles", {"metadata": {"name": "fuzz-devs"}, "rules": [rule]}
    )
    ref = {"apiGroup": rbac[6:-3], "kind": "ClusterRole", "name": "fuzz-devs"}
    subjects = [
        {"apiGroup": rbac[6:-3], "kind": "Group", "name": name}
        for name in ("devs", "system:serviceaccounts")
    ]
    server.call(
        "POST",
        f"{rbac}/clusterrolebindings",
        {"metadata": {"name": "fuzz-devs"}, "roleRef": ref, "subjects": subjects},
    )
    nothing: Json = {
        "apiGroups": ["fuzz.dev"],
        "apiVersions": ["v1"],
        "operations": ["CONNECT"],
        "resources": ["none"],
    }
    for params in PARAMS:  # a kind that no policy has any more is not watched again
        _kept(server, nothing, dict(zip(("apiVersion", "kind"), params, strict=True)))
    server.settle()


def _kept(server: Server, rule: Json, params: Json) -> None:
    """Make policies of both kinds with these params, which match nothing."""
    patch = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{}]"}}
    common = {"matchConstraints": {"resourceRules": [rule]}, "paramKind": params}
    made = {
        "validating": {**common, "validations": [{"expression": "true"}]},
        "mutating": {**common, "mutations": [patch], "reinvocationPolicy": "Never"},
    }
    meta = {"metadata": {"name": f"fuzz-{params['kind'].lower()}"}}
    for kind, spec in made.items():
        server.call("POST", f"{GROUP}/v1/{kind}admissionpolicies", {**meta, "spec": spec})
        bound: Json = {
            "policyName": meta["metadata"]["name"],
            "paramRef": {"name": "x", "parameterNotFoundAction": "Allow"},
        }
        if kind == "validating":
            bound["validationActions"] = ["Audit"]
        server.call("POST", f"{GROUP}/v1/{kind}admissionpolicybindings", {**meta, "spec": bound})


class Scenario:
    """Policies with their bindings for a namespace, and requests to it."""

    def __init__(self, seed: int) -> None:
        self._random = random = Random(seed)
        self.name = f"pd-{seed}"
        self.setup: list[Request] = []
        labels = {"fuzz": self.name, **({"team": "a"} if random.random() < 0.5 else {})}
        self._post("/api/v1/namespaces", {"metadata": {"name": self.name, "labels": labels}})
        self._params()
        self._several = random.random() < 0.4
        for number in range(random.randrange(2, 4) if self._several else 1):
            self._policy(f"{self.name}-{number}", mutating=random.random() < 0.35)
        self.requests = list(self._requests())

    def removed(self, server: Server) -> None:
        """Take away what holds for other scenarios, too."""
        for request in reversed(self.setup):
            if f"/namespaces/{self.name}/" not in request.path:
                server.call("DELETE", f"{request.path}/{request.body['metadata']['name']}")

    def _post(self, path: str, body: Json) -> None:
        self.setup.append(Request("POST", path, body))

    def _params(self) -> None:
        for namespace in (self.name, "default"):
            for name, label in (("p1", "x"), ("p2", "y")):
                meta = {
                    "name": name if namespace == self.name else f"{self.name}-{name}",
                    "labels": {"sel": label, "fuzz": self.name},
                }
                self._post(
                    f"/api/v1/namespaces/{namespace}/configmaps",
                    {"metadata": meta, "data": {"a": "b"}},
                )
                self._post(
                    f"/api/v1/namespaces/{namespace}/secrets",
                    {"metadata": meta, "stringData": {"a": "b"}},
                )
                self._post(
                    f"/apis/fuzz.dev/v1/namespaces/{namespace}/limits",
                    {
                        "apiVersion": "fuzz.dev/v1",
                        "kind": "Limit",
                        "metadata": meta,
                        "spec": {"max": 2},
                    },
                )
        self._post(
            "/apis/fuzz.dev/v1/wides",
            {
                "apiVersion": "fuzz.dev/v1",
                "kind": "Wide",
                "metadata": {"name": f"{self.name}-w", "labels": {"fuzz": self.name}},
                "spec": {"max": 5},
            },
        )

    # --- policies ----------------------------------------------------------------------------

    def _policy(self, name: str, *, mutating: bool) -> None:
        random = self._random
        kind = "Mutating" if mutating else "Validating"
        params = random.choice(PARAMS) if random.random() < 0.4 else None
        tests = TESTS if params is None else (*TESTS, *WITH_PARAMS, *WITH_PARAMS)
        spec: Json = {"matchConstraints": self._constraints(mutating=mutating)}
        if random.random() < 0.5:
            spec["failurePolicy"] = random.choice(("Fail", "Ignore"))
        if params is not None:
            spec["paramKind"] = {"apiVersion": params[0], "kind": params[1]}
        if random.random() < 0.3:
            conditions = random.sample(
                [one for one in tests if "variables" not in one], random.randrange(1, 3)
            )
            spec["matchConditions"] = [
                {"name": f"c{i}", "expression": one} for i, one in enumerate(conditions)
            ]
        chosen = dict(random.choices(VARIABLES, k=2))
        chosen = {
            "one": "1",
            "bad": "dyn(1) / 0",
            **chosen,
            "bad2": chosen.get("bad2", "variables.bad"),
        }
        spec["variables"] = [
            {"name": one, "expression": chosen[one]} for one in ("one", "bad", "bad2")
        ]
        if mutating:
            spec["reinvocationPolicy"] = random.choice(("Never", "IfNeeded"))
            spec["mutations"] = [self._mutation() for _ in range(random.randrange(1, 3))]
        else:
            spec["validations"] = [self._validation(tests) for _ in range(random.randrange(1, 4))]
            if random.random() < 0.6:
                dumps = random.sample(sorted(DUMPS), random.randrange(1, 4))
                spec["auditAnnotations"] = [
                    {"key": one, "valueExpression": DUMPS[one]} for one in dumps
                ]
                if random.random() < 0.15:
                    spec["auditAnnotations"].append(
                        {"key": "m", "valueExpression": random.choice(MESSAGES)}
                    )
        version = f"{GROUP}/v1"
        meta = {"apiVersion": version[6:], "metadata": {"name": name}}
        plural = f"{version}/{kind.lower()}admissionpolic"
        self._post(f"{plural}ies", {**meta, "kind": f"{kind}AdmissionPolicy", "spec": spec})
        for number in range(random.choice((1, 1, 1, 2)) if not mutating else 1):
            binding = {"policyName": name, **self._bound(params)}
            if not mutating:
                actions = [["Deny"], ["Warn"]]
                if (
                    not self._several and not number
                ):  # one event has one failure, of whoever is first
                    actions += [["Deny", "Audit"], ["Warn", "Audit"], ["Audit"]]
                binding["validationActions"] = random.choice(actions)
            meta["metadata"] = {"name": f"{name}-b{number}"}
            self._post(
                f"{plural}ybindings",
                {**meta, "kind": f"{kind}AdmissionPolicyBinding", "spec": binding},
            )

    def _constraints(self, *, mutating: bool) -> Json:
        random = self._random
        found: Json = {
            "resourceRules": [
                self._rule(mutating=mutating) for _ in range(random.choice((1, 1, 2)))
            ]
        }
        if random.random() < 0.15:
            found["excludeResourceRules"] = [self._rule(mutating=mutating)]
        if random.random() < 0.3:
            found["matchPolicy"] = random.choice(("Exact", "Equivalent"))
        if random.random() < 0.15:
            found["objectSelector"] = random.choice(self._selectors())
        if random.random() < 0.1:
            found["namespaceSelector"] = {"matchLabels": {"team": "a"}}
        return found

    def _selectors(self) -> tuple[Json, ...]:
        return (
            {"matchLabels": {"app": "x"}},
            {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]},
            {"matchExpressions": [{"key": "m", "operator": "DoesNotExist"}]},
            {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
        )

    def _rule(self, *, mutating: bool) -> Json:
        random = self._random
        groups, resources = random.choice(RULES)
        operations = [["CREATE", "UPDATE"], ["CREATE"], ["UPDATE"], ["CREATE", "UPDATE", "CONNECT"]]
        if not mutating:
            operations += [["*"], ["DELETE"], ["*"], ["CONNECT"]]
        rule: Json = {
            "apiGroups": list(groups),
            "apiVersions": random.choice((["*"], ["v1"], ["v1", "v2"])),
            "operations": random.choice(operations),
            "resources": list(resources),
            "scope": "Namespaced",
        }
        if random.random() < 0.1:
            rule["resourceNames"] = ["a", "p"]
        return rule

    def _mutation(self) -> Json:
        random = self._random
        if random.random() < 0.5:
            return {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": random.choice(APPLIED)},
            }
        return {"patchType": "JSONPatch", "jsonPatch": {"expression": random.choice(PATCHES)}}

    def _validation(self, tests: Sequence[str]) -> Json:
        random = self._random
        found: Json = {"expression": random.choice(tests)}
        if random.random() < 0.25:
            found["expression"] = f"{random.choice(tests)} && !({random.choice(tests)})"
        if random.random() < 0.3:
            found["message"] = random.choice(("no", " no ", "é <b>", 'q"q'))
        if random.random() < 0.5:
            found["messageExpression"] = random.choice(MESSAGES)
        if random.random() < 0.3:
            found["reason"] = random.choice(("Forbidden", "Invalid", "RequestEntityTooLarge"))
        return found

    def _bound(self, params: tuple[str, str] | None) -> Json:
        random = self._random
        found: Json = {
            "matchResources": {"namespaceSelector": {"matchLabels": {"fuzz": self.name}}}
        }
        if random.random() < 0.15:
            found["matchResources"]["objectSelector"] = random.choice(self._selectors())
        if random.random() < 0.15:
            found["matchResources"]["resourceRules"] = [self._rule(mutating=True)]
        if params is None or random.random() < 0.1:
            return found
        ref: Json = {"parameterNotFoundAction": random.choice(("Deny", "Allow"))}
        if random.random() < 0.5:
            ref["name"] = random.choice(("p1", f"{self.name}-p1", f"{self.name}-w", "zz"))
        else:
            ref["selector"] = random.choice(
                (
                    {"matchLabels": {"sel": "x"}},
                    {"matchLabels": {"fuzz": self.name, "sel": "y"}},
                    {"matchLabels": {"sel": "zz"}},
                )
            )
        if params[1] != "Wide" and random.random() < 0.3:
            ref["namespace"] = random.choice(("default", self.name, "nowhere"))
        if random.random() < 0.95 or params[1] == "Wide":
            found["paramRef"] = ref
        return found

    # --- requests ----------------------------------------------------------------------------

    def _requests(self) -> Iterator[Request]:
        random = self._random
        places = {
            "pods": "/api/v1", "configmaps": "/api/v1", "services": "/api/v1",
            "deployments": "/apis/apps/v1", "limits": f"/apis/fuzz.dev/v{random.randrange(1, 3)}",
        }  # fmt: skip
        for plural in random.sample(sorted(places), 3):
            collection = f"{places[plural]}/namespaces/{self.name}/{plural}"
            for name in ("a", "b"):
                yield self._as(
                    Request(
                        "POST",
                        collection + self._query(),
                        self._object(plural, name, places[plural]),
                    )
                )
            made = self._object(plural, "", places[plural])
            made["metadata"] = {
                "generateName": "gen-",
                "labels": made["metadata"].get("labels", {}),
            }
            yield Request("POST", f"{collection}?dryRun=All", made)
            for _ in range(random.randrange(2, 5)):
                yield self._as(
                    self._write(plural, f"{collection}/{random.choice('ab')}", places[plural])
                )
            for request in random.sample(
                self._parts(plural, f"{collection}/{random.choice('ab')}"), 3
            ):
                yield self._as(request)
            yield self._as(self._deletion(collection))
        place = f"/api/v1/namespaces/{self.name}"
        yield Request(
            "PATCH",
            place,
            {"metadata": {"labels": {"team": "b"}}},
            {"content-type": "application/merge-patch+json"},
        )

    def _as(self, request: Request) -> Request:
        request.headers = {
            "content-type": "application/json",
            **request.headers,
            **self._random.choice(USERS),
        }
        return request

    def _query(self) -> str:
        return self._random.choice(
            ("", "", "?dryRun=All", "?fieldManager=me", "?fieldValidation=Strict")
        )

    def _object(self, plural: str, name: str, place: str) -> Json:
        random = self._random
        meta: Json = {"name": name}
        if random.random() < 0.6:
            meta["labels"] = random.choice(({"app": "x"}, {"app": "y"}, {"m": "o"}))
        if random.random() < 0.2:
            meta["annotations"] = {"x": "y"}
        containers = [{"name": "a", "image": random.choice(("reg/a", "b"))}]
        pod = {"containers": containers, "automountServiceAccountToken": False}
        labels = {"app": "x"}
        return {
            "pods": {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod},
            "configmaps": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": meta,
                "data": random.choice(({"a": "b"}, {}, {"a": "5", "c": "d"})),
            },
            "services": {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": meta,
                "spec": {"ports": [{"port": 80}], "selector": labels},
            },
            "deployments": {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": meta,
                "spec": {
                    "replicas": random.randrange(4),
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": containers},
                    },
                },
            },
            "limits": {
                "apiVersion": place[6:],
                "kind": "Limit",
                "metadata": meta,
                "spec": random.choice(
                    (
                        {},
                        {"x": 9, "list": [{"k": "a"}], "set": ["a"]},
                        {"d": {"q": 1.5}, "io": "5%", "zz": 1, "replicas": 2},
                    )
                ),
            },
        }[plural]

    def _write(self, plural: str, path: str, place: str) -> Request:
        random = self._random
        query = self._query()
        name = path.rpartition("/")[2]
        body: Json
        match random.randrange(5):
            case 0:
                return Request("PUT", path + query, self._object(plural, name, place))
            case 1:
                body = {"metadata": {"labels": {"app": random.choice(("x", None, "z"))}}}
                return Request(
                    "PATCH", path + query, body, {"content-type": "application/merge-patch+json"}
                )
            case 2:
                change = [{"op": "add", "path": "/metadata/annotations", "value": {"x": "z"}}]
                return Request(
                    "PATCH", path + query, change, {"content-type": "application/json-patch+json"}
                )
            case 3:
                body = self._object(plural, name, place)
                asked = "?fieldManager=ssa&force=" + random.choice(("true", "false"))
                return Request(
                    "PATCH", path + asked, body, {"content-type": "application/apply-patch+yaml"}
                )
            case _:
                more = {
                    "configmaps": {"data": {"s": "t"}},
                    "deployments": {"spec": {"replicas": 3}},
                    "limits": {"spec": {"x": 4}},
                }
                body = more.get(plural, {"metadata": {"annotations": {"p": "q"}}})
                kind = "merge" if plural == "limits" else "strategic-merge"
                return Request(
                    "PATCH", path + query, body, {"content-type": f"application/{kind}-patch+json"}
                )

    def _parts(self, plural: str, path: str) -> list[Request]:
        """Requests to subresources."""
        name = path.rpartition("/")[2]
        meta = {"name": name, "namespace": self.name}
        space = f"/api/v1/namespaces/{self.name}"
        merge = {"content-type": "application/merge-patch+json"}
        status = Request("PATCH", f"{path}/status", {"status": {"observedGeneration": 1}}, merge)
        scale = [
            Request(
                "PUT",
                f"{path}/scale",
                {
                    "apiVersion": "autoscaling/v1",
                    "kind": "Scale",
                    "metadata": meta,
                    "spec": {"replicas": self._random.randrange(4)},
                },
            ),
            Request("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, merge),
        ]
        strategic = {"content-type": "application/strategic-merge-patch+json"}
        debug = {"spec": {"ephemeralContainers": [{"name": "d", "image": "d"}]}}
        target = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": meta,
            "target": {"kind": "Node", "name": "n"},
        }
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        token = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"audiences": ["x"], "expirationSeconds": 600},
        }
        resize = {"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}]}}
        return {
            "pods": [
                Request("PATCH", f"{path}/status", {"status": {"phase": "Running"}}, merge),
                Request("POST", f"{path}/exec?command=ls&stdout=true&container=a"),
                Request("GET", f"{path}/exec?command=ls&command=-l&stdin=1&tty=true"),
                Request("POST", f"{path}/exec"),
                Request("POST", f"{path}/attach?container=zz"),
                Request("GET", f"{path}/proxy/some/path?x=y"),
                Request("POST", f"{path}/portforward?ports=80"),
                Request("PATCH", f"{path}/ephemeralcontainers", debug, strategic),
                Request("PATCH", f"{path}/resize", resize, strategic),
                Request("POST", f"{path}/binding?dryRun=All", target),
                Request("POST", f"{space}/bindings?dryRun=All", target),
                Request("POST", f"{path}/eviction?dryRun=All", eviction),
                Request(
                    "POST",
                    f"{path}/eviction",
                    {**eviction, "deleteOptions": {"gracePeriodSeconds": 0}},
                ),
            ],
            "configmaps": [
                Request("POST", f"{space}/serviceaccounts", {"metadata": {"name": name}}),
                Request("POST", f"{space}/serviceaccounts/{name}/token?dryRun=All", token),
                Request("DELETE", f"{path}?dryRun=All"),
                Request("POST", f"{space}/configmaps", {"metadata": {"name": name}}),
            ],
            "services": [
                status,
                Request("GET", f"{path}:80/proxy/x"),
                Request("DELETE", f"{path}?dryRun=All"),
            ],
            "deployments": [status, *scale, Request("GET", path)],
            "limits": [status, *scale, Request("GET", path)],
        }[plural]

    def _deletion(self, collection: str) -> Request:
        random = self._random
        options: Json = random.choice(
            (
                *(None, {"gracePeriodSeconds": 0}, {"propagationPolicy": "Orphan"}),
                *({"dryRun": ["All"]}, {"preconditions": {}}, {"gracePeriodSeconds": -5}),
            )
        )
        if random.random() < 0.4:
            return Request("DELETE", f"{collection}?labelSelector=app", options)
        return Request("DELETE", f"{collection}/{random.choice('ab')}", options)
