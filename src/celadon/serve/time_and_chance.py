"""What cannot be computed: the time, uids, the random end of generated names."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""What the random end of generated names consists of."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a server gets what cannot be computed."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    uid: Callable[[], str] = lambda: str(uuid.uuid4())
    randomness: random.Random = field(default_factory=random.Random)
    """For names and times, not for secrets; the system's own costs ten times as much."""

    def timestamp(self) -> str:
        """The time as objects have it."""
        return self.now().isoformat(timespec="seconds")[:19] + "Z"

    def suffix(self) -> str:
        """Five random characters."""
        return "".join(self.randomness.choices(SUFFIX_LETTERS, k=5))

    def seconds(self) -> float:
        """The time since 1970."""
        return self.now().timestamp()
