"""The values of an object that make an expression come to true, or to false.

`ways` reads the tree backwards: from what is wanted of the whole to what is wanted of its parts,
down to the places that are read and what they are compared with. A way is a map of places to
values; `GONE` stands for a place with nothing in it, `THERE` for one with anything. Ways are
guesses, the likely ones first: whoever asks tries them, since calls that are not known here only
say which values might matter. What is a fact of the request (`object.kind`) is given, and decides
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice, zip_longest
from types import MappingProxyType
from typing import Any, Final

from celadon.cel import syntax
from celadon.cel.extend import re2
from celadon.cli.policytest.referenced_fields import ROOTS
from celadon.cli.reading.json_text import Path
from celadon.records import dataclass

# --- Ways --------------------------------------------------------------------
#
# Ways: which values at which places, and how several become one.
#
# A way is a map of places to values. `GONE` stands for a place with nothing in it, `THERE` for
# one with anything, a `Length` for a value of that length. A place may end in `KEY`, any key of a
# map, or in `ANY_VALUE`, the value of any.

Way = Mapping[Path, Any]


class _Mark:
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


GONE: Final = _Mark("GONE")
THERE: Final = _Mark("THERE")
KEY: Final = "\0key"
"""The last step of a place that is any key of a map, not a value in it."""

ANY_VALUE: Final = "\0value"
"""The last step of a place that is the value of any key."""


@dataclass(frozen=True, slots=True)
class Length:
    """A value that is wanted for its length."""

    count: int


NOTHING: Final[Way] = MappingProxyType({})

_FLIPPED: Final = {"_<_": "_>_", "_>_": "_<_", "_<=_": "_>=_", "_>=_": "_<=_"}
NEGATED: Final = {
    "_==_": "_!=_",
    "_!=_": "_==_",
    "_<_": "_>=_",
    "_>=_": "_<_",
    "_>_": "_<=_",
    "_<=_": "_>_",
}
COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "_==_": lambda value, other: bool(value == other),
    "_!=_": lambda value, other: bool(value != other),
    "_<_": lambda value, other: bool(value < other),
    "_<=_": lambda value, other: bool(value <= other),
    "_>_": lambda value, other: bool(value > other),
    "_>=_": lambda value, other: bool(value >= other),
}


@dataclass(frozen=True, slots=True)
class Term:
    """Holds what a part of an expression stands for: a `place`, or a `constant` where that is
    None, if what `needs` says is so."""

    place: Path | None
    constant: Any = None
    needs: Way = field(default_factory=lambda: NOTHING)


Bound = Mapping[str, Term]
NO_NAMES: Final[Bound] = {}


def merged(way: Way, other: Way) -> Way | None:
    """Return both ways at once; None if they contradict each other."""
    if not way or not other:
        return way or other
    result = dict(way)
    for place, value in other.items():
        present = result.get(place, value)
        # A value is there as well, so the more exact demand stays.
        if present is THERE or (present is value) or present == value:
            result[place] = value
        elif value is not THERE or present is GONE:
            return None
    for place, value in result.items():
        if value is GONE and any(
            place == longer[: len(place)] and below is not GONE for longer, below in result.items()
        ):
            return None
    return result


def both_of(ones: Iterable[Way], other_ways: Iterable[Way]) -> Iterator[Way]:
    """Yield every way of the first with every one of the second; likely pairs first."""
    firsts, seconds = list(ones), list(other_ways)
    # By the sum of both indices: what is likely stands first in either list, so likely pairs come
    # first.
    for distance in range(len(firsts) + len(seconds)):
        for i in range(max(0, distance - len(seconds) + 1), min(distance + 1, len(firsts))):
            result = merged(firsts[i], seconds[distance - i])
            if result is not None:
                yield result


def different(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON
    """Values of the same type that are others."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        yield from ("x", f"{value}x")
    elif value is None:
        yield THERE


def _beside(function: str, value: object) -> Iterator[object]:
    """Values that compare so with a constant."""
    if isinstance(value, str) or value is None or isinstance(value, bool):
        yield from [value] if function == "_==_" else different(value)
        # Texts are in the order of their characters, so a longer one is greater.
        if isinstance(value, str) and function in ("_>_", "_>=_"):
            yield f"{value}0"
        return
    if not isinstance(value, int | float):
        return
    for number in (value, value + 1, value - 1):
        if COMPARED[function](number, value):
            yield number


def with_value(term: Term, place: Path, value: object) -> Iterator[Way]:
    """Yield a value at a place, and what the term needs."""
    result = merged(term.needs, {place: value})
    if result is not None:
        yield result


def needing(terms: Iterable[Term], needs: Sequence[Way]) -> Iterator[Term]:
    """Terms that each need one of several ways besides their own."""
    for term in terms:
        for need in needs:
            merged_needs = merged(term.needs, need)
            if merged_needs is not None:
                yield replace(term, needs=merged_needs)


def alternating(ones: Iterable[Way], other_ways: Iterable[Way]) -> Iterator[Way]:
    """Yield one of these, then one of those, as long as there are any."""
    for pair in zip_longest(ones, other_ways):
        yield from (way for way in pair if way is not None)


def turned(function: str) -> str:
    """Return the comparison with its sides changed over."""
    return _FLIPPED.get(function, function)


def compared(function: str, term: Term, other: Term) -> Iterator[Way]:
    """Yield what makes two terms compare so."""
    if term.place is None and other.place is None:
        try:
            holds = COMPARED[function](term.constant, other.constant)
        except TypeError:
            return
        yield from [NOTHING] if holds else ()
    elif term.place is None or other.place is None:
        place = term.place or other.place
        assert place is not None, "one of them is a place"
        constant = term.constant if term.place is None else other.constant
        relation = turned(function) if term.place is None else function
        for value in _beside(relation, constant):
            yield {place: value}
    elif function == "_==_":
        # Of which type the places are is not known here: texts and numbers are tried.
        yield {term.place: "x", other.place: "x"}
        yield {term.place: 1, other.place: 1}
    else:
        first, second = (2, 1) if function in ("_>_", "_>=_") else (1, 2)
        yield {term.place: "x", other.place: "y"}
        yield {term.place: first, other.place: second}


# --- Wanted values -----------------------------------------------------------

MOST_WAYS: Final = 24
"""Of one node."""
_MOST_DEPTH: Final = 60
_MOST_STEPS: Final = 1500
_MOST_TERMS: Final = 12
_MOST_NEEDS: Final = 3

_TEXTS: Final = ("x", "X", "1", "0", "x" * 300)
"""Texts that are tried where a pattern is to fit, or not."""
_KNOWN: Final = frozenset({"_&&_", "_||_", "!_", "_?_:_"})
"""What guesses say nothing about: all is known of them."""
_MAPS: Final = frozenset(
    {
        "annotations",
        "binaryData",
        "data",
        "hard",
        "labels",
        "limits",
        "matchLabels",
        "nodeSelector",
        "requests",
        "stringData",
    }
)
"""Fields whose loops go over keys."""
_SAME_VALUE: Final = frozenset(
    {"upperAscii", "lowerAscii", "trim", "string", "int", "double", "quantity", "dyn", "value"}
)
"""Calls through which a value is looked at that is nearly the same."""
_TEXT_TESTS: Final[dict[str, Callable[[str, str], bool]]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": str.__contains__,
    "matches": lambda text, pattern: _matches(text, pattern),
}
_AMOUNTS: Final = {"isGreaterThan": "_>_", "isLessThan": "_<_"}


def _matches(text: str, pattern: str) -> bool:
    try:
        return bool(re2.compile(pattern).search(text))
    except re2.RegexError:
        return False


class ValueSearch:
    """Reads the expressions of one policy for one kind of request. `facts` are places whose values
    are given."""

    def __init__(self, variables: Mapping[str, syntax.Expr], facts: Mapping[Path, object]) -> None:
        self._variables = variables
        self._facts = facts
        self._depth = 0
        self._known_ways: dict[tuple[int, bool], list[Way]] = {}
        self._steps_left = 0
        """Steps that may still be taken: the answer takes no longer than that."""

    def _may_go_on(self) -> bool:
        self._steps_left -= 1
        return self._steps_left > 0 and self._depth < _MOST_DEPTH

    def ways(self, node: syntax.Expr, bound: Bound = NO_NAMES, *, truth: bool) -> list[Way]:
        """Return how a condition comes to a truth value; `bound` are the items of loops."""
        # Names of loops mean something else in each round, so only what is asked outside of loops
        # is kept.
        key = (id(node), truth)
        if not bound and key in self._known_ways:
            return self._known_ways[key]
        if not self._may_go_on():
            return []
        self._depth += 1
        result: dict[str, Way] = {}
        for way in self._ways(node, truth, bound):
            result.setdefault(repr(sorted(way.items(), key=str)), way)
            # The ways of `&&` multiply, so each node hands up a bounded number.
            if len(result) == MOST_WAYS:
                break
        self._depth -= 1
        if not bound:
            self._known_ways[key] = list(result.values())
        return list(result.values())

    def all_of(self, nodes: Sequence[tuple[syntax.Expr, bool]]) -> list[Way]:
        """Return how several conditions come to what is wanted of each."""
        result: list[Way] = [NOTHING]
        for node, truth in nodes:
            self._steps_left = _MOST_STEPS
            node_ways = self.ways(node, truth=truth)
            result = list(islice(both_of(result, node_ways), MOST_WAYS))
        return result

    def _ways(self, node: syntax.Expr, truth: bool, bound: Bound) -> Iterator[Way]:  # noqa: FBT001 - what is wanted is the question
        match node:
            case syntax.Literal(_, bool() as value):
                yield from [NOTHING] if value is truth else ()
            case syntax.Call(_, "!_", None, (one,)):
                yield from self.ways(one, bound, truth=not truth)
            case syntax.Call(_, "_&&_" | "_||_" as function, None, (first, second)):
                yield from self._of_two(first, second, truth, function == "_&&_", bound)
            case syntax.Call(_, "_?_:_", None, (condition, first, second)):
                for holds, branch in ((True, first), (False, second)):
                    needs = self.ways(condition, bound, truth=holds)
                    branch_ways = self.ways(branch, bound, truth=truth) if needs else []
                    yield from both_of(needs, branch_ways)
            case syntax.Select(_, operand, name, True):
                for term in self._terms(operand, bound):
                    if term.place is not None:
                        yield from with_value(term, (*term.place, name), THERE if truth else GONE)
            case syntax.Select(_, syntax.Ident(_, "variables"), name) if name in self._variables:
                yield from self.ways(self._variables[name], truth=truth)
            case syntax.Comprehension():
                yield from self._of_loop(node, truth, bound)
            case syntax.Call(_, function, None, (one, other)) if function in COMPARED:
                relation = function if truth else NEGATED[function]
                yield from self._of_comparison(relation, one, other, bound)
            case syntax.Call(_, "@in", None, (one, other)):
                yield from self._of_membership(one, other, truth, bound)
            case syntax.Call(_, function, target, (one,)) if target and function in _TEXT_TESTS:
                yield from self._of_text(function, target, one, truth, bound)
            case syntax.Call(_, function, target, (one,)) if target and function in _AMOUNTS:
                relation = _AMOUNTS[function] if truth else NEGATED[_AMOUNTS[function]]
                yield from self._of_comparison(relation, target, one, bound)
            case syntax.Call(_, "hasValue", target, ()) if target:
                for term in self._terms(target, bound):
                    if term.place is not None:
                        yield from with_value(term, term.place, THERE if truth else GONE)
            case _:
                for term in self._terms(node, bound):
                    if term.place is not None:
                        yield from with_value(term, term.place, truth)
                    elif term.constant is truth:
                        yield term.needs
        yield from self._guesses(node, bound)

    def _of_two(
        self,
        first: syntax.Expr,
        second: syntax.Expr,
        truth: bool,  # noqa: FBT001 - what is wanted is the question
        both: bool,  # noqa: FBT001 - `&&` rather than `||`
        bound: Bound,
    ) -> Iterator[Way]:
        """Yield what the sides of `&&` and `||` want: where one side decides, the other may guard
        it."""
        ones = self.ways(first, bound, truth=truth)
        ways = self.ways(second, bound, truth=truth)
        if truth is both:
            yield from both_of(ones, ways)
            return
        guarded = both_of(self.ways(first, bound, truth=not truth), ways)
        yield from alternating(guarded, ones)
        yield from ways

    def _of_loop(self, node: syntax.Comprehension, truth: bool, bound: Bound) -> Iterator[Way]:  # noqa: FBT001 - what is wanted is the question
        """Yield what `all`, `exists` and `exists_one` want."""
        match node.accu_init, node.step:
            case syntax.Literal(_, True), syntax.Call(_, "_&&_", None, (_, predicate)):
                item_truth, empty = truth, truth
            case syntax.Literal(_, False), syntax.Call(_, "_||_", None, (_, predicate)):
                item_truth, empty = truth, not truth
            case syntax.Literal(_, 0), syntax.Call(_, "_?_:_", None, (predicate, *_)):
                item_truth, empty = truth, not truth
            case _:
                return
        with_items = self._of_items(node, predicate, item_truth, bound)
        yield from alternating(with_items, self._empty(node.iter_range, bound) if empty else ())

    def _of_items(
        self,
        node: syntax.Comprehension,
        predicate: syntax.Expr,
        truth: bool,  # noqa: FBT001 - what is wanted is the question
        bound: Bound,
    ) -> Iterator[Way]:
        """Yield what makes a predicate hold, or not, for an item."""
        for item in self._items(node.iter_range, bound):
            inner = {**bound, **_named(node, item)}
            nothing = NOTHING if item.place is None else {item.place: THERE}
            needs = merged(item.needs, nothing)
            if needs is not None:
                yield from both_of([needs], self.ways(predicate, inner, truth=truth))

    def _empty(self, node: syntax.Expr, bound: Bound) -> Iterator[Way]:
        """Yield what makes a list have no items, as far as it is one place."""
        for term in self._terms(node, bound):
            if term.place is not None:
                yield from with_value(term, term.place, GONE)

    def _of_comparison(
        self, function: str, left: syntax.Expr, other: syntax.Expr, bound: Bound
    ) -> Iterator[Way]:
        for counted, limit, text in ((left, other, function), (other, left, turned(function))):
            inside = _counted(counted)
            if inside is not None:
                for term in self._terms(limit, bound):
                    if isinstance(term.constant, int) and term.place is None:
                        yield from self._of_length(inside, text, term.constant, bound)
        for first in self._terms(left, bound):
            for second in self._terms(other, bound):
                needs = merged(first.needs, second.needs)
                if needs is not None:
                    yield from both_of([needs], compared(function, first, second))

    def _of_length(
        self, node: syntax.Expr, function: str, limit: int, bound: Bound
    ) -> Iterator[Way]:
        """Yield what makes a list, a map or a text as long."""
        lengths = [n for n in (limit, limit + 1, limit - 1) if n >= 0]
        for length in [n for n in lengths if COMPARED[function](n, limit)]:
            if length == 0:
                yield from self._none_of(node, bound)
                continue
            for term in self._terms(node, bound):
                if term.place is not None:
                    yield from with_value(term, term.place, Length(length))
            for item in self._items(node, bound):
                if item.place is not None:
                    yield from with_value(item, item.place, THERE)
                elif item.needs:
                    yield item.needs

    def _none_of(self, node: syntax.Expr, bound: Bound) -> Iterator[Way]:
        """Yield what makes a list empty, one that a loop selects included."""
        node = self._written(node)
        while isinstance(node, syntax.Comprehension):
            selected = _selected(node)
            if selected is not None:
                yield from self._of_items(*selected, truth=False, bound=bound)
            node = self._written(node.iter_range)
        yield from self._empty(node, bound)

    def _of_membership(
        self,
        item_node: syntax.Expr,
        other: syntax.Expr,
        truth: bool,  # noqa: FBT001 - what is wanted is the question
        bound: Bound,
    ) -> Iterator[Way]:
        listed = self._written(other)
        if isinstance(listed, syntax.ListLiteral):
            values = [term for each in listed.elements for term in self._terms(each, bound)]
            constants = [term.constant for term in values if term.place is None]
            for term in self._terms(item_node, bound):
                if term.place is None:
                    if (term.constant in constants) is truth:
                        yield term.needs
                    continue
                for value in (
                    constants if truth else (f"{constants[0]}x" if constants else "x", "x")
                ):
                    yield from with_value(term, term.place, value)
            return
        for holder in self._terms(other, bound):
            for term in self._terms(item_node, bound):
                if holder.place is not None and term.place is None:
                    yield from self._with_member(holder, term, truth)
        for item in self._items(other, bound):
            for term in self._terms(item_node, bound):
                yield from compared("_==_" if truth else "_!=_", term, item)

    def _with_member(self, holder: Term, term: Term, truth: bool) -> Iterator[Way]:  # noqa: FBT001 - what is wanted is the question
        """Yield the ways with a key of a map, or an item of a list."""
        assert holder.place is not None, "it is a place"
        value = term.constant
        keyed = isinstance(value, str) and str(holder.place[-1]) in _MAPS
        for place, item in (
            ((*holder.place, value), THERE),
            ((*holder.place, 0), value),
        ):
            if isinstance(value, str) or not keyed:
                yield from with_value(holder, place, item if truth else GONE)
            if keyed:
                return

    def _of_text(
        self,
        function: str,
        target: syntax.Expr,
        argument: syntax.Expr,
        truth: bool,  # noqa: FBT001 - what is wanted is the question
        bound: Bound,
    ) -> Iterator[Way]:
        test = _TEXT_TESTS[function]
        for item in self._terms(argument, bound):
            if not isinstance(item.constant, str):
                continue
            text = item.constant
            tries = (text, f"{text}x", f"x{text}", f"{text}/x", *_TEXTS, text.strip("^$"))
            fitting = [candidate for candidate in tries if test(candidate, text) is truth]
            for term in self._terms(target, bound):
                if term.place is None:
                    if isinstance(term.constant, str) and test(term.constant, text) is truth:
                        yield term.needs
                    continue
                for word in fitting:
                    yield from with_value(term, term.place, word)

    def _guesses(self, node: syntax.Expr, bound: Bound) -> Iterator[Way]:
        """Yield what is read below a call that is not known, with what stands beside it."""
        if not isinstance(node, syntax.Call) or node.function in _KNOWN:
            return
        children = list(_below(node))
        values = [
            element.value
            for element in children
            if isinstance(element, syntax.Literal) and isinstance(element.value, str | int)
        ]
        beside = [other for value in values for other in different(value)]
        for item in children:
            for term in self._terms(item, bound):
                if term.place is not None and len(term.place) > 1:
                    for value in (*values, *beside, *_TEXTS):
                        yield from with_value(term, term.place, value)

    def _written(self, node: syntax.Expr) -> syntax.Expr:
        """Return the expression of a variable, for its name."""
        while isinstance(node, syntax.Select) and isinstance(node.operand, syntax.Ident):
            if node.operand.name != "variables" or node.field not in self._variables:
                break
            node = self._variables[node.field]
        return node

    def _terms(self, node: syntax.Expr, bound: Bound) -> list[Term]:
        """Return what a part of an expression may stand for."""
        if not self._may_go_on():
            return []
        self._depth += 1
        terms = list(islice(self._read_terms(node, bound), _MOST_TERMS))
        self._depth -= 1
        return terms

    def _read_terms(self, node: syntax.Expr, bound: Bound) -> Iterator[Term]:
        match node:
            case syntax.Literal(_, value):
                yield Term(None, value)
            case syntax.Ident(_, name):
                if name in bound:
                    yield bound[name]
                elif name in ROOTS or name == "request":
                    yield Term((name,))
            case syntax.Select(_, syntax.Ident(_, "variables"), name) if name in self._variables:
                yield from self._terms(self._variables[name], NO_NAMES)
            case syntax.Select(_, operand, name, False):
                yield from self._steps(operand, name, bound)
            case syntax.Call(_, "_[_]" | "_?._" | "_[?_]", None, (operand, index)):
                for key in self._terms(index, bound):
                    if key.place is None and isinstance(key.constant, str | int):
                        yield from self._steps(operand, key.constant, bound)
                    elif key.place and key.place[-1] == KEY:
                        yield Term((*key.place[:-1], ANY_VALUE), needs=key.needs)
            case syntax.Call(_, "_?_:_", None, (condition, first, second)):
                for holds, branch in ((True, first), (False, second)):
                    needs = self.ways(condition, bound, truth=holds)[:_MOST_NEEDS]
                    yield from needing(self._terms(branch, bound) if needs else (), needs)
            case syntax.Call(_, "orValue" | "or", target, (other,)) if target:
                yield from self._terms(target, bound)
                yield from self._terms(other, bound)
            case syntax.Call(_, function, target, args) if function in _SAME_VALUE:
                for argument in (target, *args):
                    if argument is not None:
                        yield from self._terms(argument, bound)
            case _:
                return

    def _steps(self, operand: syntax.Expr, step: str | int, bound: Bound) -> Iterator[Term]:
        for term in self._terms(operand, bound):
            if term.place is None:
                continue
            place = (*term.place, 0 if isinstance(step, int) else step)
            if place in self._facts:
                yield Term(None, self._facts[place], term.needs)
            elif place[0] != "request" or len(place) < 3:
                yield Term(place, needs=term.needs)

    def _items(self, node: syntax.Expr, bound: Bound) -> list[Term]:
        """Return what a loop over a list, or over the keys of a map, may have in hand."""
        if not self._may_go_on():
            return []
        self._depth += 1
        terms = list(islice(self._read_items(self._written(node), bound), _MOST_TERMS))
        self._depth -= 1
        return terms

    def _read_items(self, node: syntax.Expr, bound: Bound) -> Iterator[Term]:
        match node:
            case syntax.ListLiteral(_, elements):
                for element in elements:
                    yield from self._terms(element, bound)
            case syntax.Call(_, "_+_", None, (first, second)):
                yield from self._items(first, bound)
                yield from self._items(second, bound)
            case syntax.Call(_, "_?_:_", None, (condition, first, second)):
                for holds, branch in ((True, first), (False, second)):
                    needs = self.ways(condition, bound, truth=holds)[:_MOST_NEEDS]
                    yield from needing(self._items(branch, bound) if needs else (), needs)
            case syntax.Call(_, "orValue", target, _) if target:
                yield from self._items(target, bound)
            case syntax.Comprehension():
                yield from self._selected_items(node, bound)
            case _:
                for term in self._terms(node, bound):
                    if term.place is not None:
                        step = KEY if str(term.place[-1]) in _MAPS else 0
                        yield Term((*term.place, step), needs=term.needs)

    def _selected_items(self, node: syntax.Comprehension, bound: Bound) -> Iterator[Term]:
        """Yield what `filter` and `map` want."""
        selected = _selected(node)
        for item in self._items(node.iter_range, bound):
            inner = {**bound, **_named(node, item)}
            needs: list[Way] = [item.needs]
            if selected is not None:
                needs = list(both_of(needs, self.ways(selected[1], inner, truth=True)))
            for term in self._appended(node, inner):
                for need in needs[:_MOST_NEEDS]:
                    merged_needs = merged(need, term.needs)
                    if merged_needs is not None:
                        yield replace(term, needs=merged_needs)

    def _appended(self, node: syntax.Comprehension, bound: Bound) -> list[Term]:
        step = node.step
        if isinstance(step, syntax.Call) and step.function == "_?_:_":
            step = step.args[1]
        match step:
            case syntax.Call(_, "_+_", None, (_, syntax.ListLiteral(_, (one,)))):
                terms = self._terms(one, bound)
                return terms or [Term(None, None, term.needs) for term in bound.values()][-1:]
            case _:
                return []


def _named(node: syntax.Comprehension, item: Term) -> Bound:
    """Return the names that a loop gives to an item; with two, the first is its key or its
    index."""
    if not node.iter_var2:
        return {node.iter_var: item}
    place = item.place
    if place is not None and place[-1] == KEY:
        return {node.iter_var: item, node.iter_var2: replace(item, place=(*place[:-1], ANY_VALUE))}
    return {node.iter_var: Term(None, 0), node.iter_var2: item}


def _selected(node: syntax.Expr) -> tuple[syntax.Comprehension, syntax.Expr] | None:
    """Return the loop and the predicate of a `filter`."""
    match node:
        case syntax.Comprehension(
            accu_init=syntax.ListLiteral(), step=syntax.Call(_, "_?_:_", None, (predicate, *_))
        ):
            return node, predicate
        case _:
            return None


def _counted(node: syntax.Expr) -> syntax.Expr | None:
    """Return what a call of `size` counts."""
    match node:
        case syntax.Call(_, "size", None, (one,)):
            return one
        case syntax.Call(_, "size", target, ()):
            return target
        case _:
            return None


def _below(node: syntax.Expr) -> Iterator[syntax.Expr]:
    for child in syntax.children(node):
        yield child
        yield from _below(child)
