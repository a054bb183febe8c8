"""Mutating policies as the rules about them see them: compiled, with what they write."""

from __future__ import annotations

from celadon.admission.lint.model.policy_expressions import PolicyExpression
from celadon.admission.registration.registration_types import MutatingAdmissionPolicy
from celadon.cel.syntax import Expr
from celadon.kube import GroupVersionKind
from celadon.records import dataclass

Path = tuple[str, ...]
"""The names on the way to a field; items of lists have no step of their own."""


@dataclass(frozen=True, slots=True)
class Written:
    """A field that a configuration sets, or a path that a JSON patch is about (`op` says how).
    `value` is None for an operation without one."""

    expression: PolicyExpression
    path: Path
    node: Expr
    value: Expr | None
    op: str = ""
    type_name: str = ""
    """Of an object that is constructed in the place of the field."""


@dataclass(frozen=True)
class MutatingCase:
    """`kinds` are those that the rules of the policy match; `expressions` its mutations."""

    document: int
    policy: MutatingAdmissionPolicy
    expressions: tuple[PolicyExpression, ...]
    operations: frozenset[str]
    kinds: tuple[GroupVersionKind, ...]
    written: tuple[Written, ...]

    @property
    def name(self) -> str:
        return self.policy.name
