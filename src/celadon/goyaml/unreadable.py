"""Why a document cannot be read: in our words for people, in Go's words for clients of a server."""

from __future__ import annotations


class UnreadableError(Exception):
    """A document that cannot be read; commands make a `Problem` of it, a server a Status.

    `line` counts from 1 inside the text that was given to the reader. `message` obeys the house's
    second law. `upstream` is what sigs.k8s.io/yaml says, which is often the same; it does not
    mention the line where Go does not.
    """

    def __init__(self, line: int, message: str, help: str = "", upstream: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.help = help
        self.upstream = upstream or f"yaml: {message}"
