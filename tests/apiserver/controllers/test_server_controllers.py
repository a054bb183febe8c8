"""The controllers of a running server, by what its clients see."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.controllers import policy_and_quota_status
from celadon.apiserver.controllers.controller_loops import ON_BY_DEFAULT
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.runtime_config import RuntimeConfig
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
MERGE = "application/merge-patch+json"


class Client:
    def __init__(self, running: Running) -> None:
        self.running = running

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = MERGE if method == "PATCH" else "application/json"
        headers = [("authorization", "Bearer admin-token"), ("content-type", content)]
        data = b"" if body is None else json.dumps(body).encode()
        answer = self.running.answer(HttpRequest(method, path, headers, data))
        is_json = answer.content_type == "application/json"
        return answer.code, json.loads(answer.body) if is_json else answer.body.decode()

    def make(self, path: str, kind: str, name: str, version: str = "v1", **more: Any) -> Any:
        meta = {"name": name, **more.pop("metadata", {})}
        body = {"apiVersion": version, "kind": kind, "metadata": meta, **more}
        code, made = self.ask("POST", path, body)
        assert code == 201, made
        return made

    def config_map(self, name: str, *owners: Any, block: bool = False, **meta: Any) -> Any:
        if owners:
            meta["ownerReferences"] = [
                {
                    "apiVersion": one["apiVersion"],
                    "kind": one["kind"],
                    "name": one["metadata"]["name"],
                    "uid": one["metadata"]["uid"],
                    "blockOwnerDeletion": block,
                }
                for one in owners
            ]
        return self.make(MAPS, "ConfigMap", name, metadata=meta)

    def delete(self, path: str, policy: str = "Background") -> None:
        code, body = self.ask("DELETE", path, {"propagationPolicy": policy})
        assert code == 200, body

    def exists(self, path: str) -> bool:
        self.running.settle()
        return self.ask("GET", path)[0] == 200

    def until_gone(self, path: str) -> None:
        deadline = time.monotonic() + 60
        while self.exists(path):
            assert time.monotonic() < deadline, self.ask("GET", path)
            time.sleep(0.02)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """Of a server that answers as the release of the test's parameter, if there is one."""
    version = getattr(request, "param", Settings().version)
    running = Running(Settings(version=version, namespace_grace=0, collection_lag=0))
    yield Client(running)
    running.close()


def definition(client: Client, **names: str) -> Any:
    wanted = {"plural": "widgets", "kind": "Widget", **names}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "e.com", "names": wanted, "scope": "Namespaced", "versions": [version]}
    name, kind = f"{wanted['plural']}.e.com", "CustomResourceDefinition"
    return client.make(DEFINITIONS, kind, name, "apiextensions.k8s.io/v1", spec=spec)


WIDGETS = "/apis/e.com/v1/namespaces/default/widgets"


def test_a_definition_is_served_at_the_next_request(client: Client) -> None:
    definition(client)
    client.make(WIDGETS, "Widget", "a", "e.com/v1")
    _, found = client.ask("GET", f"{DEFINITIONS}/widgets.e.com")
    assert [one["type"] for one in found["status"]["conditions"]] == [
        "NamesAccepted",
        "Established",
    ]


def test_the_status_of_a_definition_is_the_servers(client: Client) -> None:
    definition(client)
    client.running.settle()
    _, found = client.ask("GET", f"{DEFINITIONS}/widgets.e.com")
    owners = {
        (one["manager"], one.get("subresource"), *one["fieldsV1"])
        for one in found["metadata"]["managedFields"]
    }
    assert owners == {("unknown", None, "f:spec"), ("kube-apiserver", "status", "f:status")}
    (ours,) = [one for one in found["metadata"]["managedFields"] if "subresource" in one]
    assert ours["operation"] == "Update"
    assert ours["fieldsV1"]["f:status"]["f:acceptedNames"] == {
        "f:kind": {},
        "f:listKind": {},
        "f:plural": {},
        "f:singular": {},
    }
    assert set(ours["fieldsV1"]["f:status"]["f:conditions"]) == {
        'k:{"type":"Established"}',
        'k:{"type":"NamesAccepted"}',
    }


def test_names_are_free_again_when_their_definition_is_gone(client: Client) -> None:
    definition(client)
    definition(client, plural="gadgets", singular="gadget")
    path = "/apis/e.com/v1/namespaces/default/gadgets"
    assert client.ask("GET", path)[0] == 404
    client.delete(f"{DEFINITIONS}/widgets.e.com")
    client.until_gone(f"{DEFINITIONS}/widgets.e.com")
    assert client.ask("GET", path)[0] == 200


def test_a_definition_takes_its_objects_with_it(client: Client) -> None:
    definition(client)
    client.make(WIDGETS, "Widget", "a", "e.com/v1")
    client.make(WIDGETS, "Widget", "b", "e.com/v1", metadata={"finalizers": ["e.com/hold"]})
    code, marked = client.ask("DELETE", f"{DEFINITIONS}/widgets.e.com")
    assert code == 200
    assert marked["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert marked["status"]["conditions"][-1]["reason"] == "InstanceDeletionPending"
    assert client.exists(f"{DEFINITIONS}/widgets.e.com")
    assert not client.exists(f"{WIDGETS}/a")
    _, waiting = client.ask("GET", f"{DEFINITIONS}/widgets.e.com")
    assert waiting["status"]["conditions"][-1]["reason"] == "InstanceDeletionInProgress"
    client.ask("PATCH", f"{WIDGETS}/b", {"metadata": {"finalizers": None}})
    client.until_gone(f"{DEFINITIONS}/widgets.e.com")
    assert client.ask("GET", WIDGETS)[0] == 404


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [(None, "InstanceDeletionCompleted"), ([], "NeverEstablished")],
)
def test_a_definition_that_others_hold_says_what_became_of_its_objects(
    client: Client, conditions: list[Any] | None, reason: str
) -> None:
    definition(client)
    path = f"{DEFINITIONS}/widgets.e.com"
    client.ask("PATCH", path, {"metadata": {"finalizers": ["e.com/hold"]}})
    if conditions is not None:
        client.ask("PATCH", f"{path}/status", {"status": {"conditions": conditions}})
    client.ask("DELETE", path)
    _, left = client.ask("GET", path)
    assert left["metadata"]["finalizers"] == ["e.com/hold"]
    assert left["status"]["conditions"][-1]["reason"] == reason
    managers = [one["manager"] for one in left["metadata"]["managedFields"]]
    ours = left["metadata"]["managedFields"][managers.index("kube-apiserver")]
    terminating = ours["fieldsV1"]["f:status"]["f:conditions"]['k:{"type":"Terminating"}']
    # The time is another one only if a second has passed.
    assert set(terminating) - {"f:lastTransitionTime"} == {"f:message", "f:reason", "f:status"}
    client.ask("PATCH", path, {"metadata": {"finalizers": None}})


@pytest.mark.parametrize(
    ("client", "clean"), [("1.35", {}), ("1.36", {"typeChecking": {}})], indirect=["client"]
)
def test_expressions_of_policies_are_checked(client: Client, clean: dict[str, Any]) -> None:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.data.foo == 1"}],
    }
    kind = "ValidatingAdmissionPolicy"
    client.make(POLICIES, kind, "p", "admissionregistration.k8s.io/v1", spec=spec)
    client.running.settle()
    _, found = client.ask("GET", f"{POLICIES}/p")
    assert found["status"]["observedGeneration"] == 1
    (warning,) = found["status"]["typeChecking"]["expressionWarnings"]
    assert warning["fieldRef"] == "spec.validations[0].expression"
    client.ask("PATCH", f"{POLICIES}/p", {"spec": {"validations": [{"expression": "true"}]}})
    client.running.settle()
    _, found = client.ask("GET", f"{POLICIES}/p")
    assert found["status"] == {"observedGeneration": 2, **clean}


@pytest.mark.parametrize(
    ("client", "pods_first"), [("1.32", False), ("1.33", True)], indirect=["client"]
)
def test_what_pods_may_use_goes_behind_them(client: Client, pods_first: bool) -> None:
    """Since 1.33, by its gate; the conditions tell of no remains while pods are awaited."""
    client.make("/api/v1/namespaces", "Namespace", "n")
    assert client.exists("/api/v1/namespaces/n/serviceaccounts/default")
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pods, maps = "/api/v1/namespaces/n/pods", "/api/v1/namespaces/n/configmaps"
    client.make(pods, "Pod", "p", metadata={"finalizers": ["e.com/wait"]}, spec=spec)
    client.make(maps, "ConfigMap", "m")
    client.delete("/api/v1/namespaces/n")
    assert client.exists(f"{maps}/m") is pods_first
    _, pod = client.ask("GET", f"{pods}/p")
    assert "deletionTimestamp" in pod["metadata"]
    _, namespace = client.ask("GET", "/api/v1/namespaces/n")
    reasons = {one["reason"] for one in namespace["status"]["conditions"]}
    assert ("SomeResourcesRemain" in reasons) is not pods_first
    assert client.ask("PATCH", f"{pods}/p", {"metadata": {"finalizers": None}})[0] == 200
    client.until_gone("/api/v1/namespaces/n")


def test_a_namespace_has_a_default_account_until_it_goes_with_all_it_has(client: Client) -> None:
    client.make("/api/v1/namespaces", "Namespace", "n")
    account = "/api/v1/namespaces/n/serviceaccounts/default"
    assert client.ask("GET", account)[0] == 200
    client.delete(account)
    assert client.ask("GET", account)[0] == 200, "another one"
    maps = "/api/v1/namespaces/n/configmaps"
    client.make(maps, "ConfigMap", "held", metadata={"finalizers": ["e.com/hold"]})
    client.delete("/api/v1/namespaces/n")
    assert client.exists("/api/v1/namespaces/n")
    assert not client.exists(account)
    _, found = client.ask("GET", "/api/v1/namespaces/n")
    reasons = {one["reason"] for one in found["status"]["conditions"]}
    assert {"SomeResourcesRemain", "SomeFinalizersRemain", "ContentDeleted"} <= reasons
    client.ask("PATCH", f"{maps}/held", {"metadata": {"finalizers": None}})
    client.until_gone("/api/v1/namespaces/n")


def test_a_role_collects_rules(client: Client) -> None:
    version = "rbac.authorization.k8s.io/v1"
    selector = {"matchLabels": {"to": "all"}}
    rule = {"apiGroups": ["e.com"], "resources": ["widgets"], "verbs": ["get"]}
    client.make(
        ROLES, "ClusterRole", "all", version, aggregationRule={"clusterRoleSelectors": [selector]}
    )
    meta = {"labels": {"to": "all"}}
    client.make(ROLES, "ClusterRole", "one", version, rules=[rule], metadata=meta)
    client.running.settle()
    assert client.ask("GET", f"{ROLES}/all")[1]["rules"][0]["resources"] == ["widgets"]
    client.delete(f"{ROLES}/one")
    client.running.settle()
    assert not client.ask("GET", f"{ROLES}/all")[1].get("rules")


def test_what_is_owned_goes_after_its_last_owner(client: Client) -> None:
    first, second = client.config_map("first"), client.config_map("second")
    client.config_map("one", first)
    client.config_map("two", first, second)
    client.delete(f"{MAPS}/first")
    client.until_gone(f"{MAPS}/one")
    client.running.settle()
    owners = client.ask("GET", f"{MAPS}/two")[1]["metadata"]["ownerReferences"]
    assert [one["name"] for one in owners] == ["second"]


def test_an_owner_waits_for_what_blocks_it(client: Client) -> None:
    owner = client.config_map("owner")
    client.config_map("free", owner)
    client.config_map("blocks", owner, block=True, finalizers=["e.com/hold"])
    client.delete(f"{MAPS}/owner", "Foreground")
    client.until_gone(f"{MAPS}/free")
    assert client.exists(f"{MAPS}/owner")
    client.ask("PATCH", f"{MAPS}/blocks", {"metadata": {"finalizers": None}})
    client.until_gone(f"{MAPS}/owner")


@pytest.mark.parametrize("size", [2, 5])
def test_owners_in_a_circle_do_not_wait_for_each_other(client: Client, size: int) -> None:
    """Each owns the next one, which would block it; the last one owns the first."""
    last = client.config_map("in-circle-0")
    for number in range(1, size):
        last = client.config_map(f"in-circle-{number}", last, block=True)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "blockOwnerDeletion": True}
    reference |= {name: last["metadata"][name] for name in ("name", "uid")}
    client.ask("PATCH", f"{MAPS}/in-circle-0", {"metadata": {"ownerReferences": [reference]}})
    client.delete(f"{MAPS}/in-circle-0", "Foreground")
    for number in range(size):
        client.until_gone(f"{MAPS}/in-circle-{number}")


def test_orphans_forget_their_owner_and_stay(client: Client) -> None:
    owner = client.config_map("owner")
    client.config_map("orphan", owner)
    client.delete(f"{MAPS}/owner", "Orphan")
    client.until_gone(f"{MAPS}/owner")
    assert "ownerReferences" not in client.ask("GET", f"{MAPS}/orphan")[1]["metadata"]


@pytest.mark.parametrize("policy", ["Foreground", "Orphan"])
def test_an_owner_can_be_seen_going(policy: str) -> None:
    """Others are judged meanwhile, and without delay."""
    running = Running(Settings(collection_lag=0.2))
    client = Client(running)
    try:
        client.config_map("owner")
        client.delete(f"{MAPS}/owner", policy)
        assert client.exists(f"{MAPS}/owner")
        missing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "uid": "x"}}
        client.config_map("dependent", missing)
        assert not client.exists(f"{MAPS}/dependent")
        client.until_gone(f"{MAPS}/owner")
    finally:
        running.close()


def test_an_owner_can_be_released_before_its_time() -> None:
    running = Running(Settings(collection_lag=60))
    client = Client(running)
    try:
        client.config_map("owner")
        client.delete(f"{MAPS}/owner", "Foreground")
        client.ask("PATCH", f"{MAPS}/owner", {"metadata": {"finalizers": None}})
        assert not client.exists(f"{MAPS}/owner")
    finally:
        running.close()


def test_without_controllers_nothing_of_this_happens() -> None:
    running = Running(Settings(controllers=False))
    client = Client(running)
    try:
        client.make("/api/v1/namespaces", "Namespace", "n")
        assert not client.exists("/api/v1/namespaces/n/serviceaccounts/default")
    finally:
        running.close()


RULES = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
QUOTA = "/api/v1/namespaces/default/resourcequotas"
RBAC = "rbac.authorization.k8s.io/v1"
MIGRATIONS = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations"


def work_for_all(client: Client) -> None:
    """Something to do for each controller."""
    client.make("/api/v1/namespaces", "Namespace", "stays")
    client.make("/api/v1/namespaces", "Namespace", "goes")
    client.delete("/api/v1/namespaces/goes")
    client.config_map("child", client.config_map("owner"))
    client.delete(f"{MAPS}/owner")
    selectors = [{"matchLabels": {"to": "all"}}]
    client.make(
        ROLES, "ClusterRole", "all", RBAC, aggregationRule={"clusterRoleSelectors": selectors}
    )
    rule = {"apiGroups": ["e.com"], "resources": ["widgets"], "verbs": ["get"]}
    client.make(ROLES, "ClusterRole", "one", RBAC, rules=[rule], metadata={"labels": {"to": "all"}})
    client.make(QUOTA, "ResourceQuota", "q", spec={"hard": {"pods": "1"}})
    spec = {"matchConstraints": {"resourceRules": [RULES]}, "validations": [{"expression": "true"}]}
    version = "admissionregistration.k8s.io/v1"
    client.make(POLICIES, "ValidatingAdmissionPolicy", "p", version, spec=spec)
    version = "storagemigration.k8s.io/v1beta1"
    spec = {"resource": {"resource": "configmaps"}}
    client.make(MIGRATIONS, "StorageVersionMigration", "m", version, spec=spec)


def is_done(client: Client, controller: str) -> bool:
    """Whether the work of this controller can be seen."""
    seen: dict[str, Callable[[], bool]] = {
        "serviceaccount-controller": lambda: client.exists(
            "/api/v1/namespaces/stays/serviceaccounts/default"
        ),
        "namespace-controller": lambda: not client.exists("/api/v1/namespaces/goes"),
        "garbage-collector-controller": lambda: not client.exists(f"{MAPS}/child"),
        "clusterrole-aggregation-controller": lambda: bool(
            client.ask("GET", f"{ROLES}/all")[1].get("rules")
        ),
        "resourcequota-controller": lambda: (
            "hard" in client.ask("GET", f"{QUOTA}/q")[1].get("status", {})
        ),
        "validatingadmissionpolicy-status-controller": lambda: (
            "typeChecking" in client.ask("GET", f"{POLICIES}/p")[1].get("status", {})
        ),
        "storage-version-migrator-controller": lambda: (
            "conditions" in client.ask("GET", f"{MIGRATIONS}/m")[1].get("status", {})
        ),
    }
    return seen[controller]()


@pytest.mark.parametrize("off", [None, *sorted(ON_BY_DEFAULT)])
def test_each_controller_has_a_switch(off: str | None) -> None:
    names = ON_BY_DEFAULT - {off}
    running = Running(
        Settings(
            namespace_grace=0,
            collection_lag=0,
            controller_names=names,
            gates={"StorageVersionMigrator": True},
            runtime_config=RuntimeConfig({"storagemigration.k8s.io/v1beta1": True}),
        )
    )
    client = Client(running)
    try:
        work_for_all(client)
        deadline = time.monotonic() + 60
        while left := {name for name in names if not is_done(client, name)}:
            assert time.monotonic() < deadline, left
            time.sleep(0.02)
        assert off is None or not is_done(client, off)
    finally:
        running.close()


def test_a_status_of_a_quota_that_somebody_wrote_is_put_right(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at once, but when all quotas are counted anew."""
    monkeypatch.setattr(policy_and_quota_status, "RESYNC_SECONDS", 0.01)
    client.make(QUOTA, "ResourceQuota", "q", spec={"hard": {"configmaps": "9"}})
    client.running.settle()
    wrong = {"status": {"hard": {"configmaps": "1"}, "used": {"configmaps": "1"}}}
    assert client.ask("PATCH", f"{QUOTA}/q/status", wrong)[0] == 200
    deadline = time.monotonic() + 60
    while client.ask("GET", f"{QUOTA}/q")[1]["status"]["hard"] != {"configmaps": "9"}:
        assert time.monotonic() < deadline
        client.running.settle()
