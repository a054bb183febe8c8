"""A webhook on the loopback, in a thread of its own, or without a server; and a client for each."""

from __future__ import annotations

import asyncio
import dataclasses
import http.client
import json
import os
import signal
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvloop

from celadon.admission import ObjectWorld, World
from celadon.admission.policies.validating import Engine
from celadon.apiserver import HttpAnswer, HttpRequest
from celadon.apiserver.http import Address
from celadon.webhook.review_decisions import Rulebook, SourceState
from celadon.webhook.service import webhook_process
from celadon.webhook.service.decision_log import DecisionLog, DecisionLogSettings
from celadon.webhook.service.webhook_process import (
    OwnPages,
    PolicyAnswers,
    Webhook,
    WebhookSettings,
)
from tests.admission.building import binding, policy

PATIENCE = 60.0
SETTINGS = WebhookSettings(Address("127.0.0.1", 0), None, shutdown_delay=0.0, linger_seconds=0.0)
JSON_HEADERS = {"Content-Type": "application/json"}


def rulebook(world: World | None = None, **spec: Any) -> Rulebook:
    """One policy `p` about ConfigMaps with a binding `b` that denies."""
    found = ObjectWorld(implicit_namespaces=True) if world is None else world
    return Rulebook(Engine([policy(**spec)], [binding()]), lambda: found, 1)


@dataclass
class FixedSource:
    """A source that a test changes."""

    rules: Rulebook | None
    now: SourceState = dataclasses.field(default_factory=SourceState)

    def rulebook(self) -> Rulebook | None:
        return self.rules

    def state(self) -> SourceState:
        return self.now

    def stamp(self) -> object:
        return id(self.rules)

    async def run(self) -> None:
        await asyncio.Event().wait()


class Asking(ABC):
    """Sends reviews and reads pages."""

    def said(
        self, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        given = JSON_HEADERS if headers is None and body is not None else headers or {}
        return self.sent("GET" if body is None else "POST", path, body, given)

    @abstractmethod
    def sent(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str]: ...

    def reviewed(self, document: Any, path: str = "/validate") -> dict[str, Any]:
        """The response to a review."""
        code, text = self.said(path, json.dumps(document).encode())
        assert code == 200, text
        answer = json.loads(text)
        assert answer["kind"] == "AdmissionReview"
        assert answer["apiVersion"] == document["apiVersion"]
        assert answer["response"]["uid"] == document["request"]["uid"]
        found: dict[str, Any] = answer["response"]
        return found


@dataclass
class Client(Asking):
    """`webhook` is not to be touched while it runs, but for `end`."""

    port: int
    webhook: Webhook
    loop: asyncio.AbstractEventLoop

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def sent(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str]:
        connection = self.connection()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        found = answer.status, answer.read().decode()
        connection.close()
        return found

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.webhook.end)


class Answering(Asking):
    """What a webhook answers, without a server."""

    def __init__(
        self, runner: asyncio.Runner, source: FixedSource, settings: WebhookSettings = SETTINGS
    ) -> None:
        self._runner = runner
        self.is_ending = False
        self._answers = runner.run(_answers(settings, source))
        self._pages = OwnPages(self._answers, settings, lambda: self.is_ending)

    def sent(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str]:
        lines = [(name.lower(), value) for name, value in headers.items()]
        answer = self._runner.run(self._answer(HttpRequest(method, path, lines, body or b"")))
        return answer.code, answer.body.decode()

    async def _answer(self, request: HttpRequest) -> HttpAnswer:
        reply: asyncio.Future[HttpAnswer] = asyncio.get_running_loop().create_future()
        if self._answers.prompt.offer(request, reply.set_result):
            return await reply
        return await self._pages.handle(request)


async def _answers(settings: WebhookSettings, source: FixedSource) -> PolicyAnswers:
    """In the loop that they belong to."""
    return PolicyAnswers(settings, source, None)


@contextmanager
def answering(source: FixedSource, settings: WebhookSettings = SETTINGS) -> Iterator[Answering]:
    """Until the end of the block."""
    with asyncio.Runner() as runner:
        yield Answering(runner, source, settings)


@contextmanager
def running(
    source: FixedSource, settings: WebhookSettings = SETTINGS, log: Path | None = None
) -> Iterator[Client]:
    """Until the end of the block."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    listener.setblocking(False)
    ready = threading.Event()
    made: list[Client] = []

    async def serve() -> None:
        kept = settings.decision_log or (None if log is None else DecisionLogSettings(log))
        written = None if kept is None else DecisionLog(kept, lambda: 0.0, lambda: 0.5)
        webhook = Webhook(settings, PolicyAnswers(settings, source, written))
        loop = asyncio.get_running_loop()
        made.append(Client(listener.getsockname()[1], webhook, loop))
        await webhook.serve(listener, ready.set)
        if written is not None:
            written.close()

    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield made[0]
    finally:
        if thread.is_alive():
            made[0].end()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def ended_by_a_signal(
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[[Callable[[str], None]], None],
    requests: Sequence[tuple[str, str, bytes | None]],
    wait: Callable[[], bool] = lambda: True,
) -> list[tuple[int, str]]:
    """The answers of a webhook that runs in this thread, as its process would, until it gets
    SIGTERM: after these requests, and when `wait` says so."""
    monkeypatch.setattr(webhook_process, "settle_memory", lambda: None)
    monkeypatch.setattr(webhook_process, "LOOK_SECONDS", 0.01)
    answers: list[tuple[int, str]] = []

    def ask(url: str) -> None:
        try:
            for method, path, body in requests:
                connection = http.client.HTTPConnection(url.rpartition("/")[2], timeout=PATIENCE)
                connection.request(method, path, body, JSON_HEADERS if body else {})
                answer = connection.getresponse()
                answers.append((answer.status, answer.read().decode()))
                connection.close()
            deadline = time.monotonic() + PATIENCE
            while not wait() and time.monotonic() < deadline:
                time.sleep(0.005)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    asking: list[threading.Thread] = []

    def ready(url: str) -> None:
        asking.append(threading.Thread(target=ask, args=(url,)))
        asking[0].start()

    serve(ready)
    asking[0].join(PATIENCE)
    return answers
