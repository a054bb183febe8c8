"""The expressions of a policy or definition, compiled, with the field each of them stands in."""

from __future__ import annotations

import enum

from celadon.cel import CheckedAst, Environment
from celadon.cel.syntax import Ast, Ident, walk
from celadon.kube import FieldPath
from celadon.records import dataclass


class Role(enum.Enum):
    """The places where expressions are: `RULE` is one of a definition, which has messages, too."""

    CONDITION = enum.auto()
    VARIABLE = enum.auto()
    VALIDATION = enum.auto()
    MESSAGE = enum.auto()
    ANNOTATION = enum.auto()
    MUTATION = enum.auto()
    RULE = enum.auto()


@dataclass(frozen=True)
class PolicyExpression:
    """`path` is that of the field. `name` is that of a variable or condition; `checked` is None if
    it does not compile, `tree` (what was checked) if it does not parse. `env` is what it was
    compiled in. `shift` is the white space that was cut off before compiling."""

    role: Role
    index: int
    path: FieldPath
    text: str
    env: Environment
    tree: Ast | None
    checked: CheckedAst | None
    name: str = ""
    shift: int = 0


def names_of(one: PolicyExpression) -> set[str]:
    """The names in it; none if it does not compile."""
    nodes = [] if one.checked is None else walk(one.checked.root)
    return {node.name for node in nodes if node.__class__ is Ident}
