"""Property names as CEL field names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.schemas.schema_packs import escape

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


NAMES = st.text(alphabet="ab_.-/", min_size=1).filter(lambda text: "___" not in text)


@given(NAMES, NAMES)
def test_names_stay_different(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) == (one == other)
