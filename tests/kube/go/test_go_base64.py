"""Base64: what Go reads, and where it stops."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go.go_text import Base64Error, canonical_base64


@pytest.mark.parametrize(
    ("text", "want"),
    [("", ""), ("AAAA", "AAAA"), ("AA==", "AA=="), ("AB==", "AA=="), ("A\nA\r==\n", "AA==")],
)
def test_read(text: str, want: str) -> None:
    assert canonical_base64(text) == want


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("!!!!", 0),
        ("AAAA=", 4),
        ("AAAA!", 4),
        ("A", 0),
        ("AAAAA", 4),
        ("AAA", 0),
        ("AA=", 3),
        ("AA=\n", 4),
        ("AA=\n=A", 5),
        ("AA=A", 2),
        ("A===", 1),
        ("AA==A", 4),
        ("AAA=A", 4),
        ("AA\n=", 4),
        ("AAAAAA!=", 6),
    ],
)
def test_refused(text: str, position: int) -> None:
    with pytest.raises(Base64Error) as error:
        canonical_base64(text)
    assert str(error.value) == f"illegal base64 data at input byte {position}"


@given(st.binary(max_size=40))
def test_whatever_was_encoded_is_read(data: bytes) -> None:
    text = base64.b64encode(data).decode()
    assert canonical_base64(text) == text


@given(st.text(alphabet="Az+/=\n!é", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        canonical_base64(text)
    except Base64Error:
        return
    assert base64.b64decode(text.replace("\n", ""), validate=True) is not None
