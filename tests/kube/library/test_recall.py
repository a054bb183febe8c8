"""Remembered results: the same object again, but not for long texts and not for errors."""

from __future__ import annotations

import pytest

from celadon.kube.library.recall import remembered


def test_remembers() -> None:
    read: list[str] = []

    @remembered
    def double(text: str) -> tuple[str, str]:
        read.append(text)
        if not text:
            raise ValueError("empty")
        return (text, text)

    assert double("a") is double("a")
    assert read == ["a"]
    long = "x" * 10_000
    assert double(long) == double(long)
    assert read == ["a", long, long]
    for _ in range(2):
        with pytest.raises(ValueError, match="empty"):
            double("")
    assert read == ["a", long, long, "", ""]
