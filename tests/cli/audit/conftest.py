"""The command, as the tests of fleets run it."""

from __future__ import annotations

import functools

import pytest

from tests.cli.files import Celadon, run


@pytest.fixture
def celadon(capsys: pytest.CaptureFixture[str]) -> Celadon:
    """Runs it in this process."""
    return functools.partial(run, capsys)
