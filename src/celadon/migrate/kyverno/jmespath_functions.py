"""Functions of JMESPath, those of its specification and Kyverno's own: what each of them reads.

Facts are those of Kyverno's `pkg/engine/jmespath`. A function of what is absent fails there, and so
does the rule; here its result is absent, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.kube import Json
from celadon.kube.schemas import Schema
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Binding,
    Condition,
    choice,
    comparison,
    conjunction,
    constant,
    every,
    filled,
    literal,
    member,
    quoted,
    truth,
)
from celadon.migrate.kyverno.jmespath_arithmetic import ARITHMETIC, TIMES, is_in_versions
from celadon.migrate.kyverno.jmespath_queries import (
    ABSENT,
    Branch,
    Chosen,
    Computed,
    Constant,
    Expression,
    Images,
    Keys,
    Length,
    Located,
    Merged,
    Names,
    Ordered,
    Otherwise,
    Query,
    Source,
    Stream,
    Truth,
    asked_of,
    compare,
    constant_number,
    constant_text,
    form_of,
    has_key,
    image_of,
    is_defined,
    is_true,
    items_text,
    single,
    some_item,
    streamed,
)
from celadon.migrate.kyverno.pattern_translation import globbed
from celadon.migrate.kyverno.patterns import GO_NUMBER, has_wildcards, number_in
from celadon.migrate.schema_fields import Form, Place, Shape
from celadon.migrate.translations import NotTranslated


def called(name: str, arguments: Sequence[Query]) -> Query:
    """Return what a function reads. Raises NotTranslated."""
    if name not in FUNCTIONS:
        raise NotTranslated(f"the function `{name}`", NO_EQUAL.get(name, ""))
    least, most, function = FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        raise NotTranslated(f"`{name}` of {len(arguments)} arguments")
    return function(*arguments)


# --- Members of objects and lists --------------------------------------------


def member_of(value: Query, name: str) -> Query:
    """Return a member of a value; absent of what has none. Raises NotTranslated."""
    match value:
        case Names():
            if name not in value.members:
                raise NotTranslated(
                    f"`{name}`, which admission policies do not see", _UNSEEN.get(name, "")
                )
            return value.members[name]
        case Located():
            shape = value.place.shape.member(name)
            return Located(value.place.member(name, shape)) if shape is not None else ABSENT
        case Constant():
            inside = value.value
            return Constant(inside.get(name)) if isinstance(inside, Mapping) else ABSENT
        case Otherwise(first, second):
            other = member_of(second, name)
            # Of an object that is empty, no member is read: so only of the first one it matters
            # whether it is there.
            member = member_of(first, name)
            return member if other == ABSENT else _chosen(is_true(first), member, other)
        case Chosen(condition, then, other):
            return _chosen(condition, member_of(then, name), member_of(other, name))
        case Images():
            raise NotTranslated(
                "the image of one container", "Go through the containers with `foreach`."
            )
        case Merged(parts):
            result = [(part, member_of(part, name)) for part in parts]
            read: Query = ABSENT
            for part, member in result:
                has = is_defined(member)
                if isinstance(part, Constant) and isinstance(part.value, Mapping):
                    has = constant(name in part.value)
                read = _chosen(has, member, read)
            return read
    raise NotTranslated(f"`{name}` of a term value")


_UNSEEN: Final = {
    "clusterRoles": "Ask the authorizer what the user may do, or compare groups.",
    "elementIndex": "Compare the elements themselves.",
    "images": "Let the rule be for kinds with containers; compare their `image` as a text.",
    "roles": "Ask the authorizer what the user may do, or compare groups.",
}


def _chosen(condition: Condition, consequent: Query, otherwise: Query) -> Query:
    if condition in (ALWAYS, NEVER):
        return consequent if condition == ALWAYS else otherwise
    return Chosen(condition, consequent, otherwise)


def index_of(value: Query, index: int) -> Query:
    """Return an item of a list; from the end, if the index is negative. Raises NotTranslated."""
    match value:
        case Located(place) if place.shape.form in (Form.LIST, Form.ANY):
            return Located(place.at(index) if index >= 0 else place.from_end(-index))
        case Ordered(_, first, last) if index in (0, -1):
            return last() if index else first()
        case Constant(list() as known):
            return Constant(known[index]) if -len(known) <= index < len(known) else ABSENT
        case Otherwise(first, Constant(second)) if not second:
            return index_of(first, index)
        case Stream((Branch((source,), Located(found)),)) if index >= 0:
            if found.root == source.variable:
                only = conjunction([source.only, found.present()])
                items = items_text(replace(source, only=only))
                condition = comparison(f"size({items})", ">", str(index))
                item = replace(found.there(), root=f"{items}[{index}]", root_exists=condition)
                return Located(item)
    raise NotTranslated("an index into what is no list of an object")


def values_of(value: Query) -> Query:
    """Return the values of a map, as a list. Raises NotTranslated."""
    if (
        isinstance(value, Otherwise)
        and isinstance(value.second, Constant)
        and not value.second.value
    ):
        value = value.first
    if isinstance(value, Images):
        item = value.place.item(value.place.item_name)
        return Stream((Branch((Source(value.place, item.root),), image_of(item)),))
    # CEL's macros go over the keys of a map; objects with named fields have none.
    if not isinstance(value, Located) or value.place.shape.form is Form.FIELDS:
        raise NotTranslated("the values of what is no map")
    return Stream((Branch((Source(value.place, "key"),), _at_key(value.place)),))


def _at_key(place: Place) -> Query:
    """Return what a map has at the key that a macro reads."""
    inside = replace(place.there(), root=f"{place.plain}[key]", shape=place.shape.item(), steps=())
    return Located(inside)


def _keys(value: Query) -> Query:
    if isinstance(value, Constant) and isinstance(value.value, Mapping):
        return Constant(list(value.value))
    if not isinstance(value, Located | Merged):
        raise NotTranslated("the keys of what is no object")
    if isinstance(value, Merged):
        return Stream(
            tuple(branch for part in value.parts for branch in streamed(_keys(part)).branches)
        )
    return Keys(value.place)


def _items(value: Query, key_name: Query, value_name: Query) -> Query:
    if not isinstance(value, Located) or value.place.shape.form not in (Form.MAP, Form.ANY):
        raise NotTranslated("the items of what is no map")
    names: dict[str, Query] = {constant_text(key_name): Computed("key")}
    names[constant_text(value_name)] = _at_key(value.place)
    return Stream((Branch((Source(value.place, "key"),), Names(names)),))


def _lookup(value: Query, key: Query) -> Query:
    match key:
        case Constant(str(name)):
            return member_of(value, name)
        case Constant(int(index)) if not isinstance(key.value, bool):
            return index_of(value, index) if index >= 0 else ABSENT
    term = single(key)
    if (
        isinstance(value, Located)
        and value.place.shape.form is Form.MAP
        and term.presence == ALWAYS
    ):
        return Located(value.place.at_key(term.text))
    raise NotTranslated("a look-up of a key that may be absent, or in what is no map")


def _merge(*parts: Query) -> Query:
    for part in parts:
        whole = part.first if isinstance(part, Otherwise) else part
        is_object = form_of(whole) in (Form.MAP, Form.FIELDS, Form.ANY)
        if not is_object or isinstance(whole, Computed | Stream | Truth | Length):
            raise NotTranslated("a `merge` of what is no object")
    return Merged(parts)


def _not_null(*values: Query) -> Query:
    *before, result = values
    for item in reversed(before):
        result = _chosen(is_defined(item), item, result)
    return result


# --- Kinds of values ---------------------------------------------------------

_KINDS: Final = {
    Form.FIELDS: "object",
    Form.MAP: "object",
    Form.LIST: "array",
    Form.STRING: "string",
    Form.QUANTITY: "string",
    Form.INTEGER: "number",
    Form.NUMBER: "number",
    Form.BOOL: "boolean",
}


def _type(value: Query) -> Query:
    match value:
        case Constant(known):
            return Constant(_KINDS_OF_CONSTANTS[type(known)])
        case Located(place) if place.shape.form in _KINDS:
            kind = Constant(_KINDS[place.shape.form])
            return _chosen(place.present(), kind, Constant("null"))
        case Located(place):
            text = place.there().plain
            kinds = " : ".join(f"type({text}) == {cel} ? '{kind}'" for cel, kind in _OF_ANY)
            return _chosen(place.present(), Computed(f"({kinds} : 'object')"), Constant("null"))
        case Stream() | Keys() | Ordered():
            return Constant("array")
        case Truth():
            return Constant("boolean")
        case Length():
            return Constant("number")
    term = single(value)
    if term.form not in _KINDS:
        raise NotTranslated("the type of what may be of several")
    return _chosen(term.presence, Constant(_KINDS[term.form]), Constant("null"))


_KINDS_OF_CONSTANTS: Final = {
    str: "string", int: "number", float: "number", bool: "boolean", list: "array",
    dict: "object", type(None): "null",
}  # fmt: skip
_OF_ANY: Final = (
    ("string", "string"), ("bool", "boolean"), ("int", "number"), ("double", "number"),
    ("list", "array"), ("null_type", "null"),
)  # fmt: skip


def _to_number(value: Query) -> Query:
    match value:
        case Constant(str(text)):
            return Constant(_shortest(number_in(text)))
        case Constant(known):
            is_number = isinstance(known, int | float) and not isinstance(known, bool)
            return value if is_number else ABSENT
    term = single(value)
    if term.form in (Form.INTEGER, Form.NUMBER):
        return term
    if term.form in (Form.STRING, Form.QUANTITY):
        matches = truth(f"{term.text}.matches({_NUMBER})")
        condition = conjunction([term.presence, matches])
        return Computed(f"double({term.text})", Form.NUMBER, condition)
    if term.form is Form.BOOL:
        return ABSENT
    raise NotTranslated("`to_number` of what may be no text")


_NUMBER: Final = quoted(f"^{GO_NUMBER}$")


def _shortest(number: float | None) -> Json:
    return int(number) if number is not None and number.is_integer() else number


def _to_string(value: Query) -> Query:
    if isinstance(value, Constant):
        constant = value.value
        if isinstance(constant, list | Mapping):
            raise NotTranslated("`to_string` of a list or object")
        return value if isinstance(constant, str) else Constant(literal(constant))
    term = single(value)
    if term.form is Form.QUANTITY:
        term = replace(term, form=Form.STRING)
    if term.form is not Form.STRING:
        if term.form not in (Form.BOOL, Form.INTEGER, Form.NUMBER, Form.INT_OR_STRING, Form.ANY):
            raise NotTranslated("`to_string` of an amount")
        term = Computed(f"string({term.text})", Form.STRING, term.presence)
    if term.presence == ALWAYS:
        return value if form_of(value) is Form.STRING else term
    if isinstance(value, Located) and value.place.shape.form is Form.STRING:
        return Computed(f"{value.place.optional}.orValue('null')")
    return Computed(f"({term.presence.inside(Binding.OR)} ? {term.text} : 'null')")


def _to_boolean(value: Query) -> Query:
    term = _text(value)
    lowered = f"{term.text}.lowerAscii()"
    condition = conjunction([term.presence, member(lowered, literal(["true", "false"]))])
    return Computed(f"({lowered} == 'true')", Form.BOOL, condition)


# --- Texts -------------------------------------------------------------------


def _text(value: Query) -> Computed:
    """Return a value that has to be a text. Raises NotTranslated."""
    term = single(value)
    if term.form not in (Form.STRING, Form.ANY, Form.QUANTITY):
        raise NotTranslated("a function of texts, of what is none")
    return term


def _of_texts(build: Callable[..., str], form: Form = Form.STRING) -> Callable[..., Query]:
    """Return a function of texts, as a text made of theirs."""

    def called(*values: Query) -> Query:
        ones = [_text(value) for value in values]
        condition = conjunction(term.presence for term in ones)
        return Computed(build(*(term.text for term in ones)), form, condition)

    return called


def _cased(method: str) -> Callable[[Query], Query]:
    apply = _of_texts(lambda text: f"{text}.{method}()")

    def called(value: Query) -> Query:
        if isinstance(value, Constant) and isinstance(value.value, str):
            return Constant(value.value.lower() if method == "lowerAscii" else value.value.upper())
        return apply(value)

    return called


def _replace_all(text: Query, old: Query, new: Query) -> Query:
    _check_no_wildcards(new)
    return _of_texts(lambda value, a, b: f"{value}.replace({a}, {b})")(text, old, new)


def _replace(text: Query, old: Query, new: Query, count: Query) -> Query:
    _check_no_wildcards(new)
    number = constant_number(count)
    return _of_texts(lambda value, a, b: f"{value}.replace({a}, {b}, {number})")(text, old, new)


def _trim(text: Query, characters: Query) -> Query:
    trimmed = constant_text(characters)
    if not trimmed:
        return _text(text)
    # From the first other character to the last one.
    other = "[^" + "".join(f"\\{text}" if text in r"\]^-" else text for text in trimmed) + "]"
    regex = quoted(f"(?s){other}(.*{other})?")
    return _of_texts(lambda value: f"{value}.find({regex})")(text)


def _trim_prefix(text: Query, prefix: Query) -> Query:
    start = constant_text(prefix)
    return _of_texts(
        lambda value: (
            f"({value}.startsWith({quoted(start)}) ? {value}.substring({len(start)}) : {value})"
        )
    )(text)


def _truncate(text: Query, length: Query) -> Query:
    count = max(constant_number(length), 0)
    return _of_texts(
        lambda value: f"(size({value}) > {count} ? {value}.substring(0, {count}) : {value})"
    )(text)


def _split(text: Query, separator: Query) -> Query:
    parts = _of_texts(lambda value, by: f"{value}.split({by})")(text, separator)
    assert isinstance(parts, Computed)
    return Located(Place(parts.text, _TEXTS, root_exists=parts.presence))


_TEXTS: Final = Shape(Schema(type="array", items=Schema(type="string")))


def _contains(container: Query, item: Query) -> Query:
    match container:
        case Otherwise(first, Constant(second)) if not second:
            container = first
        case Otherwise(_, Constant(str())):
            return _within("contains")(container, item)
    if isinstance(container, Keys) and isinstance(item, Constant):
        return Truth(has_key(container.place, str(item.value)))
    form = form_of(container)
    if isinstance(container, Computed | Chosen) or form is Form.STRING:
        return _within("contains")(container, item)
    if isinstance(container, Located) and form is Form.ANY:
        needle = quoted(constant_text(item))
        # Without a schema it may be a text or a list; `contains` of JMESPath takes both.
        is_text = comparison(f"type({container.place.plain})", "==", "string")
        inside = truth(f"{container.place.plain}.contains({needle})")
        among = member(needle, container.place.plain)
        condition = choice(is_text, inside, among)
        return Truth(conjunction([container.place.present(), condition]))
    return Truth(some_item(container, lambda candidate: compare(candidate, "==", item)))


def _within(method: str) -> Callable[[Query, Query], Query]:
    def called(value: Query, part: Query) -> Query:
        text = _text(part)
        condition = asked_of(value, lambda part: truth(f"{part}.{method}({text.text})"))
        return Truth(conjunction([text.presence, condition]))

    return called


def _regex_match(pattern: Query, value: Query) -> Query:
    regex = _text(pattern)
    condition = asked_of(value, lambda text: truth(f"{text}.matches({regex.text})"), as_string=True)
    return Truth(conjunction([regex.presence, condition]))


def _pattern_match(pattern: Query, value: Query) -> Query:
    constant = constant_text(pattern)
    return Truth(asked_of(value, lambda text: globbed(text, constant), as_string=True))


def _compare(left: Query, right: Query) -> Query:
    apply = _of_texts(lambda a, b: f"({a} == {b} ? 0 : ({a} < {b} ? -1 : 1))", Form.INTEGER)
    return apply(left, right)


def _equal_fold(left: Query, right: Query) -> Query:
    if isinstance(left, Constant):
        left, right = right, left
    # As RE2 folds letters, also those that are not ASCII.
    regex = quoted("^(?i)" + re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", constant_text(right)) + "$")
    return Truth(asked_of(left, lambda text: truth(f"{text}.matches({regex})")))


def _label_match(labels: Query, obj: Query) -> Query:
    if isinstance(labels, Constant) and isinstance(labels.value, Mapping):
        condition = is_defined(obj)
        same = [compare(member_of(obj, key), "==", Constant(v)) for key, v in labels.value.items()]
        return Truth(conjunction([condition, *same]))
    if not (isinstance(labels, Located) and isinstance(obj, Located)):
        raise NotTranslated("labels of what is no map of an object")
    plain, other = labels.place.there().plain, obj.place.there().plain
    same_value = comparison(f"{other}[key]", "==", f"{plain}[key]")
    each = every(plain, "key", conjunction([member("key", other), same_value]))
    return Truth(conjunction([labels.place.present(), obj.place.present(), each]))


def _semver_compare(version: Query, versions: Query) -> Query:
    term = _text(version)
    return Truth(conjunction([term.presence, is_in_versions(term.text, constant_text(versions))]))


# --- Lists -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Items:
    """A list, as one text."""

    text: str
    form: Form
    presence: Condition


Fold = Callable[[str], str]
"""What becomes of the items of an inner list, before the outer one is gone through."""


def _list(value: Query, fold: Fold | None = None) -> _Items:
    """Return a list of single values; of lists in lists, of what a fold makes of the inner ones.
    Raises NotTranslated."""
    match value:
        case Constant(list() as items) if items:
            return _joined_items([_list_of_one(Constant(item)) for item in items])
        case Located(place) if place.shape.form in (Form.LIST, Form.ANY):
            item = place.shape.item().form
            return _Items(place.there().plain, item, place.present())
        case Keys(place):
            return _Items(f"{place.there().plain}.map(key, key)", Form.STRING, place.present())
        case Otherwise(first, Constant([])):
            inner = _list(first, fold)
            if inner.presence == ALWAYS:
                return inner
            if isinstance(first, Located):
                return replace(inner, text=first.place.items, presence=ALWAYS)
            text = f"({inner.presence.text} ? {inner.text} : [])"
            return replace(inner, text=text, presence=ALWAYS)
        case Ordered():
            raise NotTranslated("a list in another order, as a whole")
        case Stream(branches) if branches:
            return _joined_items([_list_of_branch(branch, fold) for branch in branches])
    raise NotTranslated("a function of what is no list")


def _joined_items(parts: Sequence[_Items]) -> _Items:
    forms = {part.form for part in parts}
    if forms == {Form.INTEGER, Form.NUMBER}:
        return _joined_items([_as_doubles(part) for part in parts])
    if len(forms) > 1 and Form.ANY not in forms:
        raise NotTranslated("a list of values of several kinds")
    form = forms.pop() if len(forms) == 1 else Form.ANY
    condition = conjunction(part.presence for part in parts)
    if len(parts) == 1:
        return parts[0]
    if all(part.text.startswith("[") and part.text.endswith("]") for part in parts):
        return _Items(f"[{', '.join(map(_in_a_list, parts))}]", form, condition)
    return _Items(f"({' + '.join(part.text for part in parts)})", form, condition)


def _in_a_list(items: _Items) -> str:
    """Return an item beside others. Literals of lists have items of one type, and what is read of
    an object has none before its kind is known."""
    text = items.text[1:-1]
    is_literal = text[0] in "'-0123456789" or text.startswith("r'")
    name = _CONVERSIONS.get(items.form)
    return text if is_literal or name is None or text.startswith(name) else f"{name}{text})"


_CONVERSIONS: Final = {
    Form.STRING: "string(", Form.INTEGER: "int(", Form.NUMBER: "double(",
}  # fmt: skip


def _as_doubles(items: _Items) -> _Items:
    if items.form is Form.NUMBER:
        return items
    inside = items.text[1:-1] if items.text.startswith("[") else ""
    if inside.isdecimal():
        return replace(items, text=f"[{inside}.0]", form=Form.NUMBER)
    return replace(items, text=f"{items.text}.map(number, double(number))", form=Form.NUMBER)


def _list_of_one(value: Query) -> _Items:
    term = single(value)
    return _Items(f"[{term.text}]", term.form, term.presence)


def _list_of_branch(branch: Branch, fold: Fold | None) -> _Items:
    if not branch.sources:
        return _list_of_one(branch.value)
    *outer, source = branch.sources
    if outer and fold is None:
        raise NotTranslated("a function of the items of lists in lists")
    term = single(branch.value)
    only = conjunction([source.only, term.presence])
    text = items_text(replace(source, only=only))
    if term.text != source.variable:
        text = f"{text}.map({source.variable}, {term.text})"
    is_filled = source.place.some(source.variable, only)
    for each in reversed(outer):
        assert fold is not None
        # An empty list has no largest item, and adds no separator to a text.
        items = items_text(replace(each, only=conjunction([each.only, is_filled])))
        text = f"{items}.map({each.variable}, {fold(text)})"
        is_filled = each.place.some(each.variable, conjunction([each.only, is_filled]))
    return _Items(text, term.form, ALWAYS)


def _join(separator: Query, items: Query) -> Query:
    _check_no_wildcards(separator, *_constants_in(items))
    by = _text(separator)
    texts = _list(items, lambda text: f"{text}.join({by.text})")
    if texts.form not in (Form.STRING, Form.QUANTITY, Form.ANY):
        raise NotTranslated("`join` of what are no texts")
    return Computed(
        f"{texts.text}.join({by.text})", Form.STRING, conjunction([by.presence, texts.presence])
    )


def _constants_in(items: Query) -> Iterator[Query]:
    match items:
        case Constant(list() as known):
            yield from map(Constant, known)
        case Stream(branches):
            yield from (branch.value for branch in branches)


def _check_no_wildcards(*values: Query) -> None:
    """Check a text. Raises NotTranslated for a wildcard that becomes part of a text: Kyverno would
    read it."""
    for value in values:
        if (
            isinstance(value, Constant)
            and isinstance(value.value, str)
            and has_wildcards(value.value)
        ):
            raise NotTranslated("a text with variables and wildcards in it")


def _extreme(method: str) -> Callable[[Query], Query]:
    def called(items: Query) -> Query:
        numbers = _list(items, lambda text: f"{text}.{method}()")
        form = Form.STRING if numbers.form is Form.QUANTITY else numbers.form
        if form not in (Form.STRING, Form.INTEGER, Form.NUMBER, Form.ANY):
            raise NotTranslated(f"`{method}` of what are neither numbers nor texts")
        condition = conjunction([numbers.presence, _is_filled(items)])
        return Computed(f"{numbers.text}.{method}()", form, condition)

    return called


def _is_filled(items: Query) -> Condition:
    is_written = isinstance(items, Stream) and any(not branch.sources for branch in items.branches)
    return ALWAYS if is_written else is_true(items)


def _sum(items: Query) -> Query:
    numbers = _list(items, lambda text: f"{text}.sum()")
    if numbers.form not in (Form.INTEGER, Form.NUMBER):
        raise NotTranslated(
            "the sum of what are no numbers", "CEL adds numbers of lists, not quantities."
        )
    condition = conjunction([numbers.presence, _is_filled(items)])
    return Computed(f"{numbers.text}.sum()", numbers.form, condition)


def _avg(items: Query) -> Query:
    numbers = _list(items)
    if numbers.form not in (Form.INTEGER, Form.NUMBER):
        raise NotTranslated("the average of what are no numbers")
    text = f"(double({numbers.text}.sum()) / double(size({numbers.text})))"
    return Computed(text, Form.NUMBER, conjunction([numbers.presence, _is_filled(items)]))


def _extreme_by(method: str) -> Callable[[Query, Query], Query]:
    def called(items: Query, key: Query) -> Query:
        if not (isinstance(items, Located) and isinstance(key, Expression)):
            raise NotTranslated(f"`{method}_by` of what is no list of an object")
        place = items.place
        element = place.there()
        name = element.item_name
        other_name = replace(element, reserved_names=element.reserved_names | {name}).item_name
        term = single(key.apply(Located(element.item(name))))
        every_one = single(key.apply(Located(element.item(other_name))))
        if term.presence != ALWAYS or term.form not in (Form.STRING, Form.INTEGER, Form.NUMBER):
            raise NotTranslated(f"`{method}_by` of what may be absent, or has no order")
        best = f"{element.plain}.map({other_name}, {every_one.text}).{method}()"
        text = f"{element.plain}.filter({name}, {term.text} == {best})[0]"
        condition = conjunction([place.present(), filled(element.plain)])
        return Located(replace(element.item(name), root=text, root_exists=condition))

    return called


def _sort(items: Query) -> Query:
    return Ordered(items, lambda: _extreme("min")(items), lambda: _extreme("max")(items))


def _sort_by(items: Query, key: Query) -> Query:
    def last() -> Query:
        raise NotTranslated("the last one of items in an order by something")

    return Ordered(items, lambda: _extreme_by("min")(items, key), last)


def _reverse(value: Query) -> Query:
    if form_of(value) is Form.STRING or isinstance(value, Computed):
        raise NotTranslated("a text backwards")
    return Ordered(value, lambda: index_of(value, -1), lambda: index_of(value, 0))


def _map(key: Query, items: Query) -> Query:
    if not isinstance(key, Expression):
        raise NotTranslated("`map` of no expression")
    branches = []
    for branch in streamed(items).branches:
        value = key.apply(branch.value)
        if isinstance(value, Stream | Keys) or is_defined(value) != ALWAYS:
            raise NotTranslated("`map` of what may be absent in some items")
        branches.append(replace(branch, value=value))
    return Stream(tuple(branches))


def _length(value: Query) -> Query:
    if isinstance(value, Constant) and isinstance(value.value, Sequence | Mapping):
        return Constant(len(value.value))
    return Length(value)


def _same(value: Query) -> Query:
    return value


_MANY: Final = 100

FUNCTIONS: Final[Mapping[str, tuple[int, int, Callable[..., Query]]]] = {
    **ARITHMETIC,
    **TIMES,
    "avg": (1, 1, _avg),
    "compare": (2, 2, _compare),
    "contains": (2, 2, _contains),
    "ends_with": (2, 2, _within("endsWith")),
    "equal_fold": (2, 2, _equal_fold),
    "items": (3, 3, _items),
    "join": (2, 2, _join),
    "keys": (1, 1, _keys),
    "label_match": (2, 2, _label_match),
    "length": (1, 1, _length),
    "lookup": (2, 2, _lookup),
    "map": (2, 2, _map),
    "max": (1, 1, _extreme("max")),
    "max_by": (2, 2, _extreme_by("max")),
    "merge": (1, _MANY, _merge),
    "min": (1, 1, _extreme("min")),
    "min_by": (2, 2, _extreme_by("min")),
    "not_null": (1, _MANY, _not_null),
    "pattern_match": (2, 2, _pattern_match),
    "regex_match": (2, 2, _regex_match),
    "replace": (4, 4, _replace),
    "replace_all": (3, 3, _replace_all),
    "reverse": (1, 1, _reverse),
    "semver_compare": (2, 2, _semver_compare),
    "sort": (1, 1, _sort),
    "sort_by": (2, 2, _sort_by),
    "split": (2, 2, _split),
    "starts_with": (2, 2, _within("startsWith")),
    "sum": (1, 1, _sum),
    "to_array": (1, 1, _same),
    "to_boolean": (1, 1, _to_boolean),
    "to_lower": (1, 1, _cased("lowerAscii")),
    "to_number": (1, 1, _to_number),
    "to_string": (1, 1, _to_string),
    "to_upper": (1, 1, _cased("upperAscii")),
    "trim": (2, 2, _trim),
    "trim_prefix": (2, 2, _trim_prefix),
    "truncate": (2, 2, _truncate),
    "type": (1, 1, _type),
    "values": (1, 1, values_of),
}
"""Functions by name: how many arguments they have, and what they read."""

_DECODES: Final = "CEL decodes and hashes nothing: keep the rule in Kyverno."
_HAS_NO_CLOCK: Final = "Policies have no clock: let a controller look, or Kyverno itself."
_REPLACES: Final = "CEL replaces texts, no patterns: use `replace_all` or `split`."
_PARSES: Final = "Give the values fields of their own, or keys of a ConfigMap."

NO_EQUAL: Final = {
    "base64_decode": _DECODES,
    "base64_encode": _DECODES,
    "image_normalize": "Compare with the names as they are written, with and without a registry.",
    "is_external_url": "An API server asks no name server: compare hosts, or `cidr`.",
    "md5": _DECODES,
    "object_from_lists": "Write the object out, key by key.",
    "parse_json": _PARSES,
    "parse_yaml": _PARSES,
    "path_canonicalize": "Refuse paths with `..` or `//` by a pattern.",
    "random": "Let names be generated (`generateName`): a mutation must come out the same twice.",
    "regex_replace_all": _REPLACES,
    "regex_replace_all_literal": _REPLACES,
    "sha1": _DECODES,
    "sha256": _DECODES,
    "time_now": _HAS_NO_CLOCK,
    "time_now_utc": _HAS_NO_CLOCK,
    "time_parse": "Write times as RFC 3339 has them.",
    "time_since": _HAS_NO_CLOCK,
    "time_to_cron": "Write the schedule itself.",
    "time_truncate": "Compare with the bounds of the time that is meant.",
    "x509_decode": _DECODES,
}
"""Functions that CEL has no equal of, and what to do instead."""
