"""A short run; `make fuzz-webhook` is a long one."""

from __future__ import annotations

import asyncio

import pytest

from tests.faults.fuzzed_webhook import fuzzed
from tests.faults.hostile_reviews import Damage, recorded_reviews
from tests.webhook.documents import review_document

REVIEWS = recorded_reviews() or [review_document(namespace="ns")]


@pytest.mark.thorough
def test_damaged_reviews_are_answered() -> None:
    found = asyncio.run(fuzzed(Damage(REVIEWS, 7).bodies(1000)))
    assert found.total() == 1000
    assert {"allowed", "denied", "400"} <= set(found)


def test_damage_upon_damage_does_not_grow_without_end() -> None:
    """A thousand times, three levels deep."""
    nested = {"request": {"object": {"a": {"b": {"c": {"d": "x" * 50}}}}}}
    assert max(map(len, Damage([nested], 3).bodies(400))) < 9_000_000
