"""All recorded expressions and the public suite agree, except for what is listed in `skips`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.suite import Failure, run_file
from tests.paths import recordings

pytestmark = pytest.mark.thorough


def _failures(path: Path) -> list[Failure]:
    failures: list[Failure] = []
    run_file(path, failures.append)
    return failures


@pytest.mark.parametrize("path", recordings("cel-kubernetes"))
def test_kubernetes(path: Path) -> None:
    assert not _failures(path)


@pytest.mark.parametrize("path", recordings("fuzz/cel"))
def test_what_random_search_found(path: Path) -> None:
    assert not _failures(path)


@pytest.mark.parametrize("path", recordings("cel-spec"))
def test_public_suite(path: Path) -> None:
    assert not _failures(path)
