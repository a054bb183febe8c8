"""One expression checked for many kinds: once for all in which what it reads has the same types.

Most of what policies read (`variables.name`, `request.operation`, `object.metadata.labels`) has the
same type in every kind, and without this a policy of thousands of expressions would be checked as
many times as there are kinds.

INVARIANT (same types): what a check finds follows from the types at the ends of the chains of
fields that the tree reads. Where that cannot be said, nothing is shared: a field that is not there
and an object are called by the name of the kind, and a qualified name may be one of its types.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from celadon.admission.expressions.declared_types import variable_type
from celadon.cel import Environment, Issue, types
from celadon.cel.syntax import Ast, Expr, Ident, Select, Struct, walk

_Chain: TypeAlias = tuple[str, ...]
"""A name and the fields selected from it: `object.metadata.name`."""


class Verdict(NamedTuple):
    """What a check found: the type under which a variable of it is known later, dyn if it has
    issues; each issue with its node."""

    variable_type: types.Type
    issues: tuple[tuple[Issue, Expr | None], ...]


UNCHECKED: Final = Verdict(types.DYN, ())
"""Of what is not checked."""


class SharedTypes:
    """Equal types made the same one, so that many are compared by identity: deep ones take long."""

    def __init__(self) -> None:
        self._same: dict[types.Type, types.Type] = {}
        self._known: dict[int, tuple[types.Type, types.Type | None]] = {}

    def shared(self, given: types.Type) -> types.Type | None:
        """The one that stands for it; None if there are objects in it, which belong to a kind."""
        known = self._known.get(id(given))
        if known is None:
            same = None if _has_objects(given) else self._same.setdefault(given, given)
            known = self._known[id(given)] = (given, same)
        return known[1]


class SharedChecks:
    """The checks of one tree, in environments with the same functions."""

    def __init__(self, tree: Ast, shared_types: SharedTypes) -> None:
        self.tree: Final = tree
        self._types = shared_types
        self._chains = _chains(tree.root)
        self._verdicts: dict[tuple[int, ...], Verdict] = {}

    def check(self, env: Environment) -> Verdict:
        """What `env.check` of the tree finds."""
        read = self._types_read(env)
        if read is None:
            return _verdict(self.tree, env)
        verdict = self._verdicts.get(read)
        if verdict is None:
            verdict = self._verdicts[read] = _verdict(self.tree, env)
        return verdict

    def _types_read(self, env: Environment) -> tuple[int, ...] | None:
        """The identities of the types at the ends of the chains, None if they do not say all."""
        if self._chains is None:
            return None
        read = []
        for chain in self._chains:
            found = _type_at(env, chain)
            shared = None if found is None else self._types.shared(found)
            if shared is None:
                return None
            read.append(id(shared))
        return tuple(read)


def _verdict(tree: Ast, env: Environment) -> Verdict:
    checked, issues = env.check(tree)
    nodes = {node.id: node for node in walk(tree.root)} if issues else {}
    found = tuple((issue, nodes.get(issue.node or 0)) for issue in issues)
    return Verdict(types.DYN if checked is None else variable_type(checked.type), found)


def _chains(root: Expr) -> tuple[_Chain, ...] | None:
    """The longest chains, each once; None for a tree that names types with fields."""
    found: dict[_Chain, None] = {}
    inside: set[int] = set()
    for node in reversed(walk(root)):
        if node.__class__ is Struct:
            return None
        if node.__class__ is Select:
            inside.add(node.operand.id)
        if node.id not in inside and (chain := _chain(node)):
            found[chain] = None
    return tuple(found)


def _chain(node: Expr) -> _Chain:
    """Empty for what does not begin with a name."""
    fields = []
    while node.__class__ is Select:
        fields.append(node.field)
        node = node.operand
    return (node.name, *reversed(fields)) if node.__class__ is Ident else ()


def _type_at(env: Environment, chain: _Chain) -> types.Type | None:
    """The type at its end; `ERROR` for what is no name out here (a loop's variable); None where
    only a check can say it."""
    name, *fields = chain
    scope = env.declarations
    if scope.may_qualify(name):
        return None
    known = scope.find_identifier(name)
    found = types.ERROR if known is None else known.type
    for field in fields:
        if found.kind is types.Kind.OBJECT:
            member = scope.find_field(found.name, field)
            if member is None:
                return None
            found = member
        elif found.kind is types.Kind.MAP:
            found = found.params[1]
        elif not types.is_dyn(found):
            return None
    return found


def _has_objects(given: types.Type) -> bool:
    return given.kind is types.Kind.OBJECT or any(map(_has_objects, given.params))
