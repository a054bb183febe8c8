"""JSON, on its own and as values of variables: depth, numbers, duplicates, streams."""

from __future__ import annotations

from typing import Final

from tests.hostile.hostile_case import (
    DENIED,
    MOST_BYTES,
    OK,
    UNREADABLE,
    Content,
    HostileCase,
    evaluated,
    read,
)

_HEAD: Final = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"}'
_ROOM: Final = MOST_BYTES - 2000


def _filled(unit: str, before: str, after: str = "") -> Content:
    return lambda: f"{before}{unit * (_ROOM // len(unit.encode()))}{after}"


def _inside(unit: str, before: str = "", after: str = "") -> Content:
    """As a member of a ConfigMap."""
    return _filled(unit, f'{_HEAD},"data":{before}', f"{after}}}")


def _deep(opening: str, core: str, closing: str) -> Content:
    def make() -> str:
        levels = _ROOM // len(opening + closing)
        return f'{_HEAD},"data":{opening * levels}{core}{closing * levels}}}'

    return make


_TEXTS: Final = {
    "number of a megabyte": _inside("9", '{"a":', "}"),
    "negative number of a megabyte": _inside("9", '{"a":-', "}"),
    "fraction of a megabyte": _inside("3", '{"a":0.', "}"),
    "exponent of a megabyte": _inside("9", '{"a":1e', "}"),
    "great exponent": lambda: f'{_HEAD},"data":{{"a":1e999999999}}}}',
    "many great numbers": _inside("18446744073709551616,", "[", "0]"),
    "many fractions": _inside("1.7976931348623157e308,", "[", "0]"),
    "text of a megabyte": _inside("a", '{"a":"', '"}'),
    "escapes": _inside("\\u0041", '{"a":"', '"}'),
    "half surrogates": _inside("\\ud800", '{"a":"', '"}'),
    "text without an end": _inside("a", '{"a":"'),
    "backslashes": _inside("\\\\", '{"a":"', '"}'),
    "key of a megabyte": _inside("k", '{"', '":"v"}'),
    "lists in lists": _deep("[", "1", "]"),
    "maps in maps": _deep('{"a":', "1", "}"),
    "lists without an end": _inside("["),
    "maps without an end": _inside('{"a":'),
    "one key many times": _inside('"k":"v",', "{", '"k":"v"}'),
    "many lists": _inside("[],", "[", "[]]"),
    "many maps": _inside("{},", "[", "{}]"),
    "many nulls": _inside("null,", "[", "null]"),
    "commas": _inside(",", "[", "]"),
    "white space": _inside(" ", "", "{}"),
    "many keys": lambda: (
        f'{_HEAD},"data":{{' + ",".join(f'"k{i}":"v"' for i in range(60_000)) + "}}"
    ),
    "many labels": lambda: (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{'
        + ",".join(f'"k{i}":"v"' for i in range(60_000))
        + "}}}"
    ),
    "many finalizers": _filled(
        '"example.com/f",',
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","finalizers":[',
        '"example.com/f"]}}',
    ),
    "many owners": _filled(
        '{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"},',
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","ownerReferences":[',
        '{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}}',
    ),
    "name of a megabyte": _filled(
        "a", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"', '"}}'
    ),
    "kind of a megabyte": _filled("K", '{"apiVersion":"v1","metadata":{"name":"c"},"kind":"', '"}'),
    "brackets on their own": lambda: "[" * _ROOM,
    "scalars one after the other": lambda: "1 " * (_ROOM // 2),
    "small objects": lambda: (_HEAD + "}\n") * (_ROOM // (len(_HEAD) + 2)),
    "broken objects": lambda: (_HEAD + "\n") * (_ROOM // (len(_HEAD) + 1)),
}

_VALUES: Final = {
    "deep": lambda: "[" * 100_000 + "]" * 100_000,
    "long number": lambda: '{"a":' + "9" * _ROOM + "}",
    "many keys": lambda: "{" + ",".join(f'"k{i}":{i}' for i in range(60_000)) + "}",
}

CASES: Final[tuple[HostileCase, ...]] = (
    *(read(f"json: {n}", m, OK, DENIED, UNREADABLE, suffix="json") for n, m in _TEXTS.items()),
    *(
        evaluated(f"json: {n} as object", lambda: "object == object", OK, UNREADABLE, object=m)
        for n, m in _VALUES.items()
    ),
)
