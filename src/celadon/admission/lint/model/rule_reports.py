"""What checks give, and the places they give it for."""

from __future__ import annotations

from celadon.admission.lint.model.access_facts import ITEM, Access, Path
from celadon.admission.lint.model.findings import Fix, Severity, Spot
from celadon.admission.lint.model.policy_expressions import PolicyExpression
from celadon.cel.syntax import Expr
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """What a check gives for one finding; the rule adds its code and, without one, its severity."""

    spot: Spot
    message: str
    help: str = ""
    fix: Fix | None = None
    severity: Severity | None = None


def at_node(document: int, expression: PolicyExpression, node: Expr) -> Spot:
    """A node of an expression."""
    checked = expression.checked
    offset = None if checked is None else checked.ast.positions.get(node.id)
    return Spot(document, expression.path, None if offset is None else offset + expression.shift)


def at_access(document: int, access: Access) -> Spot:
    return Spot(document, access.expression.path, access.offset)


def at_offset(document: int, expression: PolicyExpression, offset: int | None) -> Spot:
    """An offset in the text that was compiled."""
    return Spot(document, expression.path, None if offset is None else offset + expression.shift)


def shown(path: Path) -> str:
    """`object.spec.containers[].image`."""
    return ".".join(path).replace(f".{ITEM}", ITEM)
