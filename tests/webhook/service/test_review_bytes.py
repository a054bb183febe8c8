"""JSON in and out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.webhook.service.review_handler import UnreadableJson, answer_bytes_of, read_document

TEXTS = st.text(st.characters(codec="utf-8"))
DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)


@given(DOCUMENTS, st.booleans())
def test_documents_are_read_as_python_reads_them(document: object, with_surrogate: bool) -> None:
    body = json.dumps(["\ud800", document] if with_surrogate else document).encode()
    found = read_document(body)
    assert found == json.loads(body)
    assert json.dumps(found) == json.dumps(json.loads(body)), "true is not 1, and 1 is not 1.0"


@given(st.dictionaries(st.text(), st.text()))
def test_answers_are_json(document: dict[str, str]) -> None:
    assert json.loads(answer_bytes_of(document)) == document


@given(st.binary())
def test_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        read_document(body)
    except UnreadableJson:
        return
    json.loads(body)


@pytest.mark.parametrize("body", [b"nan", b"Infinity", b"-Infinity", b"[1e400]", b"\x00", b"'a'"])
def test_what_only_python_would_take(body: bytes) -> None:
    with pytest.raises(UnreadableJson):
        read_document(body)
