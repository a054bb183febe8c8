"""One byte of a data file changes by itself, again and again: is it noticed?"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from random import Random

from celadon.storage import FileError, delete, open_sqlite, put

OBJECTS = 300
NEAR_THE_START = 200
"""Bytes in which one in three changes is: the headers."""


class FlippedBytes:
    """Changes of the files of one store, as they are after an orderly end and after none."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._chance = Random(seed)
        self._folder = folder / "flipped"
        made = folder / "made"
        made.mkdir()
        with open_sqlite(str(made / "data.db")) as store:
            for number in range(OBJECTS):
                value = self._chance.randbytes(1000)
                store.submit(put(f"/registry/configmaps/{number}", value)).result()
            for number in range(0, OBJECTS, 7):
                store.submit(delete(f"/registry/configmaps/{number}")).result()
            self._entries = store.range("").entries
            killed = {one.name: one.read_bytes() for one in made.iterdir()}
        ended = {one.name: one.read_bytes() for one in made.iterdir()}
        self._states = (killed, ended)

    def run(self, flips: int) -> Counter[tuple[str, str]]:
        """How often what came of a change in which file: the name of an error, `the same` or
        `another state`."""
        return Counter(self._flip(self._states[number % 2]) for number in range(flips))

    def _flip(self, files: dict[str, bytes]) -> tuple[str, str]:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        names = [name for name, content in files.items() if any(content)]
        flipped = self._chance.choice(names)
        for name, content in files.items():
            changed = bytearray(content)
            if name == flipped:
                near = self._chance.random() < 1 / 3
                most = min(NEAR_THE_START, len(changed)) if near else len(changed)
                changed[self._chance.randrange(most)] ^= 1 << self._chance.randrange(8)
            (self._folder / name).write_bytes(changed)
        try:
            with open_sqlite(str(self._folder / "data.db")) as store:
                is_same = store.range("").entries == self._entries
        except FileError as error:
            return flipped, type(error).__name__
        return flipped, "the same" if is_same else "another state"
