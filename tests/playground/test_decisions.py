"""The Python of browsers decides as ours does, on a sample of what was recorded."""

from __future__ import annotations

import pytest

from tests.playground.built_site import needs_site
from tests.recorded.one_decision import LEAST, disagreements, expressible

EVERY = 40
"""One of so many is asked here; `python -m tests.recorded.one_decision` asks all."""

PATHS = expressible()


@needs_site
@pytest.mark.slow
@pytest.mark.skipif(not PATHS, reason="no recordings: set CELADON_SHARED to the shared folder")
def test_a_sample_agrees() -> None:
    assert list(disagreements(PATHS[::EVERY])) == []


@pytest.mark.skipif(not PATHS, reason="no recordings: set CELADON_SHARED to the shared folder")
def test_enough_can_be_asked() -> None:
    assert len(PATHS) > LEAST
