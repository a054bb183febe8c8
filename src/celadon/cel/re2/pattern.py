"""Compiled patterns (first version: automata only)."""

from __future__ import annotations

from collections.abc import Callable

from celadon.cel.re2.alphabet import alphabet_of
from celadon.cel.re2.dfa import Dfa
from celadon.cel.re2.parser import parse
from celadon.cel.re2.pike import Pike, Slots
from celadon.cel.re2.program import Program

Span = tuple[int, int]


class Pattern:
    def __init__(self, source: str) -> None:
        parsed = parse(source)
        self.source = source
        self.groups = parsed.groups
        program = Program(parsed.tree, alphabet_of(parsed.tree))
        self._dfa = Dfa(program, anchored=False)
        self._pike = Pike(program)
        self.search_fn: Callable[[str], object] = self._dfa.search

    def search(self, text: str) -> bool:
        return bool(self.search_fn(text))

    def find(self, text: str) -> Span | None:
        found = self._find(text, 0, 0)
        return None if found is None else (found[0], found[1])

    def find_all(self, text: str, limit: int = -1) -> list[Span]:
        return [(slots[0], slots[1]) for slots in self._all(text, limit, 0)]

    def match_groups(self, text: str, position: int = 0) -> list[Span | None] | None:
        found = self._find(text, position, self.groups)
        return None if found is None else _spans(found)

    def find_all_groups(self, text: str, limit: int = -1) -> list[list[Span | None]]:
        return [_spans(slots) for slots in self._all(text, limit, self.groups)]

    def _find(self, text: str, position: int, groups: int) -> Slots | None:
        return self._pike.search(text, position, groups, anchored=False)

    def _all(self, text: str, limit: int, groups: int) -> list[Slots]:
        found: list[Slots] = []
        position = 0
        previous_end = -1
        while position <= len(text) and len(found) != limit:
            slots = self._find(text, position, groups)
            if slots is None:
                break
            start, end = slots[:2]
            accepted = True
            if end == position:
                accepted = start != previous_end
                position += 1
            else:
                position = end
            previous_end = end
            if accepted:
                found.append(slots)
        return found


def _spans(slots: Slots) -> list[Span | None]:
    pairs = zip(slots[::2], slots[1::2], strict=True)
    return [None if start < 0 else (start, end) for start, end in pairs]
