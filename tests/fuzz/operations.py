"""Random requests to what is no plain object: reviews of access and tokens, evictions, bindings,
ephemeral containers, resizes, statuses, approvals, scales, tokens; to our server and a real one.

Each scenario stores a pod and things around it, asks a few of these with values changed here and
there, and looks at the pod after each. An answer is compared as it is written.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from tests.fuzz.servers import Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference, random_changes

Json = Any
SPACE: Final = "NAMESPACE"
"""Stands for the name of the namespace."""
JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"

CONTAINER: Final = {
    "name": "c",
    "image": "i",
    "resources": {
        "requests": {"cpu": "100m", "memory": "64Mi"},
        "limits": {"cpu": "200m", "memory": "128Mi"},
    },
    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
}
PODS: Final[tuple[Json, ...]] = (
    {"containers": [CONTAINER]},
    {"containers": [CONTAINER], "nodeName": "n"},
    {"containers": [CONTAINER, {"name": "d", "image": "i"}], "schedulingGates": [{"name": "g"}]},
    {"containers": [{"name": "c", "image": "i"}], "nodeName": "n", "priority": 0},
    {"containers": [CONTAINER], "initContainers": [{**CONTAINER, "name": "i"}], "nodeName": "n"},
    {"containers": [CONTAINER], "resources": {"requests": {"cpu": "1"}}, "nodeName": "n"},
)
CONDITION: Final = {
    "type": "Ready",
    "status": "True",
    "reason": "R",
    "message": "m",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
POD_STATUS: Final = {
    "phase": "Running",
    "conditions": [CONDITION],
    "podIP": "10.1.2.3",
    "podIPs": [{"ip": "10.1.2.3"}],
    "hostIP": "10.1.2.4",
    "hostIPs": [{"ip": "10.1.2.4"}],
    "qosClass": "Burstable",
    "observedGeneration": 1,
    "startTime": "2026-01-01T00:00:00Z",
    "containerStatuses": [
        {
            "name": "c",
            "image": "i",
            "imageID": "x",
            "containerID": "docker://x",
            "ready": True,
            "restartCount": 0,
            "started": True,
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            "resources": CONTAINER["resources"],
            "allocatedResources": {"cpu": "100m"},
        }
    ],
}
ACCESS: Final = "authorization.k8s.io/v1"
RESOURCE: Final = {
    "namespace": SPACE,
    "verb": "get",
    "group": "",
    "version": "v1",
    "resource": "pods",
    "subresource": "log",
    "name": "p",
    "fieldSelector": {
        "requirements": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]
    },
    "labelSelector": {"rawSelector": "a=b"},
}
WHO: Final = {"user": "u", "groups": ["g"], "extra": {"a/b": ["c"]}, "uid": "i"}
BUDGET: Final = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "b"},
    "spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1},
}
POD: Final = "/api/v1/namespaces/NAMESPACE/pods/p"


def _object(api_version: str, kind: str, name: str = "p", **members: Json) -> Json:
    made: Json = {"apiVersion": api_version, "kind": kind}
    if name:
        made["metadata"] = {"name": name, "namespace": SPACE}
    return made | members


def _review(kind: str, **spec: Json) -> Json:
    return {"apiVersion": ACCESS, "kind": kind, "spec": spec}


ACCESS_PATH: Final = f"/apis/{ACCESS}"
_SPACE: Final = "/namespaces/NAMESPACE"
EPHEMERAL: Final = {"name": "e", "image": "i", "targetContainerName": "c"}
ASKED: Final[tuple[tuple[str, str, str, Json], ...]] = (
    ("POST", f"{ACCESS_PATH}/subjectaccessreviews", JSON,
     _review("SubjectAccessReview", resourceAttributes=RESOURCE, **WHO)),
    ("POST", f"{ACCESS_PATH}/subjectaccessreviews", JSON,
     _review("SubjectAccessReview", nonResourceAttributes={"path": "/x", "verb": "get"}, **WHO)),
    ("POST", f"{ACCESS_PATH}/selfsubjectaccessreviews", JSON,
     _review("SelfSubjectAccessReview", resourceAttributes=RESOURCE)),
    ("POST", f"{ACCESS_PATH}{_SPACE}/localsubjectaccessreviews", JSON,
     _review("LocalSubjectAccessReview", resourceAttributes=RESOURCE, **WHO)),
    ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", JSON,
     {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
      "spec": {"token": "admin-token", "audiences": ["a"]}}),
    ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", JSON,
     {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}),
    ("POST", "/api/v1/namespaces/NAMESPACE/serviceaccounts/default/token", JSON,
     _object("authentication.k8s.io/v1", "TokenRequest", "default",
             spec={"audiences": ["a"], "expirationSeconds": 600,
                   "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}})),
    ("POST", f"{POD}/eviction", JSON,
     _object("policy/v1", "Eviction", deleteOptions={"gracePeriodSeconds": 5, "dryRun": ["All"],
                                                     "preconditions": {"uid": "x"}})),
    ("POST", f"{POD}/eviction", JSON, _object("policy/v1", "Eviction")),
    ("POST", f"{POD}/eviction", JSON, _object("policy/v1beta1", "Eviction")),
    ("POST", f"{POD}/binding", JSON,
     _object("v1", "Binding", target={"kind": "Node", "name": "n", "apiVersion": "v1"})),
    ("POST", "/api/v1/namespaces/NAMESPACE/bindings", JSON,
     _object("v1", "Binding", target={"kind": "Node", "name": "n"})),
    ("PATCH", f"{POD}/ephemeralcontainers", STRATEGIC,
     {"spec": {"ephemeralContainers": [EPHEMERAL]}}),
    ("PATCH", f"{POD}/ephemeralcontainers", MERGE,
     {"spec": {"ephemeralContainers": [{**EPHEMERAL, "name": "f"}]}}),
    ("PATCH", f"{POD}/resize", STRATEGIC,
     {"spec": {"containers": [{"name": "c", "resources": {
         "requests": {"cpu": "150m"}, "limits": {"memory": "256Mi"}}}]}}),
    ("PATCH", f"{POD}/resize", APPLY,
     _object("v1", "Pod", spec={"containers": [{"name": "c", "resources": {
         "requests": {"cpu": "150m", "memory": "32Mi"}}}]})),
    ("PATCH", f"{POD}/resize", MERGE,
     {"spec": {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}}}),
    ("PATCH", f"{POD}/status", STRATEGIC, {"status": POD_STATUS}),
    ("PATCH", f"{POD}/status", MERGE, {"status": POD_STATUS}),
    ("PATCH", f"{POD}/status", APPLY, _object("v1", "Pod", status=POD_STATUS)),
    ("PATCH", POD, STRATEGIC,
     {"metadata": {"labels": {"a": "b"}}, "spec": {
         "tolerations": [{"key": "a", "operator": "Exists"}], "activeDeadlineSeconds": 5,
         "containers": [{"name": "c", "image": "j"}], "schedulingGates": []}}),
    ("DELETE", POD, JSON, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 3}),
    ("GET", f"{POD}/log", JSON, None),
    ("GET", f"{POD}/eviction", JSON, None),
    ("PUT", "/api/v1/namespaces/NAMESPACE/finalize", JSON,
     {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE},
      "spec": {"finalizers": ["kubernetes", "e.com/a"]}}),
    ("PATCH", "/api/v1/namespaces/NAMESPACE/status", MERGE,
     {"status": {"phase": "Active", "conditions": [CONDITION]}}),
    ("PATCH", "/apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets/b/status", MERGE,
     {"status": {"disruptionsAllowed": 1, "expectedPods": 1, "currentHealthy": 1,
                 "desiredHealthy": 1, "observedGeneration": 1, "conditions": [CONDITION],
                 "disruptedPods": {"p": "2026-01-01T00:00:00Z"}}}),
    ("POST", "/api/v1/namespaces/NAMESPACE/events", JSON,
     {"apiVersion": "v1", "kind": "Event", "metadata": {"generateName": "e-"},
      "involvedObject": {"kind": "Pod", "namespace": SPACE, "name": "p", "fieldPath": "spec"},
      "reason": "R", "message": "m", "type": "Normal", "count": 1, "action": "a",
      "source": {"component": "c", "host": "h"}, "firstTimestamp": "2026-01-01T00:00:00Z",
      "eventTime": "2026-01-01T00:00:00.000001Z", "reportingComponent": "e.com/r",
      "reportingInstance": "i", "series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00Z"},
      "related": {"kind": "Node", "name": "n"}}),
    ("POST", "/apis/events.k8s.io/v1/namespaces/NAMESPACE/events", JSON,
     {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
      "eventTime": "2026-01-01T00:00:00.000001Z", "reportingController": "e.com/r",
      "reportingInstance": "i", "action": "a", "reason": "R", "type": "Normal", "note": "n",
      "regarding": {"kind": "Pod", "namespace": SPACE, "name": "p"},
      "series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.5Z"}}),
    ("PATCH", "/apis/events.k8s.io/v1/namespaces/NAMESPACE/events/e", MERGE,
     {"note": "o", "series": {"count": 3, "lastObservedTime": "2026-01-01T00:00:01Z"}}),
    ("POST", "/api/v1/namespaces/NAMESPACE/configmaps", JSON,
     {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-", "labels": {
         "a": "b"}, "annotations": {"a": "b"}, "finalizers": ["e.com/a"], "ownerReferences": [
             {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]}}),
)  # fmt: skip
"""Method, path, content type, body."""


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many scenarios, request by request."""
    for number in range(count):
        namespace = f"operations-{seed}-{number}"
        yield from _Scenario(ours, real, namespace, Random(f"{seed}-{number}")).told()


class _Scenario:
    """A namespace with one pod, and what is asked there."""

    def __init__(self, ours: Server, real: Server, namespace: str, chance: Random) -> None:
        self.servers = (ours, real)
        self.namespace = namespace
        self.chance = chance

    def told(self) -> Iterator[Difference | None]:
        """Ask until an answer differs, or what became of the pod."""
        self._prepare()
        for _ in range(6):
            found = self._asked() or self._left()
            yield found
            if found:
                return

    def _prepare(self) -> None:
        chance = self.chance
        space = f"/api/v1/namespaces/{self.namespace}"
        pod = {
            "metadata": {"name": "p", "labels": {"a": "b"}},
            "spec": {**chance.choice(PODS), "automountServiceAccountToken": False},
        }
        if chance.random() < 0.3:
            pod["metadata"]["finalizers"] = ["e.com/a"]
        budgets = chance.random() < 0.4
        for server in self.servers:
            server.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
            server.call("POST", f"{space}/serviceaccounts", {"metadata": {"name": "default"}})
            server.call("POST", f"{space}/pods", pod)
            if budgets:
                path = f"/apis/policy/v1/namespaces/{self.namespace}/poddisruptionbudgets"
                server.call("POST", path, BUDGET)

    def _asked(self) -> Difference | None:
        chance = self.chance
        method, path, content_type, template = chance.choice(ASKED)
        body = self._named(template)
        what = ""
        if body is not None and chance.random() < 0.75:
            of = body if "kind" in body else {"apiVersion": "v1", "kind": "Pod", **body}
            changes = random_changes(of, chance)
            body = copy.deepcopy(body)
            for change in changes:
                if change.path[0] in body or len(change.path) == 1:
                    change.made(body)
            what = "; ".join(map(str, changes))
        query = self._query(method)
        headers: Mapping[str, str] = {"accept": JSON, "content-type": content_type}
        data = b"" if body is None else json.dumps(body).encode()
        target = self._named(path) + query
        shown = [_said(server, method, target, data, headers) for server in self.servers]
        if shown[0] == shown[1]:
            return None
        return Difference(method, target, f"{what}\n    {data.decode()}", *shown)

    def _query(self, method: str) -> str:
        chance = self.chance
        found = []
        if method == "PATCH":
            found.append("fieldManager=m")
            if chance.random() < 0.4:
                found.append("force=" + chance.choice(("true", "false", "x")))
        if chance.random() < 0.25:
            found.append("dryRun=" + chance.choice(("All", "All", "Foo", "")))
        if chance.random() < 0.3:
            found.append("fieldValidation=" + chance.choice(("Strict", "Ignore", "Warn", "Foo")))
        if chance.random() < 0.1:
            found.append("fieldManager=" + chance.choice(("x" * 129, "a%01", "", "é")))
        return "?" + "&".join(found) if found else ""

    def _named(self, value: Json) -> Json:
        return json.loads(json.dumps(value).replace(SPACE, self.namespace)) if value else value

    def _left(self) -> Difference | None:
        path = self._named(POD)
        shown = [_said(server, "GET", path, b"", {"accept": JSON}) for server in self.servers]
        return None if shown[0] == shown[1] else Difference("GET", path, "what is left", *shown)


def _said(server: Server, method: str, target: str, data: bytes, headers: Mapping[str, str]) -> str:
    return told(server.ask(method, target, data, headers))
