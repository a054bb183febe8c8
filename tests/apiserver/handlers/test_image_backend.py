"""A backend for images on the loopback interface, asked by its client and by a whole server."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.plugins import ImagePolicySettings, ImageVerdict
from celadon.apiserver.handlers.image_policy import ImageBackend, ImagePolicy, NoAnswer
from tests.admission.plugins.test_image_reviews import about
from tests.apiserver.clientconfig.kubeconfigs import write_kubeconfig
from tests.apiserver.webhook_routes.loopback import (
    CA_BUNDLE,
    Server,
    certificate,
    http,
    server_context,
    serving,
)

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
JSON = "Content-Type: application/json"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    return server_context(certificate("127.0.0.1"), tmp_path_factory.mktemp("tls"))


def review(**status: Any) -> bytes:
    answer = {"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "status": status}
    return http(json.dumps(answer).encode(), 200, JSON)


def kubeconfig(folder: Path, port: int) -> str:
    server = f"https://127.0.0.1:{port}/policy"
    given = {"server": server, "certificate-authority-data": CA_BUNDLE}
    return str(write_kubeconfig(folder / "kubeconfig", {"token": "t"}, **given))


def asked(
    folder: Path, context: ssl.SSLContext, answers: Callable[[int], bytes | None]
) -> tuple[ImageVerdict | str, Server]:
    async def run() -> tuple[ImageVerdict | str, Server]:
        async with serving(answers, context) as server:
            backend = ImageBackend(kubeconfig(folder, server.port), 0.001, lambda: 0.0)
            try:
                return await backend.ask({"spec": {}}), server
            except NoAnswer as error:
                return str(error), server
            finally:
                await backend.aclose()

    return asyncio.run(run())


def test_an_answer(good: ssl.SSLContext, tmp_path: Path) -> None:
    told = {"allowed": True, "reason": "r", "auditAnnotations": {"k": "v"}}
    found, server = asked(tmp_path, good, lambda _: review(**told))
    assert found == ImageVerdict(allowed=True, reason="r", audit_annotations={"k": "v"})
    (head,) = server.requests
    assert head.startswith("POST /policy?timeout=30s HTTP/1.1")
    assert "Authorization: Bearer t" in head


def test_one_that_fails_is_asked_again(good: ssl.SSLContext, tmp_path: Path) -> None:
    found, server = asked(
        tmp_path, good, lambda n: http(b"no", 500) if n < 3 else review(allowed=False)
    )
    assert found == ImageVerdict()
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("answer", "times", "text"),
    [
        (http(b"no", 500), 5, 'an error on the server ("no") has prevented the request from succ'),
        (http(b"", 404), 1, "the server could not find the requested resource"),
        (http(b"[]", 200, JSON), 1, "the backend's answer is no ImageReview with a status"),
        (http(b"{", 200, JSON), 1, "the backend's answer is no ImageReview with a status"),
        (None, 1, "EOF"),
    ],
    ids=["fails for good", "is not there", "a list", "no JSON", "nothing"],
)
def test_no_answer(
    answer: bytes | None, times: int, text: str, good: ssl.SSLContext, tmp_path: Path
) -> None:
    found, server = asked(tmp_path, good, lambda _: answer)
    assert isinstance(found, str)
    assert text in found
    assert len(server.requests) == times


def test_nobody_there(tmp_path: Path) -> None:
    backend = ImageBackend(kubeconfig(tmp_path, 1), 0.0, lambda: 0.0)
    with pytest.raises(NoAnswer, match="connection refused"):
        asyncio.run(backend.ask({"spec": {}}))
    missing = ImageBackend(str(tmp_path / "none"), 0.0, lambda: 0.0)
    with pytest.raises(NoAnswer, match="no such file"):
        asyncio.run(missing.ask({"spec": {}}))


def test_answers_are_remembered_for_a_while(good: ssl.SSLContext, tmp_path: Path) -> None:
    """Approvals for ten seconds, refusals for two."""
    now = 0.0

    async def run() -> list[tuple[bool, int]]:
        nonlocal now
        found = []
        async with serving(lambda n: review(allowed=n != 2), good) as server:
            path = kubeconfig(tmp_path, server.port)
            settings = ImagePolicySettings(path, 10.0, 2.0, 0.0, default_allow=False)
            policy = ImagePolicy(settings, lambda: now, lambda: 0.0)
            for moment in (0.0, 9.0, 10.0, 11.0, 12.0):
                now = moment
                opinion = await policy.opinion(about())
                found.append((opinion.refusal is None, len(server.requests)))
            await policy.aclose()
        return found

    assert asyncio.run(run()) == [(True, 1), (True, 1), (False, 2), (False, 2), (True, 3)]
