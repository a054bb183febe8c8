"""JMESPath, read into descriptions of values (`jmespath_queries`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeGuard

from celadon.kube.json_types import JsonObject
from celadon.migrate.cel_text import conjunction, disjunction, negation
from celadon.migrate.kyverno import jmespath_queries
from celadon.migrate.kyverno.jmespath_functions import called, index_of, member_of, values_of
from celadon.migrate.schema_fields import Form
from celadon.migrate.translations import NotTranslated

if TYPE_CHECKING:
    Node = JsonObject


def read(text: str, names: jmespath_queries.Names) -> jmespath_queries.Query:
    """Return what an expression of JMESPath reads. Raises NotTranslated."""
    return read_in(text or "@", names, names)


def read_in(
    text: str, value: jmespath_queries.Query, names: jmespath_queries.Names
) -> jmespath_queries.Query:
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

    names: jmespath_queries.Names

    def read(self, node: Node, current: jmespath_queries.Query) -> jmespath_queries.Query:
        """Return what a tree reads in a value. Raises NotTranslated."""
        kind, children = node["type"], node["children"]
        match kind:
            case "identity" | "current":
                return current
            case "field" if node["value"].startswith("{{"):
                named = read(node["value"][2:-2], self.names)
                if isinstance(current, jmespath_queries.Images):
                    return _image_of(current, named)
                return _at_key(current, named) if _is_map(current) else named
            case "field" if node["value"].startswith(_AS_LITERAL):
                inside = read(node["value"][len(_AS_LITERAL) : -2], self.names)
                if jmespath_queries.form_of(inside) is Form.STRING:
                    raise NotTranslated("a text in backticks, which is no JSON")
                return inside
            case "field" if not node["value"]:  # `""` is the field of no name, which nothing has
                return jmespath_queries.ABSENT
            case "field":
                return member_of(current, node["value"])
            case "subexpression" | "index_expression" | "pipe":
                for child in children:
                    current = self.read(child, current)
                return current
            case "literal":
                return jmespath_queries.Constant(node["value"])
            case "index":
                return index_of(current, node["value"])
            case "flatten":
                return _flattened(self.read(children[0], current))
            case "projection" | "value_projection" | "filter_projection":
                return self._projected(node, current)
            case "multi_select_list":
                return jmespath_queries.Stream(
                    tuple(
                        jmespath_queries.Branch((), self.read(child, current)) for child in children
                    )
                )
            case "or_expression":
                return _either(*(self.read(child, current) for child in children))
            case "and_expression" | "not_expression":
                parts = [jmespath_queries.is_true(self.read(child, current)) for child in children]
                whole = conjunction(parts) if kind == "and_expression" else negation(parts[0])
                return jmespath_queries.Truth(whole)
            case "comparator":
                left, right = (self.read(child, current) for child in children)
                return jmespath_queries.Truth(
                    jmespath_queries.compare(left, _COMPARATORS[node["value"]], right)
                )
            case "expref":
                return jmespath_queries.Expression(lambda value: self.read(children[0], value))
            case "multi_select_dict":
                return self._made(children, current)
            case "function_expression":
                return self._called(node["value"], children, current)
        raise NotTranslated(f"`{kind.replace('_', ' ')}` of JMESPath")

    def _projected(self, node: Node, current: jmespath_queries.Query) -> jmespath_queries.Query:
        children = node["children"]
        base = self.read(children[0], current)
        # `keys(@)[]` stays what it is: a question for one key of a map is shorter than one that
        # goes through all of them.
        is_whole = node["type"] == "projection" and children[1]["type"] == "identity"
        if isinstance(base, jmespath_queries.Keys) and is_whole:
            return base
        stream = jmespath_queries.streamed(
            values_of(base) if node["type"] == "value_projection" else base
        )
        if node["type"] == "filter_projection":
            stream = self._filtered(stream, children[2])
        return _mapped(stream, lambda value: self.read(children[1], value))

    def _filtered(self, stream: jmespath_queries.Stream, node: Node) -> jmespath_queries.Stream:
        branches = []
        for branch in stream.branches:
            if not branch.sources:
                raise NotTranslated("a filter of what is no list in an object")
            last = branch.sources[-1]
            # A filter becomes a condition of the innermost list, which is asked inside of its loop.
            only = conjunction([last.only, jmespath_queries.is_true(self.read(node, branch.value))])
            sources = (*branch.sources[:-1], replace(last, only=only))
            branches.append(replace(branch, sources=sources))
        return jmespath_queries.Stream(tuple(branches))

    def _called(
        self, name: str, nodes: Sequence[Node], current: jmespath_queries.Query
    ) -> jmespath_queries.Query:
        return called(name, [self.read(node, current) for node in nodes])

    def _made(
        self, nodes: Sequence[Node], current: jmespath_queries.Query
    ) -> jmespath_queries.Query:
        """Return an object that is put together: a constant if all its members are."""
        members = {node["value"]: self._member(node["children"][0], current) for node in nodes}
        values = {
            name: member.value
            for name, member in members.items()
            if isinstance(member, jmespath_queries.Constant)
        }
        return (
            jmespath_queries.Constant(values)
            if len(values) == len(members)
            else jmespath_queries.Names(members)
        )

    def _member(self, node: Node, current: jmespath_queries.Query) -> jmespath_queries.Query:
        # `{a: null}` reads the field that is called null, which nobody has.
        is_null = node["type"] == "field" and node["value"] == "null"
        return jmespath_queries.ABSENT if is_null else self.read(node, current)


_COMPARATORS: Final = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def _is_map(value: jmespath_queries.Query) -> TypeGuard[jmespath_queries.Located]:
    return isinstance(value, jmespath_queries.Located) and value.place.shape.form is Form.MAP


def _image_of(
    images: jmespath_queries.Images, name: jmespath_queries.Query
) -> jmespath_queries.Query:
    """Return the image of a container that is called so: of an element that is gone through."""
    if (
        isinstance(name, jmespath_queries.Located)
        and name.place.path == f"{images.place.path}[*].name"
    ):
        shape, steps = images.place.shape.item(), name.place.steps[:-1]
        return jmespath_queries.image_of(
            replace(name.place, shape=shape, steps=steps, path=f"{images.place.path}[*]")
        )
    raise NotTranslated("the image of a container of another list")


def _at_key(value: jmespath_queries.Located, key: jmespath_queries.Query) -> jmespath_queries.Query:
    """Return what a map has at a key that is read."""
    if isinstance(key, jmespath_queries.Computed):
        return jmespath_queries.Located(value.place.at_key(key.text))
    if isinstance(key, jmespath_queries.Located) and not key.place.unsure:
        return jmespath_queries.Located(value.place.at_key(key.place.plain))
    raise NotTranslated("a key that may be absent")


def _mapped(
    stream: jmespath_queries.Stream,
    function: Callable[[jmespath_queries.Query], jmespath_queries.Query],
) -> jmespath_queries.Stream:
    branches: list[jmespath_queries.Branch] = []
    for branch in stream.branches:
        value = function(branch.value)
        if isinstance(
            value, jmespath_queries.Stream
        ):  # a projection in a projection is one of both
            branches += [
                jmespath_queries.Branch((*branch.sources, *item.sources), item.value)
                for item in value.branches
            ]
        # A projection leaves out what is null (the specification of JMESPath, "Projections").
        elif value != jmespath_queries.ABSENT:
            branches.append(replace(branch, value=value))
    return jmespath_queries.Stream(tuple(branches))


def _flattened(value: jmespath_queries.Query) -> jmespath_queries.Query:
    """Return `value[]`: items that are lists give way to their items."""
    if not isinstance(value, jmespath_queries.Stream):
        return value
    branches: list[jmespath_queries.Branch] = []
    for branch in value.branches:
        inner = branch.value
        if isinstance(inner, jmespath_queries.Located) and inner.place.shape.form is Form.LIST:
            branches += [
                jmespath_queries.Branch((*branch.sources, *item.sources), item.value)
                for item in jmespath_queries.streamed(inner).branches
            ]
        else:
            branches.append(branch)
    return jmespath_queries.Stream(tuple(branches))


def _either(
    first: jmespath_queries.Query, second: jmespath_queries.Query
) -> jmespath_queries.Query:
    if isinstance(first, jmespath_queries.Truth) and isinstance(second, jmespath_queries.Truth):
        return jmespath_queries.Truth(disjunction([first.condition, second.condition]))
    if first == jmespath_queries.OPERATION:  # which is never empty
        return first
    if isinstance(first, jmespath_queries.Constant):
        return first if first.value not in (None, "", [], {}, False) else second
    return jmespath_queries.Otherwise(first, second)
