"""Cases that are not run, each with its reason. This list is only allowed to shrink."""

from __future__ import annotations

from typing import Any

from tests.conformance import messages

#: Cases say themselves what they need.
NEEDS = {
    "protobuf": "needs the extra celadon[protobuf], which is not installed",
}

#: Recordings of which another run would give another answer.
FAULTY = {
    "macros/14545": "iterates over a map, in Go's random order",
}


def reason(case: dict[str, Any]) -> str | None:
    """Why this case is not run; None if it is."""
    for need in case.get("needs", ()):
        if need in NEEDS and not messages.AVAILABLE:
            return NEEDS[need]
    case_id: str = case["id"]
    if case_id in FAULTY:
        return FAULTY[case_id]
    return None
