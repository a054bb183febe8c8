"""What a validator is: a named check of trees that the type checker accepted.

The environment has some of its own (`checking.validators`, which also runs them), libraries bring
others (cel-go `cel/validator.go`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any, NamedTuple, TypeVar

from celadon.cel.errors import Issue, IssueKind
from celadon.cel.syntax import CheckedAst, Expr, children
from celadon.cel.types import Type
from celadon.records import dataclass

_Node = TypeVar("_Node", bound="Expr")


@dataclass(slots=True, eq=False)
class ValidationContext:
    """This is what a validator sees.

    `exempt_functions` is the union of what all validators of the run exempt: literals anywhere
    below a call of such a function may be heterogeneous.
    """

    checked: CheckedAst
    exempt_functions: frozenset[str]
    reported: list[Issue] = field(default_factory=list)
    _classes: dict[type, list[Any]] = field(default_factory=dict)
    _parents: dict[int, Expr] | None = None

    def of_class(self, kind: type[_Node]) -> Sequence[_Node]:
        """The nodes of one kind, children before parents: most validators look at few kinds, and
        most trees have none of them."""
        classes = self._classes
        if not classes:
            for node in self.checked.nodes:
                classes.setdefault(node.__class__, []).append(node)
        return classes.get(kind, ())

    def report(
        self,
        node_id: int,
        message: str,
        kind: IssueKind = IssueKind.OTHER,
        types: tuple[Type, ...] = (),
    ) -> None:
        """Adds an issue located at that node; `types` are those that `kind` is about."""
        offset = self.checked.ast.positions.get(node_id)
        self.reported.append(Issue(message, offset, node_id, kind, types))

    def ancestors(self, node: Expr) -> Iterator[Expr]:
        """The nodes above, nearest first."""
        if self._parents is None:
            self._parents = {
                child.id: above for above in self.checked.nodes for child in children(above)
            }
        parent = self._parents.get(node.id)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent.id)


class Validator(NamedTuple):
    """`exempt_functions`: names of functions below which literals may be heterogeneous."""

    name: str
    check: Callable[[ValidationContext], None]
    exempt_functions: frozenset[str] = frozenset()
