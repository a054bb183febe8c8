"""`celadon prove`: what is said, and exit codes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from celadon.cli import celadon_documents
from celadon.cli.exit_codes import Exit
from celadon.kube import JsonObject
from tests.cli.files import binding, run, write
from tests.cli.files import policy as binding_policy
from tests.prove.definitions.definitions import definition
from tests.prove.test_policy_questions import LIMIT_KIND, LIMITS, policy

pytest.importorskip("z3")

GOOD = dict(policy("has(object.metadata.labels)"))
FAILING = dict(policy("object.metadata.labels.team != ''"))
DEAD = dict(policy("size(object.metadata.name) > 0"))
SOURCE = Path(celadon_documents.__file__).parents[2]
HOST = "!object.spec.?hostPID.orValue(false)"


def test_nothing_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "p.json", GOOD)
    code, out, _ = run(capsys, "prove", str(file))
    assert code == Exit.OK
    assert f"{file}:30: p spec.validations[0].expression" in out
    assert "never fails (proved)" in out
    assert "1 validation, 0 with findings, 0 not decided" in out


@pytest.mark.parametrize(
    ("document", "said"),
    [(FAILING, "can fail: CREATE of Pod"), (DEAD, "never refuses (proved)")],
)
def test_what_is_found(
    document: dict[str, object], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "prove", str(write(tmp_path / "p.json", document)))
    assert code == Exit.DENIED
    assert said in out
    assert ("for instance:" in out) == (document is FAILING)


def test_what_is_never_asked_admits_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = dict(
        policy("object.metadata.name != 'x'", conditions=("object.metadata.name == ''",))
    )
    code, out, _ = run(capsys, "prove", str(write(tmp_path / "p.json", document)))
    assert code == Exit.DENIED
    assert "never refuses (proved)" in out
    assert "never admits" not in out
    document = dict(policy("object.metadata.name == ''", conditions=("object.kind == 'Pod'",)))
    assert (
        "never admits (proved)"
        in run(capsys, "prove", str(write(tmp_path / "p.json", document)))[1]
    )


def test_a_message_that_is_always_right_is_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(json.dumps(GOOD))
    document["spec"]["validations"][0]["messageExpression"] = "'no labels'"
    code, out, _ = run(capsys, "prove", write(tmp_path / "p.json", document))
    assert "1 validation, 0 with findings, 0 not decided" in out
    assert code == Exit.OK


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "prove", "-o", "json", str(write(tmp_path / "p.json", FAILING)))
    assert code == Exit.DENIED
    (proof,) = json.loads(out)
    answers = {one["question"]: one for one in proof["answers"]}
    assert {name: one["answer"] for name, one in answers.items()} == {
        "can fail": "yes",
        "can refuse": "yes",
        "can admit": "yes",
    }
    assert answers["can fail"]["object"]["kind"] == "Pod"


def test_what_is_not_decided_is_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = dict(policy("authorizer.group('').resource('pods').check('get').allowed()"))
    code, out, _ = run(capsys, "prove", str(write(tmp_path / "p.json", document)))
    assert code == Exit.OK
    assert "not decided: can fail?, can refuse?, can admit? CREATE of Pod: the variable" in out


def test_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = write(tmp_path / "p.json", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})
    code, _, err = run(capsys, "prove", str(empty))
    assert code == Exit.USAGE
    assert "no ValidatingAdmissionPolicy and no CustomResourceDefinition in these files" in err
    assert run(capsys, "prove", str(tmp_path / "none.json"))[0] == Exit.USAGE
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    code, _, err = run(capsys, "prove", str(empty))
    assert code == Exit.USAGE
    assert "z3 is not installed: pip install 'celadon[prove]'" in err


def test_parts_that_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conditions = ("has(object.metadata.name)", "object.metadata.name != 'x'")
    document = dict(policy("has(object.metadata.labels)", conditions=conditions))
    file = write(tmp_path / "p.json", document)
    code, out, _ = run(capsys, "prove", str(file))
    assert code == Exit.DENIED
    assert "p spec.matchConditions[0]\n  changes nothing (proved)\n" in out
    assert "spec.matchConditions[1]" not in out
    assert "2 parts of policies, 1 with findings, 0 not decided" in out
    _, out, _ = run(capsys, "prove", str(file), "-o", "json")
    parts = [one for one in json.loads(out) if one.get("question") == "changes nothing"]
    assert [one["isFinding"] for one in parts] == [True, False]


@pytest.mark.parametrize(
    ("conditions", "variables", "remark"),
    [
        (("object.metadata.labels.a == 'b'",), {},
         "spec.matchConditions[0].expression\n  can fail: CREATE of Pod\n"),
        (("has(object.metadata.labels)", "size(object.metadata.labels.a) > 1 // or none"), {},
         "spec.matchConditions\n  can fail: CREATE of Pod\n"),
        # A condition that is false skips the policy, whatever others fail with.
        (("has(object.metadata.labels)", "size(object.metadata.labels) > 1"), {}, ""),
        (("object.kind == 'Pod'", "object.metadata.name == ''"), {},
         "  never holds (proved)\n"),
        (("has(namespaceObject.metadata)",), {}, ""),
        ((), {"is_pod": "object.kind == 'Pod' // always"},
         "spec.variables[0].expression\n  never false (proved)\n"),
        ((), {"name": "object.metadata.name", "unnamed": "variables.name == ''"},
         "spec.variables[1].expression\n  never true (proved)\n"),
        # Where it fails, nobody may ask for it.
        ((), {"labelled": "object.metadata.labels.a == 'b'"}, ""),
    ],
)  # fmt: skip
def test_match_conditions_and_variables(
    conditions: tuple[str, ...],
    variables: dict[str, str],
    remark: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = policy(
        "has(object.metadata.annotations)",
        conditions=conditions,
        variables=tuple(variables.items()),
    )
    _, out, _ = run(capsys, "prove", str(write(tmp_path / "p.json", dict(document))))
    assert remark in out
    assert ("spec.variables" in out) is bool(variables and remark)
    assert ("match condition or variable, " in out) is bool(remark)


def test_the_release_that_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pods have resources of their own since 1.32."""
    file = write(tmp_path / "p.json", dict(policy("!has(object.spec.resources)")))
    for release, is_dead in (("1.31", True), ("1.36", False)):
        _, out, _ = run(capsys, "prove", str(file), "--kubernetes-version", release)
        assert ("never refuses (proved)" in out) is is_dead


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words",
    [
        ("prove", "new"),
        ("diff", "old", "new"),
        ("prove", "--property", "few.properties.json", "new"),
    ],
    ids=" ".join,
)
def test_answers_do_not_depend_on_how_python_hashes(words: tuple[str, ...], tmp_path: Path) -> None:
    """Byte by byte."""
    about = {
        "old": ("object.spec.containers.all(c, c.image.startsWith('a/'))", "b"),
        "new": ("object.spec.containers.all(c, c.image.startsWith('a'))", "a"),
    }
    for name, (expression, condition) in about.items():
        (tmp_path / name).mkdir()
        images = policy(expression, conditions=(f"request.userInfo.username != '{condition}'",))
        custom = policy("object.most <= params.most", "limits", "example.com", params=LIMIT_KIND)
        custom = {**custom, "metadata": {"name": "q"}}
        rules = {"x-kubernetes-validations": [{"rule": "self.size > 10"}]}
        for number, value in enumerate((images, custom, LIMITS, definition(SIZED | rules))):
            write(tmp_path / name / f"{number}.json", dict(value))
    claim = {"name": "few", "that": "size(object.spec.containers) < 3"}
    few = {"match": {"resources": ["pods"]}, "properties": [claim]}
    about_few = {"apiVersion": "celadon.dev/v1", "kind": "PolicyProperties", **few}
    write(tmp_path / "few.properties.json", about_few)
    printed = {
        subprocess.run(
            [sys.executable, "-m", "celadon", *words, "-o", "json"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(SOURCE)},
            capture_output=True,
            check=False,
        ).stdout
        for seed in range(6)
    }
    assert len(printed) == 1
    assert b"counterexample" in max(printed) or b'"answer"' in max(printed)


def test_files_that_are_excluded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "dead.json", DEAD)
    write(tmp_path / "good.json", GOOD)
    code, out, _ = run(capsys, "prove", str(tmp_path), "--exclude", "dead.*")
    assert code == Exit.OK
    assert "good.json" in out
    assert "dead.json" not in out


# Whether lists that are longer than what was looked at have an example, nobody knows.
LONG = "size(object.spec.containers) < 100000"
TEXTS = {"type": "array", "items": {"type": "string"}}
SHORT = {"rule": "size(self) < 100000"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (policy(LONG), "  no example found: can refuse? not with at most"),
        (policy("has(object.metadata.labels)", conditions=(LONG,)),
         "  no example found: against `changes nothing`, with at most"),
        (definition({"type": "object", "properties": {"a": TEXTS | {
            "x-kubernetes-validations": [SHORT]}}}),
         "  no example found: can refuse? not with at most"),
    ],
    ids=("a validation", "a part", "a rule"),
)  # fmt: skip
def test_a_bound_is_no_finding(
    document: JsonObject, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "prove", str(write(tmp_path / "p.json", dict(document))))
    assert code == Exit.OK
    assert said in out
    assert "never refuses" not in out
    assert "changes nothing (proved)" not in out


SIZED = {
    "type": "object",
    "required": ["size"],
    "properties": {"size": {"type": "integer", "maximum": 9}},
}


def test_rules_of_definitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = [{"rule": "self.size < 10"}, {"rule": "self.size != 5"}]
    file = write(tmp_path / "d.json", definition(SIZED | {"x-kubernetes-validations": rules}))
    code, out, _ = run(capsys, "prove", str(file))
    assert code == Exit.DENIED
    assert "widgets.example.com versions[0] spec rule 0\n  never refuses (proved)\n" in out
    assert "rule 1" not in out
    assert "3 questions about rules of definitions, 1 with findings, 0 not decided" in out


def test_a_field_that_is_called_immutable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = {"type": "integer", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    spec = {"type": "object", "properties": {"size": size}}
    file = write(tmp_path / "d.json", definition(spec))
    code, out, _ = run(capsys, "prove", str(file))
    assert code == Exit.DENIED
    assert "spec.size (unchanged)\n  can be removed and added again\n" in out
    assert "  cannot be changed (proved)\n" in out
    for title in ("created", "then removed", "then added again"):
        assert f"    # {title}\n" in out


@pytest.mark.parametrize("form", ["json", "github", "sarif", "junit", "tap"])
def test_forms(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder / "p.json", FAILING)
    rules = [{"rule": "self.size < 10"}]
    write(folder / "d.json", definition(SIZED | {"x-kubernetes-validations": rules}))
    code, out, _ = run(capsys, "prove", str(folder), "-o", form)
    assert code == Exit.DENIED
    assert "can fail" in out
    assert ("never refuses" in out) == (form != "json")
    if form == "json":
        names = {one.get("definition") or one["policy"] for one in json.loads(out)}
        assert names == {"p", "widgets.example.com"}


def test_a_binding_that_others_shadow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.yaml"
    selector = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    documents = [
        binding_policy("limit", "has(object.data)"),
        binding("everywhere", "limit"),
        binding("prod", "limit", matchResources=selector),
    ]
    file.write_text("\n---\n".join(map(json.dumps, documents)))
    code, out, _ = run(capsys, "prove", str(file))
    assert code == Exit.DENIED
    said = "prod spec\n  changes nothing (proved): the other bindings of limit do the same\n"
    assert said in out
    assert "everywhere spec" not in out
    shown = out[out.index(said) :]
    assert "# both speak against this\n" in shown
    assert "kind: ConfigMap" in shown


@pytest.mark.parametrize(
    ("resources", "names", "remark"),
    [
        (["configmaps"], [], ""),
        (["configmaps"], ["kept"], ""),
        (["secrets"], [], "  changes nothing (proved)\n"),
        (["configmaps/status"], [], "  changes nothing (proved)\n"),
    ],
)
def test_a_rule_of_a_binding_that_excludes_nothing(
    resources: list[str],
    names: list[str],
    remark: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"]}
    excluded = {**rule, "resources": resources, "resourceNames": names}
    documents = [
        binding_policy("limit", "has(object.data)"),
        binding("here", "limit", matchResources={"excludeResourceRules": [excluded]}),
    ]
    file = tmp_path / "p.yaml"
    file.write_text("\n---\n".join(map(json.dumps, documents)))
    code, out, _ = run(capsys, "prove", str(file))
    field = f"here spec.matchResources.excludeResourceRules[0]\n{remark}"
    assert (field in out) is bool(remark)
    assert ("excludeResourceRules" in out) is bool(remark)
    assert code == (Exit.DENIED if remark else Exit.OK)


def test_a_binding_that_is_alone_somewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody looks at connections, so nobody knows what it does there; a bound is no proof."""
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
    rules = [{**pods, "resources": ["pods"]}]
    connections = [{**pods, "operations": ["CONNECT"], "resources": ["pods/exec"]}]
    for further, expression, remark in (
        ([], HOST, "  changes nothing (proved): the other bindings of limit do the same\n"),
        (connections, HOST, ""),
        ([], LONG, "  no example found: against `changes nothing`, with at most"),
    ):
        value = binding_policy("limit", expression)
        value["spec"]["matchConstraints"] = {"resourceRules": [*rules, *further]}
        some, every = binding("some", "limit"), binding("every", "limit")
        if expression == LONG:
            every["spec"]["validationActions"] = ["Deny", "Audit"]
        some["spec"]["matchResources"] = {"resourceRules": rules}
        file = tmp_path / "p.yaml"
        file.write_text("\n---\n".join(map(json.dumps, (value, some, every))))
        _, out, _ = run(capsys, "prove", str(file))
        assert (f"every spec\n{remark}" in out) is bool(remark), expression
        assert ("every spec" in out) is bool(remark)


def test_answers_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = [{"rule": "self.size < 10"}]
    value = definition(SIZED | {"x-kubernetes-validations": rules})
    file, folder = write(tmp_path / "d.json", value), tmp_path / "kept"
    words = ("prove", str(file), "--cache", str(folder))
    first = run(capsys, *words)
    (kept,) = folder.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "never refuses" in first[1]
    said = json.loads(kept.read_text())
    kept.write_text(json.dumps(said).replace("never refuses", "is read from there"))
    assert "is read from there (proved)" in run(capsys, *words)[1]
    for broken in ("{", "[[]]", '[{"sort": 1}]', json.dumps([said[0] | {"path": [{}]}])):
        kept.write_text(broken)
        assert run(capsys, *words)[:2] == first[:2]
    rules[0]["rule"] = "self.size < 11"
    write(tmp_path / "d.json", value)
    run(capsys, *words)
    assert len(list(folder.iterdir())) == 2
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, *words[:-1], str(tmp_path / "file"))
    assert code == Exit.USAGE
    assert "error: " in err


def test_answers_of_another_celadon_or_solver_are_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = write(tmp_path / "p.json", DEAD), tmp_path / "kept"
    words = ("prove", str(file), "--cache", str(folder))
    places = (("celadon.cli.celadon_documents._code", 2), ("z3.get_full_version", 3))
    first = run(capsys, *words)
    for place, number in places:
        monkeypatch.setattr(place, lambda: "another")
        assert run(capsys, *words) == first
        assert len(list(folder.iterdir())) == number


def test_the_cache_depends_on_all_files_of_celadon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone of the repository changes, and its version does not."""
    (tmp_path / "data").mkdir()
    (tmp_path / "__pycache__").mkdir()
    monkeypatch.setattr("celadon.private_files.__file__", str(tmp_path / "private_files.py"))
    hashes = []
    for name, content in (
        *(("a.py", "1"), ("a.py", "2"), ("data/a", "1"), ("b.py", "2"), ("__pycache__/a.pyc", "1")),
    ):
        (tmp_path / name).write_text(content)
        celadon_documents._code.cache_clear()
        hashes.append(celadon_documents._code())
    celadon_documents._code.cache_clear()
    assert len(set(hashes)) == len(hashes) - 1
    assert hashes[-1] == hashes[-2]


def test_what_cannot_be_kept_is_reported_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = write(tmp_path / "p.json", DEAD), tmp_path / "kept"
    words = ("prove", str(file), "--cache", str(folder))
    code, out, _ = run(capsys, *words)
    (kept,) = folder.iterdir()
    kept.unlink()
    kept.mkdir()  # nothing can be written in its place
    (kept / "something").write_text("")
    again = run(capsys, *words)
    assert again[:2] == (code, out)
    assert f"answers are not kept: {kept}: " in again[2]


def test_kinds_that_are_defined_among_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their objects are known, and so are params of them; what is kept depends on them, too."""
    about = policy("object.most <= params.most", "limits", "example.com", params=LIMIT_KIND)
    file, folder = write(tmp_path / "p.json", dict(about)), tmp_path / "kept"
    words = ("prove", str(file), "--cache", str(folder))
    assert "not decided" in run(capsys, *words)[1]
    defined = write(tmp_path / "d.json", dict(LIMITS))
    code, out, _ = run(capsys, *words, str(defined))
    assert code == Exit.OK
    assert "never fails (proved)" in out
    assert "not decided:" not in out
    loose = json.dumps(LIMITS).replace('"required": ["most"]', '"required": []')
    Path(defined).write_text(loose)
    code, out, _ = run(capsys, *words, str(defined))
    assert code == Exit.DENIED
    assert "can fail: CREATE of Limit" in out


def test_what_is_not_decided_is_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = dict(policy("authorizer.group('').resource('pods').check('get').allowed()"))
    file, folder = write(tmp_path / "p.json", document), tmp_path / "kept"
    run(capsys, "prove", str(file), "--cache", str(folder))
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    "spec",
    [
        None,
        [],
        {},
        {"group": "a", "names": {"kind": "A"}, "versions": [{}]},
        {"group": "a", "names": {"kind": "A"}, "versions": [1]},
        {"group": 1, "names": {"kind": "A"}, "versions": []},
    ],
)
def test_definitions_of_nothing(
    spec: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = definition({"type": "object"}) | {"spec": spec}
    code, _, err = run(capsys, "prove", str(write(tmp_path / "d.json", value)))
    assert code == Exit.USAGE
    assert "must be" in err


def test_a_pattern_that_is_none_admits_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = {"type": "string", "pattern": "(a{1,100}){1,100}"}
    rules = [{"rule": "!has(self.a)"}, {"rule": "!has(self.a) || self.a != 'b'"}]
    value = definition(
        {"type": "object", "properties": {"a": text}, "x-kubernetes-validations": rules}
    )
    code, out, _ = run(capsys, "prove", str(write(tmp_path / "d.json", value)))
    assert code == Exit.DENIED
    assert "spec rule 0\n  never refuses (proved)\n" in out
    assert "spec rule 1\n  never refuses (proved)\n" in out


@pytest.mark.parametrize("schema", [None, {}, {"type": "array"}, {"properties": 1}, "x"])
def test_definitions_without_rules(
    schema: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = definition({"type": "object"})
    value["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    code, out, _ = run(capsys, "prove", str(write(tmp_path / "d.json", value)))
    assert (code, out.strip()) == (Exit.OK, "")
