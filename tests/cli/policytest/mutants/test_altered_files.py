"""Differences of files: in every style of YAML, in JSON, and that they say what is meant."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from celadon.cli.policytest.mutants.policy_mutants import Alteration, alterations, diff
from celadon.cli.reading.documents import Document, DocumentReader, Text, read_text
from tests.cli.files import policy
from tests.cli.policytest.mutants.test_alterations import FILES, documents

HEAD = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
"""


def changes(folder: Path, spec: str, field: str) -> list[list[str]]:
    """The lines that go and come with the changes of a field."""
    path = folder / "policy.yaml"
    path.write_text(f"# ours\n---\n{HEAD}spec:\n{textwrap.indent(textwrap.dedent(spec), '  ')}")
    found = [one for one in alterations(documents(path)) if one.field == field]
    lines = [diff(one).splitlines()[3:] for one in found]
    return [[line for line in one if line[0] in "+-"] for one in lines]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            "validations:\n- expression: a < b # why\n",
            ["-  - expression: a < b # why", "+  - expression: a <= b # why"],
            id="plain",
        ),
        pytest.param(
            "validations:\n- expression: 'a < ''x'''\n",
            ["-  - expression: 'a < ''x'''", "+  - expression: 'a <= ''x'''"],
            id="in single quotes",
        ),
        pytest.param(
            'validations:\n- expression: "a < \\"x\\""\n',
            ['-  - expression: "a < \\"x\\""', '+  - expression: "a <= \\"x\\""'],
            id="in double quotes",
        ),
        pytest.param(
            "validations:\n- expression: >-\n    a\n    < b\n",
            ["-      < b", "+      <= b"],
            id="folded",
        ),
        pytest.param(
            "validations:\n- expression: |\n    a\n\n    < b\n",
            ["-      < b", "+      <= b"],
            id="literal",
        ),
        pytest.param(
            "validations: [{expression: a < b}]\n",
            ["-  validations: [{expression: a < b}]", "+  validations: [{expression: a <= b}]"],
            id="in a flow",
        ),
    ],
)
def test_expressions(tmp_path: Path, spec: str, expected: list[str]) -> None:
    assert changes(tmp_path, spec, "spec.validations[0].expression")[0] == expected


def test_a_text_that_its_style_cannot_have_is_quoted(tmp_path: Path) -> None:
    found = changes(
        tmp_path, "validations:\n- expression: a ?b:c\n", "spec.validations[0].expression"
    )
    assert ["-  - expression: a ?b:c", "+  - expression: b"] in found


RULES = "matchConstraints:\n  resourceRules:\n  - operations:\n    - CREATE\n    - UPDATE\n"
AT = "spec.matchConstraints.resourceRules[0].operations"


def test_items_of_lists(tmp_path: Path) -> None:
    assert changes(tmp_path, RULES, f"{AT}[0]") == [["-      - CREATE"]]
    assert changes(tmp_path, RULES, f"{AT}[1]") == [["-      - UPDATE"]]
    flow = RULES.replace("\n    - CREATE\n    - UPDATE", " [CREATE, UPDATE]")
    assert changes(tmp_path, flow, f"{AT}[0]") == [
        ["-    - operations: [CREATE, UPDATE]", "+    - operations: [UPDATE]"]
    ]


def test_something_that_was_not_said(tmp_path: Path) -> None:
    assert changes(tmp_path, RULES, "spec.failurePolicy") == [["+  failurePolicy: Ignore"]]
    assert changes(tmp_path, "failurePolicy: Fail\n", "spec.failurePolicy") == [
        ["-  failurePolicy: Fail", "+  failurePolicy: Ignore"]
    ]


def test_the_last_item_leaves_an_empty_list(tmp_path: Path) -> None:
    spec = "matchConditions:\n- name: x\n  expression: y\n"
    assert changes(tmp_path, spec, "spec.matchConditions[0]") == [
        ["-  matchConditions:", "-  - name: x", "-    expression: y", "+  matchConditions: []"]
    ]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(f"# ours\n---\n{HEAD}spec:\n  validations:\n  - expression: a < b\n")
    first = next(alterations(documents(path)))
    assert diff(first) == (
        f"--- {path}\n+++ {path}\n@@ -6,3 +6,3 @@\n spec:\n   validations:\n"
        "-  - expression: a < b\n+  - expression: a <= b\n"
    )


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(policy(expression='object.a < "x"'), indent=1))
    first = next(alterations(documents(path)))
    assert [line for line in diff(first).splitlines()[3:] if line[0] in "+-"] == [
        '-    "expression": "object.a < \\"x\\""',
        '+    "expression": "object.a <= \\"x\\""',
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_changed_file_says_what_is_meant(file: Path) -> None:
    given = read_text(str(file))
    assert isinstance(given, Text)
    for one in alterations(documents(file)):
        after = patched(given.content, diff(one))
        values = [
            found.value
            for found in DocumentReader().read(Text("after", after))
            if isinstance(found, Document)
        ]
        assert (one.altered in values) is (one.altered is not None), diff(one)
        assert one.document.value not in values or _twice(one, given), diff(one)


def _twice(one: Alteration, text: Text) -> bool:
    values = [found.value for found in DocumentReader().read(text) if isinstance(found, Document)]
    return values.count(one.document.value) > 1


def patched(before: str, difference: str) -> str:
    """What `patch` makes of it."""
    lines, made, at = before.splitlines(), list[str](), 0
    for line in difference.splitlines()[2:]:
        if line.startswith("@@"):
            spot = line.split()[1].lstrip("-").split(",")
            start = int(spot[0]) - (0 if spot[1:] == ["0"] else 1)
            made += lines[at:start]
            at = start
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert lines[at] == line[1:]
            at += 1
            made += [] if line.startswith("-") else [line[1:]]
    return "\n".join([*made, *lines[at:]]) + "\n"
