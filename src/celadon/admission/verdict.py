"""What is answered: decisions, and how they fold into one verdict.

Evaluation produces `Decision`s and annotation values; `Folder` takes them in order and builds the
`Verdict`: the first denial becomes the Status, warnings go through the rules of the API server's
warning recorder, audit annotations keep the first value of a key. `Note`s say what did not lead to
a decision and why; they are kept only when asked for.

As k8s.io/apiserver `pkg/admission/plugin/policy/validating/dispatcher.go` and
`pkg/endpoints/filters/warning.go`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from celadon.admission import policy_limits
from celadon.admission.registration.registration_types import AUDIT, DENY, WARN
from celadon.admission.request import Request, error_name
from celadon.kube import Status, StatusCause, StatusDetails, StatusError, name_rules, status
from celadon.kube.go import json_text

VALIDATION_FAILURE: Final = "validation.policy.admission.k8s.io/validation_failure"
_CODES: Final = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
INVALID: Final = "Invalid"


class Action(enum.Enum):
    ADMIT = "admit"
    DENY = "deny"


class Cause(enum.Enum):
    """Where a decision comes from."""

    VALIDATION = "validation"
    ERROR = "evaluation error"
    CONFIGURATION = "configuration error"
    ANNOTATION = "audit annotation error"


@dataclass(frozen=True, slots=True)
class Decision:
    """One expression's outcome for one (policy, binding, param).

    `index` is that of the validation (0 where one error stands for all of them), or of the audit
    annotation. `actions` are the binding's; a configuration or annotation error denies whatever
    they say. `binding` is empty for an error of the policy itself, `param` for null params, else
    `namespace/name` or `name`. `cost` is known when the metered program ran.
    """

    policy: str
    binding: str
    index: int
    action: Action
    message: str = ""
    reason: str = ""
    cause: Cause = Cause.VALIDATION
    actions: tuple[str, ...] = ()
    param: str = ""
    cost: int | None = None


class Outcome(enum.Enum):
    """Why something had no say."""

    EVALUATED = "evaluated"
    POLICY_WITHOUT_BINDING = "policy has no binding"
    BINDING_WITHOUT_POLICY = "binding's policy does not exist"
    POLICY_UNMATCHED = "policy does not match the request"
    BINDING_UNMATCHED = "binding does not match the request"
    CONDITION_FALSE = "a match condition is false"
    CONDITION_ERROR_IGNORED = "a match condition failed and failurePolicy is Ignore"
    CONFIGURATION_ERROR_IGNORED = "misconfigured and failurePolicy is Ignore"
    PARAM_NOT_FOUND = "no params found and parameterNotFoundAction is Allow"
    EXEMPT = "the resource is exempt from policies"


@dataclass(frozen=True, slots=True)
class Note:
    outcome: Outcome
    policy: str = ""
    binding: str = ""
    param: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`status` is the body of the refusal, None when allowed; `code` is its HTTP code or 200."""

    allowed: bool = True
    code: int = 200
    status: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def message(self) -> str:
        return "" if self.status is None else str(self.status.get("message", ""))


ALLOWED: Final = Verdict()


def denial_text(decision: Decision) -> str:
    """What refuses the request, without the resource's name."""
    by = f" with binding '{decision.binding}'" if decision.binding else ""
    return f"ValidatingAdmissionPolicy '{decision.policy}'{by} denied request: {decision.message}"


def warning_text(decision: Decision) -> str:
    return (
        f"Validation failed for ValidatingAdmissionPolicy '{decision.policy}' with binding "
        f"'{decision.binding}': {decision.message}"
    )


def denial_status(request: Request, decision: Decision) -> Status:
    """The words "is forbidden" stay whatever the reason is."""
    reason = decision.reason or INVALID
    text = denial_text(decision)
    resource = request.resource.group_resource
    name = error_name(request)
    return Status(
        message=status.forbidden_message(resource, name, text),
        reason=reason,
        details=StatusDetails(
            name=name,
            group=resource.group,
            kind=resource.resource,
            causes=(StatusCause(message=text),),
        ),
        code=_CODES.get(reason, 422),
    )


class Folder:
    """Takes decisions, annotations and notes in order, gives the verdict."""

    __slots__ = ("_annotations", "_decisions", "_denied", "_notes", "_warnings", "request")

    def __init__(self, request: Request, notes: list[Note] | None = None) -> None:
        self.request = request
        self._denied: Decision | None = None
        self._decisions: list[Decision] = []
        self._warnings: list[str] = []
        self._annotations: dict[str, str] = {}
        self._notes = notes

    def add(self, decision: Decision) -> None:
        """Enforce one decision by the binding's actions, in their order."""
        self._decisions.append(decision)
        if decision.action is Action.ADMIT:
            return
        if decision.cause in _ALWAYS_DENIED:
            self._deny(decision)
            return
        for action in decision.actions:
            if action == DENY:
                self._deny(decision)
            elif action == AUDIT:
                self._annotations.setdefault(VALIDATION_FAILURE, _failure_record(decision))
            elif action == WARN:
                self._warnings.append(warning_text(decision))

    def _deny(self, decision: Decision) -> None:
        if self._denied is None:
            self._denied = decision

    def note(self, note: Note) -> None:
        if self._notes is not None:
            self._notes.append(note)

    def annotate(self, policy: str, values: Mapping[str, Sequence[str]]) -> None:
        """Publish a policy's annotations: per key, all distinct values in first-seen order."""
        for key, texts in values.items():
            full = f"{policy}/{key}"
            if not name_rules.qualified_name(full):
                self._annotations.setdefault(full, ", ".join(dict.fromkeys(texts)))

    def verdict(self, failure: StatusError | None = None) -> Verdict:
        """`failure` is an API error that ended the dispatch; it goes to the client as it is."""
        refusal = failure.status if failure is not None else None
        if refusal is None and self._denied is not None:
            refusal = denial_status(self.request, self._denied)
        return Verdict(
            allowed=refusal is None,
            code=200 if refusal is None else refusal.code,
            status=None if refusal is None else refusal.to_json(),
            warnings=recorded_warnings(self._warnings),
            audit_annotations=self._annotations,
            decisions=tuple(self._decisions),
            notes=tuple(self._notes or ()),
        )


_ALWAYS_DENIED: Final = frozenset({Cause.CONFIGURATION, Cause.ANNOTATION})


def _failure_record(decision: Decision) -> str:
    record = {
        "message": decision.message,
        "policy": decision.policy,
        "binding": decision.binding,
        "expressionIndex": decision.index,
        "validationActions": list(decision.actions),
    }
    return json_text([record])


def recorded_warnings(texts: Sequence[str]) -> tuple[str, ...]:
    """What remains of a request's warnings as headers.

    Empty texts and repetitions are dropped, and those with control characters. When the total goes
    over its limit all of them so far are cut (and looked at again), and later ones too, until the
    cut ones reach the limit as well.
    """
    seen: list[str] = []
    kept: list[str] = []
    total = 0
    truncating = False
    for text in dict.fromkeys(texts):
        if not text:
            continue
        if truncating and total >= policy_limits.WARNING_TOTAL_RUNES:
            break
        seen.append(text)
        shown = text[: policy_limits.WARNING_ITEM_RUNES] if truncating else text
        if not _is_sendable(shown):
            continue
        if truncating or total + len(shown) <= policy_limits.WARNING_TOTAL_RUNES:
            kept.append(shown)
            total += len(shown)
            continue
        truncating = True
        cut = (one[: policy_limits.WARNING_ITEM_RUNES] for one in seen)
        kept = [one for one in cut if _is_sendable(one)]
        total = sum(map(len, kept))
    return tuple(kept)


def _is_sendable(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return True
    return not any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in text)
