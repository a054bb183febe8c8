"""What a combination of conditions comes to, for every outcome that each of them may have.

A condition (an atom: whatever is not `&&`, `||`, `!`, `?:` or a written truth value) is true, false
or an error, and the same text is the same outcome wherever it stands. A table has what the whole
comes to for each combination; an error is known by the condition that it is of, since messages tell
which it was. Two combinations with one table come to the same for any input, whatever the
conditions are about: dropping a clause that others imply, saying something twice, `a || a && b`.

The rules are those of the language: `&&` is false where either side is, `||` true where either side
is, whatever the other side does; of two errors the left one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Final

from celadon.cel import syntax
from celadon.cel.syntax import Call, Expr, Literal

_MOST_ATOMS: Final = 7
"""Of which each has three outcomes."""
_TRUE: Final = "t"
_FALSE: Final = "f"

_LOGIC: Final = frozenset(
    {syntax.LOGICAL_AND, syntax.LOGICAL_OR, syntax.LOGICAL_NOT, syntax.CONDITIONAL}
)

Combination = Callable[[tuple[str, ...]], str]
"""What it comes to, by the outcomes of the atoms: `t`, `f`, or the number of an atom whose error
it is."""


def is_logic(node: Expr) -> bool:
    """Whether it combines conditions."""
    return isinstance(node, Call) and node.function in _LOGIC


def tabulated(node: Expr, text: Callable[[Expr], str], made: Callable[[], int]) -> Expr:
    """What stands for all combinations with the same table: a truth value, a condition, or a call
    whose name is the table and whose arguments are the conditions that matter. `text` tells
    conditions apart, `made` gives ids. Of too many conditions nothing is said: the node itself."""
    atoms: dict[str, Expr] = {}
    _collect(node, text, atoms)
    if len(atoms) > _MOST_ATOMS:
        return node
    names = sorted(atoms)
    combination = _combination(node, text, {name: i for i, name in enumerate(names)})
    every = [_outcomes(i) for i in range(len(names))]
    table = {given: combination(given) for given in product(*every)}
    kept = [i for i in range(len(names)) if _matters(table, i, every[i])]
    digits = _digits(table, every, kept)
    if not kept:
        return Literal(made(), digits == _TRUE) if digits in (_TRUE, _FALSE) else node
    if digits == "".join(_outcomes(0)) and len(kept) == 1:
        return atoms[names[kept[0]]]
    return Call(made(), f"table_{digits}", None, tuple(atoms[names[i]] for i in kept))


def _outcomes(number: int) -> tuple[str, ...]:
    """Those of an atom."""
    return (_TRUE, _FALSE, str(number))


def _collect(node: Expr, text: Callable[[Expr], str], found: dict[str, Expr]) -> None:
    if isinstance(node, Call) and is_logic(node):
        for one in node.args:
            _collect(one, text, found)
    elif not _is_truth(node):
        found.setdefault(text(node), node)


def _is_truth(node: Expr) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, bool)


def _combination(node: Expr, text: Callable[[Expr], str], atoms: dict[str, int]) -> Combination:
    if isinstance(node, Call) and is_logic(node):
        return _combined(node.function, [_combination(one, text, atoms) for one in node.args])
    if isinstance(node, Literal) and isinstance(node.value, bool):
        constant = _TRUE if node.value else _FALSE
        return lambda _: constant
    number = atoms[text(node)]
    return lambda given: given[number]


def _combined(function: str, parts: list[Combination]) -> Combination:
    if function == syntax.LOGICAL_NOT:
        (only,) = parts
        turned = {_TRUE: _FALSE, _FALSE: _TRUE}
        return lambda given: turned.get(only(given), only(given))
    if function == syntax.CONDITIONAL:
        condition, then, otherwise = parts
        return lambda given: _chosen(condition(given), then(given), otherwise(given))
    left, right = parts
    decides = _FALSE if function == syntax.LOGICAL_AND else _TRUE
    return lambda given: _absorbed(left(given), right(given), decides)


def _chosen(condition: str, then: str, otherwise: str) -> str:
    return {_TRUE: then, _FALSE: otherwise}.get(condition, condition)


def _absorbed(left: str, right: str, decides: str) -> str:
    if decides in (left, right):
        return decides
    is_truth = left in (_TRUE, _FALSE)
    return right if is_truth else left


def _matters(table: Mapping[tuple[str, ...], str], number: int, outcomes: tuple[str, ...]) -> bool:
    """Whether the outcome of an atom makes a difference."""
    return any(
        table[(*given[:number], other, *given[number + 1 :])] != came
        for given, came in table.items()
        for other in outcomes
    )


def _digits(
    table: Mapping[tuple[str, ...], str], every: list[tuple[str, ...]], kept: list[int]
) -> str:
    """The outcomes in order, atoms that make no difference left out; errors by the numbers of the
    atoms that are left."""
    numbers = {str(old): str(new) for new, old in enumerate(kept)}
    rows = product(*(every[i] if i in kept else every[i][:1] for i in range(len(every))))
    return "".join(numbers.get(table[given], table[given]) for given in rows)
