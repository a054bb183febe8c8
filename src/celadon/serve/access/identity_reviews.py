"""Who am I, and whose token is this: the reviews of authentication.k8s.io.

As k8s.io/kubernetes `pkg/registry/authentication/{selfsubjectreview,tokenreview}`.
"""

from __future__ import annotations

import datetime
from typing import Any

from celadon.kube import JsonObject, User, status
from celadon.kube.well_known_values import AUTHENTICATION_GROUP
from celadon.serve.access.authentication import Authenticator, Credentials
from celadon.serve.access.identities import user_info


def rfc3339(at: datetime.datetime) -> str:
    """As times stand in objects: in UTC, in whole seconds."""
    return at.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def self_subject_review(user: User, now: datetime.datetime) -> dict[str, Any]:
    """Who am I. Nothing of the review that was sent comes back."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": f"{AUTHENTICATION_GROUP}/v1",
        "metadata": {"creationTimestamp": rfc3339(now)},
        "status": {"userInfo": user_info(user)},
    }


def token_review(
    review: JsonObject, authenticator: Authenticator, now: datetime.datetime
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The answer, and warnings. The token is tried as if a request had come with it, so one with a
    space before it is nobody's: that of the anonymous user. Raises StatusError (400)."""
    spec = review.get("spec") or {}
    token = spec.get("token")
    if not token:
        raise status.bad_request("token is required for TokenReview in authentication")
    audiences = spec.get("audiences") or None
    found = authenticator.authenticate(Credentials(f"Bearer {token}"), now, audiences)
    shown: dict[str, Any] = {"user": {}}
    if found.user is not None:
        shown = {"authenticated": True, "user": user_info(found.user)}
        if found.audiences:
            shown["audiences"] = list(found.audiences)
    if found.error:
        shown["error"] = found.error
    return {**review, "status": shown}, found.warnings
