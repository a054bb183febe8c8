"""Admission webhooks as the API server calls them, without the calling.

Read first: `hooks` (which of them a request concerns), then `dispatchers` (who is asked when, what
follows from the answers, and what the client, the audit log and metrics are told). `reviews` has
what is sent, and what comes back or does not. Whoever owns the network makes a `Reply` or `NoReply`
of each `Call`.
"""

from celadon.admission.registration.registration_types import WebhookClientConfig
from celadon.admission.webhooks.dispatchers import (
    MUTATION,
    NO_ERROR,
    CallRecord,
    MutatingPhase,
    Readmit,
    ValidatingPhase,
    WebhookNotes,
    patch_annotation,
)
from celadon.admission.webhooks.hooks import (
    AsJson,
    CallError,
    Excluded,
    Hook,
    HookSet,
    NoReply,
    Reply,
    Selected,
    UnreadableBody,
    http_failure,
)
from celadon.admission.webhooks.reviews import API_VERSIONS as REVIEW_VERSIONS
from celadon.admission.webhooks.reviews import KIND as REVIEW_KIND
from celadon.admission.webhooks.reviews import (
    Call,
    WebhookCall,
    call_url,
    other_kind,
    unknown_conversion,
)

__all__ = [
    "MUTATION",
    "NO_ERROR",
    "REVIEW_KIND",
    "REVIEW_VERSIONS",
    "AsJson",
    "Call",
    "CallError",
    "CallRecord",
    "Excluded",
    "Hook",
    "HookSet",
    "MutatingPhase",
    "NoReply",
    "Readmit",
    "Reply",
    "Selected",
    "UnreadableBody",
    "ValidatingPhase",
    "WebhookCall",
    "WebhookClientConfig",
    "WebhookNotes",
    "call_url",
    "http_failure",
    "other_kind",
    "patch_annotation",
    "unknown_conversion",
]
