"""Bundles of authorities."""

from __future__ import annotations

import asyncio
import base64
import ssl
import threading

import pytest
from cryptography import x509

from celadon.apiserver import go_network
from celadon.apiserver.go_network import RootedContext, UnusableRoots
from tests.apiserver.webhook_routes.loopback import CA_BUNDLE


def tls_context(ca_bundle: str, protocols: list[str]) -> RootedContext:
    return asyncio.run(go_network.tls_context(ca_bundle, protocols))


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
        ("-----BEGIN A-----\n" * 100_000, "unable to parse bytes as PEM block"),  # at once
    ],
)
def test_unusable_bundles(text: str, why: str) -> None:
    with pytest.raises(UnusableRoots) as unusable:
        tls_context(base64.b64encode(text.encode()).decode(), [])
    assert str(unusable.value) == f"unable to load root certificates: {why}"


def test_what_is_good_in_a_bundle_is_enough() -> None:
    """As Go's `AppendCertsFromPEM`, which leaves out what it cannot read."""
    bad = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    bundle = base64.b64encode(bad + base64.b64decode(CA_BUNDLE)).decode()
    assert [one.serial_number for one in tls_context(bundle, []).pool] == [1]


def test_bundles_are_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    real = go_network._certificates

    def noting(text: bytes) -> tuple[x509.Certificate, ...]:
        threads.append(threading.current_thread())
        return real(text)

    monkeypatch.setattr(go_network, "_certificates", noting)
    tls_context(CA_BUNDLE, [])
    assert threads
    assert threading.current_thread() not in threads
