"""Which tests go together to one of the processes that run them (pytest-xdist).

A file is a unit: its fixtures are set up once. So is the folder that reads all of the source. Of
recorded scenarios a group is one, since a group is replayed together.
"""

from __future__ import annotations

from typing import Final

WHOLE_FOLDERS: Final = ("tests/architecture/",)
"""Folders whose tests share what is costly to make."""

IN_GROUPS: Final = ("tests/recorded/test_in_process.py",)
"""Files whose tests are named GROUP/SCENARIO, and share what is costly by group."""

CUT: Final = (
    "tests/test_docs.py",
    "tests/recorded/test_check.py",
    "tests/recorded/test_explain.py",
)
"""Long files whose tests share nothing."""

LONGEST_FIRST: Final = (
    "tests/recorded/",
    "tests/recipes/",
    "tests/playground/",
    "tests/test_docs.py",
    "tests/properties/",
    "tests/kube/fieldmanager/",
    "tests/etcd/",
    "tests/faults/",
    "tests/hostile/",
    "tests/replicas/",
    "tests/clients/",
)
"""What takes long begins first, so that no process waits for another at the end."""


def unit_of(test: str) -> str:
    """The name of the unit of a test, which is given by its id."""
    for folder in WHOLE_FOLDERS:
        if test.startswith(folder):
            return folder
    file, _, name = test.partition("::")
    if file in CUT:
        return test
    if file in IN_GROUPS:
        return f"{file}::{name.rpartition('/')[0]}"
    return file


def rank(test: str) -> int:
    """Its place among the units: the lower, the earlier."""
    for number, beginning in enumerate(LONGEST_FIRST):
        if test.startswith(beginning):
            return number
    return len(LONGEST_FIRST)
