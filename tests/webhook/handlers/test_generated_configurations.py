"""What an API server is told about handlers."""

from __future__ import annotations

import base64

import pytest

from celadon.webhook.handlers import mutate, validate
from celadon.webhook.webhook_app import Webhook, client_config, decoded
from tests.webhook.handlers.objects import NAME

APP = Webhook(
    NAME,
    [
        validate(
            "deployments.apps",
            name="one",
            object_selector={"matchLabels": {"a": "b"}},
            match_conditions={"not-system": "!request.userInfo.username.startsWith('system:')"},
        )(lambda _: None),
        mutate("pods", name="two", reinvocation_policy="IfNeeded")(lambda _: None),
        validate("pods", name="three", operations=["DELETE"], scope="Namespaced")(lambda _: None),
    ],
)


def test_one_configuration_of_each_kind() -> None:
    validating, mutating = APP.configurations(service="infra/rules:8443/hooks/", ca_bundle=b"CA")
    assert [document["kind"] for document in (validating, mutating)] == [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ]
    assert [one["name"] for one in validating["webhooks"]] == [
        "one.rules.example.com",
        "three.rules.example.com",
    ]
    first = validating["webhooks"][0]
    assert first["clientConfig"] == {
        "service": {
            "namespace": "infra",
            "name": "rules",
            "port": 8443,
            "path": "/hooks/validate/one",
        },
        "caBundle": base64.b64encode(b"CA").decode(),
    }
    assert first["objectSelector"] == {"matchLabels": {"a": "b"}}
    assert first["matchConditions"][0]["name"] == "not-system"
    (second,) = mutating["webhooks"]
    assert second["reinvocationPolicy"] == "IfNeeded"
    assert "reinvocationPolicy" not in first
    assert decoded(mutating, mutating=True).webhooks[0].name == "two.rules.example.com"


def test_the_authority_may_be_text() -> None:
    texts, read = (APP.configurations(url="https://x", ca_bundle=pem) for pem in ("CA", b"CA"))
    assert texts == read


def test_by_address() -> None:
    document = APP.configurations(url="https://hooks.example.com/x/")[0]
    urls = [one["clientConfig"]["url"] for one in document["webhooks"]]
    assert urls[0] == "https://hooks.example.com/x/validate/one"
    assert Webhook(NAME).configurations(url="https://a.example.com") == []


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({}, "either `service` or `url`"),
        ({"service": "a/b", "url": "https://x"}, "either `service` or `url`"),
        ({"service": "rules"}, r"`rules` is not NAMESPACE/NAME\[:PORT\]$"),
        ({"service": "a/b:x"}, r"`a/b:x` is not NAMESPACE/NAME\[:PORT\]$"),
    ],
)
def test_places_that_are_none(about: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        client_config(**about)


def test_what_an_api_server_would_refuse() -> None:
    with pytest.raises(ValueError, match="'https' is the only allowed URL scheme"):
        APP.configurations(url="http://a.example.com")
