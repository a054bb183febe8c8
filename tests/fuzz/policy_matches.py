"""Random policies for what `policy_decisions` leaves out, and requests that they match or do not.

Each scenario has one policy with one binding, so that no order is left to chance: cluster-scoped
objects, scopes, names, another version of the same objects (autoscalers, custom resources),
excluded rules, all mixes of actions, and parts that fail under either failure policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from tests.fuzz.policy_decisions import DUMPS, MESSAGES, Request, common, sent_to_both
from tests.fuzz.policy_writes import GROUP
from tests.fuzz.servers import Server
from tests.fuzz.writes import Difference

Json = Any
_TOGETHER: Final = 16
"""Scenarios that are prepared together, since a real server takes seconds to notice policies."""

SCALER: Final = "HorizontalPodAutoscaler"
PLACES: Final = (
    ("/apis/autoscaling/v1", "horizontalpodautoscalers", SCALER, True),
    ("/apis/autoscaling/v2", "horizontalpodautoscalers", SCALER, True),
    ("/apis/fuzz.dev/v1", "limits", "Limit", True),
    ("/apis/fuzz.dev/v2", "limits", "Limit", True),
    ("/apis/fuzz.dev/v1", "wides", "Wide", False),
    ("/apis/fuzz.dev/v2", "wides", "Wide", False),
    ("/api/v1", "namespaces", "Namespace", False),
    ("/api/v1", "configmaps", "ConfigMap", True),
    ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", False),
)
"""Paths of versions, resources, kinds, and whether they are in namespaces."""
GROUPS: Final = ("*", "", "autoscaling", "fuzz.dev", "rbac.authorization.k8s.io")
RESOURCES: Final = (
    "*",
    "*/*",
    "horizontalpodautoscalers",
    "limits",
    "wides",
    "namespaces",
    "configmaps",
    "clusterroles",
    "limits/*",
    "*/scale",
    "wides/status",
)
TESTS: Final = (
    "true",
    "false",
    "1 / 0 == 1",
    "object.spec.zz == 1",
    "object.apiVersion.endsWith('/v1')",
    "has(object.spec.targetCPUUtilizationPercentage)",
    "object.spec.metrics.size() > 0",
    "namespaceObject == null",
    "namespaceObject.metadata.labels['team'] == 'a'",
    "request.namespace == ''",
    "request.kind != request.requestKind",
    "request.resource.version == request.requestResource.version",
    "request.subResource == 'scale'",
    "oldObject == null",
    "oldObject.metadata.name == object.metadata.name",
    "variables.bad == 1",
    "variables.good == 1",
    "variables.deep.size() > 0",
    "authorizer.group('').resource('pods').namespace('x').check('get').allowed()",
    "authorizer.serviceAccount('x', 'y').path('/z').check('get').reason() == ''",
    "authorizer.requestResource.check('delete').allowed()",
    "params.data.a == 'b'",
    "params.metadata.name.endsWith('1')",
)
VARIABLES: Final = (
    {"name": "good", "expression": "1"},
    {"name": "bad", "expression": "dyn(object).spec.nothing"},
    {"name": "deep", "expression": "[variables.good].filter(x, variables.bad == x)"},
)
SELECTORS: Final = (
    {"matchLabels": {"team": "a"}},
    {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]},
    {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]},
)
ACTIONS: Final = (["Deny"], ["Warn"], ["Audit"], ["Deny", "Audit"], ["Warn", "Audit"])
ANNOTATIONS: Final = ("1 / 0 == 1 ? 'a' : 'b'", "null", "''", "'%s'.format([variables.good])",
                      "'%s'.format([variables.bad])", "object.spec.zz", "' x '")  # fmt: skip
MERGE: Final = {"content-type": "application/merge-patch+json"}


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
            for request in scenario.requests():
                yield sent_to_both(ours, real, request, scenario.setup)
        for server in (ours, real):
            for scenario in made:
                for path in scenario.leftovers():
                    server.call("DELETE", path)
            server.settle()


class Scenario:
    """A policy, its binding and params, and requests about objects that have its label."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"policy-matches-{seed}")
        self.name = f"pm-{seed}"
        self._labels = {"fuzz": self.name}
        team = self._random.choice(({}, {"team": "a"}, {"team": "b"}))
        space = {"metadata": {"name": self.name, "labels": {**team}}}
        self.setup = [Request("POST", "/api/v1/namespaces", space)]
        self._has_params = self._random.random() < 0.35
        if self._has_params:
            self.setup += [self._param(number) for number in range(self._random.randrange(4))]
        self._policy()

    def leftovers(self) -> Iterator[str]:
        """Yield the paths of what holds for other scenarios, too."""
        for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            yield f"{GROUP}/v1/{plural}/{self.name}"
        for root, plural, _, is_inside in PLACES:
            if not is_inside:
                yield f"{root}/{plural}/{self.name}-o"

    def requests(self) -> Iterator[Request]:
        """Yield requests of each verb about a few kinds of objects."""
        for root, plural, kind, is_inside in self._random.sample(PLACES, 4):
            place = f"{root}/namespaces/{self.name}/{plural}" if is_inside else f"{root}/{plural}"
            path = f"{place}/{self.name}-o"
            yield Request("POST", f"{place}?dryRun=All", self._object(root, kind))
            yield Request("POST", place, self._object(root, kind))
            change = {"metadata": {"annotations": {"x": self._random.choice("abc")}}}
            yield Request("PATCH", path, change, MERGE)
            if kind in ("Limit", "Wide"):
                yield Request("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, MERGE)
                yield Request("PATCH", f"{path}/status", {"status": {"x": 1}}, MERGE)
            yield Request("DELETE", f"{path}?dryRun=All")
            if kind != "Namespace":
                yield Request("DELETE", path)

    def _param(self, number: int) -> Request:
        meta = {"name": f"p{number}", "labels": {"sel": self._random.choice("xy")}}
        body = {"metadata": meta, "data": self._random.choice(({"a": "b"}, {"a": "c"}, {}))}
        return Request("POST", f"/api/v1/namespaces/{self.name}/configmaps", body)

    def _policy(self) -> None:
        random, path = self._random, f"{GROUP}/v1/validatingadmissionpolic"
        tests = [one for one in TESTS if self._has_params or "params" not in one]
        spec: Json = {
            "failurePolicy": random.choice(("Fail", "Ignore")),
            "matchConstraints": self._constraints(),
            "variables": list(VARIABLES),
            "validations": [self._validation(tests) for _ in range(random.randrange(1, 4))],
            "auditAnnotations": [
                {"key": key, "valueExpression": DUMPS[key]}
                for key in random.sample(("request", "space", "object", "old"), 2)
            ],
        }
        if random.random() < 0.3:
            odd = {"key": "odd", "valueExpression": random.choice(ANNOTATIONS)}
            spec["auditAnnotations"].append(odd)
        if random.random() < 0.3:
            chosen = random.sample([one for one in tests if "variables" not in one], 2)
            spec["matchConditions"] = [
                {"name": f"c{number}", "expression": one} for number, one in enumerate(chosen)
            ]
        bound: Json = {
            "policyName": self.name,
            "validationActions": random.choice(ACTIONS),
            "matchResources": {"objectSelector": {"matchLabels": self._labels}},
        }
        if random.random() < 0.2:
            bound["matchResources"].update(self._constraints())
            bound["matchResources"]["objectSelector"] = {"matchLabels": self._labels}
        if self._has_params:
            spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
            bound["paramRef"] = self._param_ref()
        meta = {"metadata": {"name": self.name}}
        self.setup += [
            Request("POST", f"{path}ies", {**meta, "spec": spec}),
            Request("POST", f"{path}ybindings", {**meta, "spec": bound}),
        ]

    def _param_ref(self) -> Json:
        random = self._random
        ref: Json = {"parameterNotFoundAction": random.choice(("Allow", "Deny"))}
        if random.random() < 0.4:
            ref["name"] = random.choice(("p0", "p1", "p3"))
        else:
            ref["selector"] = random.choice(({}, {"matchLabels": {"sel": "x"}}))
        if random.random() < 0.6:
            ref["namespace"] = random.choice((self.name, self.name, "nowhere"))
        return ref

    def _constraints(self) -> Json:
        random = self._random
        rules = [self._rule() for _ in range(random.choice((1, 1, 2)))]
        found: Json = {"resourceRules": rules}
        if random.random() < 0.25:
            found["excludeResourceRules"] = [self._rule()]
        if random.random() < 0.5:
            found["matchPolicy"] = random.choice(("Exact", "Equivalent"))
        if random.random() < 0.25:
            found["namespaceSelector"] = random.choice(SELECTORS)
        return found

    def _rule(self) -> Json:
        random = self._random
        rule: Json = {
            "apiGroups": random.choice((["*"], [random.choice(GROUPS)])),
            "apiVersions": random.choice((["*"], ["v1"], ["v2"], ["v1", "v2"])),
            "operations": random.choice((["*"], ["CREATE"], ["UPDATE", "DELETE"])),
            "resources": random.choice((["*"], ["*/*"], [random.choice(RESOURCES)])),
        }
        if random.random() < 0.5:
            rule["scope"] = random.choice(("*", "Cluster", "Namespaced"))
        if random.random() < 0.15:
            rule["resourceNames"] = random.choice(([f"{self.name}-o"], ["other"]))
        return rule

    def _validation(self, tests: list[str]) -> Json:
        random = self._random
        found: Json = {"expression": random.choice(tests)}
        if random.random() < 0.3:
            found["message"] = random.choice(("no", " no ", 'q"q'))
        if random.random() < 0.5:
            found["messageExpression"] = random.choice((*MESSAGES, "string(variables.bad)", "''"))
        if random.random() < 0.3:
            found["reason"] = random.choice(("Forbidden", "Invalid", "Unauthorized"))
        return found

    def _object(self, root: str, kind: str) -> Json:
        found: Json = {
            "apiVersion": root.removeprefix("/apis/").removeprefix("/api/"),
            "kind": kind,
            "metadata": {"name": f"{self.name}-o", "labels": dict(self._labels)},
        }
        if self._random.random() < 0.1:
            del found["metadata"]["labels"]
        if kind in ("Limit", "Wide"):
            found["spec"] = {"replicas": 1}
        if kind == SCALER:
            target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
            found["spec"] = {"scaleTargetRef": target, "maxReplicas": 3}
            if root.endswith("v1") and self._random.random() < 0.5:
                found["spec"]["targetCPUUtilizationPercentage"] = 50
        return found
