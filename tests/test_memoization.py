"""Functions that remember short texts, and memories by weight."""

from __future__ import annotations

from celadon.memoization import LONGEST, OnDemand, WeightedMemory, remembering


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


def test_a_memory_holds_what_is_latest_up_to_its_weight() -> None:
    memory = WeightedMemory[str, int](10)
    for number, (key, weight) in enumerate((("a", 3), ("b", 2), ("c", 5), ("too heavy", 6))):
        memory.keep(key, number, weight)
    assert [memory.get(key) for key in ("a", "b", "c", "too heavy", "d")] == [0, 1, 2, None, None]
    memory.keep("d", 4, 1)
    assert [memory.get(key) for key in ("a", "b", "c", "d")] == [None, None, 2, 4]


def test_a_value_on_demand_is_found_once_be_it_none() -> None:
    asked: list[str] = []
    nothing = OnDemand(lambda: asked.append("x"))
    assert not asked
    assert (nothing.value, nothing.value, asked) == (None, None, ["x"])
