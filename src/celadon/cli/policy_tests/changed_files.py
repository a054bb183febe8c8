"""`--watch`: which files have changed since they were looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable

from celadon.cli.policy_tests.policy_test import PolicyTest

_Stamp = tuple[int, int]


class WatchedFiles:
    """The files of tests, and the folders that these are in: a new file is a change of its
    folder."""

    def __init__(self) -> None:
        self._stamps: dict[str, _Stamp] = {}

    def watch(self, tests: Iterable[PolicyTest], more: Iterable[str] = ()) -> None:
        """Looks at the files of these tests from now on, as they are, and at `more`."""
        files = {file for test in tests for file in (test.file, *test.files)} | set(more)
        folders = {os.path.dirname(file) or os.curdir for file in files}
        self._stamps = {file: _stamp(file) for file in (*files, *folders)}

    def changed(self) -> set[str]:
        """Those that are not as they were."""
        return {file for file, known in self._stamps.items() if _stamp(file) != known}


def affected(tests: Iterable[PolicyTest], changed: set[str]) -> list[str]:
    """The files of the tests that have something to do with what changed."""
    found = [one.file for one in tests if changed.intersection((one.file, *one.files))]
    return list(dict.fromkeys(found))


def _stamp(file: str) -> _Stamp:
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
