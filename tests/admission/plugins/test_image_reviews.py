"""What a backend is asked about a pod, and what follows from its answer."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.pod_plugins import (
    ImageVerdict,
    image_opinion,
    image_review,
    unanswered_opinion,
)
from celadon.admission.request import Operation, Request
from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.admission.building import request

POD = {
    "metadata": {
        "name": "p",
        "annotations": {
            "b.image-policy.k8s.io/ticket": "1",
            "image-policy.k8s.io/no": "2",
            "c": "3",
        },
    },
    "spec": {
        "containers": [{"name": "a", "image": "x:1"}, {"name": "b"}],
        "initContainers": [{"name": "i", "image": "y"}],
        "ephemeralContainers": [{"name": "e", "image": "z"}],
    },
}


def about(obj: Any = POD, **more: Any) -> Request:
    resource = GroupVersionResource("", "v1", more.pop("resource", "pods"))
    kind = GroupVersionKind("", "v1", "Pod")
    return request(obj, kind=kind, resource=resource, name="p", **more)


def test_what_is_asked() -> None:
    assert image_review(about()) == {
        "kind": "ImageReview",
        "apiVersion": "imagepolicy.k8s.io/v1alpha1",
        "metadata": {},
        "spec": {
            "containers": [{"image": "x:1"}, {}, {"image": "y"}],
            "annotations": {"b.image-policy.k8s.io/ticket": "1"},
            "namespace": "ns",
        },
        "status": {"allowed": False},
    }
    added = image_review(about(operation=Operation.UPDATE, subresource="ephemeralcontainers"))
    assert added is not None
    assert added["spec"]["containers"] == [{"image": "z"}]


@pytest.mark.parametrize(
    "asked",
    [
        about(subresource="status"),
        about(resource="secrets"),
        about(None, operation=Operation.DELETE),
        about(operation=Operation.CONNECT),
    ],
)
def test_what_is_none_of_its_business(asked: Request) -> None:
    assert image_review(asked) is None


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (ImageVerdict(allowed=True, reason="r"), ""),
        (
            ImageVerdict(),
            'pods "p" is forbidden: one or more images rejected by webhook backend',
        ),
        (
            ImageVerdict(reason="x:1 is old"),
            'pods "p" is forbidden: image policy webhook backend denied one or more images: '
            "x:1 is old",
        ),
    ],
)
def test_what_follows(verdict: ImageVerdict, text: str) -> None:
    refusal = image_opinion(about(), verdict).refusal
    assert (str(refusal) if refusal else "") == text


def test_annotations_are_kept_of_both() -> None:
    for allowed in (True, False):
        verdict = ImageVerdict(allowed=allowed, audit_annotations={"k": "v"})
        told = image_opinion(about(), verdict).audit_annotations
        assert told == {"imagepolicywebhook.image-policy.k8s.io/k": "v"}


def test_without_an_answer() -> None:
    failed_open = unanswered_opinion(about(), "why", allowed=True)
    assert failed_open.refusal is None
    key = "imagepolicywebhook.image-policy.k8s.io/failed-open"
    assert failed_open.audit_annotations == {key: "true"}
    refused = unanswered_opinion(about(), "why", allowed=False)
    assert str(refused.refusal) == 'pods "p" is forbidden: why'
