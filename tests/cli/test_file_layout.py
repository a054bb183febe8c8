"""Whatever stands in a file, its layout changes white space in expressions and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.formatter import commented_tokens
from celadon.cli.fmt import TextLayout, text_layout
from celadon.cli.reading.documents import DocumentReader, Problem, Text
from tests.cel.formatter.spacing import comments, spaced, spaces
from tests.cel.trees import expressions

HEAD = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
"""


def laid_out(content: str, width: int = 40) -> TextLayout:
    return text_layout(Text("p.yaml", content), width)


def values(content: str) -> list[dict[str, Any]]:
    found = []
    for item in DocumentReader().read(Text("p.yaml", content)):
        assert not isinstance(item, Problem), item.text()
        found.append(item.value)
    return found


def document(texts: list[str]) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "limit", "annotations": {"a": "x&&y"}},
        "spec": {
            "variables": [{"name": "v", "expression": texts[0]}],
            "validations": [{"expression": one, "message": "a&&b"} for one in texts],
        },
    }


def expressions_of(value: dict[str, Any]) -> list[str]:
    spec = value["spec"]
    found = [spec["variables"][0].pop("expression")]
    return found + [one.pop("expression") for one in spec["validations"]]


def written(value: dict[str, Any], style: str) -> str:
    if style == "json":
        return json.dumps(value)
    if style == "indented json":
        return json.dumps(value, indent=2)
    if style == "flow":
        return yaml.dump(value, default_flow_style=True, width=60)
    if style == "flow quoted":
        return yaml.dump(value, default_flow_style=True, default_style='"', width=60)
    return yaml.dump(value, default_style=style or None, width=60, indent=len(style) * 2 + 2)


STYLES = ["", "'", '"', "|", ">", "flow", "flow quoted", "json", "indented json"]


@pytest.mark.parametrize("style", STYLES)
@given(
    texts=st.lists(expressions(), min_size=1, max_size=2),
    gaps=st.one_of(spaces, comments),
    width=st.sampled_from([20, 40, 80]),
)
def test_nothing_else_changes(style: str, texts: list[str], gaps: list[str], width: int) -> None:
    content = written(document([spaced(one, gaps) for one in texts]), style)
    found = laid_out(content, width)
    after = found.content()
    (was,), (now,) = values(content), values(after)
    for before, behind in zip(expressions_of(was), expressions_of(now), strict=True):
        assert commented_tokens(before) == commented_tokens(behind)
    assert was == now
    again = laid_out(after, width)
    assert again.misplaced == ()
    assert again.problems == found.problems == ()


def test_an_anchor_that_means_a_message_elsewhere_keeps_its_text() -> None:
    content = f"{HEAD}spec:\n  validations:\n  - expression: &a a&&b\n    message: *a\n"
    more = "  - expression: c||d\n"
    assert laid_out(content + more).content() == content + more.replace("||", " || ")


def test_what_an_alias_means_is_laid_out_where_it_is_written() -> None:
    content = f"{HEAD}spec:\n  validations:\n  - expression: &a a&&b\n  - expression: *a\n"
    found = laid_out(content)
    assert found.content() == content.replace("a&&b", "a && b")
    assert len(found.misplaced) == 1


def test_rules_of_definitions_and_several_documents() -> None:
    content = """\
# first
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            x-kubernetes-validations:
            - {rule: "self.a>0", messageExpression: "'a'+self.b"}
            properties:
              rule: {type: string, default: a&&b}
            items:
              allOf:
              - x-kubernetes-validations:
                - rule: self&&x   # comment
---
apiVersion: v1
kind: List
items:
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingWebhookConfiguration
  webhooks:
  - matchConditions:
    - expression: a&&b
- apiVersion: v1
  kind: ConfigMap
  data: {expression: a&&b}
---
{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
 "spec": {"mutations": [{"jsonPatch": {"expression": "[ ]"}}]}}
"""
    made = laid_out(content).content()
    changes = {
        "self.a>0": "self.a > 0",
        "'a'+self.b": "'a' + self.b",
        "self&&x ": "self && x ",
        "    - expression: a&&b": "    - expression: a && b",
        "[ ]": "[]",
    }
    for old, new in changes.items():
        content = content.replace(old, new)
    assert made == content


def test_a_syntax_error_is_told_and_the_others_are_laid_out() -> None:
    content = f"{HEAD}spec:\n  validations:\n  - expression: a &&\n  - expression: a&&b\n"
    found = laid_out(content)
    assert found.content() == content.replace("a&&b", "a && b")
    assert [one.position() for one in found.problems] == ["p.yaml:6:5"]
