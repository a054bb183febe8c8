"""A small tree-walking CEL interpreter to compare the generated code with.

Written for being obvious: one function per node, comprehensions run exactly as their expansion
says (no shapes), every observed step adds its cost where cel-go's tracker adds it. It shares the
libraries' implementations and the folding with the product, and nothing of the code generators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.cel import syntax
from celadon.cel.analysis.attribute_chains import is_attribute
from celadon.cel.analysis.tree_context import Context
from celadon.cel.errors import EvaluationError, Panicked
from celadon.cel.pricing.cost_rules import LIST_CREATE_COST, MAP_CREATE_COST
from celadon.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
)
from celadon.cel.values.maps import MISSING, make_map, refuse_unhashable
from celadon.cel.values.opaque import Opaque
from celadon.cel.values.operations import container_access
from celadon.cel.values.optional_contents import reopened
from celadon.cel.values.optional_values import NONE, Optional
from celadon.cel.values.runtime_types import go_name
from celadon.cel.values.value_display import display

NO_OVERLOAD = "no such overload"
#: What Go calls the classes of JSON values that are no keys.
GO_NAMES = {dict: "map[string]interface {}", list: "[]interface {}", type(None): "<nil>"}


def failed(value: Any) -> bool:
    return isinstance(value, EvaluationError)


class Lazy:
    """The accumulator of a bind: evaluated when first looked at."""

    def __init__(self, node: Expr, names: Mapping[str, Any]) -> None:
        self.node, self.names, self.value = node, names, MISSING


class Interpreter:
    """Evaluates one checked tree; `cost` is what was charged."""

    def __init__(self, context: Context, activation: Mapping[str, Any]) -> None:
        self.context, self.activation, self.cost = context, activation, 0

    def run(self) -> Any:
        try:
            return self.value(self.context.checked.root, {})
        except Panicked as panic:
            return panic

    def value(self, node: Expr, names: Mapping[str, Any], *, branch: bool = False) -> Any:
        if self.context.is_constant(node):
            return self.context.constant(node)
        match node:
            case Ident():
                return self.chain(node, names, branch)
            case Select() if node.test_only:
                return self.presence(node, names)
            case Select():
                return self.chain(node, names, branch)
            case Call():
                return self.call(node, names, branch)
            case ListLiteral():
                return self.list_(node, names)
            case MapLiteral():
                return self.map_(node, names)
            case Comprehension():
                return self.fold(node, names)
            case _:
                raise AssertionError(node)

    # --- attributes -------------------------------------------------------------------------------

    def name(self, node: Ident, names: Mapping[str, Any]) -> Any:
        if node.id in self.context.constants:
            return self.context.constants[node.id]
        if node.name in names:
            value = names[node.name]
            if isinstance(value, Lazy):
                if value.value is MISSING:
                    value.value = self.value(value.node, value.names)
                return value.value
            return value
        name = node.name.removeprefix(".")
        if name not in self.activation:
            return EvaluationError(f"no such attribute(s): {name}")
        return self.activation[name]

    def chain(self, node: Expr, names: Mapping[str, Any], branch: bool = False) -> Any:
        """An attribute with its qualifiers, an optional if one of them is."""
        value, optional = self.qualified(node, names, branch)
        if value is MISSING:
            return NONE
        if optional and failed(value) and self.operand(node) is not None:
            return value
        return Optional(value) if optional else value

    def qualified(self, node: Expr, names: Mapping[str, Any], branch: bool) -> tuple[Any, bool]:
        """A name with selects and indexes: 1 for the attribute, 1 for each step that is applied.
        Also, whether it is an optional, which is then unwrapped, or `MISSING`."""
        steps: list[Expr] = []
        while (operand := self.operand(node)) is not None:
            steps.append(node)
            node = operand
        steps.reverse()
        conditional = isinstance(node, Call) and node.function == syntax.CONDITIONAL
        if isinstance(node, Ident):
            constant = node.id in self.context.constants
            if not branch and not (constant and not steps):
                self.cost += 1
            value = self.name(node, names)
        else:
            if not branch and not conditional:
                self.cost += 1
            value = self.value(node, names)
        value = value if steps else reopened(value)
        optional = value.__class__ is Optional
        if value is NONE:
            return MISSING, True
        value = value.value if optional else value
        if optional and failed(value) and steps:
            key = self.key(steps[0], names)
            if failed(key):
                return key, True
            return container_access.qualifier_error(key) or value, True
        for step in steps:
            if failed(value):
                return value, optional
            marked = isinstance(step, Call) and step.function != syntax.INDEX
            optional = optional or marked
            key = self.key(step, names)
            if failed(key):
                self.cost += 0 if optional else 1
                return key, optional
            try:
                if not optional:
                    self.cost += 1
                    value = container_access.index(value, key)
                    continue
                value = container_access.find_index(value, key)
            except EvaluationError as error:
                return error, optional
            if value is MISSING:
                return MISSING, True
            self.cost += 1
        return value, optional

    @staticmethod
    def operand(node: Expr) -> Expr | None:
        if isinstance(node, Select) and not node.test_only:
            return node.operand
        steps = (syntax.INDEX, syntax.OPT_INDEX, syntax.OPT_SELECT)
        if isinstance(node, Call) and node.function in steps:
            return node.args[0]
        return None

    def key(self, step: Expr, names: Mapping[str, Any]) -> Any:
        if isinstance(step, Select):
            return step.field
        assert isinstance(step, Call)
        key = step.args[1]
        if isinstance(key, Literal):
            return key.value
        if self.context.is_constant(key):
            return self.context.constant(key)
        value = self.value(key, names, branch=True)
        base: Expr = key
        while (inner := self.operand(base)) is not None:
            base = inner
        if isinstance(base, Ident) and base.name not in names and value.__class__ in GO_NAMES:
            return EvaluationError(f"invalid qualifier type: {GO_NAMES[value.__class__]}")
        return value

    def presence(self, node: Select, names: Mapping[str, Any]) -> Any:
        before = self.cost
        value, optional = self.qualified(node.operand, names, branch=False)
        if isinstance(node.operand, Ident | Select) or self.operand(node.operand) is not None:
            base = node.operand
            while (inner := self.operand(base)) is not None:
                base = inner
            conditional = isinstance(base, Call) and base.function == syntax.CONDITIONAL
            self.cost -= 0 if conditional else 1  # a presence test is not charged for itself
        elif self.cost > before:
            self.cost -= 1
        if failed(value):
            return value
        if value is MISSING:
            return False
        try:
            present = container_access.has_field(value, node.field)
            present = present and value.__class__ is not Optional
        except EvaluationError as error:
            self.cost += not optional
            return error
        self.cost += present or not optional
        return present

    # --- calls ------------------------------------------------------------------------------------

    def call(self, node: Call, names: Mapping[str, Any], branch: bool) -> Any:
        match node.function:
            case syntax.LOGICAL_AND | syntax.LOGICAL_OR:
                return self.logic(node, names)
            case syntax.CONDITIONAL:
                test = self.value(node.args[0], names)
                if test.__class__ is not bool:
                    return test if failed(test) else EvaluationError(NO_OVERLOAD)
                chosen = node.args[1 if test else 2]
                value = self.value(chosen, names, branch=True)
                return value if is_attribute(chosen) else reopened(value)
            case syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT:
                return self.chain(node, names, branch)
            case syntax.NOT_STRICTLY_FALSE:
                value = self.value(node.args[0], names)
                self.cost += 1
                return value if value.__class__ is bool else True
            case "or" | "orValue" if node.target is not None:
                return self.otherwise(node, names)
            case syntax.IN if self.is_set(node):
                element = self.value(node.args[0], names)
                items = self.context.constant(node.args[1])
                if failed(element):
                    return element
                refuse_unhashable(element)
                return container_access.contains(element, items)
            case _:
                return self.general(node, names)

    def logic(self, node: Call, names: Mapping[str, Any]) -> Any:
        decisive = node.function == syntax.LOGICAL_OR
        left = self.value(node.args[0], names)
        if left is decisive:
            return decisive
        right = self.value(node.args[1], names)
        if right is decisive:
            return decisive
        for side in (left, right):
            if side.__class__ is not bool:
                return side if failed(side) else EvaluationError(NO_OVERLOAD)
        return not decisive

    def otherwise(self, node: Call, names: Mapping[str, Any]) -> Any:
        assert node.target is not None
        left = self.value(node.target, names)
        if left is NONE:
            return self.value(node.args[0], names)
        return left.value if left.__class__ is Optional and node.function == "orValue" else left

    def is_set(self, node: Call) -> bool:
        c = self.context
        return (
            c.overload_ids(node) == ("in_list",)
            and c.is_constant(node.args[1])
            and all(
                item.__class__.__name__ in ("bool", "int", "float", "str", "Uint")
                for item in c.constant(node.args[1])
            )
        )

    def general(self, node: Call, names: Mapping[str, Any]) -> Any:
        operands = node.args if node.target is None else (node.target, *node.args)
        c = self.context
        stops = len(operands) > 2 or c.is_chosen_late(node) or c.has_constant_pattern(node)
        args: list[Any] = []
        for operand in operands:
            args.append(self.value(operand, names))
            if failed(args[-1]) and stops and len(args) < len(operands):
                return args[-1]
        result = next((arg for arg in args if failed(arg)), None)
        if result is None:
            impl = self.context.impl(node)
            assert impl is not None
            try:
                result = impl(*args)
            except Panicked:
                raise
            except EvaluationError as error:
                result = error
        rule = self.context.cost_rule(node)
        self.cost += 1 if rule is None else rule.tracked(args, result)
        return result

    # --- literals and comprehensions --------------------------------------------------------------

    def parts(self, parts: list[Expr], names: Mapping[str, Any]) -> list[Any] | EvaluationError:
        items: list[Any] = []
        for part in parts:
            item = self.value(part, names)
            if isinstance(item, EvaluationError):
                return item
            items.append(item)
        return items

    def list_(self, node: ListLiteral, names: Mapping[str, Any]) -> Any:
        items = self.parts(list(node.elements), names)
        self.cost += LIST_CREATE_COST
        if isinstance(items, EvaluationError):
            return items
        result: list[Any] = []
        for position, item in enumerate(items):
            if position not in node.optional:
                result.append(item)
            elif item.__class__ is not Optional:
                return EvaluationError(
                    "cannot initialize optional list element from non-optional value "
                    + display(item)
                )
            elif item is not NONE:
                result.append(item.value)
        return result

    def map_(self, node: MapLiteral, names: Mapping[str, Any]) -> Any:
        pairs: list[Any] = []
        for entry in node.entries:
            pair = self.parts([entry.key, entry.value], names)
            if isinstance(pair, EvaluationError):
                self.cost += MAP_CREATE_COST
                return pair
            refuse_unhashable(pair[0])
            pairs.append(pair)
        self.cost += MAP_CREATE_COST
        return make_map(pairs)

    def fold(self, node: Comprehension, names: Mapping[str, Any]) -> Any:
        if node.iter_var == syntax.UNUSED:
            lazy = Lazy(node.accu_init, names)
            return self.value(node.result, {**names, node.accu_var: lazy})
        over = self.value(node.iter_range, names)
        if failed(over):
            return over
        try:
            rounds: list[tuple[Any, ...]] = (
                container_access.iterate2(over)
                if node.iter_var2
                else [(item,) for item in container_access.iterate(over)]
            )
        except EvaluationError as error:
            return error
        accumulator = self.value(node.accu_init, names)
        for items in rounds:
            inner = {**names, node.accu_var: accumulator, node.iter_var: items[0]}
            if node.iter_var2:
                inner[node.iter_var2] = items[1]
            if self.value(node.condition, inner) is False:
                break
            accumulator = self.value(node.step, inner)
        return self.value(node.result, {**names, node.accu_var: accumulator})


def show(value: Any) -> str:
    """A value as text that tells types apart, for comparison."""
    if value.__class__ is list:
        return f"[{', '.join(map(show, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{show(k)}: {show(v)}" for k, v in value.items())) + "}"
    if value.__class__ is Optional:
        return "none" if value is NONE else f"optional({show(value.value)})"
    if isinstance(value, Opaque):
        return f"{go_name(value)}({value.display()})"
    return f"{go_name(value)}({value!r})"
