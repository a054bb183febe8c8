"""What is known once an expression was true, or false.

Only what guards are made of in practice is understood: `has`, comparison with null, `in`,
`request.operation`, and these below `&&`, `||`, `!` and `?:`. Anything else tells nothing. In
particular, that something was read without failing proves nothing to the other side of `&&`, which
would fail in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final, NamedTuple

from celadon.admission.lint.policy_expressions import PolicyExpression
from celadon.admission.lint.subjects import ITEM, NOTHING, OPERATIONS, Facts, Path, there
from celadon.cel.syntax import (
    INDEX,
    OPT_INDEX,
    OPT_SELECT,
    Call,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
)
from celadon.kube.crd import OLD_SELF, SELF

RULE_VARIABLES: Final = frozenset({SELF, OLD_SELF})
"""Those of rules in definitions."""
ROOTS: Final = RULE_VARIABLES | {"object", "oldObject", "request", "params", "namespaceObject"}
_VARIABLES: Final = "variables"
OPERATION: Final = ("request", "operation")
_NULL_ON: Final[Mapping[Path | None, frozenset[str]]] = {
    ("object",): frozenset({"DELETE"}),
    ("oldObject",): frozenset({"CREATE", "CONNECT"}),
}
"""The operations on which a variable is null; on the others it is not."""


class Outcomes(NamedTuple):
    """This is what is known where the expression is true, and where it is false."""

    if_true: Facts = NOTHING
    if_false: Facts = NOTHING

    def negated(self) -> Outcomes:
        return Outcomes(self.if_false, self.if_true)


UNKNOWN: Final = Outcomes()


class Names:
    """This is what the names in an expression stand for: its local variables, by their paths, and
    the policy's `variables`."""

    def __init__(self, variables: Mapping[str, PolicyExpression]) -> None:
        self.variables = variables
        self.locals: dict[str, Path | None] = {}
        self._outcomes: dict[int, Outcomes] = {}
        self._open: set[str] = set()

    def forget(self) -> None:
        """Ready for another expression after one was given up half way."""
        self.locals = {}
        self._open.clear()

    def variable(self, node: Expr) -> PolicyExpression | None:
        """The expression that `variables.x` means."""
        if node.__class__ is Select and not node.test_only:
            base = node.operand
            if base.__class__ is Ident and base.name == _VARIABLES:
                return self.variables.get(node.field)
        return None

    def path(self, node: Expr) -> Path | None:
        """The path that a chain of selections and indices reads."""
        steps: list[str] = []
        while True:
            if node.__class__ is Select:
                meant = self.variable(node)
                if meant is not None and meant.checked is not None:
                    if meant.name in self._open:
                        return None
                    self._open.add(meant.name)
                    base = self.path(meant.checked.root)
                    self._open.discard(meant.name)
                    return None if base is None else base + tuple(reversed(steps))
                steps.append(node.field)
                node = node.operand
            elif node.__class__ is Call and node.function in (INDEX, OPT_INDEX, OPT_SELECT):
                key = node.args[1]
                steps.append(_text(key) or ITEM)
                node = node.args[0]
            elif node.__class__ is Call and _is_empty_default(node):
                node = node.target or node
            elif node.__class__ is Ident:
                base = self.locals.get(node.name, (node.name,) if node.name in ROOTS else None)
                return None if base is None else base + tuple(reversed(steps))
            else:
                return None

    def outcomes(self, node: Expr) -> Outcomes:
        """INVARIANT (one scope per node): a node is always asked about with the same locals."""
        known = self._outcomes.get(id(node))
        if known is None:
            try:
                known = self._derive(node)
            except RecursionError:
                known = UNKNOWN
            self._outcomes[id(node)] = known
        return known

    def _derive(self, node: Expr) -> Outcomes:
        if node.__class__ is Select:
            if node.test_only:
                base = self.path(node.operand)
                return Outcomes(NOTHING if base is None else there((*base, node.field)))
            meant = self.variable(node)
            if meant is None or meant.checked is None:
                return UNKNOWN
            return self.outcomes(meant.checked.root)
        if node.__class__ is Call:
            return self._call(node)
        return UNKNOWN

    def _call(self, node: Call) -> Outcomes:
        args = node.args
        match node.function:
            case "_&&_":
                left, right = self.outcomes(args[0]), self.outcomes(args[1])
                return Outcomes(left.if_true.and_(right.if_true), left.if_false.or_(right.if_false))
            case "_||_":
                left, right = self.outcomes(args[0]), self.outcomes(args[1])
                return Outcomes(left.if_true.or_(right.if_true), left.if_false.and_(right.if_false))
            case "!_":
                return self.outcomes(args[0]).negated()
            case "_?_:_":
                return self._conditional(args)
            case "_==_":
                return self._equals(args)
            case "_!=_":
                return self._equals(args).negated()
            case "@in":
                return self._contained(args)
            case "hasValue" if node.target is not None:
                return Outcomes(there(self.path(node.target)))
        return UNKNOWN

    def _conditional(self, args: tuple[Expr, ...]) -> Outcomes:
        condition, then, otherwise = (self.outcomes(arg) for arg in args)
        yes, no = condition.if_true, condition.if_false
        if _is_literal(args[2], value=False):
            return Outcomes(yes.and_(then.if_true), no.or_(then.if_false))
        if _is_literal(args[1], value=True):
            return Outcomes(yes.or_(otherwise.if_true), no.and_(otherwise.if_false))
        return Outcomes(
            yes.and_(then.if_true).or_(no.and_(otherwise.if_true)),
            yes.and_(then.if_false).or_(no.and_(otherwise.if_false)),
        )

    def _equals(self, args: tuple[Expr, ...]) -> Outcomes:
        left, right = args
        if left.__class__ is Literal:
            left, right = right, left
        if right.__class__ is not Literal:
            return UNKNOWN
        if right.value is None:
            return _null(self.path(left))
        if right.value.__class__ is bool:
            found = self.outcomes(left)
            return found if right.value else found.negated()
        path = self.path(left)
        if path == OPERATION:
            return _operations({_text(right)})
        return UNKNOWN

    def _contained(self, args: tuple[Expr, ...]) -> Outcomes:
        element, container = args
        if container.__class__ is ListLiteral:
            if self.path(element) != OPERATION:
                return UNKNOWN
            texts = {_text(one) for one in container.elements}
            return UNKNOWN if None in texts else _operations(texts)
        base = self.path(container)
        if base is None:
            return UNKNOWN
        key = _text(element)
        return UNKNOWN if key is None else Outcomes(there((*base, key)))


def _null(path: Path | None) -> Outcomes:
    """Return what is known of a value that is null or is not; whether an object is, depends on the
    operation."""
    there_is = there(path)
    if path not in _NULL_ON:
        return Outcomes(NOTHING, there_is)
    without = _NULL_ON[path]
    is_there = there_is.and_(Facts(operations=OPERATIONS - without))
    return Outcomes(Facts(operations=without), is_there)


def _operations(named: Set[str | None]) -> Outcomes:
    wanted = OPERATIONS & named
    return Outcomes(Facts(operations=wanted), Facts(operations=OPERATIONS - wanted))


def _is_empty_default(node: Call) -> bool:
    """`x.orValue({})`: what is in it was in `x`."""
    if node.function != "orValue" or node.target is None:
        return False
    default = node.args[0]
    if default.__class__ is ListLiteral:
        return not default.elements
    return default.__class__ is MapLiteral and not default.entries


def _text(node: Expr) -> str | None:
    """The value of a string literal."""
    if node.__class__ is Literal and isinstance(node.value, str):
        return node.value
    return None


def _is_literal(node: Expr, *, value: bool) -> bool:
    return node.__class__ is Literal and node.value is value
