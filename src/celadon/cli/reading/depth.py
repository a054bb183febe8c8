"""The guard against nesting that no Kubernetes object has."""

from __future__ import annotations

from typing import Any

from celadon.cli.reading.input_limits import MAX_DEPTH
from celadon.cli.reading.problems import UnreadableError


def check_depth(value: Any, line: int) -> None:
    """Raises `UnreadableError` if maps and lists are nested deeper than `MAX_DEPTH`.

    Walks level by level, so the check itself never nests.
    """
    level = [value]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH + 1:
            raise UnreadableError(line, f"nested deeper than {MAX_DEPTH} levels")
        level = [
            child
            for item in level
            if item.__class__ is dict or item.__class__ is list
            for child in (item.values() if item.__class__ is dict else item)
        ]
