"""Secrets for TLS."""

from __future__ import annotations

import base64

from celadon.kube.warnings import secret_warnings


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_only_secrets_for_tls_are_looked_at() -> None:
    data = {"tls.crt": encoded("x"), "tls.key": encoded("y")}
    (text,) = secret_warnings({"type": "kubernetes.io/tls", "data": data}, None)
    assert text == "tls: failed to find any PEM data in certificate input"
    assert not list(secret_warnings({"type": "Opaque", "data": data}, None))
