"""The strings library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import EvaluationError
from celadon.cel.library import strings
from celadon.cel.library.formatting import legacy_format
from celadon.cel.library.strings import quote


@pytest.mark.parametrize(
    ("function", "args", "result"),
    [
        (strings.char_at, ("aé", 1), "é"),
        (strings.char_at, ("aé", 2), ""),
        (strings.index_of, ("hello mellow", "ello"), 1),
        (strings.index_of, ("hello mellow", "ello", 2), 7),
        (strings.index_of, ("hello", "ello", 20), -1),
        (strings.index_of, ("x", "", 2), 2),
        (strings.index_of, ("x", "", -2), -2),
        (strings.last_index_of, ("hello mellow", "ello"), 7),
        (strings.last_index_of, ("abc", ""), 3),
        (strings.last_index_of, ("a", "abc"), -1),
        (strings.last_index_of_from, ("hello mellow", "ello", 6), 1),
        (strings.last_index_of_from, ("hello mellow", "ello", 7), 7),
        (strings.last_index_of_from, ("hello mellow", "ello", 11), 7),
        (strings.last_index_of_from, ("hello mellow", "ello", 12), -1),
        (strings.last_index_of_from, ("x", "", 9), 9),
        (strings.lower_ascii, ("ÀBc",), "Àbc"),
        (strings.upper_ascii, ("àBc",), "àBC"),
        (strings.replace, ("aaa", "a", "b"), "bbb"),
        (strings.replace, ("aaa", "a", "b", 0), "aaa"),
        (strings.replace, ("aaa", "a", "b", -7), "bbb"),
        (strings.replace, ("ab", "", "-"), "-a-b-"),
        (strings.replace, ("ab", "", "-", 2), "-a-b"),
        (strings.split, ("a,b,c", ","), ["a", "b", "c"]),
        (strings.split, ("a,b,c", ",", 2), ["a", "b,c"]),
        (strings.split, ("a,b,c", ",", 0), []),
        (strings.split, ("a,b,c", ",", -1), ["a", "b", "c"]),
        (strings.split, ("", ","), [""]),
        (strings.split, ("", ""), []),
        (strings.split, ("abc", ""), ["a", "b", "c"]),
        (strings.split, ("abc", "", 2), ["a", "bc"]),
        (strings.split, ("abc", "", 9), ["a", "b", "c"]),
        (strings.substring, ("abc", 3), ""),
        (strings.substring_to, ("abc", 1, 2), "b"),
        (strings.trim, ("\u2003 a\u0085",), "a"),
        (strings.trim, ("\x1ca\x1c",), "\x1ca\x1c"),
        (strings.reverse, ("aé",), "éa"),
        (strings.join, (["a", "b"],), "ab"),
        (strings.join, (["a", "b"], ", "), "a, b"),
        (strings.join, ([], ", "), ""),
    ],
)
def test_results(function: Callable[..., Any], args: tuple[Any, ...], result: object) -> None:
    assert function(*args) == result


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (strings.char_at, ("abc", -1), "index out of range: -1"),
        (strings.char_at, ("abc", 4), "index out of range: 4"),
        (strings.index_of, ("abc", "a", -1), "index out of range: -1"),
        (strings.last_index_of_from, ("abc", "a", -1), "index out of range: -1"),
        (strings.substring, ("abc", 4), "index out of range: 4"),
        (strings.substring_to, ("abc", 9, 3), "invalid substring range. start: 9, end: 3"),
        (strings.substring_to, ("abc", -1, 3), "index out of range: -1"),
        (strings.substring_to, ("abc", 1, 4), "index out of range: 4"),
        (strings.join, (["a", 1],), "join: invalid input: 1"),
        (strings.join, (["a", None], ","), "join: invalid input: 0"),
    ],
)
def test_errors(function: Callable[..., Any], args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        function(*args)
    assert raised.value.message == message


class Forwards(str):
    """A text that may not be searched from its end: Python compares at each position then."""

    __slots__ = ()

    def rfind(self, *args: object) -> int:
        raise AssertionError("searched from the end")

    def __getitem__(self, key: Any) -> Forwards:
        return Forwards(str(self)[key])


@pytest.mark.parametrize(
    ("part", "offset", "position"),
    [
        ("b" + "a" * 9_000, None, -1),
        ("a" * 9_000 + "b", None, -1),
        ("a" * 9_000, None, 11_000),
        ("a" * 9_000, 77, 77),
        ("a" * 9_000 + "b", 20_000, -1),
    ],
)
def test_the_last_of_a_long_text_is_looked_for_forwards(
    part: str, offset: int | None, position: int
) -> None:
    text = Forwards("a" * 20_000)
    if offset is None:
        assert strings.last_index_of(text, part) == position
    else:
        assert strings.last_index_of_from(text, part, offset) == position


@given(st.text("ab", max_size=40), st.text("ab", min_size=1, max_size=4))
def test_the_last_is_the_same_from_both_ends(text: str, part: str) -> None:
    long = "b" * 300_000 + text
    assert strings.last_index_of(long, part * 4) == long.rfind(part * 4)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ('a"\\', '"a\\"\\\\"'),
        ("\a\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'),
        ("é\x00\u200b", '"é\x00\u200b"'),
        ("\udfff", '"\ufffd"'),
    ],
)
def test_quote(text: str, quoted: str) -> None:
    assert quote(text) == quoted


LONG = "a" * 100_000


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (strings.replace, (LONG, "", LONG)),
        (strings.replace, (LONG, "a", LONG)),
        (strings.join, ([""] * 100_000, LONG)),
        (strings.join, ([LONG] * 5_000,)),
        (legacy_format, ("%s" * 5_000, [LONG] * 5_000)),
    ],
    ids=("replace empty", "replace", "separators", "elements", "format"),
)
def test_strings_that_would_take_all_memory(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        function(*args)


def test_long_strings_that_stay_as_long() -> None:
    assert strings.replace(LONG, "b", LONG) == LONG


def test_versions() -> None:
    names = [{f.name for f in strings.library(version).functions} for version in range(5)]
    assert names[1] - names[0] == {"format", "strings.quote"}
    assert names[2] == names[1]
    assert names[3] - names[2] == {"reverse"}
    assert names[4] == names[3]
    validators = [len(strings.library(version).validators) for version in range(5)]
    assert validators == [0, 1, 1, 1, 1]


@given(st.text(alphabet="ab,", max_size=8), st.sampled_from([",", "a", "", ",a"]))
def test_pieces_join_to_the_whole(text: str, separator: str) -> None:
    assert strings.join(strings.split(text, separator), separator) == text
