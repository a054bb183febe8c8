"""Every call with which a store writes fails once, in each way in which it can.

A library that is preloaded (`failing_calls.c`, built here with `cc`) counts the calls and lets one
of them fail. After each failure the store must be as it was acknowledged: here and now, after a
crash at that moment, after going on, and after an orderly end.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.storage import (
    FileError,
    Put,
    Retention,
    StoreError,
    Transaction,
    Watch,
    WatchOverflow,
    delete,
    open_sqlite,
)
from celadon.storage.local_store import LocalStore

WAYS = {
    "ENOSPC": (errno.ENOSPC, 0),
    "EIO": (errno.EIO, 0),
    "EROFS": (errno.EROFS, 0),
    "EDQUOT": (errno.EDQUOT, 0),
    "half": (errno.ENOSPC, 1),
}
MOST_CALLS = 400
SOURCE = Path(__file__).with_suffix(".c")


def library(folder: Path, source: Path = SOURCE) -> Path:
    """Built in a folder. Skips the test where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no C compiler (`cc`), or no Linux, to let calls fail")
    made = folder / f"{source.stem}.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return made


def run_preloaded(folder: Path, module: str, *arguments: str, record: Path | None = None) -> Any:
    """What a module of tests prints, as JSON, when it runs with the library and may have calls
    fail below `folder / "data"`."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library(folder)),
        "CELADON_FOLDER": str(data),
        "CELADON_LIBRARY": str(folder / "failing_calls.so"),
    }
    if record is not None:
        environment["CELADON_RECORD"] = str(record)
    done = subprocess.run(
        [sys.executable, "-m", module, str(data), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def loaded() -> ctypes.CDLL:
    """The library, in a process that has it."""
    return ctypes.CDLL(os.environ["CELADON_LIBRARY"])


class Model:
    """What a store must have: what was acknowledged, or of the last write that was not, that."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}
        self.begun: dict[str, bytes | None] = {}
        self.revision = 1

    def write(self, store: LocalStore, changes: dict[str, bytes | None]) -> str:
        """The name of what went wrong, empty if it was acknowledged."""
        operations = tuple(
            delete(key).operations[0] if value is None else Put(key, value)
            for key, value in changes.items()
        )
        self.begun = changes
        try:
            self.revision = store.submit(Transaction((), operations)).result(30).revision
        except FileError as error:
            return type(error).__name__
        self.known = self.changed()
        self.begun = {}
        return ""

    def changed(self) -> dict[str, bytes]:
        """As it is if the last write has happened."""
        found: dict[str, bytes | None] = {**self.known, **self.begun}
        return {key: value for key, value in found.items() if value is not None}

    def check(self, store: LocalStore, *, settled: bool = False) -> None:
        """`settled`: what was not acknowledged has not happened."""
        found = {one.key: one.value for one in store.range("").entries}
        assert found == self.known or (not settled and found == self.changed()), "another state"
        assert store.revision() >= self.revision, "time went backwards"


def _append(model: Model, store: LocalStore) -> list[str]:
    return [model.write(store, {"/a": b"new" * 500, "/b": b"new"})]


def _compact(model: Model, store: LocalStore) -> list[str]:
    try:
        store.compact(store.revision()).result(30)
    except StoreError as error:
        return [type(error).__name__]
    return [""]


def _delete(model: Model, store: LocalStore) -> list[str]:
    return [model.write(store, {"/1": None})]


def _take_over(model: Model, store: LocalStore) -> list[str]:
    """So much that the log is taken over into the file and begun anew."""
    return [model.write(store, {"/big": bytes([n]) * 300_000}) for n in range(4)]


STEPS: dict[str, Callable[[Model, LocalStore], list[str]]] = {
    "append": _append,
    "compact": _compact,
    "delete": _delete,
    "take over": _take_over,
}


def _one(folder: Path, step: str, way: str, number: int, shim: ctypes.CDLL) -> str | None:
    """What came of a failure of the n-th call; None if there are fewer."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path, model = str(folder / "data.db"), Model()
    store = open_sqlite(path, Retention(events=20 if step == "delete" else None))
    for one in range(30):
        assert not model.write(store, {f"/{one % 10}": b"%d" % one * 100})
    watch = store.watch("")
    shim.fail_call(number, *WAYS[way])
    errors = STEPS[step](model, store)
    failed = bool(shim.call_failed())
    shim.fail_call(0, 0, 0)
    crashed = folder.with_name("crashed")
    shutil.rmtree(crashed, ignore_errors=True)
    shutil.copytree(folder, crashed)
    if any(errors):
        model.check(store, settled=True)
        _check_watch(watch, store)
    with open_sqlite(str(crashed / "data.db")) as recovered:
        model.check(recovered)
    assert not model.write(store, {"/later": b"x"}), "it does not go on"
    model.check(store, settled=True)
    assert not store.writing_trouble()
    store.close()
    with open_sqlite(path) as again:
        model.check(again, settled=True)
    if not failed:
        return None
    return next((one for one in errors if one), "unharmed")


def _check_watch(watch: Watch, store: LocalStore) -> None:
    """Nothing was shown that is not there. A store that is short of room forgets its history, and
    ends the watches that have not read it."""
    with contextlib.suppress(WatchOverflow):
        assert all(event.revision <= store.revision() for event in watch.take().events)


def outcomes(folder: Path, stride: int) -> Iterator[tuple[str, str, str]]:
    """Step, way and outcome of each failure, or of every `stride`-th."""
    shim = loaded()
    for step in STEPS:
        for way in WAYS:
            for number in range(1, MOST_CALLS, stride):
                outcome = _one(folder / "store", step, way, number, shim)
                if outcome is None:
                    break
                yield step, way, outcome


def main(folder: str, stride: str) -> None:
    counted = Counter(outcomes(Path(folder), int(stride)))
    sys.stdout.write(json.dumps([[*key, count] for key, count in counted.items()]))


if __name__ == "__main__":
    main(*sys.argv[1:])
