"""Functions that become handlers, and stay functions."""

from __future__ import annotations

import functools

import pytest

from celadon.webhook.handlers import Request, handler_request, mutate, validate
from celadon.webhook.reviews import decode_review
from tests.webhook.handlers.objects import review


@validate("deployments.apps", failure_policy="Ignore", timeout_seconds=3)
def has_a_team(request: Request) -> bool:
    """A team is wanted.

    More about it.
    """
    return "team" in request.labels


def test_what_is_said_about_a_function() -> None:
    assert has_a_team.name == "has-a-team"
    assert has_a_team.path == "/validate/has-a-team"
    assert has_a_team.complaint == "A team is wanted"
    assert (has_a_team.failure_policy, has_a_team.timeout_seconds) == ("Ignore", 3)
    assert has_a_team.side_effects == "None"
    assert not has_a_team.mutating


def test_it_can_still_be_called() -> None:
    assert has_a_team(handler_request(decode_review(review()).request)) is False


def test_names() -> None:
    @mutate("pods", name="other", reinvocation_policy="IfNeeded")
    def function(request: Request) -> None:
        """Nothing."""

    assert (function.path, function.reinvocation_policy) == ("/mutate/other", "IfNeeded")
    with pytest.raises(ValueError, match=r"^a function without a name needs one: `name=`$"):
        validate("pods")(lambda request: True)


def test_async_functions_are_known() -> None:
    async def function(request: Request) -> None:
        """Nothing."""

    class Callable:
        async def __call__(self, request: Request) -> None:
            """Nothing."""

    partial = functools.partial(function)
    assert validate("pods", name="a")(partial).is_async
    assert validate("pods", name="b")(Callable()).is_async
    assert not has_a_team.is_async
