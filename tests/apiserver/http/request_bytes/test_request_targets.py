"""What request lines ask for, as Go's url.ParseRequestURI reads it."""

from __future__ import annotations

import pytest

from celadon.apiserver.http.request_bytes import UnreadableTarget, request_target


@pytest.mark.parametrize(
    ("raw", "target"),
    [
        (b"/", b"/"),
        (b"//a/b", b"//a/b"),
        (b"/a%2Fb?%zz", b"/a%2Fb?%zz"),
        (b"/a#b", b"/a#b"),
        (b"*", b"*"),
        (b"http://h", b"/"),
        (b"HTTP://u:p@h:/a?b", b"/a?b"),
        (b"http://[::1%25eth0]:1/a", b"/a"),
        (b"x:y?z", b"/?z"),
        (b"x://a:b:1/c", b"/c"),
    ],
)
def test_read(raw: bytes, target: bytes) -> None:
    assert request_target(b"GET", raw) == target


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"a",
        b":a",
        b"1:a",
        b"?a",
        b"/%",
        b"/%4",
        b"/\x7f",
        b"http://h:x/",
        b"http://a:b:1/",
        b"http://a b/",
        b"http://%41/",
        b"http://u\xff@h/",
        b"http://[::1/",
        b"http://a[::1]/",
        b"http://[1.2.3.4]/",
        b"http://[::1]x/",
        b"http://[::1%2+]/",
    ],
)
def test_unreadable(raw: bytes) -> None:
    with pytest.raises(UnreadableTarget):
        request_target(b"GET", raw)


def test_a_tunnel_names_only_a_host() -> None:
    assert request_target(b"CONNECT", b"a:1") == b"/"
    assert request_target(b"CONNECT", b"/a") == b"/a"
