"""Where goals stand: the line of each part, however the expression is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.files import binding, config_map
from tests.cli.policytest.given_cases import report, written

FOLDED = """\
  - expression: >-
      object.data.x == '1'

      && object.data.y == '1'
"""
LITERAL = """\
  - expression: |
      object.data.x == '1' &&
      object.data.y == '1'
"""
QUOTED = """\
  - expression: "object.data.x == '1' &&
      object.data.y == '1'"
"""


@pytest.mark.parametrize(
    ("validation", "lines"),
    [
        pytest.param(FOLDED, (2, 4), id="folded"),
        pytest.param(LITERAL, (2, 3), id="literal"),
        pytest.param(QUOTED, (1, 2), id="quoted"),
    ],
)
def test_the_line_of_a_part(validation: str, lines: tuple[int, int], tmp_path: Path) -> None:
    path = written(tmp_path, {"object": config_map(x="1", y="1"), "expect": "admit"})
    head = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
"""
    (tmp_path / "limit.yaml").write_text(
        f"{head}{validation}---\n{json.dumps(binding())}", encoding="utf-8"
    )
    found = report(path, coverage=True).coverage
    assert found is not None
    first = head.count("\n")
    places = {goal.text: goal.place.line - first for goal, _ in found.hits if goal.text}
    assert places["object.data.x == '1'"] == lines[0]
    assert places["object.data.y == '1'"] == lines[1]
