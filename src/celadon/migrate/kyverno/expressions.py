"""JMESPath, read into descriptions of values (`queries`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeGuard

from celadon.kube.json_types import JsonObject
from celadon.migrate.cel_text import conjunction, disjunction, negation
from celadon.migrate.kyverno import queries
from celadon.migrate.kyverno.functions import called, index_of, member_of, values_of
from celadon.migrate.schema_fields import Form
from celadon.migrate.translations import NotTranslated

if TYPE_CHECKING:
    Node = JsonObject


def read(text: str, names: queries.Names) -> queries.Query:
    """Return what an expression of JMESPath reads. Raises NotTranslated."""
    return read_in(text or "@", names, names)


def read_in(text: str, value: queries.Query, names: queries.Names) -> queries.Query:
    """Return what an expression reads in a value; an empty one, all of it. Raises
    NotTranslated."""
    try:
        return Reader(names).read(parsed(text), value) if text.strip() else value
    except RecursionError:
        raise NotTranslated("an expression in brackets in brackets, too deep to be read") from None


def parsed(text: str) -> Node:
    """Return the syntax tree of an expression of JMESPath. Raises NotTranslated."""
    # late: what is written in CEL is translated without it
    from jmespath.exceptions import JMESPathError
    from jmespath.parser import Parser

    try:
        # jmespath parses; what it would search for is put together here, and never run.
        return dict(Parser().parse(_variables_as_fields(text.strip())).parsed)
    except JMESPathError as error:
        reason = str(error).partition("\n")[0]
        raise NotTranslated(f"`{text.strip()}` is no JMESPath: {reason}") from None
    except RecursionError:
        raise NotTranslated("an expression in brackets in brackets, too deep to be read") from None


def _variables_as_fields(text: str) -> str:
    """Return an expression in which texts and literals that are one variable are fields that are
    called so."""
    for quote, begin in (("'", "{{"), ("`", _AS_LITERAL)):
        parts = []
        index = 0
        while (start := text.find(f"{quote}{{{{", index)) >= 0:
            end = text.find(f"}}}}{quote}", start + 3)
            if end < 0:
                break
            parts += [text[index:start], json.dumps(f"{begin}{text[start + 3 : end]}}}}}")]
            index = end + 3
        text = "".join((*parts, text[index:]))
    return text


_AS_LITERAL: Final = "`{{"
"""A field begins so that is a variable in backticks, which has to be JSON."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads syntax trees, with what stands around an expression by name."""

    names: queries.Names

    def read(self, node: Node, current: queries.Query) -> queries.Query:
        """Return what a tree reads in a value. Raises NotTranslated."""
        kind, children = node["type"], node["children"]
        match kind:
            case "identity" | "current":
                return current
            case "field" if node["value"].startswith("{{"):
                named = read(node["value"][2:-2], self.names)
                if isinstance(current, queries.Images):
                    return _image_of(current, named)
                return _at_key(current, named) if _is_map(current) else named
            case "field" if node["value"].startswith(_AS_LITERAL):
                inside = read(node["value"][len(_AS_LITERAL) : -2], self.names)
                if queries.form_of(inside) is Form.STRING:
                    raise NotTranslated("a text in backticks, which is no JSON")
                return inside
            case "field" if not node["value"]:  # `""` is the field of no name, which nothing has
                return queries.ABSENT
            case "field":
                return member_of(current, node["value"])
            case "subexpression" | "index_expression" | "pipe":
                for child in children:
                    current = self.read(child, current)
                return current
            case "literal":
                return queries.Constant(node["value"])
            case "index":
                return index_of(current, node["value"])
            case "flatten":
                return _flattened(self.read(children[0], current))
            case "projection" | "value_projection" | "filter_projection":
                return self._projected(node, current)
            case "multi_select_list":
                return queries.Stream(
                    tuple(queries.Branch((), self.read(child, current)) for child in children)
                )
            case "or_expression":
                return _either(*(self.read(child, current) for child in children))
            case "and_expression" | "not_expression":
                parts = [queries.is_true(self.read(child, current)) for child in children]
                whole = conjunction(parts) if kind == "and_expression" else negation(parts[0])
                return queries.Truth(whole)
            case "comparator":
                left, right = (self.read(child, current) for child in children)
                return queries.Truth(queries.compare(left, _COMPARATORS[node["value"]], right))
            case "expref":
                return queries.Expression(lambda value: self.read(children[0], value))
            case "multi_select_dict":
                return self._made(children, current)
            case "function_expression":
                return self._called(node["value"], children, current)
        raise NotTranslated(f"`{kind.replace('_', ' ')}` of JMESPath")

    def _projected(self, node: Node, current: queries.Query) -> queries.Query:
        children = node["children"]
        base = self.read(children[0], current)
        # `keys(@)[]` stays what it is: a question for one key of a map is shorter than one that
        # goes through all of them.
        is_whole = node["type"] == "projection" and children[1]["type"] == "identity"
        if isinstance(base, queries.Keys) and is_whole:
            return base
        stream = queries.streamed(values_of(base) if node["type"] == "value_projection" else base)
        if node["type"] == "filter_projection":
            stream = self._filtered(stream, children[2])
        return _mapped(stream, lambda value: self.read(children[1], value))

    def _filtered(self, stream: queries.Stream, node: Node) -> queries.Stream:
        branches = []
        for branch in stream.branches:
            if not branch.sources:
                raise NotTranslated("a filter of what is no list in an object")
            last = branch.sources[-1]
            # A filter becomes a condition of the innermost list, which is asked inside of its loop.
            only = conjunction([last.only, queries.is_true(self.read(node, branch.value))])
            sources = (*branch.sources[:-1], replace(last, only=only))
            branches.append(replace(branch, sources=sources))
        return queries.Stream(tuple(branches))

    def _called(self, name: str, nodes: Sequence[Node], current: queries.Query) -> queries.Query:
        return called(name, [self.read(node, current) for node in nodes])

    def _made(self, nodes: Sequence[Node], current: queries.Query) -> queries.Query:
        """Return an object that is put together: a constant if all its members are."""
        members = {node["value"]: self._member(node["children"][0], current) for node in nodes}
        values = {
            name: member.value
            for name, member in members.items()
            if isinstance(member, queries.Constant)
        }
        return queries.Constant(values) if len(values) == len(members) else queries.Names(members)

    def _member(self, node: Node, current: queries.Query) -> queries.Query:
        # `{a: null}` reads the field that is called null, which nobody has.
        is_null = node["type"] == "field" and node["value"] == "null"
        return queries.ABSENT if is_null else self.read(node, current)


_COMPARATORS: Final = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def _is_map(value: queries.Query) -> TypeGuard[queries.Located]:
    return isinstance(value, queries.Located) and value.place.shape.form is Form.MAP


def _image_of(images: queries.Images, name: queries.Query) -> queries.Query:
    """Return the image of a container that is called so: of an element that is gone through."""
    if isinstance(name, queries.Located) and name.place.path == f"{images.place.path}[*].name":
        shape, steps = images.place.shape.item(), name.place.steps[:-1]
        return queries.image_of(
            replace(name.place, shape=shape, steps=steps, path=f"{images.place.path}[*]")
        )
    raise NotTranslated("the image of a container of another list")


def _at_key(value: queries.Located, key: queries.Query) -> queries.Query:
    """Return what a map has at a key that is read."""
    if isinstance(key, queries.Computed):
        return queries.Located(value.place.at_key(key.text))
    if isinstance(key, queries.Located) and not key.place.unsure:
        return queries.Located(value.place.at_key(key.place.plain))
    raise NotTranslated("a key that may be absent")


def _mapped(
    stream: queries.Stream, function: Callable[[queries.Query], queries.Query]
) -> queries.Stream:
    branches: list[queries.Branch] = []
    for branch in stream.branches:
        value = function(branch.value)
        if isinstance(value, queries.Stream):  # a projection in a projection is one of both
            branches += [
                queries.Branch((*branch.sources, *item.sources), item.value)
                for item in value.branches
            ]
        # A projection leaves out what is null (the specification of JMESPath, "Projections").
        elif value != queries.ABSENT:
            branches.append(replace(branch, value=value))
    return queries.Stream(tuple(branches))


def _flattened(value: queries.Query) -> queries.Query:
    """Return `value[]`: items that are lists give way to their items."""
    if not isinstance(value, queries.Stream):
        return value
    branches: list[queries.Branch] = []
    for branch in value.branches:
        inner = branch.value
        if isinstance(inner, queries.Located) and inner.place.shape.form is Form.LIST:
            branches += [
                queries.Branch((*branch.sources, *item.sources), item.value)
                for item in queries.streamed(inner).branches
            ]
        else:
            branches.append(branch)
    return queries.Stream(tuple(branches))


def _either(first: queries.Query, second: queries.Query) -> queries.Query:
    if isinstance(first, queries.Truth) and isinstance(second, queries.Truth):
        return queries.Truth(disjunction([first.condition, second.condition]))
    if first == queries.OPERATION:  # which is never empty
        return first
    if isinstance(first, queries.Constant):
        return first if first.value not in (None, "", [], {}, False) else second
    return queries.Otherwise(first, second)
