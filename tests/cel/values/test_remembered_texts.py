"""Remembered results: the same object again, but not for long texts and not for errors."""

from __future__ import annotations

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.values.text import MAX_TEXTS, Remembered


def test_remembers() -> None:
    read: list[str] = []

    @Remembered
    def double(text: str) -> tuple[str, str]:
        read.append(text)
        if not text:
            raise ValueError("empty")
        return (text, text)

    assert double("a") is double["a"]
    assert read == ["a"]
    long = "x" * 10_000
    assert double(long) == double[long]
    assert read == ["a", long, long]
    for _ in range(2):
        with pytest.raises(ValueError, match="empty"):
            double("")
    assert read == ["a", long, long, "", ""]


def test_is_a_function_of_texts() -> None:
    length = Remembered(len)
    assert length
    length("1")
    for value in (1, True, None, b"1", ("1",)):
        with pytest.raises(EvaluationError, match="no such overload"):
            length(value)  # type: ignore[arg-type]  # what generated code may do


def test_remembers_so_many() -> None:
    length = Remembered(len)
    for number in range(3 * MAX_TEXTS):
        assert length(str(number)) == len(str(number))
        assert len(length) <= MAX_TEXTS
