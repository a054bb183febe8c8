"""Files of audit logs to events: JSON lines, lists of events, sets of rotated files, with gzip.

A log that is rotated has the newest events in `audit.log` and older ones in files whose names have
their date, or a number that grows with their age. Lines are read one at a time; a file that is one
JSON document is read as a whole, within limits.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, cast

from celadon.cli.reading.input_limits import MAX_FILE_BYTES, MAX_LIST_CHARACTERS
from celadon.cli.reading.json_text import read_written
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import STDIN, STDIN_CLOSED, STDIN_NAME, expand
from celadon.cli.replaying.cloud_wrappers import LoggedEvent, events_in
from celadon.goyaml import UnreadableError
from celadon.patterns import late_pattern
from celadon.records import dataclass

_GZIP: Final = b"\x1f\x8b"
_NAMES: Final = (".log", ".json", ".jsonl", ".ndjson", ".gz", ".txt")
_DATED: Final = late_pattern(r"\d{4}-?\d\d-?\d\d")
_NUMBERED: Final = late_pattern(r"\.log\.(\d+)(?:\.gz)?$")
"""What logrotate and others put behind the name, a date perhaps."""
_BEGIN: Final = late_pattern(r"\S")
_STAMP: Final = late_pattern(rb"^[0-9T:.Z+\- ]{10,40} (?=\{)")
"""What exports of CloudWatch put before each line."""


@dataclass(frozen=True, slots=True)
class Read:
    """An event and where it stands. `read_bytes` of all files come before it."""

    file: str
    line: int
    event: LoggedEvent | None
    read_bytes: int = 0


def log_files(arguments: Sequence[str]) -> list[str | Problem]:
    """The files that are meant, the oldest of a rotated set first."""
    found: list[str | Problem] = []
    for argument in arguments:
        if os.path.isdir(argument):
            files = list(_below(argument))
            found += files or [Problem(argument, 0, "no log in this folder")]
        else:
            paths = list(expand([argument]))
            found += _by_age(one for one in paths if isinstance(one, str))
            found += (one for one in paths if isinstance(one, Problem))
    return found


def _below(folder: str) -> Iterator[str]:
    """The logs of a folder, then those of folders in it: clouds export to one for each hour."""
    for path, folders, names in os.walk(folder):
        folders.sort()
        files = (os.path.join(path, name) for name in names if _is_log(name))
        yield from _by_age(one for one in files if os.path.isfile(one))


def _by_age(files: Iterable[str]) -> list[str]:
    return sorted(files, key=_age)


def _age(path: str) -> tuple[int, str]:
    """Dated ones by their date, or by their number, before the one that is written to."""
    name = os.path.basename(path)
    if _DATED.search(name):
        return -sys.maxsize, name
    numbered = _NUMBERED.search(name)
    return -int(numbered[1]) if numbered else 1, name


def _is_log(name: str) -> bool:
    return name.endswith(_NAMES) or _NUMBERED.search(name) is not None


def total_bytes(files: Sequence[str | Problem]) -> int:
    """As they lie on the disk, as far as that is known."""
    names = (one for one in files if isinstance(one, str))
    return sum(os.path.getsize(one) for one in names if os.path.isfile(one))


def read_events(files: Sequence[str | Problem]) -> Iterator[Read | Problem]:
    """All events, file by file. What is no event has none."""
    before = 0
    for file in files:
        if isinstance(file, Problem):
            yield file
            continue
        try:
            yield from _events(file, before)
        except (OSError, EOFError, zlib.error, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            yield Problem(file, 0, f"cannot be read: {why.lower()}")
        before += total_bytes([file])


def _events(file: str, before: int) -> Iterator[Read | Problem]:
    if file == STDIN and sys.stdin is None:
        yield STDIN_CLOSED
        return
    if file == STDIN:
        yield from _stream(STDIN_NAME, sys.stdin.buffer, sys.stdin.buffer, before)
        return
    with open(file, "rb") as raw:
        packed = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        yield from _stream(file, stream, raw, before)


def _stream(file: str, stream: BinaryIO, raw: BinaryIO, before: int) -> Iterator[Read | Problem]:
    """One document a line, or, where the first line is none, documents over several lines."""
    number = 0
    while line := stream.readline(MAX_LIST_CHARACTERS):
        number += 1
        text = _STAMP.sub(b"", line.strip())
        if not text:
            continue
        found = list(_documents(text)) or [None]
        at = before + (raw.tell() if raw.seekable() else 0)
        torn = text.endswith(b"}")  # a rotated file may begin in the middle of a line
        if found[0] is None and number == 1 and not torn:
            yield from _whole(file, line, stream)
            return
        for one in found:
            yield from _found(file, number, one, at)


def _whole(file: str, begin: bytes, stream: BinaryIO) -> Iterator[Read | Problem]:
    data = begin + stream.read(MAX_FILE_BYTES)
    if len(data) >= MAX_FILE_BYTES:
        yield Problem(file, 0, f"larger than {MAX_FILE_BYTES >> 20} MiB", "give it as JSON lines")
        return
    for one in _documents(data):
        yield from _found(file, 1, one, 0)


def _value(text: bytes) -> Any:  # noqa: ANN401 - any JSON
    """None for what is no JSON."""
    try:
        return read_written(text.decode())
    except (UnreadableError, UnicodeDecodeError):
        return None


def _documents(text: bytes) -> Iterator[Any]:
    """The document, or several in a row: Firehose puts them behind each other without a line end.
    None for what is none."""
    value = _value(text)
    if value is not None:
        yield value
        return
    given, decoder, at = text.decode(errors="replace"), json.JSONDecoder(), 0
    while (start := _BEGIN.search(given, at)) is not None:
        try:
            _, at = decoder.raw_decode(given, start.start())
        except (ValueError, RecursionError):
            yield None
            return
        yield _value(given[start.start() : at].encode())


def _found(file: str, line: int, value: Any, at: int) -> Iterator[Read | Problem]:  # noqa: ANN401
    if value is None:
        yield Problem(file, line, "this is no JSON")
        return
    empty = True
    for event in events_in(value):
        empty = False
        yield Read(file, line, event, at)
    if empty:
        yield Read(file, line, None, at)
