"""Functions that remember short texts."""

from __future__ import annotations

from celadon.remembering import LONGEST, remembering


def test_what_is_short_is_asked_once_as_long_as_there_is_room() -> None:
    asked: list[str] = []

    @remembering(2)
    def length(text: str) -> int:
        """Of it."""
        asked.append(text[:1])
        return len(text)

    long = "x" * (LONGEST + 1)
    assert [length(text) for text in ("a", "a", long, long, "b", "a", long[1:], "a", "b")] == [
        *(1, 1, LONGEST + 1, LONGEST + 1, 1, 1, LONGEST, 1, 1)
    ]
    assert asked == ["a", "x", "x", "b", "x", "b"]
    assert (length.__name__, length.__doc__) == ("length", "Of it.")
