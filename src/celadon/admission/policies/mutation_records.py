"""What mutating policies have done to an object, for those who tell others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final, Protocol

from celadon.admission.decision_source import Source
from celadon.admission.request import Request, error_name
from celadon.admission.verdict import Note
from celadon.kube import JsonObject, Status, StatusCause, StatusDetails, StatusError
from celadon.kube.go import quote
from celadon.records import dataclass

# --- Mutation refusals -------------------------------------------------------
#
# Failures of mutating policies, and the Status that refuses a request because of them.
#
# As k8s.io/apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go`.


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


# House rule 9: nobody assigns to its fields, but it is not frozen: each mutation makes one, and a
# frozen one takes several times as long.
@dataclass(slots=True)
class Change:
    """One mutation that was applied, whether or not it made a difference. `round` is 0 or 1."""

    policy: str
    binding: str
    param: str
    index: int
    source: Source
    round: int
    before: JsonObject
    after: JsonObject


class MutationObserver(Protocol):
    """Is told what mutations came to, one after the other: for measuring."""

    def begin(self) -> object:
        """Before the mutations of a policy with one param; what it returns is nobody's business."""

    def mutated(self, policy: str, binding: str, failure: str) -> None:
        """A mutation was tried; `failure` is empty if it was applied."""


@dataclass(slots=True)
class MutationNotes:
    """Of one request: the mutations in their order, failures, also those that were ignored, and
    what had no say."""

    changes: list[Change] = field(default_factory=list)
    failures: list[MutationFailure] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
