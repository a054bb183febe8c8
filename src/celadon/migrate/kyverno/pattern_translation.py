"""Patterns of Kyverno as conditions of CEL: their leaves, and the trees that leaves stand in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeGuard

from celadon.kube import Json
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Binding,
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
    some,
    truth,
)
from celadon.migrate.kyverno.jmespath_queries import Computed, Reference, compare
from celadon.migrate.kyverno.patterns import (
    Alternatives,
    Anchor,
    AnchorKind,
    Comparison,
    Operator,
    amount,
    anchor_of,
    compares,
    has_wildcards,
    nanoseconds,
    ordinary_keys,
    read_string,
    scalar_matches,
)
from celadon.migrate.schema_fields import Form, Place
from celadon.migrate.translations import NotTranslated

# --- Leaves ------------------------------------------------------------------

# What a value may be is known by its schema, so that `replicas: ">2"` becomes
# `object.spec.replicas > 2` and not what it would have to be for a text. Where the schema is not
# known, the value is taken as a text or a number as the pattern has it.

_RELATIONS: Final = {
    Operator.EQUAL: "==",
    Operator.NOT_EQUAL: "!=",
    Operator.MORE: ">",
    Operator.MORE_EQUAL: ">=",
    Operator.LESS: "<",
    Operator.LESS_EQUAL: "<=",
}
DURATION: Final = quoted(r"^([-+]0|[-+]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$")
"""The pattern of durations as Go reads them, as a literal; `0` is taken for a number before."""


def leaf(text: str, form: Form, pattern: Json | Reference) -> Condition:
    """Return what a leaf of a pattern demands of a value that is there, `text` reads it. Raises
    NotTranslated."""
    match pattern:
        case Reference(query):
            return compare(query, "==", Computed(text, form))
        case bool():
            return _bool(text, form, value=pattern)
        case int():
            return _integer(text, form, pattern)
        case float():
            return compared_leaf(text, form, Comparison(Operator.EQUAL, repr(pattern)))
        case None:
            return _empty(text, form)
        case str():
            return _string(text, form, read_string(pattern))
    raise NotTranslated("a pattern that is neither a value nor a map nor a list")


def optional_leaf(place: Place, pattern: Json | Reference, *, fine_if_absent: bool) -> Condition:
    """Return what a leaf of a pattern demands of a value that may be absent. Raises
    NotTranslated."""
    form = place.shape.form
    default = _DEFAULTS.get(form)
    # Several optional steps: one `orValue` reads better than a chain of `has`. What a variable
    # reads may be the very value that stands for an absent one.
    if place.unsure > 1 and default is not None and not isinstance(pattern, Reference):
        for value in (*default, *(_words(pattern) if form is Form.STRING else ())):
            if scalar_matches(value, pattern) is fine_if_absent:
                return leaf(f"{place.optional}.orValue({literal(value)})", form, pattern)
    if place.unsure > 1 and form is Form.INTEGER and isinstance(pattern, int | str):
        for number in _numbers_near(pattern):
            condition = leaf(f"{place.optional}.orValue({number})", form, pattern)
            is_one = condition.binding is Binding.RELATION and "string(" not in condition.text
            if is_one and scalar_matches(number, pattern) is fine_if_absent:
                return condition
    present = place.present()
    demanded = leaf(place.plain, form, pattern)
    if fine_if_absent:
        return disjunction([negation(present), demanded])
    return conjunction([present, demanded])


_DEFAULTS: Final[Mapping[Form, tuple[Json, ...]]] = {Form.BOOL: (False, True), Form.STRING: ("",)}
"""Values that may stand for one that is absent, where they come to the same."""


def _words(pattern: Json | Reference) -> Iterator[str]:
    """Yield the texts that a pattern names."""
    for alternative in read_string(pattern) if isinstance(pattern, str) else ():
        word = _word(alternative, Form.STRING)
        yield from [word] if word else ()


def _numbers_near(pattern: int | str) -> Iterator[int]:
    """Yield small integers, then those at the bound that a pattern has."""
    yield from (0, 1)
    quantity = amount(str(pattern).strip("!<>= "))
    bound = quantity.as_int64() if quantity is not None and quantity.is_integer else None
    if bound is not None and abs(bound) < _MOST_AT_A_BOUND:
        yield from (bound + item for item in (-1, 0, 1))


_MOST_AT_A_BOUND: Final = 2**53


def _string(text: str, form: Form, alternatives: Alternatives) -> Condition:
    words = [_word(alternative, form) for alternative in alternatives]
    # `a | b | c` of plain words is shorter as a list.
    if len(words) > 1 and None not in words:
        return member(text, literal(words))
    return disjunction(
        conjunction(
            disjunction(compared_leaf(text, form, item) for item in condition)
            for condition in alternative
        )
        for alternative in alternatives
    )


def _word(alternative: tuple[tuple[Comparison, ...], ...], form: Form) -> str | None:
    """Return the one text that an alternative means; None of others."""
    if form not in (Form.STRING, Form.ANY) or len(alternative) > 1 or len(alternative[0]) > 1:
        return None
    comparison = alternative[0][0]
    is_word = comparison.operator is Operator.EQUAL and not has_wildcards(comparison.operand)
    return comparison.operand if is_word and not _is_scalar(comparison.operand) else None


def _is_scalar(text: str) -> bool:
    """Return whether a text also means a value that is no text."""
    return text in ("true", "false") or amount(text) is not None or nanoseconds(text) is not None


def _bool(text: str, form: Form, *, value: bool) -> Condition:
    if form is Form.BOOL:
        return truth(text) if value else negation(truth(text))
    return comparison(text, "==", literal(value)) if form is Form.ANY else NEVER


def _integer(text: str, form: Form, value: int) -> Condition:
    match form:
        case Form.INTEGER | Form.NUMBER:
            return comparison(text, "==", str(value))
        case Form.STRING:
            return comparison(text, "==", quoted(str(value)))
        case Form.ANY | Form.INT_OR_STRING:
            return comparison(f"string({text})", "==", quoted(str(value)))
        case Form.QUANTITY:
            return _quantities(text, Comparison(Operator.EQUAL, str(value)))
    return NEVER


def _empty(text: str, form: Form) -> Condition:
    empty = {Form.STRING: "''", Form.INTEGER: "0", Form.NUMBER: "0.0"}
    if form is Form.BOOL:
        return negation(truth(text))
    if form in empty:
        return comparison(text, "==", empty[form])
    if form is Form.ANY:
        return disjunction(comparison(text, "==", item) for item in ("null", "false", "0", "''"))
    return NEVER


def compared_leaf(text: str, form: Form, leaf: Comparison) -> Condition:
    """Return how a value that is there compares, by what it may be. Raises NotTranslated."""
    match form:
        case Form.BOOL:
            return _as_bool(text, leaf)
        case Form.INTEGER:
            return _as_integer(text, leaf)
        case Form.QUANTITY:
            return _as_quantity(text, leaf)
        case Form.STRING:
            return _as_string(text, leaf)
        case Form.INT_OR_STRING:
            is_number = comparison(f"type({text})", "==", "int")
            number, string = (
                compared_leaf(f"{kind}({text})", shape, leaf) for kind, shape in _EITHER
            )
            return choice(is_number, number, string)
        case Form.ANY:
            return _as_string(f"string({text})" if _is_scalar(leaf.operand) else text, leaf)
        case Form.NUMBER:
            raise NotTranslated("a string compared with a number that is no integer")
    return NEVER


_EITHER: Final = (("int", Form.INTEGER), ("string", Form.STRING))


def _as_bool(text: str, leaf: Comparison) -> Condition:
    outcomes = [compares(value, leaf) for value in (True, False)]
    # Both values are tried, so the comparison comes out as Kyverno's, whatever the operand is.
    if outcomes[0] == outcomes[1]:
        return constant(outcomes[0])
    return truth(text) if outcomes[0] else negation(truth(text))


def _as_integer(text: str, leaf: Comparison) -> Condition:
    quantity = amount(leaf.operand)
    # An integer has a text, and `==` with wildcards is asked of that (`compareString`).
    if quantity is None or not quantity.is_integer:
        if leaf.operator in (Operator.EQUAL, Operator.NOT_EQUAL):
            return _wild(f"string({text})", leaf)
        if quantity is None:
            return NEVER
        raise NotTranslated(f"an integer compared with `{leaf.operand}`")
    return comparison(text, _RELATIONS[leaf.operator], str(quantity.as_int64()))


def _as_quantity(text: str, leaf: Comparison) -> Condition:
    if amount(leaf.operand) is not None:
        return _quantities(text, leaf)
    if leaf.operator is Operator.EQUAL and set(leaf.operand) <= {"*", "?"}:
        return constant(leaf.operand.count("?") < 2)  # every quantity has a text
    return _as_text(text, leaf)


def _quantities(text: str, leaf: Comparison) -> Condition:
    left = f"quantity({text}).compareTo(quantity({quoted(leaf.operand)}))"
    return comparison(left, _RELATIONS[leaf.operator], "0")


def _as_string(text: str, leaf: Comparison) -> Condition:
    """Durations are compared as durations, and quantities as quantities, where both sides are."""
    result = _as_text(text, leaf)
    if amount(leaf.operand) is not None:
        is_amount = truth(f"isQuantity({text})")
        result = choice(is_amount, _quantities(text, leaf), result)
    if nanoseconds(leaf.operand) not in (None, 0):
        left = f"duration({text})"
        right = f"duration({quoted(leaf.operand)})"
        is_duration = truth(f"{text}.matches({DURATION})")
        result = choice(is_duration, comparison(left, _RELATIONS[leaf.operator], right), result)
    return result


def _as_text(text: str, leaf: Comparison) -> Condition:
    if leaf.operator not in (Operator.EQUAL, Operator.NOT_EQUAL):
        return NEVER
    return _wild(text, leaf)


def _wild(text: str, leaf: Comparison) -> Condition:
    same = globbed(text, leaf.operand)
    return negation(same) if leaf.operator is Operator.NOT_EQUAL else same


def globbed(text: str, pattern: str) -> Condition:
    """Return whether a text is one that a pattern with wildcards stands for."""
    if not has_wildcards(pattern):
        return comparison(text, "==", quoted(pattern))
    squeezed = re.sub(r"\*+", "*", pattern)
    for wild, written in _SIMPLE:
        match = wild.fullmatch(squeezed)
        if match is not None:
            return written(text, *match.groups())
    parts = {"*": ".*", "?": ".", "?*": ".+"}
    pieces = re.split(r"(\?\*|[*?])", squeezed.replace("*?", "?*"))
    regex = "".join(parts.get(part) or _literal_of(part) for part in pieces)
    return truth(f"{text}.matches({quoted(f'^{regex}$')})")


def _literal_of(part: str) -> str:
    """Return a text as a regular expression of RE2 that means it."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", part)


def _ends(text: str, start: str, end: str) -> Condition:
    return conjunction([truth(f"{text}.startsWith({quoted(start)})"), _longer(text, start, end)])


def _longer(text: str, start: str, end: str) -> Condition:
    """Return whether a text that starts so ends so, where both do not overlap."""
    ends = truth(f"{text}.endsWith({quoted(end)})")
    return conjunction([ends, comparison(f"size({text})", ">=", str(len(start) + len(end)))])


_PLAIN: Final = r"([^*?]+)"
_SIMPLE: Final[tuple[tuple[re.Pattern[str], Callable[..., Condition]], ...]] = tuple(
    (re.compile(pattern, re.DOTALL), written)
    for pattern, written in (
        (r"\*", lambda text: ALWAYS),
        (r"\?\*|\*\?", lambda text: comparison(text, "!=", "''")),
        (rf"{_PLAIN}\*", lambda text, start: truth(f"{text}.startsWith({quoted(start)})")),
        (rf"\*{_PLAIN}", lambda text, end: truth(f"{text}.endsWith({quoted(end)})")),
        (rf"\*{_PLAIN}\*", lambda text, part: truth(f"{text}.contains({quoted(part)})")),
        (rf"{_PLAIN}\*{_PLAIN}", _ends),
    )
)
"""How patterns with few wildcards are written."""


# --- Patterns ----------------------------------------------------------------

# Patterns as conditions of CEL.
#
# Kyverno's answer to a pattern is one of three: pass, skip, fail. Each part of a pattern is
# translated into two conditions, whether it *skips* and whether it is *fine* (passes or skips).
# What skips a rule as a whole becomes a match condition, what is fine a validation. Of maps
# anchors are judged first, then fields in their order, and the first that does not pass decides;
# of lists an item that fails decides, and a list all of whose items skip is skipped.


@dataclass(frozen=True, slots=True)
class Answer:
    """A part of a pattern skips under one condition, and what does not skip is fine under
    another."""

    skips: Condition
    fine: Condition
    never_fails: Condition
    """Whether the part passes or skips."""

    def passes(self) -> Condition:
        """Return the condition under which the part passes."""
        return conjunction([negation(self.skips), self.fine])


def judged(fine: Condition, skips: Condition = NEVER) -> Answer:
    """Return the answer of a part that is fine wherever it skips."""
    return Answer(skips, fine, fine)


_FINE: Final = judged(ALWAYS)
_WRONG: Final = judged(NEVER)


def in_order(answers: Sequence[Answer]) -> Answer:
    """Return the answer of parts that are judged one after the other until one does not pass."""
    skips, fine, never_fails = NEVER, ALWAYS, ALWAYS
    for answer in reversed(answers):
        skips = disjunction([answer.skips, conjunction([answer.fine, skips])])
        fine = conjunction([answer.fine, fine])
        never_fails = (
            answer.never_fails
            if never_fails == ALWAYS
            else disjunction([answer.skips, conjunction([answer.fine, never_fails])])
        )
    return Answer(skips, fine, never_fails)


def guarded(place: Place, answer: Answer, absent: Answer) -> Answer:
    """Return an answer that is another one where the value is not there."""
    condition = place.present()
    return Answer(
        _where(condition, answer.skips, absent.skips),
        _where(condition, answer.fine, absent.fine),
        _where(condition, answer.never_fails, absent.never_fails),
    )


def _where(condition: Condition, consequent: Condition, otherwise: Condition) -> Condition:
    """Return `consequent` where something is there, and what is a constant otherwise."""
    if otherwise == ALWAYS:
        return disjunction([negation(condition), consequent])
    return conjunction([condition, consequent])


def element(place: Place, pattern: Json) -> Answer:
    """Return the answer for a value that is there. Raises NotTranslated."""
    form = place.shape.form
    if isinstance(pattern, Mapping):
        if form not in (Form.FIELDS, Form.MAP, Form.ANY):
            return _WRONG
        return _map(place, pattern)
    if _is_list(pattern):
        return _list(place, pattern) if form in (Form.LIST, Form.ANY) else _WRONG
    if form is Form.LIST:
        return _scalars(place, pattern)
    if form in (Form.FIELDS, Form.MAP):
        return _WRONG
    return judged(leaf(place.plain, form, pattern))


def _is_list(pattern: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(pattern, Sequence) and not isinstance(pattern, str)


def _scalars(place: Place, pattern: Json) -> Answer:
    item = place.item(place.item_name)
    condition = leaf(item.root, item.shape.form, pattern)
    return judged(every(place.items, item.root, condition, place.pool))


def _list(place: Place, patterns: Sequence[Json]) -> Answer:
    if not patterns:
        return _WRONG
    # Only the first item of the pattern counts, and it is meant for all items of the list
    # (`validate.go`, `validateArray`).
    first = patterns[0]
    if _is_list(first):
        raise NotTranslated("a list of lists in a pattern")
    if not isinstance(first, Mapping):
        return _scalars(place, first)
    item = place.item(place.item_name)
    answer = element(item, first)
    items = place.items
    fine = every(items, item.root, answer.never_fails, place.pool)
    # Without conditions inside, no item skips, so the list does not either.
    if answer.skips == NEVER:
        return judged(fine)
    # A list skips if all its items do, and there is one (`validateArrayOfMaps`).
    some_item = ALWAYS if place.is_never_empty else filled(items)
    return judged(fine, conjunction([some_item, every(items, item.root, answer.skips)]))


def _map(place: Place, pattern: Mapping[str, Json]) -> Answer:
    anchors = [(a, pattern[key]) for key in sorted(pattern) if (a := _judged_anchor(key))]
    conditions = [
        # A field that is absent fails a condition, but not a global one (`handlers.go`,
        # `conditionAnchorHandler` and `globalAnchorHandler`).
        _optional(place, anchor.key, value, _FINE if anchor.kind is AnchorKind.GLOBAL else _WRONG)
        for anchor, value in anchors
        if anchor.kind in _CONDITIONS
    ]
    members = [
        (anchor, _anchored(place, anchor, value))
        for anchor, value in anchors
        if anchor.kind not in _CONDITIONS
    ]
    all_skip = NEVER
    if not conditions and members and all(a.kind is AnchorKind.EQUALITY for a, _ in members):
        all_skip = conjunction(answer.skips for _, answer in members)
    fields = [_field(place, key, pattern[key]) for key in ordinary_keys(pattern)]
    return in_order(
        [
            # Any condition that does not pass skips the whole map, and with it what the other
            # anchors found (`validateMap`, `skipSiblingExists`).
            judged(ALWAYS, negation(conjunction(condition.passes() for condition in conditions))),
            judged(conjunction(answer.never_fails for _, answer in members), all_skip),
            *fields,
        ]
    )


_CONDITIONS: Final = (AnchorKind.CONDITION, AnchorKind.GLOBAL)


def _judged_anchor(key: str) -> Anchor | None:
    anchor = anchor_of(key)
    return anchor if anchor and anchor.kind is not AnchorKind.ADDITION else None


def _anchored(place: Place, anchor: Anchor, pattern: Json) -> Answer:
    match anchor.kind:
        # The value is not looked at: it is enough that the key is there (`negationHandler`).
        case AnchorKind.NEGATION:
            return judged(negation(_present(place, anchor.key)))
        case AnchorKind.EXISTENCE:
            field = _member(place, anchor.key)
            return guarded(field, _exists(field.there(), pattern), _FINE) if field else _FINE
    return _optional(place, anchor.key, pattern, _FINE)


def _present(place: Place, key: str) -> Condition:
    """Return whether a field is there, or a key that is meant by wildcards."""
    if has_wildcards(key):
        return some(place.plain, "key", globbed("key", key))
    field = _member(place, key)
    return field.present() if field else NEVER


def _member(place: Place, key: str) -> Place | None:
    shape = place.shape.member(key)
    return place.member(key, shape) if shape is not None else None


def _field(place: Place, key: str, pattern: Json) -> Answer:
    if anchor_of(key) is not None:
        raise NotTranslated("an anchor `+` in a validation")
    return _optional(place, key, pattern, _of_nothing(pattern))


def _of_nothing(pattern: Json) -> Answer:
    """Return what an ordinary field of a pattern says where there is no value."""
    # Kyverno reads an absent field as null (`defaultHandler`), which fits the patterns of empty
    # values, but not `*`.
    is_scalar = not isinstance(pattern, Mapping) and not _is_list(pattern)
    return judged(constant(is_scalar and pattern != "*" and scalar_matches(None, pattern)))


def _optional(place: Place, key: str, pattern: Json, absent: Answer) -> Answer:
    """Return the answer for a field that may be absent."""
    if place.shape.form in (Form.MAP, Form.ANY) and has_wildcards(key):
        return _wild_key(place, key, pattern, absent)
    field = _member(place, key)
    if field is None:
        return absent
    if pattern == "*":
        return guarded(field, _FINE, absent)
    if isinstance(pattern, Mapping):
        # What is below says the same of a field that is absent: one chain of optional steps.
        is_chain = field.shape.form in (Form.FIELDS, Form.MAP) and _is_chain(pattern, absent)
        return (
            _map(field, pattern)
            if is_chain
            else guarded(field, element(field.there(), pattern), absent)
        )
    if field.shape.form is Form.LIST and absent == _FINE and not field.steps[-1].is_nullable:
        # Of no items all is fine, too.
        answer = element(field, pattern)
        if answer.fine != NEVER:
            return answer
    if _is_list(pattern) or field.shape.form in (Form.LIST, Form.MAP, Form.FIELDS):
        return guarded(field, element(field.there(), pattern), absent)
    return judged(optional_leaf(field, pattern, fine_if_absent=absent.fine == ALWAYS))


def _is_chain(pattern: Mapping[str, Json], absent: Answer) -> bool:
    """Return whether every field of a pattern says of nothing what is said of the whole."""
    return bool(pattern) and all(
        not has_wildcards(key)
        and not _is_list(value)
        and _says_of_nothing(key, value) == absent
        and (not isinstance(value, Mapping) or _is_chain(value, absent))
        for key, value in pattern.items()
    )


def _says_of_nothing(key: str, pattern: Json) -> Answer | None:
    anchor = anchor_of(key)
    if anchor is None:
        return _of_nothing(pattern)
    return _FINE if anchor.kind in (AnchorKind.EQUALITY, AnchorKind.NEGATION) else None


def _exists(place: Place, patterns: Json) -> Answer:
    if not _is_list(patterns) or place.shape.form not in (Form.LIST, Form.ANY):
        return _WRONG
    item = place.item(place.item_name)
    # Each pattern has to find an item that passes; one that skips does not count.
    passing = (
        some(place.plain, item.root, element(item, pattern).passes(), place.pool)
        for pattern in patterns
    )
    return judged(conjunction(passing))


def _wild_key(place: Place, key: str, pattern: Json, absent: Answer) -> Answer:
    """Return the answer for keys of labels or annotations that are meant by wildcards."""
    if not isinstance(pattern, str):
        raise NotTranslated("wildcards in keys of others than strings")
    fits = globbed("key", key)
    value = leaf(f"{place.plain}[key]", place.shape.item().form, pattern)
    fine = every(place.plain, "key", disjunction([negation(fits), value]))
    if absent == _FINE:
        return judged(fine)
    return judged(conjunction([some(place.plain, "key", fits), fine]))
