"""What a test of the architecture says: the rule, and everything that breaks it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest


def hold(rule: str, offenders: Iterable[str], excused: Collection[str] = ()) -> None:
    """Fail with the rule and all that break it, one in a line, unless only those do that are
    excused; and with every excuse that nothing needs."""
    found = set(offenders)
    lines = [
        *(f"  {one}" for one in sorted(found.difference(excused))),
        *(f"  no longer needed: {one}" for one in sorted(set(excused) - found)),
    ]
    if lines:
        pytest.fail("\n".join((f"{rule} (tests/architecture/rooms.py)", *lines)), pytrace=False)
