"""JMESPath as conditions of CEL: what an expression reads, and what can be asked of it.

An expression has no text of its own in CEL: a projection (`containers[].ports[].hostPort`) becomes
nested macros only when something is asked of its items. So an expression is first read as a
`Query`, a description of the values, and then asked: is there one that …, is it true, how many are
there. `null`, in JMESPath what is absent, is the absence of a value here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Final, TypeGuard

from celadon.kube import Json
from celadon.kube.json_types import JsonObject
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    choice,
    comparison,
    conjunction,
    constant,
    disjunction,
    filled,
    literal,
    member,
    negation,
    quoted,
    truth,
)
from celadon.migrate.shapes import Form, Place, Shape
from celadon.migrate.translations import NotTranslated

if TYPE_CHECKING:
    Node = JsonObject


@dataclass(frozen=True, slots=True)
class Located:
    """A value somewhere in an object; absent where it is not there."""

    place: Place


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that the expression itself has."""

    value: Json


@dataclass(frozen=True, slots=True)
class Computed:
    """A value that is always there: part of the request, or the result of a function."""

    text: str
    form: Form = Form.STRING


@dataclass(frozen=True, slots=True)
class Truth:
    """A value that is true or false."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a map or object."""

    place: Place


@dataclass(frozen=True, slots=True)
class Length:
    """The query counts the items or characters of a value."""

    of: Query


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A value, or another where it is absent, empty or false."""

    first: Query
    second: Query


@dataclass(frozen=True, slots=True)
class Source:
    """A list or map that is gone through, as far as a condition lets."""

    place: Place
    variable: str
    """What an item, or a key, is called."""
    only: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class Branch:
    """Values of the items of lists, each list found in an item of the one before."""

    sources: tuple[Source, ...]
    value: Query


@dataclass(frozen=True, slots=True)
class Stream:
    """The result of a projection: values of several branches, those that are absent left out."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """Something that has members by name: the request, or what stands around it."""

    members: Mapping[str, Query]


@dataclass(frozen=True, slots=True)
class Reference:
    """A leaf of a pattern that is a variable."""

    query: Query


Query = Located | Constant | Computed | Truth | Keys | Length | Otherwise | Stream | Names
ABSENT: Final = Constant(None)
OPERATION: Final = Computed("request.operation")
PARAMS: Final = "params"
"""The root of places in a ConfigMap that a rule reads."""


# --- Reading -----------------------------------------------------------------


_BEGIN, _END = "'{{", "}}'"
"""Around a text that is a variable, in an expression: it is read as if it stood alone, as a field
that is called so."""


def read(text: str, names: Names) -> Query:
    """Return what an expression of JMESPath reads. Raises NotTranslated."""
    try:
        return Reader(names).read(parsed(text), names)
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
    parts = []
    at = 0
    while (start := text.find(_BEGIN, at)) >= 0 and (end := text.find(_END, start + 3)) >= 0:
        parts += [text[at:start], json.dumps(text[start + 1 : end + 2])]
        at = end + len(_END)
    return "".join((*parts, text[at:]))


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads syntax trees, with what stands around an expression by name."""

    names: Names

    def read(self, node: Node, current: Query) -> Query:
        """Return what a tree reads in a value. Raises NotTranslated."""
        kind, children = node["type"], node["children"]
        match kind:
            case "identity" | "current":
                return current
            case "field" if node["value"].startswith("{{"):
                named = read(node["value"][2:-2], self.names)
                return _at_key(current, named) if _is_map(current) else named
            case "field" if not node["value"]:  # `""` is the field of no name, which nothing has
                return ABSENT
            case "field":
                return member_of(current, node["value"])
            case "subexpression" | "index_expression" | "pipe":
                for child in children:
                    current = self.read(child, current)
                return current
            case "literal":
                return Constant(node["value"])
            case "index":
                return _indexed(current, node["value"])
            case "flatten":
                return _flattened(self.read(children[0], current))
            case "projection" | "value_projection" | "filter_projection":
                return self._projected(node, current)
            case "multi_select_list":
                return Stream(tuple(Branch((), self.read(one, current)) for one in children))
            case "or_expression":
                return _either(*(self.read(one, current) for one in children))
            case "and_expression" | "not_expression":
                parts = [is_true(self.read(one, current)) for one in children]
                whole = conjunction(parts) if kind == "and_expression" else negation(parts[0])
                return Truth(whole)
            case "comparator":
                left, right = (self.read(one, current) for one in children)
                return Truth(compare(left, _COMPARATORS[node["value"]], right))
            case "function_expression":
                return self._called(node["value"], children, current)
        raise NotTranslated(f"`{kind.replace('_', ' ')}` of JMESPath")

    def _projected(self, node: Node, current: Query) -> Query:
        children = node["children"]
        base = self.read(children[0], current)
        # `keys(@)[]` stays what it is: a question for one key of a map is shorter than one that
        # goes through all of them.
        is_whole = node["type"] == "projection" and children[1]["type"] == "identity"
        if isinstance(base, Keys) and is_whole:
            return base
        if node["type"] == "value_projection":
            # CEL's macros go over the keys of a map; objects with named fields have none.
            raise NotTranslated("a projection of the values of an object (`*`)")
        stream = _streamed(base)
        if node["type"] == "filter_projection":
            stream = self._filtered(stream, children[2])
        return _mapped(stream, lambda value: self.read(children[1], value))

    def _filtered(self, stream: Stream, node: Node) -> Stream:
        branches = []
        for branch in stream.branches:
            if not branch.sources:
                raise NotTranslated("a filter of what is no list in an object")
            last = branch.sources[-1]
            # A filter becomes a condition of the innermost list, which is asked inside of its loop.
            only = conjunction([last.only, is_true(self.read(node, branch.value))])
            sources = (*branch.sources[:-1], replace(last, only=only))
            branches.append(replace(branch, sources=sources))
        return Stream(tuple(branches))

    def _called(self, name: str, nodes: Sequence[Node], current: Query) -> Query:
        if name not in _FUNCTIONS:
            raise NotTranslated(f"the function `{name}`")
        count, function = _FUNCTIONS[name]
        if len(nodes) != count:
            raise NotTranslated(f"`{name}` of {len(nodes)} arguments")
        return function(*(self.read(one, current) for one in nodes))


_COMPARATORS: Final = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def member_of(value: Query, name: str) -> Query:
    """Return a member of a value; absent of what has none."""
    match value:
        case Names():
            if name not in value.members:
                raise NotTranslated(f"`{name}`, which admission policies do not see")
            return value.members[name]
        case Located():
            shape = value.place.shape.member(name)
            return Located(value.place.member(name, shape)) if shape is not None else ABSENT
        case Constant():
            inside = value.value
            return Constant(inside.get(name)) if isinstance(inside, Mapping) else ABSENT
        case Otherwise():
            return Otherwise(member_of(value.first, name), member_of(value.second, name))
    raise NotTranslated(f"`{name}` of a computed value")


def _is_map(value: Query) -> TypeGuard[Located]:
    return isinstance(value, Located) and value.place.shape.form is Form.MAP


def _at_key(value: Located, key: Query) -> Query:
    """Return what a map has at a key that is read."""
    if isinstance(key, Computed):
        return Located(value.place.at_key(key.text))
    if isinstance(key, Located) and not key.place.unsure:
        return Located(value.place.at_key(key.place.plain))
    raise NotTranslated("a key that may be absent")


def _indexed(value: Query, index: int) -> Query:
    # An index from the end would need the size of a list that may be absent.
    if index >= 0:
        if isinstance(value, Located) and value.place.shape.form in (Form.LIST, Form.ANY):
            return Located(value.place.at(index))
        if isinstance(value, Computed) and value.form is Form.LIST:
            return Computed(f"{value.text}[?{index}].orValue('')")
    raise NotTranslated("an index into what is no list of an object")


def _streamed(value: Query) -> Stream:
    """Return a list as a stream of its items."""
    match value:
        case Stream():
            return value
        # `list || []` as a list: going through nothing and through an absent list is the same.
        case Otherwise(first, Constant()):
            return _streamed(first)
        case Located(place):
            item = place.item(place.item_name)
            return Stream((Branch((Source(place, item.root),), Located(item)),))
        case Keys(place):
            return Stream((Branch((Source(_as_map(place), "key"),), Computed("key")),))
        case Constant(None):
            return Stream(())
    raise NotTranslated("a projection of what is no list in an object")


def _as_map(place: Place) -> Place:
    """Return an object of known fields as a map, whose keys can be gone through."""
    if place.shape.form is not Form.FIELDS:
        return place
    return replace(place, root=f"dyn({place.there().plain})", shape=Shape(), steps=())


def _mapped(stream: Stream, function: Callable[[Query], Query]) -> Stream:
    branches: list[Branch] = []
    for branch in stream.branches:
        value = function(branch.value)
        if isinstance(value, Stream):  # a projection in a projection is one of both
            branches += [
                Branch((*branch.sources, *one.sources), one.value) for one in value.branches
            ]
        # A projection leaves out what is null (the specification of JMESPath, "Projections").
        elif value != ABSENT:
            branches.append(replace(branch, value=value))
    return Stream(tuple(branches))


def _flattened(value: Query) -> Query:
    """Return `value[]`: items that are lists give way to their items."""
    if not isinstance(value, Stream):
        return value
    branches: list[Branch] = []
    for branch in value.branches:
        inner = branch.value
        if isinstance(inner, Located) and inner.place.shape.form is Form.LIST:
            branches += [
                Branch((*branch.sources, *one.sources), one.value)
                for one in _streamed(inner).branches
            ]
        else:
            branches.append(branch)
    return Stream(tuple(branches))


def _either(first: Query, second: Query) -> Query:
    if isinstance(first, Truth) and isinstance(second, Truth):
        return Truth(disjunction([first.condition, second.condition]))
    if first == OPERATION:  # which is never empty
        return first
    if isinstance(first, Constant):
        return first if first.value not in (None, "", [], {}, False) else second
    return Otherwise(first, second)


# --- Functions ---------------------------------------------------------------


def _length(value: Query) -> Query:
    if isinstance(value, Constant) and isinstance(value.value, Sequence | Mapping):
        return Constant(len(value.value))
    return Length(value)


def _keys(value: Query) -> Query:
    if not isinstance(value, Located):
        raise NotTranslated("the keys of what is no object")
    return Keys(value.place)


def _values(value: Query) -> Query:
    if isinstance(value, Otherwise):
        value = value.first
    if not isinstance(value, Located):
        raise NotTranslated("the values of what is no object")
    place = value.place
    inside = replace(place, root=f"{place.plain}[key]", shape=place.shape.item(), steps=())
    return Stream((Branch((Source(place, "key"),), Located(inside)),))


def _split(value: Query, separator: Query) -> Query:
    text = quoted(_constant_text(separator))
    match value:
        case Located(place) if not place.unsure and place.shape.form is Form.STRING:
            return Computed(f"{place.plain}.split({text})", Form.LIST)
        case Computed(known, Form.STRING):
            return Computed(f"{known}.split({text})", Form.LIST)
        case Otherwise(Located(place), Constant(str(default))) if place.shape.form is Form.STRING:
            return Computed(f"{_text_or(place, default)}.split({text})", Form.LIST)
    raise NotTranslated("`split` of what may be absent, or is no text")


def _contains(container: Query, item: Query) -> Query:
    if isinstance(container, Otherwise) and isinstance(container.second, Constant):
        container = container.first
    if isinstance(container, Keys) and isinstance(item, Constant):
        return Truth(has_key(container.place, str(item.value)))
    form = _form(container)
    if isinstance(container, Computed) or form is Form.STRING:
        needle = quoted(_constant_text(item))
        return Truth(_where(container, lambda text: truth(f"{text}.contains({needle})")))
    if isinstance(container, Located) and form is Form.ANY:
        needle = quoted(_constant_text(item))
        # Without a schema it may be a text or a list; `contains` of JMESPath takes both.
        is_text = comparison(f"type({container.place.plain})", "==", "string")
        inside = truth(f"{container.place.plain}.contains({needle})")
        among = member(needle, container.place.plain)
        found = choice(is_text, inside, among)
        return Truth(conjunction([container.place.present(), found]))
    return Truth(some_item(container, lambda one: compare(one, "==", item)))


def _constant_text(value: Query) -> str:
    if isinstance(value, Constant) and isinstance(value.value, str):
        return value.value
    raise NotTranslated("a text that is no constant")


def _regex_match(pattern: Query, value: Query) -> Query:
    regex = quoted(_constant_text(pattern))
    return Truth(_where(value, lambda text: truth(f"{text}.matches({regex})"), as_string=True))


def _affix(method: str) -> Callable[[Query, Query], Query]:
    def called(value: Query, affix: Query) -> Query:
        text = quoted(_constant_text(affix))
        return Truth(_where(value, lambda one: truth(f"{one}.{method}({text})")))

    return called


def _cased(method: str) -> Callable[[Query], Query]:
    def called(value: Query) -> Query:
        match value:
            case Located(place) if not place.unsure and place.shape.form is Form.STRING:
                return Computed(f"{place.plain}.{method}()")
            case Computed(text, Form.STRING):
                return Computed(f"{text}.{method}()")
            case Constant(str(text)):
                return Constant(text.lower() if method == "lowerAscii" else text.upper())
            case Otherwise(Located(place), Constant(str(text))) if place.shape.form is Form.STRING:
                return Computed(f"{_text_or(place, text)}.{method}()")
        raise NotTranslated(f"`{method}` of what may be absent, or is no text")

    return called


def _same(value: Query) -> Query:
    return value


_FUNCTIONS: Final[Mapping[str, tuple[int, Callable[..., Query]]]] = {
    "length": (1, _length),
    "keys": (1, _keys),
    "values": (1, _values),
    "split": (2, _split),
    "contains": (2, _contains),
    "regex_match": (2, _regex_match),
    "starts_with": (2, _affix("startsWith")),
    "ends_with": (2, _affix("endsWith")),
    "to_lower": (1, _cased("lowerAscii")),
    "to_upper": (1, _cased("upperAscii")),
    # The order of items is never asked for here, only whether there is one of some kind.
    "sort": (1, _same),
    "to_array": (1, _same),
    "to_string": (1, _same),
}
"""Functions by name: how many arguments they have, and what they read."""


# --- Asking ------------------------------------------------------------------


def some_item(value: Query, asked: Callable[[Query], Condition]) -> Condition:
    """Return whether something holds for an item of a list, or for a value that is no list."""
    match value:
        case Stream(branches):
            return disjunction(_some_of_branch(one, asked) for one in branches)
        case Located(place) if place.shape.form is Form.LIST:
            return disjunction(_some_of_branch(one, asked) for one in _streamed(value).branches)
        case Located(place):
            return conjunction([place.present(), asked(Located(place.there()))])
        case Constant(list() as items):
            return disjunction(asked(Constant(one)) for one in items)
        case Constant(None):
            return NEVER
        case Otherwise(first, second):
            # Only where the first is absent or empty the second counts (`||` of JMESPath).
            nothing = negation(is_true(first))
            return disjunction(
                [some_item(first, asked), conjunction([nothing, some_item(second, asked)])]
            )
        case Keys():
            return disjunction(_some_of_branch(one, asked) for one in _streamed(value).branches)
    return asked(value)


def _some_of_branch(branch: Branch, asked: Callable[[Query], Condition]) -> Condition:
    held = some_item(branch.value, asked)
    # From the inside out: the last list is the innermost loop.
    for source in reversed(branch.sources):
        held = source.place.some(source.variable, conjunction([source.only, held]))
    return held


def is_defined(value: Query) -> Condition:
    """Return whether a value is not absent."""
    match value:
        case Located(place) | Keys(place):
            return place.present()
        case Stream(branches):
            if len(branches) == 1 and branches[0].sources:
                return branches[0].sources[0].place.present()
            return ALWAYS
        case Constant(inside):
            return constant(inside is not None)
        case Otherwise(first, second):
            return disjunction([is_true(first), is_defined(second)])
    return ALWAYS


def is_true(value: Query) -> Condition:
    """Return whether a value is true in JMESPath: not absent, not empty, not false."""
    match value:
        case Truth(condition):
            return condition
        case Constant(inside):
            return constant(inside not in (None, "", False) and inside not in ([], {}))
        case Located(place):
            return conjunction([place.present(), _is_filled(place.there())])
        case Stream():
            return some_item(value, lambda one: ALWAYS)
        case Otherwise(first, second):
            return disjunction([is_true(first), is_true(second)])
        case Keys(place):
            return conjunction([place.present(), filled(place.there().plain)])
        case Computed(text, Form.STRING):
            return comparison(text, "!=", "''")
    return ALWAYS


def _is_filled(place: Place) -> Condition:
    match place.shape.form:
        case Form.STRING:
            return comparison(place.plain, "!=", "''")
        case Form.LIST | Form.MAP:
            return filled(place.plain)
        case Form.BOOL:
            return truth(place.plain)
    return ALWAYS


def length_text(of: Query) -> str:
    """Return the number of items of a list, or of characters. Raises NotTranslated."""
    match of:
        case Located(place) | Keys(place):
            if not place.unsure:
                return f"size({place.plain})"
            empty = {Form.MAP: "{}", Form.STRING: "''"}.get(place.shape.form, "[]")
            return f"size({place.optional}.orValue({empty}))"
        case Stream(branches) if branches:
            return " + ".join(map(_branch_length, branches))
    raise NotTranslated("a length of what is no list or text of an object")


def _branch_length(branch: Branch) -> str:
    if len(branch.sources) != 1:
        raise NotTranslated("the number of items of several lists in each other")
    (source,) = branch.sources
    there = some_item(branch.value, lambda _: ALWAYS)
    only = conjunction([source.only, there])
    items = source.place
    text = f"{items.optional}.orValue([])" if items.unsure else items.plain
    if only != ALWAYS:
        text = f"{text}.filter({source.variable}, {only.text})"
    return f"size({text})"


def _form(value: Query) -> Form:
    match value:
        case Located(place):
            return place.shape.form
        case Computed(_, form):
            return form
    return Form.ANY


def _where(
    value: Query, asked: Callable[[str], Condition], *, as_string: bool = False
) -> Condition:
    """Return what is asked of the text of a value; not so where it is absent."""
    match value:
        case Located(place):
            text = place.plain
            if as_string and place.shape.form is not Form.STRING:
                text = f"string({text})"
            return conjunction([place.present(), asked(text)])
        case Computed(text, _):
            return asked(text)
        case Otherwise(Located(place), Constant(str(text))):
            return asked(_text_or(place, text))
    raise NotTranslated("a function of what is no single text")


def _text_or(place: Place, default: str) -> str:
    """Return the text of a value, or another where it is absent or empty."""
    is_text = place.shape.form is Form.STRING
    if not default:
        known = f"{place.optional}.orValue('')"
        return known if is_text else f"string({known})"
    text = place.plain if is_text else f"string({place.plain})"
    there = is_true(Located(place))
    return text if there == ALWAYS else f"({there.text} ? {text} : {quoted(default)})"


def compare(left: Query, operator: str, right: Query) -> Condition:
    """Return how two values compare, as JMESPath compares them. Raises NotTranslated."""
    match left, right:
        case Constant(), Constant() if operator in ("==", "!="):
            return constant((left == right) is (operator == "=="))
        case Constant(one), Constant(other):
            return constant(_is_in_order(one, operator, other))
        case Constant(), _:
            return compare(right, _TURNED[operator], left)
        case Located(place), Constant(None):
            absent = negation(place.present())
            return absent if operator == "==" else negation(absent)
        case Located(place), Constant(value):
            same = comparison(place.there().plain, operator, literal(value))
            there = place.present()
            return (
                disjunction([negation(there), same])
                if operator == "!="
                else conjunction([there, same])
            )
        case Truth(held), Constant(bool(value)) if operator in ("==", "!="):
            return held if value is (operator == "==") else negation(held)
        case Truth(one), Truth(other) if operator in ("==", "!="):
            return comparison(f"({one.text})", operator, f"({other.text})")
        case Length(), Constant(int(number)):
            return comparison(length_text(left.of), operator, str(number))
        case Computed(text, _), Constant(value):
            return comparison(text, operator, literal(value))
        case ((Located() | Computed()), (Located() | Computed())) if operator in ("==", "!="):
            return comparison(_maybe(left, right), operator, _maybe(right, left))
    raise NotTranslated("a comparison of values that are no single values")


_ORDERS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def _is_in_order(one: Json, operator: str, other: Json) -> bool:
    """Return whether two values are in an order. In JMESPath only numbers have one."""
    return _is_number(one) and _is_number(other) and _ORDERS[operator](one, other)


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TURNED: Final = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _maybe(value: Located | Computed, beside: Located | Computed) -> str:
    """Return a value as an optional one, if it or what it is compared with may be absent."""
    text = value.place.plain if isinstance(value, Located) else value.text
    if isinstance(value, Located) and value.place.unsure:
        return value.place.optional
    is_optional = isinstance(beside, Located) and beside.place.unsure
    return f"optional.of({text})" if is_optional else text


def avoiding(value: Query, name: str) -> Query:
    """Return a value in which no item of a list is called so."""
    match value:
        case Names(members):
            return Names({key: avoiding(one, name) for key, one in members.items()})
        case Located(place):
            return Located(replace(place, taken=place.taken | {name}))
        case Otherwise(first, second):
            return Otherwise(avoiding(first, name), avoiding(second, name))
    return value


def has_key(place: Place, key: str) -> Condition:
    """Return whether an object has a member."""
    if place.shape.form in (Form.MAP, Form.ANY):
        there = place.present()
        return conjunction([there, member(quoted(key), place.there().plain)])
    shape = place.shape.member(key)
    return place.member(key, shape).present() if shape is not None else NEVER


def elements(items: Query) -> list[Branch]:
    """Return the branches of a list that is gone through, with the place of an element as value.
    Raises NotTranslated where the elements are no places in an object."""
    found = []
    for branch in _streamed(items).branches:
        inner = branch.value
        if isinstance(inner, Located) and inner.place.shape.form is Form.LIST:
            last = _streamed(inner).branches[0]
            branch = Branch((*branch.sources, *last.sources), last.value)
        if not isinstance(branch.value, Located):
            raise NotTranslated("a list of values made of others")
        found.append(branch)
    return found
