"""What happened, written into test files: only the values change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celadon.cli.policytest.snapshots import update
from tests.cli.files import binding, config_map, write
from tests.cli.policytest.given_cases import POLICY, report, written

BEFORE = """\
# A test.
apiVersion: celadon.dev/v1
kind: PolicyTest
objects:
  ok: {apiVersion: v1, kind: ConfigMap, metadata: {name: ok}, data: {x: ok}}
defaults: {object: ok}
cases:
- name: recorded anew     # why
  patch: {data: {x: no}}
  expect: snapshot        # soon
- {name: in one line, expect: snapshot}
- name: another text
  patch: {data: {x: other}}
  expect: {deny: x must be 'OK', validation: 0}   # kept
- name: a long text
  patch: {data: {x: third}}
  expect:
    verdict: deny
    message: |
      x must
      be something
    code: 422
- name: another verdict
  patch: {data: {x: fourth}}
  expect: admit
- name: a part of a text
  patch: {data: {x: fifth}}
  expect: {deny: {contains: nothing}}
"""
AFTER = (
    BEFORE.replace("expect: snapshot        # soon", 'expect: {deny: "x must be ok"}        # soon')
    .replace("{name: in one line, expect: snapshot}", "{name: in one line, expect: admit}")
    .replace("{deny: x must be 'OK', validation", '{deny: "x must be ok", validation')
    .replace("message: |\n      x must\n      be something\n", 'message: "x must be ok"\n')
)


def test_only_texts_change(tmp_path: Path) -> None:
    path = tmp_path / "limit.policytest.yaml"
    path.write_text(BEFORE.replace(" no}", " 'no'}"), encoding="utf-8")
    write(tmp_path / "limit.yaml", POLICY, binding())
    assert update(report(str(path)).tests, {}) == 4
    assert path.read_text(encoding="utf-8") == AFTER.replace(" no}", " 'no'}")
    assert [one.is_bad for one in report(str(path)).cases] == [False] * 4 + [True] * 2
    assert update(report(str(path)).tests, {}) == 0


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_json_and_line_ends(newline: str, tmp_path: Path) -> None:
    path = Path(written(tmp_path, {"patch": {"data": {"x": "no"}}, "expect": "snapshot"}))
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-8", newline=newline)
    assert update(report(str(path)).tests, {}) == 1
    assert b'"expect": {"deny": "x must be ok"}' in path.read_bytes()
    assert (b"\r\n" in path.read_bytes()) == (newline == "\r\n")
    assert json.loads(path.read_text(encoding="utf-8"))["kind"] == "PolicyTest"


def test_a_snapshot_is_a_failure_until_then(tmp_path: Path) -> None:
    path = written(tmp_path, {"object": config_map(x="ok"), "expect": "snapshot"})
    (case,) = report(path).cases
    assert case.is_bad
    assert "--update" in case.mismatches[0].expected
