"""A listener's certificate changes; connections that exist stay."""

from __future__ import annotations

import datetime
import socket
import ssl

from cryptography import x509

from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.apiserver.self_signed import Pair, covers_names, server_certificate
from celadon.apiserver.tls import ChangingTls, context_with
from tests.apiserver.http.certificates import DAY, new_authority
from tests.apiserver.http.listening import Listening, listening

NOW = datetime.datetime.now(datetime.UTC)
ASK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def issued(authority: Pair, name: str) -> Pair:
    key = new_elliptic_key()
    return Pair(server_certificate(authority, key, name, [name], NOW, DAY), key)


def connected(at: Listening, trusted: bytes, name: str) -> ssl.SSLSocket:
    context = ssl.create_default_context(cadata=trusted.decode())
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    raw = socket.create_connection(("127.0.0.1", at.port), timeout=60)
    return context.wrap_socket(raw, server_hostname=name)


def test_new_handshakes_get_the_new_certificate() -> None:
    first, second = new_authority(), new_authority()
    old, new = issued(first, "old.example"), issued(second, "new.example")
    tls = ChangingTls(context_with(old.certificate, old.key))
    with listening(tls=tls.context) as at, connected(at, first.certificate, "old.example") as kept:
        tls.use(context_with(new.certificate, new.key))
        with connected(at, second.certificate, "new.example"):
            pass
        kept.sendall(ASK)
        assert kept.recv(100).startswith(b"HTTP/1.1 200 ")


def test_a_certificate_names_hosts_and_addresses() -> None:
    pair = issued(new_authority(), "a.example")
    found = x509.load_pem_x509_certificate(pair.certificate)
    assert covers_names(found, ["a.example"])
    assert not covers_names(found, ["a.example", "127.0.0.1"])
    assert not covers_names(x509.load_pem_x509_certificate(new_authority().certificate), ["a"])
