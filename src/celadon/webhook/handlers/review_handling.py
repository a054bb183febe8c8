"""A review through a handler: what the function returns or raises becomes the answer."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

from celadon.admission.webhooks import REVIEW_KIND
from celadon.kube.registry import patch_between
from celadon.webhook.handlers.decorated_handlers import Handler
from celadon.webhook.handlers.denials import Denied
from celadon.webhook.handlers.handler_requests import Request, handler_request
from celadon.webhook.reviews.incoming_reviews import Review


async def handled(handler: Handler, review: Review) -> dict[str, Any]:
    """The review that answers. Raises what the function raises, but for denials. Functions that
    are not async run in a thread."""
    request = handler_request(review.request)
    before = _copied(request.given) if handler.mutating else None
    try:
        result = await _called(handler, request)
    except Denied as denial:
        result = denial
    response: dict[str, Any] = {"uid": request.uid, "allowed": True}
    if handler.mutating:
        _change(handler, response, request, before, result)
    else:
        _judge(handler, response, result)
    if request.warnings:
        response["warnings"] = [str(warning) for warning in request.warnings]
    if request.audit_annotations:
        response["auditAnnotations"] = dict(request.audit_annotations)
    return {"kind": REVIEW_KIND, "apiVersion": review.api_version, "response": response}


async def _called(handler: Handler, request: Request) -> Any:  # noqa: ANN401 - checked later
    if handler.is_async:
        return await handler.function(request)
    return await asyncio.to_thread(handler.function, request)


def _judge(handler: Handler, response: dict[str, Any], result: object) -> None:
    if result is False:
        result = Denied(handler.complaint or f"refused by {handler.name}")
    if isinstance(result, Denied):
        _deny(response, result)
    elif result is not None and result is not True:
        raise TypeError(
            f"handler `{handler.name}` returned {type(result).__name__}: a validating function "
            "returns true, false, a denial, or nothing"
        )


def _change(
    handler: Handler,
    response: dict[str, Any],
    request: Request,
    before: dict[str, Any] | None,
    result: object,
) -> None:
    if isinstance(result, Denied):
        _deny(response, result)
        return
    if result is not None and not isinstance(result, dict):
        raise TypeError(
            f"handler `{handler.name}` returned {type(result).__name__}: a mutating function "
            "returns an object, a denial, or nothing"
        )
    after = request.given if result is None else result
    if before is None or after is None:
        if result is not None:
            raise TypeError(
                f"handler `{handler.name}` returned an object for {request.operation.value}, "
                "which has none"
            )
        return
    patch = patch_between(before, _copied(after))
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()


def _deny(response: dict[str, Any], denial: Denied) -> None:
    response["allowed"] = False
    response["status"] = denial.status()


def _copied(obj: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """As JSON has it: tuples are lists, keys are texts. Raises TypeError, ValueError for what is
    none."""
    if obj is None:
        return None
    found: dict[str, Any] = json.loads(json.dumps(obj, allow_nan=False))
    return found
