"""Trees as short texts, for the tests of the parser, and expressions made by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from celadon.cel.errors import Source
from celadon.cel.parsing import macros
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.syntax import (
    Ast,
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    Struct,
    Unspecified,
)

ALL_MACROS = (
    *macros.STANDARD_MACROS,
    *macros.OPTIONAL_MACROS,
    *macros.TWO_VARIABLE_MACROS,
    *macros.LISTS_MACROS,
    *macros.MATH_MACROS,
    *macros.BINDINGS_MACROS,
    *macros.BLOCK_MACROS,
    *macros.PROTOS_MACROS,
)
EVERYTHING = ParseOptions(macros=ALL_MACROS, escape_syntax=True)


def tree(text: str, options: ParseOptions = EVERYTHING) -> Ast:
    ast, issues = parse(Source(text), options)
    assert ast is not None, issues.display()
    return ast


def errors(text: str, options: ParseOptions = EVERYTHING) -> list[str]:
    """`line:column message` of each issue."""
    ast, issues = parse(Source(text), options)
    assert (ast is None) == bool(issues)
    shown = []
    for issue in issues:
        line, column = issues.location(issue)
        shown.append(f"{line}:{column + 1} {issue.message}")
    return shown


def show(node: Expr) -> str:
    """Fully bracketed: `_+_(a, 1)`, `a.b`, `loop(range; x; @result = 0; cond; step; result)`."""
    match node:
        case Literal():
            return repr(node.value)
        case Ident():
            return node.name
        case Select():
            return f"{show(node.operand)}.{node.field}{'~test~' if node.test_only else ''}"
        case Call():
            target = "" if node.target is None else f"{show(node.target)}."
            return f"{target}{node.function}({', '.join(map(show, node.args))})"
        case ListLiteral():
            parts = [_mark(i in node.optional) + show(e) for i, e in enumerate(node.elements)]
            return f"[{', '.join(parts)}]"
        case MapLiteral():
            parts = [f"{_mark(e.optional)}{show(e.key)}: {show(e.value)}" for e in node.entries]
            return f"{{{', '.join(parts)}}}"
        case Struct():
            parts = [f"{_mark(f.optional)}{f.name}: {show(f.value)}" for f in node.fields]
            return f"{node.type_name}{{{', '.join(parts)}}}"
        case Comprehension():
            variables = f"{node.iter_var}, {node.iter_var2}" if node.iter_var2 else node.iter_var
            parts = [
                show(node.iter_range),
                variables,
                f"{node.accu_var} = {show(node.accu_init)}",
                show(node.condition),
                show(node.step),
                show(node.result),
            ]
            return f"loop({'; '.join(parts)})"
        case Unspecified():
            return "<nothing>"


def _mark(optional: bool) -> str:
    return "?" if optional else ""


_ATOMS = st.sampled_from(
    ["a", "b.c", ".x", "1", "-1", "2u", "1.5", "'s'", "b'\\x00'", "r'\\'", "true", "null", "[]"]
)


def _compound(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    one, two = inner, st.tuples(inner, inner)
    operators = st.sampled_from(
        ["+", "-", "*", "/", "%", "<", "<=", "==", "!=", " in ", "&&", "||"]
    )
    return st.one_of(
        st.builds(lambda p, op: f"{p[0]}{op}{p[1]}", two, operators),
        st.builds(lambda p: f"({p[0]}) && ({p[1]})", two),
        st.builds(lambda p, q: f"({p[0]} ? {p[1]} : {q})", two, inner),
        st.builds(lambda x: f"({x})", one),
        st.builds(lambda x: f"!({x})", one),
        st.builds(lambda x: f"-({x})", one),
        st.builds(lambda x: f"({x}).field", one),
        st.builds(lambda x: f"({x}).?field", one),
        st.builds(lambda x: f"({x}).`a-b`", one),
        st.builds(lambda p: f"({p[0]})[{p[1]}]", two),
        st.builds(lambda p: f"({p[0]})[?{p[1]}]", two),
        st.builds(lambda p: f"[{p[0]}, ?{p[1]},]", two),
        st.builds(lambda p: f"{{{p[0]}: {p[1]}, ?1: 2}}", two),
        st.builds(lambda x: f"pkg.Type{{field: {x}}}", one),
        st.builds(lambda p: f"f({p[0]}, {p[1]})", two),
        st.builds(lambda p: f"({p[0]}).f({p[1]})", two),
        st.builds(lambda p: f"({p[0]}).all(v, {p[1]})", two),
        st.builds(lambda p: f"({p[0]}).map(v, {p[1]}, v)", two),
        st.builds(lambda p: f"({p[0]}).optMap(v, {p[1]})", two),
        st.builds(lambda x: f"has(({x}).field)", one),
    )


def expressions() -> SearchStrategy[str]:
    """Texts that parse."""
    return st.recursive(_ATOMS, _compound, max_leaves=12)


def token_soup() -> SearchStrategy[str]:
    """Texts of tokens, few of which parse."""
    tokens = (
        *("a", "b", "1", "-", "!", "(", ")", "[", "]", "{", "}", ".", ",", "?", ":", "+", "*"),
        *("==", "in", "&&", "||", "true", "'s'", "1.5", "2u", "has(", "`x`", "for", "@", "&", '"'),
        *(" ", "\n", "-1", "A{", ".f(", ".all(", "x,"),
    )
    return st.lists(st.sampled_from(tokens), max_size=14).map(" ".join)
