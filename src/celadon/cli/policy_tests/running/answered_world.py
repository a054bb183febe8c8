"""A world in which some questions to the authorizer have answers given beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cli.checking.overlaid_world import GivenWorld, OverlaidWorld
from celadon.cli.policy_tests.policy_test import AuthorizerAnswer
from celadon.kube import Answer, Attributes


class AnsweredWorld(OverlaidWorld):
    """Of several answers to a question the first one counts."""

    __slots__ = ("_answers",)

    def __init__(self, behind: GivenWorld, answers: Sequence[AuthorizerAnswer]) -> None:
        super().__init__(behind)
        self._answers = answers

    def authorize(self, attributes: Attributes) -> Answer:
        """An answer that was given, else what the roles of the world say."""
        for one in self._answers:
            if _is_asked(one, attributes):
                return one.ruling, one.reason, one.error
        return super().authorize(attributes)


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
