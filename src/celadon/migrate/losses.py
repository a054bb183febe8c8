"""What cannot be translated, and what is translated with a loss: said with its place."""

from __future__ import annotations

from dataclasses import dataclass


class NotTranslated(Exception):
    """A rule has something that admission policies, or this translation, cannot say. `reason` is a
    phrase, `instead` a sentence that tells what to use, or empty."""

    def __init__(self, reason: str, instead: str = "") -> None:
        self.reason = reason
        self.instead = instead
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the translation decides otherwise, or guesses."""

    text: str
