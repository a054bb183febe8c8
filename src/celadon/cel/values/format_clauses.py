"""Format strings taken apart: literal pieces, clauses, and what cannot be understood.

A clause is `%[.precision]verb`. Problems become pieces too, because cel-go finds them only when it
gets there: after the clauses before them, and after asking for their argument.
"""

from __future__ import annotations

import re

from celadon.cel.values.text import MAX_INT, go_quote, utf8
from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.remembering import remembering

VERBS = frozenset("sdfebxXo")

_PIECE = late_pattern(r"[^%]+|%%|%(\.([0-9]*))?(.)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Clause:
    """`%.2f` is the verb `f` with the precision 2; None leaves that to the verb."""

    verb: str
    precision: int | None


@dataclass(frozen=True, slots=True)
class Broken:
    """A clause that cannot be understood. `at_end`: a single `%` ends the string."""

    message: str
    at_end: bool = False


Piece = str | Clause | Broken


@remembering(64)
def parse(text: str) -> tuple[Piece, ...]:
    """Literal pieces and clauses; the first broken clause ends the tuple."""
    pieces: list[Piece] = []
    for found in _PIECE.finditer(text):
        piece = _piece(found)
        pieces.append(piece)
        if isinstance(piece, Broken):
            break
    return tuple(pieces)


def _piece(found: re.Match[str]) -> Piece:
    whole, point, digits, verb = found[0], found[1], found[2], found[3]
    if whole[0] != "%":
        return whole
    if whole == "%%":
        return "%"
    if whole == "%":
        return Broken("unexpected end of string", at_end=True)
    if point is None:
        return _clause(verb, None)
    if verb is None:
        return _unparsable(
            "error while parsing precision: could not find end of precision specifier"
        )
    if not digits:
        return _not_a_number(digits, "invalid syntax")
    significant = digits.lstrip("0") or "0"
    if len(significant) > 19 or int(significant) > MAX_INT:
        return _not_a_number(digits, "value out of range")
    return _clause(verb, int(significant))


def _not_a_number(digits: str, problem: str) -> Broken:
    return _unparsable(
        "error while parsing precision: error while converting precision to integer: "
        f"strconv.Atoi: parsing {go_quote(digits)}: {problem}"
    )


def _clause(verb: str, precision: int | None) -> Piece:
    if verb in VERBS:
        return Clause(verb, precision)
    # cel-go looks at bytes: of another character it shows the first one
    shown = chr(utf8(verb)[0])
    return _unparsable(f'unrecognized formatting clause "{shown}"')


def _unparsable(reason: str) -> Broken:
    return Broken(f"could not parse formatting clause: {reason}")
