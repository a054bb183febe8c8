"""From reviews to requests, and what is no review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission import Operation
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.webhook.reviews import ReviewError, decode_review
from tests.paths import recordings
from tests.webhook.documents import review_document


def test_a_review_becomes_a_request() -> None:
    found = decode_review(review_document(dryRun=True, namespace="ns", oldObject=None), 300)
    request = found.request
    assert found.api_version == "admission.k8s.io/v1"
    assert request.operation is Operation.CREATE
    assert request.kind == GroupVersionKind("", "v1", "ConfigMap")
    assert request.object == {"metadata": {"name": "c"}}
    assert request.old_object is None
    assert request.user.groups == ("devs",)
    assert request.user.extra == {"k": ("v",)}
    assert request.dry_run
    assert (request.uid, request.size) == ("u", 300)


def test_objects_are_those_of_the_document() -> None:
    document = review_document()
    assert decode_review(document).request.object is document["request"]["object"]


def test_what_was_asked_originally_is_kept() -> None:
    kind = {"group": "", "version": "v2", "kind": "ConfigMap"}
    resource = {"group": "", "version": "v2", "resource": "configmaps"}
    request = decode_review(
        review_document(requestKind=kind, requestResource=resource, subResource="status")
    ).request
    assert request.original_kind.version == "v2"
    assert request.original_resource == GroupVersionResource("", "v2", "configmaps")
    assert request.original_subresource == "status"


def test_reviews_of_old_servers_do_not_say_what_was_asked_originally() -> None:
    request = decode_review(review_document()).request
    assert request.original_kind == request.kind
    assert request.original_resource == request.resource
    assert decode_review(review_document(requestKind=None)).request.original_kind == request.kind


def test_unknown_members_are_passed_over() -> None:
    assert decode_review({**review_document(later=[1]), "more": {}}).request.uid == "u"


BAD: list[tuple[Any, str]] = [
    ([], "the body must be an object, not a list"),
    (None, "the body must be an object, not null"),
    ({}, "its kind is not AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1"),
    (
        {**review_document(), "apiVersion": ["v1"]},
        "its kind is not AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1",
    ),
    ({**review_document(), "request": None}, "`request` is missing"),
    ({**review_document(), "request": 1}, "`request` must be an object, not a number"),
    (review_document(uid=""), "`request.uid` is missing"),
    (review_document(uid=7), "`uid` must be a string, not a number"),
    (review_document(operation="LOOK"), "`request.operation` is unknown: `LOOK`"),
    (review_document(kind="Pod"), "`kind` must be an object, not a string"),
    (review_document(requestResource=1), "`requestResource` must be an object, not a number"),
    (review_document(object=[1]), "`request.object` must be an object, not a list"),
    (review_document(userInfo={"groups": "devs"}), "`groups` must be a list, not a string"),
    (review_document(userInfo={"extra": {"a": [1]}}), "`extra` must be a string, not a number"),
    (review_document(userInfo=[]), "`userInfo` must be an object, not a list"),
    (review_document(dryRun="yes"), "`dryRun` must be a boolean, not a string"),
]


@pytest.mark.parametrize(("body", "text"), BAD)
def test_what_is_no_review(body: Any, text: str) -> None:
    with pytest.raises(ReviewError) as caught:
        decode_review(body)
    assert str(caught.value) == text


@pytest.mark.parametrize("path", recordings("admissionreview"))
def test_recorded_reviews_are_understood(path: Path) -> None:
    recorded = json.loads(path.read_text(encoding="utf-8"))["review"]
    request = decode_review(recorded).request
    asked = recorded["request"]
    assert request.kind.kind == asked["kind"]["kind"]
    assert request.original_kind == GroupVersionKind(**asked["requestKind"])
    assert request.original_resource == GroupVersionResource(**asked["requestResource"])
    assert request.user.name == asked["userInfo"]["username"]
