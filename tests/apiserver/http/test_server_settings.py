"""What a server is told: addresses, credentials that it makes and keeps, kubeconfig, TLS."""

from __future__ import annotations

import base64
import json
import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from celadon.apiserver.http.server_settings import (
    ALWAYS_NAMED,
    MEMORY,
    Address,
    CredentialsFolder,
    ServerSettings,
    StartError,
    TlsSettings,
    joined_bundles,
    kubeconfig,
    parse_address,
    server_tls,
)

NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:6443", Address("127.0.0.1", 6443)),
        (":8443", Address("127.0.0.1", 8443)),
        ("8443", Address("127.0.0.1", 8443)),
        ("[::1]:0", Address("::1", 0)),
        ("::1:65535", Address("::1", 65535)),
        ("localhost:1", Address("localhost", 1)),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "host", "host:", "host:65536", "host:000001", "h:²", "h:-1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match=f"^`{text}` is not HOST:PORT$"):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "is_loopback", "is_wildcard", "url"),
    [
        ("localhost", True, False, "https://localhost:1"),
        ("127.0.0.1", True, False, "https://127.0.0.1:1"),
        ("127.9.9.9", True, False, "https://127.9.9.9:1"),
        ("::1", True, False, "https://[::1]:1"),
        ("192.0.2.1", False, False, "https://192.0.2.1:1"),
        ("example.com", False, False, "https://example.com:1"),
        ("0.0.0.0", False, True, "https://127.0.0.1:1"),
        ("::", False, True, "https://[::1]:1"),
    ],
)
def test_hosts(host: str, url: str, *, is_loopback: bool, is_wildcard: bool) -> None:
    address = Address(host, 1)
    assert (address.is_loopback, address.is_wildcard) == (is_loopback, is_wildcard)
    assert address.url("https") == url


@pytest.mark.parametrize(
    ("data", "credentials", "folder"),
    [
        (MEMORY, None, None),
        (MEMORY, Path("keys"), Path("keys")),
        ("a.db", None, Path("a.db.credentials")),
        ("a.db", Path("keys"), Path("keys")),
    ],
)
def test_where_credentials_are_kept(
    data: str, credentials: Path | None, folder: Path | None
) -> None:
    assert ServerSettings(data=data, credentials=credentials).credentials_folder == folder


def test_defaults() -> None:
    settings = ServerSettings()
    assert (settings.data, settings.listen) == (":memory:", Address("127.0.0.1", 6443))
    assert (settings.anonymous, settings.allows_everything) == (True, False)
    assert (settings.version, settings.shutdown_delay) == ("1.36", 0.0)
    assert (settings.issuers, settings.token_keys, settings.manifests) == ((), (), ())
    assert settings.service_ca_config_map == ""
    assert (settings.tls.plain, settings.tls.force_plain) == (False, False)


def names_of(certificate: bytes) -> list[str]:
    loaded = x509.load_pem_x509_certificate(certificate)
    names = loaded.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return sorted(str(name.value) for name in names)


def test_credentials_are_made_once(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    first = CredentialsFolder(folder)
    token, authority = first.administrator_token(), first.authority(NOW)
    pair = first.server(["b.example.com"], NOW)
    assert len(token) == 43
    assert names_of(pair.certificate) == sorted({*ALWAYS_NAMED, "b.example.com"})
    files = {"admin.token", "ca.crt", "ca.key", "server.crt", "server.key"}
    assert {path.name for path in folder.iterdir()} == files
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    issued = x509.load_pem_x509_certificate(pair.certificate)
    assert issued.issuer.rfc4514_string() == "CN=celadon"
    assert timedelta(days=3649) < issued.not_valid_after_utc - NOW < timedelta(days=3651)

    again = CredentialsFolder(folder)
    assert (again.administrator_token(), again.authority(NOW)) == (token, authority)
    assert again.server([], NOW) == pair
    later = issued.not_valid_after_utc - timedelta(days=30)
    assert again.server([], later - timedelta(seconds=1)) == pair
    renewed = again.server([], later)
    assert (renewed.certificate != pair.certificate, renewed.key) == (True, pair.key)
    assert CredentialsFolder(folder).server([], NOW) == renewed
    other = again.server(["c.example.com"], NOW)
    assert "c.example.com" in names_of(other.certificate)


def test_without_a_folder_they_last_as_long_as_the_server() -> None:
    kept = CredentialsFolder(None)
    assert kept.administrator_token() == kept.administrator_token()
    assert kept.authority(NOW) == kept.authority(NOW)
    assert CredentialsFolder(None).administrator_token() != kept.administrator_token()


@pytest.mark.parametrize("authority", [b"", b"PEM"])
def test_kubeconfig(authority: bytes) -> None:
    text = kubeconfig("https://a:1", authority, "token")
    data = base64.b64encode(b"PEM").decode()
    of_authority = {"certificate-authority-data": data} if authority else {}
    assert json.loads(text) == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "celadon", "cluster": {"server": "https://a:1", **of_authority}}],
        "users": [{"name": "celadon", "user": {"token": "token"}}],
        "contexts": [{"name": "celadon", "context": {"cluster": "celadon", "user": "celadon"}}],
        "current-context": "celadon",
    }
    assert text.startswith('{\n  "apiVersion"')
    assert text.endswith("}\n")


def test_plain_http() -> None:
    """It stays on this machine unless forced."""
    here, elsewhere = Address("127.0.0.1"), Address("192.0.2.1")
    plain, forced = TlsSettings(plain=True), TlsSettings(plain=True, force_plain=True)
    folder = CredentialsFolder(None)
    assert server_tls(plain, here, folder, NOW) is None
    assert server_tls(forced, elsewhere, folder, NOW) is None
    message = r"^plain HTTP on `192.0.2.1` could be read by others \(--force-plain-http\)$"
    with pytest.raises(StartError, match=message):
        server_tls(plain, elsewhere, folder, NOW)


@pytest.mark.parametrize(
    ("host", "is_named"), [("192.0.2.1", True), ("0.0.0.0", False), ("::", False)]
)
def test_generated_certificates_name_the_host(host: str, *, is_named: bool) -> None:
    folder = CredentialsFolder(None)
    tls = server_tls(TlsSettings(), Address(host), folder, NOW)
    assert tls is not None
    assert tls.trusted == folder.authority(NOW).certificate
    assert tls.signed_for is None
    assert not tls.reload()
    assert (host in names_of(folder.server([], NOW).certificate)) is is_named


def files_of(folder: Path, names: list[str]) -> TlsSettings:
    """A certificate of an authority of its own, as files."""
    pair = CredentialsFolder(None).server(names, NOW)
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    return TlsSettings(certificate, key)


def touched(path: Path) -> None:
    later = path.stat().st_mtime_ns + 1_000_000_000
    os.utime(path, ns=(later, later))


def test_certificates_are_read_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = files_of(tmp_path, ["a.example.com"])
    assert settings.certificate is not None
    authorities = tmp_path / "clients.crt"
    authorities.write_bytes(CredentialsFolder(None).authority(NOW).certificate)
    given = TlsSettings(settings.certificate, settings.key, authorities)
    tls = server_tls(given, Address(), CredentialsFolder(None), NOW)
    assert tls is not None
    before = tls.trusted
    assert before == settings.certificate.read_bytes()
    assert not tls.reload()

    files_of(tmp_path, ["b.example.com"])
    touched(settings.certificate)
    assert tls.reload()
    assert tls.trusted == settings.certificate.read_bytes() != before
    assert not tls.recalls
    assert "the certificates were reloaded" in caplog.text

    authorities.write_bytes(CredentialsFolder(None).authority(NOW).certificate)
    touched(authorities)
    assert (tls.reload(), tls.recalls) == (True, True)

    settings.certificate.write_text("broken")
    touched(settings.certificate)
    caplog.clear()
    assert not tls.reload()
    assert "the certificates cannot be reloaded" in caplog.text
    assert not tls.reload()


@pytest.mark.parametrize(
    ("certificate", "key", "message"),
    [
        ("gone", "tls.key", "`gone`: no such file"),
        ("tls.crt", "gone", "`gone`: no such file"),
        ("tls.key", "tls.crt", "`tls.key`: not a certificate with its key: "),
    ],
)
def test_certificates_that_cannot_be_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    certificate: str,
    key: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    files_of(tmp_path, [])
    settings = TlsSettings(Path(certificate), Path(key))
    with pytest.raises(StartError, match=f"^{message}"):
        server_tls(settings, Address(), CredentialsFolder(None), NOW)


def test_bundles_are_joined() -> None:
    """Each certificate once, and none that has expired."""
    first, second = (CredentialsFolder(None).authority(NOW).certificate.decode() for _ in range(2))
    joined = joined_bundles([f"text\n{first}", second, first], NOW)
    assert joined == f"{first}{second}"
    assert joined_bundles([first], NOW + timedelta(days=3651)) == ""
    assert joined_bundles([], NOW) == ""
