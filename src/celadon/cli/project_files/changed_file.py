"""A file that a command changes: shown as a difference, or written.

It keeps its encoding and line ends. One that changed meanwhile, or has line ends of both kinds,
stays as it is.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Final

from celadon.cli.reading.sources import STDIN_NAME, Text, encoded_like
from celadon.records import dataclass

_NO_END: Final = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """The text of a file as it is and as it will be, the bytes of the latter, and in how many
    places that changes it."""

    file: str
    before: str
    after: str
    data: bytes
    count: int

    def write(self) -> None:
        """Change the file."""
        Path(self.file).write_bytes(self.data)

    def diff(self) -> str:
        """As `diff -u` shows it."""
        return unified_diff(self.file, self.before, self.after)


def changed_file(text: Text, content: str, count: int) -> ChangedFile | None:
    """A file with other content, changed in so many places; None if it must stay as it is."""
    if text.file == STDIN_NAME or not count:
        return None
    data = Path(text.file).read_bytes()
    if encoded_like(text.content, data) != data:
        return None
    encoded = encoded_like(content, data)
    if encoded is None:
        return None
    return ChangedFile(text.file, text.content, content, encoded, count)


def unified_diff(file: str, before: str, after: str) -> str:
    """What `diff -u` shows of two texts of a file."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), file, file
    )
    return "".join(one if one.endswith("\n") else f"{one}\n{_NO_END}" for one in lines)
