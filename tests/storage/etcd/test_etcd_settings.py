"""URLs of members, what a connection to one is given, and which keys are asked for."""

from __future__ import annotations

import errno
import ssl
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pycurl
import pytest

from celadon.storage.etcd.etcd_client import (
    Endpoint,
    EtcdSettings,
    _after_all_with,
    _options,
    parse_endpoints,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://127.0.0.1:2379", ["http://127.0.0.1:2379"]),
        ("https://a , https://b:1", ["https://a:2379", "https://b:1"]),
        ("https://[::1]:2379", ["https://[::1]:2379"]),
    ],
)
def test_endpoints(text: str, shown: list[str]) -> None:
    assert list(map(str, parse_endpoints(text))) == shown


@pytest.mark.parametrize("text", ["127.0.0.1:2379", "unix://x", "http://", "http://a,b"])
def test_what_is_no_url(text: str) -> None:
    with pytest.raises(ValueError, match="is not http://HOST:PORT or https://HOST:PORT"):
        parse_endpoints(text)


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        (b"", b"\0"),
        (b"a", b"b"),
        (b"/registry/", b"/registry0"),
        (b"ab\xff\xff", b"ac"),
        (b"\xff\xff", b"\0"),
    ],
)
def test_where_the_keys_with_a_prefix_end(prefix: bytes, end: bytes) -> None:
    """A null is etcd's word for the end of all keys."""
    assert _after_all_with(prefix) == end


TLS = (pycurl.CAINFO_BLOB, pycurl.CAINFO, pycurl.SSLCERT_BLOB, pycurl.SSLKEY_BLOB)


@pytest.mark.parametrize(
    ("is_secure", "given", "known", "wanted"),
    [
        (False, "authorities certificate private_key", "/known", []),
        (True, "", "/known", [(pycurl.CAINFO, "/known")]),
        (True, "", None, []),
        (True, "authorities", "/known", [(pycurl.CAINFO_BLOB, b"authorities")]),
        (
            True,
            "authorities certificate private_key",
            None,
            [
                (pycurl.CAINFO_BLOB, b"authorities"),
                (pycurl.SSLCERT_BLOB, b"certificate"),
                (pycurl.SSLKEY_BLOB, b"private_key"),
            ],
        ),
        (True, "certificate", None, [(pycurl.SSLCERT_BLOB, b"certificate")]),
    ],
)
def test_whom_a_connection_trusts_and_what_it_shows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_secure: bool,
    given: str,
    known: str | None,
    wanted: list[tuple[int, object]],
) -> None:
    """The system's authorities, unless it is told others."""
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: SimpleNamespace(cafile=known))
    endpoint = Endpoint("a:1", is_secure=is_secure)
    files: dict[str, Any] = {name: tmp_path / name for name in given.split()}
    for name, path in files.items():
        path.write_text(name, "utf-8")
    found = _options(endpoint, EtcdSettings((endpoint,), **files))
    assert [one for one in found if one[0] in TLS] == wanted


def test_a_file_is_as_large_as_curl_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celadon.storage.etcd.etcd_client._MOST_GIVEN", 1000)
    path, endpoint = tmp_path / "ca.pem", Endpoint("a:1", is_secure=True)
    settings = EtcdSettings((endpoint,), authorities=path)
    path.write_bytes(b"x" * 1000)
    assert (pycurl.CAINFO_BLOB, b"x" * 1000) in _options(endpoint, settings)
    path.write_bytes(b"x" * 1001)
    with pytest.raises(OSError, match=str(path)) as caught:
        _options(endpoint, settings)
    assert caught.value.errno == errno.EFBIG
