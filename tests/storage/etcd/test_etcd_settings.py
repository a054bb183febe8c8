"""URLs of members."""

from __future__ import annotations

import pytest

from celadon.storage.etcd.etcd_client import parse_endpoints


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
