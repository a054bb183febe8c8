"""What a phase of webhooks leaves behind besides its outcome: warnings, annotations, numbers.

Annotation keys are those of k8s.io/apiserver `pkg/admission/plugin/webhook/{mutating,validating}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from celadon.admission.webhooks.call_results import CallError
from celadon.admission.webhooks.hooks import Excluded, Hook
from celadon.kube import StatusError, name_rules
from celadon.kube.go import json_text
from celadon.records import dataclass

MUTATION: Final = "mutation.webhook.admission.k8s.io/"
"""How annotations of audit events begin that say what a mutating webhook did."""
PATCH: Final = "patch.webhook.admission.k8s.io/"
FAILED_OPEN: Final = "failed-open."
VALIDATING: Final = "validating.webhook.admission.k8s.io/"

CALLING_WEBHOOK_ERROR: Final = "calling_webhook_error"
INTERNAL_ERROR: Final = "apiserver_internal_error"
NO_ERROR: Final = "no_error"
"""The type of error of an answer that does not allow: nothing went wrong."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One hook that was asked, as metrics count it. `error_type` is empty for an answer that
    allows; `code` is that of the answer or of the failure, 0 for errors of the server's own.
    `message` says why the request was refused, or what went wrong."""

    hook: Hook
    rejected: bool
    code: int = 200
    error_type: str = ""
    failed_open: bool = False
    message: str = ""

    @staticmethod
    def denial(hook: Hook, denial: StatusError) -> CallRecord:
        """An answer that does not allow."""
        return CallRecord(
            hook, rejected=True, code=denial.code, error_type=NO_ERROR, message=str(denial)
        )

    @staticmethod
    def own_error(hook: Hook, error: StatusError) -> CallRecord:
        """What went wrong before or after the call, which no failure policy ignores."""
        return CallRecord(
            hook, rejected=True, code=0, error_type=INTERNAL_ERROR, message=str(error)
        )

    @staticmethod
    def failure(hook: Hook, error: CallError) -> CallRecord:
        """A call that failed, which the failure policy decides upon."""
        ignored = hook.ignores_failures
        text = error.of(hook.name)
        return CallRecord(hook, not ignored, error.code, CALLING_WEBHOOK_ERROR, ignored, text)


@dataclass(slots=True)
class WebhookNotes:
    """`warnings` are texts as they came; of `annotations` the first value of a key stays.
    `request_annotations` are for audit levels from Request on only. `unasked` are hooks that were
    to be asked, but nobody has."""

    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    request_annotations: dict[str, str] = field(default_factory=dict)
    calls: list[CallRecord] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    unasked: list[Hook] = field(default_factory=list)

    def answered(self, hook: Hook, warnings: Any, annotations: Mapping[str, str]) -> None:  # noqa: ANN401 - any JSON
        """What a verified answer says beside yes or no. Keys that are no names are dropped."""
        self.warnings += warnings
        for key, value in annotations.items():
            full = f"{hook.name}/{key}"
            if full.count("/") == 1 and not name_rules.qualified_name(full):
                self.annotations.setdefault(full, value)

    def mutation(self, hook: Hook, round_number: int, *, mutated: bool) -> None:
        """Every mutating hook that was selected, whatever became of it."""
        value = {"configuration": hook.configuration, "webhook": hook.name, "mutated": mutated}
        self.annotations.setdefault(f"{MUTATION}{_place(round_number, hook)}", json_text(value))

    def patch(self, hook: Hook, round_number: int, operations: Any) -> None:  # noqa: ANN401 - any JSON
        """A patch that was applied."""
        value = {
            "configuration": hook.configuration,
            "webhook": hook.name,
            "patch": [dict(sorted(operation.items())) for operation in operations],
            "patchType": "JSONPatch",
        }
        self.request_annotations.setdefault(patch_annotation(hook, round_number), json_text(value))

    def mutating_failed_open(self, hook: Hook, round_number: int) -> None:
        """A mutating hook that could not be called, and is ignored."""
        key = f"{FAILED_OPEN}{MUTATION}{_place(round_number, hook)}"
        self.annotations.setdefault(key, hook.name)

    def validating_failed_open(self, hook: Hook, index: int) -> None:
        """A validating one; `index` counts those that were selected."""
        self.annotations.setdefault(f"{FAILED_OPEN}{VALIDATING}round_0_index_{index}", hook.name)


def patch_annotation(hook: Hook, round_number: int) -> str:
    """The key under which `WebhookNotes.patch` notes a patch."""
    return f"{PATCH}{_place(round_number, hook)}"


def _place(round_number: int, hook: Hook) -> str:
    return f"round_{round_number}_index_{hook.index}"
