"""What a webhook is unless told otherwise; its end, seen from connections that are open."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import time
from pathlib import Path

import pytest

from celadon.apiserver.http import Address, StartError
from celadon.webhook.service import DecisionLogSettings, webhook_process
from celadon.webhook.service.webhook_process import WebhookSettings, run_webhook
from tests.webhook.documents import review_document
from tests.webhook.service.running import (
    JSON_HEADERS,
    SETTINGS,
    FixedSource,
    ended_by_a_signal,
    rulebook,
    running,
)

BODY = json.dumps(review_document(namespace="ns")).encode()


def test_unless_told_otherwise_everybody_may_ask_and_denials_deny() -> None:
    settings = WebhookSettings(Address("127.0.0.1", 0), None)
    assert not settings.audit_only
    assert not settings.known_callers
    assert (settings.denied, settings.decision_log, settings.expires) == (None, None, None)
    assert (settings.beside, settings.waits_for, settings.remarks) == ((), (), ())


@pytest.mark.thorough
def test_a_request_on_its_way_is_answered_after_the_end_has_begun() -> None:
    settings = dataclasses.replace(SETTINGS, linger_seconds=5.0)
    with running(FixedSource(rulebook()), settings) as client:
        connection = client.connection()
        connection.connect()
        client.end()
        time.sleep(0.2)
        connection.request("POST", "/validate", BODY, JSON_HEADERS)
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.getheader("Connection") == "close"
        answer.read()
        client.end()


@pytest.mark.thorough
def test_a_second_signal_skips_the_delay() -> None:
    settings = dataclasses.replace(SETTINGS, shutdown_delay=600.0)
    began = time.monotonic()
    with running(FixedSource(rulebook()), settings) as client:
        client.end()
        assert client.said("/healthz")[0] == 200
    assert time.monotonic() - began < 300


class Certificates:
    """A certificate whose files nobody changes; it counts who looks."""

    context = None
    looks = 0

    def reload(self) -> bool:
        self.looks += 1
        return False

    def expires(self) -> float:
        return 0.0


def test_a_webhook_serves_until_it_is_told_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    certificates, path = Certificates(), tmp_path / "log"
    beside: list[str] = []

    async def work() -> None:
        beside.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            beside.append("ended")

    settings = dataclasses.replace(
        SETTINGS,
        certificate=certificates,  # type: ignore[arg-type]  # a double
        decision_log=DecisionLogSettings(path),
        beside=(work,),
    )

    def moved() -> bool:
        """The log has been put aside, and is begun anew."""
        if certificates.looks and not (tmp_path / "old").exists():
            path.rename(tmp_path / "old")
        return (tmp_path / "old").exists() and path.exists()

    with caplog.at_level(logging.INFO, "celadon.apiserver"):
        answers = ended_by_a_signal(
            monkeypatch,
            lambda ready: run_webhook(settings, FixedSource(rulebook()), ready),
            [("POST", "/validate", BODY), ("GET", "/readyz", None)],
            moved,
        )
    assert [code for code, _ in answers] == [200, 200]
    assert beside == ["begun", "ended"]
    assert [json.loads(line)["uid"] for line in (tmp_path / "old").read_text().splitlines()]
    assert path.read_text() == ""
    (end,) = [one for one in caplog.records if one.getMessage() == "the webhook ends"]
    assert end.celadon_fields == {"delaySeconds": 0.0}  # type: ignore[attr-defined]


def test_a_webhook_ends_if_something_beside_it_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        raise RuntimeError("no")

    settings = dataclasses.replace(SETTINGS, beside=(work,))
    monkeypatch.setattr(webhook_process, "settle_memory", lambda: None)
    with caplog.at_level(logging.ERROR, "celadon.webhook"):
        run_webhook(settings, FixedSource(rulebook()), lambda _: None)
    assert caplog.messages == ["the webhook ends: this is a bug in celadon"]


def test_a_log_that_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "none" / "log"
    settings = dataclasses.replace(SETTINGS, decision_log=DecisionLogSettings(path))
    with pytest.raises(StartError) as caught:
        run_webhook(settings, FixedSource(rulebook()), lambda _: None)
    assert str(caught.value) == f"`{path}`: No such file or directory"
