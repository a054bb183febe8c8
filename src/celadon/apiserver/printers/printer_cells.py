"""The small language in which the data say what a cell shows, made into functions.

The `cell` of a column (`data/resources`) is a text or a list:

    ".spec.type"                        the text at a path, empty where there is none; "." is the
                                        value itself
    "<none>"                            that text
    ["text", TEXT]                      a text that begins with a dot
    ["number", PATH]                    an integer, 0 where there is none
    ["bool", PATH, DEFAULT]             true or false; DEFAULT (false) where nothing is set
    ["value", PATH, CELL]               any scalar as text; CELL where nothing is set
    ["len", PATH, ...]                  how many members or elements there are, in all
    ["or", CELL, CELL]                  the first; the second where the first is empty
    ["if", PATH, CELL, CELL]            the first where something is set there and no empty text
    ["concat", CELL, ...]               one after the other
    ["parts", SEPARATOR, CELL, ...]     those that are not empty, joined
    ["join", SEPARATOR, LIST, CELL]     CELL of each item (".", where it is left out), joined
    ["three", LIST, CELL, CELL]         CELL of the first three items and the number of the others;
                                        the second CELL for an empty list
    ["first", LIST, CELL, CELL]         CELL of the first item; the second CELL for an empty list
    ["age", PATH, CELL]                 how long ago; CELL (`<unknown>`) where no time is set
    ["duration", PATH, CELL]            a number of seconds for human eyes; CELL where none is set
    ["labels", PATH]                    `a=b,c=d`, or `<none>`
    ["selector", PATH, TEXT, TEXT]      a label selector; the texts are for one that is empty
                                        (`<none>`), and for one that cannot be read (`<error>`)
    ["quantity", PATH]                  an amount in its canonical form
    ["trim", PATH]                      a text without white space around it
    ["condition", TYPE, CELL, CELL]     CELL of the condition of that type; the second without one
    ["call", NAME, PATH]                what a function of `CALLS` makes of the value at PATH (".")

A LIST is a path or `["where", PATH, MEMBER, TEXT]`, the objects whose member is that text.
`CALLS` has the few cells that are too hard for this. A cell is compiled once for each resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.apiserver.printers.cell_helpers import CALLS
from celadon.apiserver.printers.cell_texts import (
    Cell,
    Row,
    at,
    condition,
    elapsed,
    first_three,
    items,
    labels_text,
    number,
    quantity_text,
    selector_text,
    since,
    size,
    text,
)
from celadon.kube import Json
from celadon.kube.go import trim_space

ReadCell: TypeAlias = Callable[[Any, Row], Cell]
"""The cell of a value, which is the object of the row or a part of it."""
ReadList: TypeAlias = Callable[[Any], Sequence[Any]]


def compiled(cell: Json) -> ReadCell:
    """The function for a cell of the data. Raises ValueError for a form that does not exist."""
    if isinstance(cell, str):
        return _path_text(_steps(cell)) if cell.startswith(".") else lambda value, row: cell
    if not isinstance(cell, list) or not cell or cell[0] not in _FORMS:
        raise ValueError(f"not the form of a cell: {cell!r}")
    return _FORMS[cell[0]](*cell[1:])


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path[1:].split(".")) if path != "." else ()


def _path_text(steps: tuple[str, ...]) -> ReadCell:
    return lambda value, row: text(value, *steps)


def _printed(cell: Cell) -> str:
    return cell if isinstance(cell, str) else str(cell)


def _number(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: number(value, *steps)


def _bool(path: str, *default: Json) -> ReadCell:
    steps = _steps(path)

    def read(value: object, row: Row) -> Cell:
        member = at(value, *steps)
        return bool(default and default[0] if member is None else member)

    return read


def _value(path: str, unset: Json) -> ReadCell:
    steps, read_unset = _steps(path), compiled(unset)

    def read(value: object, row: Row) -> Cell:
        member = at(value, *steps)
        return read_unset(value, row) if member is None else str(member)

    return read


def _len(*paths: str) -> ReadCell:
    each = [_steps(path) for path in paths]
    return lambda value, row: sum(size(value, *steps) for steps in each)


def _or(first: Json, second: Json) -> ReadCell:
    read, read_otherwise = compiled(first), compiled(second)
    return lambda value, row: read(value, row) or read_otherwise(value, row)


def _if(path: str, then: Json, otherwise: Json) -> ReadCell:
    steps, read, read_otherwise = _steps(path), compiled(then), compiled(otherwise)

    def read_branch(value: object, row: Row) -> Cell:
        is_set = at(value, *steps) not in (None, "")
        return read(value, row) if is_set else read_otherwise(value, row)

    return read_branch


def _concat(*cells: Json) -> ReadCell:
    readers = [compiled(cell) for cell in cells]
    return lambda value, row: "".join([_printed(read(value, row)) for read in readers])


def _parts(separator: str, *cells: Json) -> ReadCell:
    readers = [compiled(cell) for cell in cells]

    def read_parts(value: object, row: Row) -> Cell:
        return separator.join(filter(None, (_printed(read(value, row)) for read in readers)))

    return read_parts


def _list(source: Json) -> ReadList:
    if isinstance(source, str):
        steps = _steps(source)
        return lambda value: items(value, *steps)
    if not isinstance(source, list) or source[:1] != ["where"]:
        raise ValueError(f"not a list for a cell: {source!r}")
    _, path, member, wanted = source
    steps = _steps(str(path))
    return lambda value: [item for item in items(value, *steps) if at(item, str(member)) == wanted]


def _join(separator: str, source: Json, cell: Json = ".") -> ReadCell:
    read_list, read = _list(source), compiled(cell)

    def joined_items(value: object, row: Row) -> Cell:
        return separator.join([_printed(read(item, row)) for item in read_list(value)])

    return joined_items


def _three(source: Json, cell: Json, empty: str) -> ReadCell:
    read_list, read = _list(source), compiled(cell)

    def three_items(value: object, row: Row) -> Cell:
        return first_three([_printed(read(item, row)) for item in read_list(value)], empty)

    return three_items


def _first(source: Json, cell: Json, empty: Json) -> ReadCell:
    read_list, read, read_empty = _list(source), compiled(cell), compiled(empty)

    def first_item(value: object, row: Row) -> Cell:
        found = read_list(value)
        return read(found[0], row) if found else read_empty(value, row)

    return first_item


def _age(path: str, unset: Json = None) -> ReadCell:
    steps, read_unset = _steps(path), None if unset is None else compiled(unset)

    def read_age(value: object, row: Row) -> Cell:
        timestamp = text(value, *steps)
        if not timestamp and read_unset is not None:
            return read_unset(value, row)
        return since(timestamp, row.now)

    return read_age


def _duration(path: str, unset: Json) -> ReadCell:
    steps, read_unset = _steps(path), compiled(unset)

    def read_duration(value: object, row: Row) -> Cell:
        duration = at(value, *steps)
        return read_unset(value, row) if duration is None else elapsed(duration)

    return read_duration


def _labels(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: labels_text(at(value, *steps))


def _selector(path: str, *texts: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: selector_text(at(value, *steps), *texts)


def _quantity(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: quantity_text(at(value, *steps))


def _trim(path: str) -> ReadCell:
    steps = _steps(path)
    return lambda value, row: trim_space(text(value, *steps))


def _condition(kind: str, cell: Json, missing: Json) -> ReadCell:
    read, read_missing = compiled(cell), compiled(missing)

    def read_condition(value: object, row: Row) -> Cell:
        found = condition(value, kind)
        return read_missing(value, row) if found is None else read(found, row)

    return read_condition


def _call(name: str, path: str = ".") -> ReadCell:
    steps, function = _steps(path), CALLS[name]
    return lambda value, row: function(at(value, *steps), row)


_FORMS: Final[Mapping[str, Callable[..., ReadCell]]] = {
    "age": _age,
    "bool": _bool,
    "call": _call,
    "concat": _concat,
    "condition": _condition,
    "duration": _duration,
    "first": _first,
    "if": _if,
    "join": _join,
    "labels": _labels,
    "len": _len,
    "number": _number,
    "or": _or,
    "parts": _parts,
    "quantity": _quantity,
    "selector": _selector,
    "text": lambda literal: lambda value, row: literal,
    "three": _three,
    "trim": _trim,
    "value": _value,
}
