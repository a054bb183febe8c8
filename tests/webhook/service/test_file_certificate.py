"""Certificates from files and made ones."""

from __future__ import annotations

import datetime
import os
import time
from pathlib import Path

import pytest

from celadon.apiserver.http import Address, CredentialsFolder, StartError, TlsSettings
from celadon.webhook.service.webhook_process import certificate_of, write_trusted

HERE = Address("127.0.0.1", 0)
NOW = datetime.datetime.now(datetime.UTC)


def given(folder: Path, name: str, made: datetime.datetime) -> TlsSettings:
    pair = CredentialsFolder(None).server((name,), made)
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    return TlsSettings(certificate, key)


def test_plain_http_has_none() -> None:
    assert certificate_of(TlsSettings(plain=True), HERE) is None


def test_a_made_one_lasts_and_can_be_trusted(tmp_path: Path) -> None:
    found = certificate_of(TlsSettings(), HERE)
    assert found is not None
    assert found.expires() > time.time() + 86_400
    assert found.context.get_ciphers(), "handshakes are made with it"
    assert not found.reload()
    write_trusted(found, tmp_path / "ca.pem")
    assert (tmp_path / "ca.pem").read_bytes().startswith(b"-----BEGIN CERTIFICATE-----")
    with pytest.raises(StartError, match="No such file"):
        write_trusted(found, tmp_path / "nowhere" / "ca.pem")


def test_files_that_change_and_break(tmp_path: Path) -> None:
    settings = given(tmp_path, "first.example.com", NOW - datetime.timedelta(days=2))
    found = certificate_of(settings, HERE)
    assert found is not None
    before = found.expires()
    given(tmp_path, "second.example.com", NOW)
    assert found.reload()
    after = found.expires()
    assert after > before
    (tmp_path / "tls.crt").write_text("no certificate")
    os.utime(tmp_path / "tls.crt", (1, 1))
    assert not found.reload()
    assert found.expires() == after, "the old one stays"


def test_files_that_are_not_there(tmp_path: Path) -> None:
    settings = TlsSettings(tmp_path / "tls.crt", tmp_path / "tls.key")
    with pytest.raises(StartError):
        certificate_of(settings, HERE)
