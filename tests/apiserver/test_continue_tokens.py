"""Continue tokens."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.request_info import ContinueToken, ContinueTokenError, read_continue_token


@given(st.integers(1, 1 << 62), st.from_regex(r"[a-z]{1,9}/[a-z]{1,9}", fullmatch=True))
def test_there_and_back(revision: int, key: str) -> None:
    token = ContinueToken(revision, f"{key}\0")
    assert read_continue_token(token.text()) == token


def encoded(**members: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(members).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("%%%", "continue key is not valid"),
        ("e30x", "continue key is not valid"),
        (encoded(v="v9", rv=1, start="a\0"), "does not recognize this encoded version v9"),
        (encoded(v="meta.k8s.io/v1", start="a\0"), "incorrect encoded start resourceVersion"),
        (encoded(v="meta.k8s.io/v1", rv=1), "encoded start key empty"),
        (
            encoded(v="meta.k8s.io/v1", rv=10**20, start="a\0"),
            "json: cannot unmarshal number 100000000000000000000 into Go struct field "
            "continueToken.rv of type int64",
        ),
        (
            encoded(v="meta.k8s.io/v1", rv=1.5, start="a\0"),
            "cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64",
        ),
        (
            encoded(v="meta.k8s.io/v1", rv=1, start=["a"]),
            "cannot unmarshal array into Go struct field continueToken.start of type string",
        ),
        ("W10", "cannot unmarshal array into Go value of type storage.continueToken"),
        (encoded(v="meta.k8s.io/v1", rv=1, start="../a\0"), "continue key is not valid"),
        (encoded(v="meta.k8s.io/v1", rv=1, start="//a"), "continue key is not valid: //a"),
        (encoded(v="meta.k8s.io/v1", rv=1, start="a/"), "continue key is not valid: a/"),
        ("xx", "invalid character 'Ç' looking for beginning of value"),
    ],
)
def test_what_is_no_token(text: str, part: str) -> None:
    with pytest.raises(ContinueTokenError, match=part):
        read_continue_token(text)


@pytest.mark.parametrize(
    ("token", "start"),
    [
        ({"V": "meta.k8s.io/v1", "RV": -1, "Start": "b"}, "b"),
        ({"v": "meta.k8s.io/v1", "rv": -1, "start": "a", "START": "b"}, "b"),
        ({"v": "meta.k8s.io/v1", "rv": -1, "start": "/a/b\0"}, "a/b\0"),
        ({"v": "meta.k8s.io/v1", "rv": -1, "start": "/"}, ""),
    ],
)
def test_go_reads_names_in_any_case_and_one_slash_in_front(
    token: dict[str, object], start: str
) -> None:
    assert read_continue_token(encoded(**token)) == ContinueToken(-1, start)
