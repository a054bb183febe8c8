"""The forms that dumps of objects have, and how each is cut into blocks while it streams by.

JSON lines, one object each; lists as `kubectl get -o json` and `-o yaml` print them, whose items
stand at a fixed indentation. None of these is ever in memory as a whole. Any other text is read as
`celadon check` would read it, within the same limits.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from celadon.cli.auditing.audit_blocks import Block, LineBlock, Piece, PieceBlock, read_pieces
from celadon.cli.reading.input_limits import MAX_FILE_BYTES, MAX_LIST_CHARACTERS
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import decoded
from celadon.patterns import late_pattern

CHUNK: Final = 1 << 19
"""Bytes that are read at once, and about as many make a block."""
_PEEKED: Final = 1 << 16
_PIECES: Final = 250
_DOCUMENT_END: Final = late_pattern(rb"\}[ \t\r]*$")
_JSON_LIST: Final = late_pattern(
    rb'\{\r?\n {4}"apiVersion": "[^"\n]*",\r?\n {4}"items": \[\r?\n(?= {8}\{\r?\n)'
)
_JSON_ITEM_END: Final = late_pattern(rb"^ {8}\},?\r?\n", re.MULTILINE)
_YAML_LIST: Final = late_pattern(rb"(?:---\r?\n)?apiVersion: [^\n]*\nitems:\r?\n(?=- )")
_YAML_ITEM: Final = late_pattern(rb"^(?=- )", re.MULTILINE)
_YAML_END: Final = late_pattern(rb"^(?=[^\s#-])", re.MULTILINE)
_ITEM_MARGIN: Final = late_pattern(rb"^(?:- |  )", re.MULTILINE)

Position = Callable[[], int]
"""How many bytes of all inputs have been read."""


class TooLarge(ValueError):
    """A single object, or a text that has to be read as a whole."""


def blocks_of(file: str, stream: BinaryIO, position: Position) -> Iterator[Block | Problem]:
    """The blocks of one input, whichever form it has; what cannot be read ends it."""
    begin = _first(stream)
    try:
        yield from _blocks(file, begin, stream, position)
    except TooLarge as error:
        yield Problem(file, 0, str(error), "split it into several files")
    except (OSError, EOFError) as error:
        yield Problem(file, 0, f"cannot be read: {str(error).lower()}")


def _blocks(
    file: str, begin: bytes, stream: BinaryIO, position: Position
) -> Iterator[Block | Problem]:
    head = begin.removeprefix(b"\xef\xbb\xbf")
    found = _JSON_LIST.match(head)
    if found is not None:
        yield from _json_items(file, _Texts(head, stream), found.end(), position)
        return
    found = _YAML_LIST.match(head)
    if found is not None:
        yield from _yaml_items(file, _Texts(head, stream), found.end(), position)
        return
    if _is_lines(head):
        yield from _lines(file, head, stream, position)
        return
    yield from _whole(file, begin, stream, position)


def _first(stream: BinaryIO) -> bytes:
    """Enough to tell the form; pipes give what they have."""
    found = b""
    while len(found) < _PEEKED and (more := stream.read(_PEEKED - len(found))):
        found += more
    return found


def _is_lines(head: bytes) -> bool:
    """Whether all lines of it that say something begin objects, and end them."""
    lines = head.split(b"\n")
    if len(lines) > 1 and len(head) >= _PEEKED:
        lines.pop()  # which may go on
    said = [line for line in lines if line.strip()]
    if len(lines) == 1 and len(head) >= _PEEKED:
        return head.lstrip().startswith(b"{") and b"\n" not in head
    return bool(said) and all(
        line.startswith(b"{") and _DOCUMENT_END.search(line) is not None for line in said
    )


def lines_from(file: str, stream: BinaryIO, line: int, position: Position) -> Iterator[LineBlock]:
    """The blocks of JSON lines whose first has this number. Raises TooLarge."""
    return _lines(file, b"", stream, position, line)


def _lines(
    file: str, begin: bytes, stream: BinaryIO, position: Position, line: int = 1
) -> Iterator[LineBlock]:
    rest = begin
    while True:
        data = stream.read(CHUNK)
        whole, newline, after = (rest + data).rpartition(b"\n") if data else (rest, b"", b"")
        if whole:
            yield LineBlock(file, line, whole, position())
        line += whole.count(b"\n") + len(newline)
        rest = after
        if not data:
            return
        if len(rest) > MAX_LIST_CHARACTERS:
            raise TooLarge(f"line {line} is larger than {MAX_LIST_CHARACTERS >> 20} MiB")


class _Texts:
    """A text of which only the part that is being looked at is kept."""

    __slots__ = ("data", "ended", "line", "stream")

    def __init__(self, begin: bytes, stream: BinaryIO) -> None:
        self.data, self.stream, self.line, self.ended = begin, stream, 1, False

    def more(self) -> bool:
        """Reads on; False at the end."""
        if len(self.data) > MAX_LIST_CHARACTERS:
            raise TooLarge(
                f"the object at line {self.line} is larger than {MAX_LIST_CHARACTERS >> 20} MiB"
            )
        found = self.stream.read(CHUNK)
        self.data += found
        self.ended = not found
        return not self.ended

    def take(self, size: int) -> tuple[int, bytes]:
        """Takes what comes first; with its line."""
        taken, self.data = self.data[:size], self.data[size:]
        line = self.line
        self.line += taken.count(b"\n")
        return line, taken


def _json_items(
    file: str, texts: _Texts, start: int, position: Position
) -> Iterator[Block | Problem]:
    texts.take(start)
    more = True
    while more:
        more = texts.more()
        pieces, taken, line = [], 0, texts.line
        for found in _JSON_ITEM_END.finditer(texts.data):
            text = texts.data[taken : found.end()]
            end = text.rstrip(b",\r\n")
            pieces.append(Piece(file, line, end))
            line += text.count(b"\n")
            taken = found.end()
        texts.take(taken)
        if pieces:
            yield PieceBlock(tuple(pieces), position())
    if not texts.data.lstrip().startswith(b"]"):
        yield Problem(file, texts.line, "the list is not complete: the text ends in it")


def _yaml_items(
    file: str, texts: _Texts, start: int, position: Position
) -> Iterator[Block | Problem]:
    texts.take(start)
    pieces: list[Piece] = []
    more = True
    while more:
        more = texts.more()
        end = _YAML_END.search(texts.data)
        limit = len(texts.data) if end is None else end.start()
        starts = [one.start() for one in _YAML_ITEM.finditer(texts.data, 0, limit)]
        # The last item goes on, unless something else follows it.
        bounds = [*starts, limit] if end is not None or not more else starts
        taken = 0
        line = texts.line
        for begin, stop in itertools.pairwise(bounds):
            text = texts.data[begin:stop]
            pieces.append(Piece(file, line, _ITEM_MARGIN.sub(b"", text), is_yaml=True))
            line += text.count(b"\n")
            taken = stop
        texts.take(taken)
        for first in range(0, len(pieces), _PIECES):
            yield PieceBlock(tuple(pieces[first : first + _PIECES]), position())
        pieces = []
        if end is not None:
            yield from _behind_list(file, texts, position)
            return


def _behind_list(file: str, texts: _Texts, position: Position) -> Iterator[Block | Problem]:
    """What follows the items: the rest of the list, then perhaps other documents."""
    while texts.more():
        if len(texts.data) > MAX_LIST_CHARACTERS:
            raise TooLarge("what follows the list is too large")
    separator = re.search(rb"^---", texts.data, re.MULTILINE)
    if separator is not None:
        texts.take(separator.start())
        yield from _read_blocks(file, texts.data, texts.line, position)


def _whole(
    file: str, begin: bytes, stream: BinaryIO, position: Position
) -> Iterator[Block | Problem]:
    data = begin + stream.read(MAX_FILE_BYTES + 1 - len(begin))
    if len(data) > MAX_FILE_BYTES:
        raise TooLarge(f"larger than {MAX_FILE_BYTES >> 20} MiB")
    yield from _read_blocks(file, data, 1, position)


def _read_blocks(
    file: str, data: bytes, line: int, position: Position
) -> Iterator[Block | Problem]:
    text = decoded(file, data)
    if isinstance(text, Problem):
        yield text
        return
    pieces: list[Piece | Problem] = []
    for piece in read_pieces(text, line):
        pieces.append(piece)
        if len(pieces) == _PIECES:
            yield PieceBlock(tuple(pieces), position())
            pieces = []
    if pieces:
        yield PieceBlock(tuple(pieces), position())
