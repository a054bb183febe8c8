"""Each key is found where it stands, however it is written."""

from __future__ import annotations

import pytest

from celadon.cli.project_config import PLACED, KeyPath, key_places, too_deep


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("a = 1", ("a",), (1, 1)),
        ("# a = 0\n\n  b = 1 # c = 2\nc=3", ("c",), (4, 1)),
        ("a = [\n  'x', # no\n  \"y]\",\n]\nb = 1", ("a", 1), (3, 3)),
        ("a = [\n  'x', # no\n  \"y]\",\n]\nb = 1", ("b",), (5, 1)),
        ("a = [[1, 2], [3]]", ("a", 1, 0), (1, 15)),
        ("[p.ci]\nkey = 1", ("p",), (1, 2)),
        ("[p.ci]\nkey = 1", ("p", "ci", "key"), (2, 1)),
        ("[ 'p' . \"c.i\" ] # x\nkey = 1", ("p", "c.i", "key"), (2, 1)),
        ("[[p]]\na = 1\n[[p]]\nb = 1", ("p", "b"), (4, 1)),
        ("p = { ci = { a = 1, 'b' = [ ] }, d = 2 }", ("p", "ci", "b"), (1, 21)),
        ("p = { ci = { a = 1, 'b' = [ ] }, d = 2 }", ("p", "d"), (1, 34)),
        ('a = """\nb = 1\n\\""" c = 2 """""\nd = 3', ("d",), (4, 1)),
        ("a = '''\nb = 1 '''\nd = 3", ("d",), (3, 1)),
        ("a = 1979-05-27 07:32:00\r\nb.c = -1.5e3\r\nd = true", ("b", "c"), (2, 1)),
        ("a = 1979-05-27 07:32:00\r\nb.c = -1.5e3\r\nd = true", ("d",), (3, 1)),
        ("a = ''\nb = \"\"\nc = {}", ("c",), (3, 1)),
    ],
)
def test_places(text: str, path: KeyPath, place: tuple[int, int]) -> None:
    assert key_places(text)[path] == place


def test_nobody_looks_for_a_part_far_down() -> None:
    """The paths of a key with so many parts would be as long as their number squared."""
    text = ".".join("a" * 90) + " = 1\nb = " + "[" * 90 + "1" + "]" * 90
    assert max(map(len, key_places(text))) == PLACED
    assert key_places(text)["a", "a"] == (1, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\n" + ".".join("b" * 101) + " = 1", 2),
        ("[" + ".".join("b" * 5000) + "]", 1),
        ("a = {" + " . ".join(['"b"'] * 101) + " = 1}", 1),
        ("a = 1\n" + ".".join("b" * 100) + " = 1", 0),
        ("b." * 99 + "\n" + "b." * 99, 0),
        ("a = '''\n" + "x" * 10_000 + '"' * 10_000, 0),
    ],
)
def test_keys_with_too_many_parts(text: str, line: int) -> None:
    assert too_deep(text) == line
