"""Reads what the user has named: paths to texts, texts to documents with places, documents to
Kubernetes objects; and problems with an input."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

from celadon import private_files
from celadon.cli.exit_codes import Exit
from celadon.cli.options import did_you_mean
from celadon.cli.reading.json_text import Path, read_json, value_at
from celadon.cli.reading.locations import Chunk, PlainChunk, line_starts, place_of_stretch
from celadon.goyaml import BlockReader, RepeatedKey, UnreadableError, UnusualError, read_yaml
from celadon.kube.json_types import DEFINITION, OBJECT, JsonDict, misfit
from celadon.kube.well_known_values import DEFINITION_KIND
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Sources -----------------------------------------------------------------
#
# From what the user typed to texts: files, folders, globs and `-` for standard input.
#
# A folder stands for the `.yaml`, `.yml` and `.json` files in it and below it, in alphabetical
# order; names that begin with a dot are skipped, and so are pipes, sockets and devices, and the
# tests of policies, which stand beside them. Whoever asks for tests gets those in hidden folders,
# too (`.kyverno-test/`): the caller knows them by their names (`is_hidden`). A file named on the
# command line is read whatever its name and nature.

# --- Problems ----------------------------------------------------------------
#
# What is wrong with an input, as a value that can be shown in any format.
#
# Texts obey the house's second law: lower case, no final period, user input in backticks, the
# position and the help apart from the message.


@dataclass(frozen=True, slots=True)
class Problem:
    """Says why (a part of) an input could not be used.

    `line` counts from 1 and is 0 when the problem concerns the file as a whole. `is_internal` says
    that the reason is a defect of ours.
    """

    file: str
    line: int
    message: str
    help: str = ""
    is_internal: bool = False
    column: int = 0

    def position(self) -> str:
        """`file:line:column`, as much of it as is known."""
        numbers = [str(number) for number in (self.line, self.column) if number]
        return ":".join((self.file, *numbers))

    def text(self) -> str:
        """`file:line: message (help)`."""
        help = f" ({self.help})" if self.help else ""
        return f"{self.position()}: {self.message}{help}"


def exit_of(problems: Iterable[Problem]) -> Exit:
    """Return what a run ends with on their account: a defect of ours goes before unreadable
    input."""
    result = list(problems)
    if any(problem.is_internal for problem in result):
        return Exit.INTERNAL
    return Exit.USAGE if result else Exit.OK


# --- Errors of our own -------------------------------------------------------
#
# Errors of our own: said in a line, with what a report of them needs.
#
# Whatever an input does to us, the other inputs are still judged, and the exit code is one that
# means neither "admitted" nor "denied" (`Exit.INTERNAL`).

TRACEBACK_VARIABLE: Final = "CELADON_TRACEBACK"
"""Set in the environment, it makes the commands show whole tracebacks of such errors."""
_PACKAGE: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")
HELP: Final = f"please report it with the input; {TRACEBACK_VARIABLE}=1 shows more"


def crash(file: str, line: int, doing: str, error: Exception) -> Problem:
    """Return what happened while we were `doing` something with what stands at a place."""
    message = f"internal error while {doing}: {summary(error)}"
    return Problem(file, line, message, HELP, is_internal=True)


def summary(error: BaseException) -> str:
    """`TypeError: message (kube/names.py:12)`, and the traceback if the environment asks for it."""
    import traceback

    message = "".join(traceback.format_exception_only(error)).strip()
    ours = [
        frame for frame in traceback.extract_tb(error.__traceback__) if _PACKAGE in frame.filename
    ]
    place = ""
    if ours:
        _, _, below = ours[-1].filename.rpartition(_PACKAGE)
        place = f" ({below}:{ours[-1].lineno})"
    if not os.environ.get(TRACEBACK_VARIABLE):
        return f"{message}{place}"
    return f"{message}{place}\n{''.join(traceback.format_exception(error)).rstrip()}"


# --- Input limits ------------------------------------------------------------
#
# How much a file may contain, and why not more.
#
# Every limit answers the question "what would this input do to the person who runs the
# command": without them a kilobyte of YAML can ask for the memory of a data centre.

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""Bytes of one file or of standard input. Larger inputs are better split than loaded at once."""

MAX_DOCUMENT_CHARACTERS: Final = 3 * 1024 * 1024
"""Characters of one object. kube-apiserver refuses request bodies over 3 MiB (3145728 bytes)."""

MAX_LIST_CHARACTERS: Final = 64 * 1024 * 1024
"""Characters of one document whose kind ends in `List`; its items are objects of their own."""

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
EXTENSIONS: Final = (".yaml", ".yml", ".json")
_TEST_FILES: Final = late_pattern(r"(?:.*[._-])?policytest\.(?:yaml|yml|json)", re.IGNORECASE)
"""What files are called that `celadon test` runs."""
_NEVER: Final = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".cache",
        ".direnv",
        ".eggs",
        ".gradle",
        ".idea",
        ".mypy_cache",
        ".nox",
        ".npm",
        ".pytest_cache",
        ".ruff_cache",
        ".terraform",
        ".tox",
        ".venv",
        ".vscode",
    }
)
"""Hidden folders in which other programs keep what nobody wrote."""
_GLOB_CHARACTERS: Final = frozenset("*?[")
_BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_GZIP: Final = b"\x1f\x8b"
_SAVE: Final = "save the file as UTF-8"
_CHART_FILES: Final = frozenset({"chart.yaml", "values.yaml"})
_FILL_IN: Final = "fill it in first: `helm template CHART | celadon check -`"
BUILD_FIRST: Final = "build it first: `kubectl kustomize FOLDER | celadon check -`"


@dataclass(frozen=True, slots=True)
class Text:
    """The content of one file."""

    file: str
    content: str


class Exclusion:
    """Says which of the files in folders and of globs are left out: those that match one of the
    patterns as a whole, by a folder that they are in, or by a single name. `*` stands for anything,
    slashes included."""

    __slots__ = ("_match",)

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        joined = "|".join(fnmatch.translate(os.path.normpath(pattern)) for pattern in patterns)
        self._match = late_pattern(joined).match if joined else None

    def covers(self, path: str) -> bool:
        """Return whether it is left out."""
        if self._match is None:
            return False
        part = os.path.normpath(path)
        while name := os.path.basename(part):
            if self._match(part) or self._match(name):
                return True
            part = os.path.dirname(part)
        return False


NOTHING_EXCLUDED: Final = Exclusion()


def expand_paths(
    arguments: Sequence[str], exclusion: Exclusion = NOTHING_EXCLUDED, *, tests: bool = False
) -> Iterator[str | Problem]:
    """Yield the files meant by the arguments, each once, in order; a problem for an empty argument.
    A file that an argument names is never left out. Tests are those of folders only if asked
    for."""
    seen: set[str] = set()
    for argument in arguments:
        for item in _expand_one(argument, exclusion, tests=tests):
            if isinstance(item, Problem):
                yield item
            elif (identity := _identity(item)) not in seen:
                seen.add(identity)
                yield item


def _identity(path: str) -> str:
    return path if path == STDIN else os.path.abspath(path)


def is_address(path: str) -> bool:
    """Return whether it is the address of something that is in no file of this machine."""
    return "://" in path


def is_test_file(path: str) -> bool:
    """Return whether a file is a test of policies, by its name."""
    return _TEST_FILES.fullmatch(os.path.basename(path)) is not None


def is_hidden(path: str, folders: Sequence[str]) -> bool:
    """Return whether a file of one of the folders is in a hidden one below it."""
    for folder in folders:
        steps = os.path.relpath(path, folder or os.curdir).split(os.sep)
        if steps[0] != os.pardir and not any(text.startswith(".") for text in steps[:-1]):
            return False
    return True


_FIRST_PROJECT: Final = "is it the right one? `celadon init` writes a first project"


def _expand_one(argument: str, exclusion: Exclusion, *, tests: bool) -> Iterator[str | Problem]:
    if argument == STDIN or os.path.isfile(argument):
        yield argument
    elif os.path.isdir(argument or os.curdir):
        closed: list[OSError] = []
        below = _files_below(argument, closed, hidden=tests)
        files = sorted(text for text in below if tests or not is_test_file(text))
        yield from (file for file in files if not exclusion.covers(file))
        for error in closed:
            if not exclusion.covers(error.filename):
                yield unread(error.filename, error)
        if not files and not closed:
            yield Problem(
                argument, 0, "no .yaml, .yml or .json file in this folder", _FIRST_PROJECT
            )
    elif not os.path.exists(argument) and _GLOB_CHARACTERS.intersection(argument):
        try:
            matches = private_files.matching(argument)
        except private_files.TooManyNamesError:
            yield Problem(argument, 0, "too many files to look at for this pattern")
            return
        if not matches:
            yield Problem(argument, 0, "no file matches this pattern")
        yield from (text for text in matches if _is_plain(text) and not exclusion.covers(text))
    else:
        # Something that is not there, or a pipe: reading it will tell.
        yield argument


def _files_below(folder: str, closed: list[OSError], *, hidden: bool) -> Iterator[str]:
    """Folders that cannot be looked into become `closed`."""
    for parent, folders, files in os.walk(folder, onerror=closed.append):
        folders[:] = [
            name for name in folders if not name.startswith(".") or (hidden and name not in _NEVER)
        ]
        for name in files:
            path = os.path.join(parent, name)
            if name.lower().endswith(EXTENSIONS) and not name.startswith(".") and _is_plain(path):
                yield path


def _is_plain(path: str) -> bool:
    """Return whether it is a file, or a link to nothing, which reading will tell."""
    return os.path.isfile(path) or not os.path.exists(path)


def _neighbour(path: str) -> str:
    """Return a similar name beside a path that leads nowhere, as a question."""
    folder, name = os.path.split(path.rstrip("/"))
    if os.path.lexists(path) or not os.path.isdir(folder or os.curdir):
        return ""
    return did_you_mean(name, os.listdir(folder or os.curdir))


def unread(name: str, error: OSError) -> Problem:
    """Return why a file or a folder cannot be read, and what may help."""
    reason = (error.strerror or str(error)).lower()
    help = ""
    if is_address(name):
        help = f"fetch it first: `curl -sSL {name} | celadon check -`"
    elif isinstance(error, PermissionError):
        help = f"`ls -ld {name}` tells who may"
    return Problem(name, 0, f"cannot be read: {reason}{_neighbour(name)}", help)


def read_text(path: str) -> Text | Problem:
    """Return the content of a file, decoded, with line ends as `\\n`."""
    name = STDIN_NAME if path == STDIN else path
    try:
        if path == STDIN:
            if sys.stdin is None:
                return STDIN_CLOSED
            data = _bounded(sys.stdin.buffer)
        else:
            with open(path, "rb") as stream:
                data = _bounded(stream)
    except OSError as error:
        return unread(name, error)
    except ValueError:
        return Problem(name, 0, "cannot be read: not the name of a file")
    if data is None:
        limit = MAX_FILE_BYTES // (1024 * 1024)
        return Problem(name, 0, f"larger than {limit} MiB", "split it into several files")
    return decoded(name, data)


def _bounded(stream: BinaryIO) -> bytes | None:
    data = stream.read(MAX_FILE_BYTES + 1)
    return None if len(data) > MAX_FILE_BYTES else data


def encoded_like(content: str, data: bytes) -> bytes | None:
    """Return a text as bytes, with the byte order mark, the encoding and the line ends that the
    bytes of its file have; None where those are of both kinds."""
    encoding, mark = "utf-8", b""
    for byte_order_mark, marked in _BYTE_ORDER_MARKS:
        if data.startswith(byte_order_mark):
            encoding, mark = marked, byte_order_mark
            break
    before = data[len(mark) :].decode(encoding)
    pairs = before.count("\r\n")
    if pairs and pairs != before.count("\n"):
        return None
    return mark + (content.replace("\n", "\r\n") if pairs else content).encode(encoding)


def decoded(name: str, data: bytes) -> Text | Problem:
    """Return the bytes of a file as its text, with line ends as `\\n`."""
    encoding = "utf-8"
    for mark, marked in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], marked
            break
    try:
        content = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        is_packed = data.startswith(_GZIP)
        help = f"unpack it first: `gunzip -c {name} | celadon check -`" if is_packed else _SAVE
        return Problem(name, line, f"invalid UTF-8: byte 0x{byte:02x}", help)
    if "\r" in content:
        content = content.replace("\r\n", "\n")
    return Text(name, content)


STDIN_CLOSED: Final = Problem(STDIN_NAME, 0, "cannot be read: standard input is closed")
"""Said where its descriptor was closed when Python started: `sys.stdin` is None then."""


# --- File signatures ---------------------------------------------------------
#
# Whether files are still the same ones, without reading them.


def signatures(paths: Sequence[str]) -> object:
    """Equal for as long as the paths mean the same files with the same contents. Links are
    followed, so that a mounted ConfigMap is another one when Kubernetes has written it anew."""
    result: list[object] = []
    for file in expand_paths(paths):
        if isinstance(file, Problem):
            result.append((file.file, file.message))
            continue
        with contextlib.suppress(OSError):
            about = os.stat(file)
            result.append((file, about.st_ino, about.st_size, about.st_mtime_ns))
    return result


# --- Documents ---------------------------------------------------------------

_SEPARATOR: Final = late_pattern(
    r"^---(?=[ \t\r\n]|\Z)([ \t]*(?:#[^\n]*)?(?:\r?\n|\Z))?", re.MULTILINE
)
_CONTENT: Final = late_pattern(r"^[ \t]*([^#\s])", re.MULTILINE)
_LIST_KIND: Final = late_pattern(r"""["']?kind["']?[ ]*:[ ]*["']?[A-Za-z]*List\b""")


@dataclass(frozen=True, slots=True)
class Document:
    """One object as it stands in a file. `value` has texts for `apiVersion` and `kind`."""

    chunk: Chunk
    path: Path
    value: JsonDict

    @classmethod
    def of_value(cls, value: JsonDict) -> Document:
        """Return an object that stands in no file."""
        return cls(Chunk("", "{}", 1, 0, is_json=True), (), value)

    @property
    def file(self) -> str:
        """Return the file as the user named it."""
        return self.chunk.file

    @property
    def group_kind(self) -> tuple[str, str]:
        """Return the API group, empty for the core group, and the kind."""
        group, slash, _ = self.value["apiVersion"].rpartition("/")
        return group if slash else "", self.value["kind"]

    @property
    def is_definition(self) -> bool:
        """Return whether it is a CustomResourceDefinition."""
        return self.group_kind == DEFINITION_KIND

    def line(self, path: Path = ()) -> int:
        """Return the line of the object, or of a field of it (or of the nearest one above that
        exists)."""
        return self.chunk.line(self.path + path)

    def value_at(self, path: Path) -> object:
        """Return a field of the object; None where there is none."""
        return value_at(self.value, path)

    @property
    def repeated(self) -> Sequence[RepeatedKey]:
        """Return the keys that a map of it has twice; only of readers that let them pass."""
        return self.chunk.repeated_in(self.path)

    def position(self, path: Path = ()) -> str:
        """Return the position: `file:line`."""
        return f"{self.file}:{self.line(path)}"


def chunk_start(text: Text, document: Document) -> int | None:
    """Return where the stretch of a document begins in the text of its file; None if that is not
    known."""
    chunk = document.chunk
    return place_of_stretch(text.content, chunk.first_line - 1, chunk.text)


class DocumentReader:
    """Reads texts; what the quick YAML reader learned stays for the next text. With
    `keeps_repeated`, a key that its map has already is no fault, but noted."""

    __slots__ = ("_blocks", "_keeps_repeated")

    def __init__(self, *, keeps_repeated: bool = False) -> None:
        self._blocks = BlockReader()
        self._keeps_repeated = keeps_repeated

    def read(self, text: Text, first_line: int = 1) -> Iterator[Document | Problem]:
        """Yield the documents of a text, and what is wrong with the others. `first_line` is that of
        the text in its file."""
        for item in self.values(text, first_line):
            if isinstance(item, Problem):
                yield item
            else:
                yield from _objects(item[0], (), item[1])

    def values(self, text: Text, first_line: int = 1) -> Iterator[tuple[Chunk, Any] | Problem]:
        """Read values in place of documents, whatever the documents are: of tests of other tools,
        not all are objects."""
        for start, end, line in _chunks(text.content):
            index = line + first_line - 1
            yield from self._values(text.file, text.content[start:end], index)

    def _values(self, file: str, text: str, line: int) -> Iterator[tuple[Chunk, Any] | Problem]:
        first = _CONTENT.search(text)
        if first is None:
            return
        start = first.start(1)
        if first[1] == "{":
            yield from self._json_values(file, text, line)
            return
        if (limit := _exceeded(text, 0, len(text))) is not None:
            yield _too_large(file, line + text.count("\n", 0, start), limit)
            return
        try:
            value = self._blocks.read(text)
        except UnusualError:
            yield from self._yaml_values(file, text, line)
        else:
            yield Chunk(file, text, line, start, is_json=False), value

    def _json_values(
        self, file: str, text: str, line: int
    ) -> Iterator[tuple[Chunk, Any] | Problem]:
        values = counted = 0
        index = line
        repeated: list[RepeatedKey] = []
        try:
            for start, end, value in read_json(text, repeated if self._keeps_repeated else None):
                values += 1
                index += text.count("\n", counted, start)
                counted = start
                limit = _exceeded(text, start, end)
                if limit is not None:
                    yield _too_large(file, index, limit)
                else:
                    chunk = Chunk(
                        file,
                        text,
                        line,
                        start,
                        is_json=True,
                        start_line=index,
                        end=end,
                        repeated=repeated,
                    )
                    yield chunk, value
                repeated.clear()
        except UnreadableError as error:
            if values == 0 and len(text) <= MAX_DOCUMENT_CHARACTERS:
                # A map in YAML's flow style also begins with a brace.
                read_text = list(self._yaml_values(file, text, line))
                if not any(isinstance(item, Problem) for item in read_text):
                    yield from read_text
                    return
            yield _fault(file, line, text, error)

    def _yaml_values(
        self, file: str, text: str, line: int
    ) -> Iterator[tuple[Chunk, Any] | Problem]:
        starts = line_starts(text)
        repeated: list[RepeatedKey] = []
        try:
            for first, value in read_yaml(text, repeated if self._keeps_repeated else None):
                start, index = starts[min(first, len(starts)) - 1], line + first - 1
                chunk = Chunk(
                    file, text, line, start, is_json=False, start_line=index, repeated=repeated
                )
                yield chunk, value
                repeated.clear()
        except UnreadableError as error:
            yield _fault(file, line, text, error)


_BEGUN_AGAIN: Final = late_pattern(r'key "(?:apiVersion|kind)" already set')


def _fault(file: str, line: int, text: str, error: UnreadableError) -> Problem:
    """Return the problem of a text, with what its author may have meant."""
    help = error.help
    if "{{" in text and not help:
        help = f"a template? {_FILL_IN}"
    elif "\0" in text and not help:
        help = _SAVE  # from UTF-16 without its mark
    elif _BEGUN_AGAIN.match(error.message) and not help:
        help = "is a line `---` missing between two documents?"
    return Problem(file, line + error.line - 1, error.message, help)


def _exceeded(text: str, start: int, end: int) -> int | None:
    """Return the limit that a document of this length breaks, if any."""
    size = end - start
    if size <= MAX_DOCUMENT_CHARACTERS:
        return None
    is_list = _LIST_KIND.search(text, start, end) is not None
    limit = MAX_LIST_CHARACTERS if is_list else MAX_DOCUMENT_CHARACTERS
    return limit if size > limit else None


def _chunks(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and first line of every stretch between `---` lines."""
    if "---" not in text or text.lstrip("\ufeff \t\n").startswith("%"):
        yield 0, len(text), 1
        return
    start = counted = 0
    line = 1
    for match in _SEPARATOR.finditer(text):
        line += text.count("\n", counted, start)
        counted = start
        yield start, match.start(), line
        # A separator with something behind it belongs to its document: `--- |`, `--- !tag`.
        start = match.start() if match[1] is None else match.end()
    line += text.count("\n", counted, start)
    yield start, len(text), line


def _objects(chunk: Chunk, path: Path, value: object) -> Iterator[Document | Problem]:
    """Yield the object, or the objects of a list; a problem where there is none."""
    if value is None and not path:
        return
    if not isinstance(value, dict):
        result = "a list" if isinstance(value, list) else "a single value"
        yield Problem(chunk.file, chunk.line(path), f"an object is expected here, not {result}")
        return
    missing = [name for name in ("apiVersion", "kind") if not value.get(name)]
    if missing:
        text = " and ".join(f"`{name}`" for name in missing)
        is_of_chart = os.path.basename(chunk.file).lower() in _CHART_FILES
        help = f"a chart? {_FILL_IN}" if is_of_chart else ""
        yield Problem(chunk.file, chunk.line(path), f"{text} not set", help)
        return
    if not (isinstance(value["apiVersion"], str) and isinstance(value["kind"], str)):
        yield Problem(chunk.file, chunk.line(path), "`apiVersion` and `kind` must be text")
        return
    items = value.get("items")
    if value["kind"].endswith("List") and (isinstance(items, list) or items is None):
        for index, item in enumerate(items or ()):
            yield from _objects(chunk, (*path, "items", index), _with_kind(value, item))
        return
    yield Document(chunk, path, value)


def _with_kind(parent: JsonDict, item: object) -> Any:  # noqa: ANN401 - any JSON
    """Items of a typed list (`PodList`) may leave out what the list says already."""
    kind = parent["kind"].removesuffix("List")
    if not kind or not isinstance(item, dict) or item.get("kind"):
        return item
    return {"apiVersion": parent["apiVersion"], "kind": kind, **item}


def _too_large(file: str, line: int, limit: int) -> Problem:
    return Problem(
        file,
        line,
        f"Request entity too large: limit is {limit}",
        "kube-apiserver refuses larger objects too",
    )


# --- Document archive --------------------------------------------------------
#
# Many documents in little memory: all but the last few are packed, and unpacked when their turn
# comes.
#
# A document as Python holds it takes ten times the memory of its text; packed it takes less
# than its text. Packing and unpacking one takes a fraction of the time that reading it takes.
# The items of a list share the text of the list, which is kept as it is.

BLOCK: Final = 250
"""Documents that are packed together: small enough to be nothing, large enough to pack well."""
_QUICKLY: Final = 1

Kind = tuple[str, str]
"""Group and kind."""


class DocumentArchive:
    """Documents in their order. Going through them makes new ones every time."""

    __slots__ = ("_chunks", "_kinds", "_last", "_packed", "_shared")

    def __init__(self) -> None:
        self._packed: list[bytes | list[Document]] = []
        self._last: list[Document] = []
        self._kinds: list[set[Kind]] = [set()]
        self._chunks: list[Chunk] = []
        self._shared: dict[int, int] = {}

    def append(self, document: Document) -> None:
        """Put a document behind the others."""
        if len(self._last) == BLOCK:
            self._packed.append(self._pack(self._last))
            self._last = []
            self._kinds.append(set())
        self._last.append(document)
        self._kinds[-1].add(document.group_kind)

    def __len__(self) -> int:
        return len(self._packed) * BLOCK + len(self._last)

    def __iter__(self) -> Iterator[Document]:
        for number in range(self.blocks):
            yield from self.block(number)

    @property
    def blocks(self) -> int:
        """Return how many blocks there are; none is empty."""
        return len(self._packed) + bool(self._last)

    def block(self, number: int) -> Sequence[Document]:
        """Return the documents of a block, counted from 0."""
        if number == len(self._packed):
            return self._last
        packed = self._packed[number]
        if isinstance(packed, list):
            return packed
        return [self._unpacked(*row) for row in json.loads(zlib.decompress(packed))]

    @property
    def kinds(self) -> set[Kind]:
        """Return the kinds of all documents."""
        return set().union(*self._kinds)

    def of_kinds(self, predicate: Callable[[Kind], bool]) -> Iterator[Document]:
        """Yield the documents of some kinds; blocks that have none of them stay packed."""
        for number in range(self.blocks):
            if any(map(predicate, self._kinds[number])):
                yield from (
                    document for document in self.block(number) if predicate(document.group_kind)
                )

    def _pack(self, documents: list[Document]) -> bytes | list[Document]:
        """Documents that are nested more deeply than Python writes JSON stay as they are."""
        rows = [
            (self._chunk_key(document), document.path, document.value) for document in documents
        ]
        try:
            return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), _QUICKLY)
        except RecursionError:
            return documents

    def _chunk_key(self, document: Document) -> PlainChunk | int:
        if not document.path:
            return document.chunk.plain()
        key = self._shared.get(id(document.chunk))
        if key is None:
            key = self._shared[id(document.chunk)] = len(self._chunks)
            self._chunks.append(document.chunk)
        return key

    def _unpacked(self, key: list[Any] | int, path: list[str | int], value: Any) -> Document:  # noqa: ANN401 - any JSON
        if isinstance(key, int):
            return Document(self._chunks[key], tuple(path), value)
        plain = PlainChunk._make(key)
        repeated = tuple(RepeatedKey._make(item) for item in plain.repeated)
        return Document(Chunk.from_plain(plain._replace(repeated=repeated)), tuple(path), value)


# --- Object shape ------------------------------------------------------------
#
# The few things that must be right about an object before anybody looks at its meaning.
#
# The API server decodes metadata into typed fields and refuses what does not fit. The most
# frequent accident has a help of its own: a label such as `enabled: yes`, which YAML reads as
# true.


def read_texts(
    arguments: Sequence[str], exclusion: Exclusion = NOTHING_EXCLUDED, *, tests: bool = False
) -> Iterator[Text | Problem]:
    """Yield the text of each file that the arguments mean (`expand_paths`), or what is wrong."""
    for file in expand_paths(arguments, exclusion, tests=tests):
        yield file if isinstance(file, Problem) else read_text(file)


def read_documents(arguments: Sequence[str]) -> Iterator[Document | Problem]:
    """Yield the documents of all files that the arguments mean, and what is wrong with others."""
    reader = DocumentReader()
    for text in read_texts(arguments):
        if isinstance(text, Problem):
            yield text
        else:
            yield from reader.read(text)


_ENGINES: Final = {"kyverno.io": "Kyverno", "gatekeeper.sh": "Gatekeeper"}
"""Engines whose policies can be translated, by the end of their groups."""
_PROGRAMMED: Final = {"kubewarden.io": "Kubewarden", "jspolicy.com": "jsPolicy"}
"""Engines whose policies are programs, likewise."""


def to_translate(documents: Iterable[Document]) -> str:
    """Return what to type for the first policy of another engine; empty if there is none."""
    for document in documents:
        group, kind = document.group_kind
        engine, file = _engine(group, _ENGINES), document.file
        if engine:
            return f"{file} has a {kind} of {engine}: `celadon migrate {file}` translates it"
        if text := programmed(document):
            return f"{file} has {text}: write it anew, or ask its webhook (`--call-webhooks`)"
    return ""


def programmed(document: Document) -> str:
    """Return what a document is, if it is a policy that is a program, which is not translated."""
    group, kind = document.group_kind
    engine = _engine(group, _PROGRAMMED)
    return f"a {kind} of {engine}, which is a program" if engine else ""


def _engine(group: str, engines: Mapping[str, str]) -> str:
    return engines.get(".".join(group.split(".")[-2:]), "")


def shape_problem(document: Document) -> Problem | None:
    """Return the first thing wrong with the metadata (or with what a CRD defines), if any."""
    mismatch = misfit(document.value, OBJECT)
    if mismatch is None and document.is_definition:
        mismatch = misfit(document.value, DEFINITION)
    if mismatch is None:
        return None
    help = ""
    if mismatch.expected == "text" and isinstance(mismatch.value, bool | int | float):
        help = "YAML reads some words as true, false or a number: put the value in quotes"
    elif mismatch.value is None and document.is_definition:
        help = f"a patch? {BUILD_FIRST}"
    return Problem(document.file, document.line(mismatch.path), str(mismatch), help)
