"""What a webhook process puts on the network: policies, or an application."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from celadon.serve import HttpAnswer, HttpRequest, PromptHandler
from celadon.serve.operation import Family


class Answering(Protocol):
    """Answers whatever is none of the webhook's own pages. Belongs to the running loop."""

    @property
    def prompt(self) -> PromptHandler | None:
        """Is offered each request before all others; None where nothing is answered promptly."""
        ...

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """What nobody has taken."""
        ...

    def checks(self) -> Iterable[tuple[bool, str]]:
        """What `/readyz` shows: whether it is well, and a line about it."""
        ...

    def families(self) -> Iterable[Family]:
        """What `/metrics` shows."""
        ...

    async def run(self) -> None:
        """Goes on as long as the webhook does, until it is cancelled."""
        ...

    def look(self) -> None:
        """Called every few seconds, for files that others move."""
        ...
