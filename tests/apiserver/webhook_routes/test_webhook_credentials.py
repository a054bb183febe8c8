"""As whom webhooks are called."""

from __future__ import annotations

import asyncio
import ssl
import time
from pathlib import Path

import pytest

from celadon.admission.webhooks import NoReply, Reply
from celadon.apiserver.clientconfig import (
    Kubeconfig,
    KubeconfigContext,
    KubeconfigError,
    KubeconfigUser,
)
from celadon.apiserver.webhook_client import WebhookClient, WebhookCredentials
from tests.apiserver.webhook_routes.loopback import certificate, http, server_context, serving
from tests.apiserver.webhook_routes.test_webhook_client import call_of

NAMES = {
    "exact": (["a.ns.svc:443", "*.ns.svc:443", "a.ns.svc", "*"], "a.ns.svc", 443, "a.ns.svc:443"),
    "a suffix": (["*.svc:443", "*.ns.svc:443", "a.ns.svc"], "a.ns.svc", 443, "*.ns.svc:443"),
    "without the port": (["a.ns.svc", "*.ns.svc"], "a.ns.svc", 443, "a.ns.svc"),
    "a suffix without the port": (["*.svc", "*"], "a.ns.svc", 443, "*.svc"),
    "another port has to be said": (["a.ns.svc", "*.svc"], "a.ns.svc", 8443, ""),
    "everybody": (["*"], "other", 8443, "*"),
    "nobody": (["other"], "a.ns.svc", 443, ""),
}


@pytest.mark.parametrize("row", NAMES.values(), ids=NAMES)
def test_users_are_found_by_host(row: tuple[list[str], str, int, str]) -> None:
    users, host, port, expected = row
    config = Kubeconfig(users={name: KubeconfigUser() for name in users})
    assert WebhookCredentials(config, time.time).user_of(host, port) == expected


def test_the_current_context_comes_last() -> None:
    contexts = {"c": KubeconfigContext("", "me"), "d": KubeconfigContext("", "gone")}
    users = {"me": KubeconfigUser(), "host": KubeconfigUser()}
    for current, expected in (("c", "me"), ("d", ""), ("e", "")):
        credentials = WebhookCredentials(Kubeconfig({}, users, contexts, current), time.time)
        assert credentials.user_of("host", 443) == "host"
        assert credentials.user_of("other", 443) == expected


def test_a_call_shows_them(tmp_path: Path) -> None:
    context: ssl.SSLContext = server_context(certificate("127.0.0.1"), tmp_path)
    config = Kubeconfig(users={"*": KubeconfigUser(token="secret")})

    async def run() -> tuple[Reply | NoReply, list[str]]:
        client = WebhookClient(
            lambda host, port: (host, port), lambda: WebhookCredentials(config, time.time)
        )
        async with serving(lambda _: http(b"{}"), context) as server:
            reply = await client.call(call_of(server.port), 10)
            await client.aclose()
        return reply, server.requests

    reply, requests = asyncio.run(run())
    assert isinstance(reply, Reply)
    assert "Authorization: Bearer secret" in requests[0]


def test_nobody_else_is_shown_them(tmp_path: Path) -> None:
    """A webhook may lead elsewhere, but not take the credentials along."""
    context: ssl.SSLContext = server_context(certificate("127.0.0.1"), tmp_path)
    config = Kubeconfig(users={"*": KubeconfigUser(token="secret")})

    async def run() -> tuple[Reply | NoReply, list[str], list[str]]:
        client = WebhookClient(
            lambda host, port: (host, port), lambda: WebhookCredentials(config, time.time)
        )
        async with serving(lambda _: http(b"{}"), context) as other:
            there = f"Location: https://127.0.0.1:{other.port}/there"
            steps = {1: "Location: /here", 2: there}
            async with serving(lambda n: http(b"", 307, steps[n]), context) as server:
                reply = await client.call(call_of(server.port), 10)
                await client.aclose()
        return reply, server.requests, other.requests

    reply, own, others = asyncio.run(run())
    assert reply == Reply(200, b"{}")
    assert ["Authorization: Bearer secret" in head for head in own] == [True, True]
    assert ["authorization" in head.lower() for head in others] == [False]


@pytest.mark.parametrize("provider", ["", "gcp"])
def test_credentials_that_cannot_be_had(provider: str) -> None:
    config = Kubeconfig(users={"*": KubeconfigUser(auth_provider=provider)})

    def read() -> WebhookCredentials:
        if not provider:
            raise KubeconfigError("`/kubeconfig`: no such file or directory")
        return WebhookCredentials(config, time.time)

    client = WebhookClient(lambda host, port: (host, port), read)
    reply = asyncio.run(client.call(call_of(1), 10))
    why = "auth provider not supported" if provider else "`/kubeconfig`: no such file or directory"
    assert reply == NoReply(why, 500, "could not get REST client")
