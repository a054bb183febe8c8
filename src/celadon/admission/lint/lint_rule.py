"""The record of a rule. Families of rules are the modules `*_rules`; `table` has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from celadon.admission.lint.findings import Finding, Fix, PolicyExpression, Severity, Spot
from celadon.admission.lint.subjects import ITEM, Access, Bundle, Path
from celadon.cel.syntax import Expr
from celadon.records import dataclass

# --- Rule reports ------------------------------------------------------------
#
# What checks give, and the places they give it for.


@dataclass(frozen=True, slots=True)
class Report:
    """This is what a check gives for one finding; the rule adds its code and, without one, its
    severity."""

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


Check = Callable[[Bundle], Iterable[Report]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`doc` is one paragraph. `bad` and `good` are YAML, documents or the `spec` of a policy about
    Deployments that are created or updated; the bad one makes the rule speak, the good one not."""

    code: str
    name: str
    severity: Severity
    doc: str
    bad: str
    good: str
    check: Check

    def findings(self, bundle: Bundle) -> Iterable[Finding]:
        """Yield what the rule says about everything that was given, with its code."""
        for one in self.check(bundle):
            severity = one.severity or self.severity
            yield Finding(self.code, one.spot, one.message, one.help, severity, one.fix)
