"""Objects as they stand in a dump: pieces of text, a block of them at a time.

Inputs are cut into blocks without being read, so that each of several processes can leave out what
the others take. A piece is read only if somebody wants to know more of its object than its kind,
which most texts tell in their first bytes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple, Protocol

from celadon.cli.check.check_report import Place
from celadon.cli.reading.documents import (
    MAX_FILE_BYTES,
    MAX_LIST_CHARACTERS,
    Document,
    DocumentReader,
    Problem,
    Text,
    decoded,
    read_text,
    shape_problem,
)
from celadon.cli.reading.json_text import read_written
from celadon.goyaml import UnreadableError
from celadon.kube.json_types import JsonDict
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

_TEXT: Final = rb'"([^"\\\x00-\x1f]*)"'
_HEAD: Final = late_pattern(
    rb"[ \t\r\n]*\{\s*(?:"
    rb'"apiVersion"\s*:\s*' + _TEXT + rb'\s*,\s*"kind"\s*:\s*' + _TEXT + rb"|"
    rb'"kind"\s*:\s*' + _TEXT + rb'\s*,\s*"apiVersion"\s*:\s*' + _TEXT + rb")"
)
_LIST: Final = "List"


class Head(NamedTuple):
    """The type of an object."""

    api_version: str
    kind: str


class Piece(NamedTuple):
    """The text of one object and where it begins; `is_yaml` if it is no JSON. One that had to be
    read to be found has a `document` and no text."""

    file: str
    line: int
    text: bytes
    is_yaml: bool = False
    document: Document | None = None

    @property
    def place(self) -> Place:
        """Return where its first object begins."""
        return Place(self.file, self.line if self.document is None else self.document.line())

    @property
    def told_bytes(self) -> int | None:
        """Return the length of the text."""
        return len(self.text) or None

    def head(self) -> Head | None:
        """Return the type, if the text tells it at once and looks whole."""
        if self.document is not None:
            value = self.document.value
            return Head(value["apiVersion"], value["kind"])
        if self.is_yaml:
            return None
        match = _HEAD.match(self.text)
        if match is None or not self.text.rstrip().endswith(b"}"):
            return None
        version, kind = (match[1], match[2]) if match[3] is None else (match[4], match[3])
        return Head(version.decode("utf-8", "replace"), kind.decode("utf-8", "replace"))

    def objects(self, reader: DocumentReader) -> Iterator[ReadObject | Problem]:
        """Yield the object, or those of a list."""
        if self.document is None and not self.is_yaml:
            try:
                value = read_written(self.text.decode())
            except (UnreadableError, UnicodeDecodeError):
                value = None
            if _is_object(value):
                yield ReadObject(value, self)
                return
        for document in self.documents(reader):
            if isinstance(document, Problem):
                yield document
            else:
                yield ReadObject(document.value, self, document)

    def documents(self, reader: DocumentReader) -> Iterator[Document | Problem]:
        """Yield the documents with the places of all fields; this takes longer."""
        if self.document is not None:
            yield self.document
            return
        try:
            text = self.text.decode()
        except UnicodeDecodeError as error:
            wrong = f"invalid UTF-8: byte 0x{self.text[error.start]:02x}"
            yield Problem(self.file, self.line, wrong)
            return
        yield from _documents(reader, Text(self.file, text), self.line)


def read_pieces(text: Text, first_line: int = 1) -> Iterator[Piece | Problem]:
    """Yield the objects of a text that has to be read as a whole."""
    for document in _documents(DocumentReader(), text, first_line):
        yield (
            document
            if isinstance(document, Problem)
            else Piece(text.file, 0, b"", document=document)
        )


def _documents(reader: DocumentReader, text: Text, first_line: int) -> Iterator[Document | Problem]:
    for item in reader.read(text, first_line):
        problem = None if isinstance(item, Problem) else shape_problem(item)
        yield item if problem is None else problem


class AnyPiece(Protocol):
    """One object, or some, that nobody has read yet."""

    @property
    def place(self) -> Place:
        """Return where its first object begins."""
        ...

    @property
    def text(self) -> bytes:
        """Return what it is written in; empty for one that had to be read to be found."""
        ...

    @property
    def told_bytes(self) -> int | None:
        """Return how long a text is that says all of it; None if nobody has written one."""
        ...

    def head(self) -> Head | None:
        """Return the type, if that can be told at once."""
        ...

    def objects(self, reader: DocumentReader) -> Iterator[ReadObject | Problem]:
        """Yield all objects."""
        ...

    def documents(self, reader: DocumentReader) -> Iterator[Document | Problem]:
        """Yield the documents with the places of all fields; this takes longer."""
        ...


class ReadObject(NamedTuple):
    """An object that was read; with its `document` if there had to be one."""

    value: JsonDict
    piece: AnyPiece
    document: Document | None = None

    @property
    def place(self) -> Place:
        """Return where the block begins."""
        if self.document is None:
            return self.piece.place
        return Place(self.piece.place.file, self.document.line())


def _is_object(value: object) -> bool:
    """Return whether it is one object, with nothing odd about what every object has."""
    if not isinstance(value, dict):
        return False
    kind, version, metadata = value.get("kind"), value.get("apiVersion"), value.get("metadata")
    if not (kind and version and isinstance(kind, str) and isinstance(version, str)):
        return False
    return not kind.endswith(_LIST) and (metadata is None or is_sound_metadata(metadata))


def is_sound_metadata(metadata: object) -> bool:
    """Return whether there is nothing odd about what is read of every object."""
    if not isinstance(metadata, dict):
        return False
    for name in ("name", "namespace", "uid"):
        value = metadata.get(name)
        if value is not None and not isinstance(value, str):
            return False
    labels = metadata.get("labels")
    return labels is None or (
        isinstance(labels, dict) and all(isinstance(label, str) for label in labels.values())
    )


class Block(Protocol):
    """Some of the objects of an input."""

    @property
    def read_bytes(self) -> int:
        """Return how many bytes of all inputs stand before the end of this block."""
        ...

    def pieces(self) -> Iterator[AnyPiece | Problem]:
        """Yield the pieces in their order."""
        ...

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Return false if none of the words is in any piece; where that is not quickly said,
        true."""
        ...


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of JSON; empty ones are none."""

    file: str
    first_line: int
    data: bytes
    read_bytes: int

    def pieces(self) -> Iterator[Piece]:
        """Yield a piece for each line."""
        file = self.file
        for number, line in enumerate(self.data.split(b"\n"), self.first_line):
            if line and not line.isspace():
                yield Piece(file, number, line)

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Look through all lines at once."""
        return any(word in self.data for word in words)


@dataclass(frozen=True, slots=True)
class PieceBlock:
    """Pieces that were found one by one."""

    found: tuple[Piece | Problem, ...]
    read_bytes: int

    def pieces(self) -> Iterator[Piece | Problem]:
        """Yield the pieces as they were found."""
        yield from self.found

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Look through each piece."""
        for piece in self.found:
            if isinstance(piece, Problem):
                continue
            # A document has been read already and has no text to look through.
            if piece.document is not None or any(word in piece.text for word in words):
                return True
        return False


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A file that is read when its turn comes."""

    file: str
    read_bytes: int

    def pieces(self) -> Iterator[Piece | Problem]:
        """Yield the documents of the file."""
        text = read_text(self.file)
        if isinstance(text, Problem):
            yield text
            return
        yield from read_pieces(text)

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Look through the file without understanding it."""
        text = read_text(self.file)
        return isinstance(text, Text) and any(word.decode() in text.content for word in words)


# --- Object streams ----------------------------------------------------------
#
# The forms that dumps of objects have, and how each is cut into blocks while it streams by.
#
# JSON lines, one object each; lists as `kubectl get -o json` and `-o yaml` print them, whose
# items stand at a fixed indentation. None of these is ever in memory as a whole. Any other text
# is read as `celadon check` would read it, within the same limits.

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
    """Yield the blocks of one input, whichever form it has; what cannot be read ends it."""
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
    match = _JSON_LIST.match(head)
    if match is not None:
        yield from _json_items(file, _Texts(head, stream), match.end(), position)
        return
    match = _YAML_LIST.match(head)
    if match is not None:
        yield from _yaml_items(file, _Texts(head, stream), match.end(), position)
        return
    if _is_lines(head):
        yield from _lines(file, head, stream, position)
        return
    yield from _whole(file, begin, stream, position)


def _first(stream: BinaryIO) -> bytes:
    """Enough to tell the form; pipes give what they have."""
    head = b""
    while len(head) < _PEEKED and (more := stream.read(_PEEKED - len(head))):
        head += more
    return head


def _is_lines(head: bytes) -> bool:
    """Return whether all lines of it that say something begin objects, and end them."""
    lines = head.split(b"\n")
    if len(lines) > 1 and len(head) >= _PEEKED:
        lines.pop()  # which may go on
    filled_lines = [line for line in lines if line.strip()]
    if len(lines) == 1 and len(head) >= _PEEKED:
        return head.lstrip().startswith(b"{") and b"\n" not in head
    return bool(filled_lines) and all(
        line.startswith(b"{") and _DOCUMENT_END.search(line) is not None for line in filled_lines
    )


def lines_from(file: str, stream: BinaryIO, line: int, position: Position) -> Iterator[LineBlock]:
    """Return the blocks of JSON lines whose first has this number. Raises TooLarge."""
    return _lines(file, b"", stream, position, line)


def _lines(
    file: str, begin: bytes, stream: BinaryIO, position: Position, line: int = 1
) -> Iterator[LineBlock]:
    rest = begin
    while True:
        data = stream.read(CHUNK)
        # A block ends with a line; what has begun behind it is the beginning of the next one.
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
        """Read on; return False at the end."""
        if len(self.data) > MAX_LIST_CHARACTERS:
            raise TooLarge(
                f"the object at line {self.line} is larger than {MAX_LIST_CHARACTERS >> 20} MiB"
            )
        chunk = self.stream.read(CHUNK)
        self.data += chunk
        self.ended = not chunk
        return not self.ended

    def take(self, size: int) -> tuple[int, bytes]:
        """Take what comes first; with its line."""
        data, self.data = self.data[:size], self.data[size:]
        line = self.line
        self.line += data.count(b"\n")
        return line, data


def _json_items(
    file: str, texts: _Texts, start: int, position: Position
) -> Iterator[Block | Problem]:
    texts.take(start)
    more = True
    while more:
        more = texts.more()
        pieces, offset, line = [], 0, texts.line
        for item_end in _JSON_ITEM_END.finditer(texts.data):
            text = texts.data[offset : item_end.end()]
            # What separates items belongs to the list.
            end = text.rstrip(b",\r\n")
            pieces.append(Piece(file, line, end))
            line += text.count(b"\n")
            offset = item_end.end()
        texts.take(offset)
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
        starts = [match.start() for match in _YAML_ITEM.finditer(texts.data, 0, limit)]
        # The last item goes on, unless something else follows it.
        bounds = [*starts, limit] if end is not None or not more else starts
        offset = 0
        line = texts.line
        for begin, stop in itertools.pairwise(bounds):
            text = texts.data[begin:stop]
            pieces.append(Piece(file, line, _ITEM_MARGIN.sub(b"", text), is_yaml=True))
            line += text.count(b"\n")
            offset = stop
        texts.take(offset)
        for first in range(0, len(pieces), _PIECES):
            yield PieceBlock(tuple(pieces[first : first + _PIECES]), position())
        pieces = []
        if end is not None:
            yield from _behind_list(file, texts, position)
            return


def _behind_list(file: str, texts: _Texts, position: Position) -> Iterator[Block | Problem]:
    """Yield what follows the items: the rest of the list, then perhaps other documents."""
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
