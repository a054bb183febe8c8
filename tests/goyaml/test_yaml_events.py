"""The complete YAML reader: values, and the errors with their lines."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.goyaml.yaml_events import read_yaml
from celadon.goyaml.yaml_scalars import MAX_DEPTH, RepeatedKey, UnreadableError

VALUES: list[tuple[str, Any]] = [
    ("a: 1\n", {"a": 1}),
    ("a: yes\nb: 'yes'\nc: \"no\"\n", {"a": True, "b": "yes", "c": "no"}),
    ("y: 1\n", {"true": 1}),
    ("1: a\n1.5: b\n", {"1": "a", "1.5": "b"}),
    (
        "a: !!str 12\nb: !!int '12'\nc: ! 12\nd: !mine 12\n",
        {"a": "12", "b": 12, "c": 12, "d": "12"},
    ),
    ("a: !!binary aGVsbG8=\n", {"a": "hello"}),
    ("a: !!float 3\nb: !!timestamp 2001-01-01\n", {"a": 3, "b": "2001-01-01"}),
    ("a: &x [1, 2]\nb: *x\n", {"a": [1, 2], "b": [1, 2]}),
    ("d: &d {a: 1, b: 2}\ne:\n  <<: *d\n  b: 3\n", {"d": {"a": 1, "b": 2}, "e": {"a": 1, "b": 3}}),
    (
        "d: &d {a: 1}\ne:\n  a: 2\n  <<: [*d, {a: 5, c: 6}]\n",
        {"d": {"a": 1}, "e": {"a": 1, "c": 6}},
    ),
    ("a: >-\n  one\n  two\n", {"a": "one two"}),
    ("a: '<<'\n", {"a": "<<"}),
    ("'<<': 1\n", {"<<": 1}),
    ("a: 2001-12-14\n", {"a": "2001-12-14"}),
]


@pytest.mark.parametrize(("text", "want"), VALUES)
def test_values(text: str, want: Any) -> None:
    assert [value for _, value in read_yaml(text)] == [want]


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\n\n"])
def test_nothing(text: str) -> None:
    assert list(read_yaml(text)) == []


ERRORS: list[tuple[str, int, str]] = [
    ("a: 1\nb: 2\na: 3\n", 3, 'key "a" already set in map'),
    ("y: 1\ntrue: 2\n", 2, 'key "true" already set in map'),
    ("a:\n\t- b\n", 2, "found character that cannot start any token"),
    ("a: 'x\n", 2, "found unexpected end of stream"),
    ("a: b: c\n", 1, "mapping values are not allowed in this context"),
    ("a: *nope\n", 1, "unknown anchor `nope` referenced"),
    ("a: &x {b: *x}\n", 1, "anchor `x` contains itself"),
    ("a: .nan\n", 1, "the number `.nan` has no form in JSON"),
    ("a: 1\n? [a]\n: 1\n", 2, "a list cannot be a key"),
    ("? {a: 1}\n: 1\n", 1, "a map cannot be a key"),
    ("null: 1\n", 1, "null cannot be a key"),
    ("a: !!int foo\n", 1, "cannot decode !!str `foo` as a !!int"),
    ("a: !!binary '***'\n", 1, "!!binary value contains invalid base64 data"),
    ("a: !!binary é\n", 1, "!!binary value contains invalid base64 data"),
    ("a: 1\nb: \x01\n", 2, "control characters are not allowed"),
    ("a: 1\nb: \x00\n", 2, "control characters are not allowed"),
    ("<<: 5\n", 1, "map merge requires map or sequence of maps as the value"),
    (
        "a: &a\n- {b: c}\nd:\n  <<: *a\n",
        4,
        "map merge requires map or sequence of maps as the value",
    ),
    ("- " * 10_001 + "x", 1, "nested deeper than 10000 levels"),
    ("[" * 100_000, 1, "nested deeper than 10000 levels"),
    ("{a: " * 20_000, 1, "nested deeper than 10000 levels"),
]


@pytest.mark.parametrize(("text", "line", "message"), ERRORS)
def test_errors(text: str, line: int, message: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        list(read_yaml(text))
    assert (caught.value.line, caught.value.message) == (line, message)


def _laughs(levels: int, fanout: int) -> str:
    lines = ["a0: &a0 lol"]
    for level in range(1, levels + 1):
        items = ", ".join([f"*a{level - 1}"] * fanout)
        lines.append(f"a{level}: &a{level} [{items}]")
    return "\n".join(lines)


def test_an_alias_bomb_is_refused_at_once() -> None:
    with pytest.raises(UnreadableError, match="excessive aliasing"):
        list(read_yaml(_laughs(40, 10)))


def test_ordinary_aliases_are_no_bomb() -> None:
    ((_, value),) = read_yaml(_laughs(3, 10))
    assert value["a3"][0][0][0] == "lol"


def test_a_ladder_of_aliases_is_too_deep() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{x: *a{n - 1}}}" for n in range(1, 40)]
    list(read_yaml("\n".join(lines)))
    lines += [f"a{n}: &a{n} {{x: *a{n - 1}}}" for n in range(40, 900)]
    with pytest.raises(UnreadableError):
        list(read_yaml("\n".join(lines)))


@pytest.mark.parametrize("around", [3_999, 4_000])
def test_aliases_count_as_what_they_stand_for(around: int) -> None:
    deep = MAX_DEPTH - 4_000
    text = f"a: &a {'[' * deep}{']' * deep}\nb: {'[' * around}*a{']' * around}\n"
    if around + deep < MAX_DEPTH:
        assert len(list(read_yaml(text))) == 1
        return
    with pytest.raises(UnreadableError, match="nested deeper than 10000 levels"):
        list(read_yaml(text))


SLOW = 'b: "\\\'"\n'
"""An escape that only the slow reader knows."""


@pytest.mark.parametrize(
    ("documents", "lines"),
    [
        (["a: 1\na: 2\n" + SLOW], [2]),
        (["a: 1\na: 2\n", "c: 1\nc: 2\n" + SLOW, "d: 1\nd: 2\n"], [2, 5, 9]),
        (["a: 1\n" + SLOW, "c: 1\nc: 2\n"], [5]),
    ],
)
def test_keys_that_come_twice_are_noticed_once_by_both_readers(
    documents: list[str], lines: list[int]
) -> None:
    repeated: list[RepeatedKey] = []
    values = list(read_yaml("---\n".join(documents), repeated))
    assert len(values) == len(documents)
    assert [key.line for key in repeated] == lines


def test_two_places_never_share_one_map() -> None:
    ((_, value),) = read_yaml("a: &x {b: 1}\nc: *x\n")
    assert value["a"] == value["c"]
    assert value["a"] is not value["c"]


def test_documents_and_their_lines() -> None:
    text = "%YAML 1.1\n---\na: 1\n---\n\nb: 2\n...\n"
    assert list(read_yaml(text)) == [(3, {"a": 1}), (6, {"b": 2})]
