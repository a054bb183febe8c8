"""AdmissionReview in both directions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.admission import review
from celadon.admission.decision_source import validation
from celadon.admission.request import Operation
from celadon.admission.verdict import (
    VALIDATION_FAILURE,
    Action,
    Decision,
    RecordedWarning,
    Verdict,
)
from celadon.kube import GroupVersionKind
from tests.admission.building import judge, policy
from tests.paths import shared


def document(**request: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "uid": "u",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "operation": "CREATE",
        "object": {"metadata": {"name": "c"}},
        "userInfo": {"username": "alice", "groups": ["devs"], "extra": {"k": ["v"]}},
    }
    given.update(request)
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": given}


def test_a_review_becomes_a_request() -> None:
    decoded = review.decode(document(dryRun=True, namespace="ns", oldObject=None))
    assert decoded.operation is Operation.CREATE
    assert decoded.kind == GroupVersionKind("", "v1", "ConfigMap")
    assert decoded.original_kind == decoded.kind
    assert decoded.object == {"metadata": {"name": "c"}}
    assert decoded.old_object is None
    assert decoded.user.groups == ("devs",)
    assert decoded.user.extra == {"k": ("v",)}
    assert decoded.dry_run
    assert decoded.uid == "u"


def test_what_was_asked_originally_is_kept() -> None:
    kind = {"group": "", "version": "v2", "kind": "ConfigMap"}
    decoded = review.decode(document(requestKind=kind, subResource="status"))
    assert decoded.original_kind.version == "v2"
    assert decoded.original_subresource == "status"


BAD: list[tuple[Any, str]] = [
    ([], "the body must be an object, not a list"),
    (None, "the body must be an object, not null"),
    ({}, "not an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1"),
    ({**document(), "request": None}, "`request` is missing"),
    ({**document(), "request": 1}, "`request` must be an object, not a number"),
    (document(uid=""), "`request.uid` is missing"),
    (document(operation="LOOK"), "`request.operation` is unknown: `LOOK`"),
    (document(kind="Pod"), "`kind` must be an object, not a string"),
    (document(object=[1]), "`request.object` must be an object, not a list"),
    (document(userInfo={"groups": "devs"}), "`groups` must be a list, not a string"),
    (document(dryRun="yes"), "`dryRun` must be a boolean, not a string"),
]


@pytest.mark.parametrize(("body", "text"), BAD)
def test_what_is_no_review(body: Any, text: str) -> None:
    with pytest.raises(review.ReviewError) as caught:
        review.decode(body)
    assert str(caught.value) == text


def test_an_answer() -> None:
    verdict = judge(policy())
    answer = review.encode(verdict, "u")
    assert answer["response"]["uid"] == "u"
    assert answer["response"]["allowed"] is False
    assert answer["response"]["status"]["code"] == 422
    assert review.encode(Verdict(), "u", "admission.k8s.io/v1beta1") == {
        "apiVersion": "admission.k8s.io/v1beta1",
        "kind": "AdmissionReview",
        "response": {"uid": "u", "allowed": True},
    }


def test_annotations_of_an_answer_have_no_slash() -> None:
    decision = Decision("p", "b", 0, validation(0), Action.DENY)
    verdict = Verdict(
        recorded=(RecordedWarning("w", (decision,)),),
        audit_annotations={"p/k": "v", VALIDATION_FAILURE: "[]", "p/": "x"},
    )
    response = review.encode(verdict, "u")["response"]
    assert response["auditAnnotations"] == {"p_k": "v", "validation_failure": "[]"}
    assert response["warnings"] == ["w"]


def test_recorded_reviews_are_understood() -> None:
    files = sorted(shared("conformance", "admissionreview").glob("*.json"))
    for file in files:
        decoded = review.decode(json.loads(file.read_text())["review"])
        assert decoded.kind.kind
    assert files
