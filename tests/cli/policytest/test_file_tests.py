"""Test files: what they may say, and what is said of those that say it wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.cli.policytest.importers.foreign_formats import given_tests
from tests.cli.files import Json, binding, config_map, policy, write
from tests.cli.policytest.given_cases import report, written

HEAD = "apiVersion: celadon.dev/v1\nkind: PolicyTest\n"
CASE = "cases:\n- name: one\n  object: ok\n  expect: admit\n"
OBJECTS = "objects:\n  ok: {apiVersion: v1, kind: ConfigMap, metadata: {name: ok}}\n"

WRONG: dict[str, tuple[str, str]] = {
    "a field": (f"{HEAD}case: []\n{CASE}", "3:1: no field `case`"),
    "a field of a case": (
        f"{HEAD}{OBJECTS}{CASE}  operaton: UPDATE\n",
        "9:3: `operaton` is no field of `cases[0]`, did you mean `operation`?",
    ),
    "a word": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: one, object: ok, expect: deni}}\n",
        "6:27: `cases[0].expect` must be one of admit, deny, warn, audit, error, noMatch, invalid, "
        "snapshot, did you mean `deny`?",
    ),
    "a version that YAML takes for a number": (
        f"{HEAD}kubernetesVersions: [1.30]\n{OBJECTS}{CASE}",
        "3:22: `kubernetesVersions[0]` must be text, not the number 1.3 (YAML reads it as a number",
    ),
    "a version that is none": (
        f"{HEAD}kubernetesVersions: ['1.29']\n{OBJECTS}{CASE}",
        "3:22: unknown version `1.29`, expected 1.30 to 1.37",
    ),
    "no name": (
        f"{HEAD}{OBJECTS}cases:\n- object: ok\n  expect: admit\n",
        "6:3: `cases[0]` has no `name`",
    ),
    "no cases": (HEAD, "1:1: `cases` not set"),
    "an operation": (
        f"{HEAD}{OBJECTS}{CASE}  operation: Create\n",
        "9:3: `cases[0].operation` must be one of CREATE, UPDATE, DELETE, CONNECT, did you mean",
    ),
    "another version of the format": (
        f"{HEAD.replace('v1', 'v2')}{CASE}",
        "1:1: `apiVersion` must be `celadon.dev/v1`",
    ),
    "a list": (f"{HEAD}cases: {{}}\n", "3:1: `cases` must be a list, not a map"),
    "an object": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: one, object: okay, expect: admit}}\n",
        "6:15: no file `okay`, and no object of this name among `objects`, did you mean `ok`?",
    ),
    "a base": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: one, object: {{base: okk}}, expect: admit}}\n",
        "no object `okk` among `objects`, did you mean `ok`?",
    ),
    "a base and a file": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: one, object: {{base: ok, file: x}}, expect: admit}}\n",
        "either `base` or `file` is needed",
    ),
    "a field of an object": (
        f"{HEAD}{OBJECTS}cases: [{{name: a, object: {{base: ok, pach: {{}}}}, expect: admit}}]\n",
        "`pach` is no field of `cases[0].object`, did you mean `patch`?",
    ),
    "no object": (
        f"{HEAD}cases:\n- {{name: one, expect: admit}}\n",
        "4:3: no `object`, neither here nor in `defaults`",
    ),
    "an UPDATE of nothing": (
        f"{HEAD}{OBJECTS}{CASE}  operation: UPDATE\n",
        "6:3: an UPDATE needs an `oldObject`, or a `patch` on the `object`",
    ),
    "a patch that does not apply": (
        f"{HEAD}{OBJECTS}{CASE}  patch: [{{op: remove, path: /data/x}}]\n",
        "9:3: the patch does not apply: ",
    ),
    "a patch that leaves no object": (
        f"{HEAD}{OBJECTS}{CASE}  patch: {{kind: null}}\n",
        "9:3: the patch leaves no object with `apiVersion` and `kind`",
    ),
    "two verdicts": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: one, object: ok, expect: {{deny: a, warn: b}}}}\n",
        "more than one verdict",
    ),
    "no verdict": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: one, object: ok, expect: {{code: 403}}}}\n",
        "no `verdict`",
    ),
    "a device": (
        f"{HEAD}policies: [/dev/null]\n{OBJECTS}{CASE}",
        "3:12: `/dev/null`: a pipe or a device, not a file",
    ),
    "two messages": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: a, object: ok, expect: {{deny: a, message: b}}}}\n",
        "the message stands at `deny` already",
    ),
    "a pattern": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: a, object: ok, expect: {{deny: {{matches: '('}}}}}}\n",
        "not a regular expression of RE2: ",
    ),
    "a text match": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: a, object: ok, expect: {{deny: {{match: x}}}}}}\n",
        "`match` is no field of `cases[0].expect.deny`, did you mean `matches`?",
    ),
    "a merge patch to compare": (
        f"{HEAD}{OBJECTS}cases:\n- {{name: a, object: ok, expect: {{patch: {{}}}}}}\n",
        "a JSON patch is expected here",
    ),
    "two cases of one name": (
        f"{HEAD}{OBJECTS}{CASE}{CASE.removeprefix('cases:')[1:]}",
        "9:3: a case `one` is there already, in line 6",
    ),
    "metadata of an object": (
        f"{HEAD}objects:\n  ok: {{apiVersion: v1, kind: Pod, metadata: {{name: 3}}}}\n{CASE}",
        "4: `metadata.name` must be text, not the number 3",
    ),
    "a file that is not there": (
        f"{HEAD}resources: [nothing.yaml]\n{OBJECTS}{CASE}",
        "`nothing.yaml`: cannot be read: no such file or directory",
    ),
    "an object on top of itself": (
        f"{HEAD}objects: {{a: b, b: a}}\ncases: [{{name: x, object: a, expect: admit}}]\n",
        "`a` is no object",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, problem = WRONG[name]
    Path("a.policytest.yaml").write_text(text, encoding="utf-8")
    write(Path("policy.json"), policy(), binding())
    found = given_tests(["a.policytest.yaml"])
    (test,) = found.tests
    texts = [one.text() for one in test.problems]
    assert any(problem in text for text in texts), texts
    assert all(text.startswith("a.policytest.yaml:") for text in texts)


def test_objects_of_files(tmp_path: Path) -> None:
    write(tmp_path / "one.yaml", config_map("one", x="ok"))
    write(tmp_path / "two.yaml", config_map("a", x="ok"), config_map("b", x="no"))
    cases: list[Json] = [
        {"object": "one.yaml", "expect": "admit"},
        {"object": {"file": "two.yaml", "name": "b"}, "expect": "deny"},
        {"object": {"file": "one.yaml", "patch": {"data": {"x": "no"}}}, "expect": "deny"},
        {"object": "three", "expect": "deny"},
    ]
    derived = {"base": "four", "patch": {"data": {"x": "no"}}}
    objects: Json = {"three": derived, "four": "one.yaml"}
    found = report(written(tmp_path, *cases, objects=objects, defaults={}))
    assert [one.is_bad for one in found.cases] == [False] * 4
    path = written(tmp_path, {"object": "two.yaml", "expect": "admit"})
    (test,) = given_tests([path]).tests
    assert "`two.yaml` has several objects: ConfigMap a, ConfigMap b" in test.problems[0].text()


def test_lines_are_those_of_the_object(tmp_path: Path) -> None:
    """What the API server has against an object is said where that stands."""
    text = f"{HEAD}cases:\n- name: one\n  object:\n    apiVersion: v1\n    kind: ConfigMap\n"
    text += "    metadata: {name: x}\n    data:\n      /: x\n  expect: admit\n"
    (tmp_path / "a.policytest.yaml").write_text(text, encoding="utf-8")
    write(tmp_path / "a.json", policy(), binding())
    (case,) = report(str(tmp_path / "a.policytest.yaml")).cases
    assert case.outcome is not None
    assert case.outcome.result.faults[0].place.line == 10


@pytest.mark.parametrize(
    ("files", "loaded"),
    [
        (["limit.yaml"], 1),
        (["limit.json", "other.yaml"], 1),
        (["other.yaml", "another.yml"], 2),
        (["other.yaml", "old_policytest.yaml"], 1),
    ],
)
def test_policies_beside_a_test(files: list[str], loaded: int, tmp_path: Path) -> None:
    """Those in the file of the same name, else those in all files; manifests stay out of it."""
    path = written(tmp_path, {"expect": "admit"}, documents=[policy()])
    (tmp_path / "limit.yaml").unlink()
    write(tmp_path / "manifest.yaml", config_map())
    for i, file in enumerate(files):
        write(tmp_path / file, policy(f"p{i}"), binding(f"p{i}"))
    (test,) = given_tests([path]).tests
    kinds = [one.value["kind"] for one in test.cluster]
    assert kinds == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"] * loaded


def test_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are called tests, and those that have one in them."""
    monkeypatch.chdir(tmp_path)
    test: dict[str, Any] = {"apiVersion": "celadon.dev/v1", "kind": "PolicyTest", "cases": []}
    write(Path("a_policytest.json"), test)
    write(Path("named-otherwise.yaml"), test)
    write(Path("manifest.yaml"), config_map())
    Path("broken.policytest.yaml").write_text("a: [", encoding="utf-8")
    Path("broken.yaml").write_text("# PolicyTest\na: [", encoding="utf-8")
    found = given_tests(["."])
    assert [one.file for one in found.tests] == ["./a_policytest.json", "./named-otherwise.yaml"]
    assert [one.file for one in found.problems] == ["./broken.policytest.yaml"]
    (problem,) = given_tests(["manifest.yaml"]).problems
    assert problem.message.startswith("no test in this file")


def test_one_of_several_objects_of_a_file(tmp_path: Path) -> None:
    """By its kind and name, which do not make it an object that stands in the test."""
    write(tmp_path / "objects.yaml", config_map("a", x="ok"), config_map("b", x="no"))
    named = {"file": "objects.yaml", "kind": "ConfigMap", "name": "b"}
    found = report(written(tmp_path, {"object": named, "expect": "deny"}))
    assert not found.all_problems
    assert [one.status.value for one in found.cases] == ["passed"]
