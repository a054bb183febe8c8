"""Subjects of certificate requests, written here by hand."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.admission.plugins.certificate_plugins import UnreadableRequest, organizations


def element(tag: int, *content: bytes) -> bytes:
    body = b"".join(content)
    if len(body) < 128:
        return bytes([tag, len(body)]) + body
    size = (len(body).bit_length() + 7) // 8
    return bytes([tag, 0x80 + size]) + len(body).to_bytes(size) + body


def attribute(oid: str, text: str, tag: int = 0x0C) -> bytes:
    encoded = text.encode("utf-16-be" if tag == 0x1E else "utf-8")
    pair = element(0x30, element(0x06, bytes.fromhex(oid)), element(tag, encoded))
    return element(0x31, pair)


def pem(der: bytes) -> str:
    body = base64.encodebytes(der).decode()
    text = f"-----BEGIN CERTIFICATE REQUEST-----\n{body}-----END CERTIFICATE REQUEST-----\n"
    return base64.b64encode(text.encode()).decode()


def request_of(name: str, *found: str, tag: int = 0x0C) -> str:
    subject = element(
        0x30, attribute("550403", name), *(attribute("55040a", one, tag) for one in found)
    )
    info = element(0x30, element(0x02, b"\0"), subject, element(0x30, b""))
    return pem(element(0x30, info, element(0x30, b""), element(0x03, b"\0")))


@pytest.mark.parametrize("tag", [0x0C, 0x13, 0x1E])
def test_organizations(tag: int) -> None:
    assert organizations(request_of("n", "a", "b" * 200, tag=tag)) == ["a", "b" * 200]
    assert organizations(request_of("n")) == []


@pytest.mark.parametrize(
    "text", ["!", "", base64.b64encode(b"-----BEGIN X-----").decode(), pem(b""), pem(b"\x30\x05")]
)
def test_what_is_no_request(text: str) -> None:
    with pytest.raises(UnreadableRequest):
        organizations(text)


NO_PEM = "PEM block type must be CERTIFICATE REQUEST"
STRUCTURE, CUT_OFF = "asn1: structure error", "asn1: syntax error: data truncated"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("!", NO_PEM),
        (base64.b64encode(b"-----BEGIN X-----").decode(), NO_PEM),
        (pem(b""), STRUCTURE),
        (pem(b"\x31\x00"), STRUCTURE),
        (pem(b"\x30\x00"), STRUCTURE),
        (pem(b"\x30\x02\x31\x00"), STRUCTURE),
        (pem(element(0x30, element(0x30, element(2)))), STRUCTURE),
        (pem(element(0x30, element(0x30, element(2), element(0x31)))), STRUCTURE),
        (pem(b"\x30\x05"), CUT_OFF),
        (pem(b"\x30\x03\x30\x02\x00"), CUT_OFF),
    ],
)
def test_why_it_is_none(text: str, why: str) -> None:
    with pytest.raises(UnreadableRequest) as caught:
        organizations(text)
    assert str(caught.value) == why


def test_a_subject_may_be_empty_and_last() -> None:
    assert organizations(pem(element(0x30, element(0x30, element(2), element(0x30))))) == []


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(der: bytes) -> None:
    try:
        found = organizations(pem(der))
    except UnreadableRequest:
        return
    assert all(isinstance(one, str) for one in found)
