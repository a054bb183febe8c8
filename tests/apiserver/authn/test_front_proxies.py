"""Whom a front proxy may vouch for, and whose certificates make one."""

from __future__ import annotations

import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from celadon.apiserver.authn.authentication import Authenticator, Credentials, TokenFile
from celadon.apiserver.authn.client_certificates import CertificateRefused, vouched_user
from celadon.apiserver.authn.identities import FrontProxies
from celadon.apiserver.http.server_settings import (
    Address,
    CredentialsFolder,
    ServerTls,
    TlsSettings,
    server_tls,
)
from celadon.apiserver.http_messages import Header, HttpRequest, SignedFor
from celadon.kube import User
from tests.apiserver.authn.test_client_certificates import NOW, certificate

PROXIES = FrontProxies(
    allowed_names=("front",),
    user_headers=("X-Remote-User", "X-Other-User"),
    uid_headers=("X-Remote-Uid",),
    group_headers=("X-Remote-Group", "X-Other-Group"),
    extra_prefixes=("X-Remote-Extra-", "X-Other-"),
)
BOTH = SignedFor.CLIENTS | SignedFor.FRONT_PROXIES


@pytest.mark.parametrize(
    ("headers", "user"),
    [
        ((), None),
        ((("x-remote-user", ""),), None),
        ((("x-remote-group", "g"),), None),
        ((("x-remote-user", "alice"),), User("alice")),
        (
            (("x-other-user", "bob"), ("x-remote-user", "alice")),
            User("alice", extra={"user": ("bob",)}),
        ),
        ((("x-remote-user", "alice"), ("x-remote-user", "bob")), User("alice")),
        # as Go's Header.Get, of several with one name only the first is looked at
        ((("x-remote-user", ""), ("x-remote-user", "bob")), None),
        ((("x-remote-user", ""), ("x-other-user", "bob")), User("bob", extra={"user": ("bob",)})),
        (
            (
                ("x-other-group", "c"),
                ("x-remote-group", "b"),
                ("x-remote-group", ""),
                ("x-remote-group", "a"),
                ("x-remote-user", "alice"),
                ("x-remote-uid", "7"),
            ),
            User("alice", ("b", "a", "c"), "7", {"group": ("c",)}),
        ),
        (
            (
                ("x-remote-user", "alice"),
                ("x-remote-extra-a%2fb", "1"),
                ("x-remote-extra-a%2fb", "2"),
                ("x-other-a%2Fb", "3"),
                ("x-remote-extra-bad%2", "%41"),
                ("x-remote-extra-", ""),
            ),
            User("alice", extra={"a/b": ("1", "2", "3"), "bad%2": ("%41",), "": ("",)}),
        ),
    ],
)
def test_the_headers(headers: tuple[Header, ...], user: User | None) -> None:
    found = vouched_user(PROXIES, certificate("front"), headers, NOW)
    assert found == user


@pytest.mark.parametrize("name", ["", "back", "Front"])
def test_other_names(name: str) -> None:
    with pytest.raises(CertificateRefused) as refused:
        vouched_user(PROXIES, certificate(name), [("x-remote-user", "alice")], NOW)
    assert str(refused.value) == f"x509: subject with cn={name} is not in the allowed list"
    anybody = replace(PROXIES, allowed_names=())
    assert vouched_user(anybody, certificate(name), [("x-remote-user", "a")], NOW) == User("a")


def test_certificates_that_have_expired() -> None:
    with pytest.raises(CertificateRefused, match="expired"):
        vouched_user(PROXIES, certificate("front"), [], NOW + timedelta(days=9))


@pytest.mark.parametrize(
    ("signed_for", "headers", "name"),
    [
        (SignedFor.FRONT_PROXIES, (("x-remote-user", "alice"),), "alice"),
        (BOTH, (("x-remote-user", "alice"),), "alice"),
        # nobody is vouched for: its own certificate counts, where clients' authorities signed it
        (BOTH, (), "front"),
        (SignedFor.FRONT_PROXIES, (), None),
        (SignedFor.CLIENTS, (("x-remote-user", "alice"),), "front"),
        (SignedFor.NOBODY, (("x-remote-user", "alice"),), None),
    ],
)
def test_whose_authority_counts(
    signed_for: SignedFor, headers: tuple[Header, ...], name: str | None
) -> None:
    authenticator = Authenticator(("api",), client_certificates=True, proxies=PROXIES)
    request = HttpRequest(
        "GET", "/", headers, client_certificate=certificate("front"), signed_for=signed_for
    )
    user = authenticator.authenticate(Credentials.of(request), NOW).user
    assert (None if user is None else user.name) == name
    assert user is None or "system:authenticated" in user.groups


def test_headers_of_others_say_nothing() -> None:
    headers = (("x-remote-user", "alice"), ("x-remote-group", "system:masters"))
    nobody = Authenticator(("api",), proxies=PROXIES)
    without = nobody.authenticate(Credentials.of(HttpRequest("GET", "/", headers)), NOW)
    assert without.user == User("system:anonymous", ("system:unauthenticated",))
    shown = HttpRequest("GET", "/", headers, client_certificate=certificate("carol"))
    without_proxies = Authenticator(("api",), client_certificates=True)
    user = without_proxies.authenticate(Credentials.of(shown), NOW).user
    assert user is not None
    assert (user.name, user.groups) == ("carol", ("system:authenticated",))


def test_a_token_beside_a_certificate_of_nobody() -> None:
    authenticator = Authenticator(
        ("api",), TokenFile({"t": User("dan")}), client_certificates=True, proxies=PROXIES
    )
    shown = Credentials("Bearer t", certificate("x"), SignedFor.NOBODY)
    user = authenticator.authenticate(shown, NOW).user
    assert user is not None
    assert user.name == "dan"


# --- Chains ------------------------------------------------------------------


class Issuer:
    """An authority, itself signed by another one if there is one."""

    def __init__(self, name: str, above: Issuer | None = None) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.pem = (above or self).signed(self.name, self.key.public_key(), is_authority=True)

    def signed(
        self, name: x509.Name, key: ec.EllipticCurvePublicKey, *, is_authority: bool = False
    ) -> bytes:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
        )
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def client(self, name: str) -> tuple[bytes, bytes]:
        """A certificate and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return self.signed(subject, key.public_key()), secret


def handshake(tls: ServerTls, client: ssl.SSLContext) -> ssl.SSLObject:
    """The server's side of a connection."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = tls.context.wrap_bio(to_server, to_client, server_side=True)
    asking = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    for _ in range(4):
        for side in (asking, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return server


ROOT, OTHER = Issuer("root"), Issuer("other")
CROSSED = Issuer("root")  # with the name of another one
BELOW = Issuer("below", ROOT)
LEAF = ROOT.client("leaf")


@pytest.mark.parametrize(
    ("clients", "proxies", "shown", "found"),
    [
        (ROOT.pem, OTHER.pem, (ROOT.client("a"), b""), SignedFor.CLIENTS),
        (ROOT.pem, OTHER.pem, (OTHER.client("a"), b""), SignedFor.FRONT_PROXIES),
        (ROOT.pem, ROOT.pem, (ROOT.client("a"), b""), BOTH),
        (None, OTHER.pem, (OTHER.client("a"), b""), SignedFor.FRONT_PROXIES),
        (ROOT.pem, OTHER.pem, (BELOW.client("a"), BELOW.pem), SignedFor.CLIENTS),
        (OTHER.pem, ROOT.pem, (BELOW.client("a"), BELOW.pem), SignedFor.FRONT_PROXIES),
        (OTHER.pem, BELOW.pem, (BELOW.client("a"), b""), SignedFor.FRONT_PROXIES),
        (OTHER.pem, BELOW.pem, (ROOT.client("a"), b""), None),
        (ROOT.pem, BELOW.pem, (ROOT.client("a"), b""), SignedFor.CLIENTS),
        (ROOT.pem, CROSSED.pem, (ROOT.client("a"), b""), SignedFor.CLIENTS),
        (ROOT.pem, CROSSED.pem, (CROSSED.client("a"), b""), SignedFor.FRONT_PROXIES),
        (OTHER.pem, LEAF[0], (LEAF, b""), SignedFor.FRONT_PROXIES),
        # sent along, but on no way to the certificate
        (ROOT.pem, OTHER.pem, (ROOT.client("a"), OTHER.pem), SignedFor.CLIENTS),
    ],
)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_whose_authority_has_signed(
    tmp_path: Path,
    version: ssl.TLSVersion,
    clients: bytes | None,
    proxies: bytes,
    shown: tuple[tuple[bytes, bytes], bytes],
    found: SignedFor | None,
) -> None:
    (tmp_path / "clients.pem").write_bytes(clients or b"")
    settings = TlsSettings(client_authorities=tmp_path / "clients.pem" if clients else None)
    (tmp_path / "proxies.pem").write_bytes(proxies)
    kept, now = CredentialsFolder(None), datetime.now(UTC)
    tls = server_tls(settings, Address(), kept, now, tmp_path / "proxies.pem")
    assert tls is not None
    (certificate, key), more = shown
    (tmp_path / "shown.pem").write_bytes(certificate + more + key)
    client = ssl.create_default_context(cadata=tls.trusted.decode())
    client.load_cert_chain(tmp_path / "shown.pem")
    client.maximum_version = version
    if found is None:
        with pytest.raises(ssl.SSLError):
            handshake(tls, client)
        return
    assert tls.signed_for is not None
    assert tls.signed_for(handshake(tls, client)) is found


def test_without_front_proxies_chains_are_not_looked_at() -> None:
    tls = server_tls(TlsSettings(), Address(), CredentialsFolder(None), datetime.now(UTC))
    assert tls is not None
    assert tls.signed_for is None
