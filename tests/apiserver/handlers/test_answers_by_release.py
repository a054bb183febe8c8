"""What servers of different releases answer to the same requests."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.request_info import ContinueToken
from tests.apiserver.asking import ask, make, read, said, warnings
from tests.apiserver.in_process import Running

CORE: Final = "/api/v1/namespaces/default"
APPS: Final = "/apis/apps/v1/namespaces/default"
POLICY: Final = "/apis/policy/v1/namespaces/default"
MERGE: Final = "application/merge-patch+json"


class Servers:
    """A server of each release that was asked for."""

    def __init__(self) -> None:
        self._running: dict[str, Running] = {}

    def of(self, release: str) -> Running:
        if release not in self._running:
            self._running[release] = Running(Settings(version=release, all_versions=True))
        return self._running[release]

    def close(self) -> None:
        for running in self._running.values():
            running.close()


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    found = Servers()
    yield found
    found.close()


def pod(name: str, **fields: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "example.com/c:1"}], **fields}
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": spec}


NUMBER: Final = (
    "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type "
    "int64"
)
ELSEWHERE: Final = (
    'Operation cannot be fulfilled on configmaps "none": StorageError: invalid object, Code: 4, '
    "Key: /registry/configmaps/default/none, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
    "failed: UID in precondition: x, UID in object meta: "
)
Case = tuple[str, str, Any, str, int, str]

REFUSALS: Final[list[Case]] = [
    ("DELETE", f"{CORE}/configmaps/none", {"gracePeriodSeconds": "x"}, "1.34", 500, NUMBER),
    ("DELETE", f"{CORE}/configmaps/none", {"gracePeriodSeconds": "x"}, "1.35", 400, NUMBER),
    ("DELETE", f"{CORE}/configmaps", {"gracePeriodSeconds": "x"}, "1.34", 500, NUMBER),
    ("GET", "/api/v1/componentstatuses/none", None, "1.32", 500, "Component not found: none"),
    ("GET", "/api/v1/componentstatuses/none", None, "1.33", 404,
     'componentstatus "none" not found'),
    ("PUT", f"{CORE}/configmaps/none", {"metadata": {"name": "none", "uid": "x"}}, "1.33", 409,
     ELSEWHERE),
    ("PUT", f"{CORE}/configmaps/none", {"metadata": {"name": "none", "uid": "x"}}, "1.34", 404,
     'configmaps "none" not found'),
    ("GET", "/api/v1/services?fieldSelector=spec.type%3DClusterIP", None, "1.30", 400,
     '"spec.type" is not a known field selector: only "metadata.name", "metadata.namespace"'),
    ("GET", "/api/v1/services?fieldSelector=spec.type%3DClusterIP", None, "1.31", 200, ""),
    ("POST", f"{CORE}/serviceaccounts/default/token", {"metadata": {"uid": "x"}, "spec": {}},
     "1.33", 201, ""),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "release", "code", "message"), REFUSALS)
def test_what_is_refused(
    servers: Servers, method: str, path: str, body: Any, release: str, code: int, message: str
) -> None:
    found, text = said(ask(servers.of(release), method, path, body))
    assert (found, message in text, bool(text)) == (code, True, bool(message)), text


def test_a_token_is_for_the_account_that_is_meant(servers: Servers) -> None:
    running, path = servers.of("1.34"), f"{CORE}/serviceaccounts/default"
    uid = read(ask(running, "GET", path))["metadata"]["uid"]
    text = f"the UID in the token request (x) does not match the UID of the service account ({uid})"
    answer = said(ask(running, "POST", f"{path}/token", {"metadata": {"uid": "x"}, "spec": {}}))
    expected = "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io"
    assert answer == (409, f'{expected} "default": {text}')
    made = make(running, f"{path}/token", {"metadata": {"uid": uid}, "spec": {}})
    assert made["metadata"]["uid"] == uid


HISTORY: Final = {
    "metadata": {"name": "history"},
    "spec": {
        "revisionHistoryLimit": -1,
        "serviceName": "s",
        "selector": {"matchLabels": {"app": "history"}},
        "template": pod("history"),
    },
}
QUOTA: Final = {
    "metadata": {"name": "quota"},
    "spec": {"hard": {"cpu": "2500m", "limits.cpu": "2", "requests.storage": "1Gi", "memory": "1"}},
}
NEGATIVE: Final = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 "
    "is recommended"
)
REMARKS: Final[list[tuple[str, Any, str, list[str]]]] = [
    (f"{APPS}/statefulsets", HISTORY, "1.32", []),
    (f"{APPS}/statefulsets", HISTORY, "1.33", [NEGATIVE]),
    (f"{CORE}/resourcequotas", QUOTA, "1.34", []),
    (f"{CORE}/resourcequotas", QUOTA, "1.35",
     ["ResourceQuota cpu (2500m) should be less than limits.cpu (2)"]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "release", "texts"), REMARKS)
def test_what_is_remarked(
    servers: Servers, path: str, body: Any, release: str, texts: list[str]
) -> None:
    answer = ask(servers.of(release), "POST", f"{path}?dryRun=All", body)
    assert (answer.code, warnings(answer)) == (201, texts)


@pytest.mark.parametrize(("release", "is_timed"), [("1.30", False), ("1.31", True)])
def test_when_gates_closed(servers: Servers, release: str, is_timed: bool) -> None:
    body = pod("gated", schedulingGates=[{"name": "example.com/gate"}])
    made = read(ask(servers.of(release), "POST", f"{CORE}/pods?dryRun=All", body))
    (condition,) = made["status"]["conditions"]
    assert bool(condition["lastTransitionTime"]) == is_timed


@pytest.mark.parametrize(("release", "left"), [("1.34", ("nominee", None)), ("1.35", ("", "z"))])
def test_what_a_binding_changes(
    servers: Servers, release: str, left: tuple[str, str | None]
) -> None:
    running, path = servers.of(release), f"{CORE}/pods/bound"
    make(running, f"{CORE}/pods", pod("bound"))
    status = {"status": {"nominatedNodeName": "nominee"}}
    assert ask(running, "PATCH", f"{path}/status", status, content_type=MERGE).code == 200
    zone = {"topology.kubernetes.io/zone": "z"}
    make(running, "/api/v1/nodes", {"metadata": {"name": "node", "labels": zone}})
    binding = {"metadata": {"name": "bound"}, "target": {"kind": "Node", "name": "node"}}
    make(running, f"{path}/binding", binding)
    bound = read(ask(running, "GET", path))
    found = bound["status"].get("nominatedNodeName", "")
    assert (found, bound["metadata"]["labels"].get("topology.kubernetes.io/zone")) == left


SYNC: Final = {"type": "DisruptionAllowed", "status": "False", "message": "why"}
NEEDS: Final = "needs 1 healthy pods and has 3 currently"
BUDGETS: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("1.34", {"currentHealthy": 3, "conditions": [SYNC | {"reason": "SyncFailed"}]}, NEEDS),
    ("1.35", {"currentHealthy": 3, "conditions": [SYNC | {"reason": "SyncFailed"}]},
     "does not allow evicting pods currently because it failed sync: why"),
    ("1.35", {"currentHealthy": 3, "conditions": [SYNC | {"reason": "Other"}]},
     "does not allow evicting pods currently (Other): why"),
    ("1.35", {"currentHealthy": 1, "conditions": [SYNC | {"reason": "Other"}]},
     "needs 1 healthy pods and has 1 currently"),
    ("1.35", {"currentHealthy": 3}, "does not allow evicting pods currently"),
]  # fmt: skip


@pytest.mark.parametrize(("release", "status", "why"), BUDGETS)
def test_why_a_budget_allows_nothing(
    servers: Servers, release: str, status: dict[str, Any], why: str
) -> None:
    running, name = servers.of(release), "guarded"
    ask(running, "DELETE", f"{CORE}/pods/{name}?gracePeriodSeconds=0")
    ask(running, "DELETE", f"{POLICY}/poddisruptionbudgets/{name}")
    make(running, f"{CORE}/pods", pod(name, nodeName="n"))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    ask(running, "PATCH", f"{CORE}/pods/{name}/status", {"status": ready}, content_type=MERGE)
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}
    path = f"{POLICY}/poddisruptionbudgets"
    make(running, path, {"metadata": {"name": name}, "spec": spec})
    whole = {"observedGeneration": 1, "desiredHealthy": 1, "expectedPods": 1, **status}
    timed = [one | {"lastTransitionTime": "2020-01-01T00:00:00Z"} for one in
             status.get("conditions", ())]  # fmt: skip
    whole |= {"disruptionsAllowed": 0, "conditions": timed}
    path = f"{path}/{name}/status"
    assert ask(running, "PATCH", path, {"status": whole}, content_type=MERGE).code == 200
    answer = ask(running, "POST", f"{CORE}/pods/{name}/eviction", {"metadata": {"name": name}})
    (cause,) = read(answer)["details"]["causes"]
    assert (answer.code, cause["message"]) == (429, f"The disruption budget {name} {why}")


def test_an_unreadable_pod_is_not_evicted(servers: Servers) -> None:
    option = "ignoreStoreReadErrorWithClusterBreakingPotential"
    body = {"metadata": {"name": "any"}, "deleteOptions": {option: True}}
    assert said(ask(servers.of("1.36"), "POST", f"{CORE}/pods/any/eviction", body)) == (
        422,
        f'Eviction.policy "any" is invalid: deleteOptions.{option}: Invalid value: true: can not '
        "be set for pod eviction, try after removing the option",
    )


DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS: Final = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}
STATUSES: Final[list[tuple[str, str, dict[str, Any], bool]]] = [
    ("1.35", DEFINITIONS, WIDGETS, False),
    ("1.36", DEFINITIONS, WIDGETS, True),
]


@pytest.mark.parametrize(("release", "path", "body", "is_tracked"), STATUSES)
def test_who_owns_labels_that_came_with_a_status(
    servers: Servers, release: str, path: str, body: dict[str, Any], is_tracked: bool
) -> None:
    running = servers.of(release)
    name = body["metadata"]["name"]
    make(running, path, body)
    running.settle()
    change = {"metadata": {"labels": {"a": "b"}}, "status": {"storedVersions": ["v1", "v2"]}}
    url = f"{path}/{name}/status?fieldManager=teller"
    made = read(ask(running, "PATCH", url, change, content_type=MERGE))
    (entry,) = [one for one in made["metadata"]["managedFields"] if one["manager"] == "teller"]
    assert ("f:metadata" in entry["fieldsV1"]) == is_tracked


TABLE: Final = "application/json;as=Table;g=meta.k8s.io;v=v1"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
FROM_THE_START: Final = (
    "watch=1&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
)
NOTHING: Final = '"apiVersion":"v1","metadata":{},"items":null}\n'
NO_METADATA: Final = '"apiVersion":"meta.k8s.io/v1","metadata":{},"items":null}\n'
BLUEPRINTS: Final = [
    ("1.32", "application/json", '{"kind":"LimitRangeList",' + NOTHING),
    ("1.32", METADATA, '{"kind":"PartialObjectMetadataList",' + NO_METADATA),
    ("1.34", "application/json", None),
]


@pytest.mark.parametrize(("release", "accepted", "expected"), BLUEPRINTS)
def test_what_ends_the_beginning_of_a_watch(
    servers: Servers, release: str, accepted: str, expected: str | None
) -> None:
    running = servers.of(release)
    answer = ask(running, "GET", f"{CORE}/limitranges?{FROM_THE_START}", accept=accepted)
    assert answer.stream is not None
    events = running.lines(answer.stream)
    annotations = json.loads(events.readline())["object"]["metadata"]["annotations"]
    events.close()
    found = annotations.get("kubernetes.io/initial-events-list-blueprint")
    assert (None if found is None else base64.b64decode(found).decode()) == expected


@pytest.mark.parametrize(
    ("release", "query", "code"),
    [
        ("1.31", FROM_THE_START, 422),
        ("1.32", FROM_THE_START, 406),
        ("1.32", FROM_THE_START.replace("allowWatchBookmarks=1&", ""), 200),
        ("1.32", "watch=1&allowWatchBookmarks=1", 406),
        ("1.32", "watch=1&allowWatchBookmarks=1&resourceVersion=100000", 200),
        ("1.34", FROM_THE_START, 200),
    ],
)
def test_a_beginning_of_a_watch_as_a_table(
    servers: Servers, release: str, query: str, code: int
) -> None:
    path = f"{CORE}/limitranges?{query}&timeoutSeconds=1"
    answer = ask(servers.of(release), "GET", path, accept=TABLE)
    assert answer.code == code


MAPS: Final = "/api/v1/namespaces/default/configmaps"
TO_COME: Final = "resourceVersion=99999999"
FORGED: Final = f"continue={ContinueToken(99999999, 'a').text()}"
FUTURE: Final = (500, "etcdserver: mvcc: required revision is a future revision", None)
TOO_LARGE: Final = (504, "Timeout: Too large resource version: 99999999", None)


@pytest.mark.parametrize(
    ("release", "query", "expected"),
    [
        ("1.30", f"{TO_COME}&resourceVersionMatch=Exact", FUTURE),
        ("1.33", f"{TO_COME}&resourceVersionMatch=Exact", FUTURE),
        ("1.33", f"{TO_COME}&limit=2", FUTURE),
        ("1.33", FORGED, FUTURE),
        ("1.34", f"{TO_COME}&resourceVersionMatch=Exact", TOO_LARGE),
        ("1.36", f"{TO_COME}&limit=2", TOO_LARGE),
        ("1.36", FORGED, TOO_LARGE),
        ("1.30", f"{TO_COME}&resourceVersionMatch=NotOlderThan&limit=2", TOO_LARGE),
    ],
)
def test_lists_of_versions_to_come_that_etcd_is_asked_for(
    servers: Servers, release: str, query: str, expected: tuple[int, str, int | None]
) -> None:
    """Nobody waits there, so that nothing is said of when to ask again."""
    answer = ask(servers.of(release), "GET", f"{MAPS}?{query}")
    found = json.loads(answer.body)
    message = found["message"].partition(", current")[0]
    again = found.get("details", {}).get("retryAfterSeconds")
    assert (answer.code, message, again) == expected


WORKLOAD: Final = {
    "selector": {"matchLabels": {"app": "a"}},
    "template": {"metadata": {"labels": {"app": "a"}}, **pod("a")},
}
NO_SUCH_TYPE: Final = {"type": "X"}
BOTH_PATHS: Final = {"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/"}}


@pytest.mark.parametrize(
    ("path", "spec", "value"),
    [
        (
            "/apis/apps/v1/namespaces/default/daemonsets",
            {**WORKLOAD, "updateStrategy": NO_SUCH_TYPE},
            'apps.DaemonSetUpdateStrategy{Type:"X", '
            "RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}",
        ),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            {**WORKLOAD, "updateStrategy": NO_SUCH_TYPE},
            'apps.StatefulSetUpdateStrategy{Type:"X", '
            "RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(nil)}",
        ),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            {**WORKLOAD, "updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
            "apps.RollingUpdateStatefulSetStrategy{Partition:1, "
            "MaxUnavailable:(*intstr.IntOrString)(nil)}",
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            {**WORKLOAD, "strategy": NO_SUCH_TYPE},
            'apps.DeploymentStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}',
        ),
        (
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            {"minAvailable": "x%"},
            'intstr.IntOrString{Type:1, IntVal:0, StrVal:"x%"}',
        ),
        (
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            BOTH_PATHS,
            'authorization.NonResourceAttributes{Path:"/", Verb:""}',
        ),
    ],
)
def test_values_of_structs_before_1_34(
    servers: Servers, path: str, spec: dict[str, Any], value: str
) -> None:
    body = {"metadata": {"name": "a"}, "spec": spec}
    if "reviews" in path:
        del body["metadata"]
    code, message = said(ask(servers.of("1.32"), "POST", f"{path}?dryRun=All", body))
    assert code == 422
    assert f"value: {value}: " in message


REGISTRATION: Final = "/apis/admissionregistration.k8s.io"
BINDING_VERSIONS: Final = [("1.32", "v1alpha1"), ("1.34", "v1beta1"), ("1.36", "v1")]


@pytest.mark.parametrize(("release", "version"), BINDING_VERSIONS)
def test_params_of_mutating_bindings_are_those_of_their_policy(release: str, version: str) -> None:
    """The policy is looked up in the version of its binding: others may not be served."""
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{}]"}}
    maps = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}
    policy = {
        "metadata": {"name": "p"},
        "spec": {
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {"resourceRules": [maps]},
            "mutations": [mutation],
            "reinvocationPolicy": "Never",
        },
    }
    rule = {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"]}
    role = {"metadata": {"name": "binder"}, "rules": [rule]}
    roles = "/apis/rbac.authorization.k8s.io/v1"
    granted = {
        "metadata": {"name": "binder"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "binder",
        },
        "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    ref = {"name": "c", "namespace": "default", "parameterNotFoundAction": "Deny"}
    binding = {"metadata": {"name": "b"}, "spec": {"policyName": "p", "paramRef": ref}}
    gates = {"MutatingAdmissionPolicy": True}
    running = Running(Settings(version=release, all_versions=True, gates=gates))
    try:
        make(running, f"{REGISTRATION}/{version}/mutatingadmissionpolicies", policy)
        make(running, f"{roles}/clusterroles", role)
        make(running, f"{roles}/clusterrolebindings", granted)
        path = f"{REGISTRATION}/{version}/mutatingadmissionpolicybindings"
        code, text = said(ask(running, "POST", path, binding, "alice-token"))
    finally:
        running.close()
    assert (code, text.endswith("permission on the object referenced by paramRef")) == (422, True)
