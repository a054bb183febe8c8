"""What the modules of a variant ask of the writer that walks the tree.

`plain` and `metered` walk the tree and hand calls and loops to modules of their own, whose operands
the walk writes again: the ring that this makes at run time is cut here for the imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from celadon.cel.analysis.attribute_chains import Step
from celadon.cel.analysis.tree_context import Context
from celadon.cel.codegen.emitter import Emitter
from celadon.cel.syntax import Call, Comprehension, Expr, Ident


class Writer(Protocol):
    """Either variant. All sources are of Python, all nodes of the tree being written."""

    @property
    def context(self) -> Context:
        """What is known about the tree being written."""

    @property
    def emitter(self) -> Emitter:
        """Where the lines go."""


class PlainWriter(Writer, Protocol):
    """The walk of the plain variant (`plain.Plain`)."""

    def value(self, node: Expr) -> str:
        """The source of the node's value, to be used exactly once."""

    def atom(self, node: Expr) -> str:
        """A name or literal for the node's value, safe to write more than once."""

    def boolean(self, node: Expr) -> str:
        """The source of the node's value as a Python bool; raises when run if it is none."""

    def maybe(self, node: Expr) -> tuple[str, str] | None:
        """An optional as a condition that holds when it is present and the source of the value
        then, without building it; None if this node has no such form."""

    def scope(self, names: Mapping[str, str]) -> AbstractContextManager[None]:
        """Variables visible inside: CEL name to Python name."""


class MeteredWriter(Writer, Protocol):
    """The walk of the metered variant (`metered.Metered`)."""

    def value(self, node: Expr, *, branch: bool = False) -> str:
        """Write the node's evaluation; a name or literal for its value, or its error. `branch`
        marks the chosen branch of a conditional, which is not charged again."""

    def base(self, base: Expr) -> str:
        """The value that a chain starts from, nothing charged for an identifier."""

    def steps(self, base: str, steps: tuple[Step, ...]) -> str:
        """Apply qualifiers to a value."""

    def is_bound(self, node: Ident) -> bool:
        """Is it a name of the expression's own rather than an input?"""

    def outlined(self, node: Expr, write: Callable[[Expr], str] | None = None) -> str:
        """The node computed by a function of its own. `write` writes it, if not as a value."""

    def reached(self, node: Expr, atom: str) -> None:
        """The atom holds the value of a node that is evaluated as part of a larger one."""

    def lazy(self, node: Expr) -> str:
        """A local that computes the node at its first use."""

    def charge(self, units: int = 1) -> None:
        """Add single steps to what the next `flush` writes out."""

    def flush(self) -> None:
        """Write out the steps charged so far."""

    def add(self, amount: str, node: int = 0) -> None:
        """Charge a computed amount, and check the limit."""

    def is_error(self, atom: str) -> str:
        """The source of the test whether the atom holds an error."""

    def never_fails(self, node: Expr) -> bool:
        """Is the node sure to be a value, no error?"""

    def sequence(self, parts: Sequence[Expr], *, check_last: bool = True) -> tuple[list[str], str]:
        """Evaluate in order up to the first error: the atoms, and the local that holds that error
        or None (empty if no part can fail). Without `check_last` the last part's error is left to
        whoever uses the atoms."""

    def unless(self, failed: str, result: str, node: int) -> AbstractContextManager[None]:
        """The body assigns `result` from the atoms of a `sequence`, unless that failed."""

    def branch(self, header: str, node: int = 0) -> AbstractContextManager[None]:
        """A block that may not run; pending charges stay on their own side."""

    def resolved(self, node: Expr, atom: str) -> str:
        """The node's value as it comes out of an attribute."""

    def terms(self, node: Call) -> list[Expr]:
        """What a run of logical operators is evaluated as."""

    def loop(self, header: str, node: Comprehension) -> AbstractContextManager[None]:
        """The loop of a comprehension, and what is inside."""

    def round(self, node: Comprehension, names: Mapping[str, str]) -> None:
        """Where a round of a loop begins, with its variables."""

    def scope(
        self, names: Mapping[str, str], lazy: str | None = None
    ) -> AbstractContextManager[None]:
        """Names visible inside; `lazy` is the one that is bound to a `Lazy`."""
