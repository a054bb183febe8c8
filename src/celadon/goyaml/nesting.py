"""How deep a YAML text may nest: go-yaml's limits while it scans, then those of its JSON.

go-yaml `scannerc.go` counts flow collections and indentations apart, and gives up at the first that
is too much, whatever else is wrong. What it has read becomes JSON, which has a limit of its own.
"""

from __future__ import annotations

from typing import Any

from celadon.goyaml.yaml_scalars import MAX_DEPTH, MAX_QUICK_FLOWS, UnreadableError
from celadon.kube.go import TOO_DEEP

_SCANNED_TOO_DEEP = f"exceeded max depth of {MAX_DEPTH}"


class NotQuick(Exception):
    """More flow collections are open than libyaml can work with in linear time."""


class TooDeep(UnreadableError):
    """A scanner gives up here: nothing behind this place counts."""


class OpenLevels:
    """The collections that are open, from their events. `quick` is for a parser whose work grows
    with the flow collections that are open."""

    def __init__(self, *, quick: bool) -> None:
        self._most_flows = MAX_QUICK_FLOWS if quick else MAX_DEPTH
        self._quick = quick
        self._flows = 0
        self._indents: list[int] = []
        self._kinds: list[int] = []

    def opened(self, event: Any) -> None:
        """A collection begins. Raises TooDeep, NotQuick."""
        start = event.start_mark
        if event.flow_style:
            # `[a: b]` has a map in it without a bracket of its own
            level = 1 if event.end_mark.index > start.index else 0
            self._kinds.append(level)
            self._flows += level
            if self._flows > self._most_flows:
                if self._quick:
                    raise NotQuick
                raise _too_deep(start.line)
            return
        column = start.column
        if self._indents and column <= self._indents[-1]:
            self._kinds.append(0)  # a list whose dashes stand below the key before it
            return
        self._kinds.append(-1)
        self._indents.append(column)
        if len(self._indents) > MAX_DEPTH:
            raise _too_deep(start.line)

    def closed(self) -> None:
        """The last of them ends."""
        kind = self._kinds.pop() if self._kinds else 0
        if kind < 0:
            self._indents.pop()
        else:
            self._flows -= kind

    def closed_all(self) -> None:
        """Nothing is open."""
        self._flows = 0
        self._indents.clear()
        self._kinds.clear()


def _too_deep(line: int) -> TooDeep:
    """`line` from 0, which Go does not name."""
    where = f"line {line + 1}: " if line else ""
    message = f"nested deeper than {MAX_DEPTH} levels"
    return TooDeep(line + 1, message, upstream=f"yaml: {where}{_SCANNED_TOO_DEEP}")


def check_depth(value: object, line: int) -> None:
    """Raises `UnreadableError` if maps and lists are nested deeper than JSON may be.

    Walks level by level, so the check itself never nests.
    """
    level = [value]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH + 1:
            message = f"nested deeper than {MAX_DEPTH} levels"
            raise UnreadableError(line, message, upstream=TOO_DEEP)
        level = [
            child
            for item in level
            if item.__class__ is dict or item.__class__ is list
            for child in (item.values() if item.__class__ is dict else item)
        ]


def copy_of(value: dict[str, object] | list[object]) -> Any:
    """A deep copy of a JSON value, without recursion."""
    copied = value.copy()
    pending: list[Any] = [copied]
    while pending:
        here = pending.pop()
        places = here.items() if here.__class__ is dict else enumerate(here)
        for place, item in places:
            if item.__class__ is dict or item.__class__ is list:
                here[place] = item = item.copy()
                pending.append(item)
    return copied
