"""`celadon migrate --against`: recorded requests, with what the old engine said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.exit_codes import Exit
from celadon.cli.migration.engine_verdicts import refusing_rules
from tests.cli.audit.dumps import Json
from tests.cli.commands.test_migrate import AT_MOST, write
from tests.cli.commands.test_migrate_plan import TEAM, enforced, named
from tests.cli.files import run
from tests.cli.replay.events import lines
from tests.migrate.gatekeeper.gatekeeper_documents import constraint
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, rule

Capture = pytest.CaptureFixture[str]
KYVERNO = (
    "\n\nresource Pod/default/a was blocked due to the following policies \n\n"
    "other:\n  x: no\nteam:\n  autogen-r: 'validation error: a team is needed'\n"
)


@pytest.mark.parametrize(
    ("message", "rules"),
    [
        (KYVERNO, {("other", "x"), ("team", "r")}),
        ("Policy team failed: no; Policy b error: x", {("team", ""), ("b", "")}),
        ("[all] too many\n[more] no [x] in it", {("", "all"), ("", "more")}),
        ("denied by somebody", set()),
        ("x was blocked due to the following policies\n{", set()),
        ("x was blocked due to the following policies\n- a", set()),
    ],
)
def test_rules_that_a_denial_names(message: str, rules: set[tuple[str, str]]) -> None:
    assert refusing_rules(message) == rules


def logged(obj: Json, denial: str = "", webhook: str = "validate.kyverno.svc-fail") -> Json:
    """The creation of a Pod, as an audit log has it."""
    status: Json = {"code": 201}
    answer = {**obj, "metadata": {**obj["metadata"], "uid": "u"}}
    if denial:
        message = f'admission webhook "{webhook}" denied the request: {denial}'
        status = {"code": 400, "message": message}
        answer = {"kind": "Status", "apiVersion": "v1", **status}
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": obj["metadata"]["name"],
        "stage": "ResponseComplete",
        "verb": "create",
        "user": {"username": "alice"},
        "objectRef": {"resource": "pods", "namespace": "default", "apiVersion": "v1"},
        "responseStatus": status,
        "requestObject": obj,
        "responseObject": answer,
    }


def reviewed(obj: Json, denial: str = "", operation: str = "CREATE") -> Json:
    """The same as an AdmissionReview that was answered."""
    response: Json = {"uid": "u", "allowed": not denial}
    if denial:
        response["status"] = {"message": denial}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "operation": operation,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "name": obj["metadata"]["name"],
            "namespace": "default",
            "userInfo": {"username": "alice", "groups": ["dev"]},
            "object": obj,
        },
        "response": response,
    }


FORMS = {"audit-log": logged, "webhook": reviewed}


def compared(tmp_path: Path, capsys: Capture, source: str, *records: Json) -> list[Any]:
    """The report on the policy `team`, and on others of the folder."""
    folder = tmp_path / "policies"
    write(folder / "team.yaml", enforced(rule(TEAM), name="team"))
    (tmp_path / "records.json").write_text(lines(records))
    words = ("--against", source, str(tmp_path / "records.json"), "--report", "json")
    _, out, err = run(capsys, "migrate", str(folder), *words, "-o", str(tmp_path / "out"))
    assert err == ""
    found: list[Any] = json.loads(out)
    return found


@pytest.mark.parametrize("source", FORMS)
def test_requests_that_come_out_alike(source: str, tmp_path: Path, capsys: Capture) -> None:
    recorded = FORMS[source]
    records = [recorded(pod(labels={"team": "a"})), recorded(pod(), KYVERNO)]
    (team,) = compared(tmp_path, capsys, source, *records)
    assert (team["state"], team["cases"]) == ("translated", 2)


@pytest.mark.parametrize("source", FORMS)
def test_requests_that_come_out_otherwise(source: str, tmp_path: Path, capsys: Capture) -> None:
    recorded = FORMS[source]
    records = [recorded(pod(name="b")), recorded(pod(labels={"team": "a"}), KYVERNO)]
    (team,) = compared(tmp_path, capsys, source, *records)
    assert team["state"] == "differs"
    found = [(one["object"], one["expected"], one["found"]) for one in team["differences"]]
    assert found == [("Pod b", "pass", "fail"), ("Pod a", "fail", "pass")]
    assert "records.json:1" in team["differences"][0]["message"]


@pytest.mark.parametrize("source", FORMS)
def test_denials_of_others_say_nothing(source: str, tmp_path: Path, capsys: Capture) -> None:
    """Nor do they of rules that they do not name: the webhook may have stopped before."""
    recorded = FORMS[source]
    other = KYVERNO.replace("team:", "third:")
    records = [recorded(pod(), "go away"), recorded(pod(), other)]
    (team,) = compared(tmp_path, capsys, source, *records)
    assert team["cases"] == 0


def test_what_only_reports_says_nothing_of_what_went_through(
    tmp_path: Path, capsys: Capture
) -> None:
    write(tmp_path / "policies" / "soft.yaml", named(kyverno_policy(rule(TEAM)), "soft"))
    soft, team = compared(tmp_path, capsys, "audit-log", logged(pod()))
    assert (soft["cases"], team["cases"]) == (0, 1)


def test_constraints_are_told_by_their_names(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "policies"
    write(folder / "gatekeeper.yaml", AT_MOST, constraint(parameters={"most": 0}))
    denied = logged(pod(), "[all] too many", "validation.gatekeeper.sh")
    _, found = compared(tmp_path, capsys, "audit-log", denied)
    assert (found["rule"], found["state"], found["cases"]) == ("all", "translated", 1)


def test_what_cannot_be_compared_is_counted(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "team.yaml", enforced(rule(TEAM), name="team"))
    metadata = {**logged(pod()), "level": "Metadata"}
    (tmp_path / "log").write_text(lines([metadata, logged(pod(), "no"), logged(pod(), KYVERNO)]))
    words = ("--against", "audit-log", str(tmp_path / "log"), "-o", str(tmp_path / "out"))
    code, out, _ = run(capsys, "migrate", str(tmp_path / "team.yaml"), *words)
    assert code == Exit.OK
    assert "1 request compared" in out
    assert "  1 not: refused by others" in out
    assert "  1 not: the log has no objects of it (level Metadata)" in out


def test_namespaces_among_the_policies_have_their_labels(tmp_path: Path, capsys: Capture) -> None:
    selected = rule(TEAM)
    resources = selected["match"]["any"][0]["resources"]
    resources["namespaceSelector"] = {"matchLabels": {"env": "prod"}}
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"env": "prod"}},
    }
    policies = tmp_path / "policies"
    write(policies / "a.yaml", enforced(selected, name="selected"), namespace)
    denied = KYVERNO.replace("team:", "selected:")
    selecting, _ = compared(tmp_path, capsys, "webhook", reviewed(pod(), denied))
    assert (selecting["state"], selecting["cases"]) == ("translated", 1)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["x", "--against", "log", "y"], "expected audit-log, webhook or cluster"),
        (["--plan", "x", "--against", "webhook", "y"], "does not go with `--plan`"),
    ],
)
def test_wrong_use(words: list[str], text: str, capsys: Capture) -> None:
    code, _, err = run(capsys, "migrate", *words)
    assert code == Exit.USAGE
    assert text in err


OF_ANOTHER_SHAPE: list[tuple[Json, str]] = [
    ({"request": None}, "`request` must be a map, not absent"),
    ({"response": None}, "`response` must be a map, not absent"),
    ({"response": {}}, "`response.allowed` must be true or false, not absent"),
    ({"response": {"allowed": 1}}, "`response.allowed` must be true or false, not the number 1"),
    (
        {"response": {"allowed": True, "status": {"message": 1}}},
        "`response.status.message` must be text, not the number 1",
    ),
    *(
        ({"request": {name: value}}, f"`request.{name}` must be a map, not text")
        for name, value in dict.fromkeys(
            ("kind", "resource", "userInfo", "object", "oldObject"), "a"
        ).items()
    ),
    *(
        ({"request": {name: 1}}, f"`request.{name}` must be text, not the number 1")
        for name in ("operation", "name", "namespace", "subResource")
    ),
    ({"request": {"dryRun": "a"}}, "`request.dryRun` must be true or false, not text"),
    *(
        ({"request": {part: {}}}, f"`request.{part}.version` must be text, not absent")
        for part in ("kind", "resource")
    ),
    *(
        (
            {"request": {part: {"version": "v1", "group": 1}}},
            f"`request.{part}.group` must be text, not the number 1",
        )
        for part in ("kind", "resource")
    ),
    ({"request": {"kind": {"version": "v1"}}}, "`request.kind.kind` must be text, not absent"),
    (
        {"request": {"resource": {"version": "v1"}}},
        "`request.resource.resource` must be text, not absent",
    ),
    *(
        ({"request": {"userInfo": {name: 1}}}, f"`request.userInfo.{name}` must be {what}, not ")
        for name, what in (
            *(("username", "text"), ("uid", "text"), ("groups", "a list"), ("extra", "a map")),
        )
    ),
]


def test_reviews_of_another_shape(tmp_path: Path, capsys: Capture) -> None:
    """Each of them is told of, whatever the others are like."""
    records = []
    for change, _ in OF_ANOTHER_SHAPE:
        record = reviewed(pod())
        for part, members in change.items():
            is_request = part == "request" and members is not None
            record[part] = {**record[part], **members} if is_request else members
        records.append(record)
    write(tmp_path / "team.yaml", enforced(rule(TEAM), name="team"))
    (tmp_path / "r.json").write_text(lines(records))
    words = ("--against", "webhook", str(tmp_path / "r.json"), "-o", str(tmp_path / "out"))
    code, _, err = run(capsys, "migrate", str(tmp_path / "team.yaml"), *words)
    assert code == Exit.USAGE
    found = [line.partition("r.json:")[2].partition(": ")[2] for line in err.splitlines()]
    for said, (_, text) in zip(found, OF_ANOTHER_SHAPE, strict=True):
        assert said.startswith(text)
