"""Services as the command line gives them."""

from __future__ import annotations

import pytest

from celadon.apiserver.webhook_routes import given_services


@pytest.mark.parametrize(
    ("text", "service", "address"),
    [
        ("n/s=localhost:8443", ("n", "s", 0), ("localhost", 8443)),
        ("n/s:443=127.0.0.1:1", ("n", "s", 443), ("127.0.0.1", 1)),
        ("n/s=https://h.example.com", ("n", "s", 0), ("h.example.com", 443)),
        ("n/s=https://[::1]:8443/", ("n", "s", 0), ("::1", 8443)),
    ],
)
def test_services(text: str, service: tuple[str, str, int], address: tuple[str, int]) -> None:
    assert given_services([text]) == {service: address}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n/s",
        "s=h:1",
        "n/=h:1",
        "n/s=",
        "n/s:x=h:1",
        "n/s:0=h:1",
        "n/s=h:x",
        "n/s=http://h",
        "n/s=https://h/path",
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not NAMESPACE/NAME"):
        given_services([text])
