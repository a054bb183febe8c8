"""A remembered property is worked out once for each object."""

from __future__ import annotations

from celadon.memoization import remembered


class Counted:
    def __init__(self) -> None:
        self.times = 0

    @remembered
    def value(self) -> int:
        """How often it was worked out."""
        self.times += 1
        return self.times


def test_once_for_each() -> None:
    one, other = Counted(), Counted()
    assert (one.value, one.value, other.value) == (1, 1, 1)


def test_what_it_is_for() -> None:
    assert Counted.value.__doc__ == "How often it was worked out."
