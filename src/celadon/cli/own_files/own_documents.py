"""Documents of kinds that are Celadon's own."""

from __future__ import annotations

from typing import Final

from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.problems import Problem

API_VERSION: Final = "celadon.dev/v1"


def is_own(document: Document, kind: str) -> bool:
    """Whether it is of a kind of ours, of whatever version."""
    group = API_VERSION.partition("/")[0]
    return bool(document.value["kind"] == kind and document.group_kind[0] == group)


def problem_at(document: Document, path: Path, text: str, help: str = "") -> Problem:
    """What is wrong with a field of a document."""
    line, column = document.chunk.spot((*document.path, *path))
    return Problem(document.file, line, text, help, column=column)
