"""Reviews as an API server sends them, and where to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.activation import Hit, RequestContext
from celadon.admission.webhooks.hooks import CallError, Selected
from celadon.admission.webhooks.reviews import Call, begin_call, call_url
from celadon.kube import StatusError
from celadon.webhook.reviews import decode_review
from tests.admission.building import request
from tests.admission.webhooks.hooking import WORLD, hooks, webhook
from tests.paths import recordings


def begun(asked: Any = None, uid: str = "u", **more: Any) -> Call:
    asked = asked or request()
    hook = hooks(webhook(**more)).hooks[0]
    hit = Hit(asked.resource, asked.kind)
    return begin_call(Selected(hook, hit), RequestContext(asked, WORLD), uid)


@pytest.mark.parametrize("path", recordings("admissionreview"))
def test_recorded_reviews(path: Path) -> None:
    """Each is made again from the request that it is about."""
    recorded = json.loads(path.read_text())["review"]
    asked = decode_review(recorded).request
    version = recorded["apiVersion"].rpartition("/")[2]
    call = begun(asked, asked.uid, admissionReviewVersions=[version])
    assert call.document == recorded
    assert json.loads(call.body) == recorded


def test_versions_are_taken_in_the_order_of_the_webhook() -> None:
    for given, taken in (
        (["v1beta1", "v1"], "v1beta1"),
        (["v7", "v1"], "v1"),
    ):
        assert begun(admissionReviewVersions=given).api_version == f"admission.k8s.io/{taken}"
    with pytest.raises(CallError, match=r"known AdmissionReview versions \(v1, v1beta1\)") as none:
        begun(admissionReviewVersions=["v7"])
    assert none.value.code == 400


def test_dry_runs_are_for_webhooks_that_say_they_may() -> None:
    asked = request(dry_run=True)
    assert begun(asked, sideEffects="NoneOnDryRun").document["request"]["dryRun"] is True
    with pytest.raises(StatusError) as refused:
        begun(asked, sideEffects="Some")
    assert refused.value.code == 400
    assert str(refused.value) == (
        'admission webhook "a.hooks.example.com" does not support dry run'
    )


def test_the_body_is_written_as_go_writes_it() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "<&>"}}
    body = begun(request(obj)).body
    assert rb'"a":"\u003c\u0026\u003e"' in body
    assert body.endswith(b"}\n")


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ({"url": "https://h.example.com"}, "https://h.example.com/?timeout=7s"),
        ({"url": "https://h.example.com:8443/"}, "https://h.example.com:8443/?timeout=7s"),
        ({"url": "https://h.example.com//a//b/"}, "https://h.example.com/a/b?timeout=7s"),
        ({"url": "https://h.example.com/a b/é"}, "https://h.example.com/a%20b/%C3%A9?timeout=7s"),
        ({"url": "https://h.example.com/%2e%2e/a%2Fb"}, "https://h.example.com/a/b?timeout=7s"),
        ({"url": "https://h.example.com/%7B'*"}, "https://h.example.com/%7B%27%2A?timeout=7s"),
        ({"service": {"namespace": "n", "name": "s"}}, "https://s.n.svc:443/?timeout=7s"),
        (
            {"service": {"namespace": "n", "name": "s", "path": "/a%20b"}},
            "https://s.n.svc:443/a%2520b?timeout=7s",
        ),
        (
            {"service": {"namespace": "n", "name": "s", "path": "/p/q", "port": 8443}},
            "https://s.n.svc:8443/p/q?timeout=7s",
        ),
    ],
)
def test_urls(config: dict[str, Any], url: str) -> None:
    hook = hooks(webhook(clientConfig=config)).hooks[0]
    assert call_url(hook.webhook.client_config, 7) == url
    assert call_url(hook.webhook.client_config, None) == url.removesuffix("?timeout=7s")


def test_time_that_a_webhook_has() -> None:
    assert begun().timeout_seconds == 10
    assert begun(timeoutSeconds=3).timeout_seconds == 3


@pytest.mark.parametrize(("given", "seconds"), [({}, 10), ({"timeoutSeconds": 3}, 3)])
def test_how_long_a_webhook_may_take(given: dict[str, Any], seconds: int) -> None:
    assert begun(**given).timeout_seconds == seconds
