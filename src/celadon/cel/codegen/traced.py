"""The traced variant: the metered one, and a recorder is told what every node came to.

`traced(a, L, r)` is what `Metered` writes, with lines between that tell `r`, a
`celadon.cel.tracing.Recorder`, the value of each node as soon as it is known, and what it cost. Two
things differ, neither of which any expression can tell: operators of a run of `&&` or `||` are
evaluated one by one, so that each has a value, and optional keys are applied through the runtime,
one by one. Values on the way through a run of constant keys are read again.

A node is evaluated in a loop, the innermost that it stands in (0: in none), once in each round. A
name that is bound lazily belongs to the loop where it is bound, wherever it is read first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from celadon.cel.analysis.tree_context import Context, Step
from celadon.cel.codegen.emitter import Emitter, GeneratedModule
from celadon.cel.codegen.metered import METERED_PARAMETERS, Metered
from celadon.cel.syntax import Comprehension, Expr, Literal, walk


def traced_module(context: Context) -> GeneratedModule:
    """The module whose function `traced(a, L, r)` returns the value or error, and the cost."""
    emitter = Emitter()
    _Traced(context, emitter).write("traced")
    return emitter.finish({**METERED_PARAMETERS, "r": "the recorder"})


class _Traced(Metered):
    shared = "a, L, r"
    traces = True

    def __init__(self, context: Context, emitter: Emitter) -> None:
        super().__init__(context, emitter)
        self._loop = 0

    def value(self, node: Expr, *, branch: bool = False) -> str:
        if self.context.is_constant(node):
            atom = super().value(node)
            self._constants(node)
            return atom
        before = self.emitter.assign(self._cost, node.id)
        atom = super().value(node, branch=branch)
        self._note(node, atom, f"{self._cost} - {before}")
        return atom

    def reached(self, node: Expr, atom: str) -> None:
        self._note(node, atom)

    def walked(self, base: str, run: Sequence[Step], walk: str) -> None:
        e = self.emitter
        keys = e.bind(tuple(step.key for step in run), "k")
        nodes = e.bind(tuple(step.node.id for step in run), "k")
        e.emit(f"r.walked({self._loop}, {nodes}, {e.runtime(walk)}, {base}, {keys})")

    @contextmanager
    def loop(self, header: str, node: Comprehension) -> Iterator[None]:
        self.emitter.emit(f"r.loop({self._loop}, {node.id})", node.id)
        outer, self._loop = self._loop, node.id
        with super().loop(header, node):
            yield
        self._loop = outer

    def round(self, node: Comprehension, names: Mapping[str, str]) -> None:
        self.emitter.emit(f"r.round({node.id}, {', '.join(names.values())})", node.id)

    @property
    def _cost(self) -> str:
        """The source of what has been charged so far."""
        return f"c + {self._pending}" if self._pending else "c"

    def _note(self, node: Expr, atom: str, cost: str = "None") -> None:
        self.emitter.emit(f"r.value({self._loop}, {node.id}, {atom}, {cost})", node.id)

    def _constants(self, node: Expr) -> None:
        """A node that was evaluated beforehand, and its parts; what stands in them as a literal
        needs no telling."""
        for part in walk(node):
            if part is node or (self.context.is_constant(part) and not isinstance(part, Literal)):
                atom = self.emitter.named(self.context.constant(part))
                self._note(part, atom, "0")
