"""Applications that do one thing each."""

from __future__ import annotations

from celadon.webhook.webhook_app import Receive, Scope, Send


async def started(send: Send, code: int = 200, *headers: tuple[bytes, bytes]) -> None:
    await send({"type": "http.response.start", "status": code, "headers": headers})


async def ended(send: Send, body: bytes = b"") -> None:
    await send({"type": "http.response.body", "body": body})


async def silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Ends without a word."""


async def broken(scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RuntimeError(scope["type"])
