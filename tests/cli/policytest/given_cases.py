"""Test files as their authors write them, in a folder of their own, and runs of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from celadon.cli.policytest.case_results import CaseResult, RunReport
from celadon.cli.policytest.case_running import RunOptions, run_tests
from celadon.cli.policytest.importers.foreign_formats import given_tests
from tests.cli.files import Json, binding, config_map, policy, write

POLICY = policy(
    expression="object.data.x == 'ok'",
    validations=[
        {"expression": "object.data.x == 'ok'", "message": "x must be ok"},
        {"expression": "!has(object.data.y)", "message": "y must not be", "reason": "Forbidden"},
    ],
)
OK = config_map(x="ok")


def written(folder: Path, *cases: Json, documents: Sequence[Json] = (), **test: Any) -> str:
    """A test file with these cases beside a policy and its binding; its path. `documents` are
    given instead of these."""
    write(folder / "limit.yaml", *(documents or (POLICY, binding())))
    given = {"objects": {"ok": OK}, "defaults": {"object": "ok"}, **test}
    document = {"apiVersion": "celadon.dev/v1", "kind": "PolicyTest", **given}
    named = [{"name": f"case {i}", **case} for i, case in enumerate(cases)]
    return write(folder / "limit.policytest.yaml", {**document, "cases": named})


def report(*paths: str, **options: Any) -> RunReport:
    """What a run of files comes to."""
    given = given_tests(paths)
    assert not given.problems
    return run_tests(given.tests, RunOptions(**options), lambda _: None)


def result(folder: Path, case: Json, **test: Any) -> CaseResult:
    """What a single case comes to."""
    found = report(written(folder, case, **test))
    assert not found.all_problems, found.all_problems
    (only,) = found.cases
    return only
