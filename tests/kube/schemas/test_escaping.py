"""Property names as CEL field names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.schemas.escaping import escape, unescape

ROWS = [
    ("a.a", "a__dot__a"),
    ("a-a", "a__dash__a"),
    ("a__a", "a__underscores__a"),
    ("a.-/__a", "a__dot____dash____slash____underscores__a"),
    ("a__.__a", "a__underscores____dot____underscores__a"),
    ("a___a", "a__underscores___a"),
    ("a____a", "a__underscores____underscores__a"),
    ("a__dot__a", "a__underscores__dot__underscores__a"),
    ("a._a", "a__dot___a"),
    ("namespace", "__namespace__"),
    ("_if", "_if"),
    ("has", "has"),
    ("int", "int"),
    ("@", None),
    ("1up", None),
    ("", None),
    ("👑", None),
]


@pytest.mark.parametrize(("raw", "escaped"), ROWS)
def test_escape(raw: str, escaped: str | None) -> None:
    assert escape(raw) == escaped


@pytest.mark.parametrize("text", ["__int__extra", "__illegal__", "a__namespace__"])
def test_escapes_that_do_not_exist(text: str) -> None:
    assert unescape(text) is None


@given(st.text(alphabet="ab_.-/", min_size=1).filter(lambda text: "___" not in text))
def test_unescape_restores(raw: str) -> None:
    escaped = escape(raw)
    assert escaped is not None
    assert unescape(escaped) == raw


def test_reserved_words_are_restored() -> None:
    assert unescape("__namespace__") == "namespace"
    assert unescape("plain") == "plain"
