"""How much history is kept without being asked: by number of events, by age, and by bytes.

All bounds hold: an event goes when there are too many newer ones, when these have replaced too
much, or when it is too old. Nothing runs in the background; each batch of writes forgets what has
become due, so the age bound acts at the next write. Number and bytes are allowed to run over by a
tenth, so that forgetting, which costs about as much as writing, comes in pieces.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from celadon.records import dataclass
from celadon.store.keyspace import Keyspace

SLACK: Final = 10
"""The number of events, and that of bytes, may be exceeded by its tenth part."""

MARKS: Final = 100
"""Ages are known to the hundredth part of the longest."""


@dataclass(frozen=True, slots=True)
class Retention:
    """`events` and `seconds` to keep, and `bytes` of values that have been replaced; None: no
    bound.

    The defaults are generous for a client that turns pages or comes back after a restart
    (kube-apiserver keeps 5 to 10 minutes of history) and bound memory and the time to open a file.
    """

    events: int | None = 20_000
    seconds: float | None = 600.0
    bytes: int | None = 64 << 20


class Schedule:
    """Remembers when revisions came, and says what is due. History that is there at the beginning
    counts as new."""

    def __init__(self, retention: Retention, clock: Callable[[], float]) -> None:
        self._retention = retention
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()

    def note(self, revision: int) -> None:
        """The state is at `revision` now."""
        seconds = self._retention.seconds
        if seconds is None:
            return
        now = self._clock()
        if not self._marks or now >= self._marks[-1][0] + seconds / MARKS:
            self._marks.append((now, revision))

    def due(self, space: Keyspace) -> int:
        """The revision to compact to; `space.compacted` when nothing is due."""
        by_number, by_bytes = self._due_by_number(space), self._due_by_bytes(space)
        return max(space.compacted, self._due_by_age(), by_number, by_bytes)

    def _due_by_age(self) -> int:
        """The newest revision that is known to be too old; 0: none."""
        if self._retention.seconds is None:
            return 0
        oldest, marks = self._clock() - self._retention.seconds, self._marks
        while len(marks) > 1 and marks[1][0] < oldest:
            marks.popleft()
        return marks[0][1] if marks[0][0] < oldest else 0

    def _due_by_number(self, space: Keyspace) -> int:
        events = self._retention.events
        if events is None or space.history_length() <= events + events // SLACK:
            return 0
        return space.revision_before(events)

    def _due_by_bytes(self, space: Keyspace) -> int:
        most = self._retention.bytes
        if most is None or space.history_bytes() <= most + most // SLACK:
            return 0
        return space.revision_before_bytes(most)
