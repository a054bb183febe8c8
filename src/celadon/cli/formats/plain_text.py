r"""Other people's text on a terminal or in a log: shown, never obeyed.

Names, messages and file names come from files that somebody else wrote. A terminal would obey the
control characters in them, a reader would be misled by characters that turn the direction of
writing, and services that run workflows take lines that begin with `::` (or hold `##[`) as
commands. All of these are written as escapes: `\x1b`, `\u202e`, `\x3a:`. Machine formats have
escapes of their own.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from celadon.patterns import late_pattern

Reported = TypeVar("Reported")
_COMMAND: Final = late_pattern(r"(?m)^([ \t]*):(?=:)|#(?=#(?:\[|vso\[))")


def one_line(text: str) -> str:
    """The text with everything escaped that is not simply to be seen, line ends included."""
    return _without_commands(text if text.isprintable() else "".join(map(_shown, text)))


def lines(text: str) -> str:
    """The same for a text of several lines; tabs stay too."""
    if text.isprintable():
        return _without_commands(text)
    return _without_commands("".join(c if c in "\n\t" else _shown(c) for c in text))


@functools.lru_cache(maxsize=1)
def snippet(text: str) -> str:
    """A line of a file, a character for a character, so that a column stays one. Thousands of
    findings may stand in one line of a megabyte: the last one is kept."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def for_people(report: Reported) -> Reported:
    """A report in which no text does anything but being read; shares what needs no change."""
    return cast(Reported, _plain(report, ""))


def _plain(value: Any, field: str) -> Any:  # noqa: ANN401 - of the same type as it came
    if isinstance(value, str):
        return _FIELDS.get(field, one_line)(value)
    if isinstance(value, tuple):
        return tuple(_plain(one, field) for one in value)
    if isinstance(value, Mapping):
        return {one_line(str(key)): _plain(one, field) for key, one in value.items()}
    changed = {}
    for name in _field_names(value.__class__):
        found = getattr(value, name)
        if found and found is not True and (plain := _plain(found, name)) != found:
            changed[name] = plain
    return dataclasses.replace(value, **changed) if changed else value


@functools.cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Of a class of data; others have none that matter."""
    return (
        tuple(one.name for one in dataclasses.fields(kind))
        if dataclasses.is_dataclass(kind)
        else ()
    )


def _indented(text: str) -> str:
    """Only the first line stands at the margin, where the words of the report itself stand."""
    return lines(text).replace("\n", "\n  ")


_FIELDS: Final[Mapping[str, Callable[[str], str]]] = {
    **dict.fromkeys(("message", "sentence", "text", "help"), _indented),
    **dict.fromkeys(("expected", "actual", "expression", "diff", "case"), lines),
    "line_text": snippet,
}
"""How fields of reports are shown; those not named here have one line."""


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": r"\n", "\r": r"\r", "\t": r"\t"}[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _without_commands(text: str) -> str:
    if "::" not in text and "##" not in text:
        return text
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\x{ord(found[0][-1]):02x}", text)
