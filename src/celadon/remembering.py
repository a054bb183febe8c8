"""Functions that remember what they were asked, of texts that strangers send.

`functools.lru_cache` bounds how many texts are kept, not how long they are: four thousand of a
megabyte each are a denial of service. What is asked again and again is short.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

LONGEST: Final = 256
"""Characters; of longer texts nothing is remembered."""


def remembering(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Remember what a function of one text returns for short texts, as `functools.lru_cache` does;
    `most` of them."""

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        known = functools.lru_cache(most)(function)

        @functools.wraps(function)
        def asked(text: str) -> T:
            return known(text) if len(text) <= LONGEST else function(text)

        return asked

    return decorated
