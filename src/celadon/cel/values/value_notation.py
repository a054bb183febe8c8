"""CEL values as text: the literal, or the call, that would make them again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from celadon.cel.types import Type
from celadon.cel.values.conversions import duration_to_string
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.text import MAX_INT, Uint, go_quote, utf8, written
from celadon.cel.values.timestamps import Duration, Timestamp, format_timestamp
from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.remembering import remembering


def notation(value: object) -> str:
    """`{"a": [1, 2u, 1.5]}`, `duration("90s")`, `optional.none()`, `b"\\x00"`. Raises
    EvaluationError for what is too long to write down."""
    return _notation(value, {})


def _notation(value: object, known: dict[int, str]) -> str:
    """`known` are the lists and maps that are written, by identity."""
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, bytes):
        return f'b"{_bytes(value)}"'
    if isinstance(value, list | tuple | Mapping):
        text = known.get(id(value))
        if text is None:
            text = known[id(value)] = _container(value, known)
        return text
    return _named(value, known)


def _container(value: Sequence[Any] | Mapping[Any, Any], known: dict[int, str]) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_notation(k, known)}: {_notation(v, known)}" for k, v in value.items())
        return f"{{{written(entries)}}}"
    return f"[{written(_notation(one, known) for one in value)}]"


def _number(value: int | float) -> str:
    if isinstance(value, Uint):
        return f"{int(value)}u"
    if isinstance(value, int):
        return str(int(value))
    if value != value:
        return 'double("NaN")'
    if value in (float("inf"), float("-inf")):
        return f'double("{"-" if value < 0 else ""}Infinity")'
    return repr(value)


def _bytes(value: bytes) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}"
        for byte in value
    )


def _named(value: object, known: dict[int, str]) -> str:
    if isinstance(value, Timestamp):
        return f'timestamp("{format_timestamp(value)}")'
    if isinstance(value, Duration):
        return f'duration("{duration_to_string(value)}")'
    if isinstance(value, Optional):
        return (
            "optional.none()" if value is NONE else f"optional.of({_notation(value.value, known)})"
        )
    if isinstance(value, Type):
        return value.runtime_name
    if isinstance(value, Opaque):
        return f"{value.cel_type.name}({json.dumps(value.display(), ensure_ascii=False)})"
    return str(value)


# --- Format clauses ----------------------------------------------------------
#
# Format strings taken apart: literal pieces, clauses, and what cannot be understood.
#
# A clause is `%[.precision]verb`. Problems become pieces too, because cel-go finds them only
# when it gets there: after the clauses before them, and after asking for their argument.


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
