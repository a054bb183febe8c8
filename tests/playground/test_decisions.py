"""The Python of browsers decides as ours does, on a sample of what was recorded."""

from __future__ import annotations

import json

import pytest

from tests.playground.built_site import built_site, needs_site
from tests.recorded.one_decision import LEAST, disagreements, expressible, in_browsers

EVERY = 40
"""One of so many is asked here; `python -m tests.recorded.one_decision` asks all."""

PATHS = expressible()


@needs_site
@pytest.mark.thorough
@pytest.mark.skipif(not PATHS, reason="no recordings: set CELADON_SHARED to the shared folder")
def test_a_sample_agrees() -> None:
    assert list(disagreements(PATHS[::EVERY])) == []


@pytest.mark.skipif(not PATHS, reason="no recordings: set CELADON_SHARED to the shared folder")
def test_enough_can_be_asked() -> None:
    assert len(PATHS) > LEAST


def gallery() -> list[str]:
    (file,) = built_site().glob("assets-*/gallery.json")
    return [json.dumps(one["state"]) for one in json.loads(file.read_text())]


@needs_site
@pytest.mark.thorough
def test_a_keystroke_is_decided_at_once() -> None:
    """In processor time of a machine that is 3.3 times slower than a current one; 60 ms there."""
    taken = [float(one) for one in in_browsers(gallery(), built_site(), "--keystrokes")]
    assert max(taken) <= 200


@needs_site
@pytest.mark.thorough
def test_an_image_of_a_memory_decides_as_one_that_begins_afresh() -> None:
    states = gallery()
    found = in_browsers(states, built_site())
    assert found == in_browsers(states, built_site(), "--afresh")
    assert len(found) == len(states)
