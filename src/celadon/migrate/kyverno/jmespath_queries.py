"""JMESPath as conditions of CEL: what an expression reads, and what can be asked of it.

An expression has no text of its own in CEL: a projection (`containers[].ports[].hostPort`) becomes
nested macros only when something is asked of its items. So an expression is first read as a
`Query`, a description of the values, and then asked: is there one that …, is it true, how many are
there. `null`, in JMESPath what is absent, is the absence of a value here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import ge, gt, le, lt
from typing import Final, TypeGuard

from celadon.kube import Json
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    choice,
    comparison,
    conjunction,
    constant,
    disjunction,
    every,
    filled,
    literal,
    member,
    negation,
    quoted,
    truth,
)
from celadon.migrate.schema_fields import Form, Place, Shape
from celadon.migrate.translations import NotTranslated


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
    """A single value: part of the request, or the result of a function."""

    text: str
    """It binds as tightly as a call."""
    form: Form = Form.STRING
    presence: Condition = ALWAYS
    """Whether there is one: only then the text may be read."""


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
class Chosen:
    """A value under a condition, and another one without it."""

    condition: Condition
    then: Query
    otherwise: Query


@dataclass(frozen=True, slots=True)
class Ordered:
    """A list whose items are in another order, which `first` and `last` know, where they can be
    told. Raises NotTranslated."""

    of: Query
    first: Callable[[], Query] = field(compare=False)
    last: Callable[[], Query] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Merged:
    """An object with the members of several: those of later ones stand for those of others."""

    parts: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that a function asks of each item of a list (`&name`)."""

    apply: Callable[[Query], Query] = field(compare=False)


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
class Images:
    """The images of a list of containers, taken apart, by the names of the containers."""

    place: Place


@dataclass(frozen=True, slots=True)
class Reference:
    """A leaf of a pattern that is a variable."""

    query: Query


Query = (
    Located
    | Constant
    | Computed
    | Truth
    | Keys
    | Length
    | Otherwise
    | Chosen
    | Ordered
    | Merged
    | Expression
    | Stream
    | Names
    | Images
)
ABSENT: Final = Constant(None)
OPERATION: Final = Computed("request.operation")
PARAMS: Final = "params"
"""The root of places in a ConfigMap that a rule reads."""


# --- Images ------------------------------------------------------------------

_WITH_REGISTRY: Final = "^([^/]*[.:A-Z][^/]*|localhost)/"
_WITH_TAG: Final = "^[^@]*:[^/@]*(@|$)"


def image_of(container: Place) -> Names:
    """Return the parts of a container's image: without a registry it is of `docker.io`, without tag
    and digest it has the tag `latest` (Kyverno's `pkg/utils/image/infos.go`, `GetImageInfo`)."""
    image = container.member("image", container.shape.member("image") or Shape())
    condition, text = image.present(), image.there().plain
    has_registry, has_tag = (
        truth(f"{text}.matches({quoted(item)})") for item in (_WITH_REGISTRY, _WITH_TAG)
    )
    has_digest = truth(f"{text}.contains('@')")
    last = f"{text}.find('[^/]*$').split('@')[0]"
    below = f"({has_registry.text} ? {text}.substring({text}.indexOf('/') + 1) : {text})"
    tagged = conjunction([condition, disjunction([has_tag, negation(has_digest)])])
    # Where there is a digest only, reading the tag fails.
    has_any = disjunction([has_tag, has_digest])
    tag = f"({has_any.text} ? {last}.split(':')[1] : 'latest')"
    registry = f"({has_registry.text} ? {text}.split('/')[0] : 'docker.io')"
    return Names(
        {
            "registry": Computed(registry, presence=condition),
            "path": Computed(f"{below}.split('@')[0].split(':')[0]", presence=condition),
            "name": Computed(f"{last}.split(':')[0]", presence=condition),
            "tag": Computed(tag, presence=tagged),
            "digest": Computed(
                f"{text}.split('@')[1]", presence=conjunction([condition, has_digest])
            ),
        }
    )


# --- Asking ------------------------------------------------------------------


def streamed(value: Query) -> Stream:
    """Return a list as a stream of its items."""
    match value:
        case Stream():
            return value
        # `list || []` as a list: going through nothing and through an absent list is the same.
        case Otherwise(first, Constant(second)) if not second:
            return streamed(first)
        case Ordered(of):
            return streamed(of)
        case Located(place) if place.shape.form in SCALARS:
            return Stream(())  # nothing is projected out of what is no list
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


def some_item(value: Query, test: Callable[[Query], Condition]) -> Condition:
    """Return whether something holds for an item of a list, or for a value that is no list."""
    match value:
        case Stream(branches):
            return disjunction(_some_of_branch(branch, test) for branch in branches)
        case Located(place) if place.shape.form is Form.LIST:
            return disjunction(_some_of_branch(branch, test) for branch in streamed(value).branches)
        case Located(place):
            return conjunction([place.present(), test(Located(place.there()))])
        case Constant(list() as items):
            return disjunction(test(Constant(item)) for item in items)
        case Constant(None):
            return NEVER
        case Otherwise(first, second):
            # Only where the first is absent or empty the second counts (`||` of JMESPath).
            nothing = negation(is_true(first))
            return disjunction(
                [some_item(first, test), conjunction([nothing, some_item(second, test)])]
            )
        case Keys():
            return disjunction(_some_of_branch(branch, test) for branch in streamed(value).branches)
        case Ordered(of):
            return some_item(of, test)
        case Chosen(condition, then, other):
            return choice(condition, some_item(then, test), some_item(other, test))
        case Computed(presence=there):
            return conjunction([there, test(replace(value, presence=ALWAYS))])
    return test(value)


def _some_of_branch(branch: Branch, test: Callable[[Query], Condition]) -> Condition:
    condition = some_item(branch.value, test)
    # From the inside out: the last list is the innermost loop.
    for source in reversed(branch.sources):
        condition = source.place.some(source.variable, conjunction([source.only, condition]))
    return condition


def is_defined(value: Query) -> Condition:
    """Return whether a value is not absent."""
    match value:
        case Located(place) | Keys(place) | Images(place):
            return place.present()
        case Stream(branches):
            if len(branches) == 1 and branches[0].sources:
                return branches[0].sources[0].place.present()
            return ALWAYS
        case Constant(inside):
            return constant(inside is not None)
        case Otherwise(first, second):
            return disjunction([is_true(first), is_defined(second)])
        case Chosen(condition, then, other):
            return choice(condition, is_defined(then), is_defined(other))
        case Computed(presence=there):
            return there
        case Ordered(of):
            return is_defined(of)
    return ALWAYS


def is_true(value: Query) -> Condition:
    """Return whether a value is true in JMESPath: not absent, not empty, not false."""
    match value:
        case Truth(condition):
            return condition
        case Constant(inside):
            return constant(inside not in (None, "", False) and inside not in ([], {}))
        case Located(place):
            return conjunction([place.present(), _is_filled(place.there().plain, place.shape.form)])
        case Stream():
            return some_item(value, lambda item: ALWAYS)
        case Otherwise(first, second):
            return disjunction([is_true(first), is_true(second)])
        case Keys(place) | Images(place):
            return conjunction([place.present(), filled(place.there().plain)])
        case Computed(text, form, there):
            return conjunction([there, _is_filled(text, form)])
        case Chosen(condition, then, other):
            return choice(condition, is_true(then), is_true(other))
        case Ordered(of):
            return is_true(of)
        case Merged(parts):
            return disjunction(map(is_true, parts))
    return ALWAYS


def _is_filled(text: str, form: Form) -> Condition:
    match form:
        case Form.STRING:
            return comparison(text, "!=", "''")
        case Form.LIST | Form.MAP:
            return filled(text)
        case Form.BOOL:
            return truth(text)
    return ALWAYS


def length_text(query: Query) -> str:
    """Return the number of items of a list, or of characters. Raises NotTranslated."""
    match query:
        case Located(place) | Keys(place):
            if not place.steps:
                return f"size({place.items})"
            if not place.unsure:
                return f"size({place.plain})"
            empty = {Form.MAP: "{}", Form.STRING: "''"}.get(place.shape.form, "[]")
            return f"size({place.optional}.orValue({empty}))"
        case Stream(branches) if branches:
            return " + ".join(map(_branch_length, branches))
        case Ordered(inside):
            return length_text(inside)
        case Otherwise(first, Constant(second)) if not second:
            return length_text(first)
        case Computed(text, Form.STRING, there):
            size = f"size({text})"
            return size if there == ALWAYS else f"({there.text} ? {size} : 0)"
    raise NotTranslated("a length of what is no list or text of an object")


def _branch_length(branch: Branch) -> str:
    """Return the number of values; of lists in lists, that of the inner ones is summed up."""
    if not branch.sources:
        raise NotTranslated("a length of what is no list or text of an object")
    *outer, source = branch.sources
    condition = some_item(branch.value, lambda _: ALWAYS)
    text = f"size({items_text(replace(source, only=conjunction([source.only, condition])))})"
    for item in reversed(outer):
        text = f"{items_text(item)}.map({item.variable}, {text}).sum()"
    return text


def items_text(source: Source) -> str:
    """Return the items of a list that are gone through; none of a list that is absent."""
    text = source.place.items
    if source.only == ALWAYS:
        return text
    return f"{text}.filter({source.variable}, {source.only.text})"


def constant_text(value: Query) -> str:
    """Return a text that the expression itself has. Raises NotTranslated."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        return value.value
    raise NotTranslated("a text that is no constant")


def constant_number(value: Query) -> int:
    """Return a whole number that the expression itself has. Raises NotTranslated."""
    if isinstance(value, Constant) and isinstance(value.value, int | float):
        return int(value.value)
    raise NotTranslated("a number that is no constant")


def single(value: Query) -> Computed:
    """Return a value as a single one. Raises NotTranslated of a list or object."""
    match value:
        case Located(place) if place.shape.form not in _OF_MANY:
            return Computed(place.plain, place.shape.form, place.present())
        case Computed():
            return value
        case Constant(str() | bool() | int() | float() as known):
            return Computed(literal(known), _FORMS[type(known)])
        case Truth(condition):
            return Computed(f"({condition.text})", Form.BOOL)
        case Length(of):
            text = length_text(of)
            return Computed(f"({text})" if " + " in text else text, Form.INTEGER)
        case Otherwise(Located(place), Constant(str(text))) if place.shape.form is Form.STRING:
            return Computed(text_or(place, text))
        case Otherwise(first, second):
            return _single_of(is_true(first), first, second)
        case Chosen(condition, then, other):
            return _single_of(condition, then, other)
    raise NotTranslated("a function of what is no single value")


SCALARS: Final = frozenset(
    {Form.BOOL, Form.INTEGER, Form.INT_OR_STRING, Form.NUMBER, Form.QUANTITY, Form.STRING}
)
"""Forms of what is neither a list nor an object."""
_OF_MANY: Final = (Form.FIELDS, Form.MAP, Form.LIST)
_FORMS: Final = {
    str: Form.STRING, bool: Form.BOOL, int: Form.INTEGER, float: Form.NUMBER
}  # fmt: skip


def _single_of(condition: Condition, consequent: Query, otherwise: Query) -> Computed:
    if condition in (ALWAYS, NEVER):
        return single(consequent if condition == ALWAYS else otherwise)
    if otherwise == ABSENT:
        computed = single(consequent)
        return replace(computed, presence=conjunction([condition, computed.presence]))
    computed, other = single(consequent), single(otherwise)
    form = (
        computed.form
        if Form.ANY in (computed.form, other.form)
        else _common_form(computed.form, other.form)
    )
    present = choice(condition, computed.presence, other.presence)
    if (
        isinstance(consequent, Located)
        and condition == consequent.place.present()
        and other.presence == ALWAYS
    ):
        return Computed(f"{consequent.place.optional}.orValue({other.text})", form)
    return Computed(f"({condition.text} ? {computed.text} : {other.text})", form, present)


def _common_form(form: Form, other: Form) -> Form:
    if form is other or (form, other) == (Form.QUANTITY, Form.STRING):
        return form
    raise NotTranslated("a value that is of one kind or of another")


def form_of(value: Query) -> Form:
    """Return which kind of value it is, as far as that is known."""
    match value:
        case Located(place):
            return place.shape.form
        case Computed(_, form):
            return form
    return Form.ANY


def asked_of(
    value: Query, test: Callable[[str], Condition], *, as_string: bool = False
) -> Condition:
    """Return what is asked of the text of a value; not so where it is absent. Raises
    NotTranslated."""
    if isinstance(value, Otherwise):
        match value.first, value.second:
            case Located(place), Constant(str(text)):
                return test(text_or(place, text))
    computed = single(value)
    text = (
        f"string({computed.text})"
        if as_string and computed.form is not Form.STRING
        else computed.text
    )
    return conjunction([computed.presence, test(text)])


def text_or(place: Place, default: str) -> str:
    """Return the text of a value, or another where it is absent or empty."""
    is_text = place.shape.form is Form.STRING
    if not default:
        string = f"{place.optional}.orValue('')"
        return string if is_text else f"string({string})"
    text = place.plain if is_text else f"string({place.plain})"
    condition = is_true(Located(place))
    return text if condition == ALWAYS else f"({condition.text} ? {text} : {quoted(default)})"


def compare(left: Query, operator: str, right: Query) -> Condition:
    """Return how two values compare, as JMESPath compares them. Raises NotTranslated."""
    match left, right:
        case Chosen(condition, then, other), _:
            return choice(
                condition, compare(then, operator, right), compare(other, operator, right)
            )
        case _, Chosen(condition, then, other):
            return choice(condition, compare(left, operator, then), compare(left, operator, other))
        case Computed(presence=there), _ if there != ALWAYS:
            return conjunction([there, compare(replace(left, presence=ALWAYS), operator, right)])
        case _, Computed(presence=there) if there != ALWAYS:
            return conjunction([there, compare(left, operator, replace(right, presence=ALWAYS))])
        case Merged(), Merged() if operator in ("==", "!="):
            same = _merged_alike(left.parts, right.parts)
            return same if operator == "==" else negation(same)
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
            present = place.present()
            return (
                disjunction([negation(present), same])
                if operator == "!="
                else conjunction([present, same])
            )
        case Truth(held), Constant(bool(value)) if operator in ("==", "!="):
            return held if value is (operator == "==") else negation(held)
        case Truth(one), Truth(other) if operator in ("==", "!="):
            return comparison(f"({one.text})", operator, f"({other.text})")
        case Length(), Constant(int(number)):
            return comparison(length_text(left.of), operator, str(number))
        case Computed(), Constant(value):
            return _compared_with(left, operator, value)
        case ((Located() | Computed()), (Located() | Computed())) if operator in ("==", "!="):
            return comparison(_maybe(left, right), operator, _maybe(right, left))
    raise NotTranslated("a comparison of values that are no single values")


def _merged_alike(left: tuple[Query, ...], right: tuple[Query, ...]) -> Condition:
    """Return whether two maps are the same once the same members of both have been replaced."""
    match left, right:
        case (one, Constant(dict() as replaced)), (other, Constant(values)) if values == replaced:
            maps = [_map_of(one), _map_of(other)]
            if all(maps):
                a, b = (str(source_map) for source_map in maps)
                is_replaced = member("key", literal(list(replaced)))
                is_same = conjunction(
                    [member("key", b), comparison(f"{b}[key]", "==", f"{a}[key]")]
                )
                return conjunction(
                    [
                        every(a, "key", disjunction([is_replaced, is_same])),
                        every(b, "key", disjunction([is_replaced, member("key", a)])),
                    ]
                )
    raise NotTranslated("merged objects, compared as a whole")


def _map_of(value: Query) -> str | None:
    """Return the text of a map; an empty one where it is absent. None of what is no map."""
    match value:
        case Otherwise(Located(place), Constant({})) | Located(place):
            if place.shape.form not in (Form.MAP, Form.ANY):
                return None
            return f"{place.optional}.orValue({{}})" if place.unsure else place.plain
    return None


def _compared_with(left: Computed, operator: str, value: Json) -> Condition:
    # Values of different kinds are not equal in JMESPath, and in no order.
    otherwise = constant(operator == "!=")
    match left.form:
        case Form.INTEGER if _is_number(value):
            if float(value).is_integer():
                return comparison(left.text, operator, str(int(value)))
            return otherwise if operator in ("==", "!=") else _ordered_by(left, operator, value)
        case Form.NUMBER if _is_number(value):
            return _ordered_by(left, operator, value)
        case Form.STRING | Form.QUANTITY if operator in ("==", "!=") and isinstance(value, str):
            return comparison(left.text, operator, literal(value))
        case Form.BOOL if operator in ("==", "!=") and isinstance(value, bool):
            condition = truth(left.text)
            return condition if value is (operator == "==") else negation(condition)
        case Form.STRING | Form.QUANTITY | Form.BOOL | Form.INTEGER | Form.NUMBER:
            return otherwise
        case Form.ANY:
            return comparison(left.text, operator, literal(value))
    raise NotTranslated("an amount compared as a text")


def _ordered_by(left: Computed, operator: str, value: float) -> Condition:
    return comparison(left.text, operator, literal(float(value)))


_ORDERS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def _is_in_order(value: Json, operator: str, other: Json) -> bool:
    """Return whether two values are in an order. In JMESPath only numbers have one."""
    return _is_number(value) and _is_number(other) and _ORDERS[operator](value, other)


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
            return Names({key: avoiding(value, name) for key, value in members.items()})
        case Located(place):
            return Located(replace(place, reserved_names=place.reserved_names | {name}))
        case Otherwise(first, second):
            return Otherwise(avoiding(first, name), avoiding(second, name))
        case Chosen(condition, first, second):
            return Chosen(condition, avoiding(first, name), avoiding(second, name))
    return value


def has_key(place: Place, key: str) -> Condition:
    """Return whether an object has a member."""
    if place.shape.form in (Form.MAP, Form.ANY):
        condition = place.present()
        return conjunction([condition, member(quoted(key), place.there().plain)])
    shape = place.shape.member(key)
    return place.member(key, shape).present() if shape is not None else NEVER


def element_branches(items: Query) -> list[Branch]:
    """Return the branches of a list that is gone through, with an element as value. Raises
    NotTranslated."""
    if form_of(items) in SCALARS:
        return [Branch((), items)]  # what is no list is one element (`EvaluateList`)
    result = []
    for branch in streamed(items).branches:
        inner = branch.value
        if isinstance(inner, Located) and inner.place.shape.form is Form.LIST:
            last = streamed(inner).branches[0]
            branch = Branch((*branch.sources, *last.sources), last.value)
        result.append(branch)
    return result


def elements(items: Query) -> list[Branch]:
    """Return the branches of a list of an object that is gone through, with the place of an element
    as value. Raises NotTranslated where the elements are no places in an object."""
    branches = element_branches(items)
    if not all(branch.sources and isinstance(branch.value, Located) for branch in branches):
        raise NotTranslated("a list of values made of others")
    return branches
