"""What an expression has made sure of before it reads something, and what it reads.

A path is a variable and the fields below it: `("object", "spec", "containers", ITEM, "image")`.
"""

from __future__ import annotations

import enum
from typing import Final, TypeAlias

from celadon.admission.lint.model.matched_kinds import OPERATIONS
from celadon.admission.lint.model.policy_expressions import PolicyExpression
from celadon.cel.syntax import Expr
from celadon.records import dataclass

Path: TypeAlias = tuple[str, ...]

ITEM: Final = "[]"
"""In a path: some item of a list, some value of a map."""


@dataclass(frozen=True, slots=True)
class Facts:
    """`present` are paths that exist and are not null; `operations` those that are left."""

    present: frozenset[Path] = frozenset()
    operations: frozenset[str] = OPERATIONS

    def and_(self, other: Facts) -> Facts:
        """Both are known."""
        if other == NOTHING:
            return self
        return Facts(self.present | other.present, self.operations & other.operations)

    def or_(self, other: Facts) -> Facts:
        """One of the two is known."""
        return Facts(self.present & other.present, self.operations | other.operations)


NOTHING: Final = Facts()


def there(path: Path | None) -> Facts:
    """A path and everything above it is there."""
    if path is None:
        return NOTHING
    return Facts(frozenset(path[:length] for length in range(1, len(path) + 1)))


class Reading(enum.Enum):
    """How a field is read. `READ` fails if it is absent; `VALUE` takes it out of an optional, and
    fails then, too."""

    READ = enum.auto()
    TEST = enum.auto()
    OPTIONAL = enum.auto()
    VALUE = enum.auto()


@dataclass(frozen=True, slots=True)
class Access:
    """One field that is read, by which node of which expression. `within` is the expression that is
    evaluated: not the same for what a variable reads."""

    path: Path
    reading: Reading
    facts: Facts
    node: Expr
    expression: PolicyExpression
    within: PolicyExpression

    @property
    def offset(self) -> int | None:
        """Where it is in the text of the field."""
        checked = self.expression.checked
        found = None if checked is None else checked.ast.positions.get(self.node.id)
        return None if found is None else found + self.expression.shift
