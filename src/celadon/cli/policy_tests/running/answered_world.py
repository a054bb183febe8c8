"""A world in which some questions to the authorizer have answers given beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.admission import ObjectWorld
from celadon.cli.policy_tests.policy_test import AuthorizerAnswer
from celadon.kube import Answer, Attributes, GroupVersionKind, GroupVersionResource, JsonObject
from celadon.kube.catalogue import Catalog


class AnsweredWorld:
    """The given world; of several answers to a question the first one counts."""

    __slots__ = ("_answers", "_world")

    def __init__(self, world: ObjectWorld, answers: Sequence[AuthorizerAnswer]) -> None:
        self._world = world
        self._answers = answers

    @property
    def catalog(self) -> Catalog:
        """That of the given world."""
        return self._world.catalog

    def namespace(self, name: str) -> JsonObject | None:
        """As in the given world."""
        return self._world.namespace(name)

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """As in the given world."""
        return self._world.get(resource, namespace, name)

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """As in the given world."""
        return self._world.list(resource, namespace)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """As in the given world."""
        return self._world.convert(obj, kind)

    def authorize(self, attributes: Attributes) -> Answer:
        """An answer that was given, else what the roles of the world say."""
        for one in self._answers:
            if _is_asked(one, attributes):
                return one.ruling, one.reason, one.error
        return self._world.authorize(attributes)


def _is_asked(answer: AuthorizerAnswer, attributes: Attributes) -> bool:
    actual = {
        "user": attributes.user.name,
        "verb": attributes.verb,
        "path": attributes.path,
        "group": attributes.group,
        "version": attributes.version,
        "resource": attributes.resource,
        "subresource": attributes.subresource,
        "namespace": attributes.namespace,
        "name": attributes.name,
    }
    return all(actual[name] == value for name, value in answer.asked.items())
