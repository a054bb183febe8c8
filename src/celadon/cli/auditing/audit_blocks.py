"""Objects as they stand in a dump: pieces of text, a block of them at a time.

Inputs are cut into blocks without being read, so that each of several processes can leave out what
the others take. A piece is read only if somebody wants to know more of its object than its kind,
which most texts tell in their first bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

from celadon.cli.checking.check_report import Place
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.json_text import read_written
from celadon.cli.reading.object_shape import shape_problem
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text, read
from celadon.goyaml import UnreadableError
from celadon.patterns import late_pattern
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
        """Where its first object begins."""
        return Place(self.file, self.line if self.document is None else self.document.line())

    @property
    def told_bytes(self) -> int | None:
        """The length of the text."""
        return len(self.text) or None

    def head(self) -> Head | None:
        """The type, if the text tells it at once and looks whole."""
        if self.document is not None:
            value = self.document.value
            return Head(value["apiVersion"], value["kind"])
        if self.is_yaml:
            return None
        found = _HEAD.match(self.text)
        if found is None or not self.text.rstrip().endswith(b"}"):
            return None
        version, kind = (found[1], found[2]) if found[3] is None else (found[4], found[3])
        return Head(version.decode("utf-8", "replace"), kind.decode("utf-8", "replace"))

    def objects(self, reader: DocumentReader) -> Iterator[Found | Problem]:
        """The object, or those of a list."""
        if self.document is None and not self.is_yaml:
            try:
                value = read_written(self.text.decode())
            except (UnreadableError, UnicodeDecodeError):
                value = None
            if _is_object(value):
                yield Found(value, self)
                return
        for document in self.documents(reader):
            if isinstance(document, Problem):
                yield document
            else:
                yield Found(document.value, self, document)

    def documents(self, reader: DocumentReader) -> Iterator[Document | Problem]:
        """The same with places of all fields; takes longer."""
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
    """The objects of a text that has to be read as a whole."""
    for found in _documents(DocumentReader(), text, first_line):
        yield found if isinstance(found, Problem) else Piece(text.file, 0, b"", document=found)


def _documents(reader: DocumentReader, text: Text, first_line: int) -> Iterator[Document | Problem]:
    for found in reader.read(text, first_line):
        problem = None if isinstance(found, Problem) else shape_problem(found)
        yield found if problem is None else problem


class AnyPiece(Protocol):
    """One object, or some, that nobody has read yet."""

    @property
    def place(self) -> Place:
        """Where its first object begins."""
        ...

    @property
    def text(self) -> bytes:
        """What it is written in; empty for one that had to be read to be found."""
        ...

    @property
    def told_bytes(self) -> int | None:
        """How long a text is that says all of it; None if nobody has written one."""
        ...

    def head(self) -> Head | None:
        """The type, if that can be told at once."""
        ...

    def objects(self, reader: DocumentReader) -> Iterator[Found | Problem]:
        """All of them."""
        ...

    def documents(self, reader: DocumentReader) -> Iterator[Document | Problem]:
        """The same with places of all fields; takes longer."""
        ...


class Found(NamedTuple):
    """An object that was read; with its `document` if there had to be one."""

    value: dict[str, Any]
    piece: AnyPiece
    document: Document | None = None

    @property
    def place(self) -> Place:
        """Where it begins."""
        if self.document is None:
            return self.piece.place
        return Place(self.piece.place.file, self.document.line())


def _is_object(value: object) -> bool:
    """Whether it is one object, with nothing odd about what every object has."""
    if not isinstance(value, dict):
        return False
    kind, version, metadata = value.get("kind"), value.get("apiVersion"), value.get("metadata")
    if not (kind and version and isinstance(kind, str) and isinstance(version, str)):
        return False
    return not kind.endswith(_LIST) and (metadata is None or is_sound_metadata(metadata))


def is_sound_metadata(metadata: object) -> bool:
    """Whether there is nothing odd about what is read of every object."""
    if not isinstance(metadata, dict):
        return False
    for name in ("name", "namespace", "uid"):
        value = metadata.get(name)
        if value is not None and not isinstance(value, str):
            return False
    labels = metadata.get("labels")
    return labels is None or (
        isinstance(labels, dict) and all(isinstance(one, str) for one in labels.values())
    )


class Block(Protocol):
    """Some of the objects of an input."""

    @property
    def read_bytes(self) -> int:
        """Of all inputs, those before the end of this block."""
        ...

    def pieces(self) -> Iterator[AnyPiece | Problem]:
        """In their order."""
        ...

    def mentions(self, words: Sequence[bytes]) -> bool:
        """False if none of the words is in any piece; where that is not quickly said, true."""
        ...


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of JSON; empty ones are none."""

    file: str
    first_line: int
    data: bytes
    read_bytes: int

    def pieces(self) -> Iterator[Piece]:
        """One for each line."""
        file = self.file
        for number, line in enumerate(self.data.split(b"\n"), self.first_line):
            if line and not line.isspace():
                yield Piece(file, number, line)

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Of all lines at once."""
        return any(word in self.data for word in words)


@dataclass(frozen=True, slots=True)
class PieceBlock:
    """Pieces that were found one by one."""

    found: tuple[Piece | Problem, ...]
    read_bytes: int

    def pieces(self) -> Iterator[Piece | Problem]:
        """As they were found."""
        yield from self.found

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Of each piece."""
        for piece in self.found:
            if isinstance(piece, Problem):
                continue
            if piece.document is not None or any(word in piece.text for word in words):
                return True
        return False


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A file that is read when its turn comes."""

    file: str
    read_bytes: int

    def pieces(self) -> Iterator[Piece | Problem]:
        """Its documents."""
        text = read(self.file)
        if isinstance(text, Problem):
            yield text
            return
        yield from read_pieces(text)

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Looks through the file without understanding it."""
        text = read(self.file)
        return isinstance(text, Text) and any(word.decode() in text.content for word in words)
