"""`celadon migrate`."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.exit_codes import Exit
from tests.cli.files import run
from tests.migrate.gatekeeper.gatekeeper_documents import constraint, says, template
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, rule
from tests.migrate.kyverno.test_exceptions import exception
from tests.migrate.kyverno.test_mutate_rules import mutating

PATTERN = {"message": "a team is needed", "pattern": {"metadata": {"labels": {"team": "?*"}}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy with its test, as they lie in repositories of policies."""
    write(tmp_path / "team.yaml", kyverno_policy(rule(PATTERN), validationFailureAction="Enforce"))
    tests = tmp_path / ".kyverno-test"
    write(tests / "resources.yaml", pod(labels={"team": "a"}), {**pod(), "metadata": {"name": "b"}})
    results = [
        {"policy": "p", "rule": "r", "kind": "Pod", "resources": ["a"], "result": "pass"},
        {"policy": "p", "rule": "r", "kind": "Pod", "resources": ["b"], "result": "fail"},
    ]
    suite = {"policies": ["../team.yaml"], "resources": ["resources.yaml"], "results": results}
    write(tests / "kyverno-test.yaml", suite)
    return tmp_path


def write(file: Path, *documents: dict[str, Any]) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump_all(documents))
    return file


def test_policies_are_written_with_bindings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder / "out"
    code, out, err = run(capsys, "migrate", str(folder), "-o", str(made))
    assert (code, err) == (Exit.OK, "")
    assert "1 rule: 1 translated" in out
    assert "2 cases of their tests: 0 come out otherwise" in out
    policy, binding = yaml.safe_load_all((made / "p.yaml").read_text())
    assert policy["spec"]["validations"] == [
        {
            "expression": "object.metadata.?labels[?'team'].orValue('') != ''",
            "message": "a team is needed",
        }
    ]
    assert binding["spec"] == {"policyName": "p", "validationActions": ["Deny"]}
    # What was written is laid out, has no findings, and admits what it should.
    assert run(capsys, "fmt", "--check", "--line-width", "100", str(made))[0] == Exit.OK
    assert run(capsys, "lint", str(made))[0] == Exit.OK
    objects = str(folder / ".kyverno-test" / "resources.yaml")
    assert run(capsys, "check", "-f", str(made), objects)[0] == Exit.DENIED


@pytest.mark.parametrize("options", [[], ["--plan"]])
@pytest.mark.parametrize("name", ["../../evil", "/evil", "../evil"])
def test_names_lead_to_no_other_folder(
    tmp_path: Path, name: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    policy = kyverno_policy(rule(PATTERN))
    policy["metadata"]["name"] = name
    given = write(tmp_path / "given.yaml", policy)
    folder = tmp_path / "a" / "b" / "out"
    run(capsys, "migrate", str(given), "-o", str(folder), *options)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != given]
    assert files
    assert all(path.parent == folder or path.parent.parent == folder for path in files)


def test_short_texts_with_quotes_are_written_without_double_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    not_named_a = {"message": "'a' is no 'name'", "pattern": {"metadata": {"name": "!a"}}}
    write(tmp_path / "p.yaml", kyverno_policy(rule(not_named_a)))
    made = tmp_path / "out"
    assert run(capsys, "migrate", str(tmp_path), "-o", str(made))[0] == Exit.OK
    assert """message: "'a' is no 'name'"\n""" in (made / "p.yaml").read_text()


def test_files_that_are_there_are_not_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder / "out"
    assert run(capsys, "migrate", str(folder), "-o", str(made))[0] == Exit.OK
    code, _, err = run(capsys, "migrate", str(folder), "-o", str(made))
    assert code == Exit.USAGE
    assert "see `--force`" in err
    assert run(capsys, "migrate", str(folder), "-o", str(made), "--force")[0] == Exit.OK


def test_what_differs_and_what_is_not_translated_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = folder / ".kyverno-test" / "kyverno-test.yaml"
    suite.write_text(suite.read_text().replace("result: fail", "result: skip"))
    generate = {"name": "g", "match": {}, "generate": {"kind": "ConfigMap"}}
    write(folder / "generate.yaml", kyverno_policy(generate))
    code, out, _ = run(capsys, "migrate", str(folder), "--report", "json", "-o", str(folder / "o"))
    assert code == Exit.DENIED
    generated, differing = json.loads(out)
    assert generated["state"] == "not translated"
    assert generated["reason"] == "it generates objects"
    assert differing["differences"] == [
        {"object": "Pod b", "expected": "skip", "found": "fail", "message": "a team is needed"}
    ]
    code, _, err = run(capsys, "migrate", str(folder))
    assert code == Exit.DENIED
    assert "p/g: not translated: it generates objects" in err
    assert "Pod b: expected skip, found fail" in err


def test_what_is_known_to_be_decided_otherwise_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "frozen.yaml", kyverno_policy(rule({"message": "no", "deny": {}})))
    code, out, _ = run(capsys, "migrate", str(folder), "-o", str(folder / "o"))
    assert code == Exit.OK
    note = "lets deletions pass, which Kyverno judges, too, since it names no `operations`"
    assert f"frozen.yaml:9: p/r: {note}" in out
    assert "2 rules: 2 translated" in out
    _, out, _ = run(capsys, "migrate", str(folder), "--report", "json", "-o", str(folder / "p"))
    assert [one.get("notes") for one in json.loads(out)] == [[note], None]
    _, out, _ = run(capsys, "migrate", str(folder), "--report", "html", "-o", str(folder / "q"))
    assert "lets deletions pass" in out


def test_exceptions_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "exception.yaml", exception(), exception("r", policy="nowhere", name="stray"))
    code, out, _ = run(capsys, "migrate", str(folder), "-o", str(folder / "o"))
    assert code == Exit.DENIED
    assert "p/r: heeds the exception `delta/e`, whether or not its engine does" in out
    assert ": stray: not translated: no rule that was translated" in out
    assert "3 rules: 2 translated, 1 not translated" in out


def test_what_of_kyverno_stays_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ["CleanupPolicy", "GeneratingPolicy", "NamespacedImageValidatingPolicy"]
    groups = ["kyverno.io/v2", "policies.kyverno.io/v1", "policies.kyverno.io/v1beta1"]
    given = [
        {"apiVersion": group, "kind": kind, "metadata": {"name": "a"}, "spec": {}}
        for group, kind in zip(groups, kinds, strict=True)
    ]
    background = kyverno_policy(rule(PATTERN), admission=False)
    write(tmp_path / "a.yaml", *given, background)
    _, out, _ = run(capsys, "migrate", str(tmp_path), "--report", "json", "-o", str(tmp_path / "o"))
    assert [one["reason"] for one in json.loads(out)] == [
        "it deletes objects",
        "it generates objects",
        "it verifies images",
        "a policy that is not for admission (`admission: false`)",
    ]


def test_what_is_no_policy_yet_is_passed_over(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Templates of charts, and pieces of policies that tests of Chainsaw and KUTTL expect."""
    (folder / "Chart.yaml").write_text("name: policies\n")
    (folder / "templates").mkdir()
    (folder / "templates" / "team.yaml").write_text("{{- if true }}\nkind: ClusterPolicy\n")
    piece = {**kyverno_policy(), "spec": {}}
    write(folder / "00-assert.yaml", piece)
    code, _, err = run(capsys, "migrate", str(folder))
    assert code == Exit.OK
    assert err.startswith(
        "notice: passed over: 2 files that are no manifests (expectations of tests: 1, templates "
        "of Helm charts: 1); to judge what a chart makes: `helm template CHART | celadon migrate -`"
    )
    assert run(capsys, "migrate", str(folder / "00-assert.yaml"))[0] == Exit.USAGE


def test_what_is_no_policy_of_kyverno(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.yaml", pod())
    code, _, err = run(capsys, "migrate", str(file))
    assert code == Exit.USAGE
    assert "there is no policy of Kyverno" in err


def test_policies_that_are_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = {**pod(), "apiVersion": "policies.kubewarden.io/v1", "kind": "ClusterAdmissionPolicy"}
    file = write(tmp_path / "a.yaml", value)
    (tmp_path / "broken.yaml").write_text("kind: [")
    code, out, err = run(capsys, "migrate", str(tmp_path))
    assert (code, out) == (Exit.USAGE, "")
    assert f"{file}:1 is a ClusterAdmissionPolicy of Kubewarden, which is a program" in err
    assert "there is no policy of Kyverno" in err
    _, out, _ = run(capsys, "check", "-f", str(file))
    assert "a ClusterAdmissionPolicy of Kubewarden, which is a program: write it anew" in out


def test_what_to_do_instead_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [
        {
            "name": name,
            "match": {"any": [{"resources": {"kinds": ["Pod"]}}]},
            "generate": {"kind": "ConfigMap"},
        }
        for name in ("a", "b")
    ]
    code, _, err = run(capsys, "migrate", str(write(tmp_path / "a.yaml", kyverno_policy(*rules))))
    assert code == Exit.DENIED
    assert (err.count("not translated: it generates"), err.count("Keep it in Kyverno")) == (2, 1)
    assert err.endswith("2 rules: 2 not translated\n")


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"rules": 5}, "`spec.rules` must be a list, not"),
        ({"rules": [{}]}, "`spec.rules[0].name` must be text"),
        (
            {"rules": [{"name": "r", "match": {"any": [{"resources": {"kinds": [1]}}]}}]},
            "`spec.rules[0].match.any[0].resources.kinds[0]` must be text",
        ),
    ],
)
def test_policies_of_another_shape(
    spec: dict[str, Any], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy"}
    file = write(tmp_path / "a.yaml", {**document, "metadata": {"name": "p"}, "spec": spec})
    code, _, err = run(capsys, "migrate", str(file))
    assert code == Exit.USAGE
    assert text in err


AT_MOST = template(
    says("size(variables.anyObject.spec.containers) <= variables.params.most", "too many"),
    {"type": "object", "properties": {"most": {"type": "integer"}}},
)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A template of Gatekeeper with two constraints and a suite, as they lie in its library."""
    write(tmp_path / "template.yaml", AT_MOST)
    samples = tmp_path / "samples"
    write(samples / "constraint.yaml", constraint(parameters={"most": 1}))
    write(samples / "more.yaml", constraint({}, {"most": 2}, name="more"))
    write(samples / "fine.yaml", pod())
    containers = [{"name": one, "image": "i"} for one in "ab"]
    write(samples / "two.yaml", pod({"containers": containers}))
    cases = [
        {"name": "a", "object": "samples/fine.yaml", "assertions": [{"violations": "no"}]},
        {
            "name": "b",
            "object": "samples/two.yaml",
            "inventory": ["samples/fine.yaml"],
            "assertions": [{"violations": 1, "message": "^too"}],
        },
        {"name": "c", "object": "samples/two.yaml", "skip": True},
    ]
    test = {"name": "t", "template": "template.yaml", "constraint": "samples/constraint.yaml"}
    other = {**test, "constraint": "samples/nowhere.yaml"}
    suite = {"apiVersion": "test.gatekeeper.sh/v1alpha1", "kind": "Suite"}
    tests = [{**test, "cases": cases}, {**other, "cases": cases}]
    write(tmp_path / "suite.yaml", {**suite, "tests": tests})
    return tmp_path


def test_constraints_are_written_with_their_template(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = library / "out"
    code, out, err = run(capsys, "migrate", str(library), "-o", str(made))
    assert (code, err) == (Exit.OK, "")
    assert "2 rules: 2 translated" in out
    assert "2 cases of their tests: 0 come out otherwise" in out
    documents = list(yaml.safe_load_all((made / "demand.yaml").read_text()))
    assert [(one["kind"], one["metadata"]["name"]) for one in documents] == [
        ("CustomResourceDefinition", "demand.constraints.policy.internal"),
        ("ValidatingAdmissionPolicy", "demand"),
        ("Demand", "all"),
        ("ValidatingAdmissionPolicyBinding", "demand-all"),
        ("Demand", "more"),
        ("ValidatingAdmissionPolicyBinding", "demand-more"),
    ]
    assert run(capsys, "fmt", "--check", "--line-width", "100", str(made))[0] == Exit.OK
    objects = str(library / "samples" / "two.yaml")
    assert run(capsys, "check", "-f", str(made), objects)[0] == Exit.DENIED


def test_a_suite_that_expects_something_else(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = library / "suite.yaml"
    suite.write_text(suite.read_text().replace("^too", "few"))
    code, out, _ = run(capsys, "migrate", str(library), "-o", str(library / "out"))
    assert code == Exit.DENIED
    assert "Pod a: expected a violation with `few`, found violations" in out


def test_the_nearest_template_is_meant(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Folders with versions of a template have one of its kind each."""
    other = template(says("true"))
    write(library / "samples" / "template.yaml", other)
    _, out, _ = run(capsys, "migrate", str(library), "--report", "json", "-o", str(library / "o"))
    assert {one["position"].rpartition("/")[2] for one in json.loads(out)} == {
        "constraint.yaml:1",
        "more.yaml:1",
        "template.yaml:1",
    }
    assert [one["cases"] for one in json.loads(out)] == [0, 0, 0]


def test_what_of_gatekeeper_stays_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "alone.yaml", constraint())
    code, out, _ = run(capsys, "migrate", str(tmp_path), "-o", str(tmp_path / "out"))
    assert code == Exit.DENIED
    assert "demand/all: not translated: a constraint without its template" in out


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"metadata": {"name": "a"}, **{k: AT_MOST[k] for k in ("apiVersion", "kind")}}, "spec"),
        (
            {"apiVersion": "test.gatekeeper.sh/v1alpha1", "kind": "Suite", "metadata": {}},
            "tests",
        ),
    ],
)
def test_documents_of_gatekeeper_that_lack_something(
    document: dict[str, Any], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a.yaml", document)
    code, _, err = run(capsys, "migrate", str(tmp_path))
    assert code == Exit.USAGE
    assert problem in err


def test_bindings_that_warn_first(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = library / "out"
    assert run(capsys, "migrate", str(library), "-o", str(made), "--warn")[0] == Exit.OK
    documents = yaml.safe_load_all((made / "demand.yaml").read_text())
    actions = [
        one["spec"]["validationActions"] for one in documents if one["kind"].endswith("Binding")
    ]
    assert actions == [["Warn", "Audit"]] * 2


def test_lists_as_kubectl_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [kyverno_policy(rule(PATTERN)), constraint()]
    write(tmp_path / "dump.yaml", {"apiVersion": "v1", "kind": "List", "items": [*policies, 1]})
    _, out, _ = run(capsys, "migrate", str(tmp_path), "--report", "json", "-o", str(tmp_path / "o"))
    assert [(one["policy"], one["position"].rpartition(":")[2]) for one in json.loads(out)] == [
        ("p", "11"),
        ("demand", "23"),
    ]


def test_a_page_with_every_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = folder / ".kyverno-test" / "kyverno-test.yaml"
    suite.write_text(suite.read_text().replace("result: fail", "result: skip"))
    write(folder / "alone.yaml", constraint(name="<all>"))
    write(folder / "bad.yaml", {**kyverno_policy(), "spec": None})
    _, out, _ = run(capsys, "migrate", str(folder), "--report", "html", "-o", str(folder / "o"))
    for text in (
        "Decided otherwise than their tests say",
        "Pod b: expected skip, found fail",
        "demand/&lt;all&gt;",
        "a constraint without its template",
        "Not read",
    ):
        assert text in out


SEMVER = {"cel": {"expressions": [{"expression": "isSemver(object.metadata.name)"}]}}
MUTATION = {"patchStrategicMerge": {"metadata": {"labels": {"team": "a"}}}}


@pytest.mark.parametrize(
    ("made", "version", "reason"),
    [
        (kyverno_policy(rule(PATTERN)), "1.30", ""),
        (kyverno_policy(rule(SEMVER)), "1.36", ""),
        (
            kyverno_policy(rule(SEMVER)),
            "1.30",
            "what an API server would refuse, in spec.validations[0].expression: undeclared "
            "reference to 'isSemver'",
        ),
        (
            mutating(MUTATION),
            "1.35",
            "a mutation, which Kubernetes 1.35 has no policies for",
        ),
        (mutating(MUTATION), "1.36", ""),
    ],
)
def test_what_a_release_cannot_say_is_not_translated_for_it(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    made: dict[str, Any],
    version: str,
    reason: str,
) -> None:
    file = write(tmp_path / "p.yaml", made)
    words = ["migrate", str(file), "--kubernetes-version", version, "--report", "json"]
    code, out, err = run(capsys, *words)
    (said,) = json.loads(err)
    assert said.get("reason", "") == reason
    assert code == (Exit.DENIED if reason else Exit.OK)
    assert bool(out.strip()) == (not reason)


def test_the_guide_is_followed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands in their order, as far as they need no cluster: what `kubectl` gets is there."""
    guide = Path(__file__).parents[3] / "docs" / "migrating.md"
    lines = re.findall(r"^    (celadon|kubectl) (.*)$", guide.read_text(), re.MULTILINE)
    monkeypatch.chdir(folder)
    Path("policies").mkdir()
    for name in ("team.yaml", ".kyverno-test"):
        Path(name).rename(Path("policies", name))
    policy = kyverno_policy(rule(PATTERN), validationFailureAction="Enforce")
    write(Path("reviews.jsonl"))
    got = {
        "policies/kyverno.yaml": [{**policy, "metadata": {"name": "q"}}],
        "policies/gatekeeper.yaml": [template(says("true")), constraint()],
        "dump.yaml": [policy, pod()],
    }
    ran = []
    for program, line in lines:
        command, _, file = line.partition(" > ")
        if program == "kubectl" and file:
            write(Path(file), *got.pop(file))
        elif program == "celadon" and "--context" not in line and "/var/" not in line:
            code, _, err = run(capsys, *shlex.split(command))
            assert code in (Exit.OK, Exit.DENIED), err
            ran.append(command.split()[0])
    assert not got
    assert ran == ["migrate", "audit", "migrate", "migrate", "migrate"]


def test_the_report_names_policies_as_they_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [{**rule(PATTERN), "name": name} for name in ("a", "b")]
    write(tmp_path / "p.yaml", kyverno_policy(*rules))
    made = tmp_path / "out"
    _, page, _ = run(capsys, "migrate", str(tmp_path), "-o", str(made), "--report", "html")
    (policy, _) = yaml.safe_load_all((made / "p.yaml").read_text())
    assert policy["metadata"]["name"] == "p"
    assert "<code>p</code>" in page
    assert "<code>p-a</code>" not in page


CEL = "object.metadata.?labels.orValue([]).size() > 0"
LINTED = [
    (
        {"cel": {"expressions": [{"expression": CEL, "message": "no"}]}},
        "finds CEL011 in its own CEL",
    ),
    (PATTERN, ""),
]


@pytest.mark.parametrize(("validate", "said"), LINTED)
def test_the_report_says_what_the_linter_finds(
    validate: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "p.yaml", kyverno_policy(rule(validate)))
    made = tmp_path / "out"
    code, out, _ = run(capsys, "migrate", str(tmp_path), "-o", str(made))
    assert code == Exit.OK
    assert ("celadon lint" in out) == bool(said)
    assert said in out
    _, report, _ = run(
        capsys, "migrate", str(tmp_path), "-o", str(made), "--force", "--report", "json"
    )
    notes = " ".join(json.loads(report)[0].get("notes", []))
    assert said in notes
