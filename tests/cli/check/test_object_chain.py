"""`celadon check` with webhooks whose answers were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.check.hooked import configuration, record, review, webhook
from tests.cli.files import Json, binding, config_map, policy, run, write

A, B = "a.hooks.example.com", "b.hooks.example.com"
DENIED: Json = {"allowed": False, "status": {"message": "no", "reason": "Forbidden", "code": 403}}
SET = [{"op": "add", "path": "/data", "value": {"x": "ok"}}]
STATUS = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "broken"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers").mkdir()
    write(Path("object.json"), config_map("cm"))


def given(*documents: Json) -> None:
    """What is in the cluster."""
    write(Path("cluster.json"), *documents)


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    """Exit code and the one object of the report."""
    code, out, err = run(capsys, "check", "-f", "cluster.json", "object.json", "-o", "json", *words)
    assert out, err
    return code, json.loads(out)["objects"][0]


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    return checked(capsys, "--webhook-answers", "answers", *words)


def outcomes(found: Json) -> list[tuple[str, str]]:
    return [(call["webhook"], call["outcome"]) for call in found["webhooks"]]


def test_webhooks_are_named_and_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    given(
        configuration(webhook(), name="m", kind="Mutating"),
        configuration(webhook(B), webhook("pods.hooks.example.com", rules=[])),
        policy(expression="true"),
        binding(),
    )
    write(Path("object.json"), config_map("cm", x="ok"))
    code, found = checked(capsys)
    assert code == 0
    assert (found["verdict"], found.get("allowed"), found.get("code")) == ("unasked", None, None)
    assert found["webhooks"] == [
        {
            "configuration": "m",
            "webhook": A,
            "type": "mutating",
            "outcome": "not asked",
            "place": {"file": "cluster.json", "line": 8},
        },
        {
            "configuration": "hooks",
            "webhook": B,
            "type": "validating",
            "outcome": "not asked",
            "place": {"file": "cluster.json", "line": 43},
        },
    ]
    assert "auditAnnotations" not in found
    assert checked(capsys, "--strict")[0] == 3


def test_the_table_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook()))
    write(Path("object.json"), config_map("cm"), config_map("other"))
    code, out, _ = run(capsys, "check", "-f", "cluster.json", "object.json")
    assert code == 0
    assert out == (
        f"notice: cluster.json:8: webhook `{A}` was not asked about ConfigMap default/cm and 1 "
        "more\n"
        "  give answers with `--webhook-answers`, or ask with `--call-webhooks`\n\n"
        "VERDICT  OBJECT                   POLICIES  FILE\n"
        "unasked  ConfigMap default/cm            0  object.json:1\n"
        f"  validating webhook {A}: not asked  cluster.json:8\n"
        "unasked  ConfigMap default/other         0  object.json:10\n"
        f"  validating webhook {A}: not asked  cluster.json:8\n\n"
        "admission plugins not fully asked: ResourceQuota (namespace `default` is not given)\n"
        "2 objects: 0 admitted, 0 denied, 2 up to webhooks that were not asked "
        "(0 policies, 0 bindings, 1 webhook)\n"
    )


def test_an_answer_that_is_missing_where_answers_are_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given(configuration(webhook(), webhook(B)))
    record(f"{A}.json", review())
    code, found = asked(capsys)
    assert code == 3
    assert found["verdict"] == "unasked"
    assert outcomes(found) == [(A, "allowed"), (B, "not asked")]


def test_answers_decide(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook(), webhook(B)))
    record(f"{A}.json", review(warnings=["w"], auditAnnotations={"k": "v"}))
    record(f"{B}.json", review(**DENIED))
    code, found = asked(capsys)
    assert code == 1
    assert (found["verdict"], found["code"]) == ("denied", 403)
    assert found["message"] == f'admission webhook "{B}" denied the request: no'
    assert found["status"]["reason"] == "Forbidden"
    assert found["warnings"] == ["w"]
    assert found["auditAnnotations"] == {f"{A}/k": "v"}
    assert outcomes(found) == [(A, "allowed"), (B, "denied")]
    assert found["webhooks"][0]["warnings"] == ["w"]
    assert found["webhooks"][1]["message"] == found["message"]
    record(f"{B}.json", review())
    code, found = asked(capsys)
    assert (code, found["verdict"], found["allowed"]) == (0, "warned", True)


def test_policies_see_what_mutating_webhooks_have_made(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook(), kind="Mutating"), policy(), binding())
    record(f"{A}.json", review(patch=SET))
    code, found = asked(capsys)
    assert (code, found["verdict"]) == (0, "admitted")
    assert outcomes(found) == [(A, "changed")]
    assert found["webhooks"][0]["patch"] == SET
    assert json.loads(found["auditAnnotations"].popitem()[1])["mutated"] is True
    record(f"{A}.json", review(patch=[{**SET[0], "value": {"x": "no"}}]))
    code, found = asked(capsys)
    assert (code, found["verdict"]) == (1, "denied")


def test_validating_webhooks_are_not_called_for_what_a_policy_denies(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given(configuration(webhook()), policy(expression="false"), binding())
    _, found = asked(capsys)
    assert found["verdict"] == "denied"
    assert "webhooks" not in found


def test_each_mutating_webhook_sees_what_the_one_before_has_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    labelled = {"matchLabels": {"team": "a"}}
    given(
        configuration(webhook(), webhook(B, objectSelector=labelled), kind="Mutating"),
        configuration(webhook("v.hooks.example.com", objectSelector=labelled)),
    )
    record("v.hooks.example.com.json", review())
    _, found = asked(capsys)
    assert outcomes(found) == [(A, "not asked")]
    label = [{"op": "add", "path": "/metadata/labels", "value": {"team": "a"}}]
    record(f"{A}.json", review(patch=label))
    record(f"{B}.json", review(patch=SET))
    _, found = asked(capsys)
    assert outcomes(found) == [(A, "changed"), (B, "changed"), ("v.hooks.example.com", "allowed")]


def test_webhooks_are_reinvoked(capsys: pytest.CaptureFixture[str]) -> None:
    first = webhook(A, reinvocationPolicy="IfNeeded")
    given(configuration(first, webhook(B), kind="Mutating"))
    record(f"{A}.json", review())
    record(f"{B}.json", review(patch=SET))
    _, found = asked(capsys)
    assert outcomes(found) == [(A, "allowed"), (B, "changed"), (A, "allowed")]
    assert [call.get("reinvoked") for call in found["webhooks"]] == [None, None, True]


def test_a_mutating_webhook_denies(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook(), kind="Mutating"), policy(expression="false"), binding())
    record(f"{A}.json", review(**DENIED))
    code, found = asked(capsys)
    assert (code, found["code"]) == (1, 403)
    assert found["message"] == f'admission webhook "{A}" denied the request: no'


def test_what_a_webhook_makes_is_validated(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook(), kind="Mutating"))
    bad = [{"op": "add", "path": "/data", "value": {"not a key!": "x"}}]
    record(f"{A}.json", review(patch=bad))
    code, found = asked(capsys)
    assert (code, found["verdict"], found["code"]) == (1, "invalid", 422)
    record(f"{A}.json", review(patch=[{"op": "remove", "path": "/nope"}]))
    code, found = asked(capsys)
    assert (code, found["code"]) == (3, 500)
    assert "Unable to remove nonexistent key: nope" in found["message"]


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_calls_that_fail(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    record(f"{A}.json", {**STATUS, "code": 503})
    given(configuration(webhook(), kind=kind))
    code, found = asked(capsys)
    assert (code, found["code"], outcomes(found)) == (3, 500, [(A, "failed")])
    assert found["message"] == (
        f'Internal error occurred: failed calling webhook "{A}": failed to call webhook: broken'
    )
    given(configuration(webhook(failurePolicy="Ignore"), kind=kind))
    code, found = asked(capsys)
    assert (code, found["verdict"], outcomes(found)) == (0, "admitted", [(A, "ignored")])
    assert any("failed-open" in key for key in found["auditAnnotations"])
    assert asked(capsys, "--strict")[0] == 3


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_what_is_decided_without_asking(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    given(configuration(webhook(sideEffects="NoneOnDryRun"), kind=kind))
    assert checked(capsys, "--dry-run")[1]["verdict"] == "unasked"
    condition = {"name": "c", "expression": "object.nope == 1"}
    given(configuration(webhook(matchConditions=[condition]), kind=kind))
    code, found = checked(capsys)
    assert (code, found["code"]) == (1, 403)
    assert "no such key: nope" in found["message"]


def test_operations_without_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook(), kind="Mutating"), configuration(webhook(B)))
    record(f"{A}.json", review(patch=SET))
    record(f"{B}/ConfigMap/cm.json", review(request={"operation": "DELETE"}))
    code, found = asked(capsys, "--operation", "DELETE")
    assert (code, found["code"]) == (3, 500)
    assert "attempted to modify the object, which is not supported" in found["message"]
    record(f"{A}.json", review())
    assert asked(capsys, "--operation", "DELETE")[1]["verdict"] == "admitted"


def test_updates(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("old.json"), config_map("cm", x="ok", y="1"))
    given(configuration(webhook(), kind="Mutating"), policy(), binding())
    record(f"{A}.json", review(patch=SET))
    code, found = asked(capsys, "--operation", "UPDATE", "--old", "old.json")
    assert (code, found["verdict"], outcomes(found)) == (0, "admitted", [(A, "changed")])


def test_without_defaulting(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook(), kind="Mutating"), policy(), binding())
    record(f"{A}.json", review(patch=SET))
    code, found = asked(capsys, "--no-defaulting")
    assert (code, found["verdict"]) == (0, "admitted")


def test_the_order_of_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    given(
        configuration(webhook(), kind="Mutating"),
        configuration(webhook(B)),
        policy(),
        binding(actions="Warn"),
    )
    write(Path("object.json"), config_map("cm", x="no"))
    record(f"{A}.json", review(warnings=["first", "both"]))
    record(f"{B}.json", review(warnings=["both", "last"]))
    _, found = asked(capsys)
    first, both, middle, last = found["warnings"]
    assert (first, both, last) == ("first", "both", "last")
    assert middle.startswith("Validation failed for ValidatingAdmissionPolicy 'limit'")
    assert asked(capsys, "--fail-on", "warn")[0] == 1


def test_a_configuration_the_server_would_not_accept(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook("short")))
    code, out, _ = run(capsys, "check", "-f", "cluster.json", "object.json")
    assert code == 3
    assert 'ValidatingWebhookConfiguration.admissionregistration.k8s.io "hooks" is invalid' in out
    assert "  webhook cluster.json:9\n" in out


def test_the_other_formats(capsys: pytest.CaptureFixture[str]) -> None:
    given(configuration(webhook()))
    words = ("check", "-f", "cluster.json", "object.json", "--webhook-answers", "answers")
    record(f"{B}.json", review())
    _, out, _ = run(capsys, *words, "-o", "junit")
    assert f'<error message="webhooks not asked: {A}">' in out
    record(f"{A}.json", review(**DENIED))
    _, out, _ = run(capsys, *words, "-o", "junit")
    assert "webhook: cluster.json:8 hooks" in out
    _, out, _ = run(capsys, *words, "-o", "github")
    assert "denied the request: no%0Awebhook: cluster.json:8\n" in out
    assert "title=answer-unused::there is no webhook `b.hooks.example.com`" in out
    _, out, _ = run(capsys, *words)
    assert "  webhook cluster.json:8  hooks\n  object  object.json:1" in out
    given(configuration(webhook(), kind="Mutating"))
    record(f"{A}.json", review(patch=SET))
    _, out, _ = run(capsys, *words, "-v")
    assert '    patch {"op": "add", "path": "/data", "value": {"x": "ok"}}\n' in out
    _, out, _ = run(capsys, *words[:4], "-o", "junit")
    assert f'<skipped message="webhooks not asked: {A}"/>' in out
