"""How applications begin and end."""

from __future__ import annotations

import asyncio
import logging

import pytest

from celadon.apiserver.http import StartError
from celadon.webhook.applications import Application, lived
from celadon.webhook.webhook_app import Message, Receive, Scope, Send, Webhook
from tests.webhook.applications.applications import broken, silent


def living(seen: list[str], **answers: Message) -> Application:
    """Answers with `complete`, or what is given for a stage."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope == {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "state": {},
        }
        scope["state"]["kept"] = 3
        while seen[-1:] != ["shutdown"]:
            stage = (await receive())["type"].removeprefix("lifespan.")
            seen.append(stage)
            await send(answers.get(stage, {"type": f"lifespan.{stage}.complete"}))

    return application


def test_an_application_begins_and_ends() -> None:
    seen: list[str] = []

    async def live() -> None:
        async with lived(living(seen)) as state:
            assert (seen, state) == (["startup"], {"kept": 3})

    asyncio.run(live())
    assert seen == ["startup", "shutdown"]


@pytest.mark.parametrize("application", [silent, broken, Webhook("rules.example.com")])
def test_who_takes_no_part_is_served(
    application: Application, caplog: pytest.LogCaptureFixture
) -> None:
    async def live() -> None:
        async with lived(application) as state:
            assert state == {}

    asyncio.run(asyncio.wait_for(live(), 60))
    assert not caplog.records


@pytest.mark.parametrize(
    ("message", "said"), [("no\ndatabase", "no database"), ("", "it does not say why")]
)
def test_who_cannot_begin_is_not(message: str, said: str) -> None:
    failure = {"type": "lifespan.startup.failed", "message": message}

    async def live() -> None:
        async with lived(living([], startup=failure)):
            raise AssertionError

    with pytest.raises(StartError, match=f"^the application does not start: {said}$"):
        asyncio.run(live())


def test_an_end_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    failure = {"type": "lifespan.shutdown.failed", "message": "half"}

    async def live() -> None:
        async with lived(living([], shutdown=failure)):
            pass

    with caplog.at_level(logging.WARNING):
        asyncio.run(live())
    assert caplog.messages == ["the application did not end well"]


def test_the_end_comes_after_a_failure_too() -> None:
    seen: list[str] = []

    async def live() -> None:
        async with lived(living(seen)):
            raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(live())
    assert seen[-1] == "shutdown"
