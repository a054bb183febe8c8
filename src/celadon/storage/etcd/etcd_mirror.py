"""The keyspace of a process, kept current by a watch on everything in etcd.

Theory of operation. etcd numbers its changes without a gap, and a watch on all keys shows every
one of them: so the mirror knows by itself how far it is, whether it has missed something, and when
it has reached a revision that somebody else speaks of. No progress notifications are needed, which
in etcd before 3.4.25 and 3.5.8 may overtake the changes they speak of (etcd-io/etcd#15220). Keys
that are not ours only move the revision.

A mirror begins in the past: with the entries at the oldest revision that etcd still has (or as far
back as history is wanted), brought to the present by the same watch that goes on from there. So all
mirrors of one etcd have the same history, and a page begun at one can be continued at another.

What this process writes need not be shown to it: the answer to a transaction tells the revision,
and a mirror that has everything before it takes it from there. So a writer waits for one answer,
not for two. What the watch shows of it later is passed over, but counted.

When a member fails, the watch is resumed at another one behind the last change that was seen. Only
if that has been compacted meanwhile does the mirror begin anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Final, Protocol

from celadon.storage.contract import FIRST_REVISION, Entry, Event, Operation, Put
from celadon.storage.etcd.etcd_client import EtcdClient
from celadon.storage.etcd.etcd_messages import KeyValue, RevisionRefused
from celadon.storage.keyspace import Keyspace

HISTORY: Final = 20_000
"""Changes that a mirror begins with at most."""


class Missed(Exception):
    """What the mirror needs to go on is not there any more."""


class KeySpelling:
    """How keys are written in etcd: `prefix` in place of `root`."""

    def __init__(self, root: str, prefix: str) -> None:
        self._root = root
        self._prefix = prefix
        self.first = prefix.encode()

    def written(self, key: str) -> bytes:
        """Raises ValueError for a key without the root."""
        if not key.startswith(self._root):
            raise ValueError(f"the key does not begin with {self._root}")
        return (self._prefix + key[len(self._root) :]).encode()

    def read(self, key: bytes) -> str | None:
        """None for what is not ours."""
        if not key.startswith(self.first):
            return None
        try:
            return self._root + key[len(self.first) :].decode()
        except UnicodeDecodeError:
            return None


class Audience(Protocol):
    """Who has the keyspace, and tells its readers."""

    def begin_with(self, space: Keyspace) -> None:
        """From here on this is the keyspace; changes between it and the former are not known."""

    def apply(self, events: Sequence[Event], revision: int) -> None:
        """These events happen, and nothing else up to the revision."""


Coming = Callable[[Sequence[bytes]], Awaitable[None]]


async def _nothing(_: Sequence[bytes]) -> None:
    pass


class EtcdMirror:
    """Feeds an audience. `kept_value` may give bytes that are equal to those of a change: the ones
    that this process has written itself. `coming` is told the values that others have written,
    before anybody sees them."""

    def __init__(
        self,
        client: EtcdClient,
        spelling: KeySpelling,
        audience: Audience,
        kept_value: Callable[[str, bytes], bytes],
    ) -> None:
        self._client = client
        self._spelling = spelling
        self._audience = audience
        self._kept_value = kept_value
        self.coming: Coming = _nothing
        self._space = Keyspace()
        self._shown = FIRST_REVISION
        """The last revision that the watch has shown."""
        self._known: dict[int, Sequence[Operation]] = {}
        """What this process has done at revisions that the mirror has not come to yet."""

    async def begin(self) -> None:
        """Load what there was, for `follow` to go on from. Raises ServiceError."""
        current = await self._client.revision()
        start = max(FIRST_REVISION, current - HISTORY)
        space: Keyspace | None = None
        while space is None:
            try:
                space = await self._loaded(start)
            except RevisionRefused:
                start = await self._oldest(start)
        self._space = space
        self._known.clear()
        self._audience.begin_with(space)

    def learn(self, revision: int, operations: Sequence[Operation]) -> None:
        """This process has done that, and nothing else happened, at a new revision."""
        if revision > self._space.revision:
            self._known[revision] = operations
            self._catch_up()

    async def _loaded(self, start: int) -> Keyspace:
        """Return what there was at a revision, none before it."""
        entries = [
            entry
            async for page in self._client.entries(self._spelling.first, start)
            for entry in self._entries(page)
        ]
        if start == FIRST_REVISION:
            return Keyspace()  # with nothing in it, and nothing before it
        changes = ((entry.mod_revision, entry.key, entry) for entry in entries)
        return Keyspace.restored(changes, start)

    async def _oldest(self, start: int) -> int:
        """The oldest revision that etcd still has; `start` is older."""
        async with aclosing(self._client.changes(start)) as answers:
            async for answer in answers:
                if answer.compacted:
                    return answer.compacted
        raise AssertionError("changes end with an error")

    def _entries(self, page: Iterable[KeyValue]) -> Iterable[Entry]:
        for one in page:
            key = self._spelling.read(one.key)
            entry = None if key is None else one.entry(key)
            if entry is not None:
                yield entry

    async def follow(self) -> None:
        """Take in changes until the member fails. Raises ServiceError; Missed, when the mirror has
        to begin again."""
        parts: list[KeyValue] = []
        self._shown = self._space.revision
        async with aclosing(self._client.changes(self._shown + 1)) as answers:
            async for answer in answers:
                if answer.compacted:
                    raise Missed
                parts += answer.changes
                if parts and not answer.is_part:
                    taken = self._space.revision
                    others = [one for one in parts if one.mod_revision > taken]
                    await self.coming([one.value for one in others if one.value is not None])
                    self._take(parts)
                    parts = []

    def _take(self, changes: Sequence[KeyValue]) -> None:
        """Whole revisions, each the next one. Raises Missed."""
        events: list[Event] = []
        former: dict[str, Entry | None] = {}
        taken = self._space.revision
        shown = before = self._shown
        for change in changes:
            if change.mod_revision == shown + 1:
                shown += 1
                self._known.pop(shown, None)
            elif change.mod_revision != shown or shown == before:
                raise Missed
            event = self._event(change, former) if shown > taken else None
            if event is not None:
                former[event.key] = event.entry
                events.append(event)
        self._shown = shown
        if shown > taken:
            self._audience.apply(events, shown)
            self._catch_up()

    def _event(self, change: KeyValue, former: dict[str, Entry | None]) -> Event | None:
        key = self._spelling.read(change.key)
        if key is None:
            return None
        previous = former[key] if key in former else self._space.current(key)
        if change.value is None:
            return Event(change.mod_revision, key, None, previous)
        value = self._kept_value(key, change.value)
        entry = Entry(key, value, change.create_revision, change.mod_revision)
        return Event(change.mod_revision, key, entry, previous)

    def _catch_up(self) -> None:
        """With what is known without being shown, as far as there is no gap."""
        while self._known:
            revision = self._space.revision + 1
            operations = self._known.pop(revision, None)
            if operations is None:
                return
            events = [self._own_event(one, revision) for one in operations]
            self._audience.apply(events, revision)

    def _own_event(self, operation: Operation, revision: int) -> Event:
        key = operation.key
        previous = self._space.current(key)
        if not isinstance(operation, Put):
            return Event(revision, key, None, previous)
        created = revision if previous is None else previous.create_revision
        return Event(revision, key, Entry(key, operation.value, created, revision), previous)
