"""What a handler gets of a review."""

from __future__ import annotations

import re

import pytest

from celadon.webhook.handlers import NoObject, Request, handler_request
from celadon.webhook.reviews import decode_review
from tests.webhook.handlers.objects import deployment, review


def request(**more: object) -> Request:
    return handler_request(decode_review(review(**more)).request)  # type: ignore[arg-type]  # members of a review


def test_everything_a_review_says() -> None:
    found = request(
        subResource="status",
        requestKind={"group": "apps", "version": "v1beta1", "kind": "Deployment"},
        requestResource={"group": "apps", "version": "v1beta1", "resource": "deployments"},
        dryRun=True,
    )
    assert (found.uid, found.operation.value, found.dry_run) == ("u-1", "CREATE", True)
    assert (found.namespace, found.name, found.sub_resource) == ("shop", "web", "status")
    assert (found.kind.version, found.request_kind.version) == ("v1", "v1beta1")
    assert (found.resource.resource, found.request_resource.version) == ("deployments", "v1beta1")
    assert (found.user.name, found.user.groups) == ("alice", ("devs",))
    assert found.object == deployment()
    assert found.old_object is None
    assert found.options["kind"] == "CreateOptions"


def test_a_deletion_has_no_object_but_labels() -> None:
    old = deployment(team="a")
    old["metadata"]["annotations"] = {"x": "y"}
    found = request(operation="DELETE", object=None, oldObject=old)
    with pytest.raises(NoObject, match="DELETE has no object, see `old_object`"):
        _ = found.object
    assert (found.labels, found.annotations) == ({"team": "a"}, {"x": "y"})
    assert found.old_object == old


def test_objects_without_labels() -> None:
    assert request(object={"kind": "PodExecOptions"}).labels == {}
    assert request(object={"metadata": {"labels": None}}).labels == {}


@pytest.mark.parametrize("key", ["", "a/b", "no spaces", "x" * 64, "-a"])
def test_keys_of_annotations_that_would_be_dropped(key: str) -> None:
    text = f"^`{re.escape(key)}` is no key of an audit annotation: "
    with pytest.raises(ValueError, match=text) as refused:
        request().annotate(key, "v")
    if key.count("/") == 1 and all(key.split("/")):
        assert str(refused.value).endswith(": must not contain a slash")
