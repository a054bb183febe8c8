"""What a loss of power leaves of a store: what was flushed, and any part of what was not.

A process writes with all its calls recorded (`failing_calls`), and with what it acknowledged among
them. For any place in that record the files are made as they may be then: writes since the last
flush of a file are there, or not, or half. Then the store is opened.
"""

from __future__ import annotations

import os
import shutil
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from celadon.storage import Put, Retention, Transaction, open_sqlite
from tests.faults.failing_calls import loaded, run_preloaded

WRITES = 200
SECTOR = 512
HEAD = struct.Struct("=HQI")


@dataclass(frozen=True, slots=True)
class Call:
    """`W`rite, `T`runcate (at `offset`), `S`ync, `X`: a sync that failed, `U`nlink, or that
    something was `A`cknowledged (`path`)."""

    kind: str
    path: str
    offset: int
    data: bytes


def read_record(path: Path) -> Iterator[Call]:
    """The calls in their order."""
    content, place = path.read_bytes(), 0
    while place < len(content):
        kind = chr(content[place])
        size, offset, length = HEAD.unpack_from(content, place + 1)
        place += 1 + HEAD.size
        name = content[place : place + size].decode()
        place += size
        data = content[place : place + length]
        place += length
        yield Call(kind, name, offset, data)


@dataclass(slots=True)
class Disk:
    """What is surely there, and by file what may be."""

    chance: Random
    files: dict[str, bytearray] = field(default_factory=dict)
    waiting: dict[str, list[Call]] = field(default_factory=dict)

    def take(self, call: Call) -> None:
        if call.kind in "WT":
            self.waiting.setdefault(call.path, []).append(call)
            self.files.setdefault(call.path, bytearray())
        elif call.kind == "S":
            for one in self.waiting.pop(call.path, ()):
                apply(self.files[call.path], one, len(one.data))
        elif call.kind == "X":  # the kernel forgets what it could not write
            self.waiting.pop(call.path, None)
        elif call.kind == "U":
            self.files.pop(call.path, None)
            self.waiting.pop(call.path, None)

    def left(self) -> dict[str, bytes]:
        """One of the states that a loss of power may leave."""
        found = {}
        for path, content in self.files.items():
            made = bytearray(content)
            keep = self.chance.choice((0.0, 0.5, 0.9, 1.0))
            for one in self.waiting.get(path, ()):
                if self.chance.random() < keep:
                    sectors = self.chance.choice((None, len(one.data) // SECTOR // 2))
                    apply(made, one, len(one.data) if sectors is None else sectors * SECTOR)
            found[path] = bytes(made)
        return found


def apply(content: bytearray, call: Call, length: int) -> None:
    """As far as `length` bytes of it."""
    if call.kind == "T":
        del content[call.offset :]
        content.extend(bytes(call.offset - len(content)))
        return
    content.extend(bytes(max(0, call.offset - len(content))))
    content[call.offset : call.offset + length] = call.data[:length]


class PowerLosses:
    """Of one recorded process."""

    def __init__(self, folder: Path, seed: int) -> None:
        record = folder / "record"
        run_preloaded(folder, "tests.faults.power_loss", str(seed), record=record)
        self._folder = folder
        self._calls: Sequence[Call] = tuple(read_record(record))
        self._chance = Random(seed)

    def run(self, losses: int) -> int:
        """How many acknowledged writes were looked for. Raises AssertionError for one that is
        lost."""
        places = sorted(self._chance.randrange(len(self._calls)) for _ in range(losses))
        disk, known, looked_for, done = Disk(self._chance), dict[str, str](), 0, 0
        revision = 0
        for place in places:
            for call in self._calls[done:place]:
                if call.kind == "A":
                    number, key, value = call.path.split(" ")
                    known[key], revision = value, int(number)
                else:
                    disk.take(call)
            done = max(done, place)
            self._check(disk.left(), known, revision)
            looked_for += len(known)
        return looked_for

    def _check(self, files: dict[str, bytes], known: dict[str, str], revision: int) -> None:
        target = self._folder / "after"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for path, content in files.items():
            (target / Path(path).name).write_bytes(content)
        with open_sqlite(str(target / "data.db")) as store:
            assert store.revision() in (revision, revision + 1) or not revision, "lost, or too much"
            for key, value in known.items():
                entry = store.get(key)
                assert entry is not None, f"{key} is lost"
                is_known = entry.value[:8].decode().strip() == value
                assert is_known or entry.mod_revision >= revision, f"{key} is an older one"
            pairs = store.range("/pair/").entries
            assert len({one.value for one in pairs}) <= 1, "half of a transaction"


def main(folder: str, seed: str) -> None:
    """The process that is recorded."""
    shim, chance = loaded(), Random(int(seed))
    with open_sqlite(f"{folder}/data.db", Retention(events=60)) as store:
        for number in range(WRITES):
            value = f"{number:<8}".encode() + os.urandom(chance.randrange(4000))
            keys = ["/pair/left", "/pair/right"] if number % 5 == 0 else [f"/{number % 17}"]
            fails = number % 23 == 7
            if fails:  # the first flush of this transaction fails
                shim.fail_call(chance.randrange(1, 8), 5, 0)
            future = store.submit(Transaction((), tuple(Put(key, value) for key in keys)))
            error = future.exception(30)
            shim.fail_call(0, 0, 0)
            if error is None:
                for key in keys:
                    shim.note_acknowledged(f"{future.result().revision} {key} {number}".encode())
    sys.stdout.write("null")


if __name__ == "__main__":
    main(*sys.argv[1:])
