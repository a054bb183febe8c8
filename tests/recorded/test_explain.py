"""`celadon explain` on recorded policies: its verdict is that of `check`, its values are right.

Every part of every expression that is evaluated on the way is evaluated alone, by the interpreter
of the properties, unless that would take long; what `check` must say is compared with recorded
answers in `test_check`. A part of the recordings is asked; `make explained` asks all of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.compiled_expressions import Expression, Meter
from celadon.admission.explanation_values import ObservedContext, TracingMeter
from celadon.cel import EvaluationError
from celadon.kube.library import environment
from tests.cel.tracing.separate_evaluation import differences
from tests.cli.files import run
from tests.fuzz.variants import context_of
from tests.recorded.test_check import ALONE, FOLDER, INEXPRESSIBLE, Question, questions

MUTATING = FOLDER.parent / "mutating"
ENVIRONMENT = environment("1.36", has_patch_types=True)
EVERY = int(os.environ.get("CELADON_EXPLAIN_EVERY", "8"))
"""Of so many recordings one is asked."""
LENGTHY = "cost-"
"""How those begin whose expressions reach the limits."""
AFFORDABLE = 20_000
"""What an expression may cost that is evaluated again in parts."""
SAME = ("verdict", "message", "warnings", "auditAnnotations")

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="conformance/policy not found")


class ComparingMeter(TracingMeter):
    """Compares each trace with separate evaluations; `parts` counts what was compared."""

    parts = 0

    def evaluated(self, expression: Expression, activation: Mapping[str, Any]) -> tuple[Any, int]:
        try:
            return super().evaluated(expression, activation)
        finally:
            last = self._read[-1] if self._read else None
            if last and last.expression is expression and last.cost <= AFFORDABLE:
                self._compare(expression, activation)

    def _compare(self, expression: Expression, activation: Mapping[str, Any]) -> None:
        assert expression.program is not None
        frame = self._read[-1].frame
        context = context_of(ENVIRONMENT, expression.program.checked)
        assert list(differences(context, activation, frame)) == [], expression.text
        type(self).parts += len(frame.outcomes)


def meter(self: ObservedContext, budget: int) -> Meter:
    found = ComparingMeter(budget)
    self.cases[-1].meters.append(found)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [
        one
        for one in (*sorted(FOLDER.glob("*.json")), *sorted(MUTATING.glob("*.json")))
        if one.stem not in INEXPRESSIBLE and not (EVERY > 1 and one.stem.startswith(LENGTHY))
    ][::EVERY],
    ids=lambda path: f"{path.parent.stem}-{path.stem}",
)
def test_it_agrees(
    path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ObservedContext, "meter", meter)
    for asked in questions(json.loads(path.read_text())):
        compare(asked, tmp_path, capsys)


def compare(asked: Question, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster, wanted = tmp_path / "cluster.json", tmp_path / "wanted.yaml"
    cluster.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": asked.cluster}))
    text = asked.wanted if isinstance(asked.wanted, str) else json.dumps(asked.wanted)
    wanted.write_text(text)
    words = ("-f", str(cluster), "-o", "json", *ALONE, *asked.options, str(wanted))
    checked_code, checked, _ = run(capsys, "check", *words)
    code, explained, errors = run(capsys, "explain", *words)
    assert "Traceback" not in errors
    assert code == checked_code
    expected, found = json.loads(checked)["objects"], json.loads(explained)["objects"]
    assert [{key: one.get(key) for key in SAME} for one in found] == [
        {key: one.get(key) for key in SAME} for one in expected
    ]


def test_something_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would hold if nothing were evaluated."""
    monkeypatch.setattr(ObservedContext, "meter", meter)
    before = ComparingMeter.parts
    path = FOLDER / "audit-annotation-two-policies.json"
    for asked in questions(json.loads(path.read_text())):
        compare(asked, tmp_path, capsys)
    assert ComparingMeter.parts > before


def test_a_wrong_value_is_found() -> None:
    """Nor would a trace that lies pass."""
    program = ENVIRONMENT.program(ENVIRONMENT.compile("[1, 2].size() == 2").checked())
    expression = Expression("[1, 2].size() == 2", program)
    comparing = ComparingMeter(100)
    comparing.run(expression, {})
    outcomes = comparing.runs[-1].frame.outcomes
    node = program.checked.root.id
    outcomes[node] = outcomes[node]._replace(value=EvaluationError("no"))
    context = context_of(ENVIRONMENT, program.checked)
    assert list(differences(context, {}, comparing.runs[-1].frame))
