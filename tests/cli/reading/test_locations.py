"""The line of a field in a YAML text, also where YAML is unusual."""

from __future__ import annotations

import pytest

from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import Chunk

ANCHORS = """\
base: &a
  image: nginx
again: &a
  image: redis
used: *a
list:
- *a
- name: x
  ? [complex, key]
  : value
? *a
: odd
last: 1
"""
ROWS: list[tuple[Path, int]] = [
    ((), 1),
    (("base", "image"), 2),
    (("again", "image"), 4),
    (("used",), 5),
    (("used", "image"), 4),
    (("list", 0), 7),
    (("list", 1, "name"), 8),
    (("list", 1, "absent"), 8),
    (("list", 7), 6),
    (("last",), 13),
]


@pytest.mark.parametrize(("path", "line"), ROWS, ids=[str(path) for path, _ in ROWS])
def test_the_line_of_a_path(path: Path, line: int) -> None:
    assert Chunk("f", ANCHORS, 1, 0, is_json=False).line(path) == line


def test_a_later_document() -> None:
    text = "a: 1\n---\n# a comment\nb:\n  c: 2\n"
    assert Chunk("f", text, 10, text.index("b:"), is_json=False).line(("b", "c")) == 14


@pytest.mark.parametrize("is_json", [False, True])
def test_lines_may_be_asked_for_in_any_order(is_json: bool) -> None:
    text = '{"a": 1,\n"b":\n{"c": 2},\n\n"d": 3}\n'
    chunk = Chunk("f", f"#\n{text}", 10, 2, is_json=is_json)
    lines = {("d",): 15, ("a",): 11, ("b", "c"): 13, ("b",): 12, (): 11}
    for path, line in [*lines.items(), *reversed(lines.items())]:
        assert chunk.spot(path)[0] == line
