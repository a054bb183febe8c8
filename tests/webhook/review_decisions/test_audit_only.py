"""Denials that are only told."""

from __future__ import annotations

from celadon.admission import Verdict
from celadon.webhook.review_decisions import without_denial
from tests.admission.building import binding, judge, policy


def test_what_is_allowed_stays_as_it_is() -> None:
    verdict = Verdict()
    assert without_denial(verdict) is verdict


def test_a_denial_becomes_a_warning_and_an_annotation() -> None:
    verdict = judge(policy(), binding("b"), binding("w", "p", "Warn"))
    told = without_denial(verdict)
    sentence = (
        'configmaps "c" is forbidden: '
        "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
    )
    assert told.allowed
    assert told.status is None
    assert told.warnings == (f"would be denied: {sentence}", *verdict.warnings)
    assert told.audit_annotations == {"would_deny": sentence}
    assert told.decisions == verdict.decisions
