"""`mime.ParseMediaType`."""

from __future__ import annotations

import pytest

from celadon.kube.go import media_type_complaint, parse_media_type

READ = [
    ("application/json", "application/json"),
    (" Application/JSON ", "application/json"),
    ("text", "text"),
    ("application/json;", "application/json"),
    ("application/json; charset=utf-8", "application/json"),
    ("application/json ; charset = utf-8 ; v=1", "application/json"),
    (r'application/json;a="b;\"c"', "application/json"),
    ("application/apply-patch+yaml", "application/apply-patch+yaml"),
    ("", None),
    ("application/", None),
    ("application/json/x", None),
    ("application/json;charset", None),
    ("application/json;=utf-8", None),
    ("application/json;a=b c", None),
    ('application/json;a="b', None),
]


@pytest.mark.parametrize(("text", "found"), READ)
def test_media_types(text: str, found: str | None) -> None:
    assert parse_media_type(text) == found


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no media type"),
        (" ;a=b", "no media type"),
        ("/json", "no media type"),
        ("text html", "expected slash after first token"),
        ("text/", "expected token after slash"),
        ("garbage///", "expected token after slash"),
        ("application/json/x", "unexpected content after media subtype"),
        ("application/json;charset", "invalid media parameter"),
    ],
)
def test_complaints(text: str, complaint: str) -> None:
    assert parse_media_type(text) is None
    assert media_type_complaint(text) == f"mime: {complaint}"
