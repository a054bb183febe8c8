"""A small tree-walking CEL interpreter to compare the generated code with.

Written for being obvious: one function per node, comprehensions run exactly as their expansion
says (no shapes), every observed step adds its cost where cel-go's tracker adds it. It shares the
libraries' implementations and the folding with the product, and nothing of the code generators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.cel import syntax
from celadon.cel.analysis.tree_context import Context
from celadon.cel.cost import LIST_CREATE_COST, MAP_CREATE_COST
from celadon.cel.errors import EvaluationError, Panicked
from celadon.cel.syntax import Call, Comprehension, Expr, Ident, ListLiteral, MapLiteral, Select
from celadon.cel.values import container_access
from celadon.cel.values.maps import MISSING, is_map, make_map, refuse_unhashable
from celadon.cel.values.runtime_types import NONE, Opaque, Optional, display, go_name
from celadon.cel.values.typed_lists import reopened
from tests.properties.attributes import Attribute, Qualifier, planned

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

    def value(self, node: Expr, names: Mapping[str, Any]) -> Any:
        attribute = planned(self.context, node)
        if attribute is not None:
            return self.attribute(node, attribute, names)
        if self.context.is_constant(node):
            return self.context.constant(node)
        match node:
            case Ident():
                return self.context.constants[node.id]
            case Call():
                return self.call(node, names)
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

    def attribute(self, node: Expr, attribute: Attribute, names: Mapping[str, Any]) -> Any:
        """1 for the attribute, unless it is a conditional; a test takes 1 back, whatever it is."""
        value, _ = self.resolved(attribute, names)
        self.cost += attribute.branches is None
        if not (isinstance(node, Select) and node.test_only):
            return value
        self.cost -= not self.context.switches.presence_test_has_cost
        return value is not NONE if value.__class__ is Optional else value

    def resolved(self, attribute: Attribute, names: Mapping[str, Any]) -> tuple[Any, bool]:
        """The value, and whether Go has it as it came in rather than as a value of CEL."""
        if attribute.branches is not None:
            test = self.value(attribute.base, names)
            if test.__class__ is not bool:
                return test if failed(test) else EvaluationError(NO_OVERLOAD), False
            return self.resolved(attribute.branches[not test], names)
        base = attribute.base
        if attribute.is_name:
            assert isinstance(base, Ident)
            value, native = self.name(base, names), base.name not in names
        else:
            value, native = self.value(base, names), False
        if failed(value):
            return value, False
        return self.qualified(value, attribute.qualifiers, names), native

    def qualified(self, value: Any, qualifiers: list[Qualifier], names: Mapping[str, Any]) -> Any:
        """1 for each qualifier that is applied, in an optional if it finds something."""
        if value is NONE:
            return NONE
        value = reopened(value)
        optional = value.__class__ is Optional
        if optional:
            value = value.value
        for one in qualifiers:
            optional = optional or one.optional
            key, applied = self.key(one, names), True
            if failed(key):
                found = key
            elif failed(value):  # what the optional holds
                found = container_access.qualifier_error(key) or value
            else:
                found, applied = self.found(value, key, one, optional=optional)
            self.cost += applied and not (optional and failed(found))
            if failed(found) or not applied:
                return found
            value = found
        return Optional(value) if optional else value

    @staticmethod
    def found(value: Any, key: Any, one: Qualifier, *, optional: bool) -> tuple[Any, bool]:
        try:
            if one.is_test and not optional:
                present = container_access.has_field(value, key)
                return present and value.__class__ is not Optional, True
            if not optional:
                return container_access.index(value, key), True
            find = container_access.tested if one.is_test else container_access.find_index
            found = find(value, key)
        except EvaluationError as error:
            return error, True
        return (NONE, False) if found is MISSING else (found, True)

    def key(self, one: Qualifier, names: Mapping[str, Any]) -> Any:
        if one.attribute is None:
            return one.constant
        value, native = self.resolved(one.attribute, names)
        if native and value.__class__ in GO_NAMES:
            return EvaluationError(f"invalid qualifier type: {GO_NAMES[value.__class__]}")
        return value

    # --- calls ------------------------------------------------------------------------------------

    def call(self, node: Call, names: Mapping[str, Any]) -> Any:
        match node.function:
            case syntax.LOGICAL_AND | syntax.LOGICAL_OR:
                return self.logic(node, names)
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
        many = len(operands) > 2 or c.is_variadic(node)
        stops = many or c.is_chosen_late(node) or c.has_constant_pattern(node)
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
    if is_map(value):
        return "{" + ", ".join(sorted(f"{show(k)}: {show(v)}" for k, v in value.items())) + "}"
    if value.__class__ is Optional:
        return "none" if value is NONE else f"optional({show(value.value)})"
    if isinstance(value, Opaque):
        return f"{go_name(value)}({value.display()})"
    return f"{go_name(value)}({value!r})"
