"""JSON as Kubernetes reads it.

The standard decoder does the work; what differs is numbers (an integer beyond 64 bits is a double,
a double without a fraction an integer, see `celadon.goyaml`), NaN (refused), duplicate keys
(refused, or merged as typed readers do), and half a surrogate pair (the replacement character, as
in Go).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from celadon.cli.reading.json_places import duplicates, first_word
from celadon.goyaml import (
    MAX_DEPTH,
    NotJsonError,
    RepeatedKey,
    UnreadableError,
    check_depth,
    integer_or_double,
    whole,
)
from celadon.kube.go import merged_members, quote
from celadon.patterns import late_pattern

_SPACE: Final = late_pattern(r"[ \t\n\r]*")
_SURROGATE_ESCAPE: Final = late_pattern(r"\\u[dD][89a-fA-F]")
_SURROGATE: Final = late_pattern("[\ud800-\udfff]")


class _DuplicateKeyError(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return result


def _double(text: str) -> int | float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NotJsonError(text)
    return whole(value)


def _constant(text: str) -> float:
    raise NotJsonError(text)


def _decoder(members: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=members,
        parse_int=integer_or_double,
        parse_float=_double,
        parse_constant=_constant,
    )


_DECODER: Final = _decoder(_object)
_MERGING_DECODER: Final = _decoder(merged_members)
_SURELY_SMALL: Final = 18
"""Digits that every integer of 64 bits has room for."""


def _integer(text: str) -> int | float:
    return int(text) if len(text) <= _SURELY_SMALL else integer_or_double(text)


_WRITTEN_DECODER: Final = json.JSONDecoder(
    parse_int=_integer, parse_float=_double, parse_constant=_constant
)


def read_written(text: str) -> Any:  # noqa: ANN401 - any JSON
    """The one value of a text that a machine wrote: three times as fast as `read_json`, and of a
    key that is given twice the last one counts. Raises `UnreadableError`."""
    value, end = _value(text, _skip(text, 0), None, _WRITTEN_DECODER)
    if _skip(text, end) < len(text):
        raise UnreadableError(_line_at(text, end), "something stands behind the value")
    return value


def read_json(
    text: str, repeated: list[RepeatedKey] | None = None
) -> Iterator[tuple[int, int, Any]]:
    """The values of a text, one behind another, each with its start and end.

    Raises `UnreadableError`, after the values before the faulty one were given out. A key that is
    given twice is a fault, unless there is a list that takes note of it.
    """
    position = _skip(text, 0)
    while position < len(text):
        start = position
        value, position = _value(text, start, repeated, None)
        yield start, position, value
        position = _skip(text, position)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match is not None else position


def _decoded(text: str, start: int, repeated: list[RepeatedKey] | None) -> tuple[Any, int]:
    if repeated is None:
        return _DECODER.raw_decode(text, start)
    try:
        return _DECODER.raw_decode(text, start)
    except _DuplicateKeyError:
        found = _MERGING_DECODER.raw_decode(text, start)
        repeated += _repeated(text, start)
        return found


def _repeated(text: str, start: int) -> Iterator[RepeatedKey]:
    counted, line = 0, 1
    for place in duplicates(text, start):
        line += text.count("\n", counted, place.offset)
        counted = place.offset
        yield RepeatedKey(quote(str(place.path[-1])), place.offset, line, line)


def _value(
    text: str, start: int, repeated: list[RepeatedKey] | None, written: json.JSONDecoder | None
) -> tuple[Any, int]:
    """`written` is the decoder of what a machine wrote."""
    try:
        if written is not None:
            value, end = written.raw_decode(text, start)
        else:
            value, end = _decoded(text, start, repeated)
    except json.JSONDecodeError as error:
        raise UnreadableError(error.lineno, _lower(error.msg)) from error
    except _DuplicateKeyError as error:
        place = next(duplicates(text, start))
        line = _line_at(text, place.offset)
        raise UnreadableError(line, f'key "{error}" already set in map') from None
    except NotJsonError as error:
        raise UnreadableError(
            _line_at(text, first_word(text, start, str(error))),
            f"the number `{str(error)[:40]}` has no form in Kubernetes' JSON",
        ) from None
    except RecursionError:
        raise UnreadableError(
            _line_at(text, start), f"nested deeper than {MAX_DEPTH} levels"
        ) from None
    if text.count("{", start, end) + text.count("[", start, end) > MAX_DEPTH:
        check_depth(value, _line_at(text, start))
    if _SURROGATE_ESCAPE.search(text, start, end):
        value = _without_surrogates(value)
    return value, end


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _without_surrogates(value: object) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {
            _SURROGATE.sub("\ufffd", key): _without_surrogates(item) for key, item in value.items()
        }
    return value
