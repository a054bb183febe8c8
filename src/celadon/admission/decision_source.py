"""`Source`, the place that a decision comes from: a field of a policy, or of a binding, as data.

Whoever compiles or evaluates a part of a policy knows the field; whoever shows a decision finds the
line by its steps. Nothing is read out of texts.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import FieldPath, fieldpath
from celadon.records import dataclass

_SPEC: Final = FieldPath("spec")
_MESSAGE: Final = "messageExpression"


@dataclass(frozen=True, slots=True)
class Source:
    """Names the field of a policy, or of its binding, that a decision is due to; without steps, the
    object as a whole."""

    path: FieldPath = fieldpath.ROOT
    in_binding: bool = False

    def __str__(self) -> str:
        """Return the name that people call it by: `validations[0]`,
        `validations[0].messageExpression`."""
        steps = self.path.steps[1:]
        return FieldPath(*(steps if steps[-1:] == (_MESSAGE,) else steps[:2])).text

    def below(self, path: FieldPath) -> Source:
        """Return a field inside this one."""
        return Source(self.path.join(path), self.in_binding)


WHOLE: Final = Source()
"""The policy as such."""

PARAM_KIND: Final = Source(_SPEC.child("paramKind"))
MATCH_CONSTRAINTS: Final = Source(_SPEC.child("matchConstraints"))
PARAM_REF: Final = Source(_SPEC.child("paramRef"), in_binding=True)
MATCH_RESOURCES: Final = Source(_SPEC.child("matchResources"), in_binding=True)


def validation(index: int) -> Source:
    """Return the expression of a validation."""
    return _part("validations", index, "expression")


def message(index: int) -> Source:
    """Return the message expression of a validation."""
    return _part("validations", index, _MESSAGE)


def condition(index: int) -> Source:
    """Return the expression of a match condition."""
    return _part("matchConditions", index, "expression")


def variable(index: int) -> Source:
    """Return the expression of a variable."""
    return _part("variables", index, "expression")


def mutation(index: int, *, is_patch: bool) -> Source:
    """Return the expression of a mutation."""
    member = "jsonPatch" if is_patch else "applyConfiguration"
    return Source(_SPEC.child("mutations").index(index).child(member).child("expression"))


def annotation(index: int) -> Source:
    """Return the value expression of an audit annotation."""
    return _part("auditAnnotations", index, "valueExpression")


def _part(field: str, index: int, expression: str) -> Source:
    return Source(_SPEC.child(field).index(index).child(expression))
