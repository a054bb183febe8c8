"""The text of YAML answers."""

from __future__ import annotations

import pytest

from celadon.apiserver.negotiation import YAML, Accepted, written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "a: plain\n"),
        ("", 'a: ""\n'),
        ("true", 'a: "true"\n'),
        ("1", 'a: "1"\n'),
        ("y", 'a: "y"\n'),
        ("a: b", "a: 'a: b'\n"),
        ("one\ntwo\n", "a: |\n  one\n  two\n"),
        (["x"], "a:\n- x\n"),
        (True, "a: true\n"),
        ("word " * 20 + "end", "a: " + "word " * 15 + "word\n  word word word word end\n"),
    ],
)
def test_texts_have_the_styles_of_go(value: object, text: str) -> None:
    assert written({"a": value}, Accepted(YAML)).decode() == text
