"""The checker: what it finds, what it rewrites, what it leaves alone.

Most of what it says is in tests/cases/cel; here is what a case cannot show.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from celadon.cel import syntax
from celadon.cel.checking.checker import check
from celadon.cel.checking.scope import Declarations
from celadon.cel.declarations import Function, Library, ObjectType, Overload, Variable
from celadon.cel.errors import Source
from celadon.cel.library.standard import LIBRARY
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.syntax import Ast, CheckedAst
from celadon.cel.types import BOOL, DYN, INT, STRING, object_type
from tests.cel.types_in_tests import parse_type


def _parse(text: str) -> Ast:
    ast, issues = parse(Source(text), ParseOptions())
    assert ast is not None, issues.display()
    return ast


def _declare(cross_type: bool = True, container: str = "", **variables: str) -> Declarations:
    declared = [Variable(name, parse_type(t)) for name, t in variables.items()]
    return Declarations.build(
        (LIBRARY,), declared, container=container, cross_type_numeric_comparisons=cross_type
    )


def _check(text: str, scope: Declarations) -> CheckedAst:
    checked, issues = check(_parse(text), scope)
    assert checked is not None, issues.display()
    return checked


def _messages(text: str, scope: Declarations) -> list[str]:
    checked, issues = check(_parse(text), scope)
    assert checked is None
    return [issue.message for issue in issues]


def test_a_tree_without_rewritten_names_is_the_parsed_one() -> None:
    ast = _parse("[1].all(x, x.y == 2 && has(object.spec.z))".replace("x.y", "x"))
    checked, _ = check(ast, _declare(object="dyn"))
    assert checked is not None
    assert checked.root is ast.root


def test_rewriting_replaces_ancestors_and_shares_the_rest() -> None:
    ast = _parse("[.x, 1 + 2]")
    checked, _ = check(ast, _declare(x="int"))
    assert checked is not None
    before, after = ast.root, checked.root
    assert isinstance(before, syntax.ListLiteral)
    assert isinstance(after, syntax.ListLiteral)
    assert after.id == before.id
    assert after.elements[1] is before.elements[1]
    assert isinstance(before.elements[0], syntax.Ident)
    assert before.elements[0].name == ".x"
    assert isinstance(after.elements[0], syntax.Ident)
    assert after.elements[0].name == "x"


def test_a_rewritten_chain_keeps_its_ids() -> None:
    scope = _declare().extend([Variable("a.b", DYN)])
    checked = _check("a.b.c.d", scope)
    outer = checked.root
    assert isinstance(outer, syntax.Select)
    inner = outer.operand
    assert isinstance(inner, syntax.Select)
    assert isinstance(inner.operand, syntax.Ident)
    assert inner.operand.name == "a.b"
    assert checked.references[inner.operand.id].name == "a.b"


@pytest.mark.parametrize(
    "text",
    [
        "1 < 2.5",
        "1u >= 1",
        "[1.5].all(x, x < 2.0) && true || 1.0 <= 2",
    ],
)
def test_mixed_comparisons_need_the_switch(text: str) -> None:
    assert _check(text, _declare()).type is BOOL


def test_without_the_switch_mixed_comparisons_are_refused() -> None:
    (message,) = _messages("1 < 2.5", _declare(cross_type=False))
    assert message == "found no matching overload for '_<_' applied to '(int, double)'"


def test_the_filter_on_mixed_comparisons_is_lost_after_a_comprehension() -> None:
    scope = _declare(cross_type=False)
    assert _check("[1].all(x, x < 2.5) || 1 < 2.5", scope).type is BOOL
    assert len(_messages("1 < 2.5 || [1].all(x, x < 2.5)", scope)) == 1


def test_fresh_variables_are_numbered_by_the_overloads_tried() -> None:
    assert _messages("[].a + [[]].b", _declare()) == [
        "type 'list(_var0)' does not support field selection",
        "type 'list(list(_var1))' does not support field selection",
    ]
    # the addition takes _var2, for the one overload of ten that has a parameter
    assert _messages("([] + []).a + [].b", _declare()) == [
        "type 'list(_var1)' does not support field selection",
        "type 'list(_var3)' does not support field selection",
    ]


def test_declared_fields() -> None:
    pod = ObjectType("Pod", {"name": STRING, "spec": object_type("Spec")})
    spec = ObjectType("Spec", {"__namespace__": INT})
    scope = _declare().extend([Variable("pod", object_type("Pod"))], [pod, spec])
    assert _check("pod.name", scope).type is STRING
    assert _messages("pod.nam", scope) == ["undefined field 'nam'"]
    assert _messages("pod.spec.namespace", scope) == ["undefined field 'namespace'"]


def test_reserved_words_as_field_names() -> None:
    record = ObjectType("Spec", {"__namespace__": INT, "if": STRING})
    scope = Declarations.build(
        (LIBRARY,), [Variable("s", object_type("Spec"))], objects=[record], keyword_fields=True
    )
    assert _check("s.namespace", scope).type is INT
    assert _check("s.__namespace__", scope).type is INT
    assert _check("s.if", scope).type is STRING
    assert _messages("s.package", scope) == ["undefined field 'package'"]


def test_the_container_is_named_in_messages() -> None:
    assert _messages("x", _declare(container="a.b")) == [
        "undeclared reference to 'x' (in container 'a.b')"
    ]


@pytest.mark.parametrize("text", ["x", "b.x", "a.b.x", ".a.b.x"])
def test_names_are_found_from_the_container_outwards(text: str) -> None:
    scope = _declare(container="a.b").extend([Variable("a.b.x", INT)])
    assert _check(text, scope).references[_check(text, scope).root.id].name == "a.b.x"


def test_an_alias_stands_for_the_first_segment() -> None:
    scope = Declarations.build(
        (LIBRARY,), [Variable("long.name.x", INT)], aliases={"short": "long.name"}
    )
    assert _check("short.x", scope).type is INT


def test_an_enum_constant_is_an_int_with_a_value() -> None:
    scope = Declarations.build((LIBRARY,), enums={"pkg.Color.RED": 1})
    checked = _check("pkg.Color.RED", scope)
    assert checked.type is INT
    assert checked.references[checked.root.id].value == 1


def test_a_variable_hides_a_type_of_its_name() -> None:
    assert _check("int", _declare(int="string")).type is STRING


def test_optional_access_is_typed_without_the_library() -> None:
    scope = _declare(m="map(string, int)")
    assert _check("m.?a", scope).type.display() == "optional_type(int)"
    assert _check("m.?a.b", _declare(m="dyn")).type.display() == "optional_type(dyn)"
    assert _messages("1.?a", scope) == ["type 'int' does not support field selection"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[?1]", "expected type 'optional_type(int)' but found 'int'"),
        ("{?'a': 1}", "expected type 'optional_type(int)' but found 'int'"),
    ],
)
def test_an_optional_element_must_be_optional(text: str, expected: str) -> None:
    assert _messages(text, _declare()) == [expected]


def test_optional_elements_are_unwrapped() -> None:
    scope = _declare(m="map(string, int)", d="dyn")
    assert _check("[?m.?a, 1]", scope).type.display() == "list(int)"
    assert _check("{?'a': m.?a}", scope).type.display() == "map(string, int)"
    assert _check("[?d]", scope).type.display() == "list(dyn)"


@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [
        ("(", ")"),
        ("[", "]"),
        ("!(", ")"),
        ("{1: ", "}"),
        ("[1].all(x, ", ")"),
        ("true ? true : ", ""),
    ],
)
def test_what_the_parser_admits_is_not_too_deep(prefix: str, suffix: str) -> None:
    checked = _check(prefix * 240 + "true" + suffix * 240, _declare())
    assert checked.types[checked.root.id] is not None


@pytest.mark.usefixtures("usual_calls")
def test_what_is_too_deep_for_python_is_an_issue() -> None:
    node: syntax.Expr = syntax.Literal(1, 1)
    for number in range(2, 5000):
        node = syntax.Call(number, "-_", None, (node,))
    source = Source("-1")
    checked, issues = check(Ast(node, source, {}), _declare())
    assert checked is None
    assert [issue.message for issue in issues] == ["expression is nested too deeply to be checked"]


# Each `{a: a}` has the type of `a` twice: a type of 2^30 parts, which nobody can walk through.
_DOUBLED: Final = "[1]" + ".map(a, {a: a})" * 30


@pytest.mark.parametrize(
    "text",
    [
        _DOUBLED,
        f"{_DOUBLED} && true",
        f"{_DOUBLED} == {_DOUBLED}",
        f"[{_DOUBLED}, {_DOUBLED}]",
        f"{{1: {_DOUBLED}}}[1].name",
    ],
)
def test_types_that_double_in_each_step_are_an_issue(text: str) -> None:
    assert _messages(text, _declare()) == ["types of the expression are too large to be checked"]


@pytest.mark.parametrize(
    "text",
    ["[1]" + ".map(a, {a: a})" * 8, "[1]" + ".map(a, [a])" * 200, "[" * 240 + "]" * 240],
)
def test_types_that_somebody_might_write_are_not_too_large(text: str) -> None:
    checked = _check(text, _declare())
    assert checked.types[checked.root.id] is not None


def test_long_chains_of_selections_do_not_recurse() -> None:
    node: syntax.Expr = syntax.Ident(1, "d")
    for number in range(2, 3000):
        node = syntax.Select(number, node, "a")
    checked, _ = check(Ast(node, Source("d.a"), {}), _declare(d="dyn"))
    assert checked is not None
    assert checked.type is DYN


def test_libraries_without_functions_still_resolve_types() -> None:
    scope = Declarations.build((Library("types", types=(object_type("net.Thing"),)),))
    assert _check("net.Thing", scope).type.display() == "type(net.Thing)"


def test_a_variable_is_not_a_message_type() -> None:
    assert _messages("x{a: 1}", _declare(x="int")) == [
        "undeclared reference to 'x' (in container '')"
    ]


def test_optional_message_fields_are_unwrapped() -> None:
    text = "google.protobuf.Duration{?seconds: m.?a}"
    assert _check(text, _declare(m="map(string, int)")).type.display() == "duration"
    assert _messages(text, _declare(m="map(string, string)")) == [
        "expected type of field 'seconds' is 'int' but provided type is 'string'"
    ]


def test_a_placeholder_of_the_parser_is_an_issue() -> None:
    checked, issues = check(Ast(syntax.Unspecified(1), Source("x"), {1: 0}), _declare())
    assert checked is None
    assert [issue.message for issue in issues] == ["unexpected unspecified type: unspecified"]


def test_an_optional_selection_needs_a_name() -> None:
    operand, field = syntax.Ident(2, "d"), syntax.Literal(3, 1)
    node = syntax.Call(1, syntax.OPT_SELECT, None, (operand, field))
    checked, issues = check(Ast(node, Source("d.?a"), {}), _declare(d="dyn"))
    assert checked is None
    assert [issue.message for issue in issues] == ["unsupported optional field selection: 1"]


def test_at_most_a_hundred_issues_are_kept() -> None:
    checked, issues = check(_parse("[" + ", ".join(["x"] * 120) + "]"), _declare())
    assert checked is None
    assert issues.display().endswith("\n20 more errors were truncated")


def test_what_has_a_field_is_dynamic_from_there_on() -> None:
    scope = _declare()
    assert _check("[].all(x, x.f && x == 1 && x == 'a')", scope).type == BOOL
    assert _messages("[].all(x, x == 1 && x == 'a')", scope) != []


def test_a_global_behind_a_local_of_its_name_keeps_its_dot() -> None:
    for text, name in (("['a'].map(x, .x)", ".x"), ("['a'].map(x, .x.y)", ".x.y")):
        variables: dict[str, Any] = {"x": "int", "x.y": "string"}
        checked = _check(text, _declare(**variables))
        assert name in {one.name for one in checked.references.values()}
    checked = _check("['a'].map(z, .x)", _declare(x="int"))
    assert {"x"} < {one.name for one in checked.references.values()}


def test_functions_may_have_qualified_names() -> None:
    overload = Overload("f", (INT,), STRING, str)
    library = Library("own", functions=(Function("one.two.three.f", (overload,)),))
    scope = Declarations.build((LIBRARY, library), (), container="one.two")
    for text in ("one.two.three.f(1)", ".one.two.three.f(1)", "three.f(1)", "two.three.f(1)"):
        assert _check(text, scope).type == STRING
    assert _messages("two.f(1)", scope) != []
