"""What is wrong with an input, as a value that can be shown in any format.

Texts obey the house's second law: lower case, no final period, user input in backticks, the
position and the help apart from the message.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why (a part of) an input could not be used.

    `line` counts from 1 and is 0 when the problem concerns the file as a whole.
    """

    file: str
    line: int
    message: str
    help: str = ""

    def position(self) -> str:
        """`file:line`, or only the file."""
        return f"{self.file}:{self.line}" if self.line else self.file


class UnreadableError(Exception):
    """A document that cannot be read; becomes a `Problem` in `documents`, and nowhere else.

    `line` counts from 1 inside the text that was given to the reader.
    """

    def __init__(self, line: int, message: str, help: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.help = help
