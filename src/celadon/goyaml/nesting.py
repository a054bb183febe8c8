"""The guard against nesting that no Kubernetes object has."""

from __future__ import annotations

from typing import Any

from celadon.goyaml.unreadable import UnreadableError
from celadon.goyaml.yaml_limits import MAX_DEPTH


def too_deep(line: int) -> UnreadableError:
    """Go gives up later; its words are for a depth of 10000."""
    message = f"nested deeper than {MAX_DEPTH} levels"
    return UnreadableError(line, message, upstream="yaml: exceeded max depth of 10000")


def check_depth(value: Any, line: int) -> None:
    """Raises `UnreadableError` if maps and lists are nested deeper than `MAX_DEPTH`.

    Walks level by level, so the check itself never nests.
    """
    level = [value]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH + 1:
            raise too_deep(line)
        level = [
            child
            for item in level
            if item.__class__ is dict or item.__class__ is list
            for child in (item.values() if item.__class__ is dict else item)
        ]
