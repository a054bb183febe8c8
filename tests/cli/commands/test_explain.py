"""`celadon explain`, from its arguments to what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser import needs_browser, seen
from tests.cli.files import Json, config_map, run, write

POLICY: dict[str, Any] = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "few-keys"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE", "DELETE"],
                    "resources": ["configmaps"],
                }
            ]
        },
        "variables": [{"name": "most", "expression": "2"}, {"name": "idle", "expression": "1"}],
        "validations": [
            {"expression": "size(object.data) <= variables.most && !has(object.immutable)"},
            {"expression": "object.data.all(key, key.startsWith('a') || object.data[key] == '')"},
            {"expression": "object.binaryData.x == oldObject.binaryData.x"},
        ],
    },
}
BINDING: dict[str, Any] = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "everywhere"},
    "spec": {"policyName": "few-keys", "validationActions": ["Deny"]},
}
OBJECT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "ns"},
    "data": {"a1": "x", "b2": "<script>alert(1)</script>", "c3": ""},
}
TEXT = """\
ConfigMap ns/c: denied
  CREATE v1 configmaps, by admin
  OBJECT:1
  answer: 422 configmaps "c" is forbidden: ValidatingAdmissionPolicy 'few-keys' with binding
      'everywhere' denied request: failed expression: size(object.data) <= variables.most &&
      !has(object.immutable)
  ValidatingAdmissionPolicy few-keys: failurePolicy Fail
    matches: yes, as configmaps v1
      resourceRules[0]: covers configmaps v1
    binding everywhere: Deny
      matches: yes, as configmaps v1
      variables.most: 2, cost 0
        2
      variables.idle: never needed
        1
      validations[0]: false, cost 6
        failed expression: size(object.data) <= variables.most && !has(object.immutable)
        the binding says Deny
        size(object.data) <= variables.most && !has(object.immutable)
        |    |      |     |  |         |    |  |
        3    |      |     |  |         2    |  not evaluated
             |      |     |  {"most": 2}    false
             |      |     false
             |      {3 keys}
             {4 keys}
      validations[1]: false, cost 18
        failed expression: object.data.all(key, key.startsWith('a') || object.data[key] == '')
        the binding says Deny
        object.data.all(key, key.startsWith('a') || object.data[key] == '')
        |      |    |
        |      |    false
        |      {3 keys}
        {4 keys}
        2 rounds of object.data.all(key, key.startsWith('a') || object.data[key…
          1: key = "a1"
            key.startsWith('a') || object.data[key] == ''
            |   |               |                   |
            |   true            true                not evaluated
            "a1"
          2: key = "b2"
            key.startsWith('a') || object.data[key] == ''
            |   |               |  |      |   ||    |
            |   false           |  |      |   |"b2" false
            "b2"                |  |      |   "<script>alert(1)</script>"
                                |  |      {3 keys}
                                |  {4 keys}
                                false
      validations[2]: error, cost 5
        expression 'object.binaryData.x == oldObject.binaryData.x' resulted in error: no such key:
            binaryData (counts as a denial: failurePolicy Fail)
        the binding says Deny
        object.binaryData.x == oldObject.binaryData.x
        |      |               |         |
        |      |               null      error: no such key: binaryData
        |      error: no such key: binaryData
        {4 keys}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    policies, wanted = tmp_path / "policies.json", tmp_path / "object.json"
    items = {"apiVersion": "v1", "kind": "List", "items": [POLICY, BINDING]}
    policies.write_text(json.dumps(items))
    wanted.write_text(json.dumps(OBJECT))
    return "-f", str(policies), str(wanted)


def test_text(files: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "explain", *files)
    assert (code, err) == (3, "")  # of the validation that fails
    assert out.replace(files[2], "OBJECT").startswith(TEXT)
    assert max(map(len, out.splitlines())) <= 100


def test_excluded_rules_are_shown_by_their_field(
    files: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = POLICY["spec"]["matchConstraints"]["resourceRules"][0]
    constraints = {"resourceRules": [rule], "excludeResourceRules": [rule]}
    excluding = {**POLICY, "spec": {**POLICY["spec"], "matchConstraints": constraints}}
    path = write(tmp_path / "excluding.json", excluding, BINDING)
    _, out, _ = run(capsys, "explain", "-f", path, files[2])
    assert "      excludeResourceRules[0]: covers configmaps v1\n" in out


def test_errors_are_shown_where_they_came_up(
    files: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "explain", *files)
    shown = out[out.index("validations[2]: error") :].splitlines()
    expression = next(i for i, line in enumerate(shown) if line.strip().startswith("object.bin"))
    column = shown[expression].index("binaryData")
    rows = shown[expression + 2 : expression + 6]
    assert any(row[column:].startswith("error: no such key: binaryData") for row in rows)
    assert "failurePolicy Fail" in " ".join(shown[:expression])


def test_colours(files: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "explain", *files, "--no-color")
    assert "\x1b" not in out


def test_json(files: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", *files, "-o", "json")
    (found,) = json.loads(out)["objects"]
    assert (code, found["verdict"], found["code"]) == (3, "denied", 422)
    (policy,) = found["validating"]["policies"]
    (case,) = policy["bindings"][0]["cases"]
    first = case["validations"][0]
    assert first["decision"]["action"] == "deny"
    assert first["run"]["value"] == "false"
    whole = first["run"]["parts"][0]
    assert whole["text"] == "size(object.data) <= variables.most && !has(object.immutable)"
    left, right = whole["parts"]
    assert (left["value"], right["evaluated"]) == ("false", False)
    (loop,) = case["validations"][1]["run"]["loops"]
    assert [one["variables"] for one in loop["rounds"]] == [{"key": '"a1"'}, {"key": '"b2"'}]
    assert case["budgets"][0]["limit"] == 10_000_000
    assert [len(one.get("runs", ())) for one in case["variables"]] == [1, 0]


def test_only(files: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**OBJECT, "metadata": {"name": "d", "namespace": "ns"}}))
    for only in ("2", "d", "ConfigMap ns/d"):
        _, out, _ = run(capsys, "explain", *files, str(other), "--only", only, "-o", "json")
        assert [one["object"] for one in json.loads(out)["objects"]] == ["ConfigMap ns/d"]
    code, _, err = run(capsys, "explain", *files, "--only", "nobody")
    assert code == 2
    assert "there is no such object to explain in `" in err


def review(**request: Any) -> dict[str, Any]:
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "operation": "CREATE",
            "namespace": "ns",
            "userInfo": {"username": "alice"},
            "object": OBJECT,
            **request,
        },
    }


def event(verb: str, **members: Any) -> dict[str, Any]:
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Event",
        "verb": verb,
        "user": {"username": "alice"},
        "objectRef": {"resource": "configmaps", "namespace": "ns", "name": "c"},
        **members,
    }


@pytest.mark.parametrize(
    ("record", "operation"),
    [
        (review(), "CREATE"),
        (review(operation="UPDATE", oldObject=OBJECT), "UPDATE"),
        (review(operation="DELETE", object=None, oldObject=OBJECT), "DELETE"),
        (event("create", requestObject=OBJECT), "CREATE"),
    ],
)
def test_recorded_requests(
    record: dict[str, Any],
    operation: str,
    files: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    code, out, err = run(capsys, "explain", *files[:2], "--from", str(path), "-o", "json")
    assert (code, err) == (3, "")  # of the validation that fails
    (found,) = json.loads(out)["objects"]
    assert found["object"] == "ConfigMap ns/c"
    assert found["request"]["operation"] == operation
    assert found["request"]["user"] == "alice"


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        (
            event("update", requestObject=OBJECT),
            "the old object is not in the record: give it with `--old`",
        ),
        (
            event("patch", requestObject=[]),
            "the object is not in the record: record responses, or give it with `--old`",
        ),
        (
            event("delete"),
            "the object is not in the record: record responses, or give it with `--old`",
        ),
        (event("get"), "no policy sees the verb `get`"),
        (event("create", user={"groups": 5}), "`user.groups` must be a list, not the number 5"),
        (event("create", user={"extra": [1]}), "`user.extra` must be a map, not a list"),
        (
            event("create", requestObject={**OBJECT, "metadata": []}),
            "`metadata` must be a map, not a list",
        ),
        (review(operation="READ"), "the review has no operation"),
        (OBJECT, "holds no AdmissionReview and no audit Event"),
    ],
)
def test_records_that_do_not_say_enough(
    record: dict[str, Any],
    complaint: str,
    files: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    code, _, err = run(capsys, "explain", *files[:2], "--from", str(path))
    assert code == 2
    assert err.endswith(f"{complaint}\n  see `celadon explain --help`\n")


def test_records_and_old_objects(
    files: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(event("update", requestObject=OBJECT)))
    words = (*files[:2], "--from", str(path), "--old", files[2], "-o", "json")
    code, out, _ = run(capsys, "explain", *words)
    assert code == 3
    assert json.loads(out)["objects"][0]["request"]["operation"] == "UPDATE"
    code, _, err = run(capsys, "explain", *files, "--from", str(path))
    assert code == 2
    assert "give one or the other" in err


def test_pages_ask_for_nothing_and_run_nothing(
    files: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "explain", *files, "-o", "html")
    assert "<script" not in out
    assert "&lt;script&gt;" in out
    assert "http" not in out.replace("http-equiv", "")
    assert "default-src 'none'" in out


@pytest.mark.thorough
@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_pages_in_a_browser(
    dark: bool, files: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "explain", *files, "-o", "html")
    found = seen(out, tmp_path, dark=dark)
    assert "CONSOLE" not in found.log
    assert found.document.count("<details") == out.count("<details")
    assert "few-keys" in found.document
    assert found.picture.stat().st_size > 20_000


def _hook(name: str, kind: str, expression: str) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{name}.example.com",
                "clientConfig": {"url": "https://example.com/"},
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["configmaps"],
                    }
                ],
                "matchConditions": [{"name": "asks", "expression": expression}],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
        ],
    }


def test_match_conditions_of_webhooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = write(
        tmp_path / "hooks.yaml",
        _hook("first", "Mutating", "object.data.x == 'ok'"),
        _hook("second", "Validating", "object.data.x != 'ok'"),
    )
    about = write(tmp_path / "cm.yaml", config_map(x="ok"))
    _, out, _ = run(capsys, "explain", "-f", given, about)
    lines = [line.strip() for line in out.splitlines()]
    assert "mutating webhook first.example.com: gets the request" in lines
    assert "validating webhook second.example.com: does not get the request" in lines
    assert "matchConditions[0] `asks`: false" in lines
    _, out, _ = run(capsys, "explain", "-f", given, about, "-o", "json")
    (found,) = json.loads(out)["objects"]
    (first,), (second,) = found["mutatingWebhooks"], found["validatingWebhooks"]
    assert (first["asked"], first["configuration"], first["failurePolicy"]) == (
        True,
        "first",
        "Fail",
    )
    assert second["matchConditions"][0]["text"] == "object.data.x != 'ok'"
