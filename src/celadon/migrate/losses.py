"""What cannot be translated: said with its reason, and what to do instead."""

from __future__ import annotations


class NotTranslated(Exception):
    """A rule has something that admission policies, or this translation, cannot say. `reason` is a
    phrase, `instead` a sentence that tells what to use, or empty."""

    def __init__(self, reason: str, instead: str = "") -> None:
        self.reason = reason
        self.instead = instead
        super().__init__(reason)
