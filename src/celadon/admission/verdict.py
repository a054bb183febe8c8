"""`Verdict`, the answer to a request, and how decisions fold into it.

Evaluation produces `Decision`s and annotation values; `Folder` takes them in order and builds the
`Verdict`: the first denial becomes the Status, warnings go through the rules of the API server's
warning recorder, audit annotations keep the first value of a key. `Note`s say what did not lead to
a decision and why; they are kept only when asked for.

As k8s.io/apiserver `pkg/admission/plugin/policy/validating/dispatcher.go` and
`pkg/endpoints/filters/warning.go`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celadon.admission import policy_limits
from celadon.admission.decision_source import Source
from celadon.admission.registration.registration_types import AUDIT, DENY, WARN
from celadon.admission.request import Request, error_name
from celadon.kube import (
    JsonObject,
    Status,
    StatusCause,
    StatusDetails,
    StatusError,
    name_rules,
    status,
)
from celadon.kube.go import json_text
from celadon.records import dataclass, field, replace

VALIDATION_FAILURE: Final = "validation.policy.admission.k8s.io/validation_failure"
"""The audit annotation with what failed, of bindings that audit."""

_CODES: Final = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
INVALID: Final = "Invalid"


class Action(enum.Enum):
    """Says what a decision asks for, before the actions of the binding."""

    ADMIT = enum.auto()
    DENY = enum.auto()


class Cause(enum.Enum):
    """Says what made a decision. All but a validation are errors."""

    VALIDATION = "validation"
    CONDITION = "match condition error"
    ERROR = "evaluation error"
    CONFIGURATION = "configuration error"
    ANNOTATION = "audit annotation error"


@dataclass(frozen=True, slots=True)
class Decision:
    """Records the outcome of one expression for one (policy, binding, param).

    `source` is the field to which it is due: the expression itself, the variable that failed in it,
    or what is wrong with the configuration; of several match conditions that failed, the first.
    `index` is that of the validation (0 where one error stands for all of them), or of the audit
    annotation. `actions` are the binding's; a configuration or annotation error denies whatever
    they say. `binding` is empty for an error of the policy itself, `param` for null params, else
    `namespace/name` or `name`. `cost` is known when the metered program ran.
    """

    policy: str
    binding: str
    index: int
    source: Source
    action: Action
    message: str = ""
    reason: str = ""
    cause: Cause = Cause.VALIDATION
    actions: tuple[str, ...] = ()
    param: str = ""
    cost: int | None = None

    @property
    def denies(self) -> bool:
        """Return whether it alone would refuse the request."""
        return self.action is Action.DENY and (self.cause in _ALWAYS_DENIED or DENY in self.actions)


_ALWAYS_DENIED: Final = frozenset({Cause.CONFIGURATION, Cause.ANNOTATION})


@dataclass(frozen=True, slots=True)
class RecordedWarning:
    """Holds a warning as the client gets it, and the decisions whose text it is: none if it does
    not come from policies."""

    text: str
    decisions: tuple[Decision, ...] = ()


class Outcome(enum.Enum):
    """Names why something had no say. Errors are ignored where failurePolicy is `Ignore`, params
    that are not found where parameterNotFoundAction is `Allow`; exempt are resources. Undecided is
    what only a conversion webhook could tell that is not called."""

    EVALUATED = enum.auto()
    POLICY_WITHOUT_BINDING = enum.auto()
    BINDING_WITHOUT_POLICY = enum.auto()
    POLICY_UNMATCHED = enum.auto()
    BINDING_UNMATCHED = enum.auto()
    CONDITION_FALSE = enum.auto()
    CONDITION_ERROR_IGNORED = enum.auto()
    CONFIGURATION_ERROR_IGNORED = enum.auto()
    PARAM_NOT_FOUND = enum.auto()
    EXEMPT = enum.auto()
    UNDECIDED = enum.auto()


@dataclass(frozen=True, slots=True)
class Note:
    """Notes what had no say, or was ignored; `source` is the field that an ignored error comes
    from."""

    outcome: Outcome
    policy: str = ""
    binding: str = ""
    param: str = ""
    detail: str = ""
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Holds the answer to a request. `status` is the body of the refusal, None when allowed; `code`
    is its HTTP code or 200. `denial` is the decision that refuses, None also for an API error that
    ended the dispatch."""

    allowed: bool = True
    code: int = 200
    status: JsonObject | None = None
    recorded: tuple[RecordedWarning, ...] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    notes: tuple[Note, ...] = ()
    denial: Decision | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the texts of the warnings, as a client gets them."""
        return tuple(warning.text for warning in self.recorded)

    @property
    def message(self) -> str:
        """Return the sentence of the refusal; empty when allowed."""
        return "" if self.status is None else str(self.status.get("message", ""))


ALLOWED: Final = Verdict()


def denial_text(decision: Decision) -> str:
    """Return what refuses the request, without the resource's name."""
    suffix = f" with binding '{decision.binding}'" if decision.binding else ""
    return (
        f"ValidatingAdmissionPolicy '{decision.policy}'{suffix} denied request: {decision.message}"
    )


def warning_text(decision: Decision) -> str:
    """Return what warns the client, before the recorder cuts it."""
    return (
        f"Validation failed for ValidatingAdmissionPolicy '{decision.policy}' with binding "
        f"'{decision.binding}': {decision.message}"
    )


def denial_status(request: Request, decision: Decision) -> Status:
    """Return the Status of a denial. The words "is forbidden" stay whatever the reason is."""
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

    __slots__ = ("_annotations", "_decisions", "_denied", "_notes", "_warned", "request")

    def __init__(self, request: Request, notes: list[Note] | None = None) -> None:
        self.request = request
        self._denied: Decision | None = None
        self._decisions: list[Decision] = []
        self._warned: dict[str, list[Decision]] = {}
        self._annotations: dict[str, str] = {}
        self._notes = notes

    def add(self, decision: Decision) -> None:
        """Enforce one decision by the binding's actions, in their order."""
        self._decisions.append(decision)
        if decision.action is Action.ADMIT:
            return
        if self._denied is None and decision.denies:
            self._denied = decision
        if decision.cause in _ALWAYS_DENIED:
            return
        for action in decision.actions:
            if action == AUDIT:
                self._annotations.setdefault(VALIDATION_FAILURE, _failure_record(decision))
            elif action == WARN:
                self._warned.setdefault(warning_text(decision), []).append(decision)

    @property
    def count(self) -> int:
        """Return how many decisions there are so far."""
        return len(self._decisions)

    def decisions_from(self, start: int) -> Sequence[Decision]:
        """Return the decisions after the first `start`."""
        return self._decisions[start:]

    def note(self, note: Note) -> None:
        """Keep a note, if anyone asked for notes."""
        if self._notes is not None:
            self._notes.append(note)

    def annotate(self, policy: str, values: Mapping[str, Sequence[str]]) -> None:
        """Publish a policy's annotations: per key, all distinct values in first-seen order."""
        for key, texts in values.items():
            full = f"{policy}/{key}"
            if not name_rules.qualified_name(full):
                self._annotations.setdefault(full, ", ".join(dict.fromkeys(texts)))

    def verdict(self, failure: StatusError | None = None) -> Verdict:
        """Return the verdict. `failure` is an API error that ended the dispatch; it goes to the
        client as it is."""
        refusal = failure.status if failure is not None else None
        denial = self._denied if refusal is None else None
        if denial is not None:
            refusal = denial_status(self.request, denial)
        return Verdict(
            allowed=refusal is None,
            code=200 if refusal is None else refusal.code,
            status=None if refusal is None else refusal.to_json(),
            recorded=recorded_warnings(
                RecordedWarning(text, tuple(decisions)) for text, decisions in self._warned.items()
            ),
            audit_annotations=self._annotations,
            decisions=tuple(self._decisions),
            notes=tuple(self._notes or ()),
            denial=denial,
        )


def _failure_record(decision: Decision) -> str:
    record = {
        "message": decision.message,
        "policy": decision.policy,
        "binding": decision.binding,
        "expressionIndex": decision.index,
        "validationActions": list(decision.actions),
    }
    return json_text([record])


def recorded_warnings(warnings: Iterable[RecordedWarning]) -> tuple[RecordedWarning, ...]:
    """Return what remains of a request's warnings, each text given once, as headers.

    Empty texts are dropped, and those with control characters. When the total goes
    over its limit all of them so far are cut (and looked at again), and later ones too, until the
    cut ones reach the limit as well.
    """
    seen: list[RecordedWarning] = []
    result: list[RecordedWarning] = []
    total = 0
    truncating = False
    for warning in warnings:
        if not warning.text:
            continue
        if truncating and total >= policy_limits.WARNING_TOTAL_RUNES:
            break
        seen.append(warning)
        printed = _cut(warning) if truncating else warning
        if not _is_sendable(printed.text):
            continue
        if truncating or total + len(printed.text) <= policy_limits.WARNING_TOTAL_RUNES:
            result.append(printed)
            total += len(printed.text)
            continue
        truncating = True
        result = [cut for cut in map(_cut, seen) if _is_sendable(cut.text)]
        total = sum(len(cut.text) for cut in result)
    return tuple(result)


def _cut(warning: RecordedWarning) -> RecordedWarning:
    return replace(warning, text=warning.text[: policy_limits.WARNING_ITEM_RUNES])


def _is_sendable(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return True
    return not any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in text)
