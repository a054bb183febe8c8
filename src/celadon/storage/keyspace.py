"""All entries and the recent events, in memory: the state every local store reads from.

Theory of operation: there are no lists of versions. Kept are the entries of now, their keys in
order, and the events since the last compaction, each with the entry it replaced. What was at an
older revision is what is now, with the later events undone: for every key that has changed since,
the `previous` of its first later event. That makes reads of now as cheap as a dictionary, and reads
of the past as dear as what has happened since, which is little while somebody turns pages. Exact
counts come for free: keys in order give the number of those in a range, and the undone events
correct it.

Not safe for threads; whoever owns a keyspace guards it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final

from celadon.records import dataclass
from celadon.storage.contract import FIRST_REVISION, Compacted, Entry, Event, FutureRevision, Page

_revision_of = attrgetter("revision")


class Keyspace:
    """`revision` is that of the last change, `compacted` the oldest that can be read."""

    def __init__(self) -> None:
        self.revision = FIRST_REVISION
        self.compacted = 0
        self._entries: dict[str, Entry] = {}
        self._keys: list[str] = []
        self._events: list[Event] = []
        self._superseded = 0

    @classmethod
    def restored(cls, changes: Iterable[tuple[int, str, Entry | None]], compacted: int) -> Keyspace:
        """From changes (revision, key, new entry) in order: all after `compacted`, and of the
        earlier ones at least those that were still in force then."""
        space = cls()
        entries, events = space._entries, space._events
        for revision, key, entry in changes:
            if revision > compacted:
                events.append(Event(revision, key, entry, entries.get(key)))
            if entry is not None:
                entries[key] = entry
            else:
                entries.pop(key, None)
        space.compacted = compacted
        last = events[-1].revision if events else compacted
        space.revision = max(space.revision, last)
        space._keys = sorted(entries)
        space._superseded = sum(map(_superseded_bytes, events))
        return space

    def __len__(self) -> int:
        return len(self._entries)

    def current(self, key: str) -> Entry | None:
        return self._entries.get(key)

    def get(self, key: str, revision: int | None) -> Entry | None:
        entry = self._entries.get(key)
        if revision is None:
            return entry
        self._must_have(revision)
        if entry is not None and entry.mod_revision <= revision:
            return entry
        return next((one.previous for one in self._since(revision) if one.key == key), None)

    def range(self, prefix: str, start: str, limit: int | None, revision: int | None) -> Page:
        if revision is None:
            revision = self.revision
        self._must_have(revision)
        begin, end = self._span(prefix, start)
        changed = self._undone(prefix, start, revision)
        if changed:
            keys = [key for key in self._keys[begin:end] if key not in changed]
            keys += [key for key, entry in changed.items() if entry is not None]
            keys.sort()
            begin, end = 0, len(keys)
        else:
            keys = self._keys
        stop = end if limit is None else min(end, begin + limit)
        entries = self._entries
        found = tuple([changed.get(key) or entries[key] for key in keys[begin:stop]])
        return Page(found, revision, end - stop)

    def _span(self, prefix: str, start: str) -> tuple[int, int]:
        """Return where in the keys those of a prefix are."""
        begin = bisect_left(self._keys, max(prefix, start))
        if begin == len(self._keys) or not self._keys[begin].startswith(prefix):
            return begin, begin  # mostly: who asks wants to know whether there are any
        # Cutting keys at one length keeps their order. From `begin` on none is before the prefix.
        length = len(prefix)
        end = bisect_right(self._keys, prefix, begin, key=lambda key: key[:length])
        return begin, end

    def _undone(self, prefix: str, start: str, revision: int) -> dict[str, Entry | None]:
        """Return what was at a revision under those keys that have changed since."""
        undone: dict[str, Entry | None] = {}
        for event in self._since(revision):
            if event.key.startswith(prefix) and event.key >= start:
                undone.setdefault(event.key, event.previous)
        return undone

    def _since(self, revision: int) -> Sequence[Event]:
        if revision >= self.revision:
            return ()
        return self._events[bisect_right(self._events, revision, key=_revision_of) :]

    def _must_have(self, revision: int) -> None:
        if revision < self.compacted:
            raise Compacted(revision, self.compacted)
        if revision > self.revision:
            raise FutureRevision(revision, self.revision)

    def events_after(self, revision: int, prefix: str) -> list[Event]:
        """Raises Compacted; in the future there are none yet."""
        if revision < self.compacted:
            raise Compacted(revision, self.compacted)
        return [event for event in self._since(revision) if event.key.startswith(prefix)]

    def apply(self, events: Iterable[Event]) -> None:
        """Let events happen, in order, each newer than all before or of the same transaction."""
        for event in events:
            key, entry = event.key, event.entry
            if entry is None:
                del self._entries[key]
                del self._keys[bisect_left(self._keys, key)]
            else:
                if event.previous is None:
                    insort(self._keys, key)
                self._entries[key] = entry
            self._events.append(event)
            self._superseded += _superseded_bytes(event)
            self.revision = event.revision

    def advance(self, revision: int) -> None:
        """Nothing has happened up to a revision that is not older than the current one."""
        self.revision = revision

    def history_length(self) -> int:
        """Events that are kept."""
        return len(self._events)

    def revision_before(self, events: int) -> int:
        """Return what to compact to so that about so many of the newest events stay."""
        surplus = len(self._events) - events
        return self._events[surplus - 1].revision if surplus > 0 else self.compacted

    def history_bytes(self) -> int:
        """Of the values that only the history has: those that others have replaced."""
        return self._superseded

    def revision_before_bytes(self, most: int) -> int:
        """Return what to compact to so that the history has at most so many bytes."""
        revision, rest = self.compacted, self._superseded
        for event in self._events:
            if rest <= most:
                break
            rest -= _superseded_bytes(event)
            revision = event.revision
        return revision

    def obsolete_at(self, revision: int) -> list[tuple[int, str]]:
        """Return which changes (revision, key) a compaction makes useless: those that were undone
        by another no later than it, and the deletions among them."""
        useless = []
        for event in self._events[: self._number_up_to(revision)]:
            if event.previous is not None:
                useless.append((event.previous.mod_revision, event.key))
            if event.entry is None:
                useless.append((event.revision, event.key))
        return useless

    def compact(self, revision: int) -> None:
        """Forget the events up to and including a revision, which stays readable."""
        number = self._number_up_to(revision)
        self._superseded -= sum(map(_superseded_bytes, self._events[:number]))
        del self._events[:number]
        self.compacted = revision

    def _number_up_to(self, revision: int) -> int:
        return bisect_right(self._events, revision, key=_revision_of)


def _superseded_bytes(event: Event) -> int:
    return 0 if event.previous is None else len(event.previous.value)


# --- Retention ---------------------------------------------------------------
#
# How much history is kept without being asked: by number of events, by age, and by bytes.
#
# All bounds hold: an event goes when there are too many newer ones, when these have replaced
# too much, or when it is too old. Nothing runs in the background; each batch of writes forgets
# what has become due, so the age bound acts at the next write. Number and bytes are allowed to
# run over by a tenth, so that forgetting, which costs about as much as writing, comes in
# pieces.


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
