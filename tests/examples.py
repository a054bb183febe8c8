"""How many examples a property is tried with that wants more or fewer than others."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

USUAL: Final = 100
"""What hypothesis tries where nobody says anything."""
LEAST: Final = 3
"""What is tried in any case, if so many are wanted."""


def examples(count: int) -> int:
    """Return `count` where others have the usual number, and in proportion to others where the
    profile (`tests/conftest.py`) gives them fewer, as for `make test`, or more."""
    return max(min(count, LEAST), count * settings().max_examples // USUAL)
