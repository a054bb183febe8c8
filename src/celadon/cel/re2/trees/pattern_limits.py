"""How large a pattern may be.

Go bounds a pattern three ways (golang/go `regexp/syntax/parse.go` `checkLimits`): characters in
classes, instructions, height. It looks at instructions only once the number of nodes it has
allocated times the product of all repetition counts is large, so that number is kept here as Go's
allocator, which reuses what was released, would have it.
"""

from __future__ import annotations

from collections.abc import Callable

from celadon.cel.re2.pattern_errors import ErrorCode, RegexError
from celadon.cel.re2.trees.pattern_tree import Chars, Node, Repeat

MAX_HEIGHT = 1000

MAX_SIZE = (128 << 20) // 40
"""Instructions, as Go estimates them: 128 MB of 40 bytes each."""

MAX_CLASS_RUNES = (128 << 20) // 4
"""Ends of ranges in all classes together: 128 MB of 4 bytes each."""


class Limits:
    """What Go's parser counts while it parses."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._nodes = 0
        self._free = 0
        self._class_runes = 0
        self._repeats = 1
        self._measuring = False

    def allocate(self) -> None:
        if self._free:
            self._free -= 1
        else:
            self._nodes += 1

    def release(self) -> None:
        self._free += 1

    def check(self, node: Node, finished: Callable[[], list[Node]]) -> None:
        """Raises `RegexError`. `finished` gives the nodes on the parser's stack."""
        if isinstance(node, Chars):
            self._class_runes += 2 * len(node.chars)
        if self._class_runes > MAX_CLASS_RUNES or self._too_large(node, finished):
            raise RegexError(ErrorCode.LARGE, self._pattern)
        if node.facts.height > MAX_HEIGHT:
            raise RegexError(ErrorCode.NESTING_DEPTH, self._pattern)

    def _too_large(self, node: Node, finished: Callable[[], list[Node]]) -> bool:
        if not self._measuring:
            if isinstance(node, Repeat) and node.counted:
                count = max(1, node.least if node.most is None else node.most)
                self._repeats = min(MAX_SIZE, self._repeats * count)
            if self._nodes < MAX_SIZE // self._repeats:
                return False
            self._measuring = True
            if any(item.facts.size > MAX_SIZE for item in finished()):
                return True
        return node.facts.size > MAX_SIZE
