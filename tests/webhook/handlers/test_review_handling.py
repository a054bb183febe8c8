"""What functions return and raise, as answers; all recorded reviews."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from celadon.admission.webhooks import REVIEW_VERSIONS
from celadon.kube.registry import apply_json_patch
from celadon.webhook.handlers import Denied, Request, mutate, validate
from celadon.webhook.reviews import decode_review
from celadon.webhook.webhook_app import handled
from tests.paths import shared_folder
from tests.webhook.handlers.objects import Json, deployment, patch_of, review


def validated(function: Callable[[Request], Any], document: Json | None = None) -> Any:
    handler = validate("deployments.apps", name="h")(function)
    return asyncio.run(handled(handler, decode_review(document or review())))["response"]


def mutated(function: Callable[[Request], Any], document: Json | None = None) -> Any:
    handler = mutate("deployments.apps", name="h")(function)
    return asyncio.run(handled(handler, decode_review(document or review())))["response"]


def test_allowed() -> None:
    allowed = {"uid": "u-1", "allowed": True}
    assert validated(lambda _: None) == allowed
    assert validated(lambda _: True) == allowed
    assert mutated(lambda _: None) == allowed


def test_denied() -> None:
    def raising(request: Request) -> None:
        raise Denied(f"not {request.name}", code=422)

    async def awaited(request: Request) -> Denied:
        await asyncio.sleep(0)
        return Denied(f"not {request.name}", code=422)

    for ask in (validated, mutated):
        for function in (raising, awaited):
            found = ask(function)
            assert not found["allowed"]
            assert found["status"]["message"] == "not web"
            assert (found["status"]["code"], found["status"]["reason"]) == (422, "Invalid")


def test_false_is_a_denial_with_the_docstring() -> None:
    def function(request: Request) -> bool:
        """The reason."""
        return False

    assert validated(function)["status"]["message"] == "The reason"
    assert validated(lambda _: False)["status"]["message"] == "refused by h"


def test_warnings_and_annotations_also_of_denials() -> None:
    def function(request: Request) -> bool:
        request.warn("w")
        request.annotate("key", "value")
        return False

    found = validated(function)
    assert (found["warnings"], found["auditAnnotations"]) == (["w"], {"key": "value"})


def test_changes_in_place_and_other_objects() -> None:
    def changed(request: Request) -> None:
        request.object["metadata"]["labels"]["team"] = "a"
        request.object["spec"]["tags"] = ("x", "y")

    def another(request: Request) -> Json:
        made = json.loads(json.dumps(request.object))
        made["metadata"]["labels"]["team"] = "a"
        made["spec"]["tags"] = ["x", "y"]
        return dict(made)

    for function in (changed, another):
        found = mutated(function)
        assert found["patchType"] == "JSONPatch"
        assert patch_of(found) == [
            {"op": "add", "path": "/metadata/labels/team", "value": "a"},
            {"op": "add", "path": "/spec/tags", "value": ["x", "y"]},
        ]


def test_a_denial_has_no_patch() -> None:
    def function(request: Request) -> None:
        request.object["spec"] = {}
        raise Denied("no")

    assert "patch" not in mutated(function)


def test_a_deletion_can_be_refused_but_not_changed() -> None:
    document = review(operation="DELETE", oldObject=deployment())
    document["request"]["object"] = None
    assert mutated(lambda _: None, document) == {"uid": "u-1", "allowed": True}
    with pytest.raises(
        TypeError, match=r"^handler `h` returned an object for DELETE, which has none$"
    ):
        mutated(lambda request: request.old_object, document)


@pytest.mark.parametrize("result", [1, "no", {}, []])
def test_what_is_no_verdict(result: object) -> None:
    text = f"handler `h` returned {type(result).__name__}: a validating function returns true, "
    with pytest.raises(TypeError, match=f"^{text}false, a denial, or nothing$"):
        validated(lambda _: result)


@pytest.mark.parametrize("result", [True, "no", []])
def test_what_is_no_object(result: object) -> None:
    text = f"handler `h` returned {type(result).__name__}: a mutating function returns an object, "
    with pytest.raises(TypeError, match=f"^{text}a denial, or nothing$"):
        mutated(lambda _: result)


def test_what_is_no_json() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        mutated(lambda request: {**request.object, "x": object()})
    with pytest.raises(ValueError, match="Out of range float"):
        mutated(lambda request: {**request.object, "x": float("nan")})


@pytest.mark.parametrize("version", REVIEW_VERSIONS)
def test_the_answer_is_in_the_version_of_the_question(version: str) -> None:
    handler = validate("pods", name="h")(lambda _: None)
    document = {**review(), "apiVersion": version}
    found = asyncio.run(handled(handler, decode_review(document)))
    assert (found["apiVersion"], found["kind"]) == (version, "AdmissionReview")


def test_recorded_reviews() -> None:
    paths = sorted((shared_folder() / "conformance" / "admissionreview").glob("*.json"))
    assert paths

    def labelled(request: Request) -> None:
        if request.given is not None:
            request.object.setdefault("metadata", {}).setdefault("labels", {})["a/b~c"] = "x"

    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))["review"]
        assert validated(lambda _: None, document)["allowed"], path
        before = document["request"]["object"]
        found = mutated(labelled, json.loads(json.dumps(document)))
        if before is None:
            assert "patch" not in found
        else:
            after = apply_json_patch(before, patch_of(found))
            assert after["metadata"]["labels"]["a/b~c"] == "x", path
