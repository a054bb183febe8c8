"""`authorizer` in expressions: the request's user, asking the world's authorizer.

Answers are kept for the length of one review, so the same question is asked once. As
k8s.io/apiserver `pkg/admission/plugin/authorizer/caching_authorizer.go`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from celadon.admission.request import Request
from celadon.admission.world import World
from celadon.kube import Answer, Attributes
from celadon.kube.library import Authorizer


class RememberedAnswers:
    """The world's authorizer, with what it said so far."""

    __slots__ = ("_answers", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._answers: dict[Hashable, Answer] = {}

    def authorize(self, attributes: Attributes) -> Answer:
        key = attributes.identity
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._world.authorize(attributes)
        return answer


def authorizer_values(request: Request, world: World) -> Mapping[str, Any]:
    """`authorizer`, and `authorizer.requestResource` for what the request is about."""
    authorizer = Authorizer(request.user, RememberedAnswers(world))
    resource = request.resource
    check = authorizer.request_resource(
        resource.group, resource.resource, request.subresource, request.namespace, request.name
    )
    return {"authorizer": authorizer, "authorizer.requestResource": check}
