"""From verdicts to answers."""

from __future__ import annotations

import dataclasses

import pytest

from celadon.admission import VALIDATION_FAILURE, Action, Decision, RecordedWarning, Verdict
from celadon.kube import name_rules
from celadon.webhook.reviews import Review, answer_review, decode_review, hook_annotations
from tests.admission.building import judge, policy
from tests.webhook.documents import review_document

REVIEW = decode_review(review_document())


def test_a_refusal_has_the_status_of_the_policy() -> None:
    verdict = judge(policy())
    answer = answer_review(REVIEW, verdict)
    assert answer["kind"] == "AdmissionReview"
    assert answer["apiVersion"] == "admission.k8s.io/v1"
    assert answer["response"] == {"uid": "u", "allowed": False, "status": verdict.status}
    assert answer["response"]["status"]["code"] == 422


def test_the_answer_is_in_the_version_of_the_question() -> None:
    old = Review(REVIEW.request, "admission.k8s.io/v1beta1")
    assert answer_review(old, Verdict()) == {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1beta1",
        "response": {"uid": "u", "allowed": True},
    }


def test_warnings_and_annotations() -> None:
    decision = Decision("p", "b", 0, judge(policy()).decisions[0].source, Action.DENY)
    verdict = Verdict(
        recorded=(RecordedWarning("w", (decision,)),),
        audit_annotations={"p/k": "v", VALIDATION_FAILURE: "[]"},
    )
    response = answer_review(REVIEW, verdict)["response"]
    assert response["auditAnnotations"] == {"p_k": "v", "validation_failure": "[]"}
    assert response["warnings"] == ["w"]
    assert dataclasses.replace(verdict, recorded=()).warnings == ()


LONG = "a" * 200 + ".example.com/" + "k" * 63


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("p.example.com/high-risk", "p.example.com_high-risk"),
        (VALIDATION_FAILURE, "validation_failure"),
        ("validation/failure", "validation_failure-2cf6d8fa7b"),
        ("p/" + "k" * 61, "p_" + "k" * 61),
        ("p/" + "k" * 62, "p_" + "k" * 50 + "-354ecfcaad"),
    ],
)
def test_keys_are_those_that_a_server_takes_from_a_webhook(name: str, key: str) -> None:
    assert hook_annotations({name: "v"}) == {key: "v"}
    assert "/" not in key
    assert name_rules.qualified_name(key) == []


def test_long_keys_stay_apart() -> None:
    assert len(hook_annotations({LONG: "1", LONG[1:]: "2", LONG[:-1]: "3"})) == 3
