"""Bindings, evictions and the deletion of pods that have time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.in_process import Running

PODS = "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
def running() -> Iterator[Running]:
    started = Running()
    yield started
    started.close()


def ask(running: Running, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    headers = [("authorization", "Bearer admin-token")]
    data = b"" if body is None else json.dumps(body).encode()
    answer = running.answer(HttpRequest(method, path, headers, data))
    return answer.code, json.loads(answer.body)


def pod(running: Running, name: str, **spec: Any) -> None:
    containers = [{"name": "c", "image": "i"}]
    body = {
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": containers, **spec},
    }
    code, _ = ask(running, "POST", PODS, body)
    assert code == 201


def running_pod(running: Running, name: str) -> None:
    pod(running, name, nodeName="n1")
    _, made = ask(running, "GET", f"{PODS}/{name}")
    ready = {"type": "Ready", "status": "True"}
    made["status"] = {"phase": "Running", "conditions": [ready]}
    assert ask(running, "PUT", f"{PODS}/{name}/status", made)[0] == 200


def budget(running: Running, name: str, allowed: int, *, observed: int = 1) -> None:
    body = {
        "metadata": {"name": name},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    _, made = ask(running, "POST", BUDGETS, body)
    made["status"] = {
        "disruptionsAllowed": allowed,
        "currentHealthy": 1 + allowed,
        "desiredHealthy": 1,
        "expectedPods": 1 + allowed,
        "observedGeneration": observed,
    }
    assert ask(running, "PUT", f"{BUDGETS}/{name}/status", made)[0] == 200


def evict(running: Running, name: str, **options: Any) -> tuple[int, Any]:
    body = {"metadata": {"name": name}, "deleteOptions": options}
    return ask(running, "POST", f"{PODS}/{name}/eviction", body)


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ({}, 500, "target.name: Required value"),
        (
            {"kind": "Pod", "name": "n1"},
            500,
            'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
        ),
        (
            {"kind": "Pod"},
            500,
            '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", '
            "target.name: Required value]",
        ),
    ],
)
def test_bindings_name_a_node(running: Running, target: Any, code: int, message: str) -> None:
    pod(running, "a")
    body = {"metadata": {"name": "a"}, "target": target}
    answer = ask(running, "POST", f"{PODS}/a/binding", body)
    assert (answer[0], answer[1]["message"]) == (code, message)


def test_a_pod_is_bound_once(running: Running) -> None:
    pod(running, "a")
    body = {"metadata": {"name": "a", "annotations": {"x": "y"}}, "target": {"name": "n1"}}
    assert ask(running, "POST", f"{PODS}/a/binding?dryRun=All", body)[0] == 201
    code, done = ask(running, "POST", "/api/v1/namespaces/default/bindings", body)
    assert (code, done["status"]) == (201, "Success")
    _, bound = ask(running, "GET", f"{PODS}/a")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["annotations"] == {"x": "y"}
    assert bound["status"]["conditions"][0]["type"] == "PodScheduled"
    code, refused = ask(running, "POST", f"{PODS}/a/binding", body)
    why = (
        'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
    )
    assert (code, refused["message"]) == (409, why)


@pytest.mark.parametrize(
    ("budgets", "code", "message", "left"),
    [
        ([], 201, None, None),
        ([("one", 2, 1)], 201, None, 1),
        (
            [("one", 0, 1)],
            429,
            "The disruption budget one needs 1 healthy pods and has 1 currently",
            0,
        ),
        (
            [("one", 2, 0)],
            429,
            "The disruption budget one is still being processed by the server.",
            2,
        ),
        ([("one", 2, 1), ("two", 2, 1)], 500, None, 2),
    ],
)
def test_evictions_spend_the_budget(
    running: Running, budgets: Any, code: int, message: str | None, left: int | None
) -> None:
    running_pod(running, "a")
    for name, allowed, observed in budgets:
        budget(running, name, allowed, observed=observed)
    found, answer = evict(running, "a")
    assert found == code
    if message is not None:
        assert answer["details"]["causes"][0]["message"] == message
    if left is not None:
        _, spent = ask(running, "GET", f"{BUDGETS}/one")
        assert spent["status"]["disruptionsAllowed"] == left


def test_who_means_another_pod_is_told_so_after_the_budget_is_spent(running: Running) -> None:
    running_pod(running, "a")
    budget(running, "one", 1)
    answers = [evict(running, "a", preconditions={"uid": "another"}) for _ in range(2)]
    assert [code for code, _ in answers] == [409, 429]
    _, spent = ask(running, "GET", f"{BUDGETS}/one")
    (said,) = spent["status"]["conditions"]
    assert (said["type"], said["status"], said["reason"]) == (
        "DisruptionAllowed",
        "False",
        "InsufficientPods",
    )


def test_pods_that_wait_need_no_budget(running: Running) -> None:
    pod(running, "a")
    budget(running, "one", 0)
    assert evict(running, "a", dryRun=["All"])[0] == 201
    assert evict(running, "a")[0] == 201
    assert ask(running, "GET", f"{PODS}/a")[0] == 404


@pytest.mark.parametrize(("dry_run", "code"), [(["All"], 422), (["x"], 422), ([], 409)])
def test_only_a_dry_run_refuses_options_before_it_compares_pods(
    running: Running, dry_run: list[str], code: int
) -> None:
    pod(running, "a")
    options = {"propagationPolicy": "Foo", "preconditions": {"uid": "another"}}
    assert evict(running, "a", dryRun=dry_run, **options)[0] == code


@pytest.mark.parametrize("is_dry", [False, True])
def test_a_pod_says_why_it_goes_before_its_deletion_is_refused(
    running: Running, is_dry: bool
) -> None:
    pod(running, "a")
    dry_run = ["All"] if is_dry else None
    code, answer = evict(running, "a", propagationPolicy="Foo", dryRun=dry_run)
    assert (code, answer["details"]["causes"][0]["field"]) == (422, "propagationPolicy")
    conditions = ask(running, "GET", f"{PODS}/a")[1]["status"].get("conditions", ())
    assert any(item["type"] == "DisruptionTarget" for item in conditions) is not is_dry


def test_evictions_are_as_dry_as_their_requests(running: Running) -> None:
    pod(running, "a")
    options = {"deleteOptions": {"dryRun": ["a", "b"]}}
    path = f"{PODS}/a/eviction?dryRun=All"
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}, **options}
    code, answer = ask(running, "POST", path, body)
    text = "Non-matching dry-run options in request and content: [All] and [a b]"
    assert (code, answer["message"]) == (500, text)


def test_a_pod_on_a_node_has_time_which_only_gets_shorter(running: Running) -> None:
    pod(running, "a", nodeName="n1", terminationGracePeriodSeconds=12)
    given = []
    for query in ("", "?gracePeriodSeconds=60", "?gracePeriodSeconds=3", "?gracePeriodSeconds=-5"):
        _, marked = ask(running, "DELETE", f"{PODS}/a{query}")
        given.append(marked["metadata"]["deletionGracePeriodSeconds"])
    assert given == [12, 12, 3, 1]
    code, gone = ask(running, "DELETE", f"{PODS}/a?gracePeriodSeconds=0")
    assert (code, gone["metadata"]["deletionGracePeriodSeconds"]) == (200, 0)
    assert ask(running, "GET", f"{PODS}/a")[0] == 404


def test_policies_see_evictions_before_anybody_looks_for_the_pod(running: Running) -> None:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods/eviction"],
    }
    shown = "'%s'.format([object.deleteOptions])"
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false", "messageExpression": shown}],
    }
    policies, meta = (
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        {"name": "p"},
    )
    assert ask(running, "POST", policies, {"metadata": meta, "spec": spec})[0] == 201
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    ask(running, "POST", f"{policies[:-3]}ybindings", {"metadata": meta, "spec": bound})
    body = {"metadata": {"name": "none"}, "deleteOptions": {}}
    for query, seen in (("", "{}"), ("?dryRun=All", '{"dryRun":["All"]}')):
        code, answer = ask(running, "POST", f"{PODS}/none/eviction{query}", body)
        assert (code, answer["message"].partition("request: ")[2]) == (422, seen)
    assert evict(running, "none", dryRun=["x"])[1]["message"].endswith('request: {"dryRun":["x"]}')


def test_what_policies_are_told_of_deletions(running: Running) -> None:
    """How long a pod has, unless it is one of a collection. Of one that has got its time already
    they are only asked when it gets less."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"]}
    shown = "string(request.options.?gracePeriodSeconds.orValue(-1))"
    spec = {
        "matchConstraints": {"resourceRules": [{**rule, "resources": ["pods"]}]},
        "validations": [{"expression": "false", "messageExpression": shown}],
    }
    group, meta = "/apis/admissionregistration.k8s.io/v1", {"name": "p"}
    policy = {"metadata": meta, "spec": spec}
    assert ask(running, "POST", f"{group}/validatingadmissionpolicies", policy)[0] == 201
    bound = {"metadata": meta, "spec": {"policyName": "p", "validationActions": ["Deny"]}}
    pod(running, "a", nodeName="n1", terminationGracePeriodSeconds=12)
    bindings = f"{group}/validatingadmissionpolicybindings"
    assert ask(running, "POST", bindings, bound)[0] == 201

    def told(path: str) -> tuple[int, str]:
        code, answer = ask(running, "DELETE", path)
        return code, str(answer.get("message")).rpartition("request: ")[2]

    assert told(f"{PODS}/a") == (422, "12")
    assert told(f"{PODS}/a?gracePeriodSeconds=3") == (422, "3")
    assert told(PODS) == (422, "-1")
    assert told(f"{PODS}?gracePeriodSeconds=3") == (422, "3")
    ask(running, "DELETE", f"{bindings}/p")
    assert told(f"{PODS}/a")[0] == 200
    ask(running, "POST", bindings, bound)
    assert told(f"{PODS}/a")[0] == 200
    assert told(f"{PODS}/a?gracePeriodSeconds=12")[0] == 200
    assert told(f"{PODS}/a?gracePeriodSeconds=3") == (422, "3")
