"""Whatever a request has to be read, checked or written: other requests are answered meanwhile.

A step of the request is replaced by one that waits until another request has been answered. On the
event loop it would wait for ever.
"""

from __future__ import annotations

import base64
import importlib
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from celadon.admission import Engine
from celadon.admission.registration import RememberedDecoding
from celadon.admission.webhooks import Call, HookSet, Reply, dispatchers, hooks
from celadon.apiserver import negotiation, object_store, request_layers
from celadon.apiserver.controllers import policy_and_quota_status, system_objects
from celadon.apiserver.controllers.controller_loops import StatusWrites
from celadon.apiserver.discovery import discovery_documents
from celadon.apiserver.handlers import (
    bindings_and_evictions,
    connect,
    request_context,
    resource_endpoints,
    resource_handler,
    reviews,
    write,
)
from celadon.apiserver.handlers import delete as deletion_handler
from celadon.apiserver.handlers import read as reading
from celadon.apiserver.handlers.read import Reader
from celadon.apiserver.handlers.resource_handler import Reviewer
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.loop_offloading import BRIEF_BYTES, MANY_OBJECTS
from celadon.apiserver.operation import metric_table
from celadon.apiserver.operation.request_limits import RequestLimits
from celadon.apiserver.printers import tables
from celadon.apiserver.webhook_client import WebhookClient
from celadon.apiserver.workers import Workers
from celadon.kube import StatusError, rbac
from celadon.kube.registry import create, request_bodies
from celadon.kube.registry import delete as deletion
from celadon.kube.registry.decoded_object import Draft
from celadon.kube.status import Status, StatusCause, StatusDetails
from tests.apiserver.asking import ask, make, read
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/default/configmaps"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SMALL = {"metadata": {"generateName": "small-"}}
LARGE = {"metadata": {"generateName": "large-"}, "data": {"a": "x" * 50_000}}


@pytest.fixture(scope="module")
def own() -> Iterator[Running]:
    server = Running()
    yield server
    server.close()


def meanwhile(
    running: Running, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> tuple[threading.Thread, list[int]]:
    """A client that asks for something as soon as that step is being taken, and what it is told.
    The step goes on when it was answered, or after a minute."""
    begun, answered = threading.Event(), threading.Event()
    real, told = getattr(owner, name), []

    def step(*args: Any, **kwargs: Any) -> Any:
        if not begun.is_set():
            begun.set()
            told.append(0 if answered.wait(60) else -1)
        return real(*args, **kwargs)

    def client() -> None:
        if begun.wait(60):
            told.append(ask(running, "GET", "/version").code)
            answered.set()

    monkeypatch.setattr(owner, name, step)
    thread = threading.Thread(target=client)
    thread.start()
    return thread, told


def large(running: Running) -> HttpAnswer:
    return ask(running, "POST", MAPS, LARGE, content_type="application/json")


def review(kind: str, body: bytes) -> Callable[[Running], HttpAnswer]:
    return lambda running: ask(
        running, "POST", REVIEWS, body, token="alice-token", content_type=kind
    )


def badly_labelled(running: Running) -> HttpAnswer:
    """A small body that is wrong in a thousand places."""
    labels = {f"{number}/": "" for number in range(1_000)}
    return ask(running, "POST", MAPS, {"metadata": {"name": "a", "labels": labels}})


def access_review(running: Running) -> HttpAnswer:
    keys = [{"key": f"k{n}", "operator": "In", "values": ["v"]} for n in range(2_000)]
    asked = {"verb": "list", "resource": "pods", "labelSelector": {"requirements": keys}}
    return ask(
        running,
        "POST",
        REVIEWS,
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        },
        token="alice-token",
    )


def large_again(method: str, **headers: str) -> Callable[[Running], HttpAnswer]:
    """A request for a large object that is there; its own is small."""

    def send(running: Running) -> HttpAnswer:
        name = read(large(running))["metadata"]["name"]
        return ask(running, method, f"{MAPS}/{name}", **headers)

    return send


def held_by(finalizer: str) -> Callable[[Running], HttpAnswer]:
    def send(running: Running) -> HttpAnswer:
        meta = {"generateName": "held-", "finalizers": [finalizer]}
        made = make(running, MAPS, {**LARGE, "metadata": meta})
        answer = ask(running, "DELETE", f"{MAPS}/{made['metadata']['name']}")
        ask(
            running,
            "PATCH",
            f"{MAPS}/{made['metadata']['name']}",
            {"metadata": {"finalizers": None}},
            content_type="application/merge-patch+json",
        )
        return answer

    return send


def settled(group: str, resource: str, body: Any) -> Callable[[Running], HttpAnswer]:
    """What controllers do about a new object."""

    def send(running: Running) -> HttpAnswer:
        path = f"/apis/{group}/v1/{resource}"
        answer = ask(running, "POST", path, body)
        running.settle()
        ask(running, "DELETE", f"{path}/{body['metadata']['name']}")
        return answer

    return send


AGGREGATED = {
    "metadata": {"name": "slow-role"},
    "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"slow": "yes"}}]},
}
POLICY = {
    "metadata": {"name": "slow-policy"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["none.example.com"],
                    "apiVersions": ["v1"],
                    "resources": ["nothings"],
                    "operations": ["CREATE"],
                }
            ]
        },
        "validations": [{"expression": "true"}],
    },
}


def doubling(running: Running) -> HttpAnswer:
    """A small patch of a small object, each of whose operations doubles it."""
    make(running, MAPS, {"metadata": {"name": "doubled"}, "data": {"a": "x"}})
    copy = [{"op": "copy", "from": "/data/a", "path": f"/data/b{n}"} for n in range(3)]
    kind = "application/json-patch+json"
    answer = ask(running, "PATCH", f"{MAPS}/doubled", copy, content_type=kind)
    ask(running, "DELETE", f"{MAPS}/doubled")
    return answer


def under_a_quota(running: Running) -> HttpAnswer:
    path = "/api/v1/namespaces/kube-public/resourcequotas"
    spec = {"hard": {"count/configmaps": "10"}}
    answer = ask(running, "POST", path, {"metadata": {"name": "counted"}, "spec": spec})
    running.settle()
    ask(running, "DELETE", f"{path}/counted")
    return answer


def rules_review(running: Running) -> HttpAnswer:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": "default"},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    return ask(running, "POST", path, review, token="alice-token")


def granted(running: Running) -> HttpAnswer:
    """Four short lists of a role are a hundred million rights."""
    rbac_path = "/apis/rbac.authorization.k8s.io/v1"
    may_write = {
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["clusterroles"],
        "verbs": ["create"],
    }
    make(running, f"{rbac_path}/clusterroles", {"metadata": {"name": "w"}, "rules": [may_write]})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "w"}
    alice = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}
    binding = {"metadata": {"name": "w"}, "roleRef": role, "subjects": [alice]}
    make(running, f"{rbac_path}/clusterrolebindings", binding)
    many = [f"a{number}" for number in range(100)]
    rule = {"apiGroups": many, "resources": many, "verbs": many, "resourceNames": many}
    body = {"metadata": {"name": "many"}, "rules": [rule]}
    answer = ask(running, "POST", f"{rbac_path}/clusterroles", body, token="alice-token")
    assert answer.code == 403
    return answer


def wide_list(running: Running) -> HttpAnswer:
    """A list of one object, which is wide."""
    maps = "/api/v1/namespaces/kube-system/configmaps"
    labels = {f"k{number}": "x" for number in range(20_000)}
    ask(running, "POST", maps, {"metadata": {"name": "wide", "labels": labels}})
    return ask(running, "GET", maps)


def behind(path: str, body: Any, then: str = MAPS) -> Callable[[Running], HttpAnswer]:
    """A request right after somebody has written an object that it depends on."""

    def send(running: Running) -> HttpAnswer:
        assert ask(running, "POST", path, body).code == 201
        answer = ask(running, "POST", then, SMALL)
        if then != MAPS:
            answer = ask(running, "GET", then, accept=TABLE)
        ask(running, "DELETE", f"{path}/{body['metadata']['name']}")
        running.settle()
        return answer

    return send


PODS = "/api/v1/namespaces/default/pods"


def of_a_large_pod(subresource: str, **body: Any) -> Callable[[Running], HttpAnswer]:
    """A small request that changes a large pod."""

    def send(running: Running) -> HttpAnswer:
        meta = {"name": f"large-{subresource}", "annotations": {"a": "x" * 50_000}}
        spec = {"containers": [{"name": "a", "image": "b"}]}
        make(running, PODS, {"metadata": meta, "spec": spec})
        path = f"{PODS}/{meta['name']}/{subresource}"
        answer = ask(running, "POST", path, {"metadata": {"name": meta["name"]}, **body})
        assert answer.code == 201, answer.body
        return answer

    return send


custom_kinds = importlib.import_module("celadon.kube.crd.custom_kinds")  # not the function
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", **SMALL}


def definition(**properties: Any) -> Any:
    schema = {"type": "object", "properties": properties}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": "widgets.example.com"}, "spec": spec}


def one_widget(running: Running) -> HttpAnswer:
    """A table of one object, whose columns a definition has."""
    assert ask(running, "POST", DEFINITIONS, definition()).code == 201
    widget = make(running, WIDGETS, WIDGET)
    answer = ask(running, "GET", f"{WIDGETS}/{widget['metadata']['name']}", accept=TABLE)
    ask(running, "DELETE", f"{DEFINITIONS}/widgets.example.com")
    running.settle()
    return answer


def filled_in_widget(running: Running) -> HttpAnswer:
    """A small object of a kind with long defaults."""
    filled = definition(a={"type": "string", "default": "x" * 70_000})
    assert ask(running, "POST", DEFINITIONS, filled).code == 201
    answer = ask(running, "POST", WIDGETS, WIDGET)
    assert answer.code == 201
    ask(running, "DELETE", f"{DEFINITIONS}/widgets.example.com")
    running.settle()
    return answer


def watched_widgets(running: Running) -> HttpAnswer:
    assert ask(running, "POST", DEFINITIONS, definition()).code == 201
    make(running, WIDGETS, WIDGET)
    answer = ask(running, "GET", f"{WIDGETS}?watch=1&timeoutSeconds=1", accept=TABLE)
    assert answer.stream is not None
    lines = running.lines(answer.stream)
    assert b"Table" in lines.readline()
    lines.close()
    ask(running, "DELETE", f"{DEFINITIONS}/widgets.example.com")
    running.settle()
    return answer


LARGE_DEFINITION = definition(**{f"p{number}": {"type": "string"} for number in range(2_000)})
CONDITIONAL_HOOKS = {
    "metadata": {"name": "slow-hooks"},
    "webhooks": [
        {
            "name": "slow.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "failurePolicy": "Ignore",
            "matchConditions": [{"name": "never", "expression": "request.name == 'never'"}],
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ],
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
        }
    ],
}

STEPS: list[tuple[str, Any, str, Callable[[Running], HttpAnswer]]] = [
    ("YAML", request_context, "_document", review("application/yaml", b"[" * 20_000)),
    ("doubled keys", request_context, "_document", review("application/yaml", b"a: 1\n" * 20_000)),
    ("JSON", request_bodies, "read_object", review("application/json", b"[" * 100_000)),
    (
        "protobuf",
        request_context,
        "_of_message",
        review("application/vnd.kubernetes.protobuf", b"k8s\0" + b"\x0a\0" * 20_000),
    ),
    ("defaulting", create, "prepare_create", large),
    ("validation", write.Writer, "_finish_new", large),
    ("policies", Engine, "review", large),
    ("the answer", resource_handler, "_shown", large),
    (
        "selectors",
        request_layers,
        "request_attributes",
        lambda running: ask(running, "GET", f"{MAPS}?labelSelector={'a,' * 20_000}", token=""),
    ),
    (
        "what is accepted",
        negotiation,
        "accepted_of_error",
        lambda running: ask(running, "GET", MAPS, token="", accept="a/b," * 20_000),
    ),
    (
        "parameters",
        request_layers.RequestLayers,
        "_read_head",
        lambda running: ask(running, "GET", f"/version?{'a=1&' * 20_000}", token=""),
    ),
    (
        "how long it may take",
        RequestLimits,
        "deadline",
        lambda running: ask(running, "GET", f"{MAPS}?timeout={'1s' * 20_000}", token=""),
    ),
    (
        "whether that is a time",
        request_layers,
        "check_timeout",
        lambda running: ask(running, "GET", f"{MAPS}?timeout={'1s' * 20_000}", token=""),
    ),
    (
        "as whom somebody asks",
        request_layers.RequestLayers,
        "_shown_user",
        lambda running: ask(
            running,
            "GET",
            MAPS,
            **{"impersonate-user": "x", "impersonate-extra-" + "%41" * 9_000: "v"},
        ),
    ),
    (
        "what a watch selects",
        resource_handler,
        "list_options",
        lambda running: ask(running, "GET", f"{MAPS}?watch=1&labelSelector={'a,' * 20_000}!"),
    ),
    (
        "how long is left",
        request_layers,
        "wanted_seconds",
        lambda running: ask(running, "GET", f"{MAPS}?timeout={'1s' * 20_000}"),
    ),
    (
        "where a list goes on",
        reading,
        "_token",
        lambda running: ask(running, "GET", f"{MAPS}?limit=1&continue={'A' * 20_000}"),
    ),
    (
        "options of a write",
        resource_handler,
        "_read_options",
        lambda running: ask(running, "POST", f"{MAPS}?fieldManager={'x' * 20_000}", {}),
    ),
    ("a refusal", negotiation, "status_answer", badly_labelled),
    ("a question for access", Reviewer, "_reviewed", access_review),
    ("the form of a question", Draft, "form", access_review),
    (
        "an object as YAML",
        resource_handler.Verbs,
        "_got",
        large_again("GET", accept="application/yaml"),
    ),
    (
        "a pod that is bound",
        bindings_and_evictions,
        "in_message_order",
        of_a_large_pod("binding", target={"kind": "Node", "name": "n"}),
    ),
    (
        "a pod that is evicted",
        bindings_and_evictions,
        "in_message_order",
        of_a_large_pod("eviction", apiVersion="policy/v1", kind="Eviction"),
    ),
    ("an object that goes", deletion, "marked", large_again("DELETE")),
    ("an object that waits", deletion_handler, "in_message_order", held_by("example.com/a")),
    (
        "rules of roles",
        system_objects,
        "_outdated_roles",
        settled("rbac.authorization.k8s.io", "clusterroles", AGGREGATED),
    ),
    ("what a quota counts", policy_and_quota_status, "recounted", under_a_quota),
    ("what somebody may", reviews, "self_subject_rules_review", rules_review),
    ("copies of a patch", write.Writer, "_read_patch", doubling),
    ("a list of wide objects", Reader, "_page", wide_list),
    (
        "what policies are made of",
        RememberedDecoding,
        "values",
        behind(f"{REGISTRATION}/validatingadmissionpolicies", POLICY),
    ),
    (
        "what webhooks are made of",
        HookSet,
        "replaced",
        behind(f"{REGISTRATION}/validatingwebhookconfigurations", CONDITIONAL_HOOKS),
    ),
    (
        "conditions of webhooks",
        hooks,
        "_conditions",
        behind(f"{REGISTRATION}/validatingwebhookconfigurations", CONDITIONAL_HOOKS),
    ),
    (
        "what a definition defines",
        custom_kinds,
        "custom_kinds",
        behind(DEFINITIONS, definition(), WIDGETS),
    ),
    (
        "columns of a definition",
        resource_handler.Verbs,
        "_listed",
        behind(DEFINITIONS, definition(), WIDGETS),
    ),
    ("defaults of a definition", custom_kinds.CustomKind, "prepare", filled_in_widget),
    ("columns of one object", tables, "custom_cells", one_widget),
    ("columns of a change", tables, "custom_cells", watched_widgets),
    (
        "the status of a definition",
        StatusWrites,
        "_managed",
        behind(DEFINITIONS, LARGE_DEFINITION, WIDGETS),
    ),
    ("what is stored", object_store, "_encoded_and_known", large),
    (
        "groups of definitions",
        discovery_documents,
        "_group",
        lambda running: (
            behind(DEFINITIONS, definition(), WIDGETS)(running),
            ask(running, "GET", "/apis", token="alice-token"),
        )[1],
    ),
    (
        "types of policies",
        policy_and_quota_status.PolicyTypeChecks,
        "_checked",
        settled("admissionregistration.k8s.io", "validatingadmissionpolicies", POLICY),
    ),
    (
        "what is behind a Service",
        connect,
        "service_address",
        lambda running: ask(running, "GET", "/api/v1/namespaces/default/services/a/proxy/"),
    ),
    ("rights that somebody grants", rbac, "uncovered", granted),
    ("metrics", metric_table, "number", lambda running: ask(running, "GET", "/metrics")),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("owner", "name", "send"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS]
)
def test_others_are_answered_meanwhile(
    own: Running,
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    send: Callable[[Running], HttpAnswer],
) -> None:
    thread, told = meanwhile(own, monkeypatch, owner, name)
    send(own)
    thread.join(60)
    assert told == [200, 0]


QUICK_ONES = 30
"""After so many, what the first of them has taken is forgotten."""


def test_others_are_answered_while_a_policy_is_read(
    own: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the last ones have taken says nothing of the expressions of the next."""
    path = f"{REGISTRATION}/validatingadmissionpolicies"
    for _ in range(QUICK_ONES):
        assert ask(own, "POST", path, {"metadata": {"name": "without-a-spec"}}).code == 422
    thread, told = meanwhile(own, monkeypatch, write.Writer, "_finish_new")
    meta = {"name": "slow-policy", "annotations": {"padding": "x" * BRIEF_BYTES}}
    behind(path, {**POLICY, "metadata": meta})(own)
    thread.join(60)
    assert told == [200, 0]


@pytest.mark.parametrize(
    ("padding", "asked"),
    [
        ("", []),
        ("x" * BRIEF_BYTES, ["admin"]),
        ("object.?a.optMap(a, a)", ["admin"]),
        ("object.?a.optFlatMap(a, a)", ["admin"]),
        ("what may be written as an escape: é", ["admin"]),
    ],
    ids=["nothing", "long", "optMap", "optFlatMap", "escaped"],
)
def test_only_brief_policies_are_read_at_once(
    own: Running, monkeypatch: pytest.MonkeyPatch, padding: str, asked: list[str]
) -> None:
    monkeypatch.setattr("celadon.apiserver.loop_offloading.DEAR_SECONDS", 60.0)
    path = f"{REGISTRATION}/validatingadmissionpolicies"
    assert ask(own, "POST", path, {"metadata": {"name": "without-a-spec"}}).code == 422
    owners: list[str] = []
    run = own.server.core.workers.run

    async def noted(owner: str, *args: Any) -> Any:
        owners.append(owner)
        return await run(owner, *args)

    monkeypatch.setattr(own.server.core.workers, "run", noted)
    meta = {"name": "padded", "annotations": {"padding": padding}}
    assert ask(own, "POST", f"{path}?dryRun=All", {**POLICY, "metadata": meta}).code == 201
    assert [owner for owner in owners if owner == "admin"] == asked


HOOKS = "/apis/admissionregistration.k8s.io/v1"
LONG_ANSWER = "x" * 50_000


def hooked(running: Running, monkeypatch: pytest.MonkeyPatch, kind: str, **review: Any) -> str:
    """The path of a configuration with a webhook for ConfigMaps that answers in that way."""
    hook = {
        "name": "long.example.com",
        "clientConfig": {"url": "https://long.example.com"},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["configmaps"],
            }
        ],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    }

    async def call(self: object, call: Call, *_: Any, **__: Any) -> Reply:
        response = {"uid": call.uid, "allowed": True, "auditAnnotations": {"a": LONG_ANSWER}}
        answer = {"apiVersion": call.api_version, "kind": "AdmissionReview", "response": response}
        return Reply(200, json.dumps({**answer, "response": {**response, **review}}).encode())

    monkeypatch.setattr(WebhookClient, "call", call)
    path = f"{HOOKS}/{kind}webhookconfigurations"
    make(running, path, {"metadata": {"name": f"long-{kind}"}, "webhooks": [hook]})
    return f"{path}/long-{kind}"


@pytest.mark.parametrize(
    ("kind", "owner", "name"),
    [
        ("validating", dispatchers, "read_answer"),
        ("mutating", dispatchers, "read_answer"),
        ("mutating", dispatchers, "apply_json_patch"),
        ("validating", Call, "body"),
        ("validating", dispatchers, "begin_call"),
    ],
)
def test_others_are_answered_while_webhooks_are_heard(
    own: Running, monkeypatch: pytest.MonkeyPatch, kind: str, owner: Any, name: str
) -> None:
    patch = base64.b64encode(b'[{"op": "add", "path": "/data", "value": {"b": "c"}}]').decode()
    response = {"patch": patch, "patchType": "JSONPatch"} if kind == "mutating" else {}
    path = hooked(own, monkeypatch, kind, **response)
    if name == "body":
        body = Call.body.fget  # type: ignore[attr-defined]
        monkeypatch.setattr(Call, "written", lambda call: body(call), raising=False)
        monkeypatch.setattr(Call, "body", property(lambda call: call.written()))
        name = "written"
    thread, told = meanwhile(own, monkeypatch, owner, name)
    try:
        made = large(own) if name in {"written", "begin_call"} else ask(own, "POST", MAPS, SMALL)
    finally:
        ask(own, "DELETE", path)
    thread.join(60)
    assert made.code == 201
    assert told == [200, 0]


def test_others_are_answered_while_a_list_is_made(
    own: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(501):
        make(own, MAPS, {"metadata": {"name": f"c{number}"}})
    thread, told = meanwhile(own, monkeypatch, Reader, "_page")
    found = read(ask(own, "GET", MAPS, accept="application/json;as=Table;v=v1;g=meta.k8s.io"))
    thread.join(60)
    assert told == [200, 0]
    assert len(found["rows"]) >= 501
    assert len(read(ask(own, "GET", MAPS))["items"]) == len(found["rows"])


def test_small_objects_of_a_large_collection_need_no_threads(
    own: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread for each step of each would take ten times as long."""
    maps = "/api/v1/namespaces/kube-node-lease/configmaps"
    for number in range(50):
        make(own, maps, {"metadata": {"name": f"c{number:02}"}})
    make(own, maps, {"metadata": {"name": "large"}, "data": {"a": "x" * 300_000}})
    run, works = Workers.run, []

    def counted(self: Workers, *args: Any, **kwargs: Any) -> Any:
        works.append(args)
        return run(self, *args, **kwargs)

    monkeypatch.setattr(Workers, "run", counted)
    answer = ask(own, "DELETE", maps)
    assert (answer.code, len(read(answer)["items"])) == (200, 51)
    assert 0 < len(works) < 25


def test_a_large_object_is_written_as_a_small_one(own: Running) -> None:
    made = read(large(own))
    path = f"{MAPS}/{made['metadata']['name']}"
    changed = read(ask(own, "PUT", path, {**made, "data": {"b": "y" * 50_000}}))
    patch = json.dumps({"data": {"c": "z"}}).encode()
    patched = read(ask(own, "PATCH", path, patch, content_type="application/merge-patch+json"))
    assert changed["data"] == {"b": "y" * 50_000}
    assert patched["data"] == {"b": "y" * 50_000, "c": "z"}


@pytest.mark.parametrize("target", ["/version", "/healthz"])
def test_any_number_of_parameters(own: Running, target: str) -> None:
    query = "&".join(f"a{number}=1" for number in range(1_001))
    assert own.answer(HttpRequest("GET", f"{target}?{query}")).code == 200


def test_what_nobody_expected_is_an_answer(own: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(resource_endpoints, "find_endpoint", broken)
    answer = ask(own, "GET", f"{MAPS}/what-nobody-asked-for-before")
    assert (answer.code, answer.content_type) == (500, "text/plain; charset=utf-8")
    assert answer.body == (
        b"This request caused apiserver to panic. Look in the logs for details.\n"
    )
    assert answer.panic == "APIServer panic'd: oops"
    assert any(name == "Audit-Id" for name, _ in answer.headers)


class _LetGo(str):
    """A text that tells which thread has freed it."""

    __slots__ = ()
    threads: ClassVar[set[int]] = set()

    def __del__(self) -> None:
        self.threads.add(threading.get_ident())


def test_what_a_large_refusal_is_made_of_is_freed_aside(
    own: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        causes = tuple(StatusCause(_LetGo(f"cause {n}")) for n in range(MANY_OBJECTS + 1))
        raise StatusError(Status(message="no", code=422, details=StatusDetails(causes=causes)))

    monkeypatch.setattr(create, "prepare_create", refused)
    assert large(own).code == 422

    async def loop() -> int:
        return threading.get_ident()

    assert _LetGo.threads
    assert own.wait_for(loop()) not in _LetGo.threads
