"""From a verdict to the AdmissionReview that answers.

An API server publishes a webhook's audit annotations as `<webhook>/<key>`, and drops those whose
key has a slash of its own or is longer than 63 characters. So what a policy publishes as
`<policy>/<key>` in a cluster is called `<policy>_<key>` here (no policy's name has an underscore),
and shortened, with a hash of the whole, where that is too long; the record of failed validations,
`validation.policy.admission.k8s.io/validation_failure`, is called `validation_failure`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.admission import VALIDATION_FAILURE, Verdict
from celadon.admission.webhooks import REVIEW_KIND
from celadon.kube import name_rules
from celadon.webhook.reviews.incoming_reviews import Review

FAILURE_KEY: Final = VALIDATION_FAILURE.rpartition("/")[2]
_HASH_CHARACTERS: Final = 10


def answer_review(
    review: Review, verdict: Verdict, patch: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The review that answers, in the version of the one that asks; `patch` is a JSON patch."""
    response: dict[str, Any] = {"uid": review.request.uid, "allowed": verdict.allowed}
    if verdict.status is not None:
        response["status"] = verdict.status
    if verdict.recorded:
        response["warnings"] = list(verdict.warnings)
    if verdict.audit_annotations:
        response["auditAnnotations"] = hook_annotations(verdict.audit_annotations)
    if patch and verdict.allowed:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"kind": REVIEW_KIND, "apiVersion": review.api_version, "response": response}


def hook_annotations(published: Mapping[str, str]) -> dict[str, str]:
    """The annotations of a verdict under keys that an API server takes from a webhook."""
    return {_hook_key(name): text for name, text in published.items()}


def _hook_key(name: str) -> str:
    if name == VALIDATION_FAILURE:
        return FAILURE_KEY
    key = name.replace("/", "_")
    if key != FAILURE_KEY and len(key) <= name_rules.QUALIFIED_NAME_MAX_BYTES:
        return key
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_CHARACTERS]
    return f"{key[: name_rules.QUALIFIED_NAME_MAX_BYTES - _HASH_CHARACTERS - 1]}-{digest}"
