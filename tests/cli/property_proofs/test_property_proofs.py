"""`celadon prove --property`, `--implies` and `--implied-by`: files, answers, forms, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

from celadon.cli.exit_codes import Exit
from celadon.prove import Standard
from tests.cli.files import run, write
from tests.prove.test_policy_questions import policy

HOSTS = dict(policy("!object.spec.?hostNetwork.orValue(false)"))
TIME = ("--timeout", "100")


def properties(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A file of kind PolicyProperties."""
    return {
        "apiVersion": "celadon.dev/v1",
        "kind": "PolicyProperties",
        "match": {"resources": ["pods"], "operations": ["CREATE"]},
        "properties": list(given),
        **more,
    }


PROVED = {"name": "network", "that": "!object.spec.?hostNetwork.orValue(false)"}
WRONG = {"name": "pid", "that": "!object.spec.?hostPID.orValue(false)"}
NETWORK = {"name": "network", "that": "has(object.spec.hostNetwork)"}
NAMES = "object.spec.containers.map(c, c.name).distinct().size() >= 0"
UNKNOWN = {"name": "asks", "that": NAMES}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("p.json"), HOSTS)


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """What `celadon prove` says."""
    return run(capsys, "prove", *TIME, *words, "p.json")


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (PROVED, Exit.OK, "proved: network: CREATE of Pod"),
        (WRONG, Exit.DENIED, "but this is admitted:"),
        (UNKNOWN, Exit.POLICY, "not decided: asks: CREATE of Pod: distinct"),
        ({**WRONG, "assume": "object.spec.?hostNetwork.orValue(false) == true"}, Exit.OK, "proved"),
        ({**NETWORK, "of": "refused"}, Exit.OK, "proved"),
        ({**PROVED, "match": {"resources": ["pods", "foos.example.com"], "operations": ["CREATE"]}},
         Exit.POLICY, "not decided: network: CREATE of foos: props.json:"),
        ({"name": "n", "of": "refused", "that": "request.namespace != 'x'"}, Exit.DENIED,
         "# p.json:30: p: "),
    ],
)  # fmt: skip
def test_answers(
    given: dict[str, Any], code: Exit, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("props.json"), properties(given))
    found, out, err = asked(capsys, "--property", "props.json")
    assert (found, err) == (code, "")
    assert said in out


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (properties({"name": "x", "that": "object."}), "Syntax error"),
        (properties({"name": "x"}), "has no `that`"),
        (properties({**PROVED, "off": "refused"}), "`off` is no field of"),
        (properties({**PROVED, "of": "denied"}), "must be one of admitted, refused"),
        (properties(PROVED, variables=[{"name": "v", "expression": "nonsense"}]), "undeclared"),
        ({k: v for k, v in properties(PROVED).items() if k != "match"}, "has a `match`"),
        (HOSTS, "no PolicyProperties"),
    ],
)
def test_files_that_are_not_right(
    document: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("props.json"), document)
    code, _, err = asked(capsys, "--property", "props.json")
    assert code == Exit.USAGE
    assert err.startswith("error: props.json:")
    assert said in err


@pytest.mark.parametrize("text", ["", "# later\n", "---\n"])
def test_a_file_without_properties_proves_nothing(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("props.yaml").write_text(text)
    code, _, err = asked(capsys, "--property", "props.yaml")
    assert (code, err) == (Exit.USAGE, "error: props.yaml: no PolicyProperties in this file\n")


def test_forms(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("props.json"), properties(PROVED, WRONG, UNKNOWN))
    _, out, _ = asked(capsys, "--property", "props.json", "-o", "json")
    report = json.loads(out)
    assert report["kind"] == "ProofReport"
    answers = {one["name"]: one for one in report["answers"]}
    assert {name: one["answer"] for name, one in answers.items()} == {
        "network": "proved",
        "pid": "counterexample",
        "asks": "not decided",
    }
    assert answers["pid"]["example"]["object"]["spec"]["hostPID"] is True
    assert answers["pid"]["example"]["verdict"] == "admitted"
    assert report["summary"]["exitCode"] == Exit.DENIED
    write(Path("wrong.json"), properties(WRONG))
    for form, wanted in (
        ("github", "::error file=wrong.json,line="),
        ("junit", '<failure message="counterexample'),
        ("sarif", '"ruleId": "counterexample"'),
        ("tap", "not ok"),
    ):
        code, out, _ = asked(capsys, "--property", "wrong.json", "-o", form)
        assert code == Exit.DENIED
        assert wanted in out


CHECKS = ("hostNamespaces", "sysctls")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standards that have two checks only."""
    checks = Standard.checks.fget  # type: ignore[attr-defined]

    def some(standard: Standard) -> dict[str, str]:
        return {name: text for name, text in checks(standard).items() if name in CHECKS}

    monkeypatch.setattr(Standard, "checks", property(some))


@pytest.mark.usefixtures("few")
def test_standards(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, "--implies", "pod-security/baseline:1.30", "-o", "json")
    assert code == Exit.DENIED
    answers = {
        one["name"].partition(" ")[2]: (one["operation"], one["answer"])
        for one in json.loads(out)["answers"]
    }
    assert answers == {
        "hostNamespaces": ("CREATE", "counterexample"),
        "sysctls": ("CREATE", "counterexample"),
        "pods/ephemeralcontainers": ("UPDATE", "counterexample"),
    }
    code, out, _ = asked(capsys, "--implied-by", "pod-security/baseline")
    assert code == Exit.OK
    assert "proved: pod-security/baseline:1.36: CREATE of Pod" in out


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("operations", "update"), [(("CREATE", "UPDATE"), "proved"), (("CREATE",), "counterexample")]
)
def test_a_check_that_is_enforced(
    operations: tuple[str, ...], update: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = ("hostNetwork", "hostPID", "hostIPC")
    host = " && ".join(f"!object.spec.?{one}.orValue(false)" for one in fields)
    write(Path("p.json"), dict(policy(host, operations=operations)))
    _, out, _ = asked(capsys, "--implies", "pod-security/baseline", "-o", "json")
    answers = [
        (one["operation"], one["answer"])
        for one in json.loads(out)["answers"]
        if one["name"].endswith("hostNamespaces")
    ]
    assert answers == [("CREATE", "proved"), ("UPDATE", update)]


def test_unknown_standards(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = asked(capsys, "--implies", "pod-security/strict")
    assert code == Exit.USAGE
    assert "unknown standard `pod-security/strict`" in err
