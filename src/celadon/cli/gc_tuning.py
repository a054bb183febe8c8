"""When Python looks for garbage: not while a command is loaded and reads, and seldom afterwards.

What is loaded stays, and looking through it again and again takes a tenth of the time of a short
command. Reading and judging leave hardly any cycles behind.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

YOUNG: Final = 20_000
"""So many new containers are worth a look."""


@contextmanager
def garbage_later() -> Iterator[Callable[[], None]]:
    """Nothing is collected until what this yields is called; all is as before at the end."""
    before = gc.get_threshold()
    gc.disable()

    def settle() -> None:
        gc.freeze()
        gc.set_threshold(YOUNG, 20, 50)
        gc.enable()

    try:
        yield settle
    finally:
        gc.set_threshold(*before)
        gc.enable()
