"""base64."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import EvaluationError
from celadon.cel.library.encoders import decode, encode


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", b""),
        ("aGVsbG8=", b"hello"),
        ("aGVsbG8", b"hello"),
        ("aGVs\r\nbG8=\n", b"hello"),
        ("aGVsbG9=", b"hello"),
    ],
)
def test_decode(text: str, data: bytes) -> None:
    assert decode(text) == data


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a", 0),
        ("aGVsb", 4),
        ("aGVsb\n", 5),
        ("aG=sbG8=", 2),
        ("aGVsbG8==", 7),
        ("a-b_", 1),
        ("aé", 1),
    ],
)
def test_corrupt(text: str, at: int) -> None:
    with pytest.raises(EvaluationError) as raised:
        decode(text)
    assert raised.value.message == f"illegal base64 data at input byte {at}"


@given(st.binary(max_size=20))
def test_encoding_then_decoding_is_the_identity(data: bytes) -> None:
    assert decode(encode(data)) == data
    assert decode(encode(data).rstrip("=")) == data
