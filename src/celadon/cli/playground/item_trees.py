"""Explanations as JSON for a page that draws them: items within items, expressions in pieces.

An expression is a list of pieces, texts and parts in turn; a part has pieces of its own, and what
it came to. So whoever draws it needs no offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celadon.cli.explain.annotated_source import Loop, Mark, Snippet, State, brief
from celadon.cli.explain.outline import Item
from celadon.cli.report.report_model import filled
from celadon.kube import JsonObject

_ROOM: Final = 400
"""Characters of a value."""


def item_tree(one: Item) -> JsonObject:
    """The item and all below it; what is empty is left out."""
    return filled(
        label=one.label,
        text=one.text,
        style=one.style.value,
        lines=list(one.lines),
        expression=None if one.snippet is None else expression_tree(one.snippet),
        source=one.source,
        items=[item_tree(inner) for inner in one.items],
        opens=one.opens or None,
    )


def expression_tree(one: Snippet) -> JsonObject:
    """A stretch of an expression, and the rounds of its loops."""
    return filled(
        pieces=list(_pieces(one.text, one.start, one.end, one.marks)),
        loops=[_loop(loop, one.text) for loop in one.loops],
    )


def _pieces(text: str, start: int, end: int, marks: Sequence[Mark]) -> Iterator[object]:
    at = start
    for mark in marks:
        if mark.start > at:
            yield text[at : mark.start]
        yield _part(mark, text)
        at = mark.end
    if end > at:
        yield text[at:end]


def _part(one: Mark, text: str) -> Any:  # noqa: ANN401 - JSON
    """A literal says itself what it is."""
    if one.is_literal:
        return text[one.start : one.end]
    return filled(
        pieces=list(_pieces(text, one.start, one.end, one.parts)),
        state=_state(one),
        value=None if one.state is State.SKIPPED else brief(one.value, _ROOM),
        cost=one.cost,
    )


def _state(one: Mark) -> str:
    """`true` and `false` are what people look for."""
    if one.state is State.VALUE:
        return str(one.value).lower() if isinstance(one.value, bool) else "value"
    return {State.ERROR: "error", State.PASSED_ON: "passed", State.SKIPPED: "skipped"}[one.state]


def _loop(one: Loop, text: str) -> JsonObject:
    return {
        "macro": text[one.start : one.end],
        "count": one.count,
        "rounds": [
            {
                "number": each.number,
                "variables": {name: brief(value, _ROOM) for name, value in each.variables},
                **expression_tree(each.snippet),
            }
            for each in one.rounds
        ],
    }
