"""Failures of mutating policies, and the Status that refuses a request because of them.

As k8s.io/apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.admission.decision_source import Source
from celadon.admission.request import Request, error_name
from celadon.kube import Status, StatusCause, StatusDetails, StatusError
from celadon.kube.go import quote
from celadon.records import dataclass

INVALID: Final = "Invalid"
FORBIDDEN: Final = "Forbidden"


@dataclass(frozen=True, slots=True)
class MutationFailure:
    """`binding` is empty for an error of the policy itself. `reason` is Invalid for what went wrong
    in an evaluation, Forbidden for a wrong configuration. `index` is that of the mutation; None
    for all else."""

    policy: str
    binding: str
    param: str
    text: str
    reason: str
    source: Source
    ignored: bool
    index: int | None = None

    @property
    def message(self) -> str:
        """As a client is told."""
        if self.binding:
            by = f"policy '{self.policy}' with binding '{self.binding}'"
        else:
            by = f"policy {quote(self.policy)}"
        return f"{by} denied request: {self.text}"


def refusal(request: Request, failures: Sequence[MutationFailure]) -> StatusError | None:
    """403 with a cause for every failure that is not ignored; the first is the message."""
    found = [one for one in failures if not one.ignored]
    if not found:
        return None
    resource = request.resource.group_resource
    return StatusError(
        Status(
            message=found[0].message,
            reason=found[0].reason,
            details=StatusDetails(
                name=error_name(request),
                group=resource.group,
                kind=resource.resource,
                causes=tuple(StatusCause(message=one.message) for one in found),
            ),
            code=403,
        )
    )
