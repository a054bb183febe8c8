"""Large answers in gzip."""

from __future__ import annotations

import gzip

import pytest

from celadon.apiserver.http_messages import THRESHOLD, HttpAnswer, HttpRequest, compressed


def asked(encoding: str) -> HttpRequest:
    return HttpRequest("GET", "/", (("accept-encoding", encoding),))


@pytest.mark.parametrize("encoding", ["gzip", "deflate, gzip", "br,gzip , x"])
def test_a_large_body_is_compressed(encoding: str) -> None:
    body = b"x" * (THRESHOLD + 1)
    answer = compressed(HttpAnswer(200, "text/plain", body, (("A", "b"),)), asked(encoding))
    assert gzip.decompress(answer.body) == body
    assert answer.headers == (
        ("A", "b"),
        ("Content-Encoding", "gzip"),
        ("Vary", "Accept-Encoding"),
    )


@pytest.mark.parametrize(
    ("encoding", "size"),
    [("gzip", THRESHOLD), ("gzip;q=0", THRESHOLD + 1), ("br", THRESHOLD + 1), ("", 1 << 20)],
)
def test_what_is_sent_as_it_is(encoding: str, size: int) -> None:
    answer = HttpAnswer(200, "text/plain", b"x" * size)
    assert compressed(answer, asked(encoding)) is answer
