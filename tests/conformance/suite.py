"""Files of cases: reading them, telling the two formats apart, running them."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance import kubernetes_cases, skips, spec_cases
from tests.conformance.grading import Grades, Tally


@dataclass(frozen=True, slots=True)
class Failure:
    id: str
    expr: str
    grades: Grades


def case_files(paths: list[Path]) -> Iterator[Path]:
    """The files themselves, and the JSON files in folders."""
    for path in paths:
        yield from sorted(path.glob("**/*.json")) if path.is_dir() else (path,)


def run_file(path: Path, on_failure: Callable[[Failure], None]) -> Tally:
    tally = Tally()
    for case in json.loads(path.read_text(encoding="utf-8")):
        if skips.reason(case) is not None:
            tally.skip()
            continue
        grades = _run(case)
        tally.count(grades)
        if not grades.passed:
            on_failure(Failure(case["id"], case["expr"], grades))
    return tally


def _run(case: dict[str, Any]) -> Grades:
    try:
        return spec_cases.run(case) if "want" in case else kubernetes_cases.run(case)
    except Exception:  # noqa: BLE001  a crash fails its case, not the run
        grades = Grades()
        last = traceback.format_exc().strip().splitlines()
        grades.give("class", got="\n".join(last[-6:]), want="no crash")
        return grades
