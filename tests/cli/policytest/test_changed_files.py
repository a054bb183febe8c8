"""Which files have changed, and whom that concerns."""

from __future__ import annotations

import os
from pathlib import Path

from celadon.cli.policytest.importers.foreign_formats import given_tests
from celadon.cli.policytest.snapshots import WatchedFiles, affected
from tests.cli.policytest.given_cases import written


def test_changes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    paths = [written(tmp_path / name, {"expect": "admit"}) for name in "ab"]
    tests = given_tests(paths).tests
    watched = WatchedFiles()
    watched.watch(tests)
    assert watched.changed() == set()

    policy = str(tmp_path / "a" / "limit.yaml")
    os.utime(policy, ns=(1, 1))
    assert watched.changed() == {policy}
    assert affected(tests, watched.changed()) == [paths[0]]
    watched.watch(tests)
    assert watched.changed() == set()

    os.unlink(paths[1])
    assert watched.changed() == {paths[1], str(tmp_path / "b")}
    assert affected(tests, watched.changed()) == [paths[1]]
