"""Expressions of CEL as they are put together: texts that know how tightly they bind.

A condition is built bottom up, from comparisons, by `conjunction`, `disjunction`, `negation` and
the macros `every` and `some`. What is always true or always false disappears on the way, and a
negation moves inside (`!(a == b)` is written `a != b`), so that the result reads as if it had been
written by hand. Parentheses stand only where CEL needs them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from celadon.kube import Json


class Binding(enum.IntEnum):
    """The outermost operator of a text binds this tightly."""

    CHOICE = 0
    OR = 1
    AND = 2
    RELATION = 3
    SUM = 4
    PRODUCT = 5
    UNARY = 6
    MEMBER = 7


@dataclass(frozen=True, slots=True)
class Text:
    """An expression of any type."""

    text: str
    binding: Binding = Binding.MEMBER

    def inside(self, binding: Binding) -> str:
        """Return the text as an operand of an operator, in parentheses where it binds less
        tightly."""
        return self.text if self.binding >= binding else f"({self.text})"


Pool = tuple[str, int]
"""What lists have in common that may stand in one sum, and where one of them stands there."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A condition for all items of lists; negated, its opposite for one of them."""

    lists: frozenset[tuple[Pool, str]]
    """Lists in no pool have one of their own."""
    variable: str
    condition: Condition
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression of type bool, and how its opposite is written."""

    text: str
    binding: Binding
    opposite: str
    opposite_binding: Binding
    operands: tuple[Condition, ...] = field(default=(), compare=False, repr=False)
    """Of `&&` and `||`."""
    loop: Loop | None = field(default=None, compare=False, repr=False)
    """Where it is all that is said."""

    def inside(self, binding: Binding) -> str:
        """Return the text as an operand of an operator, in parentheses where it binds less
        tightly."""
        return self.text if self.binding >= binding else f"({self.text})"

    def __str__(self) -> str:
        return self.text


ALWAYS: Final = Condition("true", Binding.MEMBER, "false", Binding.MEMBER)
NEVER: Final = Condition("false", Binding.MEMBER, "true", Binding.MEMBER)

_OPPOSITES: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def truth(text: str, binding: Binding = Binding.MEMBER) -> Condition:
    """Return a condition that is one value or call."""
    opposite = f"!{text}" if binding >= Binding.UNARY else f"!({text})"
    return Condition(text, binding, opposite, Binding.UNARY)


def constant(value: bool) -> Condition:  # noqa: FBT001 - the value is all there is
    """Return what is always so, or never."""
    return ALWAYS if value else NEVER


def comparison(left: Text | str, operator: str, right: Text | str) -> Condition:
    """Return `left operator right`. Doubles are never compared here: NaN would break the
    opposite."""
    texts = [item if isinstance(item, str) else item.inside(Binding.SUM) for item in (left, right)]
    return Condition(
        f"{texts[0]} {operator} {texts[1]}",
        Binding.RELATION,
        f"{texts[0]} {_OPPOSITES[operator]} {texts[1]}",
        Binding.RELATION,
    )


def filled(items: str) -> Condition:
    """Return whether a list has items."""
    size = f"size({items})"
    return Condition(f"{size} > 0", Binding.RELATION, f"{size} == 0", Binding.RELATION)


def member(value: str, container: str) -> Condition:
    """Return `value in container`."""
    text = f"{value} in {container}"
    return Condition(text, Binding.RELATION, f"!({text})", Binding.UNARY)


def negation(condition: Condition) -> Condition:
    """Return the expression of the opposite."""
    loop = condition.loop
    return Condition(
        condition.opposite,
        condition.opposite_binding,
        condition.text,
        condition.binding,
        tuple(map(negation, condition.operands)),
        loop and replace(loop, is_negated=not loop.is_negated),
    )


def conjunction(conditions: Iterable[Condition]) -> Condition:
    """Return whether all hold; of none, all do. What stands twice is written once."""
    return _joined(conditions, ALWAYS, NEVER, Binding.AND)


def disjunction(conditions: Iterable[Condition]) -> Condition:
    """Return whether one holds; of none, none does. What stands twice is written once."""
    return _joined(conditions, NEVER, ALWAYS, Binding.OR)


def _joined(
    conditions: Iterable[Condition], neutral: Condition, decisive: Condition, binding: Binding
) -> Condition:
    flat = (
        each
        for condition in conditions
        for each in (
            condition.operands
            if condition.operands and condition.binding is binding
            else [condition]
        )
    )
    operands = list(dict.fromkeys(condition for condition in flat if condition != neutral))
    operands = _absorbed(_with_joined_loops(operands, binding), binding)
    if decisive in operands:
        return decisive
    if len(operands) < 2:
        return operands[0] if operands else neutral
    operators = {Binding.AND: " && ", Binding.OR: " || "}
    other = _OTHER[binding]
    return Condition(
        operators[binding].join(condition.inside(binding) for condition in operands),
        binding,
        operators[other].join(negation(condition).inside(other) for condition in operands),
        other,
        tuple(operands),
    )


_OTHER: Final = {Binding.AND: Binding.OR, Binding.OR: Binding.AND}


def _with_joined_loops(conditions: Sequence[Condition], binding: Binding) -> list[Condition]:
    """Return operands of which those about one list are one loop, and those that say the same of
    several lists of a pool one for the sum of the lists."""
    of_lists = _grouped(
        conditions,
        binding,
        lambda loop: (loop.lists, loop.variable),
        lambda a, b: replace(a, condition=conjunction([a.condition, b.condition])),
    )
    return _grouped(
        of_lists,
        binding,
        lambda loop: (loop.variable, loop.condition, next(pool for (pool, _), _ in loop.lists)),
        lambda a, b: replace(a, lists=a.lists | b.lists),
    )


def _grouped(
    conditions: Sequence[Condition],
    binding: Binding,
    key: Callable[[Loop], object],
    together: Callable[[Loop, Loop], Loop],
) -> list[Condition]:
    result: dict[object, Condition] = {}
    for condition in conditions:
        loop = condition.loop
        if loop is None or loop.is_negated is not (binding is Binding.OR):
            result[condition] = condition
            continue
        entry = result.get(key(loop))
        same = entry.loop if entry is not None else None
        result[key(loop)] = condition if same is None else _loop(together(same, loop))
    return list(result.values())


def _loop(loop: Loop) -> Condition:
    lists = [text for _, text in sorted(loop.lists)]
    items = lists[0] if len(lists) == 1 else f"({' + '.join(lists)})"
    every_item = Condition(
        f"{items}.all({loop.variable}, {loop.condition.text})",
        Binding.MEMBER,
        f"{items}.exists({loop.variable}, {loop.condition.opposite})",
        Binding.MEMBER,
        (),
        replace(loop, is_negated=False),
    )
    return negation(every_item) if loop.is_negated else every_item


def _absorbed(conditions: Sequence[Condition], binding: Binding) -> list[Condition]:
    """Return operands without what another of them says already: `a || !a && b` is `a || b`."""
    operands = set(conditions)
    result: list[Condition] = []
    for condition in conditions:
        if not condition.operands:
            result.append(condition)
            continue
        if operands & set(condition.operands):
            continue
        left = [
            _without(operand, operands, binding)
            for operand in condition.operands
            if negation(operand) not in operands
        ]
        is_same = left == list(condition.operands)
        together = conjunction if binding is Binding.OR else disjunction
        result.append(condition if is_same else together(left))
    return result


def _without(
    condition: Condition, conditions: Collection[Condition], binding: Binding
) -> Condition:
    left = [operand for operand in condition.operands if operand not in conditions]
    if len(left) == len(condition.operands):
        return condition
    return disjunction(left) if binding is Binding.OR else conjunction(left)


def choice(condition: Condition, consequent: Condition, otherwise: Condition) -> Condition:
    """Return `condition ? then : otherwise`."""
    if condition in (ALWAYS, NEVER) or consequent == otherwise:
        return otherwise if condition == NEVER else consequent
    if consequent in (ALWAYS, NEVER):
        together = disjunction if consequent == ALWAYS else conjunction
        return together([condition if consequent == ALWAYS else negation(condition), otherwise])
    if otherwise in (ALWAYS, NEVER):
        together = disjunction if otherwise == ALWAYS else conjunction
        return together([negation(condition) if otherwise == ALWAYS else condition, consequent])
    parts = [
        f"{condition.inside(Binding.OR)} ? {a.inside(Binding.OR)} : {b.inside(Binding.CHOICE)}"
        for a, b in ((consequent, otherwise), (negation(consequent), negation(otherwise)))
    ]
    return Condition(parts[0], Binding.CHOICE, parts[1], Binding.CHOICE)


def every(items: str, variable: str, condition: Condition, pool: Pool | None = None) -> Condition:
    """Return whether a condition holds for all items of a list, or all keys of a map."""
    if condition == ALWAYS:
        return ALWAYS
    name, unlike, value = condition.text.partition(" != ")
    if name == variable and unlike and condition.binding is Binding.RELATION:
        return negation(member(value, items))
    return _loop(Loop(frozenset([(pool or (items, 0), items)]), variable, condition))


def some(items: str, variable: str, condition: Condition, pool: Pool | None = None) -> Condition:
    """Return whether a condition holds for one item of a list, or one key of a map."""
    return negation(every(items, variable, negation(condition), pool))


def binds(condition: Condition, variable: str) -> bool:
    """Return whether a macro in a condition has a variable of this name, which hides others."""
    macro = re.compile(rf"\.(all|exists|filter)\({re.escape(variable)},")
    return macro.search(condition.text) is not None


def as_bool(condition: Condition) -> str:
    """Return the text of a condition that is a whole expression: one that is a field or a default
    has no type before the kind of the object is known, and an API server does not take it."""
    text = condition.text
    if condition.binding is not Binding.MEMBER:
        return text
    return f"{text} == true" if _READS.search(text) else text


_READS: Final = re.compile(r"(\.\w+|\]|\.orValue\((true|false)\))$")


def literal(value: Json) -> str:
    """Return a JSON value as a literal. Strings are in single quotes, as policies have them."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return quoted(value)
        case list() | tuple():
            return f"[{', '.join(alike(value, map(literal, value)))}]"
        case dict():
            texts = alike(value.values(), map(literal, value.values()))
            entries = [f"{quoted(key)}: {text}" for key, text in zip(value, texts, strict=True)]
            return f"{{{', '.join(entries)}}}"
    raise TypeError(f"no JSON: {value!r}")


def alike(values: Iterable[Json], texts: Iterable[str]) -> list[str]:
    """Return the texts of the members of a list or map: those of different types, which an API
    server takes for a mistake, as `dyn(...)`."""
    is_mixed = len(set(map(_kind, values))) > 1
    return [f"dyn({text})" if is_mixed else text for text in texts]


def _kind(value: Json) -> str:
    """Return what CEL calls the type of a literal, as far as others may differ from it."""
    if isinstance(value, Mapping):
        value = list(value.values())
        return f"map {' '.join(sorted(set(map(_kind, value))))}"
    if isinstance(value, list | tuple):
        return f"list {' '.join(sorted(set(map(_kind, value))))}"
    return type(value).__name__


_ESCAPES: Final = {"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def quoted(text: str) -> str:
    """Return a string literal. Patterns with backslashes are raw where that is possible."""
    # A raw string cannot hold its own quote.
    if "\\" in text and "'" not in text and text.isprintable():
        return f"r'{text}'"
    return f"'{''.join(_ESCAPES.get(text) or _escaped(text) for text in text)}'"


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def words(names: Sequence[str]) -> str:
    """Return names as a list literal."""
    return literal(list(names))
