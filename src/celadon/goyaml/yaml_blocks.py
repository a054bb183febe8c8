"""The quick YAML reader: the block style that nearly every manifest is written in.

Theory of operation. A manifest is a column of lines such as `  name: web`, `- name: http` or
`  args: ["--port", "8080"]`. Each line is understood on its own, once: the result (indentation,
kind, key, value) is kept in a table, because the manifests of a team repeat their lines. A document
is then a loop over its lines that opens, fills and closes maps and lists by indentation. Texts of
several lines (`|`, `>`, and those that go on in deeper lines) are put together where they begin.

The rule of this file: when in doubt, leave it. Anything but the shapes above (anchors, tags,
escapes, tabs, unusual characters, duplicate keys, wrong indentation ...) raises `UnusualError`, and
`yaml_events` reads the document, or finds the error and its position. What this reader does accept
it must read exactly as that one does; `tests/goyaml` proves it on generated and on mutated
documents. Measured on a Deployment of 1 kB: 20 µs here, 110 µs there, 280 µs with PyYAML's own
loader (see docs/decisions/0001-yaml-reader.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from celadon.goyaml import yaml_scalars
from celadon.kube import Json
from celadon.late_patterns import late_pattern


class UnusualError(Exception):
    """Says that a document is for the complete reader."""


# What a line is. Kinds from _ITEM on open with a dash.
_SKIP: Final = 0  # nothing, or a comment
_SCALAR: Final = 1  # key: value
_OPEN: Final = 2  # key:
_FLOW: Final = 3  # key: [a, b]  or  key: {}
_TEXT: Final = 4  # key: |
_BEGUN: Final = 5  # key: 'value
_ITEM: Final = 6  # added to a kind above: the same after a dash
_ITEM_VALUE: Final = 12  # - value
_ITEM_FLOW: Final = 13  # - []
_REST: Final = 14  # nothing of these: the rest of the value above, perhaps

_STRANGE: Final = late_pattern(
    r"[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
# The first character of plain text: none that YAML gives a meaning, or a dash that is no item and a
# colon that ends no key.
_PLAIN: Final = (
    r"(?:[A-Za-z0-9_./$\\^(;+]|[-:](?=[^\s]))"
    r"(?:[^\s:#]++|:(?=[^\s])|(?<=[^\s])\#|[ ]++(?=[^\s#]))*+"
)
_QUOTED: Final = r"\"[^\"\\\n]*+\"|'(?:[^'\n]++|'')*+'"
_FLOW_ITEM: Final = rf"(?:{_QUOTED}|[A-Za-z0-9_./][A-Za-z0-9_./-]*)"
_FLOW_LIST: Final = rf"\[[ ]*+(?:{_FLOW_ITEM}[ ]*+(?:,[ ]*+{_FLOW_ITEM}[ ]*+)*+)?+\]|\{{[ ]*+\}}"
_VALUE: Final = rf"(?P<plain>{_PLAIN})|(?P<quoted>{_QUOTED})|(?P<flow>{_FLOW_LIST})"
_LINE: Final = late_pattern(
    rf"""(?P<indent>[ ]*+)
    (?: (?P<dash>-[ ]+)? (?P<key>[A-Za-z_][A-Za-z0-9_./-]{{0,200}}|"[^"\\\n]{{1,200}}") :
        (?: [ ]+ (?: {_VALUE} | (?P<text>[|>][+-]?) ) )?
      | (?P<item>-[ ]+) (?: {_VALUE.replace("?P<", "?P<i_")} )
    )?
    (?: (?:(?<![^ ])|[ ]+) \#[^\n]* | [ ]* )""",
    re.VERBOSE,
)
_BEGINNING: Final = late_pattern(
    r"""(?P<indent>[ ]*) (?P<dash>-[ ]+)? (?P<key>[A-Za-z_][A-Za-z0-9_./-]{0,200}) :
    [ ]+ (?P<begun>\"[^\"\\\n]*|'(?:[^'\n]++|'')*+)""",
    re.VERBOSE,
)
_REST_OF: Final = {
    "'": late_pattern(r"(?P<text>(?:[^'\n]++|'')*+)(?P<end>'[ ]*)?"),
    '"': late_pattern(r"(?P<text>[^\"\\\n]*)(?P<end>\"[ ]*)?"),
}
_REST_OF_PLAIN: Final = late_pattern(
    r"[ ]*(?P<text>[^\s:#](?:[^\s:#]++|:(?=[^\s])|(?<=[^\s])\#|[ ]++(?=[^\s#]))*+)[ ]*"
)
_LINE_ENDS: Final = late_pattern(r"\n+")
_FLOW_ITEMS: Final = late_pattern(_FLOW_ITEM)

_Line = tuple[int, int, int, str, Any]
"""Indentation, indentation behind the dash (if any), kind, key, value."""

_MOST_LINES: Final = 20_000
"""Lines kept in the table: about 5 MB."""


class BlockReader:
    """Reads documents; keeps what it learned about their lines for the next one."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    def read(self, text: str) -> Any:
        """Return the value of one document. Raises `UnusualError` if it is not plain block
        style."""
        if len(self._lines) > _MOST_LINES:
            self._lines.clear()
        return _document(text.split("\n"), self._lines)


def _document(lines: list[str], memo: dict[str, _Line]) -> Any:
    """Read the lines in one loop. It is one function because calls would be most of its time."""
    root: dict[str, Json] = {}
    container: Any = root  # the map or list that is being filled
    column = 0  # its indentation
    above: list[tuple[object, int]] = []  # the enclosing ones
    pending: str | None = None  # a key of `container` whose value has not come yet
    position, end = 0, len(lines)
    while position < end:
        line = lines[position]
        position += 1
        indent, inner, kind, key, value = memo.get(line) or _understand(line, memo)
        if kind == _SKIP:
            continue
        if kind == _REST:
            position = _continue_plain(lines, position - 1, container, column)
            continue
        if pending is not None:
            if indent > column or (kind >= _ITEM and indent == column):
                above.append((container, column))
                if len(above) > yaml_scalars.MAX_DEPTH:
                    raise UnusualError
                opened: Any = [] if kind >= _ITEM else {}
                container[pending] = opened
                container, column = opened, indent
            else:
                container[pending] = None
            pending = None
        while indent < column:
            container, column = above.pop()
        if kind < _ITEM and container.__class__ is list and above:
            container, column = above.pop()
        if indent != column or (container.__class__ is list) != (kind >= _ITEM):
            raise UnusualError
        if kind >= _ITEM:
            if kind >= _ITEM_VALUE:
                container.append(value if kind == _ITEM_VALUE else _flow(value))
                continue
            above.append((container, column))
            item: dict[str, object] = {}
            container.append(item)
            container, column = item, inner
            kind -= _ITEM
        if key in container:
            raise UnusualError
        if kind == _SCALAR:
            container[key] = value
        elif kind == _OPEN:
            pending = key
        elif kind == _FLOW:
            container[key] = _flow(value)
        elif kind == _TEXT:
            container[key], position = _block(lines, position, column, value)
        else:
            container[key], position = _quoted(lines, position, column, value)
    if pending is not None:
        container[pending] = None
    return root if root else None


def _understand(line: str, memo: dict[str, _Line]) -> _Line:
    """Read a line that is seen for the first time."""
    if _STRANGE.search(line):
        raise UnusualError
    match = _LINE.fullmatch(line)
    understood = memo[line] = _begun(line) if match is None else _classified(match)
    return understood


def _begun(line: str) -> _Line:
    """Return the parts of a line that begins an entry and does not end it."""
    match = _BEGINNING.fullmatch(line)
    if match is None:
        return 0, 0, _REST, "", None
    key, dash, indent = match["key"], match["dash"], len(match["indent"])
    if key in yaml_scalars.WORDS:
        raise UnusualError
    inner = indent + len(dash) if dash else indent
    return indent, inner, _BEGUN + _ITEM if dash else _BEGUN, key, match["begun"]


def _classified(match: re.Match[str]) -> _Line:
    indent = len(match["indent"])
    if match["item"] is not None:
        kind, value = _valued(match["i_plain"], match["i_quoted"], match["i_flow"])
        return indent, indent, _ITEM_VALUE if kind == _SCALAR else _ITEM_FLOW, "", value
    key = match["key"]
    if key is None:
        return 0, 0, _SKIP, "", None
    if key[0] == '"':
        key = key[1:-1]
    elif key in yaml_scalars.WORDS:
        raise UnusualError
    dash = match["dash"]
    inner = indent + len(dash) if dash else indent
    if match["text"] is not None:
        kind, value = _TEXT, match["text"]
    else:
        kind, value = _valued(match["plain"], match["quoted"], match["flow"])
    return indent, inner, kind + _ITEM if dash else kind, key, value


def _valued(plain: str | None, quoted: str | None, flow: str | None) -> tuple[int, object]:
    if plain is not None:
        return _SCALAR, _resolved(plain)
    if quoted is not None:
        return _SCALAR, _unquoted(quoted)
    if flow is not None:
        if flow[0] == "{":
            return _FLOW, None
        return _FLOW, tuple(_flow_item(item) for item in _FLOW_ITEMS.findall(flow))
    return _OPEN, None


def _flow_item(item: str) -> object:
    if item[0] in "\"'":
        return _unquoted(item)
    return _resolved(item)


def _resolved(plain: str) -> Any:
    try:
        return yaml_scalars.resolve_plain(plain)
    except yaml_scalars.NotJsonError:
        raise UnusualError from None


def _unquoted(quoted: str) -> str:
    inner = quoted[1:-1]
    return inner.replace("''", "'") if quoted[0] == "'" else inner


def _flow(value: tuple[Json, ...] | None) -> object:
    """Return a new list or map every time: two documents must not share one."""
    return {} if value is None else list(value)


def _continue_plain(lines: list[str], position: int, container: Any, column: int) -> int:
    """Join deeper lines to the plain value of the line above them, the last in `container`, and
    return the position behind them."""
    last = len(container) - 1 if container.__class__ is list else next(reversed(container), None)
    words = [_plain_at_end(lines[position - 1] if position else "")]
    if last is None or container[last] != _resolved(words[0]):
        raise UnusualError
    while position < len(lines):
        line = lines[position]
        rest = _REST_OF_PLAIN.fullmatch(line)
        if rest is None or rest.start("text") <= column or _STRANGE.search(line):
            break
        words.append(rest["text"])
        position += 1
    if len(words) == 1:
        raise UnusualError
    container[last] = _resolved(" ".join(words))
    return position


def _plain_at_end(line: str) -> str:
    """Return the plain value that a line ends with."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise UnusualError
    name = "i_plain" if match["plain"] is None else "plain"
    if match[name] is None or line[match.end(name) :].strip(" "):
        raise UnusualError
    return match[name]


def _quoted(lines: list[str], position: int, parent: int, begun: str) -> tuple[str, int]:
    """Return the text that begins with a quote and ends in a deeper line, and the position behind
    it."""
    quote = begun[0]
    words = [begun[1:].rstrip(" ")]
    for line in lines[position:]:
        position += 1
        stripped = line.lstrip(" ")
        rest = _REST_OF[quote].fullmatch(stripped)
        if (
            rest is None
            or not stripped
            or len(line) - len(stripped) <= parent
            or _STRANGE.search(line)
        ):
            raise UnusualError
        words.append(rest["text"] if rest["end"] else rest["text"].rstrip(" "))
        if rest["end"]:
            return _unquoted(f"{quote}{' '.join(words)}{quote}"), position
    raise UnusualError


def _block(lines: list[str], position: int, parent: int, style: str) -> tuple[str, int]:
    """Return the text under `key: |` or `key: >`, and the position behind it."""
    start, end = position, len(lines)
    while position < end and not lines[position]:
        position += 1
    if position == end or not lines[position].strip(" "):
        raise UnusualError
    column = len(lines[position]) - len(lines[position].lstrip(" "))
    if column <= parent:
        raise UnusualError
    margin = " " * column
    position = start
    text: list[str] = []
    while position < end:
        line = lines[position]
        if line.startswith(margin):
            text.append(line[column:])
        elif not line.strip(" "):
            text.append("")
        else:
            break
        position += 1
    if position == end and lines[-1]:
        raise UnusualError  # no line end at the end: the text has none either
    if position < end and len(lines[position]) - len(lines[position].lstrip(" ")) > parent:
        raise UnusualError
    return _chomped(text, style), position


def _chomped(lines: list[str], style: str) -> str:
    content = "\n".join(lines)
    if _STRANGE.search(content):
        raise UnusualError
    stripped = content.rstrip("\n")
    if style[0] == ">":
        stripped = _folded(stripped)
    if style[1:] == "-":
        return stripped
    if style[1:] == "+":
        raise UnusualError
    return stripped + "\n" if stripped else ""


def _folded(text: str) -> str:
    """Lines that follow each other become one; empty ones stand for line ends."""
    if text[:1] in {" ", "\n"} or "\n " in text:
        raise UnusualError
    return _LINE_ENDS.sub(lambda ends: ends[0][1:] or " ", text)


# --- On demand ---------------------------------------------------------------
#
# Reading any YAML and writing it, loaded with the first text that needs it: PyYAML takes as
# long to load as the quick reader takes for hundreds of everyday manifests.


def read_yaml(
    text: str, repeated: list[yaml_scalars.RepeatedKey] | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield the documents of a text, each with the line (from 1) where it begins.

    Raises `UnreadableError`, after the documents before the faulty one were given out; a key that
    is given twice is a fault, too, unless there is a list that takes note of it.
    """
    from celadon.goyaml import yaml_events  # late: see above

    return yaml_events.read_yaml(text, repeated)


def first_document(data: bytes) -> yaml_scalars.YamlDocument:
    """Read a body as an API server does. Raises `UnreadableError`, whose `upstream` is the text for
    clients."""
    from celadon.goyaml import yaml_documents  # late: see above

    return yaml_documents.first_document(data)


def yaml_text(value: Any, *, is_sorted: bool = True) -> str:
    """Return a JSON value as sigs.k8s.io/yaml writes it; the members of objects as given unless
    they are to be sorted."""
    # late: see above
    from celadon.goyaml import yaml_documents as yaml_writer

    return yaml_writer.yaml_text(value, is_sorted=is_sorted)
