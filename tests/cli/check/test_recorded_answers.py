"""Which recorded answer is for which call."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission import ObjectWorld, Operation, Request
from celadon.admission.registration import decode_webhooks
from celadon.admission.webhooks import Call, HookSet, Reply, ValidatingPhase
from celadon.cli.check.webhook_answers import recorded_answers
from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.cli.check.hooked import configuration, record, review, webhook


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers").mkdir()


def call(name: str = "cm", namespace: str = "shop", operation: str = "CREATE") -> Call:
    """The call about a ConfigMap of the one webhook."""
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}
    request = Request(
        Operation(operation),
        GroupVersionKind("", "v1", "ConfigMap"),
        GroupVersionResource("", "v1", "configmaps"),
        name=name,
        namespace=namespace,
        object=obj,
    )
    hooks = HookSet([decode_webhooks(configuration(webhook()), mutating=False).value])
    world = ObjectWorld(implicit_namespaces=True)
    phase = ValidatingPhase(hooks, request, world, lambda: "uid-1", lambda body: body)
    return phase.calls[0]


def said(asked: Call) -> Any:
    """The message of the answer that is given, or None."""
    (reply,) = recorded_answers("answers").answer([asked])
    if not isinstance(reply, Reply):
        return reply
    return json.loads(reply.body)["response"]["status"]["message"]


def message(text: str) -> Any:
    return {"status": {"message": text}}


def test_nothing_recorded() -> None:
    assert said(call()) is None
    record("b.hooks.example.com.yaml", review(**message("other")))
    assert said(call()) is None


def test_the_longest_path_that_fits_answers() -> None:
    name = "a.hooks.example.com"
    for path in ("", "/ConfigMap", "/ConfigMap/cm", "/ConfigMap/shop/cm"):
        record(f"{name}{path}.yaml", review(**message(path)))
    assert said(call()) == "/ConfigMap/shop/cm"
    assert said(call(namespace="other")) == "/ConfigMap/cm"
    assert said(call("x")) == "/ConfigMap"
    (Path("answers") / name / "ConfigMap.yaml").unlink()
    assert said(call("x")) == ""


@pytest.mark.parametrize("path", ["/Secret", "/configmap", "/ConfigMap/shop", "/ConfigMap/x/cm"])
def test_other_paths_do_not_answer(path: str) -> None:
    record(f"a.hooks.example.com{path}.yaml", review(**message("")))
    assert said(call()) is None


def test_a_recorded_request_has_to_agree() -> None:
    kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
    full = {"uid": "1", "operation": "CREATE", "kind": kind, "namespace": "shop", "name": "cm"}
    record(
        "a.hooks.example.com.json",
        review(**message("any")),
        review(request={"operation": "DELETE"}, **message("delete")),
        review(request=full, uid="1", **message("this")),
        review(request={"operation": "CREATE"}, **message("create")),
    )
    assert said(call()) == "this"
    assert said(call("x")) == "create"
    assert said(call(operation="DELETE")) == "delete"
    assert said(call(operation="UPDATE")) == "any"


@pytest.mark.parametrize(
    ("document", "uid"),
    [
        (review(), "uid-1"),
        (review(uid="9"), "uid-1"),
        (review(uid="9", request={"uid": "9"}), "uid-1"),
        (review(uid="8", request={"uid": "9"}), "8"),
        (review(request={"uid": "9"}), None),
    ],
)
def test_the_uid_is_that_of_the_question(document: dict[str, Any], uid: str | None) -> None:
    record("a.hooks.example.com.json", document)
    (reply,) = recorded_answers("answers").answer([call()])
    assert isinstance(reply, Reply)
    assert json.loads(reply.body)["response"].get("uid") == uid


def test_a_patch_may_be_written_out() -> None:
    operations = [{"op": "add", "path": "/a", "value": 1}]
    record("a.hooks.example.com.json", review(patch=operations))
    (reply,) = recorded_answers("answers").answer([call()])
    assert isinstance(reply, Reply)
    response = json.loads(reply.body)["response"]
    assert json.loads(base64.b64decode(response["patch"])) == operations
    assert response["patchType"] == "JSONPatch"


def test_a_status_is_an_http_answer() -> None:
    status = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "no"}
    record("a.hooks.example.com.json", {**status, "code": 503})
    (reply,) = recorded_answers("answers").answer([call()])
    assert isinstance(reply, Reply)
    assert reply.code == 503
    record("a.hooks.example.com.json", status)
    (reply,) = recorded_answers("answers").answer([call()])
    assert isinstance(reply, Reply)
    assert reply.code == 500


@pytest.mark.parametrize(
    ("path", "document", "text"),
    [
        ("a/b/c/d/e.yaml", review(), "too deep a path"),
        ("a.yaml", {"apiVersion": "v1", "kind": "Pod"}, "not a Pod"),
        ("a.yaml", {**review(), "response": None}, "has no `response`"),
        ("a.yaml", {**review(), "request": 5}, "`request` is no object"),
        ("a.yaml", {"kind": "Status"}, "`apiVersion` not set"),
    ],
)
def test_what_is_no_answer(path: str, document: dict[str, Any], text: str) -> None:
    record(path, document)
    found = recorded_answers("answers")
    assert [text in problem.message for problem in found.problems] == [True]
    assert found.answers == {}


def test_no_folder() -> None:
    (problem,) = recorded_answers("nowhere").problems
    assert (problem.file, problem.message) == ("nowhere", "not a folder")
    (problem,) = recorded_answers("answers").problems
    assert "no .yaml, .yml or .json file" in problem.message


def test_answers_of_webhooks_that_are_not_there() -> None:
    record("a.hooks.example.con.yaml", review())
    (notice,) = recorded_answers("answers").unused(["a.hooks.example.com"])
    assert notice.message == (
        "there is no webhook `a.hooks.example.con` whose answer this could be, "
        "did you mean `a.hooks.example.com`?"
    )
