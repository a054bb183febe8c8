"""What `celadon check` says of fields that a kind does not have, or that a document has twice.

The texts themselves are compared with a server's in tests/recorded/test_check.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.files import binding, config_map, policy, run, write

YAML = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  lables: {x: y}
data:
  k: v
  k: w
"""
ITEMS = """\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
  data: {k: v,
    k: w}
"""
HEAD = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def report(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, "check", "-o", "json", *words)[1])


def test_strict_is_what_kubectl_asks_for(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(YAML)
    code, out, err = run(capsys, "check", "-q", "a.yaml")
    assert (code, err) == (1, "")
    assert out == (
        f"invalid: {HEAD}yaml: unmarshal errors:\n"
        '    line 8: key "k" already set in map, unknown field "metadata.lables"\n'
        "  field   a.yaml:8  k\n"
        "  field   a.yaml:5  metadata.lables, did you mean `labels`?\n"
        "  object  a.yaml:1  ConfigMap default/a\n"
    )


def test_warn_and_ignore(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(YAML)
    said = ['line 8: key "k" already set in map', 'unknown field "metadata.lables"']
    for option, warnings in (("Warn", said), ("warn", said), ("Ignore", [])):
        (found,) = report(capsys, "--field-validation", option, "a.yaml")["objects"]
        assert found.get("warnings", []) == warnings
        assert found["code"] == 200


def test_what_is_refused_all_the_same_is_warned_about(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Path("a.json"), config_map("Not A Name") | {"dat": {}})
    (found,) = report(capsys, "--field-validation", "Warn", path)["objects"]
    assert found["code"] == 422
    assert found["warnings"] == ['unknown field "dat"']


def test_json_is_read_as_a_server_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    text = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},\n%s}'
    Path("a.json").write_text(text % '"x": 1, "data": {"a": "1"},\n"data": {"b": "2"}')
    (found,) = report(capsys, "a.json")["objects"]
    assert found["message"] == f'{HEAD}unknown field "x", duplicate field "data"'
    assert [(one["line"], one["field"]) for one in found["faults"]] == [(2, "x"), (3, "data")]


def test_of_a_list_only_the_item_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(ITEMS)
    good, bad = report(capsys, "a.yaml")["objects"]
    assert good["code"] == 200
    assert bad["faults"] == [
        {"file": "a.yaml", "line": 9, "field": "k", "message": 'key "k" already set in map'}
    ]
    twice = '{"a": "1", "a": "2"}'
    items = [json.dumps(config_map(name)) for name in "xyz"]
    items[1] = items[1].replace("{}", twice)
    listed = f'{{"apiVersion": "v1", "kind": "List", "items": [{",".join(items)}]}}'
    Path("b.json").write_text(listed)
    codes = [one["code"] for one in report(capsys, "b.json")["objects"]]
    assert codes == [200, 400, 200]


def test_an_update(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(YAML)
    old = write(Path("old.json"), config_map("a"))
    words = ("--operation", "UPDATE", "--old", old)
    assert report(capsys, *words, "a.yaml")["objects"][0]["code"] == 400
    warned = report(capsys, *words, "--field-validation", "Warn", "a.yaml")["objects"][0]
    assert len(warned["warnings"]) == 2
    deleted = report(capsys, "--operation", "DELETE", write(Path("b.json"), config_map("b")))
    assert deleted["objects"][0]["code"] == 200


def test_policies_see_what_kubectl_asks_for(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.json"), policy(expression="request.options.fieldValidation == 'Warn'"), binding())
    path = write(Path("a.json"), config_map())
    assert run(capsys, "check", "-q", "-f", "p.json", path)[0] == 1
    assert run(capsys, "check", "-q", "-f", "p.json", "--field-validation", "Warn", path)[0] == 0


def test_what_is_looked_up_is_what_a_cluster_can_have(capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "x"}, "spek": {}}
    path, given = write(Path("a.json"), config_map()), write(Path("limits.json"), limits)
    found = report(capsys, "-f", given, path)
    assert [one["message"] for one in found["problems"]] == [
        'LimitRange in version "v1" cannot be handled as a LimitRange: strict decoding error: '
        'unknown field "spek"'
    ]
    assert report(capsys, "-f", given, "--field-validation", "Ignore", path)["problems"] == []
    limits["metadata"] = {"name": "x", "uid": "1"}  # read from a cluster, perhaps a newer one
    assert report(capsys, "-f", write(Path("limits.json"), limits), path)["problems"] == []


def test_keys_that_occur_twice_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(YAML)
    found = report(capsys, "-f", "a.yaml", write(Path("b.json"), config_map()))
    assert found["problems"] == [
        {"file": "a.yaml", "line": 8, "message": 'key "k" already set in map'}
    ]


def test_merged_keys_may_be_overridden(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: &l {x: v, z: '1'},\n"
        "  annotations: {<<: *l, x: w}}\ndata: {b: c}\n"
    )
    assert run(capsys, "check", "-q", "a.yaml")[0] == 0


def test_without_validation_or_defaults_nothing_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(Path("a.json"), config_map() | {"dat": {}})
    assert run(capsys, "check", "-q", path)[0] == 1
    for option in ("--no-validation", "--no-defaulting"):
        assert run(capsys, "check", "-q", option, path)[0] == 0
