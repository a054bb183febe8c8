"""Attributes as cel-go plans them: what a name, a chain, a test of presence or a conditional is.

An attribute is a base and the qualifiers that were added to it. A conditional hands each qualifier
to both of its branches, and what was a test of presence is, as a part of another attribute, one
more qualifier (cel-go `interpreter/planner.go`, `interpreter/attributes.go`). Only planning is
here; `interpreter` resolves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from celadon.cel import syntax
from celadon.cel.analysis.tree_context import Context
from celadon.cel.syntax import Call, Expr, Ident, LiteralValue, Select


@dataclass
class Qualifier:
    """A key: a constant one, or an attribute that is resolved first."""

    constant: LiteralValue = None
    attribute: Attribute | None = None
    optional: bool = False
    is_test: bool = False


@dataclass
class Attribute:
    """`base` is the name, or what is evaluated; a conditional has a test and branches instead."""

    base: Expr
    is_name: bool = False
    branches: tuple[Attribute, Attribute] | None = None
    qualifiers: list[Qualifier] = field(default_factory=list)

    def add(self, qualifier: Qualifier) -> None:
        for one in self.branches or ():
            one.add(qualifier)
        if self.branches is None:
            self.qualifiers.append(qualifier)


def planned(context: Context, node: Expr) -> Attribute | None:
    """The attribute that a node is, if it is one."""
    if context.is_constant(node):
        return None
    match node:
        case Ident():
            return None if node.id in context.constants else Attribute(node, is_name=True)
        case Select():
            attribute = part(context, node.operand)
            attribute.add(Qualifier(node.field, is_test=node.test_only))
            return attribute
        case Call(function=syntax.CONDITIONAL):
            yes, no = (part(context, branch) for branch in node.args[1:])
            return Attribute(node.args[0], branches=(yes, no))
        case Call(function=syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT):
            attribute = part(context, node.args[0])
            attribute.add(_qualifier(context, node))
            return attribute
        case _:
            return None


def part(context: Context, node: Expr) -> Attribute:
    """What a node is as a part of an attribute, whatever it is."""
    return planned(context, node) or Attribute(node)


def _qualifier(context: Context, node: Call) -> Qualifier:
    key, optional = node.args[1], node.function != syntax.INDEX
    if context.is_constant(key):
        return Qualifier(context.constant(key), optional=optional)
    if isinstance(key, Ident) and key.id in context.constants:
        return Qualifier(context.constants[key.id], optional=optional)
    return Qualifier(attribute=part(context, key), optional=optional)
