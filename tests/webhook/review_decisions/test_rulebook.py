"""What is said about sources."""

from __future__ import annotations

from celadon.webhook.review_decisions import described


def test_many_problems_are_cut() -> None:
    assert described(["a", "b"]) == "a; b"
    assert described(["a", "b", "c"], most=2) == "a; b (and 1 more)"
    assert described([]) == ""
