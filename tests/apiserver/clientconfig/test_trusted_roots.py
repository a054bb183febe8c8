"""Bundles of authorities."""

from __future__ import annotations

import base64
import ssl

import pytest

from celadon.apiserver.go_network import UnusableRoots, tls_context
from tests.apiserver.webhook_routes.loopback import CA_BUNDLE


def test_a_bundle_is_all_that_is_trusted() -> None:
    context = tls_context(CA_BUNDLE, ["http/1.1"])
    assert [one["serialNumber"] for one in context.get_ca_certs()] == ["01"]
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert not context.hostname_checks_common_name
    assert [one.serial_number for one in context.pool] == [1]
    assert tls_context("", []).pool == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", "unable to parse bytes as PEM block"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
            "failed to parse certificate: x509: malformed certificate",
        ),
        (
            base64.b64decode(CA_BUNDLE).decode().replace("KADAgEC", "KADAgEJ", 1),
            "failed to parse certificate: x509: malformed certificate",
        ),
        (
            "-----BEGIN OTHER-----\nAAAA\n-----END OTHER-----",
            "no valid certificate authority data seen",
        ),
    ],
)
def test_unusable_bundles(text: str, why: str) -> None:
    with pytest.raises(UnusableRoots) as unusable:
        tls_context(base64.b64encode(text.encode()).decode(), [])
    assert str(unusable.value) == f"unable to load root certificates: {why}"
