r"""Other people's text on a terminal or in a log: shown, never obeyed.

Names, messages and file names come from files that somebody else wrote. A terminal would obey the
control characters in them, a reader would be misled by characters that turn the direction of
writing, and services that run workflows take lines that begin with `::` (or hold `##[`) as
commands. All of these are written as escapes: `\x1b`, `\u202e`, `\x3a:`. Machine formats have
escapes of their own.

Below that are the lines that reports for people have in common, and two states of an object as
people compare them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from celadon.patterns import late_pattern
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.check.check_report import Notice, PolicyError, UnaskedPlugin
    from celadon.kube import JsonObject

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
    """Return the fields of a class of data; others have none that matter."""
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


# --- the lines of reports -----------------------------------------------------------------------

FEW: Final = 3
"""Objects of a block, and reasons, that are told of one by one."""

_CONTEXT: Final = 3
"""Lines around each change of an object."""

_STYLES: Final = {
    "denied": "31;1",
    "error": "31;1",
    "invalid": "31;1",
    "warned": "33;1",
    "warning": "33;1",
    "mutated": "35;1",
    "notice": "36;1",
    "admitted": "32",
    "untouched": "2",
    "unchanged": "2",
    "unasked": "36;1",
    "dim": "2",
    "bold": "1",
}


@dataclass(frozen=True, slots=True)
class Look:
    """This is how much to say, and whether in colour. `verbosity` is -1 for `-q`, 1 and more for
    `-v`; `mutations` shows each mutation by itself."""

    color: bool = False
    verbosity: int = 0
    mutations: bool = False

    def paint(self, style: str, text: str) -> str:
        """The text in the colour of a style."""
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self.color else text


def joined(blocks: Iterable[Iterable[str]]) -> str:
    """Blocks of lines with an empty line between them, and a line end; nothing for no blocks."""
    texts = ["\n".join(block) for block in blocks]
    return "\n\n".join(texts) + "\n" if texts else ""


def plural(number: int, noun: str) -> str:
    """`1 policy`, `2 policies`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def aligned(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> list[str]:
    """The rows of a table as lines, columns as wide as their widest cell; `numbers` are the columns
    that stand to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_cells(row, widths, numbers)).rstrip() for row in rows]


def _cells(row: Sequence[str], widths: list[int], numbers: Collection[int]) -> Iterator[str]:
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if column in numbers else cell.ljust(width)


def policy_error_lines(errors: Iterable[PolicyError], look: Look) -> Iterator[list[str]]:
    """A block for each policy that cannot be used."""
    for error in errors:
        yield [
            f"{look.paint('error', 'error:')} {error.message}",
            f"  {_part(error.kind):8}{error.place}",
        ]


def _part(kind: str) -> str:
    """Return what plays the part of a policy, in a word of at most seven characters."""
    if kind.endswith("Binding"):
        return "binding"
    return "webhook" if kind.endswith("WebhookConfiguration") else "policy"


def notice_lines(notices: Iterable[Notice], look: Look, *, strict: bool) -> Iterator[list[str]]:
    """Yield what went by in silence, as one block, if anything did."""
    lines = []
    for notice in notices:
        place = f"{notice.place}: " if notice.place.file else ""
        style, word = ("error", "strict:") if strict else ("notice", "notice:")
        lines.append(f"{look.paint(style, word)} {place}{notice.message}")
        if notice.help:
            lines.append(f"  {notice.help}")
    if lines:
        yield lines


def plugin_lines(
    asked: Sequence[str], unasked: Sequence[UnaskedPlugin], look: Look
) -> Iterator[str]:
    """Yield which built-in plugins could not be asked, and, for who wants to know, which were."""
    if look.verbosity > 0 and asked:
        yield f"admission plugins asked: {', '.join(asked)}"
    reasons: dict[str, list[str]] = {}
    for one in unasked:
        reasons.setdefault(one.why, []).append(one.plugin)
    if not reasons:
        return
    few = len(reasons) if look.verbosity > 0 else FEW
    texts = [f"{', '.join(names)} ({why})" for why, names in reasons.items()]
    more = f" and {len(texts) - few} more reasons" if len(texts) > few else ""
    text = f"admission plugins not fully asked: {', '.join(texts[:few])}{more}"
    yield look.paint("dim", text)


def yaml_text(value: JsonObject | Sequence[object]) -> str:
    """The object as a manifest, its members in their order."""
    import yaml

    text: str = yaml.safe_dump(_copied(value), sort_keys=False, allow_unicode=True, width=1000)
    return text


def _copied(value: object) -> object:
    """A copy in which nothing is there twice, which YAML would write as an alias."""
    if isinstance(value, Mapping):
        return {str(key): _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def diff_lines(before: JsonObject, after: JsonObject) -> list[str]:
    """A unified diff without its head; none for equal objects."""
    import difflib

    lines = difflib.unified_diff(
        yaml_text(before).splitlines(), yaml_text(after).splitlines(), n=_CONTEXT, lineterm=""
    )
    return list(lines)[2:]
