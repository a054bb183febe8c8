"""AdmissionReviews that were answered to PolicyTests.

The request is asked again, of the policies beside the file; its `response` is what is expected. So
are the files kept that gator and kwctl are given. Format: `admission.k8s.io/v1`, kind
`AdmissionReview`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.cli.policy_tests.foreign_tests.rewriting import Rewriting, Rewritten
from celadon.cli.reading.locations import Chunk

_TAKEN: Final = {
    "object": "object",
    "oldObject": "oldObject",
    "operation": "operation",
    "subResource": "subresource",
    "namespace": "namespace",
    "dryRun": "dryRun",
}
"""Fields of a request, and of a case."""
_FOLLOWING: Final = frozenset(
    {
        "uid",
        "kind",
        "resource",
        "requestKind",
        "requestResource",
        "requestSubResource",
        "name",
        "options",
    }
)
"""What follows from the object, or from the operation."""
_USER: Final = {"username": "user", "groups": "groups", "uid": "uid", "extra": "extra"}
_STATUS: Final = ("message", "reason", "code")
_NO_MATTER: Final = frozenset({"metadata", "status", "details"})


def is_review(value: object) -> bool:
    """Whether a document is an AdmissionReview with a request."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "AdmissionReview"
        and isinstance(value.get("request"), Mapping)
    )


def rewritten(chunk: Chunk, value: Any, expected: str = "") -> Rewritten:  # noqa: ANN401 - any JSON
    """The test; `expected` is the verdict where the review has no response."""
    way = Rewriting(chunk, value)
    way.refuse_others((), {"apiVersion", "kind", "request", "response"})
    request, at = value["request"], ("request",)
    way.refuse_others(at, {"userInfo", *_TAKEN, *_FOLLOWING})
    if request.get("userInfo"):
        way.refuse_others((*at, "userInfo"), _USER)
    response = value.get("response")
    expect: dict[str, Any] | None = {"verdict": expected}
    if response is not None or not expected:
        expect = _expected(way, response)
    if expect is not None:
        way.add({"name": _name(request), **request_fields(request), "expect": expect}, at)
    return way.done("")


def request_fields(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a case has of the request of a review."""
    case = {ours: request[theirs] for theirs, ours in _TAKEN.items() if request.get(theirs)}
    if "object" not in case and "oldObject" in case:
        case["object"] = case.pop("oldObject")  # what a DELETE is about
    user = request.get("userInfo") or {}
    return case | {ours: user[theirs] for theirs, ours in _USER.items() if user.get(theirs)}


def _name(request: Mapping[str, Any]) -> str:
    kind = (request.get("kind") or {}).get("kind", "object")
    return f"{request.get('operation', 'CREATE')} {kind} {request.get('name', '')}".rstrip()


def _expected(way: Rewriting, response: Any) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON
    """What the response says; None, and a problem, where it says nothing."""
    if not isinstance(response, Mapping) or not isinstance(response.get("allowed"), bool):
        way.say((), "no expectation: the review has no `response` with `allowed`")
        return None
    way.refuse_others(("response",), {"uid", "allowed", "status", "warnings"})
    if response["allowed"]:
        found: dict[str, Any] = {"verdict": CaseVerdict.ADMIT.value}
    else:
        found = {"verdict": CaseVerdict.DENY.value}
    if status := response.get("status"):
        way.refuse_others(("response", "status"), {*_STATUS, *_NO_MATTER})
        found |= {name: status[name] for name in _STATUS if status.get(name)}
    if warnings := response.get("warnings"):
        found["warnings"] = warnings
    return found
