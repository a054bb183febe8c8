"""`--audit-only`: nothing is denied, everybody is told what would have been."""

from __future__ import annotations

import dataclasses
from typing import Final

from celadon.admission import RecordedWarning, Verdict, recorded_warnings

WOULD_DENY: Final = "would_deny"
"""The annotation with the message of the denial."""


def without_denial(verdict: Verdict) -> Verdict:
    """An allowing verdict whose first warning is the sentence of the denial."""
    if verdict.allowed:
        return verdict
    decisions = () if verdict.denial is None else (verdict.denial,)
    instead = RecordedWarning(f"would be denied: {verdict.message}", decisions)
    return dataclasses.replace(
        verdict,
        allowed=True,
        code=200,
        status=None,
        recorded=recorded_warnings((instead, *verdict.recorded)),
        audit_annotations={WOULD_DENY: verdict.message, **verdict.audit_annotations},
    )
