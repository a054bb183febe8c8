"""An order in which operations on keys explain each answer, or that there is none.

A store is linearizable if each operation can be thought to happen at one moment between its call
and its answer. Keys are independent, so each is searched by itself, by the algorithm of Wing, Gong
and Lowe: of the operations that may come first, try one whose answer fits the state, and never the
same set of operations with the same state again. What got no answer may have happened at any later
time, or never.

Revisions tie keys together: they have to grow with time over all keys, and a list has to show what
had been written up to its revision.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

NEVER: Final = math.inf

State: TypeAlias = tuple[bytes, int] | None
"""Of a key: its value and its revision; 0: not known, as its write got no answer."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What one client asked about one key, from `called` to `answered` (NEVER: it got no answer).

    `kind` is `read`, `put` or `delete`; `expected` the revision that a write is conditional on
    (0: no entry; None: whatever is there). `done`: whether the write happened; `revision` is where.
    `found`: what a read, or a write that did not happen, was told."""

    key: str
    kind: str
    called: float
    answered: float
    value: bytes = b""
    expected: int | None = None
    done: bool = True
    revision: int = 0
    found: State = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All keys at a revision, as one client was told."""

    called: float
    answered: float
    revision: int
    entries: dict[str, State]


def following(state: State, operation: Operation) -> tuple[State] | None:
    """The state behind an operation in a state; None if its answer does not fit."""
    is_known = operation.answered != NEVER
    if operation.kind == "read" or (is_known and not operation.done):
        known = _same(state, operation.found)
        if known is None or (operation.kind != "read" and _holds(known[0], operation.expected)):
            return None
        return known
    if not _holds(state, operation.expected):
        return None
    if operation.kind == "delete":
        return None if is_known and bool(state) != bool(operation.revision) else (None,)
    return ((operation.value, operation.revision),)


def _same(state: State, found: State) -> tuple[State] | None:
    """What both say together."""
    if state is None or found is None:
        return (None,) if state is found else None
    is_same = state[0] == found[0] and state[1] in (0, found[1])
    return (found,) if is_same else None


def _holds(state: State, expected: int | None) -> bool:
    """Whether a condition may be true in a state."""
    if expected is None:
        return True
    if state is None or expected == 0:
        return state is None and expected == 0
    return state[1] in (0, expected)


def explained(operations: Sequence[Operation]) -> bool:
    """Whether operations on one key have an order that explains them."""
    ordered = sorted(operations, key=lambda one: one.called)
    must = sum(1 << place for place, one in enumerate(ordered) if one.answered != NEVER)
    seen: set[tuple[int, State]] = set()
    stack: list[tuple[int, int, State]] = [(0, 0, None)]
    while stack:
        taken, first, state = stack.pop()
        if taken & must == must:
            return True
        while taken >> first & 1:
            first += 1
        for place in _next(ordered, taken, first):
            after = following(state, ordered[place])
            if after is None:
                continue
            found = (taken | 1 << place, after[0])
            if found not in seen:
                seen.add(found)
                stack.append((found[0], first, after[0]))
    return False


def _next(ordered: Sequence[Operation], taken: int, first: int) -> Iterator[int]:
    """Which operations may be the next: nothing that is left was answered before they were
    called."""
    earliest = NEVER
    for place in range(first, len(ordered)):
        one = ordered[place]
        if one.called > earliest:
            return
        if not taken >> place & 1:
            earliest = min(earliest, one.answered)
            yield place


def faults(operations: Sequence[Operation], listings: Sequence[Listing] = ()) -> list[str]:
    """What cannot be explained; empty if all can."""
    by_key: dict[str, list[Operation]] = defaultdict(list)
    for one in operations:
        by_key[one.key].append(one)
    for listing in listings:  # as far as each key is concerned, it was read
        for key in by_key:
            entry = listing.entries.get(key)
            read = Operation(key, "read", listing.called, listing.answered, found=entry)
            by_key[key].append(read)
    found = [
        f"{key}: no order explains what was seen" for key, of in by_key.items() if not explained(of)
    ]
    return [*found, *_disordered(operations), *_torn(operations, listings)]


def _writes(operations: Sequence[Operation]) -> list[Operation]:
    return [
        one
        for one in operations
        if one.kind != "read" and one.done and one.revision and one.answered != NEVER
    ]


def _disordered(operations: Sequence[Operation]) -> Iterator[str]:
    """Revisions that are used twice, or that do not grow with time."""
    writes = sorted(_writes(operations), key=lambda one: one.revision)
    for one, after in pairwise(writes):
        if one.revision == after.revision:
            yield f"revision {one.revision} is used twice: {one.key}, {after.key}"
    latest = 0.0
    for one in writes:  # none may be answered before one of a smaller revision was called
        if one.answered < latest:
            yield f"revision {one.revision} was answered before an older one was called"
        latest = max(latest, one.called)


def _torn(operations: Sequence[Operation], listings: Sequence[Listing]) -> Iterator[str]:
    """Lists that lack something up to their revision, or show something later."""
    history: dict[str, list[Operation]] = defaultdict(list)
    for one in sorted(_writes(operations), key=lambda one: one.revision):
        history[one.key].append(one)
    for listing in listings:
        for key, writes in history.items():
            past = [one for one in writes if one.revision <= listing.revision]
            entry = listing.entries.get(key)
            if entry is not None and entry[1] > listing.revision:
                yield f"a list of revision {listing.revision} shows {key} of {entry[1]}"
            if past and past[-1].kind == "put" and (entry is None or entry[1] < past[-1].revision):
                if entry is None and any(one.answered == NEVER for one in operations):
                    continue  # a deletion without an answer
                yield f"a list of revision {listing.revision} lacks {key} of {past[-1].revision}"
