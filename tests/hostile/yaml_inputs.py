"""YAML that asks for more than it is: aliases, depth, long scalars, great numbers, documents."""

from __future__ import annotations

from typing import Final

from tests.hostile.hostile_case import (
    DENIED,
    MOST_BYTES,
    OK,
    UNREADABLE,
    Content,
    HostileCase,
    read,
)

_HEAD: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: default}\n"
_ROOM: Final = MOST_BYTES - 2000
"""Bytes, beside what is around."""


def _filled(unit: str, before: str = "", after: str = "") -> Content:
    """As often as there is room for."""
    return lambda: f"{before}{unit * (_ROOM // len(unit.encode()))}{after}"


def _laughs(levels: int, each: int) -> Content:
    """Aliases of aliases: `each` to the power of `levels` values."""

    def make() -> str:
        lines = ["a0: &a0 [lol]"]
        for i in range(1, levels):
            lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * each)}]")
        return _HEAD + "\n".join(lines)

    return make


def _merges() -> str:
    lines = ["m0: &m0 {a: 1}"]
    for i in range(1, 4000):
        lines.append(f"m{i}: &m{i} {{<<: [*m{i - 1}, *m{i - 1}], k{i}: 1}}")
    return _HEAD + "\n".join(lines)


def _many_keys() -> str:
    return _HEAD + "data:\n" + "".join(f"  k{i}: v\n" for i in range(60_000))


def _same_keys() -> str:
    return _HEAD + "data:\n" + "  k: v\n" * 100_000


def _deep_blocks() -> str:
    return _HEAD + "data:\n" + "\n".join(" " * i + "a:" for i in range(1, 1300))


_REFUSED: Final = (UNREADABLE, DENIED)

_SCALARS: Final = {
    "number of a megabyte": _filled("9", _HEAD + "data: {a: ", "}"),
    "hexadecimal number of a megabyte": _filled("f", _HEAD + "data: {a: 0x", "}"),
    "octal number of a megabyte": _filled("7", _HEAD + "data: {a: 0o", "}"),
    "binary number of a megabyte": _filled("1", _HEAD + "data: {a: 0b", "}"),
    "number with underscores": _filled("1_", _HEAD + "data: {a: ", "}"),
    "sexagesimal number": _filled("59:", _HEAD + "data: {a: 1:", "}"),
    "number with endless fraction": _filled("3", _HEAD + "data: {a: 0.", "}"),
    "number with a great exponent": lambda: _HEAD + "data: {a: 1e999999999}",
    "number with a long exponent": _filled("9", _HEAD + "data: {a: 1e", "}"),
    "almost a date": _filled("2001-12-14t21:59:43.10-05:00 ", _HEAD + "data: {a: ", "}"),
    "plain scalar of a megabyte": _filled("a ", _HEAD + "data: {a: ", "}"),
    "double quotes full of escapes": _filled("\\x41\\u0041\\n", _HEAD + 'data: {a: "', '"}'),
    "single quotes full of quotes": _filled("''", _HEAD + "data: {a: '", "'}"),
    "quotes that never end": _filled("a\n", _HEAD + 'data: {a: "'),
    "folded scalar of many lines": _filled("   a\n\n", _HEAD + "data:\n  a: >\n"),
    "literal scalar of many lines": _filled("   a\n", _HEAD + "data:\n  a: |\n"),
    "literal scalar of empty lines": _filled("\n", _HEAD + "data:\n  a: |\n"),
    "key of a megabyte": _filled("k", _HEAD + "data: {", ": v}"),
    "quoted key of a megabyte": _filled("k", _HEAD + 'data: {"', '": v}'),
    "binary text": _filled("QUFB", _HEAD + "data: {a: !!binary ", "}"),
    "tag of a megabyte": _filled("t", _HEAD + "data: {a: !", " v}"),
    "anchor of a megabyte": _filled("t", _HEAD + "data: {a: &", " v}"),
    "comment of a megabyte": _filled("# ", _HEAD),
    "comments without end": _filled("#\n", _HEAD),
    "blank lines": _filled("\n", _HEAD),
    "spaces": _filled(" ", _HEAD, "\ndata: {}"),
    "tabs": _filled("\t", _HEAD, "\ndata: {}"),
    "characters of four bytes": _filled("\U0001f4a3", _HEAD + "data: {a: ", "}"),
    "nulls": _filled("\0", _HEAD),
    "carriage returns": _filled("\r", _HEAD),
    "bytes that are no UTF-8": lambda: _HEAD.encode() + b"data: {a: '" + b"\xff" * _ROOM + b"'}",
    "UTF-16": lambda: (_HEAD + "data: {a: " + "b" * 400_000 + "}").encode("utf-16"),
}

_STRUCTURES: Final = {
    "a billion laughs": _laughs(9, 10),
    "laughs in pairs": _laughs(60, 2),
    "laughs, a thousand wide": _laughs(3, 1000),
    "an alias of itself": lambda: _HEAD + "data: &a {a: *a}",
    "an alias of nothing": lambda: _HEAD + "data: {a: *a}",
    "merges of merges": _merges,
    "many anchors": lambda: (
        _HEAD + "data:\n" + "".join(f"  k{i}: &a{i} v\n" for i in range(50_000))
    ),
    "many aliases of one text": _filled("*a,", _HEAD + "x: &a aaaaaaaaaaaaaaaaaaaa\ny: [", "]"),
    "lists in lists": _filled("[", _HEAD + "data: "),
    "closed lists in lists": lambda: _HEAD + "data: " + "[" * 400_000 + "]" * 400_000,
    "maps in maps": _filled("{a: ", _HEAD + "data: "),
    "lists in lists in blocks": _filled("- ", _HEAD + "data:\n  "),
    "maps in maps in blocks": _deep_blocks,
    "questions": _filled("? ", _HEAD + "data:\n  "),
    "many keys": _many_keys,
    "one key many times": _same_keys,
    "a list of many": _filled("- a\n", _HEAD + "data:\n"),
    "a list of many empty lists": _filled("[],", _HEAD + "data: [", "]"),
    "a list of many empty maps": _filled("{},", _HEAD + "data: [", "]"),
    "a list of nothing": _filled("- \n", _HEAD + "data:\n"),
    "commas": _filled(",", _HEAD + "data: [", "]"),
    "colons": _filled(": ", _HEAD),
    "documents without anything": _filled("---\n"),
    "documents that end": _filled("...\n"),
    "documents that are no objects": _filled("--- a\n"),
    "directives": _filled("%YAML 1.1\n"),
    "tag directives": _filled("%TAG ! tag:example.com:\n", "", "---\n{}"),
    "small objects": _filled("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
    "broken objects": _filled("---\nkind: [\n"),
    "a list of small objects": _filled(
        "- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n",
        "apiVersion: v1\nkind: List\nitems:\n",
    ),
}

CASES: Final[tuple[HostileCase, ...]] = (
    *(read(f"yaml: {name}", make, OK, *_REFUSED) for name, make in _SCALARS.items()),
    *(read(f"yaml: {name}", make, OK, *_REFUSED) for name, make in _STRUCTURES.items()),
    *(
        HostileCase(
            f"yaml: {name}, linted",
            ("lint", "rules.yaml"),
            {"rules.yaml": make},
            frozenset({OK, *_REFUSED}),
        )
        for name, make in _STRUCTURES.items()
        if name in ("a billion laughs", "maps in maps", "many keys", "broken objects")
    ),
)
