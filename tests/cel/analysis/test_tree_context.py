"""What is sure about the class of a value before anything runs."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, Switches, types
from celadon.cel.analysis.constant_folding import constant_identifiers, fold
from celadon.cel.analysis.tree_context import Context
from celadon.cel.cost import constant
from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.libraries import optionals
from celadon.cel.syntax import Call

VARIABLES = {"b": types.BOOL, "d": types.DYN, "n": types.INT}
ENVIRONMENT = Environment(
    VARIABLES, libraries=(optionals.library(),), switches=Switches(optional_syntax=True)
)


def context_of(text: str) -> Context:
    checked = ENVIRONMENT.compile(text).checked()
    declarations = ENVIRONMENT.declarations
    constants = constant_identifiers(checked, declarations)
    folded = fold(checked, declarations.functions, constants)
    return Context(checked, folded, declarations.functions, constants, ENVIRONMENT.switches)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", int),
        ("'x'", str),
        ("1 + 2", int),
        ("b ? 1 : 2", int),
        ("b ? n : 2", None),
        ("b ? 2 : n", None),
        ("b ? dyn(1) : dyn('x')", None),
        ("b ? 'x' : 'y' + 'z'", str),
        ("n", None),
        ("d", None),
        ("[1, 2][n]", None),
        ("{'a': 1}['a']", None),
        ("optional.of(1).value()", None),
        ("optional.of(1).orValue(2)", None),
        ("optional.of(1).or(optional.none())", None),
        ("[n]", list),
        ("has(d.f)", bool),
        ("[n].all(x, x > 1)", bool),
        ("b ? has(d.f) : b && b", bool),
        ("b ? has(d[?'g'].f) : b && b", None),
        ("b ? has(optional.of(d).f) : b && b", None),
        ("b ? (b ? has(d[?'g'].f) : true) : true", None),
        ("b ? !has(d[?'g'].f) : true", bool),
    ],
)
def test_certain_classes(text: str, expected: type | None) -> None:
    context = context_of(text)
    assert context.certain(context.checked.ast.root) is expected


@pytest.mark.parametrize(
    ("text", "runnable"),
    [
        ("d.getHours()", ["timestamp_to_hours", "duration_to_hours"]),
        ("d.getHours('UTC')", ["timestamp_to_hours_with_tz"]),
        ("timestamp(n).getHours()", ["timestamp_to_hours"]),
        ("optional.of(n).hasValue()", ["optional_hasValue"]),
        ("!b", ["logical_not"]),
    ],
)
def test_overloads_that_may_run(text: str, runnable: list[str]) -> None:
    context = context_of(text)
    root = context.checked.ast.root
    assert isinstance(root, Call)
    assert [one.id for one in context.resolved_call(root).runnable] == runnable


def test_an_operator_looks_at_its_operands_itself() -> None:
    """So whatever the checker left, every overload may run."""
    context = context_of("n + 1")
    root = context.checked.ast.root
    assert isinstance(root, Call)
    assert [one.id for one in context.resolved_call(root).candidates] == ["add_int64"]
    assert len(context.resolved_call(root).runnable) > 5


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("n + 1", None),
        ("'a' + string(d)", None),
        ("[n] + [n]", 1),
        ("dyn([n]) + [n]", 1),
        ("'a'.startsWith(string(n))", None),
    ],
)
def test_rules_that_charge(text: str, fixed: int | None) -> None:
    context = context_of(text)
    root = context.checked.ast.root
    assert isinstance(root, Call)
    rule = context.cost_rule(root)
    assert (None if rule is None else rule.fixed) == fixed


def test_a_function_charges_where_its_overload_does_not() -> None:
    """And the overload comes first, if it is the only one."""
    own, common = constant(7), constant(3)
    one = Overload("one", (types.INT,), types.INT, cost=own)
    two = Overload("two", (types.STRING,), types.INT)
    library = Library("f", functions=(Function("f", (one, two), cost=common),))
    environment = Environment(VARIABLES, libraries=(library,))
    rules = []
    for text in ("f(n)", "f('a')", "f(d)"):
        checked = environment.compile(text).checked()
        functions = environment.declarations.functions
        context = Context(checked, {}, functions, {}, environment.switches)
        root = checked.ast.root
        assert isinstance(root, Call)
        rules.append(context.cost_rule(root))
    assert rules == [own, common, common]


@pytest.mark.parametrize(
    ("text", "arity", "single"), [("d.getHours()", 1, False), ("d.getHours('UTC')", 2, True)]
)
def test_without_a_check_the_number_of_arguments_chooses(
    text: str, arity: int, single: bool
) -> None:
    ast, _ = ENVIRONMENT.parse(text)
    assert ast is not None
    checked = ENVIRONMENT.unchecked(ast)
    context = Context(checked, {}, ENVIRONMENT.declarations.functions, {}, ENVIRONMENT.switches)
    assert isinstance(checked.root, Call)
    found = context.resolved_call(checked.root).candidates
    assert {len(one.params) for one in found} == {arity}
    assert (len(found) == 1) is single
    assert context.resolved_call(checked.root).runnable == found
