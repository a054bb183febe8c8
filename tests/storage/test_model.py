"""Each store against the simplest model of it: a copy of everything for every revision."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle as StateBundle
from hypothesis.stateful import (
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from celadon.storage import (
    Committed,
    Compacted,
    Condition,
    Conflict,
    Delete,
    Entry,
    Event,
    FutureRevision,
    Page,
    Put,
    Retention,
    Store,
    Transaction,
    Watch,
    WatchOverflow,
    open_memory,
    open_sqlite,
)
from celadon.storage.etcd import EtcdSettings, parse_endpoints
from tests.etcd.etcd_members import cluster
from tests.etcd.etcd_thread import etcd_store

KEYS = st.sampled_from(["/a", "/a/1", "/a/2", "/a/\x00", "/ab", "/b/1", "/b/2", "/b/é", "c"])
PREFIXES = st.sampled_from(["", "/", "/a", "/a/", "/b/", "/b/1", "d"])
VALUES = st.binary(max_size=3)
OPERATIONS = st.lists(
    st.one_of(st.builds(Put, KEYS, VALUES), st.builds(Delete, KEYS)),
    max_size=4,
    unique_by=lambda operation: operation.key,
).map(tuple)
KEEP_ALL = Retention(events=None, seconds=None)


class Follower:
    """A watch and the last revision up to which it has been read."""

    def __init__(self, prefix: str, after: int, watch: Watch) -> None:
        self.prefix, self.after, self.watch = prefix, after, watch


class StoreMachine(RuleBasedStateMachine):
    """`states[revision]` is all there was; `events` is all that happened."""

    followers = StateBundle("followers")
    durable = False
    share = 3
    """One in so many of the usual number of examples."""
    store: Store

    def __init__(self) -> None:
        super().__init__()
        self.states: dict[int, dict[str, Entry]] = {1: {}}
        self.events: list[Event] = []
        self.revision, self.compacted = 1, 0
        self.generation = 0
        self.stack = ExitStack()

    @initialize()
    def open(self) -> None:
        self.store = open_memory(KEEP_ALL)

    def reopened(self) -> Store:
        """The same entries, in another store object."""
        raise NotImplementedError

    def teardown(self) -> None:
        self.store.close()
        self.stack.close()

    def _expected(self, transaction: Transaction) -> Committed | Conflict:
        """The outcome; the model changes with it."""
        now = dict(self.states[self.revision])
        current = tuple(now.get(one.key) for one in transaction.conditions)
        if any(
            (entry.mod_revision if entry else 0) != one.mod_revision
            for entry, one in zip(current, transaction.conditions, strict=True)
        ):
            return Conflict(self.revision, current)
        following = self.revision + 1
        events: list[Event | None] = []
        for operation in transaction.operations:
            key, old = operation.key, now.pop(operation.key, None)
            if isinstance(operation, Put):
                created = old.create_revision if old else following
                now[key] = Entry(key, operation.value, created, following)
            changed = key in now or old is not None
            events.append(Event(following, key, now.get(key), old) if changed else None)
        real = [event for event in events if event is not None]
        if real:
            self.revision = following
            self.states[following] = now
            self.events += real
        return Committed(self.revision, tuple(events))

    def _submit(self, *transactions: Transaction) -> None:
        futures = [self.store.submit(one) for one in transactions]
        for future, one in zip(futures, transactions, strict=True):
            assert future.result() == self._expected(one)

    @rule(operations=OPERATIONS, right=st.lists(KEYS, max_size=2))
    def transact(self, operations: tuple[Put | Delete, ...], right: list[str]) -> None:
        now = self.states[self.revision]
        conditions = tuple(Condition(k, now[k].mod_revision if k in now else 0) for k in right)
        self._submit(Transaction(conditions, operations))

    @rule(operations=OPERATIONS, key=KEYS, age=st.integers(0, 6))
    def transact_if(self, operations: tuple[Put | Delete, ...], key: str, age: int) -> None:
        self._submit(Transaction((Condition(key, max(0, self.revision - age)),), operations))

    @rule(key=KEYS, several=st.lists(VALUES, min_size=2, max_size=5))
    def race(self, key: str, several: list[bytes]) -> None:
        """Updates of one key that may come to share a batch: only the first succeeds."""
        entry = self.states[self.revision].get(key)
        condition = Condition(key, entry.mod_revision if entry else 0)
        self._submit(*(Transaction((condition,), (Put(key, value),)) for value in several))

    @rule(key=KEYS, back=st.integers(-1, 8))
    def get(self, key: str, back: int) -> None:
        revision = self.revision - back
        assert self.store.get(key) == self.states[self.revision].get(key)
        if revision < self.compacted or revision > self.revision:
            with pytest.raises((Compacted, FutureRevision)):
                self.store.get(key, revision)
        else:
            assert self.store.get(key, revision) == self.states.get(revision, {}).get(key)

    @rule(
        prefix=PREFIXES,
        start=st.one_of(st.just(""), KEYS),
        limit=st.one_of(st.none(), st.integers(0, 4)),
        back=st.integers(0, 8),
    )
    def range(self, prefix: str, start: str, limit: int | None, back: int) -> None:
        revision = self.revision - back
        if revision < self.compacted:
            with pytest.raises(Compacted):
                self.store.range(prefix, start, limit, revision)
            return
        state = self.states.get(revision, {})
        found = [state[key] for key in sorted(state) if key.startswith(prefix) and key >= start]
        count = len(found) if limit is None else limit
        page = Page(tuple(found[:count]), revision, len(found[count:]))
        assert self.store.range(prefix, start, limit, revision) == page
        if revision == self.revision:
            assert self.store.range(prefix, start, limit) == page

    @rule(back=st.integers(0, 8))
    def compact(self, back: int) -> None:
        revision = self.revision - back
        if revision <= self.compacted:
            with pytest.raises(Compacted):
                self.store.compact(revision).result()
        else:
            assert self.store.compact(revision).result() == revision
            self.compacted = revision

    @rule(target=followers, prefix=PREFIXES, back=st.integers(-2, 8))
    def watch(self, prefix: str, back: int) -> object:
        after = self.revision - back
        if after < self.compacted:
            with pytest.raises(Compacted):
                self.store.watch(prefix, after)
            return multiple()
        return Follower(prefix, after, self.store.watch(prefix, after)), self.generation

    @rule(follower=followers, limit=st.one_of(st.none(), st.integers(1, 3)))
    def take(self, follower: tuple[Follower, int], limit: int | None) -> None:
        one, generation = follower
        if generation != self.generation:
            if one.after < self.compacted:
                return
            one.watch = self.store.watch(one.prefix, one.after)  # resumed in a reopened store
        try:
            delivery = one.watch.take(limit)
        except WatchOverflow:
            # A watch holds nothing that the history has forgotten: it ends if that was not read.
            assert one.after < self.compacted
            return
        expected = tuple(
            event
            for event in self.events
            if one.after < event.revision <= delivery.revision and event.key.startswith(one.prefix)
        )
        assert delivery.events == expected
        assert delivery.revision >= one.after
        if limit is None:
            assert delivery.revision >= self.revision
        one.after = delivery.revision
        if generation != self.generation:
            one.watch.close()

    @rule(follower=consumes(followers))
    def stop(self, follower: tuple[Follower, int]) -> None:
        follower[0].watch.close()

    @precondition(lambda self: self.durable)
    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.reopened()
        self.generation += 1

    @invariant()
    def revisions_agree(self) -> None:
        if hasattr(self, "store"):
            assert self.store.revision() == self.revision


class SqliteMachine(StoreMachine):
    durable = True

    @initialize()
    def open(self) -> None:
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.path = str(Path(folder) / "store.db")
        self.store = self.reopened()

    def reopened(self) -> Store:
        return open_sqlite(self.path, KEEP_ALL)


class EtcdMachine(StoreMachine):
    """All examples share one etcd, each under a prefix of its own: it begins where the last one has
    ended, with nothing before that."""

    durable = True
    share = 15  # each opens connections, and waits for etcd
    urls: ClassVar[str]
    examples: ClassVar[Iterator[int]] = count()

    @initialize()
    def open(self) -> None:
        self.prefix = f"/{next(self.examples)}"
        self.store = self.reopened()
        self.revision = self.store.revision()
        if self.revision > 1:
            with suppress(Compacted):  # an example that wrote nothing
                self.store.compact(self.revision).result()
            self.compacted = self.revision
        self.states = {self.revision: {}}

    def reopened(self) -> Store:
        settings = EtcdSettings(parse_endpoints(self.urls), prefix=self.prefix)
        return self.stack.enter_context(etcd_store(settings, KEEP_ALL))


@pytest.fixture(scope="module")
def members() -> Iterator[None]:
    with cluster() as started:
        EtcdMachine.urls = started.urls
        yield


@pytest.mark.thorough
@pytest.mark.usefixtures("members")
@pytest.mark.parametrize("machine", [StoreMachine, SqliteMachine, EtcdMachine])
def test_the_store_behaves_as_the_model(machine: type[StoreMachine]) -> None:
    configured = settings.default
    assert configured is not None
    run_state_machine_as_test(
        machine,
        settings=settings(
            configured,
            max_examples=configured.max_examples // machine.share,
            stateful_step_count=25,
        ),
    )
