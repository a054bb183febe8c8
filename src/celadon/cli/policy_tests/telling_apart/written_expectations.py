"""What is to be expected of a request so that a case tells two policies apart: as test files say
it. No more than it takes: the verdict with its message, and what else is different."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celadon.admission import VALIDATION_FAILURE
from celadon.cli.policy_tests.case_results import CaseOutcome
from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.kube.registry import patch_between


def telling_expectations(wanted: CaseOutcome, other: CaseOutcome) -> Iterator[str | dict[str, Any]]:
    """Expectations that hold for what is wanted, the shortest first."""
    fields = _verdict(wanted)
    if not fields:
        yield wanted.verdict.value
    else:
        yield fields
    named = fields or {"verdict": wanted.verdict.value}
    more = dict(_differences(wanted, other))
    if more:
        yield {**named, **more}
    if wanted.result.sentence != other.result.sentence and fields:
        yield {wanted.verdict.value: wanted.result.sentence, **more}


def _verdict(wanted: CaseOutcome) -> dict[str, Any]:
    """With the message, if somebody speaks."""
    verdict = wanted.verdict
    if verdict in (CaseVerdict.ADMIT, CaseVerdict.NO_MATCH):
        return {}
    said = (*(one.message for one in wanted.deciding), *(one.message for one in wanted.ignored))
    text = next(iter(said), "")
    return {verdict.value: text} if text else {}


def _differences(wanted: CaseOutcome, other: CaseOutcome) -> Iterator[tuple[str, Any]]:
    """What is said besides, where that is other."""
    own, others = wanted.result, other.result
    texts = [[one.text for one in found.warnings if one.violations] for found in (own, others)]
    if texts[0] != texts[1]:
        yield "warnings", texts[0]
    annotations = {
        key: {"contains": _speaker(wanted)} if key == VALIDATION_FAILURE else value
        for key, value in own.audit_annotations.items()
        if others.audit_annotations.get(key) != value
    }
    if annotations:
        yield "auditAnnotations", annotations
    reasons = [str((found.status or {}).get("reason", "")) for found in (own, others)]
    if reasons[0] and reasons[0] != reasons[1]:
        yield "reason", reasons[0]
    if wanted.before is not None and wanted.after is not None and wanted.after != other.after:
        yield "patch", patch_between(wanted.before, wanted.after)
    fields = [[one.field for one in found.deciding] for found in (wanted, other)]
    if fields[0] and fields[0] != fields[1] and fields[0][0].startswith("spec.validations["):
        yield "validation", int(fields[0][0].partition("[")[2].partition("]")[0])


def _speaker(wanted: CaseOutcome) -> str:
    return next((one.policy for one in wanted.deciding), "")
