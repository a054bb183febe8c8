"""Characters of values, found in the file, whatever the style they are written in."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from celadon.cli.reading.locations import Chunk, source_offset

TEXT = "object.spec.x == 'a' &&\nobject.spec.replicas > 1\n"
STYLES = ["'", '"', "|", ">", None]


def written(value: str, style: str | None) -> str:
    document: Any = {"spec": {"list": [{"expression": value, "z": 1}]}}

    class Dumper(yaml.SafeDumper):
        """One style for all texts."""

    def represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    return yaml.dump(document, Dumper=Dumper, allow_unicode=True, width=40)


def check(value: str, text: str, *, is_json: bool = False) -> None:
    """Every character that is no space, and no escape, is found where it stands."""
    start = text.index("{") if is_json else 0
    chunk = Chunk("f", text, 1, start, is_json=is_json)
    lines = text.split("\n")
    for offset, character in enumerate(value):
        if character.isalnum() and character.isascii():
            line, column = chunk.spot(("spec", "list", 0, "expression"), value, offset)
            assert lines[line - 1][column - 1] == character


@pytest.mark.parametrize("style", STYLES)
def test_styles(style: str | None) -> None:
    text = written(TEXT, style)
    assert yaml.safe_load(text)["spec"]["list"][0]["expression"] == TEXT
    check(TEXT, text)


@given(st.text(alphabet="ab1 \n\t'\"\\:#&.é日👑-", max_size=60), st.sampled_from(STYLES))
def test_any_text(value: str, style: str | None) -> None:
    text = written(value, style)
    if yaml.safe_load(text)["spec"]["list"][0]["expression"] == value:
        check(value, text)


@given(st.text(alphabet="ab1 \n\t'\"\\é👑", max_size=60), st.booleans())
def test_json(value: str, ascii_only: bool) -> None:
    document = {"spec": {"list": [{"expression": value}]}}
    check(value, json.dumps(document, indent=1, ensure_ascii=ascii_only), is_json=True)


@pytest.mark.parametrize(
    ("text", "value", "offset", "found"),
    [
        ("&a !!str abc", "abc", 1, "b"),
        ("'it''s'", "it's", 3, "s"),
        (r'"\x41\u0042\U00000043D"', "ABCD", 3, "D"),
        (r'"a\nb"', "a\nb", 2, "b"),
        ('"a\\\n   b"', "ab", 1, "b"),
        ("|2-\n    x y", "  x y", 4, "y"),
        ("> # comment\n a\n b\n", "a b\n", 2, "b"),
    ],
)
def test_particular_scalars(text: str, value: str, offset: int, found: str) -> None:
    assert text[source_offset(text, 0, value, offset)] == found


def test_behind_the_end() -> None:
    assert source_offset("'ab'", 0, "ab", 2) == 3
    assert source_offset("abc", 0, "abc", 3) == 3


def test_an_alias_is_where_it_was_anchored() -> None:
    text = "a: &x 'one two'\nb: *x\n"
    chunk = Chunk("f", text, 1, 0, is_json=False)
    assert chunk.spot(("b",)) == (2, 1)
    assert chunk.spot(("b",), "one two", 4) == (1, 12)


def test_a_path_that_is_not_there() -> None:
    chunk = Chunk("f", "a:\n  b: c\n", 1, 0, is_json=False)
    assert chunk.spot(("a", "x"), "c", 0) == (1, 1)
    assert chunk.source_of(("a", "x"), "c", 0, 1) is None
    assert chunk.source_of(("a", "b"), "c", 0, 1) == (8, 9)
