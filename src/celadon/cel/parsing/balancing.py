"""Runs of `&&` and `||` as balanced trees (cel-go `parser/helper.go`).

A run of terms becomes a tree of logarithmic depth. The order of terms stays; only which operator
is blamed, and how deep evaluation goes, depends on the shape.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cel.syntax import Call, Expr


def balance(function: str, terms: Sequence[Expr], ids: Sequence[int]) -> Expr:
    """`ids` are the operators' node ids, one fewer than there are terms."""
    if len(ids) == 1:
        return Call(ids[0], function, None, (terms[0], terms[1]))
    return _balance(function, terms, ids, 0, len(ids) - 1)


def _balance(function: str, terms: Sequence[Expr], ids: Sequence[int], low: int, high: int) -> Expr:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balance(function, terms, ids, low, middle - 1)
    right = (
        terms[middle + 1] if middle == high else _balance(function, terms, ids, middle + 1, high)
    )
    return Call(ids[middle], function, None, (left, right))
