"""Any text is a token in form, or is said not to be one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.authn.service_account_tokens import (
    MOST_CHARACTERS,
    NotAToken,
    decoded,
    encoded,
    encoded_json,
    parse_token,
)


@pytest.mark.parametrize(
    "claims",
    ['{"exp": 1, "exp": 2}', '{"a": {"b": 1, "b": 1}}', '{"exp": NaN}', '{"exp": Infinity}'],
)
def test_claims_are_json_without_doubles(claims: str) -> None:
    with pytest.raises(NotAToken):
        parse_token(f"e30.{encoded(claims.encode())}.")


@given(st.text(max_size=40) | st.from_regex(r"[A-Za-z0-9_.\-]{0,40}", fullmatch=True))
def test_any_text_is_a_token_or_is_not(text: str) -> None:
    try:
        token = parse_token(text)
    except NotAToken:
        return
    assert isinstance(token.claims, dict)


@given(st.binary(max_size=40))
def test_what_is_encoded_is_decoded(data: bytes) -> None:
    assert decoded(encoded(data)) == data


def test_what_is_too_long_to_be_a_token_is_not_read() -> None:
    header, claims = encoded_json({"alg": "RS256"}), encoded_json({"a": "x" * MOST_CHARACTERS})
    with pytest.raises(NotAToken):
        parse_token(f"{header}.{claims}.{encoded(b'x')}")
    with pytest.raises(NotAToken):
        parse_token("." * MOST_CHARACTERS)
