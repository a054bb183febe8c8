"""What a traced evaluation tells, and a recorder that keeps it.

Nodes are named by their ids, loops by those of their comprehensions; 0 is outside of all loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

KEPT_ROUNDS: Final = 10
"""Of each loop; and the last one, which decides `all` and `exists`."""

KEPT_FRAMES: Final = 10_000
"""Rounds of all loops together of which more than the last one is kept."""


class Recorder(Protocol):
    """Is told what happens in a traced evaluation, as it happens. Values may be errors, of the
    class `EvaluationError`. A node may be told of twice, the second time with the same value."""

    def value(self, loop: int, node: int, value: Any, cost: int | None) -> None:
        """A node in that loop was evaluated, for that cost, its operands included; None is for
        nodes whose cost counts as part of a larger one's."""

    def walked(
        self,
        loop: int,
        nodes: Sequence[int],
        walk: Callable[[Any, Sequence[Any]], tuple[Any, int]],
        base: Any,
        keys: Sequence[Any],
    ) -> None:
        """Selections and indexings with constant keys were applied one after the other to a value;
        `walk(base, keys[:n])` begins with what the nth came to."""

    def loop(self, outer: int, node: int) -> None:
        """A loop begins, for which there may be no round."""

    def round(self, node: int, *variables: Any) -> None:
        """A round of a loop begins, with its one or two variables."""


class Outcome(NamedTuple):
    """What a node came to: a value, or an `EvaluationError`; see `Recorder.value`."""

    value: Any
    cost: int | None


class Frame:
    """One evaluation of what stands in one loop, or outside of loops: outcomes by node, and the
    loops further in by their nodes."""

    __slots__ = ("loops", "outcomes")

    def __init__(self) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.loops: dict[int, Rounds] = {}


class Round(NamedTuple):
    """One round of a loop; the first is number 1."""

    number: int
    variables: tuple[Any, ...]
    frame: Frame


class Rounds:
    """How often a loop ran, and the first and the last of its rounds."""

    __slots__ = ("count", "kept")

    def __init__(self) -> None:
        self.count = 0
        self.kept: list[Round] = []


class TraceRecorder:
    """Keeps everything of one evaluation, but of long loops only some rounds."""

    __slots__ = ("_frames", "_left", "_rounds", "frame")

    def __init__(self) -> None:
        self.frame = Frame()
        self._frames = {0: self.frame}
        self._rounds: dict[int, Rounds] = {}
        self._left = KEPT_FRAMES

    def value(self, loop: int, node: int, value: Any, cost: int | None) -> None:
        """Kept, but not instead of one with a cost."""
        outcomes = self._frames[loop].outcomes
        if cost is not None or node not in outcomes:
            outcomes[node] = Outcome(value, cost)

    def walked(
        self,
        loop: int,
        nodes: Sequence[int],
        walk: Callable[[Any, Sequence[Any]], tuple[Any, int]],
        base: Any,
        keys: Sequence[Any],
    ) -> None:
        """Walks again, to each of the nodes."""
        for number, node in enumerate(nodes, 1):
            self.value(loop, node, walk(base, keys[:number])[0], None)

    def loop(self, outer: int, node: int) -> None:
        """Room for the rounds."""
        self._rounds[node] = self._frames[outer].loops[node] = Rounds()

    def round(self, node: int, *variables: Any) -> None:
        """The latest round takes the place of the one before, once there are enough."""
        rounds = self._rounds[node]
        rounds.count += 1
        latest = Round(rounds.count, variables, Frame())
        self._frames[node] = latest.frame
        if rounds.kept and (len(rounds.kept) > KEPT_ROUNDS or self._left <= 0):
            rounds.kept[-1] = latest
        else:
            self._left -= 1
            rounds.kept.append(latest)
