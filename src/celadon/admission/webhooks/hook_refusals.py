"""Why a request is refused on account of a webhook, as its client is told.

As k8s.io/apiserver `pkg/admission/plugin/webhook/errors/statuserror.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.admission.webhooks.call_results import CallError
from celadon.admission.webhooks.hooks import Hook
from celadon.kube import Status, StatusCause, StatusDetails, StatusError, status
from celadon.kube.go import quote

WITHOUT_SIDE_EFFECTS: Final = frozenset({"None", "NoneOnDryRun"})


def failed(hook: Hook, error: CallError) -> StatusError:
    """A call that failed, with failure policy Fail."""
    return status.internal_error(error.of(hook.name))


def dry_run_unsupported(hook: Hook) -> StatusError:
    """A dry run that would not be one."""
    return status.bad_request(f"admission webhook {quote(hook.name)} does not support dry run")


def modified_nothing(hook: Hook) -> StatusError:
    """A patch where there is no object."""
    return status.internal_error(
        f"admission webhook {quote(hook.name)} attempted to modify the object, which is not "
        "supported for this operation"
    )


def denied(hook: Hook, said: Mapping[str, Any] | None) -> StatusError:
    """An answer that does not allow; `said` is its Status, if there is one."""
    said = said or {}
    code = said.get("code", 0)
    verdict = said.get("status", "")
    return StatusError(
        Status(
            status.FAILURE if verdict in {"", status.SUCCESS} else verdict,
            _sentence(hook, said.get("message", ""), said.get("reason", "")),
            said.get("reason", ""),
            _details(said.get("details")),
            code if code >= 400 else 400,
            dict(said.get("metadata") or {}),
        )
    )


def _sentence(hook: Hook, message: str, reason: str) -> str:
    denies = f"admission webhook {quote(hook.name)} denied the request"
    why = message or reason
    return f"{denies}: {why}" if why else f"{denies} without explanation"


def _details(said: Mapping[str, Any] | None) -> StatusDetails | None:
    if said is None:
        return None
    return StatusDetails(
        said.get("name", ""),
        said.get("group", ""),
        said.get("kind", ""),
        said.get("uid", ""),
        _causes(said.get("causes", ())),
        said.get("retryAfterSeconds", 0),
    )


def _causes(said: Sequence[Mapping[str, Any]]) -> tuple[StatusCause, ...]:
    return tuple(
        StatusCause(one.get("message", ""), one.get("reason", ""), one.get("field", ""))
        for one in said
    )
