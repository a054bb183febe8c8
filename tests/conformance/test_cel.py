"""All recorded expressions and the public suite agree, except for what is listed in `skips`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.suite import Failure, run_file
from tests.paths import shared, shared_folder


def _files(folder: str) -> list[str]:
    return sorted(path.name for path in (shared_folder() / "conformance" / folder).glob("*.json"))


def _failures(path: Path) -> list[Failure]:
    failures: list[Failure] = []
    run_file(path, failures.append)
    return failures


@pytest.mark.slow
@pytest.mark.parametrize("name", _files("cel-kubernetes"))
def test_kubernetes(name: str) -> None:
    assert not _failures(shared("conformance", "cel-kubernetes", name))


@pytest.mark.slow
@pytest.mark.parametrize("name", _files("cel-spec"))
def test_public_suite(name: str) -> None:
    assert not _failures(shared("conformance", "cel-spec", name))


def test_the_folder_is_there() -> None:
    """Without it nothing above runs, and this says so."""
    shared("conformance", "cel-kubernetes")
