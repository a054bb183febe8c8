"""`celadon lint` from the outside: places, comments, configuration, formats, fixes."""

from __future__ import annotations

import io
import json
import os
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.commands.lint import page
from celadon.cli.main import main
from tests.cli.files import Json, full_disk, write
from tests.cli.files import run as run_command
from tests.paths import ROOT

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: limit
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [deployments]
  validations:
  - message: too many
    expression: EXPRESSION
"""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lint(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Exit code and standard output."""
    code = main(["lint", *words])
    return code, capsys.readouterr().out


def findings(capsys: pytest.CaptureFixture[str], text: str, *words: str) -> list[str]:
    """`line:column code` of what is said about one file."""
    Path("p.yaml").write_text(text)
    _, out = lint(capsys, "p.yaml", "-o", "json", *words)
    found = json.loads(out)["findings"]
    return [f"{one['line']}:{one['column']} {one['code']}" for one in found]


def policy(expression: str, **changes: str) -> str:
    text = POLICY.replace("EXPRESSION", expression)
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


STYLES = [
    ("object.spec.replica <= 5", "14:28 CEL011"),
    ("'object.spec.replica <= 5'", "14:29 CEL011"),
    ('"object.spec.replica <= 5"', "14:29 CEL011"),
    ("|\n      true &&\n      object.spec.replica <= 5", "16:18 CEL011"),
    (">-\n      true &&\n      object.spec.replica <= 5", "16:18 CEL011"),
    ("|2-\n      true &&\n        object.spec.replica <= 5", "16:20 CEL011"),
    ("true &&\n      object.spec.replica <= 5", "15:18 CEL011"),
    ('"\\u0027é\\u0027 != \\"x\\" &&\n      object.spec.replica <= 5"', "15:18 CEL011"),
    ("'''x'' != ''y'' && object.spec.replica <= 5'", "14:47 CEL011"),
]


@pytest.mark.parametrize(("written", "expected"), STYLES)
def test_places_in_expressions(
    capsys: pytest.CaptureFixture[str], written: str, expected: str
) -> None:
    assert findings(capsys, policy(written), "--select", "CEL011") == [expected]


def test_places_in_json_and_in_lists(capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    document = yaml.safe_load(policy("|\n      true &&\n      object.spec.replica <= 5\n"))
    listed = {"apiVersion": "v1", "kind": "List", "items": [document]}
    assert findings(capsys, json.dumps(document), "--select", "CEL011")[0].startswith("1:")
    text = json.dumps(listed, indent=1)
    (found,) = findings(capsys, text, "--select", "CEL011")
    line, _, column = found.split()[0].partition(":")
    assert text.split("\n")[int(line) - 1][int(column) - 1 :].startswith(".replica")


def test_a_second_document(capsys: pytest.CaptureFixture[str]) -> None:
    text = "# nothing\n---\n" + policy("object.spec.replica <= 5")
    assert findings(capsys, text, "--select", "CEL011") == ["16:28 CEL011"]


@pytest.mark.parametrize(
    "text",
    [
        policy("object.spec.replica <= 5 # celadon: ignore[CEL011]"),
        policy("object.spec.replica <= 5 # celadon: ignore[type-error, CEL9]"),
        policy("object.spec.replica <= 5 # celadon: ignore"),
        policy("|2- # celadon: ignore[CEL01]\n      object.spec.replica <= 5"),
        policy("|-\n      // celadon: ignore[CEL011]\n      object.spec.replica <= 5"),
        policy("object.spec.replica <= 5").replace(
            "    expression", "    # celadon: ignore[CEL011]\n    # because\n    expression"
        ),
        policy("object.spec.replica <= 5") + "# celadon: ignore-file[CEL011]\n",
    ],
)
def test_comments_silence(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert findings(capsys, text, "--select", "CEL011") == []


@pytest.mark.parametrize(
    "text",
    [
        policy("object.spec.replica <= 5 # celadon: ignore[CEL012]"),
        policy("object.spec.replica <= 5 # celadon: ignored"),
        "# celadon: ignore\n" + policy("object.spec.replica <= 5"),
    ],
)
def test_other_comments_do_not(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert len(findings(capsys, text, "--select", "CEL011")) == 1


@pytest.mark.parametrize(
    ("member", "complaint"),
    [
        ("names: {plural: as, kind: A, shortNames: [null]}", "`spec.names.shortNames[0]`"),
        ("names: {plural: as, kind: A, singular: 1.5}", "`spec.names.singular` must be text"),
        ("versions: [{name: v1, subresources: true}]", "`spec.versions[0].subresources`"),
        ("versions: [{name: v1, selectableFields: [a]}]", "`spec.versions[0].selectableFields[0]`"),
        ("versions: [{name: v1, selectableFields: [{jsonPath: []}]}]", "jsonPath` must be text"),
    ],
)
def test_definitions_of_another_shape(
    capsys: pytest.CaptureFixture[str], member: str, complaint: str
) -> None:
    members = {"group": "group: g", "names": "names: {plural: as, kind: A}"}
    members |= {"versions": "versions: [{name: v1}]", member.partition(":")[0]: member}
    spec = "\n".join(f"  {one}" for one in members.values())
    head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    Path("p.yaml").write_text(f"{head}metadata: {{name: as.g}}\nspec:\n{spec}\n")
    code, _, err = run_command(capsys, "lint", "p.yaml")
    assert (code, complaint in err) == (2, True), err


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("good.yaml").write_text(policy("object.spec.replicas <= 5"))
    Path("warned.yaml").write_text(policy("object.metadata.labels.x == 'y'"))
    Path("bad.yaml").write_text(policy("object.spec.replica <= 5"))
    Path("torn.yaml").write_text("a: [")
    assert lint(capsys, "good.yaml")[0] == 0
    assert lint(capsys, "warned.yaml")[0] == 0
    assert lint(capsys, "warned.yaml", "--fail-on", "warning")[0] == 1
    assert lint(capsys, "bad.yaml")[0] == 1
    assert lint(capsys, "bad.yaml", "--fail-on", "never")[0] == 0
    assert lint(capsys, "bad.yaml", "torn.yaml")[0] == 2


def test_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    text = policy("object.metadata.labels.x == 'y'")
    Path("pyproject.toml").write_text('[tool.celadon.lint]\nignore = ["CEL0"]\n')
    assert findings(capsys, text) == []
    Path("celadon.toml").write_text('[lint]\nignore = ["type-error"]\nfail-on = "warning"\n')
    assert findings(capsys, text) == ["14:32 CEL025"]
    assert lint(capsys, "p.yaml")[0] == 1
    assert findings(capsys, text, "--ignore", "CEL025") == []
    Path("below").mkdir()
    os.chdir("below")
    assert main(["lint", "../p.yaml"]) == 1


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("lint = 1", "`lint` must be a table"),
        ("[lint]\nselct = []", "no option `selct`, did you mean `select`?"),
        ("[lint]\nselect = 1", "`select` must be a list of texts"),
        ('[lint]\nselect = ["CEL999"]', "no rule `CEL999`"),
        ('[lint]\nfail-on = "x"', "`fail-on` must be one of"),
        ("[lint]\nlarge-object = 0", "`large-object` must be a number of KiB"),
        ('[lint]\nkubernetes-versions = ["1.2"]', "unknown version `1.2`"),
        ("[lint", "celadon.toml"),
    ],
)
def test_wrong_configuration(
    capsys: pytest.CaptureFixture[str], written: str, message: str
) -> None:
    Path("celadon.toml").write_text(written)
    assert main(["lint", "x.yaml"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["x.yaml", "--select", "nonsense"],
        ["x.yaml", "--large-object", "0"],
        ["-", "--fix"],
        ["--explain", "CEL999"],
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(["lint", *words]) == 2
    assert "error: " in capsys.readouterr().err


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    text = policy("isSemver(object.metadata.name)")
    versions = ["--kubernetes-version", "1.36", "--kubernetes-version", "1.31"]
    assert findings(capsys, text, "--select", "CEL005", *versions) == ["14:25 CEL005"]
    assert findings(capsys, text, "--select", "CEL005") == []


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text(policy("object.spec.replica <= 5"))
    _, out = lint(capsys, "p.yaml", "--select", "CEL011")
    assert out == (
        "p.yaml:14:28: error CEL011 undefined field 'replica', for Deployment\n"
        "  |     expression: object.spec.replica <= 5\n"
        "  |                            ^\n"
        "  ValidatingAdmissionPolicy limit, spec.validations[0].expression (type-error)\n\n"
        "1 error in 1 object\n"
    )
    assert lint(capsys, "p.yaml", "--select", "CEL004")[1] == "nothing found in 1 object\n"


def test_sarif(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text(policy("object.spec.replica <= 5"))
    _, out = lint(capsys, "p.yaml", "--select", "CEL011", "-o", "sarif")
    (run,) = json.loads(out)["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "CEL011"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "p.yaml"
    assert place["region"] == {"startLine": 14, "startColumn": 28}


def test_github_and_junit(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text(policy("object.spec.replica <= 5"))
    Path("torn.yaml").write_text("a: [")
    _, out = lint(capsys, "p.yaml", "torn.yaml", "--select", "CEL011", "-o", "github")
    assert "::error file=p.yaml,line=14,col=28,title=CEL011 type-error::undefined field" in out
    assert "::error file=torn.yaml" in out
    _, out = lint(capsys, "p.yaml", "torn.yaml", "--select", "CEL011", "-o", "junit")
    assert ET.fromstring(out).get("failures") == "1"
    _, out = lint(capsys, "p.yaml", "--select", "CEL004", "-o", "junit")
    assert ET.fromstring(out).get("tests") == "1"


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(policy("object.spec.replica <= 5").encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    code, out = lint(capsys, "-")
    assert code == 1
    assert out.startswith("<stdin>:14:28: error CEL011")


BINDING = """\
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}  # kept
spec:
  policyName: p
  validationActions: ACTIONS
"""


@pytest.mark.parametrize(
    ("actions", "fixed"),
    [
        ("[Deny, Warn]", "[Deny]"),
        ("[Warn, Deny]", "[Deny]"),
        ("[Warn , Audit, Deny] # x", "[Audit, Deny] # x"),
        ("\n  - Deny\n  - Warn # both\n", "\n  - Deny\n"),
        ("\n  - Warn\n  - Deny\n", "\n  - Deny\n"),
    ],
)
def test_fix(capsys: pytest.CaptureFixture[str], actions: str, fixed: str) -> None:
    Path("b.yaml").write_text(BINDING.replace("ACTIONS", actions))
    code, out = lint(capsys, "b.yaml", "--fix")
    assert code == 0
    assert "2 fixed" in out
    expected = BINDING.replace("ACTIONS", fixed).replace("v1beta1", "v1")
    assert Path("b.yaml").read_text() == expected


def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    text = BINDING.replace("ACTIONS", "[Deny, Warn]")
    files = {"long.yaml": f"{text}# {'x' * 5_000}\n", "short.yaml": text}
    for name, content in files.items():
        Path(name).write_text(content)
    with full_disk(5_000):
        code, out, err = run_command(capsys, "lint", *files, "--fix")
    assert code == 2
    assert err == "error: long.yaml: cannot be written: file too large\n"
    assert "2 fixed" in out
    assert Path("long.yaml").read_text() == files["long.yaml"]
    assert "Warn" not in Path("short.yaml").read_text()


GIZMOS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.com}
spec:
  group: example.com
  names: {plural: gizmos, kind: Gizmo}
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {max-size: {type: integer}, if: {type: integer}}}
---
"""


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("object.spec.max__dash__size <= 5", "object.spec['max-size'] <= 5"),
        ("object.spec.__if__ <= 5", "object.spec.if <= 5"),
        ("'object.spec.max__dash__size <= 5'", "'object.spec[''max-size''] <= 5'"),
        ('"object.spec.max__dash__size <= 5"', "\"object.spec['max-size'] <= 5\""),
        ("|\n      object.spec.max__dash__size <= 5", "|\n      object.spec['max-size'] <= 5"),
    ],
)
def test_fix_inside_an_expression(
    capsys: pytest.CaptureFixture[str], written: str, fixed: str
) -> None:
    text = GIZMOS + POLICY.replace("[apps]", "[example.com]").replace("deployments", "gizmos")
    Path("p.yaml").write_text(text.replace("EXPRESSION", written))
    lint(capsys, "p.yaml", "--fix", "--select", "CEL033")
    assert Path("p.yaml").read_text() == text.replace("EXPRESSION", fixed)


def test_rules_explain_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    assert "CEL025  optional-field" in lint(capsys, "--list-rules")[1]
    assert lint(capsys, "--explain", "optional-field") == lint(capsys, "--explain", "CEL025")


def test_the_page_of_the_rules_is_up_to_date() -> None:
    text = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    assert text == page(), "run `python -m celadon.cli.commands.lint > docs/lint.md`"


SEVERITIES = [
    ((), "skipped"),
    (("--fail-on", "warning"), "failure"),
    (("--fail-on", "never"), "skipped"),
]


@pytest.mark.parametrize(("words", "element"), SEVERITIES)
def test_junit_fails_as_the_run_does(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], element: str
) -> None:
    Path("b.yaml").write_text(BINDING.replace("ACTIONS", "[Deny]"))
    _, out = lint(capsys, "b.yaml", "--select", "old-api-version", "-o", "junit", *words)
    (case,) = ET.fromstring(out).iter("testcase")
    assert [one.tag for one in case] == [element]


def test_a_comment_about_no_rule(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text(policy("true  # celadon: ignore[mising-message]"))
    assert main(["lint", "p.yaml"]) == 2
    said = "a comment silences what is not there: no rule `mising-message`"
    assert f"error: p.yaml:14: {said}, did you mean `missing-message`?" in capsys.readouterr().err


CONFIGURATIONS = [
    ("pyproject.toml", "tool = 3  # celadon", "`tool` must be a table"),
    ("pyproject.toml", "[tool]\nceladon = 'x'", "`tool.celadon` must be a table"),
    ("celadon.toml", "lint = []", "`lint` must be a table"),
    ("celadon.toml", None, "is a folder, a file is expected"),
]


@pytest.mark.parametrize(("file", "text", "said"), CONFIGURATIONS)
def test_a_configuration_that_is_none(
    capsys: pytest.CaptureFixture[str], file: str, text: str | None, said: str
) -> None:
    if text is None:
        Path(file).mkdir()
    else:
        Path(file).write_text(text)
    assert main(["lint", "."]) == 2
    assert f"{file}: {said}" in capsys.readouterr().err


ENCODINGS = [
    (b"", "utf-8", "\n"),
    (b"", "utf-8", "\r\n"),
    (b"\xef\xbb\xbf", "utf-8", "\n"),
    (b"\xff\xfe", "utf-16-le", "\r\n"),
]


@pytest.mark.parametrize(("mark", "encoding", "end"), ENCODINGS)
def test_a_fixed_file_keeps_its_bytes(
    capsys: pytest.CaptureFixture[str], mark: bytes, encoding: str, end: str
) -> None:
    def written(actions: str) -> bytes:
        return mark + BINDING.replace("ACTIONS", actions).replace("\n", end).encode(encoding)

    path = Path("b.yaml")
    path.write_bytes(written("[Deny, Warn]"))
    lint(capsys, "b.yaml", "--fix", "--select", "deny-with-warn")
    assert path.read_bytes() == written("[Deny]")
    mixed = written("[Deny, Warn]") + "# x\n# y\r\n".encode(encoding)
    path.write_bytes(mixed)
    lint(capsys, "b.yaml", "--fix", "--select", "deny-with-warn")
    assert path.read_bytes() == mixed


OPTIONAL = "object.metadata.labels.team == 'x'"


def test_quiet_says_only_what_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text(policy(OPTIONAL))
    assert lint(capsys, "p.yaml", "-q") == (0, "")
    code, out = lint(capsys, "p.yaml", "-q", "--fail-on", "warn")
    assert code == 1
    assert out.startswith("p.yaml:14:32: warning CEL025 ")
    assert out.endswith("(optional-field)\n")


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    first = policy(OPTIONAL)
    old = first.replace("k8s.io/v1", "k8s.io/v1beta1").replace("name: limit", "name: other")
    Path("p.yaml").write_text(f"{first}---\n{old}")
    code, out = lint(capsys, "p.yaml", "--statistics")
    assert code == 0
    assert out == (
        "2  CEL025  optional-field   warning\n"
        "1  CEL004  old-api-version  warning  (1 can be fixed with --fix)\n"
    )
    _, out = lint(capsys, "p.yaml", "--statistics", "-o", "json")
    assert [one["count"] for one in json.loads(out)] == [2, 1]


def test_diff_shows_what_fix_would_change(capsys: pytest.CaptureFixture[str]) -> None:
    text = policy("object.spec.replicas <= 5").replace("k8s.io/v1", "k8s.io/v1beta1")
    Path("p.yaml").write_text(text)
    code, out = lint(capsys, "p.yaml", "--diff")
    assert code == 1
    assert out.startswith("--- p.yaml\n+++ p.yaml\n@@ -1,4 +1,4 @@\n-apiVersion: ")
    assert "\n+apiVersion: admissionregistration.k8s.io/v1\n" in out
    assert Path("p.yaml").read_text() == text
    assert lint(capsys, "p.yaml", "--fix")[0] == 0
    assert lint(capsys, "p.yaml", "--diff") == (0, "")
    assert main(["lint", "p.yaml", "--diff", "--fix"]) == 2


@pytest.mark.parametrize("where", ["option", "file"])
def test_ignores_per_file(capsys: pytest.CaptureFixture[str], where: str) -> None:
    for folder in ("legacy", "fresh"):
        Path(folder).mkdir()
        Path(folder, "p.yaml").write_text(policy(OPTIONAL))
    words = ["legacy", "fresh", "-o", "json", "--ignore", "CEL003"]
    if where == "option":
        words += ["--per-file-ignores", "legacy:optional-field"]
    else:
        text = '[lint.per-file-ignores]\n"legacy/*.yaml" = ["CEL02"]\n'
        Path("celadon.toml").write_text(text)
    _, out = lint(capsys, *words)
    assert [one["file"] for one in json.loads(out)["findings"]] == ["fresh/p.yaml"]


@pytest.mark.parametrize("given", ["legacy", ":CEL025", "x:CEL999"])
def test_ignores_per_file_that_are_none(given: str) -> None:
    assert main(["lint", "p.yaml", "--per-file-ignores", given]) == 2


def test_files_that_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Path("drafts").mkdir()
    Path("drafts", "p.yaml").write_text("kind: b: c")
    Path("q.yaml").write_text(policy("object.spec.replicas <= 5"))
    assert lint(capsys, ".")[0] == 2
    assert lint(capsys, ".", "--exclude", "drafts")[0] == 0
    Path("celadon.toml").write_text('[lint]\nexclude = ["drafts"]\n')
    assert lint(capsys, ".")[0] == 0


@pytest.mark.parametrize(
    ("comment", "words", "said"),
    [
        ("# celadon: ignore[CEL025]", (), []),
        ("# celadon: ignore", (), []),
        ("# celadon: ignore-file[CEL025]", (), []),
        ("# celadon: ignore[CEL041]", (), ["CEL025", "CEL099"]),
        ("# celadon: ignore[CEL025, CEL041]", (), ["CEL099"]),
        ("# celadon: ignore[CEL041]", ("--ignore", "CEL041"), ["CEL025"]),
        ("# celadon: ignore[CEL041]", ("--ignore", "unused-comment"), ["CEL025"]),
        ("# celadon: ignore[CEL04]", ("--select", "CEL02,CEL04,CEL099"), ["CEL025", "CEL099"]),
        ("# celadon: ignore[CEL04]", ("--select", "CEL02,CEL041,CEL099"), ["CEL025"]),
        ("# celadon: ignore[CEL777]", (), ["CEL025"]),  # which is an error
    ],
)
def test_comments_that_silence_nothing(
    capsys: pytest.CaptureFixture[str], comment: str, words: tuple[str, ...], said: list[str]
) -> None:
    text = policy(f"{OPTIONAL}  {comment}")
    assert [one.split()[1] for one in findings(capsys, text, *words)] == said


def test_where_an_unused_comment_stands(capsys: pytest.CaptureFixture[str]) -> None:
    text = policy("object.spec.replicas <= 5  # celadon: ignore[CEL025]")
    assert findings(capsys, text) == ["14:44 CEL099"]


def test_the_layout_is_a_matter_only_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = policy("object.spec.replicas<=5")
    line = text.split("\n").index("    expression: object.spec.replicas<=5") + 1
    assert "CEL098" not in str(findings(capsys, text))
    assert "CEL098" not in str(findings(capsys, text, "--select", "CEL0"))
    assert findings(capsys, text, "--select", "unformatted") == [f"{line}:5 CEL098"]
    quiet = text.replace("<=5", "<=5  # celadon: ignore[unformatted]")
    assert findings(capsys, quiet, "--select", "CEL098") == []
    assert findings(capsys, policy("object.spec.replicas <= 5"), "--select", "CEL098") == []


def _definition(*rules: str, **schema: Any) -> Json:
    given = {"x-kubernetes-validations": [{"rule": one} for one in rules], **schema}
    size = {"type": "integer"}
    whole: Json = {"type": "object", "properties": {"spec": {"type": "object", **given}}}
    whole["properties"]["spec"]["properties"] = {"size": size}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "shops.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "shops", "kind": "Shop"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": whole},
                }
            ],
        },
        "status": {"storedVersions": []},
    }


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (["self.size > 1"], []),
        (["self.size > 1", "self.siz > 1"], ["undefined field 'siz'"]),
        (["self.size > 'a'"], ["found no matching overload for '_>_' applied to"]),
    ],
)
def test_rules_of_definitions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, rules: list[str], expected: list[str]
) -> None:
    path = write(tmp_path / "crd.yaml", _definition(*rules, required=["size"]))
    code, out, _ = run_command(capsys, "lint", path, "-o", "json")
    found = json.loads(out)
    assert code == (1 if expected else 0)
    assert found["summary"]["objects"] == 1
    assert len(found["findings"]) == len(expected)
    for one, text in zip(found["findings"], expected, strict=True):
        assert text in one["message"]
        assert one["line"] > 20


def test_odd_rules_of_definitions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path / "crd.yaml", _definition("self.size == self.size"))
    code, out, _ = run_command(capsys, "lint", path, "-o", "json")
    assert code == 0
    assert {one["code"] for one in json.loads(out)["findings"]} == {"CEL025", "CEL031"}


NEW_FIELD = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - {expression: "object.spec.?hostnameOverride.orValue('') == ''", message: m}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny]}
"""
NEW_KIND = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p}
"""
NO_MATCH = (
    'no matches for kind "MutatingAdmissionPolicyBinding" in version '
    '"admissionregistration.k8s.io/v1"'
)


@pytest.mark.parametrize(
    ("text", "releases", "expected"),
    [
        (NEW_FIELD, ["1.33"], ("CEL011", "undefined field 'hostnameOverride', for Pod")),
        (NEW_FIELD, ["1.34"], None),
        (NEW_KIND, ["1.35"], ("CEL001", NO_MATCH)),
        (NEW_KIND, ["1.35", "1.36"], ("CEL005", f"Kubernetes 1.35 would refuse this: {NO_MATCH}")),
    ],
)
def test_a_release_is_meant_as_a_whole(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    releases: list[str],
    expected: tuple[str, str] | None,
) -> None:
    """Its fields and kinds, not only its expressions."""
    (tmp_path / "a.yaml").write_text(text)
    words = [f"--kubernetes-version={one}" for one in releases]
    given = ("lint", "--no-config", "-o", "json", *words, "--ignore", "CEL02", "--ignore", "CEL03")
    main([*given, str(tmp_path / "a.yaml")])
    found = json.loads(capsys.readouterr().out)["findings"]
    shown = [(one["code"], one["message"]) for one in found]
    assert (expected in shown) if expected else not shown
