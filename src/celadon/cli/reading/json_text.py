"""JSON as Kubernetes reads it.

The standard decoder does the work; what differs is numbers (an integer beyond 64 bits is a double,
a double without a fraction an integer, see `celadon.goyaml`), NaN (refused), duplicate keys
(refused, or merged as typed readers do), and half a surrogate pair (the replacement character, as
in Go).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from celadon import goyaml
from celadon.kube.go import merged_members, quote
from celadon.kube.json_types import JsonDict
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Json places -------------------------------------------------------------
#
# Where things stand in a JSON text that is known, or nearly known, to be well formed.
#
# The decoder keeps no positions, so a position is found by walking the tokens again. That
# happens only when a line must be shown to somebody, and what was found of a document is then
# remembered: a container that lies on a path that was asked for has a table of its keys or
# items, and what is looked for next begins at the deepest such table. So no container is walked
# twice from its beginning: the thousandth item of a list costs as much as the item, not as the
# list.

Path = tuple[str | int, ...]
"""The way to a value: keys of maps, indices of lists."""


def value_at(value: object, path: Sequence[str | int]) -> Any:  # noqa: ANN401 - any JSON
    """Return what is at a path below a value; None where there is nothing."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


_TOKEN: Final = late_pattern(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(frozen=True, slots=True)
class Place:
    """A key of a map, or an item of a list, and the offset where it starts."""

    path: Path
    offset: int
    is_duplicate: bool = False


@dataclass(slots=True)
class _Level:
    """A map or list the walk is inside of."""

    is_map: bool
    step: str | int = 0
    awaits_key: bool = False
    seen: set[str] = field(default_factory=set)


def places(text: str, start: int, depth: int) -> Iterator[Place]:
    """Yield the places of the value that starts at an offset, down to paths of length `depth`."""
    levels: list[_Level] = []
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        level = levels[-1] if levels else None
        if token in ("}", "]"):
            levels.pop()
            if not levels:
                return
        elif token == ",":
            if level is not None and level.is_map:
                level.awaits_key = True
            elif level is not None and isinstance(level.step, int):
                level.step += 1
        elif token == ":":
            continue
        elif level is not None and level.awaits_key:
            key = json.loads(token)
            level.awaits_key, level.step = False, key
            if len(levels) <= depth:
                yield Place(_path(levels), match.start(), key in level.seen)
                level.seen.add(key)
        else:
            if level is not None and not level.is_map and len(levels) <= depth:
                yield Place(_path(levels), match.start())
            if token in ("{", "["):
                levels.append(_Level(is_map=token == "{", awaits_key=token == "{"))
            elif level is None:
                return


def _path(levels: list[_Level]) -> Path:
    return tuple(level.step for level in levels)


def duplicates(text: str, start: int) -> Iterator[Place]:
    """Return the keys that their maps have already."""
    everywhere = len(text)
    return (place for place in places(text, start, everywhere) if place.is_duplicate)


def first_word(text: str, start: int, word: str) -> int:
    """Return the offset of the first number or bare word spelled so."""
    for match in _TOKEN.finditer(text, start):
        if match[0] == word:
            return match.start()
    return start


# --- what was found once, remembered --------------------------------------------------------------

_KEY: Final = late_pattern(r'"(?:[^"\\]++|\\.)*+"\s*:\s*')

_ITEM_DEPTH: Final = 2
"""So far the first walk looks, which is along the whole document: to `items[7]`."""

_Table = dict[str | int, int]
"""Per key or index of a container the offset of the key, or of the item."""


class JsonIndex:
    """The places in the document that begins at `start`."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._tables: dict[Path, _Table] = {}

    def offsets(self, path: Path) -> tuple[int, int, bool]:
        """Return where the key (or item) and the value of a path begin, or of the longest part of
        it that exists, and whether that is all of it."""
        index = value = self._start
        for depth, step in enumerate(path):
            prefix = path[:depth]
            if prefix not in self._tables:
                rest = path[depth:] if depth else path[:_ITEM_DEPTH]
                self._walk(prefix, value, rest)
            offset = self._tables[prefix].get(step)
            if offset is None:
                return index, value, False
            index = offset
            value = index if isinstance(step, int) else self._value_start(index)
        return index, value, True

    def _walk(self, container: Path, start: int, rest: Path) -> None:
        """Make the tables of the value at `start`, whose path is known, and of the containers on
        the rest of the path. Of a key given twice the last counts, as it does for readers."""
        containers = rest[:-1]
        tables: dict[Path, _Table] = {(): {}}
        for place in places(self._text, start, len(rest)):
            *above, step = place.path
            table = tables.get(tuple(above))
            if table is not None:
                table[step] = place.offset
                if place.path == containers[: len(place.path)]:
                    tables[place.path] = {}
        self._tables.update((container + below, table) for below, table in tables.items())

    def _value_start(self, key: int) -> int:
        colon = _KEY.match(self._text, key)
        return colon.end() if colon is not None else key


_SPACE: Final = late_pattern(r"[ \t\n\r]*")
_SURROGATE_ESCAPE: Final = late_pattern(r"\\u[dD][89a-fA-F]")
_SURROGATE: Final = late_pattern("[\ud800-\udfff]")


class _DuplicateKeyError(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> JsonDict:
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
        raise goyaml.NotJsonError(text)
    return goyaml.whole(value)


def _constant(text: str) -> float:
    raise goyaml.NotJsonError(text)


def _decoder(members: Callable[[list[tuple[str, Any]]], JsonDict]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=members,
        parse_int=goyaml.integer_or_double,
        parse_float=_double,
        parse_constant=_constant,
    )


_DECODER: Final = _decoder(_object)
_MERGING_DECODER: Final = _decoder(merged_members)
_SURELY_SMALL: Final = 18
"""Digits that every integer of 64 bits has room for."""


def _integer(text: str) -> int | float:
    return int(text) if len(text) <= _SURELY_SMALL else goyaml.integer_or_double(text)


_WRITTEN_DECODER: Final = json.JSONDecoder(
    parse_int=_integer, parse_float=_double, parse_constant=_constant
)


def read_written(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the one value of a text that a machine wrote: three times as fast as `read_json`, and
    of a key that is given twice the last one counts. Raises `UnreadableError`."""
    value, end = _value(text, _skip(text, 0), None, _WRITTEN_DECODER)
    if _skip(text, end) < len(text):
        raise goyaml.UnreadableError(_line_at(text, end), "something stands behind the value")
    return value


def read_json(
    text: str, repeated: list[goyaml.RepeatedKey] | None = None
) -> Iterator[tuple[int, int, Any]]:
    """Yield the values of a text, one behind another, each with its start and end.

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


def _decoded(text: str, start: int, repeated: list[goyaml.RepeatedKey] | None) -> tuple[Any, int]:
    if repeated is None:
        return _DECODER.raw_decode(text, start)
    try:
        return _DECODER.raw_decode(text, start)
    except _DuplicateKeyError:
        raw_decode = _MERGING_DECODER.raw_decode(text, start)
        repeated += _repeated(text, start)
        return raw_decode


def _repeated(text: str, start: int) -> Iterator[goyaml.RepeatedKey]:
    counted, line = 0, 1
    for place in duplicates(text, start):
        line += text.count("\n", counted, place.offset)
        counted = place.offset
        yield goyaml.RepeatedKey(quote(str(place.path[-1])), place.offset, line, line)


def _value(
    text: str,
    start: int,
    repeated: list[goyaml.RepeatedKey] | None,
    written: json.JSONDecoder | None,
) -> tuple[Any, int]:
    """`written` is the decoder of what a machine wrote."""
    try:
        if written is not None:
            value, end = written.raw_decode(text, start)
        else:
            value, end = _decoded(text, start, repeated)
    except json.JSONDecodeError as error:
        raise goyaml.UnreadableError(error.lineno, error.msg[:1].lower() + error.msg[1:]) from error
    except _DuplicateKeyError as error:
        place = next(duplicates(text, start))
        line = _line_at(text, place.offset)
        raise goyaml.UnreadableError(line, f'key "{error}" already set in map') from None
    except goyaml.NotJsonError as error:
        raise goyaml.UnreadableError(
            _line_at(text, first_word(text, start, str(error))),
            f"the number `{str(error)[:40]}` has no form in Kubernetes' JSON",
        ) from None
    except RecursionError:
        raise goyaml.UnreadableError(
            _line_at(text, start), f"nested deeper than {goyaml.MAX_DEPTH} levels"
        ) from None
    if text.count("{", start, end) + text.count("[", start, end) > goyaml.MAX_DEPTH:
        goyaml.check_depth(value, _line_at(text, start))
    if _SURROGATE_ESCAPE.search(text, start, end):
        value = _without_surrogates(value)
    return value, end


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
