"""What our type check finds (`actual_types`)."""

from __future__ import annotations

from celadon.admission.lint.model.policy_expressions import PolicyExpression
from celadon.cel import Issue
from celadon.cel.syntax import Expr
from celadon.kube import GroupVersionKind
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Mistake:
    """One issue, with the kinds for which it is one."""

    expression: PolicyExpression
    issue: Issue
    node: Expr | None
    kinds: tuple[GroupVersionKind, ...]
