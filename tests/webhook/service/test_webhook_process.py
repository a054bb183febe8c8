"""What a webhook is unless told otherwise; its end, seen from connections that are open."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest

from celadon.apiserver.http import Address
from celadon.webhook.service.webhook_process import WebhookSettings
from tests.webhook.documents import review_document
from tests.webhook.service.running import JSON_HEADERS, SETTINGS, FixedSource, rulebook, running

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
