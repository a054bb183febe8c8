"""The life of an application: told when the server begins, and when it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from celadon.serve.operation import warn
from celadon.serve.transport import StartError
from celadon.webhook.applications.named_application import Application
from celadon.webhook.handlers.asgi_messages import Message, Scope

ASGI: Final = {"version": "3.0", "spec_version": "2.4"}
LIFESPAN: Final = "lifespan"


@asynccontextmanager
async def lived(application: Application) -> AsyncIterator[dict[str, Any]]:
    """Begun when the block begins, ended after it; gives the state that requests are to share.
    An application may know nothing of this. Raises StartError if it cannot begin."""
    life = _Life(application)
    failure = await life.tell("startup")
    if failure:
        raise StartError(f"the application does not start: {failure}")
    try:
        yield life.state
    finally:
        failure = await life.tell("shutdown")
        if failure:
            warn("the application did not end well", {"err": failure})


class _Life:
    """What is told, and what is said to it."""

    def __init__(self, application: Application) -> None:
        self.state: dict[str, Any] = {}
        self._told: asyncio.Queue[Message] = asyncio.Queue()
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        scope = {"type": LIFESPAN, "asgi": ASGI, "state": self.state}
        self._task = asyncio.ensure_future(self._live(application, scope))

    async def _live(self, application: Application, scope: Scope) -> None:
        with suppress(Exception):  # what does not take part may say so by any of them
            await application(scope, self._told.get, self._said.put)

    async def tell(self, what: str) -> str:
        """Until it says that it has done so, or ends; what has failed, if anything has."""
        if self._task.done():
            return ""
        self._told.put_nowait({"type": f"{LIFESPAN}.{what}"})
        saying = asyncio.ensure_future(self._said.get())
        await asyncio.wait((self._task, saying), return_when=asyncio.FIRST_COMPLETED)
        if not saying.done():
            saying.cancel()
            return ""
        answer = saying.result()
        if answer["type"] != f"{LIFESPAN}.{what}.failed":
            return ""
        return " ".join(answer.get("message", "").split()) or "it does not say why"
