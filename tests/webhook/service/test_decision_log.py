"""Lines of the decision log."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from celadon.admission import Verdict
from celadon.kube import GroupVersionKind
from celadon.webhook.review_decisions import Decider
from celadon.webhook.reviews import Review
from celadon.webhook.service.decision_log import DecisionLog, DecisionLogSettings
from tests.admission.building import request
from tests.admission.policies.mutating.altering import label, policy, rounds
from tests.webhook.service.running import rulebook

REVIEW = Review(request(uid="u"), "admission.k8s.io/v1")


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def log(path: Path, **settings: Any) -> DecisionLog:
    return DecisionLog(DecisionLogSettings(path, **settings), lambda: 1.5, lambda: 0.5)


def denied(given: DecisionLog, review: Review = REVIEW, **spec: Any) -> None:
    decider = Decider(review.request, rulebook(**spec))
    given.decided("/validate", review, decider.verdict(), 120, decider.findings)


def test_a_denial(tmp_path: Path) -> None:
    path = tmp_path / "log"
    denied(log(path))
    text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
    assert written(path) == [
        {
            "ts": "1970-01-01T00:00:01.500+00:00",
            "path": "/validate",
            "uid": "u",
            "operation": "CREATE",
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "resource": "configmaps",
            "namespace": "ns",
            "name": "c",
            "user": "admin",
            "groups": ["system:masters", "system:authenticated"],
            "dryRun": False,
            "allowed": False,
            "code": 422,
            "message": f'configmaps "c" is forbidden: {text}',
            "decisions": [
                {
                    "policy": "p",
                    "binding": "b",
                    "field": "spec.validations[0].expression",
                    "message": "no",
                    "cause": "validation",
                    "actions": ["Deny"],
                }
            ],
            "micros": 120,
        }
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_decision_says_what_its_policy_says(tmp_path: Path) -> None:
    path = tmp_path / "log"
    validation = {"expression": "false", "message": "never", "reason": "Forbidden"}
    denied(log(path), validations=[validation])
    (line,) = written(path)
    (decision,) = line["decisions"]
    assert (line["code"], decision["reason"], decision["message"]) == (403, "Forbidden", "never")


def test_plain_admissions_are_sampled_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for sample, lines in ((1.0, 1), (0.6, 1), (0.5, 0), (0.0, 0)):
        path.unlink(missing_ok=True)
        log(path, sample=sample).decided("/validate", REVIEW, Verdict(), 1)
        assert len(written(path)) == lines
    denied(log(path, sample=0.0))
    denied(log(path, sample=0.0), failurePolicy="Ignore", validations=[{"expression": "1/0 == 1"}])
    assert [(line["allowed"], line.get("failed")) for line in written(path)] == [
        (False, None),
        (True, ["p"]),
    ]


def test_mutations_are_told_and_their_failures_never_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log"
    calm = policy("calm", label("b", "string(1/0)"), failurePolicy="Ignore")
    for sample, registered in ((1.0, [policy("good", label("a")), calm]), (0.0, [calm])):
        steps = rounds(*registered)
        steps.run(REVIEW.request, 0)
        given = log(path, sample=sample)
        given.decided("/mutate", REVIEW, Verdict(), 1, mutations=steps.notes)
    field = "spec.mutations[0].applyConfiguration.expression"
    applied = {"policy": "good", "binding": "good-b", "field": field, "result": "applied"}
    both, ignored = (line["mutations"] for line in written(path))
    assert both[0] == applied
    assert both[1:] == ignored
    (failure,) = ignored
    assert "division by zero" in failure.pop("message")
    assert failure == {"policy": "calm", "binding": "calm-b", "field": field, "result": "ignored"}


def test_secrets_are_redacted(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "stringData": {"a": "hunter2"}}
    asked = request(secret, kind=GroupVersionKind("", "v1", "Secret"))
    denied(
        log(tmp_path / "log", with_objects=True),
        Review(asked, "admission.k8s.io/v1"),
        validations=[{"expression": "false", "messageExpression": "string(object.stringData.a)"}],
    )
    (line,) = written(tmp_path / "log")
    assert line["message"].endswith("denied request: [redacted]")
    assert line["decisions"][0]["message"] == "[redacted]"
    assert line["object"]["stringData"] == {"a": "[redacted]"}
    assert line["oldObject"] is None
    assert "hunter2" not in (tmp_path / "log").read_text()


def test_a_file_that_was_moved_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    given = log(path)
    denied(given)
    given.reopen_if_moved()
    path.rename(tmp_path / "old")
    denied(given)
    given.reopen_if_moved()
    denied(given)
    given.close()
    assert len(written(tmp_path / "old")) == 2
    assert len(written(path)) == 1


def test_what_cannot_be_written_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    given = log(tmp_path / "log")
    os.close(given._file)
    with caplog.at_level(logging.WARNING):
        denied(given)
        denied(given)
    assert [one.message for one in caplog.records] == ["decisions cannot be logged"]


def test_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    given = DecisionLog(DecisionLogSettings(None), lambda: 0.0, lambda: 0.0)
    denied(given, dataclasses.replace(REVIEW))
    given.reopen_if_moved()
    given.close()
    assert json.loads(capfd.readouterr().out)["uid"] == "u"


class Output(io.StringIO):
    flushes = 0

    def flush(self) -> None:
        self.flushes += 1


def test_a_log_on_the_output_is_written_out_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    output = Output()
    monkeypatch.setattr(sys, "stdout", output)
    given = DecisionLog(DecisionLogSettings(None), lambda: 1.5, lambda: 0.5)
    given.reopen_if_moved()
    given.close()
    assert output.flushes == 1


def test_a_log_that_cannot_be_opened_again_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    given = log(folder / "log")
    folder.rename(tmp_path / "old")
    given.reopen_if_moved()
    denied(given)
    given.close()
    assert len(written(tmp_path / "old" / "log")) == 1
    (record,) = caplog.records
    assert record.message == "the decision log cannot be opened"
    assert "No such file or directory" in vars(record)["celadon_fields"]["err"]
