"""By which key tokens of service accounts can be checked."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.discovery.health_and_version import CONFIGURATION, KEYS, OpenId
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.kube import StatusError
from tests.apiserver.in_process import SIGNER

ISSUER = "https://issuer.example.com"


def answer(method: str, path: str, accept: str = "", issuer: str = ISSUER) -> HttpAnswer | None:
    headers = (("accept", accept),) if accept else ()
    openid = OpenId(issuer, "192.0.2.1:6443", SIGNER)
    return openid.answer(HttpRequest(method, path, headers))


def test_the_configuration_leads_to_the_keys() -> None:
    found = answer("GET", CONFIGURATION, "application/json;as=Nope")
    assert found is not None
    assert json.loads(found.body) == {
        "issuer": ISSUER,
        "jwks_uri": f"https://192.0.2.1:6443{KEYS}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }
    assert ("Cache-Control", "public, max-age=3600") in found.headers


def test_the_keys_are_those_of_the_tokens() -> None:
    found = answer("GET", f"{KEYS}/")
    assert found is not None
    assert found.content_type == "application/jwk-set+json"
    assert json.loads(found.body) == {"keys": [SIGNER.signer().web_key()]}


@pytest.mark.parametrize(
    ("method", "path", "accept", "code"),
    [
        ("POST", KEYS, "", 405),
        ("POST", f"{KEYS}/x", "", 404),
        ("GET", f"{CONFIGURATION}/x", "", 404),
        ("GET", CONFIGURATION, "application/yaml", 406),
        ("GET", CONFIGURATION, "application/*", 406),
        ("GET", KEYS, "application/json", 406),
    ],
)
def test_what_is_refused(method: str, path: str, accept: str, code: int) -> None:
    with pytest.raises(StatusError) as refused:
        answer(method, path, accept)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("path", "issuer"),
    [
        ("/openid/v1", ISSUER),
        (CONFIGURATION, "http://issuer.example.com"),
        (CONFIGURATION, "https://issuer.example.com?x=1"),
        (KEYS, "kubernetes/serviceaccount"),
    ],
)
def test_what_is_not_there(path: str, issuer: str) -> None:
    assert answer("GET", path, issuer=issuer) is None
