"""Which loops of an expression ask for no item of their own, given what is known of its value.

A counterexample with a long list may leave out every item that nothing depends on. Where `all` is
known to be true it is true of fewer items as well; where it is known to be false, one item is to be
kept: the witness. So the loops below are told apart by what is claimed of the whole expression, and
a proof needs as many items as there are witnesses (`Cut`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from celadon.cel import syntax


@dataclass(frozen=True, slots=True)
class Claim:
    """That an expression is true (or false: `value`), or that it is not (`holds`): an error is
    neither true nor false."""

    value: bool
    holds: bool

    @property
    def of_negation(self) -> Claim:
        """The same claim, said of what is negated."""
        return replace(self, value=not self.value)


def free_loops(node: syntax.Expr, claim: Claim) -> frozenset[int]:
    """The loops (ids of their nodes) that need no witness."""
    return frozenset(_free(node, claim))


def _free(node: syntax.Expr, claim: Claim) -> Iterator[int]:
    match node:
        case syntax.Call(function=syntax.LOGICAL_AND | syntax.LOGICAL_OR):
            for one in node.args:
                yield from _free(one, claim)
        case syntax.Call(function=syntax.LOGICAL_NOT):
            yield from _free(node.args[0], claim.of_negation)
        case syntax.Call(function=syntax.CONDITIONAL):
            for one in node.args[1:]:
                yield from _free(one, claim)
        case syntax.Comprehension():
            yield from _of_loop(node, claim)


def _of_loop(node: syntax.Comprehension, claim: Claim) -> Iterator[int]:
    """`all` is true where each item is, false where one is; `exists` the other way round."""
    step = node.step
    if not isinstance(step, syntax.Call) or not isinstance(node.accu_init, syntax.Literal):
        return
    quantifier = {(syntax.LOGICAL_AND, True): True, (syntax.LOGICAL_OR, False): False}.get(
        (step.function, node.accu_init.value is True)
    )
    if quantifier is None:
        return
    is_free = (claim.value == quantifier) == claim.holds
    if is_free:
        yield node.id
    if claim.holds or not is_free:  # else an error of the range would be a witness, too
        yield from _of_range(node.iter_range)
    yield from _free(step.args[1], claim)


def _of_range(node: syntax.Expr) -> Iterator[int]:
    """Loops that make the list of another one: what they keep is up to that one."""
    match node:
        case syntax.Call(function=syntax.ADD):
            for one in node.args:
                yield from _of_range(one)
        case syntax.Comprehension(accu_init=syntax.ListLiteral()):
            yield node.id
            yield from _of_range(node.iter_range)
