"""Reviews, and what is none."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from celadon.admission import ObjectWorld
from celadon.webhook.review_decisions import SourceState, Unanswerable
from tests.paths import recordings
from tests.webhook.documents import review_document
from tests.webhook.review_decisions.test_mutator import rules
from tests.webhook.service.running import SETTINGS, Answering, FixedSource, answering, rulebook

ANYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}


@pytest.fixture(scope="module")
def client() -> Iterator[Answering]:
    """Its policy denies ConfigMaps that say so."""
    text = "!has(object.data) || object.data.denied != 'yes'"
    rules = rulebook(validations=[{"expression": text, "message": "as asked"}])
    with answering(FixedSource(rules)) as found:
        yield found


def config_map(**data: str) -> dict[str, Any]:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}
    return review_document(object=obj, name="c", namespace="ns")


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_both_versions_are_answered(client: Answering, version: str) -> None:
    asked = {**config_map(denied="no"), "apiVersion": f"admission.k8s.io/{version}"}
    assert client.reviewed(asked) == {"uid": "u", "allowed": True}


def test_a_denial_is_that_of_the_policy(client: Answering) -> None:
    response = client.reviewed(config_map(denied="yes"))
    text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: as asked"
    assert response["allowed"] is False
    assert response["status"] == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'configmaps "c" is forbidden: {text}',
        "reason": "Invalid",
        "details": {"name": "c", "kind": "configmaps", "causes": [{"message": text}]},
        "code": 422,
    }


def test_there_are_no_mutating_policies(client: Answering) -> None:
    assert client.reviewed(config_map(denied="yes"), "/mutate") == {"uid": "u", "allowed": True}


def test_errors_of_policies_are_denials(client: Answering) -> None:
    response = client.reviewed(review_document(object={"data": 7}, namespace="ns"))
    assert response["allowed"] is False
    assert "denied request: expression" in response["status"]["message"]


@pytest.mark.parametrize("path", recordings("admissionreview"))
def test_recorded_reviews_are_answered(client: Answering, path: Path) -> None:
    recorded = json.loads(path.read_text(encoding="utf-8"))
    asked = recorded["review"]
    is_config_map = asked["request"]["resource"]["resource"] == "configmaps"
    response = client.reviewed(asked, f"/validate?timeout={recorded['timeout']}")
    assert response["allowed"] or is_config_map


GOOD = json.dumps(config_map()).encode()


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        (b"", 400, "the body is empty"),
        (b"{", 400, "not an AdmissionReview: Expecting property name"),
        (b"[]", 400, "not an AdmissionReview: the body must be an object, not a list"),
        (b"\xff{}", 400, "not an AdmissionReview: not in UTF-8"),
        (b'{"a":NaN}', 400, "not an AdmissionReview: `NaN` is no JSON"),
        (b'{"a":' + b"9" * 5000 + b"}", 400, f"AdmissionReview: `{'9' * 20}...` is out of range"),
        (b'{"a":-1e999}', 400, "not an AdmissionReview: `-1e999` is out of range\n"),
        (b'{"a":1e999}', 400, "not an AdmissionReview: `1e999` is out of range"),
        (b"[" * 100_000, 422, "the review is nested too deeply"),
        (GOOD.replace(b'"u"', b'""'), 400, "`request.uid` is missing"),
        (
            GOOD.replace(b"v1", b"v2", 1),
            400,
            "not an AdmissionReview: its kind is not AdmissionReview of admission.k8s.io/v1",
        ),
        (GOOD[:-1], 400, "not an AdmissionReview"),
        (b"x" * (SETTINGS.body_bytes + 1), 413, "request entity is too large; limit is 7340032"),
    ],
    ids=range(13),
)
def test_what_is_no_review(client: Answering, body: bytes, code: int, text: str) -> None:
    found, said = client.said("/validate", body)
    assert found == code
    assert text in said


@pytest.mark.parametrize(
    ("content_type", "code"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("application/yaml", 415),
        ("application/jsonp", 415),
        (None, 415),
    ],
)
def test_content_types(client: Answering, content_type: str | None, code: int) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    assert client.said("/validate", GOOD, headers=headers)[0] == code


def test_a_deep_object_never_ends_the_server(client: Answering) -> None:
    for depth in (100, 400, 700, 900, 5000):
        deep = '{"a":' * depth + "1" + "}" * depth
        body = GOOD.replace(b'"data": {}', b'"data": ' + deep.encode())
        assert client.said("/validate", body)[0] in (200, 422)
    assert client.said("/healthz") == (200, "ok\n")


def test_lone_surrogates_are_repeated(client: Answering) -> None:
    code, text = client.said("/validate", GOOD.replace(b'"u"', b'"\\ud800"'))
    assert code == 200
    assert json.loads(text)["response"]["uid"] == "\ud800"


def test_audit_only() -> None:
    settings = dataclasses.replace(SETTINGS, audit_only=True)
    with answering(FixedSource(rulebook()), settings) as client:
        response = client.reviewed(config_map())
        metrics = client.said("/metrics")[1]
    sentence = (
        'configmaps "c" is forbidden: '
        "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
    )
    assert response == {
        "uid": "u",
        "allowed": True,
        "warnings": [f"would be denied: {sentence}"],
        "auditAnnotations": {"would_deny": sentence},
    }
    assert "celadon_webhook_audit_only_denials_total 1\n" in metrics
    assert 'policy_decisions_total{action="deny",binding="b",policy="p"} 1\n' in metrics


def test_callers_without_certificate() -> None:
    settings = dataclasses.replace(SETTINGS, known_callers=True)
    with answering(FixedSource(rulebook()), settings) as client:
        assert client.said("/validate", GOOD) == (401, "a client certificate is required\n")
        assert unanswered(client) == {"unknown caller": 1}
        assert client.said("/readyz") == (200, "ok\n")


def test_without_policies_nobody_is_let_in() -> None:
    with answering(FixedSource(None, SourceState(missing=("its files",)))) as client:
        assert client.said("/validate", GOOD) == (503, "no policies, waiting for its files\n")
        assert unanswered(client) == {"not ready": 1}


def unanswered(client: Answering) -> dict[str, int]:
    """Reviews without an answer, by their reason."""
    metrics = client.said("/metrics")[1]
    found = re.findall(r'unanswered_reviews_total{path="/validate",reason="(.+)"} (.+)', metrics)
    return {reason: int(count) for reason, count in found}


def test_what_is_no_review_is_malformed() -> None:
    with answering(FixedSource(rulebook())) as client:
        headers = {"Content-Type": "text/plain"}
        text = "the content type must be application/json\n"
        assert client.said("/validate", GOOD, headers) == (415, text)
        assert client.said("/validate", b"") == (400, "the body is empty\n")
        large = b" " * SETTINGS.body_bytes
        assert client.said("/validate", large)[0] == 400
        text = f"request entity is too large; limit is {SETTINGS.body_bytes} bytes\n"
        assert client.said("/validate", large + b" ") == (413, text)
        deep = b"[" * 100_000
        assert client.said("/validate", deep) == (422, "the review is nested too deeply\n")
        assert unanswered(client) == {"malformed": 5}


def test_what_could_not_be_found_out_is_no_answer() -> None:
    class Unknowing(ObjectWorld):
        def namespace(self, name: str) -> NoReturn:
            raise Unanswerable("the cluster is gone")

    rules = rulebook(Unknowing(), validations=[{"expression": "namespaceObject != null"}])
    with answering(FixedSource(rules)) as client:
        code, text = client.said("/validate", GOOD)
        assert (code, text) == (503, "the review cannot be decided: the cluster is gone\n")
        assert unanswered(client) == {"unanswerable": 1}


def test_denials_are_told_to_whoever_wants_to_know() -> None:
    told: list[str] = []
    settings = dataclasses.replace(
        SETTINGS, denied=lambda request, verdict: told.append(verdict.message), audit_only=True
    )
    with answering(FixedSource(rulebook()), settings) as client:
        assert client.reviewed(config_map())["allowed"]
    (message,) = told
    assert message.startswith('configmaps "c" is forbidden: ValidatingAdmissionPolicy')


def test_mutating_policies_answer_with_a_patch() -> None:
    with answering(FixedSource(dataclasses.replace(rulebook(), mutation=rules()))) as client:
        response = client.reviewed(config_map(kept="1"), "/mutate")
    patch = json.loads(base64.b64decode(response.pop("patch")))
    assert response == {"uid": "u", "allowed": True, "patchType": "JSONPatch"}
    assert {"op": "add", "path": "/data/added", "value": "yes"} in patch
