"""Conversion webhooks: what counts of their answers, and who asks them when.

The texts, and which verb asks for what, were seen at a kube-apiserver 1.36.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from celadon.admission.webhooks import NoReply, Reply, WebhookCall
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.conversion_webhooks import (
    CALL,
    INVALID,
    MALFORMED,
    PARTIAL,
    ConversionCall,
    ConversionFailed,
    Conversions,
    ConversionWebhook,
    begin_conversion,
    conversion_webhooks,
    read_conversion,
)
from celadon.apiserver.handlers import watch
from celadon.apiserver.webhook_routes import CallerOnDemand
from celadon.kube import GroupKind, GroupVersionKind
from tests.apiserver.asking import ask, make, read, said
from tests.apiserver.in_process import Running

GROUP = "conv.example.com"
V1, V2 = (GroupVersionKind(GROUP, version, "Conv") for version in ("v1", "v2"))
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"

Answers = Callable[[dict[str, Any]], None]


def definition(storage: str = "v2", **conversion: Any) -> dict[str, Any]:
    """v1 has `spec.a` where v2 has `spec.b`; each has a default of its own."""
    webhook = {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:1/convert"},
        **conversion,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"convs.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Conv", "plural": "convs", "singular": "conv"},
            "conversion": {"strategy": "Webhook", "webhook": webhook},
            "versions": [version("v1", "a", storage), version("v2", "b", storage)],
        },
    }


def version(name: str, field: str, storage: str) -> dict[str, Any]:
    text = {"type": "string"}
    default = {"type": "string", "default": f"default-{name}"}
    spec = {
        field: {**text, "maxLength": 9},
        "x": text,
        "r": {"type": "integer"},
        f"d{name}": default,
    }
    rule = "!has(oldSelf.spec.a) || self.spec.a == oldSelf.spec.a"
    rules = [{"rule": rule, "message": "a is immutable"}] if name == "v1" else []
    return {
        "name": name,
        "served": True,
        "storage": name == storage,
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.r", "statusReplicasPath": ".status.r"},
        },
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "spec": {"type": "object", "properties": spec},
                    "status": {"type": "object", "properties": {field: text}},
                },
                "x-kubernetes-validations": rules,
            }
        },
    }


def conv(name: str, api_version: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/{api_version}",
        "kind": "Conv",
        "metadata": {"name": name},
        "spec": spec,
    }


def converted(obj: dict[str, Any], api_version: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(obj))
    new, old = ("a", "b") if api_version.endswith("v1") else ("b", "a")
    for part in ("spec", "status"):
        members = made.get(part, {})
        if old in members:
            members[new] = members.pop(old)
    return {**made, "apiVersion": api_version}


def review(call: WebhookCall) -> dict[str, Any]:
    """The answer of a webhook that does as it should."""
    asked = json.loads(call.body)
    request = asked["request"]
    return {
        "apiVersion": asked["apiVersion"],
        "kind": "ConversionReview",
        "response": {
            "uid": request["uid"],
            "result": {"status": "Success"},
            "convertedObjects": [
                converted(obj, request["desiredAPIVersion"]) for obj in request["objects"]
            ],
        },
    }


# --- answers ---


def webhook(**conversion: Any) -> ConversionWebhook:
    return conversion_webhooks([definition(**conversion)])[GroupKind(GROUP, "Conv")]


STORED = {
    **conv("o", "v2", b="1"),
    "metadata": {"name": "o", "namespace": "n", "uid": "u", "labels": {"x": "y"}, "generation": 3},
}


def answered(change: Answers, versions: tuple[str, ...] = ("v1",)) -> dict[str, Any]:
    """What becomes of a stored object when the webhook's answer has been changed."""
    call = begin_conversion(
        webhook(conversionReviewVersions=list(versions)), [STORED], V1.api_version, "uid"
    )
    document = review(call)
    change(document)
    reply = Reply(200, json.dumps(document).encode(), "application/json")
    (found,) = read_conversion(call, reply, [STORED], V1)
    return found


def first(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["response"]["convertedObjects"][0]
    return found


def with_metadata(**changed: Any) -> Answers:
    return lambda document: first(document)["metadata"].update(changed)


def with_response(**changed: Any) -> Answers:
    return lambda document: document["response"].update(changed)


def with_members(**changed: Any) -> Answers:
    return lambda document: first(document).update(changed)


def without_metadata(document: dict[str, Any]) -> None:
    del first(document)["metadata"]


def without_response(document: dict[str, Any]) -> None:
    del document["response"]


OF = "conversion webhook for conv.example.com/v2, Kind=Conv"
NAME = (
    "Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
    "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
SCHEME = 'in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"'


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (with_response(uid="other"), f'{OF} failed: expected response.uid="uid", got "other"'),
        (with_response(convertedObjects=[]), f"{OF} returned 0 objects, expected 1"),
        (with_response(convertedObjects=[1, 2]), f"{OF} returned 2 objects, expected 1"),
        (
            with_response(result={"status": "Failure", "message": "cannot do that"}),
            f"{OF} failed: cannot do that",
        ),
        (
            with_response(result={"status": "Failure"}),
            f"{OF} failed: response.result.status was 'Failure', not 'Success'",
        ),
        (
            with_response(result={}),
            f"{OF} failed: response.result.status was '', not 'Success'",
        ),
        (without_response, f"{OF} failed: no response provided"),
        (
            lambda document: document.update(kind=None, response=None),
            f"{OF} failed: expected webhook response of apiextensions.k8s.io/v1, "
            "Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=",
        ),
        (
            lambda document: document.update(apiVersion=""),
            f"{OF} failed: expected webhook response of apiextensions.k8s.io/v1, "
            "Kind=ConversionReview, got /, Kind=ConversionReview",
        ),
        (
            lambda document: document.update(kind="AdmissionReview"),
            f'{OF} failed: no kind "AdmissionReview" is registered for version '
            f'"apiextensions.k8s.io/v1" {SCHEME}',
        ),
        (
            lambda document: document.update(apiVersion="apiextensions.k8s.io/v1beta1"),
            f"{OF} failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown "
            "conversion",
        ),
        (
            with_members(apiVersion="conv.example.com/v9"),
            f"{OF} returned invalid object at index 0: invalid groupVersion (expected "
            "conv.example.com/v1, received conv.example.com/v9)",
        ),
        (
            lambda document: document["response"].update(
                convertedObjects=[{"apiVersion": "a/b/c", "kind": "Conv"}]
            ),
            'Object \'Kind\' is missing in \'{"apiVersion":"a/b/c","kind":"Conv"}\'',
        ),
        (
            with_members(kind="Other"),
            f"{OF} returned invalid object at index 0: invalid kind (expected Conv, received "
            "Other)",
        ),
        (without_metadata, f"{OF} returned invalid object: must have the same name: o != "),
        (
            with_metadata(name="p"),
            f"{OF} returned invalid object: must have the same name: o != p",
        ),
        (
            with_metadata(namespace="m"),
            f"{OF} returned invalid object: must have the same namespace: n != m",
        ),
        (
            with_metadata(uid="v"),
            f"{OF} returned invalid object: must have the same UID: u != v",
        ),
        (
            with_metadata(labels={"a b": "c"}),
            f"{OF} returned invalid metadata: metadata.labels: {NAME}",
        ),
        (
            with_metadata(annotations={"a b": "c"}),
            f"{OF} returned invalid metadata: metadata.annotation: {NAME}",
        ),
        (
            with_metadata(labels={"a": 1}),
            f"{OF} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in "
            "converted object",
        ),
        (
            with_metadata(labels=["a"]),
            f"{OF} returned invalid metadata: invalid metadata.labels of type []interface {{}} in "
            "converted object",
        ),
        (
            with_response(convertedObjects=["x"]),
            "json: cannot unmarshal string into Go value of type map[string]interface {}",
        ),
        (with_response(convertedObjects=[None]), "unexpected end of JSON input"),
        (
            with_response(result={"status": "Success", "reason": 1}),
            f"{OF} failed: json: cannot unmarshal number into Go struct field "
            "Status.response.result.reason of type v1.StatusReason",
        ),
        (
            with_response(uid=1),
            f"{OF} failed: json: cannot unmarshal number into Go struct field "
            "ConversionResponse.response.uid of type types.UID",
        ),
        (
            lambda document: document.update(request=[1]),
            f"{OF} failed: json: cannot unmarshal array into Go struct field "
            "ConversionReview.request of type v1.ConversionRequest",
        ),
    ],
)
def test_what_no_webhook_may_answer(change: Answers, text: str) -> None:
    with pytest.raises(ConversionFailed) as failed:
        answered(change)
    assert str(failed.value) == text


def test_of_the_metadata_only_labels_and_annotations_count() -> None:
    change = with_metadata(
        labels={"a": "b"}, annotations={"c": "d"}, generation=77, finalizers=["f/g"]
    )
    found = answered(change)
    assert found["metadata"] == {
        **STORED["metadata"],
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
    }
    nothing: tuple[Any, ...] = (None, {})
    for empty in nothing:
        made = answered(with_metadata(labels=empty, annotations=empty))["metadata"]
        assert made.keys() == STORED["metadata"].keys() - {"labels"}


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (NoReply('Post "https://x": EOF'), 'failed: Post "https://x": EOF'),
        (
            Reply(404, b"{}", "application/json"),
            "failed: the server could not find the requested resource",
        ),
        (
            Reply(200, b"", "application/json"),
            "failed: 0-length response with status code: 200 and content type: application/json",
        ),
        (
            Reply(200, b'{"a":', "application/json"),
            "failed: couldn't get version/kind; json parse error: unexpected end of JSON input",
        ),
        (
            Reply(200, b"a: b: c", "application/json"),
            "failed: yaml: mapping values are not allowed in this context",
        ),
        (
            Reply(200, b"{}", "a/b/c"),
            "failed: Internal error occurred: mime: unexpected content after media subtype",
        ),
    ],
)
def test_what_is_no_answer(reply: Reply | NoReply, text: str) -> None:
    call = begin_conversion(webhook(), [STORED], V1.api_version, "uid")
    with pytest.raises(ConversionFailed) as failed:
        read_conversion(call, reply, [STORED], V1)
    assert str(failed.value) == f"{OF} {text}"


def test_of_reviews_the_first_version_that_is_known_is_sent() -> None:
    assert answered(with_response(uid="other"), ("v9", "v1beta1"))["apiVersion"] == V1.api_version
    with pytest.raises(ConversionFailed, match="no supported conversion review versions"):
        answered(lambda _: None, ("v9",))


def test_a_bundle_of_blanks_is_none() -> None:
    config = {"url": "https://x", "caBundle": "\n"}
    assert webhook(clientConfig=config).client_config.ca_bundle == ""


# --- a server ---


class Hook:
    """The webhook of the server: `calls` says from which version to which it was asked, and of how
    many objects."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.is_down = False
        self.broken = ""
        """The conversion that it fails at."""
        self.most = 9
        """Objects that it gives back."""

    async def call(self, call: WebhookCall, _: float, **__: Any) -> Reply | NoReply:
        assert isinstance(call, ConversionCall)
        if self.is_down:
            return NoReply("connection refused")
        request = call.document["request"]
        versions = [
            name.rpartition("/")[2]
            for name in (request["objects"][0]["apiVersion"], request["desiredAPIVersion"])
        ]
        if ">".join(versions) == self.broken:
            return NoReply("connection refused")
        self.calls.append((">".join(versions), len(request["objects"])))
        answer = review(call)
        del answer["response"]["convertedObjects"][self.most :]
        return Reply(200, json.dumps(answer).encode(), "application/json")

    def asked(self) -> list[tuple[str, int]]:
        """Since it was asked last."""
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Hook:
    made = Hook()

    async def call(
        _: CallerOnDemand, call: WebhookCall, seconds: float, **rest: Any
    ) -> Reply | NoReply:
        return await made.call(call, seconds, **rest)

    monkeypatch.setattr(CallerOnDemand, "call", call)
    return made


@pytest.fixture
def server(hook: Hook) -> Iterator[Running]:
    made = Running(Settings(namespace_grace=0))
    make(made, DEFINITIONS, definition())
    yield made
    made.close()


def path(api_version: str, name: str = "") -> str:
    base = f"/apis/{GROUP}/{api_version}/namespaces/default/convs"
    return f"{base}/{name}" if name else base


def spec(server: Running, api_version: str, name: str) -> Any:
    return read(ask(server, "GET", path(api_version, name)))["spec"]


def test_each_version_shows_its_own_fields(server: Running, hook: Hook) -> None:
    made = make(server, path("v1"), conv("o", "v1", a="1"))
    assert made["spec"] == {"a": "1"}  # defaults of v1 are lost on the way, as upstream loses them
    assert spec(server, "v2", "o") == {"b": "1", "dv2": "default-v2"}
    assert spec(server, "v1", "o") == {"a": "1"}
    assert hook.asked()[:2] == [("v1>v2", 1), ("v2>v1", 1)]


def test_rules_are_those_of_the_version_of_the_request(server: Running) -> None:
    make(server, path("v2"), conv("o", "v2", b="1"))
    answer = ask(server, "PATCH", path("v1", "o"), {"spec": {"a": "2"}}, content_type=MERGE)
    assert said(answer)[1].endswith("Invalid value: a is immutable")
    answer = ask(server, "PATCH", path("v2", "o"), {"spec": {"b": "2"}}, content_type=MERGE)
    assert answer.code == 200
    assert spec(server, "v1", "o") == {"a": "2"}


def test_a_get_asks_anew_and_a_list_does_not(server: Running, hook: Hook) -> None:
    for name in ("o", "p"):
        make(server, path("v2"), conv(name, "v2", b="1"))
    listed = read(ask(server, "GET", path("v1")))
    assert [one["spec"] for one in listed["items"]] == [{"a": "1"}] * 2
    hook.asked()
    ask(server, "GET", path("v1"))
    assert hook.asked() == []
    ask(server, "GET", path("v1", "o"))
    assert hook.asked() == [("v2>v1", 1)]
    ask(server, "GET", path("v2", "o"))
    assert hook.asked() == []


@pytest.mark.parametrize(
    ("method", "name", "body", "content_type", "sent"),
    [
        ("GET", "o", None, "", "v2"),
        ("GET", "o/scale", None, "", "v2"),
        ("POST", "", conv("q", "v1", a="1"), "", "v1"),
        ("POST", "?dryRun=All", conv("q", "v1", a="1"), "", "v1"),
        ("PATCH", "o", {"spec": {"x": "2"}}, MERGE, "v1"),
        ("PATCH", "o/status", {"status": {"a": "2"}}, MERGE, "v1"),
        ("PATCH", "o/scale", {"spec": {"replicas": 4}}, MERGE, "v1"),
        ("PATCH", "o?fieldManager=m", conv("o", "v1", x="2"), APPLY, "v1"),
        ("DELETE", "o", None, "", "v2"),
        ("DELETE", "", None, "", "v2"),
    ],
)
def test_without_the_webhook_only_the_stored_version_is_there(
    server: Running, hook: Hook, method: str, name: str, body: Any, content_type: str, sent: str
) -> None:
    make(server, path("v2"), conv("o", "v2", b="1", r=3))
    ask(server, "GET", path("v1"))
    hook.is_down = True
    answer = ask(
        server, method, path("v1", name.lstrip("?") and name), body, content_type=content_type
    )
    kind = f"conv.example.com/{sent}, Kind=Conv"
    text = f"conversion webhook for {kind} failed: connection refused"
    assert said(answer) == (500, text)
    assert read(answer).get("reason") is None
    again = json.loads(json.dumps(body).replace("/v1", "/v2").replace('"a"', '"b"'))
    answer = ask(server, method, path("v2", name), again, content_type=content_type)
    assert answer.code in (200, 201), answer.body


def test_what_could_not_be_stored_is_not_deleted(server: Running, hook: Hook) -> None:
    make(server, path("v2"), conv("o", "v2", b="1"))
    hook.broken = "v1>v2"
    text = "conversion webhook for conv.example.com/v1, Kind=Conv failed: connection refused"
    assert said(ask(server, "DELETE", path("v1", "o"))) == (500, text)
    assert said(ask(server, "DELETE", path("v1"))) == (500, text)
    assert ask(server, "DELETE", path("v1", "o") + "?dryRun=All").code == 200
    assert ask(server, "DELETE", path("v2", "o")).code == 200


def test_finalizers_are_taken_away_only_where_the_object_can_be_read(
    server: Running, hook: Hook
) -> None:
    """Nothing is stored when the last one goes; upstream asks the webhook all the same."""
    held = conv("o", "v2", b="1")
    held["metadata"]["finalizers"] = ["x.example.com/y"]
    make(server, path("v2"), held)
    deleted = read(ask(server, "DELETE", path("v1", "o")))
    assert (deleted["apiVersion"], deleted["spec"]) == (f"{GROUP}/v1", {"a": "1"})
    hook.is_down = True
    release = {"metadata": {"finalizers": None}}
    answer = ask(server, "PATCH", path("v1", "o"), release, content_type=MERGE)
    text = "conversion webhook for conv.example.com/v1, Kind=Conv failed: connection refused"
    assert said(answer) == (500, text)
    answer = ask(server, "PATCH", path("v2", "o"), release, content_type=MERGE)
    assert read(answer)["metadata"]["deletionTimestamp"]
    assert ask(server, "GET", path("v2", "o")).code == 404


def test_what_an_apply_leaves_nothing_of_needs_no_webhook() -> None:
    async def call(*_: Any, **__: Any) -> Reply:
        raise AssertionError("the webhook is called")

    kinds: Any = SimpleNamespace(custom={V1, V2}, conversions=conversion_webhooks([definition()]))
    conversions = Conversions(lambda: kinds, call, lambda: "uid")
    assert conversions.converted({"apiVersion": V2.api_version, "kind": "Conv"}, V1) == {
        "apiVersion": V1.api_version,
        "kind": "Conv",
    }


def test_what_became_of_calls_is_counted(server: Running, hook: Hook) -> None:
    make(server, path("v2"), conv("o", "v2", b="1"))
    ask(server, "GET", path("v1", "o"))
    hook.is_down = True
    ask(server, "GET", path("v1", "o"))
    found = ask(server, "GET", "/metrics").body.decode()
    total = "apiserver_conversion_webhook_request_total"
    assert f'{total}{{failure_type="",result="success"}}' in found
    failed = 'failure_type="conversion_webhook_call_failure",result="failure"'
    assert f"{total}{{{failed}}} 1" in found
    assert f"apiserver_conversion_webhook_duration_seconds_count{{{failed}}} 1" in found
    labels = 'from_version="v2",succeeded="false",to_version="v1"'
    name = "apiserver_crd_conversion_webhook_duration_seconds_count"
    assert f'{name}{{crd_name="convs.{GROUP}",{labels}}} 1' in found


@pytest.mark.parametrize(
    ("change", "stage"),
    [
        (without_response, MALFORMED),
        (with_response(uid="other"), MALFORMED),
        (with_response(convertedObjects=[]), PARTIAL),
        (with_response(convertedObjects={}), CALL),
        (without_metadata, INVALID),
    ],
)
def test_where_a_conversion_failed(change: Answers, stage: str) -> None:
    with pytest.raises(ConversionFailed) as failed:
        answered(change)
    assert failed.value.stage == stage


def test_what_was_listed_stays_there_without_the_webhook(server: Running, hook: Hook) -> None:
    make(server, path("v2"), conv("o", "v2", b="1"))
    ask(server, "GET", path("v1"))
    hook.is_down = True
    assert len(read(ask(server, "GET", path("v1")))["items"]) == 1
    make(server, path("v2"), conv("p", "v2", b="1"))
    assert said(ask(server, "GET", path("v1")))[0] == 500


def test_a_watch_shows_changes_in_its_version(server: Running) -> None:
    made = make(server, path("v2"), conv("o", "v2", b="1"))
    version = made["metadata"]["resourceVersion"]
    ask(server, "PATCH", path("v2", "o"), {"spec": {"b": "2"}}, content_type=MERGE)
    ask(server, "DELETE", path("v2", "o"))
    for since, seen in (("0", []), (version, ["MODIFIED a=2", "DELETED a=2"])):
        query = f"?watch=1&timeoutSeconds=1&resourceVersion={since}"
        answer = ask(server, "GET", path("v1", "").rstrip("/") + query)
        assert answer.stream is not None
        lines = server.lines(answer.stream)
        events = [json.loads(line) for line in iter(lines.readline, b"")]
        assert [f"{event['type']} a={event['object']['spec']['a']}" for event in events] == seen


def store(server: Running, api_version: str) -> dict[str, Any]:
    """The definition, with another storage version."""
    stored = f"{DEFINITIONS}/convs.{GROUP}"
    found = read(ask(server, "GET", stored))
    found["spec"]["versions"] = definition(api_version)["spec"]["versions"]
    changed: dict[str, Any] = read(ask(server, "PUT", stored, found))
    return changed


def test_lists_of_what_is_stored_in_several_versions(server: Running, hook: Hook) -> None:
    for name in ("o", "p"):
        make(server, path("v2"), conv(name, "v2", b="1"))
    store(server, "v1")
    hook.is_down = True
    make(server, path("v1"), conv("n", "v1", a="2"))
    for api_version, sent in (("v1", "v2"), ("v2", "v1")):
        text = f"conversion webhook for conv.example.com/{sent}, Kind=Conv failed: "
        for query in ("", "?limit=9", "?resourceVersion=0"):
            answer = ask(server, "GET", path(api_version) + query)
            assert said(answer) == (500, f"{text}connection refused"), (api_version, query)
        answer = ask(server, "DELETE", path(api_version))
        assert said(answer) == (500, f"{text}connection refused"), api_version
    first_page = read(ask(server, "GET", f"{path('v1')}?limit=1"))
    assert [one["spec"] for one in first_page["items"]] == [{"a": "2", "dv1": "default-v1"}]
    hook.is_down = False
    hook.asked()
    both = read(ask(server, "GET", path("v1")))["items"]
    assert [one["spec"]["a"] for one in both] == ["2", "1", "1"]
    both = read(ask(server, "GET", path("v2")))["items"]
    assert [one["spec"]["b"] for one in both] == ["2", "1", "1"]
    assert hook.asked() == [("v2>v1", 2), ("v1>v2", 1)]


def test_what_a_webhook_does_wrong_is_told_of_one_object(server: Running, hook: Hook) -> None:
    for name in ("o", "p"):
        make(server, path("v2"), conv(name, "v2", b="1"))
    store(server, "v2")
    hook.most = 1
    assert len(read(ask(server, "GET", path("v1")))["items"]) == 2
    make(server, path("v2"), conv("q", "v2", b="1"))
    hook.most = 0
    make(server, path("v2"), conv("r", "v2", b="1"))
    text = "conversion webhook for conv.example.com/v2, Kind=Conv returned 0 objects, expected 1"
    assert said(ask(server, "GET", path("v1"))) == (500, text)


def test_another_storage_version(server: Running) -> None:
    make(server, path("v2"), conv("o", "v2", b="1"))
    assert store(server, "v1")["status"]["storedVersions"] == ["v2", "v1"]
    make(server, path("v2"), conv("p", "v2", b="1"))
    assert spec(server, "v1", "o") == {"a": "1"}
    assert spec(server, "v1", "p") == {"a": "1", "dv1": "default-v1"}
    assert spec(server, "v2", "p") == {"b": "1"}
    both = read(ask(server, "GET", path("v2")))["items"]
    assert [one["spec"]["b"] for one in both] == ["1", "1"]


def test_fields_that_the_other_version_does_not_know_end_the_managers(server: Running) -> None:
    """The webhook hands a default on that v1 does not know: nobody can say who owns what."""
    make(server, path("v1"), conv("o", "v1", a="1"))
    patched = ask(server, "PATCH", path("v2", "o"), {"spec": {"x": "2"}}, content_type=MERGE)
    assert "managedFields" not in read(patched)["metadata"]
    make(server, path("v1"), conv("p", "v1", a="1"))
    answer = ask(
        server,
        "PATCH",
        f"{path('v2', 'p')}?fieldManager=m",
        conv("p", "v2", x="2"),
        content_type=APPLY,
    )
    assert said(answer) == (500, ".spec.dv2: field not declared in schema")


def test_a_scale_that_nobody_has_counted_is_written_but_not_read(server: Running) -> None:
    make(server, path("v2"), conv("o", "v2", b="1"))
    scale = path("v2", "o/scale")
    assert said(ask(server, "GET", scale))[0] == 500
    answer = ask(server, "PATCH", scale, {"spec": {}}, content_type=MERGE)
    assert said(answer) == (400, 'the spec replicas field ".spec.r" cannot be empty')
    answer = ask(server, "PATCH", scale, {"spec": {"replicas": 3}}, content_type=MERGE)
    assert read(answer)["spec"] == {"replicas": 3}


def test_policies_see_the_version_that_they_name(server: Running, hook: Hook) -> None:
    rule = {
        "apiGroups": [GROUP],
        "apiVersions": ["v1"],
        "resources": ["convs"],
        "operations": ["CREATE"],
    }
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    check = {"expression": "object.spec.a == 'ok'", "message": "a is not ok"}
    make(
        server,
        policies,
        {
            "metadata": {"name": "p"},
            "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [check]},
        },
    )
    make(
        server,
        f"{policies[:-3]}ybindings",
        {"metadata": {"name": "p"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}},
    )
    assert said(ask(server, "POST", path("v2"), conv("o", "v2", b="1")))[1].endswith("a is not ok")
    make(server, path("v2"), conv("o", "v2", b="ok"))
    hook.is_down = True
    answer = ask(server, "POST", path("v2"), conv("p", "v2", b="ok"))
    assert said(answer)[1].endswith(
        "failed to configure binding: failed to convert object version: conversion webhook for "
        "conv.example.com/v2, Kind=Conv failed: connection refused"
    )


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
def test_params_are_converted_for_cheap_policies_too(
    server: Running, hook: Hook, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a policy is known to be cheap, it is evaluated where nobody may wait for a webhook."""
    monkeypatch.setattr(Conversions, "_kept", lambda _, objects, __: [None] * len(objects))
    make(server, path("v2"), conv("limit", "v2", b="ok"))
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
        "operations": ["CREATE"],
    }
    says: dict[str, dict[str, Any]] = {
        "Validating": {"validations": [{"expression": "params.spec.a == 'ok'"}]},
        "Mutating": {
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": "Object{data: {'a': params.spec.a}}"},
                }
            ],
        },
    }
    policies = f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}admissionpolicies"
    spec = {
        "paramKind": {"apiVersion": f"{GROUP}/v1", "kind": "Conv"},
        "matchConstraints": {"resourceRules": [rule]},
        **says[kind],
    }
    make(server, policies, {"metadata": {"name": "p"}, "spec": spec})
    bound = {
        "policyName": "p",
        "paramRef": {
            "name": "limit",
            "namespace": "default",
            "parameterNotFoundAction": "Deny",
        },
        **({"validationActions": ["Deny"]} if kind == "Validating" else {}),
    }
    make(server, f"{policies[:-3]}ybindings", {"metadata": {"name": "p"}, "spec": bound})
    for name in "abcd":
        body = {"metadata": {"name": name}}
        answer = ask(server, "POST", "/api/v1/namespaces/default/configmaps", body)
        assert answer.code == 201, answer.body
        assert ("v2>v1", 1) in hook.asked()


def test_nothing_is_refused_that_could_not_be_stored_anyway(server: Running, hook: Hook) -> None:
    """Upstream first makes of the object in its cache what it would store."""
    make(server, path("v2"), conv("o", "v2", b="1"))
    ask(server, "GET", path("v1"))
    too_long = {"spec": {"a": "1234567890"}}
    answer = ask(server, "PATCH", path("v1", "o"), too_long, content_type=MERGE)
    assert said(answer)[0] == 422
    hook.is_down = True
    text = "conversion webhook for conv.example.com/v1, Kind=Conv failed: connection refused"
    stale = {"metadata": {"resourceVersion": "1"}}
    for body in (too_long, stale, {"kind": "Other"}):
        answer = ask(server, "PATCH", path("v1", "o"), body, content_type=MERGE)
        assert said(answer) == (500, text)
    dry = ask(server, "PATCH", f"{path('v1', 'o')}?dryRun=All", too_long, content_type=MERGE)
    assert said(dry) == (500, text.replace("/v1", "/v2")), "a dry run reads what is stored"


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_patches_that_make_something_else(server: Running, version: str) -> None:
    make(server, path("v2"), conv("o", "v2", b="1"))
    wanted = f"{GROUP}/{version}"

    def patched(body: Any, name: str = "o") -> tuple[int, str]:
        return said(ask(server, "PATCH", path(version, name), body, content_type=MERGE))

    assert patched({"kind": "Other"}) == (
        422,
        f'Other.{GROUP} "o" is invalid: kind: Invalid value: "Other": must be Conv',
    )
    assert patched({"apiVersion": "apps/v1", "kind": "Deployment"}) == (
        422,
        'Deployment.apps "o" is invalid: [kind: Invalid value: "Deployment": must be Conv, '
        f'apiVersion: Invalid value: "apps/v1": must be {wanted}]',
    )
    assert patched({"kind": "Other", "metadata": {"resourceVersion": "1"}})[0] == 409
    text = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
    assert patched({"apiVersion": None}) == (500, f"Internal error occurred: {text}")
    answer = ask(server, "PATCH", path(version, "o/status"), {"kind": "Other"}, content_type=MERGE)
    assert (answer.code, read(answer)["kind"]) == (200, "Conv")


def test_a_watch_waits_for_its_webhook(
    server: Running, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.01)
    made = make(server, path("v2"), conv("o", "v2", b="1"))
    since = made["metadata"]["resourceVersion"]
    hook.is_down = True
    ask(server, "PATCH", path("v2", "o"), {"spec": {"b": "2"}}, content_type=MERGE)
    answer = ask(server, "GET", path("v1") + f"?watch=1&timeoutSeconds=60&resourceVersion={since}")
    assert answer.stream is not None
    lines = server.lines(answer.stream)
    hook.is_down = False
    assert json.loads(lines.readline())["object"]["spec"]["a"] == "2"
    hook.is_down = True
    monkeypatch.setattr(watch, "PATIENCE_SECONDS", 0.0)
    ask(server, "PATCH", path("v2", "o"), {"spec": {"b": "3"}}, content_type=MERGE)
    assert lines.readline() == b"", "not for ever"


def test_watches_end_when_their_definition_becomes_another(server: Running) -> None:
    stored = f"{DEFINITIONS}/convs.{GROUP}"
    streams = []
    for version in ("v1", "v2"):
        answer = ask(server, "GET", f"{path(version)}?watch=1&timeoutSeconds=600")
        assert answer.stream is not None
        streams.append(server.lines(answer.stream))
    labels = {"metadata": {"labels": {"a": "b"}}}
    assert ask(server, "PATCH", stored, labels, content_type=MERGE).code == 200
    make(server, path("v2"), conv("o", "v2", b="1"))
    for lines in streams:
        assert json.loads(lines.readline())["type"] == "ADDED", "labels change nothing"
    none = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    assert ask(server, "PATCH", stored, none, content_type=MERGE).code == 200
    for lines in streams:
        assert lines.readline() == b""


def test_controllers_ask_for_the_version_that_discovery_names_first(
    server: Running, hook: Hook
) -> None:
    """`v2` comes before `v1`: what is stored as `v1` goes only when the webhook is there."""
    store(server, "v1")
    make(server, "/api/v1/namespaces", {"metadata": {"name": "gone"}})
    there = path("v1").replace("/default/", "/gone/")
    make(server, there, {**conv("o", "v1", a="1"), "metadata": {"name": "o"}})
    hook.is_down = True
    ask(server, "DELETE", "/api/v1/namespaces/gone")
    text = "Failed to delete all resource types, 1 remaining: conversion webhook for "

    def told() -> str:
        answer = ask(server, "GET", "/api/v1/namespaces/gone")
        if answer.code == 404:
            return "gone"
        conditions = read(answer)["status"].get("conditions", ())
        return " ".join(one["message"] for one in conditions)

    until(lambda: text in told())
    hook.is_down = False
    until(lambda: told() == "gone")


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
