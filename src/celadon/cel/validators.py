"""Checks on checked trees that are not typing: literal durations, regexes, mixed literals.

A `Validator` is a named function. `run` gives each of them, in order, one `ValidationContext` per
checked tree; they run only when the checker found nothing. Libraries bring their own validators
(`string_format`), so this module also is the interface for those (cel-go `cel/validator.go`).

Nodes are visited children first, left to right; that order decides which of several issues at one
position is shown first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from celadon.cel.syntax import CheckedAst, Expr

if TYPE_CHECKING:
    from celadon.cel.declared import Declarations


@dataclass(slots=True, eq=False)
class ValidationContext:
    """What a validator sees. `nodes` are all nodes of the tree, children before parents.

    `exempt_functions` is the union of what all validators of the run exempt: literals anywhere
    below a call of such a function may be heterogeneous.
    """

    checked: CheckedAst
    declarations: Declarations
    nodes: tuple[Expr, ...]
    exempt_functions: frozenset[str]
    reported: list[tuple[int, str]] = field(default_factory=list)

    def report(self, node_id: int, message: str) -> None:
        """Adds an issue located at that node."""
        self.reported.append((node_id, message))


@dataclass(frozen=True, slots=True)
class Validator:
    """`exempt_functions`: names of functions below which literals may be heterogeneous."""

    name: str
    check: Callable[[ValidationContext], None]
    exempt_functions: frozenset[str] = frozenset()
