"""Any text is a token in form, or is said not to be one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.authn.signed_tokens import (
    MOST_CHARACTERS,
    NotAToken,
    decoded,
    encoded,
    encoded_json,
    parse_token,
)


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b'{"alg": "a", "alg": "a"}',
        b'{"alg": 5}',
        b'{"kid": ["x"]}',
        b'{"nonce": 7}',
        b'{"x5c": ["AAAA"]}',
        b'{"x5c": 5}',
        b'{"jwk": 5}',
        b'{"jwk": {"kty": "oct", "k": "AAAA"}}',
        b'{"jwk": {"kty": "EC", "d": "AAAA"}}',
        b"\xef\xbb\xbf{}",
        '{"alg": "RS256"}'.encode("utf-16"),
        b'{"a": NaN}',
        b"{} {}",
    ],
)
def test_headers_that_are_none(header: bytes) -> None:
    with pytest.raises(NotAToken):
        parse_token(f"{encoded(header)}.e30.")


@pytest.mark.parametrize("text", ["e30=.e30.", "e30.e30.AA==", "e30.e30.a+b/", "e30.e30.a\nb"])
def test_base64_is_that_of_urls(text: str) -> None:
    with pytest.raises(NotAToken):
        parse_token(text)


@pytest.mark.parametrize("header", [b"", b"null", b'{"x": "\xff", "y": {"z": 1, "z": 2}}'])
def test_headers_that_say_nothing(header: bytes) -> None:
    assert parse_token(f"{encoded(header)}.e30.").header.get("alg") is None


@given(st.text(max_size=40) | st.from_regex(r"[A-Za-z0-9_.\-]{0,40}", fullmatch=True))
def test_any_text_is_a_token_or_is_not(text: str) -> None:
    try:
        token = parse_token(text)
    except NotAToken:
        return
    assert text.count(".") == 2
    assert token.signed.startswith(encoded(decoded(text.split(".")[0])).encode())


@given(st.binary(max_size=40))
def test_what_is_encoded_is_decoded(data: bytes) -> None:
    assert decoded(encoded(data)) == data


def test_what_is_too_long_to_be_a_token_is_not_read() -> None:
    header, claims = encoded_json({"alg": "RS256"}), encoded_json({"a": "x" * MOST_CHARACTERS})
    with pytest.raises(NotAToken):
        parse_token(f"{header}.{claims}.{encoded(b'x')}")
    with pytest.raises(NotAToken):
        parse_token("." * MOST_CHARACTERS)
